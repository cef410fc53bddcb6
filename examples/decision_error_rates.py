"""How often worth() errs: its verdicts on pairs of runs of a test collection, on redrawn topics, on near-duplicates.

    python examples/decision_error_rates.py FOLDER... [--pairs N] [--draws N] [--cases N] [--parts shares,redrawn,...]

A folder holds ``runs/`` and ``qrels.txt.gz``. The truth is the collection: its topics, and its judgments. Minutes on
one core for each folder; the values of each pair by topic are computed once.

The parts:

- ``new``: for how many ordered pairs a count of new relevant documents, UniqueRel@10, is above 0 with 95 % confidence;
- ``shares``: the share of each verdict over ordered pairs (deployed, candidate), by their gap in nDCG@10;
- ``redrawn``: verdicts on topics that are drawn again, against the means of all topics;
- ``halves``: contradicting verdicts on two halves of the topics;
- ``duplicates``: candidates that are the deployed run, changed a little;
- ``hidden``: verdicts on a part of the judgments, against those on all;
- ``several``: beside 3 and 10 deployed runs.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ir_measures_relative import RunContext
from ir_measures_relative.context.view import view_of
from ir_measures_relative.decisions import mean_intervals
from ir_measures_relative.decisions.decision_rule import KEEP, OPEN, Rivals, intervals, verdict_of
from ir_measures_relative.decisions.options import Combination, Differences, Option, OptionLists, OptionValues
from ir_measures_relative.decisions.worth import worth
from ir_measures_relative.stats.paired_tests import PairedTestOptions

BY = ir_measures.nDCG @ 10
WORDS = {0: "keep", 1: "add", 2: "replace", -1: "open", -2: "add or replace"}
RESAMPLES = 999
GAPS = [-np.inf, -0.1, -0.05, -0.02, 0.02, 0.05, 0.1, np.inf]


class Collection:
    """The runs and judgments of a folder."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        columns = ["query_id", "iteration", "doc_id", "relevance"]
        types = {"query_id": str, "doc_id": str}
        table = pd.read_csv(folder / "qrels.txt.gz", sep=r"\s+", header=None, names=columns, dtype=types)
        self.qrels = table.drop(columns="iteration")
        self.context = RunContext.from_files(folder / "runs")
        highest = int(self.qrels["relevance"].max())
        self.context = RunContext(dict(self.context.runs), grades=(0, highest))


class PairValues(NamedTuple):
    """What the verdicts on two runs depend on: shape (pairs, 3, topics).

    The three: both fused less the first, the second less the first, both fused less the second.
    """

    judged: NDArray[np.float64]
    worst: NDArray[np.float64]
    best: NDArray[np.float64]

    def ordered(self, pair: int, reverse: bool) -> PairValues:
        """Of one pair, the deployed run first; with ``reverse`` it is the second."""
        both, second, other = (values[pair] for values in self)
        if not reverse:
            return PairValues(both, second, other)
        swapped = PairValues(*(values[[2, 1, 0]].copy() for values in (both, second, other)))
        swapped.judged[1], swapped.worst[1], swapped.best[1] = -both[1], -other[1], -second[1]
        return swapped

    def topics(self, chosen: NDArray[np.int64]) -> PairValues:
        """The same on some topics."""
        return PairValues(*(values[..., chosen] for values in self))


def values_of_pairs(data: Collection, qrels: pd.DataFrame, pairs: list[tuple[str, str]]) -> PairValues:
    """The values of pairs of runs."""
    view = view_of(data.context, qrels)
    rows = []
    for a, b in pairs:
        two = view.of_runs([a, b])
        options = [Option("a", (a,)), Option("b", (b,)), Option("both", (a, b))]
        lists = OptionLists(two, options, Combination(length=10))
        values = OptionValues(two, lists.rankings(), BY)
        rows.append(values.differences(np.array([2, 1, 2]), np.array([0, 0, 1])))
    return PairValues(*(np.array(values) for values in zip(*rows, strict=True)))


