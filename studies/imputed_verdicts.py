"""How often worth() has a verdict, and errs, where a candidate brings unjudged documents.

A candidate is compared with a deployed run of another group. The judgments are those of the top tens of a pool: the
deployed run and others, none of the candidate's group. The truth is by all judgments of the track; what it never judged
counts as not relevant. Takes folders with runs/ and qrels.txt.gz; groups.csv and llm/*.qrels.gz may be there.

- none: how often the verdict is None or open, with the two runs alone, and with --others and --llm-judgments.
- regret: topics are redrawn with replacement; regret above the margin, and changes for the worse.
- shallow: the same of one answer by a few judgments per topic, also if unjudged documents count as not relevant.
- labels: how many documents must be judged until there is a verdict, by the order of worth, a depth pool, at random,
  and an oracle.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from imputed_differences import JUDGES, POOLS
from ir_measures_relative import RelativeWarning, RunContext
from ir_measures_relative.context.collection import Collection
from ir_measures_relative.context.run_context import judged_collection
from ir_measures_relative.decisions.decide import Comparison, compare_options
from ir_measures_relative.decisions.options import options_with_candidate
from ir_measures_relative.decisions.rule import DEFAULT_MARGIN, OPEN, decide_by, read_terms
from ir_measures_relative.stats.intervals import student_quantile
from ir_measures_relative.stats.regret import OptionBounds, is_sparse, upper_bounds
from unjudged_documents import read_qrels

BY, CUTOFF, ENDS = "nDCG@10", 10, (-1.0, 1.0)
SIZES = [1, 2, 1]  # the number of runs of keep, add and replace


class Data:
    """The runs and the judgments of a folder."""

    def __init__(self, folder: Path) -> None:
        self.name, self.context = folder.name, RunContext.from_files(folder / "runs")
        said = {}
        if (folder / "groups.csv").exists():
            with (folder / "groups.csv").open(encoding="utf-8") as file:
                said = {row["run"]: row["group"] for row in csv.DictReader(file)}
        self.names = list(self.context.names)
        self.groups = {name: said.get(name, name) for name in self.names}
        qrels = read_qrels(folder / "qrels.txt.gz")
        qrels["relevance"] = qrels["relevance"].clip(lower=0)
        topics, tops = set(qrels["query_id"]), {}
        for name in self.names:
            ranked = self.context.runs[name].to_dict(CUTOFF).items()
            tops[name] = {(q, d): i for q, docs in ranked if q in topics for i, d in enumerate(docs, 1)}
        judged = set(zip(qrels["query_id"], qrels["doc_id"], strict=True))
        never = sorted({pair for top in tops.values() for pair in top} - judged)
        rest = pd.DataFrame(never, columns=["query_id", "doc_id"]).assign(relevance=0)
        self.qrels = pd.concat([qrels, rest], ignore_index=True)
        self.pairs = list(zip(self.qrels["query_id"], self.qrels["doc_id"], strict=True))
        self.row = {pair: row for row, pair in enumerate(self.pairs)}
        #: The rank of each judged document in each run, 0 below the cutoff; shape (runs, documents).
        self.ranks = np.array([[tops[name].get(pair, 0) for pair in self.pairs] for name in self.names])
        files = sorted((folder / "llm").glob("*.qrels.gz"))
        self.llm = {file.name.removesuffix(".qrels.gz"): read_qrels(file) for file in files}
        self.grades = 0, int(self.qrels["relevance"].max())

    def rows(self, runs: list[str]) -> Any:
        """Return which documents are in the tops of some runs."""
        return (self.ranks[[self.names.index(run) for run in runs]] > 0).any(axis=0)

    def draws(self, pairs: int, size: int | None, seed: int = 0) -> Iterator[Draw]:
        """Draw candidates and deployed runs, with pools of so many runs, or of all that are not of the same group."""
        rng = np.random.default_rng(seed)
        while pairs:
            order = [str(name) for name in rng.permutation(self.names)]
            candidate, *others = order
            others = [name for name in others if self.groups[name] != self.groups[candidate]]
            if len(others) >= (size or 1):
                yield Draw(candidate, others[0], others[:size])
                pairs -= 1

    def collection(self, draw: Draw, runs: list[str], rows: Any) -> Collection:
        """Return some runs and the candidate, with some of the judgments."""
        of_runs = {name: self.context.runs[name] for name in dict.fromkeys([*runs, draw.candidate])}
        groups = {name: self.groups[name] for name in of_runs}
        context = RunContext(of_runs, groups=groups, grades=self.grades)
        return judged_collection(context, self.qrels[rows] if rows.dtype == bool else self.qrels.iloc[rows])

    def truth(self, draw: Draw) -> Any:
        """Return the mean of keep, add and replace by all judgments."""
        every = np.ones(len(self.qrels), dtype=bool)
        compared = compare(self.collection(draw, [draw.deployed], every), draw)
        return compared.scored.scores.judged[:3].mean(axis=1)

    def label(self, judge: str, how: str, draw: Draw, judged: Any) -> pd.DataFrame:
        """Return the labels of a language model, changed in one of the ways of :data:`JUDGES`."""
        frame, rng = self.llm[judge], np.random.default_rng(0)
        own = self.rows([draw.candidate]) & ~judged
        hidden = {self.pairs[i] for i in np.flatnonzero(own)}
        lifted = [pair in hidden for pair in zip(frame["query_id"], frame["doc_id"], strict=True)]
        changed = JUDGES[how](frame["relevance"].to_numpy(), np.array(lifted), rng)
        return frame.assign(relevance=changed)


class Draw(NamedTuple):
    """A candidate, the run that it is compared with, and the runs whose top tens are judged."""

    candidate: str
    deployed: str
    pool: list[str]


def compare(collection: Collection, draw: Draw, llm: Any = None) -> Comparison:
    """Compare keep, add and replace as worth() does."""
    terms = read_terms(collection.context, BY, llm_judgments=llm)
    options = options_with_candidate([draw.deployed], draw.candidate, [draw.deployed])
    return compare_options(collection, options, terms, candidate=draw.candidate)


def name_verdict(compared: Comparison) -> str:
    if compared.rulings.why_no_model:
        return "None"
    return "open" if compared.rulings.ruling.outcome.verdict == OPEN else "verdict"


def per_cent(values: Any) -> float:
    return round(100 * float(np.mean(values)), 2) if len(values) else np.nan


# ---- none


def shares(data: Data, pairs: int) -> pd.DataFrame:
    """Return how often the verdict is None and open; with others, the runs of the pool are in the context."""
    rows = []
    for pool, (size, _) in list(POOLS.items())[:3]:
        draws = list(data.draws(pairs, size))
        for others in (False, True):
            ways = [None, *data.llm]
            named = []
            for draw in draws:
                case = data.collection(draw, draw.pool if others else [draw.deployed], data.rows(draw.pool))
                named.append([name_verdict(compare(case, draw, judge and data.llm[judge])) for judge in ways])
            for judge, of_judge in zip(ways, zip(*named, strict=True), strict=True):
                given = {"judgments of": pool, "--others": others, "--llm-judgments": judge or "-"}
                share = {name: per_cent([one == name for one in of_judge]) for name in ("None", "open")}
                rows.append(given | share)
    return pd.DataFrame(rows)


# ---- regret


def differences(compared: Comparison) -> Any:
    """Return the differences of each two options that the verdict is by, shape (3, 3, labelings, topics)."""
    if compared.rulings.labels == "strict":
        return compared.largest[:, :, None]
    values = (
        compared.scored.values[:3] if compared.scored.values.ndim == 3 else compared.scored.values[:3, None]
    )
    return values[:, None] - values


def redrawn_verdicts(less: Any, redraws: int, seed: int, size: int | None = None) -> Any:
    """Return the verdict on redrawn topics by differences of rivals and options, shape (3, 3, labelings, topics).

    As many topics are drawn with replacement as there are, or ``size``.
    Critical values of two contrasts lie between Student's for one and Bonferroni's for two. Where the rule says the
    same by both, that is the verdict; only else are they simulated.
    """
    m, topics = less.shape[2:]
    size = size or topics
    drawn = np.random.default_rng(seed).integers(topics, size=(redraws, size))
    counts = np.array([np.bincount(row, minlength=topics) for row in drawn])
    by_topic, degrees = less.mean(axis=2), size - 1
    mean = by_topic @ counts.T / size
    variance = (by_topic**2 @ counts.T / size - mean**2) / (size - 1)
    if m > 1:
        variance += (1 + 1 / m) * (less @ counts.T / size).var(axis=2, ddof=1)
        degrees = min(degrees, m - 1)
    error = np.sqrt(np.maximum(variance, 0.0))
    ends = [mean + student_quantile(degrees, level) * error for level in (0.95, 0.975)]
    verdicts = np.full(redraws, OPEN)
    for i, topics_drawn in enumerate(drawn):
        said = {_verdict(upper[..., i]) for upper in ends}
        if len(said) > 1 or is_sparse(by_topic[[0, 0, 1], [1, 2, 2]][:, topics_drawn]).any():
            of_draw = less[..., topics_drawn] if m > 1 else less[:, :, 0, topics_drawn]
            said = {_verdict(np.array([upper_bounds(of_rival, ENDS) for of_rival in of_draw]))}
        verdicts[i] = said.pop()
    return verdicts


def _verdict(upper: Any) -> int:
    """Return the verdict by the upper bounds of each rival less each option."""
    bounds = OptionBounds(np.maximum(upper.max(axis=0), 0.0), -upper[0])
    return decide_by(bounds, SIZES, DEFAULT_MARGIN).verdict


#: The size of the pool whose top tens are judged, and whether all of its runs are there, or the deployed one alone.
SETTINGS = {
    "all other runs": (None, True),
    "ten runs": (10, True),
    "four runs": (4, True),
    "all other runs, of which one is there": (None, False),
}


def errors(data: Data, pairs: int, redraws: int, settings: Sequence[str]) -> pd.DataFrame:
    """Return how often verdicts on redrawn topics leave more than the margin, or change for the worse."""
    rows = []
    best = "gpt-4o" if "gpt-4o" in data.llm else next(iter(data.llm), None)
    ways = [(None, "")] + [(best, how) for how in JUDGES if best is not None]
    for setting in settings:
        size, others = SETTINGS[setting]
        draws = list(data.draws(pairs, size))
        rates, used = np.empty((len(ways), pairs, 3)), np.zeros((len(ways), pairs), dtype=bool)
        for i, draw in enumerate(draws):
            truth, judged = data.truth(draw), data.rows(draw.pool)
            case = data.collection(draw, draw.pool if others else [draw.deployed], judged)
            for w, (judge, how) in enumerate(ways):
                compared = compare(case, draw, judge and data.label(judge, how, draw, judged))
                used[w, i] = judge is not None and compared.scored.scores._imputation.model.uses_judge
                if w and not used[w, i]:
                    rates[w, i] = rates[0, i]
                else:
                    rates[w, i] = error_rates(compared, truth, redraws, i)
        for w, (judge, how) in enumerate(ways):
            row = {"judgments of": setting, "judge": f"{judge}, {how}" if judge else "-", "pairs": pairs}
            row |= {"judge used": per_cent(used[w]), "no verdict": rates[w, :, 0].mean().round(1)}
            for name, of_pairs in (("regret > 0.02", rates[w, :, 1]), ("for the worse", rates[w, :, 2])):
                worst = draws[int(of_pairs.argmax())]
                row |= {name: of_pairs.mean().round(2), f"{name}, worst": of_pairs.max()}
                row[f"{name}, worst pair"] = f"{worst.candidate} / {worst.deployed}"
            rows.append(row)
    return pd.DataFrame(rows)


def error_rates(compared: Comparison, truth: Any, redraws: int, seed: int) -> list[float]:
    """Return how often there is no verdict, regret above the margin, and a change for the worse, in per cent."""
    verdicts = np.full(redraws, OPEN)
    if not compared.rulings.why_no_model:
        verdicts = redrawn_verdicts(differences(compared), redraws, seed)
    regret = np.where(verdicts == OPEN, 0.0, truth.max() - truth[verdicts])
    worse = (verdicts > 0) & (truth[verdicts] < truth[0])
    return [per_cent(x) for x in (verdicts == OPEN, regret > DEFAULT_MARGIN, worse)]


# ---- shallow and biased judgments


def one_relevant(data: Data, draw: Draw, rng: Any) -> Any:
    """Return the first relevant document of the deployed run's top on each topic."""
    ranks, grade = data.ranks[data.names.index(draw.deployed)], data.qrels["relevance"].to_numpy()
    rows = np.flatnonzero((ranks > 0) & (grade > 0))
    rows = rows[np.argsort(ranks[rows], kind="stable")]
    return rows[np.unique(data.qrels["query_id"].to_numpy()[rows], return_index=True)[1]]


