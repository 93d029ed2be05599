"""The faces: what a LangChain user calls."""

import asyncio
import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import HumanMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_memkit import (
    BudgetExceededError,
    CapsuleCompressor,
    CapsuleRetriever,
    ContextBudget,
    InvalidInputError,
    RetentionCandidate,
    estimate_tokens,
    format_capsules,
    report_of,
    retain_within_budget,
)

NOTES = [
    Document("Tides turn twice a day.\nThe moon pulls them.", id="tides"),
    Document("Kites need wind.\nA tail keeps them steady.", id="kites"),
]
ODD_TEXTS = st.lists(
    st.text(alphabet="kite wind<>&\"'\n.。\u0301👨\u200d\x00", max_size=120), max_size=8
)


class Shelf(BaseRetriever):
    """Returns what it was made with, and remembers how it was asked."""

    documents: list[Document]
    asked: list[dict]

    def _get_relevant_documents(self, query, *, run_manager, **kwargs):
        self.asked.append({**kwargs, "tags": run_manager.inheritable_tags})
        return self.documents


class Plain(BaseRetriever):
    """Takes no argument but the query."""

    documents: list[Document]

    def _get_relevant_documents(self, query, *, run_manager):
        return self.documents


def made(documents=NOTES, **settings):
    return CapsuleRetriever(base_retriever=Plain(documents=documents), **settings)


def of_texts(texts, **settings):
    return made(
        [Document(text, id=str(at)) for at, text in enumerate(texts)], **settings
    )


@given(ODD_TEXTS, st.text(max_size=20), st.integers(0, 300))
def test_the_budget_holds_for_the_rendering(texts, query, budget):
    """What `format_capsules` renders fits the budget, whatever texts and query."""
    found = of_texts(texts, budget_tokens=budget).invoke(query)
    assert estimate_tokens(format_capsules(found)) <= budget
    assert report_of(found).retained_tokens <= budget


@given(ODD_TEXTS, st.text(max_size=20), st.integers(0, 300))
def test_segments_are_verbatim(texts, query, budget):
    """A capsule's excerpt is made of pieces of the content, in order."""
    for document in of_texts(texts, budget_tokens=budget).invoke(query):
        capsule = document.metadata.get("capsule", {"segments": [], "excerpt": ""})
        pieces = [document.page_content[a:b] for a, b in capsule["segments"]]
        assert capsule["excerpt"] == " … ".join(pieces)


@given(ODD_TEXTS, st.text(max_size=20), st.integers(0, 300))
def test_the_same_call_has_the_same_answer(texts, query, budget):
    """Two calls, sync and async, of two instances, return equal documents."""
    one = of_texts(texts, budget_tokens=budget).invoke(query)
    other = asyncio.run(of_texts(texts, budget_tokens=budget).ainvoke(query))
    assert one == other


@given(ODD_TEXTS, st.integers(0, 300))
def test_every_candidate_has_an_outcome(texts, budget):
    """The report tells of each what became of it, and counts add up."""
    report = report_of(of_texts(texts, budget_tokens=budget).invoke("kite"))
    fates = [told.outcome for told in report.outcomes]
    assert len(fates) == report.candidates_examined == len(texts)
    assert fates.count("packed") == len(report.capsules)
    assert report.dropped == len(texts) - len(report.capsules)


def test_attach_is_purely_additive():
    """The base's documents come back in their order, unchanged but for two fields."""
    found = made().invoke("wind")
    assert [d.page_content for d in found] == [d.page_content for d in NOTES]
    assert [d.metadata.keys() for d in found] == [{"capsule", "capsule_report"}] * 2
    assert all(note.metadata == {} for note in NOTES)


def test_nested_metadata_is_not_shared():
    """Changing what came back does not change what the base holds."""
    note = Document("Kites.", metadata={"page": {"at": [1]}, "seen": {2}, "box": (3,)})
    before = copy.deepcopy(note)
    [found] = made([note]).invoke("kites")
    found.metadata["page"]["at"].append(9)
    found.metadata["seen"].add(9)
    assert note == before


def test_odd_metadata_passes_through():
    """Values that cannot be copied or are no JSON are handed on as they are."""
    lock = object()
    [found] = made(
        [Document("Kites.", metadata={"lock": lock, "n": float("nan")})]
    ).invoke("kites")
    assert found.metadata["lock"] is lock
    json.dumps(found.metadata["capsule"], allow_nan=False)