def verdicts(values: PairValues, margin: float = 0.0, seed: int = 0) -> tuple[int, int]:
    """The verdict allowing for unjudged documents, and as judged, of one ordered pair."""
    test = PairedTestOptions(resamples=RESAMPLES, seed=seed)
    gain, between = (
        intervals(Differences(*(v[rows] for v in values)), (-1.0, 1.0), test) for rows in ([0, 1], [2])
    )
    rivals = [Rivals(1, 2)]
    return (
        verdict_of(gain.ends(), gain.difference, rivals, between.ends(), margin),
        verdict_of(gain.ends(True), gain.difference, rivals, between.ends(True), margin),
    )


def contradicted(verdict: int, means: NDArray[np.float64], margin: float = 0.0) -> bool:
    """Whether a verdict is wrong, by the true means of the three differences."""
    add, replace, between = means
    if verdict == KEEP:
        return max(add, replace) > margin
    if verdict == OPEN:
        return False
    if verdict == 1:
        return add <= margin or between <= margin
    if verdict == 2:
        return replace <= margin or between > margin
    return max(add, replace) <= margin


def incompatible(one: int, other: int) -> bool:
    """Whether two verdicts contradict each other."""
    if OPEN in (one, other) or one == other:
        return False
    return KEEP in (one, other) or {one, other} == {1, 2}


def some_pairs(data: Collection, number: int | None, rng: np.random.Generator) -> list[tuple[str, str]]:
    """All pairs of runs, or some."""
    pairs = list(itertools.combinations(data.context.names, 2))
    if number is None or number >= len(pairs):
        return pairs
    return [pairs[i] for i in rng.choice(len(pairs), number, replace=False)]


def shares(data: Collection, values: PairValues) -> pd.DataFrame:
    """The share of each verdict by the gap of the candidate to the deployed run."""
    rows = []
    for pair, reverse in itertools.product(range(len(values.judged)), (False, True)):
        one = values.ordered(pair, reverse)
        overall, as_judged = verdicts(one)
        rows.append((float(one.judged[1].mean()), WORDS[overall], WORDS[as_judged]))
    table = pd.DataFrame(rows, columns=["gap", "verdict", "as judged"])
    table["gap"] = pd.cut(table["gap"], GAPS)
    parts = []
    for column in ("as judged", "verdict"):
        by_gap = pd.crosstab(table["gap"], table[column], normalize="index")
        by_gap.insert(0, "pairs", table.groupby("gap", observed=False).size())
        whole = table[column].value_counts(normalize=True)
        by_gap.loc["all"] = whole
        by_gap.loc["all", "pairs"] = len(table)
        parts.append((100 * by_gap.drop(columns="pairs")).round(1).assign(pairs=by_gap["pairs"].astype(int)))
        parts[-1].insert(0, "by", column)
    result = pd.concat(parts).fillna(0.0)
    result.insert(0, "collection", data.name)
    return result.reset_index(names="gap")


def new(data: Collection, pairs: list[tuple[str, str]]) -> pd.DataFrame:
    """For how many ordered pairs the candidate has new relevant documents, and for how many runs the own next page."""

    def above_0(runs: dict[str, Any]) -> NDArray[np.bool_]:
        found = mean_intervals(RunContext(runs), data.qrels, ["UniqueRel@10"])
        return (found["ci_lower"] > 0).to_numpy()

    runs = data.context.runs
    of_pairs = [above_0({a: runs[a], b: runs[b]}) for a, b in pairs]
    of_pages = []
    for name, run in runs.items():
        next_ten = {q: list(docs.items())[10:] for q, docs in run.to_dict(20).items()}
        of_pages.append(above_0({name: run, "page": {q: dict(docs) for q, docs in next_ten.items()}})[1])
    rows = [
        {"collection": data.name, "candidate": what, "number": len(found), "above 0": int(found.sum())}
        for what, found in (
            ("another run", np.concatenate(of_pairs)),
            ("own ranks 11-20", np.array(of_pages)),
        )
    ]
    return pd.DataFrame(rows)


