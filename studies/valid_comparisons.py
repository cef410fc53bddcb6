"""Do the tests of compare() keep what they promise on relative measures? Two simulations on real runs.

1. Where two systems do not differ, a test at 5 % should reject in 5 % of the cases. Two systems whose labels are
   swapped at random, topic by topic, do not differ: with every other run as their priors, or with fixed ones, their
   values on a topic are swapped as well. Every test, on every relative measure, over every two runs in turn.
2. A 95 % interval should hold the true mean difference in 95 % of the cases. Here the topics of the collection are
   the population, so the truth is known, and samples of 50 are drawn from them.

And the call that looks right and is not: production against candidates, with production as the only prior.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import ttest_rel
from tqdm import tqdm

from ir_measures_relative import RunContext, compare, similarity
from ir_measures_relative.stats import Outcome, PairedTestOptions, Pairs, paired_test, paired_tests

TESTS = list(paired_tests.TESTS)
MEASURES = [
    "NRG@10",
    "NRG(norm='ideal')@10",
    "UniqueRel@10",
    "TaSC",
    "P_Rareness@10",
    "AP_Rareness@100",
    "Shapley@10",
    "nDCG_UE@10",
    "AP_UE@100",
    "MED(base='RBP')@100",
    "rrLP",
    "sgnLP",
    "sgnLR",
    "RPP",
]
SIGNED = ("rrLP", "sgnLP", "sgnLR", "RPP")


def differences(context: RunContext, qrels: str, reference: str) -> Iterator[tuple[str, np.ndarray]]:
    """Per measure, what compare() tests, for every two runs: how they differ by topic, or the preference between them.

    Yields:
        a measure, and an array of shape (pairs, topics). The run that MED compares with stands in none of its pairs.
    """
    for measure in MEASURES:
        if measure in SIGNED:
            table = similarity(context, qrels, [measure], perquery=True)
            values = table["value"].to_numpy().reshape(-1, table["query_id"].nunique())
            yield measure, Pairs.from_differences(values).differences
            continue
        table = RunContext(context.runs, reference=reference).evaluate(qrels, [measure], perquery=True)
        values = table.pivot(index="name", columns="query_id", values="value").loc[context.names]
        if measure.startswith("MED"):
            values = values.drop(reference)
        first, second = np.triu_indices(len(values), 1)
        yield measure, Pairs.between(values.to_numpy()[first], values.to_numpy()[second]).differences


def false_positives(differences: np.ndarray, test: str, n: int, resamples: int) -> float:
    """How often the test rejects at 5 %, in per cent, where the labels are swapped at random on each topic."""
    rng = np.random.default_rng(0)
    rejected = 0
    for i, difference in enumerate(itertools.islice(itertools.cycle(differences), n)):
        swapped = difference * rng.choice([-1.0, 1.0], len(difference))
        rejected += _tested(swapped, test, resamples, i).p[0] <= 0.05
    return 100 * rejected / n


def coverage(differences: np.ndarray, test: str, n: int, resamples: int) -> float:
    """How often the interval of a sample of 50 topics holds the mean of all, in per cent."""
    rng = np.random.default_rng(1)
    held = 0
    for i, difference in enumerate(itertools.islice(itertools.cycle(differences), n)):
        sample = rng.choice(difference, 50)
        found = _tested(sample, test, resamples, i)
        held += found.lower[0] <= difference.mean() <= found.upper[0]
    return 100 * held / n


def _tested(difference: np.ndarray, test: str, resamples: int, seed: int) -> Outcome:
    return paired_test(
        Pairs.from_differences(difference[None]), test, PairedTestOptions(resamples=resamples, seed=seed)
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder", type=Path, help="a folder with runs/ and qrels.txt.gz, such as that of Robust 2003"
    )
    parser.add_argument("--production", default="pircRBa1", help="(default: %(default)s)")
    parser.add_argument("--candidate", default="uic0301", help="(default: %(default)s)")
    parser.add_argument("--reference", default="Sel50", help="of MED (default: %(default)s)")
    parser.add_argument("--simulations", type=int, default=2000, help="(default: %(default)s)")
    parser.add_argument("--resamples", type=int, default=999, help="of randomization and bootstrap")
    args = parser.parse_args()
    for part in ("runs", "qrels.txt.gz"):
        if not (args.folder / part).exists():
            parser.error(f"{args.folder} holds no {part}")
    qrels = str(args.folder / "qrels.txt.gz")
    context = RunContext.from_files(args.folder / "runs")
    a, b = args.candidate, args.production

    print("1. The misleading call, and three that are valid\n")
    print(misleading(context, qrels, a, b).to_string(index=False), "\n")

    error = 100 * (0.05 * 0.95 / args.simulations) ** 0.5
    print(
        f"2. False positives at 5 %, {args.simulations} simulations (Monte Carlo standard error {error:.1f})\n"
    )
    print("| measure | topics that differ | " + " | ".join(TESTS) + " |")
    print("|---|---:|" + "---:|" * len(TESTS))
    of_measure = dict(differences(context, qrels, args.reference))
    for measure, of_pairs in tqdm(of_measure.items(), unit="measure", disable=None):
        rates = [false_positives(of_pairs, test, args.simulations, args.resamples) for test in TESTS]
        cells = " | ".join(f"{rate:.1f}" for rate in rates)
        print(f"| `{measure}` | {np.count_nonzero(of_pairs) / len(of_pairs):.0f} | {cells} |", flush=True)

    print(f"\n3. Coverage of the 95 % interval, {args.simulations} samples of 50 topics\n")
    print("| measure | t | bootstrap |\n|---|---:|---:|")
    for measure, of_pairs in tqdm(of_measure.items(), unit="measure", disable=None):
        rates = [coverage(of_pairs, test, args.simulations, args.resamples) for test in ("t", "bootstrap")]
        print(f"| `{measure}` | " + " | ".join(f"{rate:.1f}" for rate in rates) + " |", flush=True)


def misleading(context: RunContext, qrels: str, candidate: str, production: str) -> pd.DataFrame:
    """What a plain paired test says where production is the only prior, beside what compare() says."""
    there = RunContext(context.runs, priors=[production])
    table = there.evaluate(qrels, ["NRG@10"], perquery=True)
    values = {name: rows["value"].to_numpy() for name, rows in table.groupby("name")}
    x, y = values[candidate], values[production]
    rows = [
        {"what": f"plain t-test, prior {production}", "measure": "NRG@10", "mean": x.mean(),
         "other_mean": y.mean(), "difference": x.mean() - y.mean(), "p": ttest_rel(x, y).pvalue}
    ]  # fmt: skip
    others = [n for n in context.names if n not in (candidate, production)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for what, measure, priors in (
            (f"compare, prior {production}", "NRG@10", {n: [production] for n in context.names}),
            ("compare, priors 'others'", "NRG@10", "others"),
            (f"compare, the {len(others)} other runs fixed", "NRG@10", others),
            ("compare, absolute", "nDCG@10", None),
        ):
            row = compare(context, qrels, [measure], [candidate, production], priors).iloc[0]
            rows.append(
                {
                    "what": what,
                    **row[["measure", "mean", "other_mean", "difference", "ci_lower", "ci_upper", "p"]],
                }
            )
    table = pd.DataFrame(rows)
    # A p-value is never 0.
    return table.round(4).assign(p=["<0.0001" if p < 0.00005 else f"{p:.4f}" for p in table["p"]])


if __name__ == "__main__":
    main()
