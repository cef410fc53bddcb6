"""Lists of options in plain Python, one document after the other: fused, interleaved, reranked."""

from collections.abc import Mapping, Sequence

from oracles.fusion import as_read, fuse
from oracles.rankings import trec_order

Scores = dict[str, float]
Runs = Mapping[str, Mapping[str, Scores]]


def interleave(lists: Sequence[Sequence[str]], length: int) -> list[str]:
    """In turn; a list gives its next document where one was taken, and one that has ended is skipped."""
    result: list[str] = []
    at = [0] * len(lists)
    while len(result) < length and any(i < len(docs) for i, docs in zip(at, lists, strict=True)):
        for turn, docs in enumerate(lists):
            while at[turn] < len(docs) and docs[at[turn]] in result:
                at[turn] += 1
            if at[turn] < len(docs) and len(result) < length:
                result.append(docs[at[turn]])
                at[turn] += 1
    return result


def combined(
    names: Sequence[str], runs: Runs, query: str, method: str, k: int, depth: int, length: int
) -> list[str]:
    """The list of some runs; fused in the order of the context."""
    if len(names) == 1:
        return trec_order(runs[names[0]].get(query, {}))[:length]
    if method == "interleave":
        return interleave([trec_order(runs[name].get(query, {})) for name in names], length)
    in_order = [dict(runs[name].get(query, {})) for name in runs if name in names]
    return trec_order(fuse(in_order, method, k, depth))[:length]


def pools(options: Mapping[str, Sequence[str]], runs: Runs, query: str, pool: int) -> dict[str, list[str]]:
    """What the reranker gets of each option: as many documents as of the option that has fewest."""
    found = {
        name: interleave([trec_order(runs[run].get(query, {})) for run in of], pool)
        for name, of in options.items()
    }
    smallest = min(len(docs) for docs in found.values())
    return {name: docs[:smallest] for name, docs in found.items()}


def reranked(pool: Sequence[str], scores: Scores, length: int) -> list[str]:
    """The pool by the reranker's scores."""
    return trec_order({doc: as_read(scores)[doc] for doc in pool})[:length]


def fates(
    relevant: set[str],
    names: Sequence[str],
    runs: Runs,
    query: str,
    pool: Sequence[str],
    shown: Sequence[str],
) -> tuple[int, int, int, int]:
    """How many relevant documents no run retrieves, are outside the pool, in it and not shown, and shown."""
    result = [0, 0, 0, 0]
    for doc in relevant:
        if doc in shown:
            result[3] += 1
        elif doc in pool:
            result[2] += 1
        elif any(doc in runs[name].get(query, {}) for name in names):
            result[1] += 1
        else:
            result[0] += 1
    return result[0], result[1], result[2], result[3]


def new_and_next(
    deployed: Sequence[str], candidate: str, runs: Runs, query: str, k: int
) -> tuple[list[str], list[str]]:
    """The candidate's new documents in its top k, and as many further ones of the deployed runs in turn."""
    lists = [trec_order(runs[name].get(query, {})) for name in deployed]
    seen = {doc for docs in lists for doc in docs[:k]}
    new = [doc for doc in trec_order(runs[candidate].get(query, {}))[:k] if doc not in seen]
    below = [[doc for doc in docs[k:] if doc not in seen] for docs in lists]
    return new, interleave(below, len(new))