def three_at_random(data: Data, draw: Draw, rng: Any) -> Any:
    """Return three documents at random of the pool's tops on each topic."""
    rows = rng.permutation(np.flatnonzero(data.rows(draw.pool)))
    return rows[data.qrels.iloc[rows].groupby("query_id").cumcount().to_numpy() < 3]


SHALLOW: dict[str, Callable[..., Any]] = {"one relevant": one_relevant, "three at random": three_at_random}


def shallow(data: Data, pairs: int) -> pd.DataFrame:
    """Return how often answers by a few judgments per topic are None, open, and wrong; of all pairs, in per cent."""
    rows = []
    best = "gpt-4o" if "gpt-4o" in data.llm else None
    for judgments, choose in SHALLOW.items():
        draws, rng = list(data.draws(pairs, None)), np.random.default_rng(0)
        truths = [data.truth(draw) for draw in draws]
        for others, judge in ((False, None), (True, None), *([(True, best)] if best else [])):
            found = []
            for draw, truth in zip(draws, truths, strict=True):
                runs = draw.pool if others else [draw.deployed]
                collection = data.collection(draw, runs, choose(data, draw, rng))
                compared = compare(collection, draw, None if judge is None else data.llm[judge])
                verdict = (
                    compared.rulings.ruling.outcome.verdict if not compared.rulings.why_no_model else OPEN
                )
                wrong = [
                    v != OPEN and (truth.max() - truth[v] > DEFAULT_MARGIN or truth[v] < truth[0])
                    for v in (verdict, compared.rulings.as_judged.outcome.verdict)
                ]
                said = name_verdict(compared)
                found.append([said == "None", said == "open", *wrong])
            columns = zip(("None", "open", "wrong", "as_judged wrong"), np.array(found).T, strict=True)
            given = {"judgments": judgments, "--others": others, "--llm-judgments": judge or "-"}
            rows.append(given | {name: per_cent(column) for name, column in columns})
    return pd.DataFrame(rows)


