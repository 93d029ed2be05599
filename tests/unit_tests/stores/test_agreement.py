"""Whatever is done to them, in whatever order, all stores give the same answers."""

import shutil
import tempfile
from datetime import UTC, datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from langgraph.store.memory import InMemoryStore

from langchain_memkit import (
    FileMemoryStore,
    ForgetConfig,
    ForgettingMemory,
    LangGraphMemoryStore,
    MemkitError,
    SQLMemoryStore,
)
from langchain_memkit.protocols import ArchiveEntry
from langchain_memkit.testing import DictMemoryStore, FakeClock

POLICY = ForgetConfig(
    ttl=timedelta(days=3), min_importance=0.5, weak_grace=timedelta(days=1)
)
NAMES = st.sampled_from(["a", "b", "tide", "caf\u00e9", "cafe\u0301", "..", "x y"])
TEXTS = st.text(max_size=30) | st.sampled_from(["red kite", "KITE", "\x00\udc8f"])
SHARES = st.sampled_from([0.0, 0.4, 0.5, 1.0, 1.5])
SOURCES = st.sampled_from(["developer", "user", "assistant", "tool"])
STEPS = st.sampled_from(
    [
        timedelta(0),
        timedelta(microseconds=1),
        timedelta(hours=12),
        timedelta(days=1),
        timedelta(days=-2),
        timedelta(days=3),
    ]
)


def answer(memory, verb, arguments, options):
    """Return what a verb returns, or which error it raises."""
    try:
        return getattr(memory, verb)(*arguments, **options)
    except MemkitError as error:
        return type(error)


class Agreement(RuleBasedStateMachine):
    """Runs the same verbs on a memory over each store."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.clock = FakeClock(datetime(2030, 1, 1, tzinfo=UTC))
        self.sql = SQLMemoryStore("sqlite://")
        stores = [
            DictMemoryStore(),
            FileMemoryStore(self.folder),
            self.sql,
            LangGraphMemoryStore(InMemoryStore(), ("memories",)),
        ]
        roots = [ForgettingMemory(s, POLICY, clock=self.clock) for s in stores]
        self.places = {
            "root": roots,
            "scope": [root.scoped(("user", "4.2")) for root in roots],
        }

    def teardown(self):
        self.sql.close()
        shutil.rmtree(self.folder)

    def ask(self, place, verb, *arguments, **options):
        """Ask all and compare."""
        memories = self.places[place]
        first, *others = [answer(m, verb, arguments, options) for m in memories]
        assert all(other == first for other in others), (verb, first, others)

    places = st.sampled_from(["root", "scope"])

    @rule(step=STEPS)
    def wait(self, step):
        self.clock.advance(step)

    @rule(
        place=places,
        name=NAMES,
        text=TEXTS,
        share=SHARES,
        options=st.fixed_dictionaries({"source": SOURCES, "pinned": st.booleans()}),
    )
    def remember(self, place, name, text, share, options):
        self.ask(place, "remember", name, text, share, **options)

    @rule(place=places, names=st.lists(NAMES, max_size=4), text=TEXTS)
    def remember_many(self, place, names, text):
        self.ask(place, "remember_many", [(name, text, 0.7) for name in names])

    @rule(place=places, names=st.lists(NAMES, max_size=3), text=TEXTS)
    def archive(self, place, names, text):
        entries = [ArchiveEntry(name, text, 0.3, "tool") for name in names]
        self.ask(place, "archive", entries)

    @rule(place=places, name=NAMES)
    def recall(self, place, name):
        self.ask(place, "recall", name)

    @rule(place=places, name=NAMES)
    def forget(self, place, name):
        self.ask(place, "forget", name)

    @rule(place=places, dry_run=st.booleans())
    def consolidate(self, place, dry_run):
        self.ask(place, "consolidate", dry_run=dry_run)

    @rule(place=places, evicted=st.booleans(), budget=st.integers(0, 60))
    def resident(self, place, evicted, budget):
        self.ask(place, "resident", budget, evicted=evicted)

    @rule(place=places, query=TEXTS)
    def search(self, place, query):
        found = [
            {(d.id, d.page_content) for d in memory.search(query, 9)}
            for memory in self.places[place]
        ]
        assert all(other == found[0] for other in found), (query, found)

    @rule(place=places, name=NAMES)
    def look(self, place, name):
        for verb in ("describe", "importance", "should_forget"):
            self.ask(place, verb, name)

    @invariant()
    def same_live_names(self):
        for place, memories in self.places.items():
            self.ask(place, "live_at")
            assert len({len(memory) for memory in memories}) == 1


TestAgreement = Agreement.TestCase
TestAgreement.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None
)