def test_capsules_are_short_documents_best_first():
    """With `output="capsules"` each capsule is a document whose content it is."""
    found = made(output="capsules", budget_tokens=16).invoke("tail")
    assert [d.page_content for d in found] == ["A tail keeps them steady."]
    assert report_of(found).outcomes[0].outcome == "no_budget"
    assert format_capsules(found).count("</evidence>") == 1


def test_metadata_that_hold_themselves_are_copied():
    """A cycle in the metadata ends nowhere and stays a cycle in the copy."""
    loop: dict[str, object] = {"seen": []}
    loop["self"] = loop
    [found] = made([Document("Kites.", metadata={"loop": loop})]).invoke("kites")
    copied = found.metadata["loop"]
    assert copied["self"] is copied
    assert copied is not loop


def test_a_retriever_can_be_copied_deeply():
    """A deep copy fetches what the original packed, and keeps apart from then on."""
    retriever = made()
    key = report_of(retriever.invoke("wind")).capsules[0].retrieval_key
    other = copy.deepcopy(retriever)
    assert other.fetch(key) == retriever.fetch(key)
    assert other.docstore is not retriever.docstore


def test_a_very_long_query_is_cut():
    """A whole conversation as the query is read up to its first 64 terms."""
    query = " ".join(f"word{n}" for n in range(9_000)) + " wind"
    assert len(made().invoke(query)) == 2


def test_a_second_pass_does_not_raise():
    """What was packed can be packed again, and a stale capsule goes."""
    first = made().invoke("wind")
    second = made(first, budget_tokens=16).invoke("tail")
    assert ["capsule" in document.metadata for document in second] == [False, True]


def test_equal_contents_are_packed_once():
    """The later of two equal documents is a duplicate."""
    found = made([NOTES[1], Document(NOTES[1].page_content, id="copy")]).invoke("wind")
    assert [told.outcome for told in report_of(found).outcomes] == [
        "packed",
        "duplicate",
    ]


def test_equal_ids_are_two_documents():
    """Documents that share an id but not their content have capsules and keys."""
    pair = [Document("Kites need wind.", id="a"), Document("Tides need moons.", id="a")]
    retriever = made(pair)
    keys = [d.metadata["capsule"]["retrieval_key"] for d in retriever.invoke("need")]
    assert [retriever.fetch(key).page_content for key in keys] == [
        "Kites need wind.",
        "Tides need moons.",
    ]


def test_budget_0_packs_nothing_and_says_so():
    """A budget of 0 attaches no capsule, and the report tells why."""
    report = report_of(made(budget_tokens=0).invoke("wind"))
    assert report.capsules == ()
    assert {told.outcome for told in report.outcomes} == {"no_budget"}


def test_no_match_falls_back_to_the_base_order():
    """Where the query matches nothing, plain text goes in the base's order."""
    found = made(budget_tokens=16).invoke("zebra")
    assert report_of(found).capsules[0].excerpt == "Tides turn twice a day."


def test_a_low_score_is_left_out():
    """A document that covers too little of the query has no capsule."""
    report = report_of(made(min_score=0.5).invoke("wind tail"))
    assert [told.outcome for told in report.outcomes] == ["below_score", "packed"]


def test_a_document_has_no_more_units_than_allowed():
    """`max_per_document` bounds the units of each document."""
    report = report_of(made(max_per_document=1).invoke("tail moon"))
    assert [capsule.excerpt.count("\n") for capsule in report.capsules] == [0, 0]


def test_what_was_seen_is_not_sent_again():
    """Units that stand in the given messages, escaped or not, are passed over."""
    seen = [HumanMessage("<evidence>Kites need wind.\nA tail keeps them</evidence>")]
    report = report_of(made().invoke("wind", skip_seen=seen))
    assert "A tail keeps them steady." in [c.excerpt for c in report.capsules]
    full = [HumanMessage(NOTES[1].page_content)]
    report = report_of(made().invoke("wind", skip_seen=full))
    assert [told.outcome for told in report.outcomes] == ["packed", "seen"]
    prefixes = made(strategy="prefix").invoke("wind", skip_seen=full)
    assert report_of(prefixes).outcomes == report.outcomes