# ---- labels until a verdict


def orders(data: Data, compared: Comparison, rng: Any) -> dict[str, list[int]]:
    """Return the judgments still to make, in the order of worth, by depth in the options' runs, and at random."""
    asked = compared.documents_to_judge().itertuples(index=False)
    runs = [data.names.index(run) for run in compared.scored.options[1].runs]
    ranks = data.ranks[runs]
    best = np.where(ranks > 0, ranks, CUTOFF + 1).min(axis=0)
    at_random = rng.permutation(len(best))
    pool = at_random[np.argsort(best[at_random], kind="stable")]
    pool = pool[best[pool] <= CUTOFF]
    by_worth = [data.row[pair] for pair in asked if pair in data.row]
    return {"worth": by_worth, "depth pool": pool.tolist(), "random": rng.permutation(pool).tolist()}


def oracle(data: Data, draw: Draw, compared: Comparison, final: int) -> list[int]:
    """Return the judgments still to make in an order that knows them, and the verdict by all of them.

    Where there is no verdict, those come first that are not relevant; else those that speak most for the final verdict.
    """
    ranks = data.ranks[[data.names.index(run) for run in (draw.deployed, draw.candidate)]]
    keep, replace = np.where(ranks > 0, 1 / np.log2(np.maximum(ranks, 1) + 1), 0.0)
    weight = np.array([keep, (keep + replace) / 2, replace])
    grade, rows = data.qrels["relevance"].to_numpy(), np.flatnonzero(keep + replace > 0)
    speaks = (weight[final] - weight.mean(axis=0)) * (grade - grade[rows].mean())
    score = -1.0 * (grade > 0) if name_verdict(compared) == "None" else speaks
    return rows[np.argsort(-score[rows], kind="stable")].tolist()