def redrawn(data: Collection, values: PairValues, draws: int, rng: np.random.Generator) -> pd.DataFrame:
    """How often verdicts on redrawn topics are contradicted by the means of all topics; in per cent."""
    n_topics = values.judged.shape[2]
    drawn, wrong = Counter[str](), Counter[str]()
    worst_pair: dict[str, float] = {}
    for pair, reverse in itertools.product(range(len(values.judged)), (False, True)):
        one = values.ordered(pair, reverse)
        # As judged: the bounds only make more of the verdicts open.
        one = PairValues(one.judged, one.judged, one.judged)
        means, of_pair = one.judged.mean(axis=1), Counter[str]()
        for draw in range(draws):
            _, verdict = verdicts(one.topics(rng.integers(n_topics, size=n_topics)), seed=draw)
            drawn[WORDS[verdict]] += 1
            of_pair[WORDS[verdict]] += contradicted(verdict, means)
        wrong += of_pair
        for word, count in of_pair.items():
            worst_pair[word] = max(worst_pair.get(word, 0.0), 100 * count / draws)
    total = sum(drawn.values())
    rows = [
        {
            "collection": data.name,
            "verdict": word,
            "share": round(100 * drawn[word] / total, 1),
            "wrong, of all draws": round(100 * wrong[word] / total, 3),
            "worst pair": round(worst_pair.get(word, 0.0), 1),
        }
        for word in WORDS.values()
    ]
    return pd.DataFrame(rows)


