"""How often a verdict of worth() is wrong: the tables of the page "Is it worth adding?", on real campaigns.

1. New topics: the topics of a campaign are the population, so the true mean is known; samples of 50 are drawn from
   them, and margin is that mean. "adds" is then wrong, and so is "adds nothing" where margin is any less.
2. Nothing is added: exact copies of deployed runs, and copies into whose top ten noise and documents came that are
   judged not relevant.
3. New labels: a part of the labels is hidden, worth() asked, and asked again with all of them, on the same topics.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from ir_measures_relative import RunContext, worth
from ir_measures_relative.context.measure_strings import parse_measure, value_range
from ir_measures_relative.stats.paired_tests import cautious_interval
from ir_measures_relative.stats.pairs_and_ties import topic_counts

RESAMPLES, HIDDEN = 999, (0.3, 0.5, 0.7)
FUSED, FUSED_TO_100 = "FusionGain(base='nDCG@10')", "FusionGain(base='nDCG@10',depth=100)"


class Data:
    """One campaign: its runs, its judgments, and which of both are asked about."""

    def __init__(self, folder: Path, candidates: int) -> None:
        self.name = folder.name
        context = RunContext.from_files(folder / "runs")
        columns = ["query_id", "iteration", "doc_id", "relevance"]
        types = {"query_id": str, "doc_id": str}
        qrels = pd.read_csv(folder / "qrels.txt.gz", sep=r"\s+", header=None, names=columns, dtype=types)
        self.qrels = qrels.drop(columns="iteration")
        highest = int(self.qrels["relevance"].max())
        self.context = RunContext(dict(context.runs), grades=(0, highest))
        self.unique = f"UniqueRel(rel={2 if highest > 2 else 1})@10"
        self.rng = np.random.default_rng(0)
        self.candidates = [str(n) for n in self.rng.permutation(context.names)[:candidates]]

    def deployed(self, candidate: str, number: int | None) -> list[str]:
        """Some of the other runs, or all."""
        others = [n for n in self.context.names if n != candidate]
        return others if number is None else [str(n) for n in self.rng.permutation(others)[:number]]


def new_topics(data: Data, number: int | None, topics: int, samples: int) -> pd.DataFrame:
    """How often the interval of a sample of topics is above the true mean, and below it; in per cent."""
    rows = []
    for measure in [data.unique, "NRG(norm='ideal')@10", *([FUSED] if number == 1 else [])]:
        parsed, wrong = parse_measure(measure), []
        ends = value_range(parsed)
        for candidate in tqdm(data.candidates, desc=f"{data.name} {measure}", disable=None, leave=False):
            deployed = data.deployed(candidate, number)
            context = RunContext({n: data.context.runs[n] for n in [*deployed, candidate]}, priors=deployed)
            table = context.evaluate(data.qrels, [parsed], perquery=True)
            values = table.loc[table["name"] == candidate, "value"].to_numpy()
            above = below = 0
            for sample in range(samples):
                drawn = values[data.rng.integers(len(values), size=topics)]
                counts = topic_counts(RESAMPLES, topics, sample)
                lower, upper = cautious_interval(drawn, ends, 0.95, counts)
                above += lower > values.mean() + 1e-12
                below += upper < values.mean() - 1e-12
            wrong.append((100 * above / samples, 100 * below / samples))
        adds, nothing = np.array(wrong).T
        row = {
            "campaign": data.name,
            "deployed": number or "all others",
            "topics": topics,
            "measure": measure,
        }
        row |= {"false adds": adds.mean(), "worst candidate": adds.max()}
        rows.append(row | {"false adds nothing": nothing.mean(), "its worst": nothing.max()})
    return pd.DataFrame(rows)


def noisy(data: Data, name: str) -> dict[str, dict[str, float]]:
    """A run whose top ten are shuffled a bit, and which holds two documents there that are judged not relevant."""
    bad = data.qrels[data.qrels["relevance"] <= 0].groupby("query_id")["doc_id"].agg(list).to_dict()
    run = {}
    for query, docs in data.context.runs[name].to_dict(100).items():
        order = list(docs)
        new = [d for d in data.rng.permutation(bad.get(query, [])) if d not in docs][:2]
        for doc in new:
            order.insert(int(data.rng.integers(10)), str(doc))
        place = np.arange(len(order)) + data.rng.normal(0, 1.5, len(order)) * (np.arange(len(order)) < 10)
        run[query] = {order[i]: -float(rank) for rank, i in enumerate(np.argsort(place))}
    return run


def nothing_added(data: Data, number: int | None) -> pd.DataFrame:
    """The verdicts on copies, exact and noisy, by measure."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for name in tqdm(data.candidates, desc=f"{data.name} copies", disable=None, leave=False):
        deployed = [name, *(n for n in data.deployed(name, number) if n != name)][: number or None]
        for kind, run in (("exact", data.context.runs[name].to_dict()), ("noisy", noisy(data, name))):
            answer = worth(
                data.context, data.qrels, run, deployed, [data.unique, FUSED_TO_100], resamples=RESAMPLES
            )
            for measure, verdict in zip(
                answer.table["measure"][:3], answer.table["verdict"][:3], strict=True
            ):
                found.setdefault((kind, measure), Counter())[verdict] += 1
    rows = [
        {
            "campaign": data.name,
            "deployed": number or "all others",
            "copies": kind,
            "measure": measure,
            **counts,
        }
        for (kind, measure), counts in found.items()
    ]
    return pd.DataFrame(rows)


