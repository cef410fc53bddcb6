"""How far from the truth differences of nDCG@10 are where a candidate brings unjudged documents.

A candidate is compared with a deployed run. The judgments are those of the top tens of a pool: the deployed run and
others, none of the candidate's group. So what only the candidate's group retrieves is unjudged, as for a new run. Then
the hidden judgments of all top tens tell the true difference.
"""

from __future__ import annotations

import argparse
import csv
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ir_measures_relative import RunContext
from ir_measures_relative.bounding.llm_judge import NO_LABEL, JudgedRelevance
from ir_measures_relative.bounding.relevance import FEWEST_RUNS, Pool, draw_grades
from unjudged_documents import read_qrels

CUTOFF, DEPTH, RRF_K = 10, 100, 60
DISCOUNT = 1.0 / np.log2(np.arange(2, CUTOFF + 2))
#: The number of runs of the pool, and of those that the context has with the candidate; None for all.
POOLS = {
    "all other runs": (None, None),
    "ten runs": (10, None),
    "four runs": (4, None),
    "one run": (1, None),
    "two runs, of which one is there": (2, 2),
    "ten runs, of which one is there": (10, 2),
    "four runs, of which one is there": (4, 2),
    "four runs, of which two are there": (4, 3),
}
JUDGES: dict[str, Callable[..., Any]] = {
    "as it is": lambda label, own, random: label,
    "shuffled": lambda label, own, random: random.permutation(label),
    "inverted": lambda label, own, random: label.max() - label,
    "a grade more on all own": lambda label, own, random: np.minimum(label + own, label.max()),
    "a grade more on 30 % of its own": lambda label, own, random: np.minimum(
        label + (own & (random.random(len(label)) < 0.3)), label.max()
    ),
}


class Collection(NamedTuple):
    """A test collection as arrays; documents are (topic, document) pairs that some run retrieves to the depth."""

    names: list[str]
    groups: Any  # a number for each run
    places: Any  # shape (runs, documents)
    topic: Any
    n_topics: int
    grade: Any  # -1 where nobody judged
    llm: dict[str, Any]  # labels of each language model, NO_LABEL where there is none


class Case(NamedTuple):
    """A candidate and a deployed run, with the documents that count and what is judged of them."""

    pool: Pool  # of the pool's runs and, last, the candidate
    groups: Any
    grade: Any
    judged: Any
    hidden: Any  # judged by the track, but not for the pool; what the track never judged is not relevant throughout
    rows: Any  # of the collection
    lists: Any  # places of the options' documents: keep, replace, add


def read_collection(folder: Path) -> Collection:
    """Read runs/, qrels.txt.gz, groups.csv and llm/*.qrels.gz, of which the last two may be absent."""
    context = RunContext.from_files(folder / "runs")
    names = context.names
    said = {}
    if (folder / "groups.csv").exists():
        with (folder / "groups.csv").open(encoding="utf-8") as file:
            said = {row["run"]: row["group"] for row in csv.DictReader(file)}
    groups = np.unique([said.get(name, name) for name in names], return_inverse=True)[1]
    qrels = read_qrels(folder / "qrels.txt.gz")
    topics = {query: i for i, query in enumerate(sorted(qrels["query_id"].unique()))}
    rows: dict[tuple[str, str], int] = {}
    entries = []
    for i, name in enumerate(names):
        for query, docs in context.runs[name].to_dict(DEPTH).items():
            if query in topics:
                for place, doc in enumerate(docs, start=1):
                    entries.append((i, rows.setdefault((query, doc), len(rows)), place))
    run, row, place = np.array(entries).T
    places = np.zeros((len(names), len(rows)), dtype=np.int64)
    places[run, row] = place

    def labels(frame: pd.DataFrame, none: int) -> Any:
        result = np.full(len(rows), none)
        for query, doc, grade in zip(frame["query_id"], frame["doc_id"], frame["relevance"], strict=True):
            if (query, doc) in rows:
                result[rows[query, doc]] = max(grade, 0)
        return result

    judges = {f.name.removesuffix(".qrels.gz"): f for f in sorted((folder / "llm").glob("*.qrels.gz"))}
    llm = {name: labels(read_qrels(file), NO_LABEL) for name, file in judges.items()}
    topic = np.array([topics[query] for query, _ in rows])
    return Collection(names, groups, places, topic, len(topics), labels(qrels, -1), llm)