def halves(data: Collection, values: PairValues, draws: int, rng: np.random.Generator) -> pd.DataFrame:
    """How often the verdicts on two halves of the topics contradict each other; in per cent of all pairs of halves."""
    n_topics, count, against = values.judged.shape[2], 0, 0
    for pair, reverse in itertools.product(range(len(values.judged)), (False, True)):
        one = values.ordered(pair, reverse)
        one = PairValues(one.judged, one.judged, one.judged)
        for draw in range(max(draws // 10, 1)):
            order = rng.permutation(n_topics)
            half = n_topics // 2
            first, second = (
                verdicts(one.topics(some), seed=draw)[1] for some in (order[:half], order[half:])
            )
            count += 1
            against += incompatible(first, second)
    rate = round(100 * against / count, 3)
    return pd.DataFrame([{"collection": data.name, "pairs of halves": count, "contradicting": rate}])


# ---- near-duplicates


def near_duplicates(
    data: Collection, name: str, rng: np.random.Generator
) -> dict[str, dict[str, dict[str, float]]]:
    """Candidates that bring nothing, or next to nothing, made of a deployed run."""
    ranking = {q: list(docs) for q, docs in data.context.runs[name].to_dict(1000).items()}

    def run(change: object) -> dict[str, dict[str, float]]:
        changed = {q: change(docs) for q, docs in ranking.items()}  # type: ignore[operator]
        return {q: {d: -float(i) for i, d in enumerate(docs)} for q, docs in changed.items()}

    def jittered(docs: list[str]) -> list[str]:
        place = np.arange(len(docs)) + rng.uniform(-2, 2, len(docs))
        return [docs[i] for i in np.argsort(place)]

    def shuffled(docs: list[str]) -> list[str]:
        return [docs[i] for i in rng.permutation(min(100, len(docs)))] + docs[100:]

    return {
        "exact": run(lambda docs: docs),
        "10th and 11th swapped": run(lambda docs: [*docs[:9], *docs[10:11], *docs[9:10], *docs[11:]]),
        "ranks jittered by two": run(jittered),
        "own ranks 11-20": run(lambda docs: docs[10:20]),
        "own ranks 91-100": run(lambda docs: docs[90:100]),
        "top 100 shuffled": run(shuffled),
    }


def duplicates(data: Collection, runs: int, rng: np.random.Generator) -> pd.DataFrame:
    """The verdicts on near-duplicates of ten runs, beside 1, 3 and 10 deployed runs."""
    rows = []
    names = [str(name) for name in rng.permutation(data.context.names)[:runs]]
    for number in (1, 3, 10):
        found: dict[tuple[str, str], Counter[str]] = {}
        gain: dict[tuple[str, str], float] = {}
        for name in names:
            others = [str(n) for n in rng.permutation([n for n in data.context.names if n != name])]
            deployed = [name, *others[: number - 1]]
            for kind, run in near_duplicates(data, name, rng).items():
                answer = worth(data.context, data.qrels, run, deployed, resamples=RESAMPLES)
                for by, verdict in (("as judged", answer.as_judged), ("verdict", str(answer.verdict))):
                    word = "replace" if verdict.startswith("replace") else verdict
                    found.setdefault((kind, by), Counter())[word] += 1
                    if word not in ("keep", "open"):
                        best = float(answer.table["difference"].max())
                        gain[kind, by] = max(gain.get((kind, by), 0.0), best)
        rows += [
            {
                "collection": data.name,
                "deployed": number,
                "candidate": kind,
                "by": by,
                **count,
                "largest gain": gain.get((kind, by)),
            }
            for (kind, by), count in found.items()
        ]
    return pd.DataFrame(rows).fillna(0.0)


# ---- hidden judgments


def hidden(
    data: Collection, pairs: list[tuple[str, str]], values: PairValues, share: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Verdicts on a part of the judgments, against those on all: in per cent of the cases that are decided."""
    rows = []
    relevant = (data.qrels["relevance"] > 0).to_numpy()
    for how in ("at random", "by relevance"):
        chance = np.full(len(relevant), share)
        if how == "by relevance":
            chance = np.where(relevant, min(2 * share, 1.0), share)
        keep = rng.random(len(relevant)) >= chance
        keep[~data.qrels["query_id"].duplicated().to_numpy()] = True
        of_part = values_of_pairs(data, data.qrels[keep], pairs)
        cases = [
            (verdicts(of_part.ordered(pair, reverse)), verdicts(values.ordered(pair, reverse))[1])
            for pair, reverse in itertools.product(range(len(pairs)), (False, True))
        ]
        row: dict[str, object] = {
            "collection": data.name,
            "hidden": f"{share:.0%} {how}",
            "cases": len(cases),
        }
        for i, column in enumerate(("verdict", "as judged")):
            row[f"decided, {column}"] = sum(before[i] != OPEN for before, _ in cases)
            row[f"contradicted, {column}"] = sum(incompatible(before[i], after) for before, after in cases)
        rows.append(row)
    return pd.DataFrame(rows)


def several(data: Collection, cases: int, rng: np.random.Generator) -> pd.DataFrame:
    """The share of each verdict beside 3 and 10 deployed runs."""
    rows = []
    for number in (3, 10):
        found: dict[str, Counter[str]] = {"as judged": Counter(), "verdict": Counter()}
        for _ in range(cases):
            candidate, *deployed = (str(n) for n in rng.permutation(data.context.names)[: number + 1])
            answer = worth(data.context, data.qrels, candidate, deployed, resamples=RESAMPLES)
            for column, word in (("as judged", answer.as_judged), ("verdict", str(answer.verdict))):
                found[column]["replace" if word.startswith("replace") else word] += 1
        for column, count in found.items():
            percent = {word: round(100 * count[word] / cases) for word in WORDS.values()}
            rows.append({"collection": data.name, "deployed": number, "by": column, **percent})
    return pd.DataFrame(rows)


def main() -> None:
    """Prints the tables of each folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--pairs", type=int, help="how many pairs of runs; all of them if not given")
    parser.add_argument("--drawn-pairs", type=int, default=75, help="for redrawn topics and halves")
    parser.add_argument("--draws", type=int, default=60, help="redrawn sets of topics of each pair")
    parser.add_argument("--cases", type=int, default=20, help="beside several deployed runs")
    parser.add_argument("--parts", default="new,shares,redrawn,halves,duplicates,hidden,several")
    args = parser.parse_args()
    parts = args.parts.split(",")
    for folder in args.folders:
        data, rng, start = Collection(folder), np.random.default_rng(0), time.perf_counter()
        pairs = some_pairs(data, args.pairs, rng)
        tables = []
        if {"shares", "redrawn", "halves", "hidden"} & {*parts}:
            values = values_of_pairs(data, data.qrels, pairs)
            some = rng.permutation(len(pairs))[: args.drawn_pairs]
            drawn = PairValues(*(one[some] for one in values))
        for part in parts:
            if part == "new":
                tables.append(new(data, pairs))
            elif part == "shares":
                tables.append(shares(data, values))
            elif part == "redrawn":
                tables.append(redrawn(data, drawn, args.draws, rng))
            elif part == "halves":
                tables.append(halves(data, drawn, args.draws, rng))
            elif part == "duplicates":
                tables.append(duplicates(data, 10, rng))
            elif part == "hidden":
                tables += [hidden(data, pairs, values, share, rng) for share in (0.02, 0.05, 0.2)]
            elif part == "several":
                tables.append(several(data, args.cases, rng))
        for table in tables:
            print(table.to_string(index=False), end="\n\n")
        print(f"{data.name}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
