"""Access logs, and how use decides in recoverability mode."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from langchain_memkit import (
    CapsuleRetriever,
    FileMemoryStore,
    InMemoryAccessLog,
    InvalidInputError,
    MemoryAccessLog,
    SQLMemoryStore,
    report_of,
)
from langchain_memkit.protocols import AccessLog

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
NOTES = [Document("Tides turn."), Document("Kites need wind.")]


@pytest.fixture(params=["memory", "file", "sql"])
def log(request, tmp_path):
    """Open an empty log of each kind."""
    if request.param == "memory":
        return InMemoryAccessLog()
    if request.param == "file":
        return MemoryAccessLog(FileMemoryStore(tmp_path))
    return MemoryAccessLog(SQLMemoryStore(f"sqlite:///{tmp_path}/log.db"))


def made(log=None, **settings):
    return CapsuleRetriever(
        base_retriever=RunnableLambda(lambda query: NOTES),
        access_log=log,
        clock=lambda: NOON,
        **settings,
    )


def test_it_plays_the_role(log):
    """Each log has the methods of the protocol."""
    assert isinstance(log, AccessLog)


def test_law_1_unknown_keys_are_absent(log):
    """What was never recorded is not in the answer."""
    assert log.read(["a"]) == {}


def test_law_2_each_distinct_key_counts_once(log):
    """A key that comes twice in a call counts once, and time never moves back."""
    log.record(["a", "a"], at=NOON)
    log.record(["a"], at=NOON - timedelta(hours=1))
    assert (log.read(["a"])["a"].count, log.read(["a"])["a"].last_at) == (2, NOON)


def test_law_3_threads_lose_nothing(log):
    """Recordings at once all count."""
    with ThreadPoolExecutor(4) as pool:
        for _ in range(12):
            pool.submit(log.record, ["a"], at=NOON)
    assert log.read(["a"])["a"].count == 12


def test_law_4_async_does_the_same(log):
    """`arecord` and `aread` are the twins of `record` and `read`."""
    asyncio.run(log.arecord(["a"], at=NOON))
    assert asyncio.run(log.aread(["a"])) == log.read(["a"])


@pytest.mark.parametrize("is_async", [False, True])
def test_what_was_packed_is_counted_once_a_call(log, is_async):
    """A call adds one to what it packed and nothing to what it left out."""
    retriever = made(log, budget_tokens=14, ranking="recoverability")
    for _ in range(2):
        found = (
            asyncio.run(retriever.ainvoke("wind"))
            if is_async
            else retriever.invoke("wind")
        )
    [capsule] = report_of(found).capsules
    assert log.read([capsule.sha256])[capsule.sha256].count == 2
    assert capsule.recoverability == pytest.approx(2 / 7)


def test_nothing_packed_records_nothing(log):
    """A budget of 0 leaves the log alone."""
    made(log, budget_tokens=0).invoke("wind")
    assert log.read([capsule.sha256 for capsule in made_capsules()]) == {}


def made_capsules():
    return report_of(made().invoke("wind")).capsules


def test_a_clock_without_a_zone_means_utc():
    """A naive answer of the clock is read as UTC, anything else is refused."""
    naive = CapsuleRetriever(
        base_retriever=RunnableLambda(lambda query: NOTES),
        clock=lambda: NOON.replace(tzinfo=None),
    )
    assert naive.invoke("wind") == made().invoke("wind")
    with pytest.raises(InvalidInputError, match="clock"):
        made().model_copy(update={"clock": lambda: "noon"}).invoke("wind")


def test_without_a_log_use_never_matters():
    """By default the same call has the same answer for ever."""
    retriever = made()
    assert retriever.invoke("wind") == retriever.invoke("wind")


def test_use_decides_in_recoverability_mode():
    """What was packed more often goes first."""
    log = InMemoryAccessLog()
    retriever = made(
        log, strategy="prefix", ranking="recoverability", budget_tokens=2000
    )
    second = report_of(retriever.invoke("x")).capsules[1]
    log.record([second.sha256], at=NOON)
    assert report_of(retriever.invoke("x")).capsules[0].sha256 == second.sha256