def drawn_cases(
    collection: Collection, size: int | None, n: int, seed: int, n_context: int | None = None
) -> Iterator[Case]:
    """Draw pairs of a candidate and a deployed run, with a pool of so many runs; the deployed one is in it.

    The model sees the candidate and the first runs of the pool, ``n_context`` together, or all.
    """
    random, groups = np.random.default_rng(seed), collection.groups
    while n:
        candidate, deployed = random.choice(len(groups), 2, replace=False)
        others = np.flatnonzero(groups != groups[candidate])
        others = others[others != deployed]
        if groups[candidate] == groups[deployed] or len(others) < (size or 1) - 1:
            continue
        if size is not None:
            others = random.choice(others, size - 1, replace=False)
        runs = np.array([deployed, *others, candidate])
        yield make_case(collection, runs, n_context or len(runs))
        n -= 1


def make_case(collection: Collection, runs: Any, n_context: int) -> Case:
    """Return the case of these runs: the first is deployed, the last the candidate, and all others are in the pool."""
    seen = np.array([*range(n_context - 1), len(runs) - 1])
    places = collection.places[runs]
    two = places[[0, -1]]
    scores = np.where(two > 0, 1.0 / (RRF_K + two), 0.0).sum(axis=0)
    order = np.lexsort((-scores, collection.topic))
    start = np.searchsorted(collection.topic[order], np.arange(collection.n_topics))
    fused = np.zeros(len(scores), dtype=np.int64)
    fused[order] = np.arange(len(order)) - start[collection.topic[order]] + 1
    fused[scores == 0] = 0
    in_top = (places > 0) & (places <= CUTOFF)
    rows = np.flatnonzero(in_top.any(axis=0) | ((fused > 0) & (fused <= CUTOFF)))
    pool = Pool(places[np.ix_(seen, rows)], collection.topic[rows], collection.n_topics, CUTOFF)
    by_track = collection.grade[rows] >= 0
    judged = in_top[:-1, rows].any(axis=0) & by_track
    lists = np.stack([places[0, rows], places[-1, rows], fused[rows]])
    groups = np.unique(collection.groups[runs[seen]], return_inverse=True)[1]
    grade = np.maximum(collection.grade[rows], 0)
    return Case(pool, groups, grade, judged, by_track & ~judged, rows, lists)


def judge_share(case: Case, share: float, random: Any) -> Case:
    """Return the case with a random share of its judgments, the others hidden."""
    judged = case.judged & (random.random(len(case.judged)) < share)
    return case._replace(judged=judged, hidden=case.hidden | (case.judged & ~judged))


def gains_over_keep(case: Case, grades: Any) -> Any:
    """Return replace - keep and add - keep of mean nDCG@10, shape (2, labelings), by grades (labelings, documents)."""
    n, topic = case.pool.n_topics, case.pool.topic
    levels = np.unique(grades)
    so_far = np.append(0.0, np.cumsum(DISCOUNT))
    by_topic = (topic == np.arange(n)[:, None]).astype(np.float64).T
    ideal = np.zeros((len(grades), n))
    for before, level in itertools.pairwise(levels):
        count = ((grades >= level) @ by_topic).astype(np.int64)
        ideal += (level - max(before, 0)) * so_far[np.minimum(count, CUTOFF)]
    values = []
    for places in case.lists:
        top = np.flatnonzero((places > 0) & (places <= CUTOFF))
        dcg = (grades[:, top] * DISCOUNT[places[top] - 1]) @ by_topic[top]
        values.append(np.divide(dcg, ideal, out=np.zeros_like(ideal), where=ideal > 0).mean(axis=1))
    keep, replace, add = values
    return np.array([replace - keep, add - keep])


def errors(case: Case, label: Any, samples: int, random: Any) -> tuple[Any, Any, JudgedRelevance]:
    """Return the errors of the two drawn differences, and their standard deviations between labelings."""
    candidate = len(case.groups) - 1
    model = JudgedRelevance(
        case.pool, case.grade, case.judged, label, groups=case.groups, candidate=candidate
    )
    unjudged = np.flatnonzero(case.hidden)
    docs = case.pool.select(unjudged)
    logits = model.logits(docs, None if label is None else label[unjudged])
    retrieved = docs.in_top | ((docs.ranks > 0) & ~docs.in_top.any(axis=0))
    grades = np.repeat(case.grade[None], samples, axis=0)
    grades[:, unjudged] = draw_grades(logits, model.levels, retrieved, model.sd, samples, random)
    drawn = gains_over_keep(case, grades)
    truth = gains_over_keep(case, case.grade[None])[:, 0]
    return drawn.mean(axis=1) - truth, drawn.std(axis=1, ddof=1), model


