"""Measure how much gold evidence survives a token budget, and how long packing takes.

    python benchmarks/capsules.py FOLDER [--sets a,b-300] [--retriever wordllama]
    python benchmarks/capsules.py FOLDER --ablate --part 0      # or 1, the other half
    python benchmarks/capsules.py FOLDER --time

FOLDER holds NAME.docs.jsonl.gz, rows of `id`, `text` and perhaps `corpus` and `units`
(spans of turns, `line` to `line_end`), and NAME.questions.jsonl.gz, rows of `question`
and `gold`, a list of `doc`, `start` and `end`; `dialogues.py` makes such a set. The set
NAME-300 cuts documents at 300 tokens, NAME-turn at turns.

The 50 best documents of each question go to every method. A gold span is found when at
least 80 % of it was packed. Tokens are a quarter of the characters. What other packages
would need beside the text (tags, keys, separators) costs them nothing here.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import RunnableLambda

from langchain_memkit import CapsuleRetriever, estimate_tokens, report_of
from langchain_memkit.core.excerpts import ExcerptWeights

BUDGETS = (256, 512, 1024, 2048)
CANDIDATES = 50
FOUND_SHARE = 0.8
Packed = list[tuple[Document, int, int]]
Method = Callable[[str, list[Document], int], Packed]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its candidates in rank order and its gold spans."""

    text: str
    candidates: list[Document]
    gold: list[tuple[str, int, int]]


def rows(path: Path) -> list[dict[str, Any]]:
    """Read a file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def cut(row: dict[str, Any], size: str) -> Iterator[tuple[int, int]]:
    """Cut a document into chunks of a size, turns, or not at all."""
    text = row["text"]
    if size == "turn":
        yield from ((unit["line"], unit["line_end"]) for unit in row["units"])
    elif size:
        start = 0
        while start < len(text):
            end = min(len(text), start + 4 * int(size))
            stop = max(text.rfind(mark, start + 1, end) for mark in (". ", "\n"))
            end = stop + 1 if end < len(text) and stop > 0 else end
            yield start, end
            start = end
    else:
        yield 0, len(text)


def load(folder: Path, name: str) -> tuple[dict[str, list[Document]], list[Any]]:
    """Read a set: the documents of each corpus, and the questions."""
    base, _, size = name.partition("-")
    pools: dict[str, list[Document]] = {}
    for row in rows(folder / f"{base}.docs.jsonl.gz"):
        for start, end in cut(row, size):
            if row["text"][start:end].strip():
                identity = f"{row['id']}:{start}"
                pools.setdefault(row.get("corpus", "all"), []).append(
                    Document(
                        row["text"][start:end],
                        id=identity,
                        metadata={"parent": row["id"], "offset": start},
                    )
                )
    return pools, rows(folder / f"{base}.questions.jsonl.gz")


class HashEmbeddings(Embeddings):
    """Counts hashed words: deterministic, and as fast as an embedding can be."""

    def embed_query(self, text: str) -> list[float]:
        """Embed one text."""
        counts = [0.0] * 256
        for word in re.findall(r"\w+", text.lower()):
            counts[crc32(word.encode()) % 256] += 1
        return counts

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed many texts."""
        return [self.embed_query(text) for text in texts]


def bm25(texts: list[str]) -> Callable[[str], Sequence[float]]:
    """Rank by words, with rank_bm25."""
    from rank_bm25 import BM25Okapi  # type: ignore[import-untyped,import-not-found,unused-ignore]  # noqa: PLC0415 - needed by this choice only

    index = BM25Okapi([re.findall(r"\w+", text.lower()) for text in texts])
    return lambda query: list(index.get_scores(re.findall(r"\w+", query.lower())))


def wordllama(texts: list[str]) -> Callable[[str], Sequence[float]]:
    """Rank by small static embeddings, whose weights the package ships."""
    import wordllama as package  # type: ignore[import-untyped,import-not-found,unused-ignore]  # noqa: PLC0415 - as above

    weights = Path(package.__file__).parent
    model = package.WordLlama.load(cache_dir=weights, disable_download=True)
    matrix = model.embed(texts, norm=True)
    return lambda query: list(matrix @ model.embed([query], norm=True)[0])


RANKERS = {"bm25": bm25, "wordllama": wordllama}


