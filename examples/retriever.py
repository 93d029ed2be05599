"""Packing what a vector store finds, over wordllama where it is installed.

You will see what answers a question beside what whole documents would have cost, a full
text fetched by its key, and a false quote found out.
"""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

import langchain_memkit as memkit

NOTES = [
    "The ferry leaves at six.\nIn a storm it stays.\nTickets are paid in coins only.",
    "The lighthouse was built in 1861.\nThe keeper's daughter rings the bell in fog.",
    "Kites are flown on the beach.\nA tail keeps a kite from spinning in the wind.",
]


class SmallEmbeddings(Embeddings):
    """Static embeddings of wordllama, else counts of hashed groups of letters."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts without a download."""
        try:
            import wordllama  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: PLC0415 - optional
        except ImportError:
            parts = [[t[at : at + 3].lower() for at in range(len(t))] for t in texts]
            hashes = [[crc32(part.encode()) % 256 for part in few] for few in parts]
            return [[float(h.count(n)) for n in range(256)] for h in hashes]
        weights = Path(wordllama.__file__).parent
        model = wordllama.WordLlama.load(cache_dir=weights, disable_download=True)
        return [[float(x) for x in row] for row in model.embed(texts, norm=True)]

    def embed_query(self, text: str) -> list[float]:
        """Embed one text."""
        return self.embed_documents([text])[0]


def main() -> None:
    """Ask a question."""
    base = InMemoryVectorStore.from_texts(NOTES, SmallEmbeddings()).as_retriever()
    retriever = memkit.CapsuleRetriever(base_retriever=base, budget_tokens=30)
    found = retriever.invoke("What keeps a kite from spinning?")
    whole = sum(memkit.estimate_tokens(document.page_content) for document in found)
    print(memkit.format_capsules(found))
    print(f"{memkit.report_of(found).retained_tokens} tokens instead of {whole}")
    key = memkit.report_of(found).capsules[0].retrieval_key
    print("full text:", retriever.fetch(key).page_content)
    answer = f'It "keeps a kite" [{key}], and so does "a string".'
    print(memkit.verify_citations(answer, found).faults)


if __name__ == "__main__":
    main()
