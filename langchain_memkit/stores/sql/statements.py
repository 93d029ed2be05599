"""All SQL that a store runs; values are always bound."""

from __future__ import annotations

__all__ = [
    "BURY",
    "COLUMNS",
    "COUNT",
    "DELETE",
    "DROP_ENDED",
    "FIND_FADED",
    "INSERT_NEW",
    "LIVE",
    "NAMESPACES",
    "PRUNE",
    "READ",
    "RECORD_COLUMNS",
    "SCAN",
    "TOUCH",
    "UNBURY",
    "UPSERT",
]

COLUMNS = (
    "name, content, importance, source, pinned, evicted, created_at_us, "
    "last_access_at_us, access_count"
)

RECORD_COLUMNS = COLUMNS.replace("content", "''", 1)

_INSERT = (
    "INSERT INTO memkit_memories (namespace, name, content, importance, source, "
    "pinned, evicted, created_at_us, last_access_at_us, access_count{extra_column}) "
)

_VALUES = (
    ":namespace, :name, :content, :importance, :source, :pinned, :evicted, "
    ":created_at_us, :last_access_at_us, :access_count{extra_value}"
)

UPSERT = (
    _INSERT
    + "VALUES ("
    + _VALUES
    + ") ON CONFLICT (namespace, name) DO UPDATE SET content = excluded.content, "
    "importance = excluded.importance, source = excluded.source, "
    "pinned = excluded.pinned, evicted = excluded.evicted, created_at_us = "
    "CASE WHEN excluded.created_at_us < memkit_memories.created_at_us "
    "THEN excluded.created_at_us ELSE memkit_memories.created_at_us END, "
    "last_access_at_us = "
    "CASE WHEN excluded.last_access_at_us > memkit_memories.last_access_at_us "
    "THEN excluded.last_access_at_us ELSE memkit_memories.last_access_at_us END, "
    "access_count = "
    "CASE WHEN excluded.access_count > memkit_memories.access_count "
    "THEN excluded.access_count ELSE memkit_memories.access_count END{extra_update}"
)

INSERT_NEW = (
    _INSERT
    + "SELECT "
    + _VALUES
    + " WHERE NOT EXISTS (SELECT 1 FROM memkit_tombstones WHERE namespace = :namespace "
    "AND name = :name AND until_us > :now_us) ON CONFLICT (namespace, name) DO NOTHING"
)

READ = (
    f"SELECT {COLUMNS} FROM memkit_memories "
    "WHERE namespace = :namespace AND name IN :names"
)

TOUCH = (
    "UPDATE memkit_memories SET access_count = access_count + 1, last_access_at_us = "
    "CASE WHEN last_access_at_us < :now_us THEN :now_us ELSE last_access_at_us END "
    f"WHERE namespace = :namespace AND name = :name RETURNING {COLUMNS}"
)

DELETE = (
    "DELETE FROM memkit_memories WHERE namespace = :namespace AND name IN :names "
    f"RETURNING {RECORD_COLUMNS}, id"
)

BURY = (
    "INSERT INTO memkit_tombstones (namespace, name, until_us) "
    "VALUES (:namespace, :name, :until_us) ON CONFLICT (namespace, name) "
    "DO UPDATE SET until_us = excluded.until_us"
)

UNBURY = "DELETE FROM memkit_tombstones WHERE namespace = :namespace AND name IN :names"

DROP_ENDED = (
    "DELETE FROM memkit_tombstones WHERE namespace = :namespace AND until_us <= :now_us"
)

_FADED = (
    "namespace = :namespace AND pinned = 0 AND last_access_at_us <= :limit_us "
    "AND (last_access_at_us <= :ttl_limit_us OR "
    "(importance < :min_importance AND last_access_at_us <= :weak_limit_us))"
)

LIVE = (
    "(pinned = 1 OR (last_access_at_us > :ttl_limit_us AND "
    "(importance >= :min_importance OR last_access_at_us > :weak_limit_us)))"
)

FIND_FADED = f"SELECT {RECORD_COLUMNS} FROM memkit_memories WHERE {_FADED}"

PRUNE = f"DELETE FROM memkit_memories WHERE {_FADED} RETURNING {RECORD_COLUMNS}, id"

# A table of one compartment is counted by its pages, without looking at the rows.
COUNT = (
    "SELECT CASE WHEN EXISTS "
    "(SELECT 1 FROM memkit_memories WHERE namespace < :namespace) OR EXISTS "
    "(SELECT 1 FROM memkit_memories WHERE namespace > :namespace) "
    "THEN (SELECT COUNT(*) FROM memkit_memories WHERE namespace = :namespace) "
    "ELSE (SELECT COUNT(*) FROM memkit_memories) END"
)

SCAN = (
    "SELECT {columns} FROM memkit_memories WHERE namespace = :namespace "
    "AND name > :after{resident}{live} ORDER BY name LIMIT :page"
)

NAMESPACES = (
    "SELECT DISTINCT namespace FROM memkit_memories "
    "WHERE SUBSTR(namespace, 1, :length) = :prefix"
)
