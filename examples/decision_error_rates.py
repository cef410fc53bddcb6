"""How often worth() errs: its verdicts on draws of runs, on redrawn topics, and on near-duplicates.

Takes folders of test collections: runs/ and qrels.txt.gz. A draw is a candidate and some deployed runs, at random.

- shares: how often each verdict is given, by margin, by the labels of unjudged documents, and by the deployed runs.
- errors: topics are redrawn with replacement, and what the rule says of them is compared with the means of all topics.
- copies: verdicts on near-duplicates of a deployed run.
- counts: how often UniqueRel@10 is above 0 with 95 % confidence, which a count would call an addition.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ir_measures_relative import RelativeWarning, RunContext, worth
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.decisions.decide import Comparison, compare_options
from ir_measures_relative.decisions.options import Option, options_with_candidate, removals, without
from ir_measures_relative.decisions.rule import OPEN, decide_by, read_terms
from ir_measures_relative.stats.regret import average_labelings, option_bounds, upper_bounds

BY, MARGIN, ENDS = "nDCG@10", 0.02, (-1.0, 1.0)
MARGINS = (0.0, 0.01, 0.02, 0.03)
LABELS = ("judged", "imputed", "strict")
Floats = NDArray[np.float64]


class Collection:
    """The runs and the judgments of a folder."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.context = RunContext.from_files(folder / "runs")
        columns = ["query_id", "iteration", "doc_id", "relevance"]
        table = pd.read_csv(
            folder / "qrels.txt.gz", sep=r"\s+", names=columns, dtype={c: str for c in columns[:3]}
        )
        self.qrels = table.drop(columns="iteration")
        self.collection = judged_collection(self.context, self.qrels)


def draw_runs(
    names: Sequence[str], deployed: int, draws: int, rng: np.random.Generator
) -> Iterator[list[str]]:
    """Yield a candidate and some deployed runs, so many times."""
    for _ in range(draws):
        yield [str(name) for name in rng.permutation(names)[: deployed + 1]]


def compare(data: Collection, runs: Sequence[str], labels: str) -> Comparison:
    """Compare the options with a candidate, the first run, beside the others; score removals of these too."""
    candidate, *deployed = runs
    terms = read_terms(data.context, BY, labels=labels)
    options = options_with_candidate(deployed, candidate, deployed)
    return compare_options(data.collection, options, terms, removals(deployed, deployed))


def verdict_name(verdict: int, options: Sequence[Option]) -> str:
    name = "open" if verdict == OPEN else options[verdict].name
    return "replace X" if name.startswith("replace ") and name != "replace all" else name


# ---- shares


def shares(data: Collection, deployed: int, draws: int, rng: np.random.Generator) -> pd.DataFrame:
    """The share of each verdict, in per cent of the draws."""
    counts: dict[tuple[str, float], Counter[str]] = {}
    for runs in draw_runs(data.context.names, deployed, draws, rng):
        compared = compare(data, runs, "imputed")
        options, by_labels = compared.scored.options, compared.rulings
        sizes = [len(option.runs) for option in options]
        rulings = by_labels.as_judged, by_labels.ruling, by_labels.strict
        for (labels, ruling), margin in itertools.product(zip(LABELS, rulings, strict=True), MARGINS):
            if ruling is not None:
                verdict = decide_by(ruling.bounds, sizes, margin).verdict
                counts.setdefault((labels, margin), Counter())[verdict_name(verdict, options)] += 1
    kinds = ("keep", "add", "replace X", "replace all", "open")
    rows = [
        {"collection": data.name, "deployed": deployed, "labels": labels, "margin": margin}
        | {kind: round(100 * count[kind] / draws, 1) for kind in kinds}
        for (labels, margin), count in counts.items()
    ]
    return pd.DataFrame(rows)


# ---- errors


