"""The same packing over Chroma, where `langchain-chroma` is installed.

You will see one capsule of what Chroma found, or which package is missing.
"""

from __future__ import annotations

from langchain_core.embeddings import DeterministicFakeEmbedding

from langchain_memkit import CapsuleRetriever, format_capsules

NOTES = [
    "The ferry leaves at six.\nTickets are paid in coins only.",
    "Kites are flown on the beach.\nA tail keeps a kite from spinning.",
]


def main() -> None:
    """Ask one question."""
    try:
        from langchain_chroma import Chroma  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - optional
    except ImportError as error:
        print(f"skipped: {error}")
        return
    store = Chroma.from_texts(NOTES, DeterministicFakeEmbedding(size=64))
    base = store.as_retriever(search_kwargs={"k": 2})
    retriever = CapsuleRetriever(base_retriever=base, budget_tokens=20)
    print(format_capsules(retriever.invoke("What keeps a kite from spinning?")))


if __name__ == "__main__":
    main()
