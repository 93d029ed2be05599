"""What a message is to this package: its kind, its calls and results, its marks.

Marks are facts that code put on a message: a pin, the key of what was left out. They
live in `additional_kwargs["langchain_memkit"]`, survive a checkpoint as plain JSON, and
are never read from a message's content.
"""

from langchain_memkit.messages._calls import (
    LEGACY_CALL,
    block_call_id,
    call_ids,
    is_blank,
    result_id,
)
from langchain_memkit.messages._content import (
    archive_text,
    is_human,
    is_system,
    kind_of,
    says_something,
    text_of,
)
from langchain_memkit.messages._marks import (
    MARK,
    is_pinned,
    mark_of,
    mark_recalled,
    mark_resident,
    pin,
    recall_key,
    recalled_key,
    resident_tokens,
    with_mark,
    without_marks,
)

__all__ = [
    "LEGACY_CALL",
    "MARK",
    "archive_text",
    "block_call_id",
    "call_ids",
    "is_blank",
    "is_human",
    "is_pinned",
    "is_system",
    "kind_of",
    "mark_of",
    "mark_recalled",
    "mark_resident",
    "pin",
    "recall_key",
    "recalled_key",
    "resident_tokens",
    "result_id",
    "says_something",
    "text_of",
    "with_mark",
    "without_marks",
]
