"""Which test and interval for which measure: tables of the page "Tests and intervals, checked", on real campaigns.

The topics of a campaign are the population, so the truth is known; samples of 50 are drawn from them.

1. Two runs: how often the 95 % interval of t and of the bootstrap holds the true difference, and how often each rejects
   at 5 % where the two runs' labels are swapped at random, topic by topic.
2. All rows of a table: how often all intervals hold at once, and how often one of them at least is told apart where
   there is nothing to tell, with the corrections max-t and Holm's.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from ir_measures_relative import RunContext
from ir_measures_relative.stats import PairedTestOptions, Pairs, paired_test
from ir_measures_relative.stats.families import Family

TOPICS, RESAMPLES = 50, 999
MEASURES = [
    "nDCG@10",
    "AP",
    "NRG@10",
    "NRG(norm='ideal')@10",
    "NRG(base='P')@10",
    "NRG(base='RBP')@10",
    "NRG(base='ERR')@10",
    "UniqueRel{rel}@10",
    "TaSC",
    "P_Rareness{rel}@10",
    "Shapley{rel}@10",
    "nDCG_UE@10",
]
TOGETHER = ["nDCG@10", "NRG@10", "NRG(norm='ideal')@10", "UniqueRel{rel}@10"]


def differences(folder: Path, runs: int) -> dict[str, np.ndarray]:
    """By measure, how every two of some runs differ by topic: pairs × topics, but for those that never differ."""
    context, qrels = RunContext.from_files(folder / "runs"), str(folder / "qrels.txt.gz")
    graded = pd.read_csv(qrels, sep=r"\s+", header=None)[3].max() > 2
    rel = "(rel=2)" if graded else ""
    measures = {m.partition("{")[0]: m.format(rel=rel) for m in MEASURES}
    chosen = list(np.random.default_rng(0).permutation(context.names)[:runs])
    table = context.evaluate(qrels, list(measures.values()), perquery=True)
    found = {}
    for measure, string in measures.items():
        values = table[table["measure"].astype(str) == string]
        by_run = values.pivot(index="name", columns="query_id", values="value").loc[chosen]
        first, second = np.triu_indices(len(by_run), 1)
        pairs = Pairs.between(by_run.to_numpy()[first], by_run.to_numpy()[second])
        found[measure] = pairs.differences[~pairs.constant]
    return found


def of_pairs(d: np.ndarray, samples: int) -> dict[str, float]:
    """Coverage and false positives of single pairs, in per cent."""
    rng = np.random.default_rng(1)
    held: dict[str, list[np.ndarray]] = {"t": [], "bootstrap": []}
    wrong: dict[str, list[np.ndarray]] = {"t": [], "bootstrap": []}
    none = []
    for sample in range(samples):
        drawn = d[:, rng.integers(d.shape[1], size=TOPICS)]
        swapped = drawn * rng.choice([-1.0, 1.0], size=TOPICS)
        for test in held:
            options = PairedTestOptions(resamples=RESAMPLES, seed=sample)
            found = paired_test(Pairs.from_differences(drawn), test, options)
            ends = (found.lower <= d.mean(axis=1)) & (d.mean(axis=1) <= found.upper)
            held[test].append(np.where(np.isnan(found.lower), np.nan, ends))
            p = paired_test(Pairs.from_differences(swapped), test, options).p
            wrong[test].append(np.where(np.isnan(p), np.nan, p <= 0.05))
            if test == "bootstrap":
                none.append(np.isnan(found.lower).mean())
    row = {}
    for test in held:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            of_each = 100 * np.nanmean(held[test], axis=0)
        row[f"{test} covers"] = float(np.nanmean(of_each))
        row[f"{test} worst pair"] = float(np.nanquantile(of_each, 0.05))
        row[f"{test} false"] = 100 * float(np.nanmean(wrong[test]))
    return row | {"no bootstrap": 100 * float(np.mean(none))}


def of_tables(parts: list[np.ndarray], samples: int) -> dict[str, float]:
    """How often all intervals of a table hold at once, and how often one row is told apart in vain, in per cent."""
    rng = np.random.default_rng(2)
    rows: dict[str, list[float]] = {}
    for sample in range(samples):
        topics = rng.integers(parts[0].shape[1], size=TOPICS)
        signs = rng.choice([-1.0, 1.0], size=TOPICS)
        options = PairedTestOptions(resamples=RESAMPLES, seed=sample)
        for correction in ("max-t", "holm"):
            family = Family(correction=correction)
            members = [(Pairs.from_differences(d[:, topics]), "t") for d in parts]
            found = family.test(members, options)
            outside = [
                ((f.lower > d.mean(axis=1)) | (f.upper < d.mean(axis=1))).any()
                for f, d in zip(found, parts, strict=True)
            ]
            rows.setdefault(f"{correction} all hold", []).append(not any(outside))
            swapped = [(Pairs(pairs.differences * signs, pairs.limit), test) for pairs, test in members]
            told = [(f.p_corrected <= 0.05).any() for f in family.test(swapped, options)]
            rows.setdefault(f"{correction} false", []).append(any(told))
    return {column: 100 * float(np.mean(values)) for column, values in rows.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="+", help="with runs/ and qrels.txt.gz")
    parser.add_argument("--samples", type=int, default=60, help="of topics (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=12, help="drawn from the folder (default: %(default)s)")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for folder in arguments.folder:
        found = differences(folder, arguments.runs)
        bar = tqdm(found.items(), unit="measure", disable=None)
        table = pd.DataFrame({measure: of_pairs(d, arguments.samples) for measure, d in bar}).T
        print(f"\n{folder.name}\n{table.round(1).to_string()}\n")
        together = {m: [found[m.partition("{")[0]]] for m in TOGETHER}
        together["all four"] = [parts[0] for parts in together.values()]
        tables = {m: of_tables(parts, arguments.samples) for m, parts in together.items()}
        print(pd.DataFrame(tables).T.round(1).to_string())


if __name__ == "__main__":
    main()