def questions(folder: Path, name: str, ranker: str, most: int) -> list[Question]:
    """Rank the candidates of every question of a set."""
    pools, asked = load(folder, name)
    asked = [row for row in asked if row["gold"]]
    scores = {
        corpus: RANKERS[ranker]([document.page_content for document in pool])
        for corpus, pool in pools.items()
    }
    found = []
    for row in asked[:: max(1, len(asked) // most)][:most]:
        corpus = row.get("corpus", "all")
        pool, score = pools[corpus], scores[corpus](row["question"])
        best = sorted(range(len(pool)), key=lambda at: -score[at])[:CANDIDATES]
        gold = [(span["doc"], span["start"], span["end"]) for span in row["gold"]]
        found.append(Question(row["question"], [pool[at] for at in best], gold))
    return found


def recall(question: Question, packed: Packed) -> float:
    """Tell the share of gold spans of which enough was packed."""
    hits = 0
    for parent, start, end in question.gold:
        inside: set[int] = set()
        for document, first, last in packed:
            offset = document.metadata["offset"]
            if document.metadata["parent"] == parent:
                inside.update(
                    range(max(start, offset + first), min(end, offset + last))
                )
        hits += len(inside) >= FOUND_SHARE * max(1, end - start)
    return hits / len(question.gold)


def whole(_query: str, candidates: list[Document], budget: int) -> Packed:
    """Take whole documents in rank order, the last one cut."""
    packed: Packed = []
    for document in candidates:
        size = min(estimate_tokens(document.page_content), budget)
        packed.append((document, 0, 4 * size))
        budget -= size
    return packed


def capsules(**settings: Any) -> Method:  # noqa: ANN401 - any setting of the retriever
    """Pack with this package."""

    def pack(query: str, candidates: list[Document], budget: int) -> Packed:
        base = RunnableLambda[str, list[Document]](lambda _: candidates)
        retriever = CapsuleRetriever(
            base_retriever=base, budget_tokens=budget, **settings
        )
        report = report_of(retriever.invoke(query))
        return [
            (candidates[capsule.position], start, end)
            for capsule in report.capsules
            for start, end in capsule.segments
        ]

    return pack


def embeddings_filter(query: str, candidates: list[Document], budget: int) -> Packed:
    """Split to 400 characters and keep the pieces most like the query."""
    from langchain_classic.retrievers import (  # noqa: PLC0415 - optional
        ContextualCompressionRetriever,
    )
    from langchain_classic.retrievers.document_compressors import (  # noqa: PLC0415
        DocumentCompressorPipeline,
        EmbeddingsFilter,
    )
    from langchain_text_splitters import (  # noqa: PLC0415
        RecursiveCharacterTextSplitter,
    )

    splitter = RecursiveCharacterTextSplitter(
        chunk_size=400, chunk_overlap=0, add_start_index=True
    )
    keep = EmbeddingsFilter(embeddings=HashEmbeddings(), k=max(1, budget // 60))
    retriever = ContextualCompressionRetriever(
        base_retriever=RunnableLambda[str, list[Document]](lambda _: candidates),
        base_compressor=DocumentCompressorPipeline(transformers=[splitter, keep]),
    )
    packed: Packed = []
    for piece in retriever.invoke(query):
        start, size = piece.metadata["start_index"], len(piece.page_content)
        size = min(size, 4 * budget)
        packed.append((piece, start, start + size))
        budget -= -(-size // 4)
    return packed


def trimwise(query: str, candidates: list[Document], budget: int) -> Packed:
    """Trim with langchain-trimwise, which needs tiktoken's tables."""
    from langchain_trimwise import (  # noqa: PLC0415 - optional
        create_trimwise_runnable,
    )

    runnable = create_trimwise_runnable(budget, token_counter=estimate_tokens)
    return [
        (document, span["start"], span["end"])
        for document in runnable.invoke({"documents": candidates, "query": query})
        for span in document.metadata["trimwise"]["spans"]
    ]


METHODS: dict[str, Method] = {
    "whole documents, last cut": whole,
    "splitter + EmbeddingsFilter": embeddings_filter,
    "langchain-trimwise": trimwise,
    "memkit": capsules(),
}


def ablations() -> dict[str, Method]:
    """Take each part of the value away, one at a time."""
    changes = {
        "no neighbours": ExcerptWeights(near=0.0),
        "no document share": ExcerptWeights(document=0.0),
        "no base order": ExcerptWeights(rank=0.0),
        "no power": ExcerptWeights(power=1.0),
        "no length": ExcerptWeights(length=0.0),
    }
    return {
        "memkit": capsules(),
        **{name: capsules(weights=changed) for name, changed in changes.items()},
        "no stop words": capsules(stop_words=None),
        "units of 64 tokens": capsules(excerpt_tokens=64),
        "prefixes of 64 tokens": capsules(strategy="prefix", excerpt_tokens=64),
        "by recoverability": capsules(ranking="recoverability"),
    }


def table(asked: list[Question], methods: dict[str, Method]) -> Iterator[str]:
    """Measure methods and render a table, a line at a time."""
    yield "| method | " + " | ".join(f"@{budget}" for budget in BUDGETS) + " | ms |"
    yield "|---" * (len(BUDGETS) + 2) + "|"
    for name, method in methods.items():
        found: list[str] = []
        spent: list[float] = []
        try:
            for budget in BUDGETS:
                shares = []
                for question in asked:
                    start = time.perf_counter()
                    packed = method(question.text, question.candidates, budget)
                    spent.append(1e3 * (time.perf_counter() - start))
                    shares.append(recall(question, packed))
                found.append(f"{statistics.mean(shares):.3f}")
        except (ImportError, OSError) as error:
            yield f"| {name} | cannot run here: {error} |"
            continue
        yield f"| {name} | {' | '.join(found)} | {statistics.median(spent):.2f} |"


def fastest(run: Callable[[], object], repeats: int) -> float:
    """Tell the milliseconds of the fastest of some runs."""
    spent = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        spent.append(1e3 * (time.perf_counter() - start))
    return min(spent)


def times(pool: list[Document], query: str) -> Iterator[str]:
    """Time the packing of 50 and of 1,000 documents beside the alternatives."""

    def indexed() -> None:
        scores = bm25([document.page_content for document in many])(query)
        best = sorted(range(len(many)), key=lambda at: -scores[at])
        whole(query, [many[at] for at in best[:CANDIDATES]], 1024)

    def packed(documents: list[Document]) -> None:
        base = RunnableLambda[str, list[Document]](lambda _: documents)
        CapsuleRetriever(base_retriever=base, budget_tokens=1024).invoke(query)

    few, many = pool[:CANDIDATES], pool[:1000]
    runs: list[tuple[str, Callable[[], object], int]] = [
        (f"memkit, {len(few)}", lambda: packed(few), 9),
        ("filter, the same", lambda: embeddings_filter(query, few, 1024), 5),
        (f"memkit, {len(many)}", lambda: packed(many), 9),
        ("rank_bm25 and whole documents, the same", indexed, 5),
        ("langchain-trimwise, the same", lambda: trimwise(query, many, 1024), 1),
    ]
    for name, run, repeats in runs:
        try:
            yield f"{name}: {fastest(run, repeats):.1f} ms"
        except (ImportError, OSError) as error:
            yield f"{name}: cannot run here: {error}"


def names_in(folder: Path) -> Iterable[str]:
    """List the sets of a folder."""
    return sorted(path.name.split(".")[0] for path in folder.glob("*.docs.jsonl.gz"))


def main() -> None:
    """Print the command and the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", default="")
    parser.add_argument("--retriever", choices=sorted(RANKERS), default="bm25")
    parser.add_argument("--most", type=int, default=300)
    parser.add_argument("--part", type=int, choices=(0, 1))
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--time", action="store_true")
    chosen = parser.parse_args()
    print(f"$ {shlex.join([Path(sys.executable).name, *sys.argv])}")
    for name in chosen.sets.split(",") if chosen.sets else names_in(chosen.folder):
        print(f"\n## {name}\n")
        if chosen.time:
            pools, asked = load(chosen.folder, name)
            pool = next(iter(pools.values()))
            print(*times(pool, asked[0]["question"]), sep="\n")
            continue
        found = questions(chosen.folder, name, chosen.retriever, chosen.most)
        if chosen.part is not None:
            found = found[chosen.part :: 2]
        for line in table(found, ablations() if chosen.ablate else METHODS):
            print(line, flush=True)


if __name__ == "__main__":
    main()
