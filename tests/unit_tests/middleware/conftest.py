"""What the tests of the middlewares share: a memory that can be watched, and agents."""

from datetime import UTC, datetime, timedelta

import pytest
from langchain_core.tools import tool

from langchain_memkit import ForgetConfig, ForgettingMemory, SQLMemoryStore

START = datetime(2031, 5, 1, tzinfo=UTC)


class Clock:
    """Stands still until it is moved."""

    now = START

    def __call__(self):
        return self.now


class Watched(ForgettingMemory):
    """A memory that notes what it is asked to do, in all of its compartments."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.events = []

    def consolidate(self, **options):
        self.events.append("consolidate")
        return super().consolidate(**options)

    def archive(self, entries):
        self.events += ["archive"] * len(entries)
        super().archive(entries)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(clock):
    config = ForgetConfig(ttl=timedelta(days=10), weak_grace=timedelta(days=10))
    return Watched(SQLMemoryStore("sqlite://"), config, clock=clock)


@pytest.fixture
def look_up():
    @tool
    def look_up(step: int) -> str:
        """Look a step of the task up."""
        return f"Record {step}: " + f"measured {step * 7919} at gate {step}. " * 12

    return look_up