def summary(name: str, found: Sequence[tuple[Any, Any, JudgedRelevance]], pairs: int) -> list[dict[str, Any]]:
    """Return RMSE, bias, share of |z| > 1.96 and mean standard deviation, for both differences."""
    rows = []
    error, sd = (np.array([case[i] for case in found]).reshape(-1, 2) for i in (0, 1))
    for i, difference in enumerate(("replace - keep", "add - keep")):
        z = np.abs(error[:, i]) / np.maximum(sd[:, i], 1e-9)
        rows.append(
            {
                "difference": difference,
                "by": name,
                "RMSE": 1000 * np.sqrt((error[:, i] ** 2).mean()) if len(error) else np.nan,
                "bias": 1000 * error[:, i].mean() if len(error) else np.nan,
                "beyond 1.96 (%)": 100 * (z > 1.96).mean() if len(error) else np.nan,
                "sd": 1000 * sd[:, i].mean() if len(error) else np.nan,
                "judge used (%)": 100 * sum(case[2].uses_judge for case in found) / pairs,
            }
        )
    return rows


def plain_errors(cases: Sequence[Case], label: Any = None) -> list[dict[str, Any]]:
    """Return the errors where unjudged documents count as not relevant, or by the labels of a language model."""
    found = []
    for case in cases:
        own = 0 if label is None else np.maximum(label[case.rows], 0)
        as_if = gains_over_keep(case, np.where(case.hidden, own, case.grade)[None])[:, 0]
        found.append(as_if - gains_over_keep(case, case.grade[None])[:, 0])
    error = 1000 * np.array(found)
    name = "unjudged = not relevant" if label is None else "LLM labels as truth"
    return [
        {"difference": d, "by": name, "RMSE": np.sqrt((e**2).mean()), "bias": e.mean()}
        for d, e in zip(("replace - keep", "add - keep"), error.T, strict=True)
    ]


def study(
    collection: Collection,
    size: int | None,
    n_context: int | None,
    pairs: int,
    samples: int,
    seed: int,
    share: float = 1.0,
) -> pd.DataFrame:
    """Return a row for each way to treat unjudged documents, and difference."""
    random = np.random.default_rng(seed)
    cases = [
        judge_share(case, share, random) for case in drawn_cases(collection, size, pairs, seed, n_context)
    ]
    rows = plain_errors(cases)
    if len(cases[0].groups) >= FEWEST_RUNS:
        random = np.random.default_rng(seed)
        rows += summary("relevance model", [errors(case, None, samples, random) for case in cases], pairs)
    best = next(iter(collection.llm), None)
    for judge, labels in collection.llm.items():
        rows += plain_errors(cases, labels) if judge == best else []
        for how, change in JUDGES.items() if judge == best else [("as it is", JUDGES["as it is"])]:
            random, found = np.random.default_rng(seed), []
            for case in cases:
                label = labels[case.rows].copy()
                has = label != NO_LABEL
                own = case.hidden & case.pool.in_top[-1]
                label[has] = change(label[has], own[has], random)
                result = errors(case, label, samples, random)
                if result[2].exists:
                    found.append(result)
            rows += summary(f"{judge}, {how}", found, pairs)
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="+", help="with runs/ and qrels.txt.gz; groups.csv, llm/")
    parser.add_argument("--pairs", type=int, default=100, help="pairs of runs (default: %(default)s)")
    parser.add_argument("--samples", type=int, default=100, help="labelings (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of pairs and labelings (default: %(default)s)")
    parser.add_argument(
        "--judged",
        type=float,
        default=1.0,
        help="the share of the pool's judgments, at random (default: all)",
    )
    parser.add_argument("--pools", nargs="+", choices=[*POOLS], default=[*POOLS], help="(default: all)")
    arguments = parser.parse_args()
    for folder in arguments.folder:
        for part in ("runs", "qrels.txt.gz"):
            if not (folder / part).exists():
                parser.error(f"{folder} holds no {part}")
        collection = read_collection(folder)
        for name in arguments.pools:
            options = arguments.pairs, arguments.samples, arguments.seed, arguments.judged
            table = study(collection, *POOLS[name], *options)
            print(f"\n{folder.name}, a pool of {name}")
            print(table.round(1).to_string(index=False), flush=True)


if __name__ == "__main__":
    main()