def errors(
    data: Collection, deployed: int, draws: int, redraws: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return the rule's errors on redrawn topics against the means of all topics, in per cent, and the worst draw."""
    found = [
        errors_of_draw(data, runs, redraws, rng)
        for runs in draw_runs(data.context.names, deployed, draws, rng)
    ]
    table = pd.DataFrame(found)
    row: dict[str, Any] = {"collection": data.name, "deployed": deployed}
    row |= {f"regret of {name}": round(table.pop(f"regret of {name}").mean(), 4) for name in ADVICE}
    for name in table:
        worst = table[name].min() if name.startswith("holds") else table[name].max()
        row |= {name: round(100 * table[name].mean(), 2), f"{name}, worst": round(100 * worst, 1)}
    return pd.DataFrame([row])


ADVICE = ("choice", "highest mean", "advice of 0.4", "keep")


def errors_of_draw(
    data: Collection, runs: Sequence[str], redraws: int, rng: np.random.Generator
) -> dict[str, float]:
    """The rates of one draw."""
    compared = compare(data, runs, "judged")
    options, every = compared.scored.options, average_labelings(compared.scored.values)
    n, sizes = len(options), [len(option.runs) for option in options]
    truth = every.mean(axis=1)
    regret, removed = truth[:n].max() - truth[:n], truth[n:]
    rates: Counter[str] = Counter()
    for _ in range(redraws):
        values = every[:, rng.integers(every.shape[1], size=every.shape[1])]
        bounds = option_bounds(values[:n], ENDS)
        assert bounds is not None
        verdict, choice = decide_by(bounds, sizes, MARGIN)
        rates["open"] += verdict == OPEN
        rates["regret of a verdict above the margin"] += verdict != OPEN and regret[verdict] > MARGIN
        rates["change for the worse"] += verdict > 0 and truth[verdict] < truth[0]
        rates["holds: U(choice)"] += bounds.regret[choice] >= regret[choice]
        rates["holds: all U"] += bool((bounds.regret >= regret).all())
        if len(removed):
            loss = upper_bounds(values[choice] - values[n:], ENDS)
            rates["as well is false"] += bool(((loss <= MARGIN) & (truth[choice] - removed > MARGIN)).any())
        chosen = choice, int(values[:n].mean(axis=1).argmax()), advice_of_old_rule(values[:n]), 0
        for name, option in zip(ADVICE, chosen, strict=True):
            rates[f"regret of {name}"] += regret[option]
    return {name: rate / redraws for name, rate in rates.items()}


def advice_of_old_rule(values: Floats) -> int:
    """Return the advice of version 0.4 at its margin, 0, as judged, with two-sided intervals; open means keep."""
    less = values[1:] - values[0]
    upper = upper_bounds(less, ENDS, confidence=0.975)
    lower = -upper_bounds(-less, ENDS, confidence=0.975)
    gains = np.flatnonzero(lower > 0)
    if (upper <= 0).all() or not len(gains):
        return 0
    replaces = values[2:]
    above = values[1] - replaces
    if lower[0] > 0 and (-upper_bounds(-above, ENDS, confidence=0.975) > 0).all():
        return 1
    return 2 + int(replaces.mean(axis=1).argmax())  # also where it was open which change is better


# ---- near-duplicates


def near_duplicates(data: Collection, name: str, rng: np.random.Generator) -> dict[str, Any]:
    """Candidates that bring nothing, or next to nothing, made of a deployed run."""
    ranking = {q: list(docs) for q, docs in data.context.runs[name].to_dict(1000).items()}

    def run(change: Any) -> dict[str, dict[str, float]]:
        changed = {q: change(docs) for q, docs in ranking.items()}
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


def copies(data: Collection, runs: int, rng: np.random.Generator) -> pd.DataFrame:
    """The verdicts on near-duplicates of some runs, beside 1, 3 and 10 deployed runs, and the largest regret of any."""
    rows = []
    names = [str(name) for name in rng.permutation(data.context.names)[:runs]]
    for deployed in (1, 3, 10):
        counts: dict[str, Counter[str]] = {}
        largest: Counter[str] = Counter()
        for name in names:
            others = [str(n) for n in rng.permutation(without(data.context.names, name))]
            for kind, run in near_duplicates(data, name, rng).items():
                answer = worth(
                    data.context, data.qrels, run, [name, *others[: deployed - 1]], by=BY, missing="zero"
                )
                verdict = str(answer.verdict)
                word = "replace X" if verdict.startswith("replace") and verdict != "replace all" else verdict
                count = counts.setdefault(kind, Counter())
                count[word] += 1
                count["second vote"] += "second vote" in answer.plain_text
                means = answer.table.set_index("option")["mean"]
                if verdict in means:
                    largest[kind] = max(largest[kind], float(means.max() - means[verdict]))
        rows += [
            {
                "collection": data.name,
                "deployed": deployed,
                "candidate": kind,
                **count,
                "regret": largest[kind],
            }
            for kind, count in counts.items()
        ]
    return pd.DataFrame(rows).fillna(0.0)


def counts(data: Collection, draws: int, rng: np.random.Generator) -> pd.DataFrame:
    """How often the lower end of the interval of UniqueRel@10 of a run beside one other is above 0."""
    above = 0
    for candidate, deployed in draw_runs(data.context.names, 1, draws, rng):
        context = RunContext(
            {name: data.context.runs[name] for name in (deployed, candidate)}, priors=[deployed]
        )
        table = context.evaluate(data.qrels, ["UniqueRel@10"], perquery=True)
        above += bool((table.loc[table["name"] == candidate, "value"] > 0).any())
    return pd.DataFrame(
        [{"collection": data.name, "draws": draws, "UniqueRel@10 above 0": round(100 * above / draws, 1)}]
    )


LEGEND = dict(
    zip(ADVICE, ("choice of worth", "highest mean", "advice of version 0.4", "always keep"), strict=True)
)


def draw_picture(table: pd.DataFrame, path: Path) -> None:
    """Draw the mean regret of four ways to decide, by collection and number of deployed runs."""
    import matplotlib.pyplot as plt

    labels = [f"{row.collection}, {row.deployed} deployed" for row in table.itertuples()]
    figure, axes = plt.subplots(figsize=(8, 0.42 * len(labels) + 1.3))
    for name, marker, size in zip(ADVICE, "o|sD", (9, 16, 7, 7), strict=True):
        axes.plot(
            table[f"regret of {name}"],
            range(len(labels)),
            marker,
            markersize=size,
            markeredgewidth=2,
            label=LEGEND[name],
        )
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xscale("log")
    ticks = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
    axes.set_xticks([], minor=True)
    axes.set_xlabel("mean regret, nDCG@10 (log scale)")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="upper center", ncol=4, frameon=False)
    figure.savefig(path, dpi=130, bbox_inches="tight")