def test_the_largest_unit_is_bounded():
    """In query mode `excerpt_tokens` bounds a unit."""
    note = Document("Kites rise, and tails hang, and strings are held. " * 9)
    found = made([note], excerpt_tokens=5, max_per_document=1).invoke("tails")
    assert report_of(found).capsules[0].excerpt == "and tails hang,"


@pytest.mark.parametrize("budget", [0, 20, 60, 500])
def test_prefix_by_recoverability_is_the_reference(budget):
    """Ids, excerpts and tokens equal those of `retain_within_budget`."""
    texts = ["Kites. " * 40, "", "Kites. " * 40, "Tides."]
    report = report_of(
        of_texts(
            texts,
            strategy="prefix",
            ranking="recoverability",
            budget_tokens=budget,
            excerpt_tokens=32,
        ).invoke("kites")
    )
    want = retain_within_budget(
        [RetentionCandidate(id=str(at), content=t) for at, t in enumerate(texts)],
        budget,
        32,
    )
    assert report == want


def test_prefix_by_relevance_keeps_the_order_and_graphemes():
    """Prefixes go in the base's order, and no grapheme is cut."""
    report = report_of(
        of_texts(
            ["e\u0301" * 40, "Tides."], strategy="prefix", excerpt_tokens=1
        ).invoke("tides")
    )
    assert [c.excerpt for c in report.capsules] == ["e\u0301e\u0301", "Tide"]
    odd = of_texts(["e" + "\u0301" * 9], strategy="prefix", excerpt_tokens=1)
    assert report_of(odd.invoke("x")).capsules[0].excerpt == ""


def test_the_base_gets_k_tags_and_arguments():
    """`k`, further arguments and tags reach the base."""
    base = Shelf(documents=NOTES, asked=[])
    retriever = CapsuleRetriever(base_retriever=base, k=1)
    assert len(retriever.invoke("wind", {"tags": ["night"]}, filter="f")) == 1
    assert base.asked == [{"k": 1, "filter": "f", "tags": ["night"]}]


def test_a_k_of_the_call_goes_before():
    """`invoke(query, k=…)` overrides the setting, also where the base takes no k."""
    assert len(made(k=2).invoke("wind", k=1)) == 1
    assert len(made(k=1).invoke("wind")) == 1


def test_a_base_that_is_no_retriever_is_cut_at_k():
    """A function takes no `k`; what it returns is cut instead."""
    base = RunnableLambda(lambda query: NOTES)
    assert len(CapsuleRetriever(base_retriever=base, k=1).invoke("wind")) == 1


def test_many_documents_are_packed_without_splitting_all():
    """Documents that have no chance are told as out of budget."""
    notes = [Document(f"Kite {n} needs wind. " * 9) for n in range(60)]
    report = report_of(made(notes, budget_tokens=64).invoke("wind"))
    assert report.outcomes[-1].outcome == "no_budget"


def test_settings_of_the_base_can_be_configured():
    """A configurable field of the base is configured through the retriever."""
    base = Plain(documents=NOTES).configurable_fields(
        documents=ConfigurableField(id="shelf")
    )
    retriever = CapsuleRetriever(base_retriever=base)
    assert "shelf" in [spec.id for spec in retriever.config_specs]
    config = {"configurable": {"shelf": NOTES[:1]}}
    assert len(retriever.invoke("wind", config)) == 1
    assert len(asyncio.run(retriever.ainvoke("wind", config))) == 1


def test_own_settings_can_be_configured():
    """A field of the retriever itself is configurable, and keys still resolve."""
    retriever = made()
    small = retriever.configurable_fields(budget_tokens=ConfigurableField(id="budget"))
    found = small.invoke("tail", {"configurable": {"budget": 16}})
    [capsule] = report_of(found).capsules
    assert retriever.fetch(capsule.retrieval_key) == NOTES[1]


@pytest.mark.parametrize("face", [CapsuleCompressor, made])
def test_a_shared_budget_takes_the_place_of_a_number(face):
    """The document share of a `ContextBudget` is what all capsules may cost."""
    budget = ContextBudget(max_tokens=160, document_share=0.1)
    assert face(budget=budget).budget_tokens == 16
    assert face(budget=budget, budget_tokens=500).budget_tokens == 16
    assert report_of(made(budget=budget).invoke("tail")).budget_tokens == 16
    with pytest.raises(BudgetExceededError):
        face(budget=ContextBudget(max_tokens=9, document_floor_tokens=10))