def until_verdict(data: Data, draw: Draw, order: str, batch: int, final: int) -> int:
    """Return how many documents are judged, in batches, until there is a verdict, or nothing is left to judge."""
    judged, rng, n = data.rows(draw.pool), np.random.default_rng(0), 0
    while True:
        compared = compare(data.collection(draw, draw.pool, judged), draw)
        by_order = orders(data, compared, rng) | {"oracle": oracle(data, draw, compared, final)}
        left = [row for row in by_order[order] if not judged[row]]
        if not left or name_verdict(compared) == "verdict":
            return n
        judged[left[:batch]] = True
        n += len(left[:batch])


def labels(data: Data, pairs: int, size: int = 4, seconds: float = 600.0) -> pd.DataFrame:
    """Return how many documents must be judged until there is a verdict, from the judgments of four runs.

    Pairs have no verdict at first, and one by all judgments. So many seconds of CPU at most.
    """
    found: dict[str, list[list[int]]] = {"None": [], "open": []}
    every, start = np.ones(len(data.qrels), dtype=bool), time.process_time()
    names, batch = ("worth", "depth pool", "random", "oracle"), max(20, data.qrels["query_id"].nunique() // 2)
    for draw in data.draws(10 * pairs, size, seed=1):
        at_first = name_verdict(compare(data.collection(draw, draw.pool, data.rows(draw.pool)), draw))
        if at_first == "verdict" or sum(map(len, found.values())) == pairs:
            continue
        if time.process_time() - start > seconds:
            break
        by_all = compare(data.collection(draw, draw.pool, every), draw)
        if name_verdict(by_all) == "verdict":
            final = by_all.rulings.ruling.outcome.verdict
            found[at_first].append([until_verdict(data, draw, name, batch, final) for name in names])
    rows = []
    for at_first, counts in found.items():
        if counts:
            table, row = np.array(counts), {"at first": at_first, "pairs": len(counts), "batch": batch}
            row |= {f"{name}, mean": round(of.mean(), 1) for name, of in zip(names, table.T, strict=True)}
            row |= {f"{name}, median": np.median(of) for name, of in zip(names, table.T, strict=True)}
            rows.append(row)
    return pd.DataFrame(rows)


PARTS: dict[str, Callable[..., pd.DataFrame]] = {
    "none": shares,
    "regret": errors,
    "shallow": shallow,
    "labels": labels,
}


def main() -> None:
    """Print the tables of each folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--pairs", type=int, default=60, help="pairs of runs (default: %(default)s)")
    parser.add_argument("--redraws", type=int, default=1000, help="of topics (default: %(default)s)")
    parser.add_argument("--parts", nargs="+", choices=[*PARTS], default=[*PARTS], help="(default: all)")
    parser.add_argument(
        "--settings", nargs="+", choices=[*SETTINGS], default=[*SETTINGS], help="(default: all)"
    )
    args = parser.parse_args()
    warnings.simplefilter("ignore", RelativeWarning)
    for folder in args.folders:
        data = Data(folder)
        for part in args.parts:
            start = time.process_time()
            further = (args.redraws, args.settings) if part == "regret" else ()
            table = PARTS[part](data, args.pairs, *further)
            print(f"\n{data.name}: {part}, {args.pairs} pairs, {time.process_time() - start:.0f} s of CPU")
            print(table.to_string(index=False), flush=True)


if __name__ == "__main__":
    main()