def main() -> None:
    """Print the tables of each folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument(
        "--deployed", default="1,3,10", help="numbers of deployed runs (default: %(default)s)"
    )
    parser.add_argument("--draws", type=int, default=100, help="of runs, for shares (default: %(default)s)")
    parser.add_argument(
        "--redrawn-draws", type=int, default=40, help="of runs, for errors (default: %(default)s)"
    )
    parser.add_argument(
        "--redraws", type=int, default=100, help="of topics, of each draw (default: %(default)s)"
    )
    parser.add_argument("--copied", type=int, default=10, help="runs to copy (default: %(default)s)")
    parser.add_argument("--parts", default="shares,errors,copies,counts")
    parser.add_argument("--picture", type=Path, help="write the picture of mean regret")
    args = parser.parse_args()
    parts, numbers, of_errors = args.parts.split(","), [int(n) for n in args.deployed.split(",")], []
    warnings.simplefilter("ignore", RelativeWarning)
    for folder in args.folders:
        data, start = Collection(folder), time.perf_counter()
        numbers_here = [n for n in numbers if n < len(data.context.names)]
        for part in parts:
            rng, tables = np.random.default_rng(0), []
            if part == "shares":
                tables = [shares(data, n, args.draws, rng) for n in numbers_here]
            elif part == "errors":
                tables = [errors(data, n, args.redrawn_draws, args.redraws, rng) for n in numbers_here]
                of_errors += tables
            elif part == "copies":
                tables = [copies(data, args.copied, rng)]
            elif part == "counts":
                tables = [counts(data, args.draws, rng)]
            shown = pd.concat(tables, ignore_index=True)
            print(
                (shown.T if part == "errors" else shown).to_string(index=part == "errors"),
                end="\n\n",
                flush=True,
            )
        print(f"{data.name}: {time.perf_counter() - start:.0f} s", flush=True)
    if args.picture is not None and of_errors:
        draw_picture(pd.concat(of_errors, ignore_index=True), args.picture)


if __name__ == "__main__":
    main()