def hidden(qrels: pd.DataFrame, share: float, rng: np.random.Generator) -> pd.DataFrame:
    """The judgments without a random share of them, but with one at least of every topic."""
    keep = rng.random(len(qrels)) >= share
    keep |= ~qrels.sample(frac=1, random_state=int(rng.integers(2**31))).duplicated("query_id").reindex(
        qrels.index
    )
    return qrels[keep]


def new_labels(data: Data, share: float, topics: int) -> pd.DataFrame:
    """What became of verdicts on hidden labels, and how often the mean left its bounds."""
    rows = []
    for measure, rounds in ((data.unique, 3), (FUSED_TO_100, 1)):
        kind: Counter[str] = Counter()
        label = f"{data.name} {share:.0%} hidden"
        for candidate in tqdm(data.candidates * rounds, desc=label, disable=None, leave=False):
            deployed = data.deployed(candidate, int(data.rng.integers(1, 6)))
            chosen = data.rng.permutation(data.qrels["query_id"].unique())[:topics]
            full = data.qrels[data.qrels["query_id"].isin(chosen)]
            # Thresholds from 0 to twice what the candidate adds: about that, verdicts are hard.
            context = RunContext({n: data.context.runs[n] for n in [*deployed, candidate]}, priors=deployed)
            mean = context.evaluate(full, [measure]).set_index("name").iloc[:, 0][candidate]
            margin = max(float(mean), 0.0) * data.rng.choice([0, 0.3, 0.6, 0.9, 1.1, 2])
            before, after = (
                worth(data.context, qrels, candidate, deployed, [measure], margin, resamples=RESAMPLES)
                for qrels in (hidden(full, share, data.rng), full)
            )
            first = before.table.iloc[0]
            kind["verdicts"] += 1
            kind["decided"] += before.verdict != "open"
            kind["the same"] += before.verdict == after.verdict != "open"
            kind["open later"] += before.verdict != "open" and after.verdict == "open"
            kind["contradicted"] += {before.verdict, after.verdict} == {"adds", "adds nothing"}
            inside = first["worst"] - 1e-9 <= after.table["difference"][0] <= first["best"] + 1e-9
            kind["outside the bounds"] += not inside
        rows.append({"campaign": data.name, "hidden": share, "measure": measure, **kind})
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="+", help="with runs/ and qrels.txt.gz")
    parser.add_argument("--samples", type=int, default=400, help="of topics (default: %(default)s)")
    parser.add_argument(
        "--candidates", type=int, default=12, help="drawn from the runs (default: %(default)s)"
    )
    parser.add_argument("--topics", type=int, default=50, help="in a sample (default: %(default)s)")
    parser.add_argument(
        "--parts", nargs="+", default=["topics", "copies", "labels"], help="of the three above"
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for folder in arguments.folder:
        data = Data(folder, arguments.candidates)
        if "topics" in arguments.parts:
            for number in (1, None):
                show(new_topics(data, number, arguments.topics, arguments.samples))
        if "copies" in arguments.parts:
            for number in (1, 5):
                show(nothing_added(data, number))
        if "labels" in arguments.parts:
            for share in HIDDEN:
                show(new_labels(data, share, arguments.topics))


def show(table: pd.DataFrame) -> None:
    print(table.fillna(0).to_string(index=False, float_format="%.1f") + "\n", flush=True)


if __name__ == "__main__":
    main()