def test_callbacks_nest():
    """Wrapper and base report to the same handler, the base as the child."""

    class Spy(BaseCallbackHandler):
        def __init__(self):
            self.runs = []

        def on_retriever_start(self, *args, run_id, parent_run_id=None, **kwargs):
            self.runs.append((run_id, parent_run_id))

    spy = Spy()
    made().invoke("wind", {"callbacks": [spy]})
    assert spy.runs[1][1] == spy.runs[0][0]


def test_the_bases_error_goes_through():
    """What the base raises arrives untouched."""

    def fail(query):
        raise KeyError(query)

    with pytest.raises(KeyError, match="wind"):
        CapsuleRetriever(base_retriever=RunnableLambda(fail)).invoke("wind")


def test_it_wraps_a_vector_store():
    """A real vector store's retriever takes k and is packed."""
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents(NOTES)
    retriever = CapsuleRetriever(base_retriever=store.as_retriever(), k=1)
    assert len(retriever.invoke("wind")) == 1


@pytest.mark.parametrize("is_async", [False, True])
def test_the_compressor_serves_in_a_compression_retriever(is_async):
    """It returns short documents there, sync and async."""
    retriever = ContextualCompressionRetriever(
        base_retriever=Plain(documents=NOTES),
        base_compressor=DocumentCompressorPipeline(
            transformers=[CapsuleCompressor(budget_tokens=16)]
        ),
    )
    found = (
        asyncio.run(retriever.ainvoke("tail")) if is_async else retriever.invoke("tail")
    )
    assert [d.page_content for d in found] == ["A tail keeps them steady."]


def test_the_compressor_attaches_when_asked():
    """With `output="attach"` all documents stay."""
    packed = CapsuleCompressor(output="attach").compress_documents(NOTES, "tail")
    assert [d.page_content for d in packed] == [d.page_content for d in NOTES]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("budget_tokens", -1),
        ("budget_tokens", 1.5),
        ("budget_tokens", True),
        ("budget_tokens", float("nan")),
        ("budget", 100),
        ("excerpt_tokens", 0),
        ("strategy", "guess"),
        ("ranking", "age"),
        ("output", "text"),
        ("k", 0),
        ("min_score", 1.1),
        ("max_per_document", 0),
        ("stop_words", "klingon"),
        ("weights", {"power": float("nan")}),
        ("token_counter", 3),
        ("access_log", "yes"),
        ("docstore", "yes"),
        ("base_retriever", "yes"),
    ],
)
def test_a_setting_that_breaks_its_rule_is_named(setting, value):
    """Bad settings are refused when the retriever is made, by name."""
    settings = {"base_retriever": Plain(documents=NOTES), setting: value}
    with pytest.raises(InvalidInputError, match="power|" + setting):
        CapsuleRetriever(**settings)


@pytest.mark.parametrize("score", [None, float("nan"), float("inf"), "0.5", [1]])
def test_scores_of_any_kind_are_left_alone(score):
    """The base's order counts, never a score in the metadata."""
    notes = [Document("Tide.", metadata={"score": score}), Document("Tides.")]
    found = made(notes).invoke("tide")
    assert [d.page_content for d in found] == ["Tide.", "Tides."]


def test_a_megabyte_is_packed():
    """Large texts without any place to cut do not stop it."""
    notes = [Document("x" * 1_000_000), Document("kites need wind " * 60_000)]
    found = made(notes, budget_tokens=64).invoke("wind")
    assert estimate_tokens(format_capsules(found)) <= 64


@pytest.mark.parametrize("bad", [-1, 1.5, True, "2"])
def test_a_bad_number_of_documents_is_refused_before_the_base_is_asked(bad):
    """`k` of a call is a whole number of at least 0."""
    asked = []
    base = RunnableLambda(lambda query: asked.append(query) or [])
    retriever = CapsuleRetriever(base_retriever=base)
    with pytest.raises(InvalidInputError, match="`k`"):
        retriever.invoke("wind", k=bad)
    assert asked == []
