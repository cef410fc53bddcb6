"""Which runs to fuse: the numbers and pictures of the guide, on real campaigns.

1. What tells which partner a run gains most from when they are fused: the partner's own nDCG@10, or what it adds?
2. The strategies of fuse(), on the topics that chose and on those that did not.
3. With --coverage: how often the intervals hold the true difference, on campaigns whose topics are drawn anew.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from ir_measures import nDCG
from scipy.stats import kendalltau
from tqdm import tqdm

from ir_measures_relative import RunContext, UniqueRel, fuse
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.decisions.fuse import Chooser, interval_margin, split_topics
from ir_measures_relative.decisions.fusion import FusedValues, Fusion

DEPTH = 100
STRATEGIES = ("single", "top", "greedy", "exact", "complementary", "all")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("campaigns", nargs="+", type=Path, metavar="CAMPAIGN",
                        help="a folder with runs/ and qrels.txt.gz")  # fmt: skip
    parser.add_argument(
        "--n", nargs="+", type=int, default=[2, 3], help="how many runs to fuse (default: 2 3)"
    )
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="write the pictures here")
    parser.add_argument(
        "--coverage", type=int, metavar="N", help="simulate this many campaigns from each one"
    )
    arguments = parser.parse_args()
    for folder in arguments.campaigns:
        context, qrels = RunContext.from_files(folder / "runs"), str(folder / "qrels.txt.gz")
        print(f"\n## {folder.name}: {len(context.names)} runs")
        if arguments.coverage:
            say(coverage(context, qrels, arguments.coverage))
            continue
        table = fuse(context, qrels, arguments.n, depth=DEPTH, strategies=STRATEGIES)
        say(predictors(context, qrels))
        say(table.drop(columns=["names", "chosen"]))
        print("\nexact:", table.set_index(["strategy", "n"])["names"]["exact"].to_dict())
        if arguments.pictures:
            draw(arguments.pictures, folder.name, table)


def predictors(context: RunContext, qrels: str) -> pd.DataFrame:
    """How well something orders the partners of a run by what the two are worth together: mean τ over the runs."""
    names = context.names
    own = context.evaluate(qrels, [nDCG @ 10])["nDCG@10"].to_numpy()
    fused_values = FusedValues(judged_collection(context, qrels), nDCG @ 10, Fusion("rrf", 60, DEPTH))
    taus: dict[tuple[str, str], list[float]] = {}
    for place, a in enumerate(tqdm(names, desc="partners", disable=None, leave=False)):
        measures = [f"NRG(prior='{a}')@10", UniqueRel(prior=a, rel=1) @ 10]
        nrg, unique = (
            context.evaluate(qrels, measures).set_index("name").drop(index=a).to_numpy(dtype=np.float64).T
        )
        others = np.array([i for i, name in enumerate(names) if name != a])
        fused = fused_values([(min(i, place), max(i, place)) for i in others.tolist()]).mean(axis=1)
        targets = {
            "a fused top ten": fused,
            "both lists, read or pooled (new relevant ones)": unique,
        }
        for target, worth in targets.items():
            for by, value in {"its own nDCG@10": own[others], "NRG@10": nrg, "UniqueRel@10": unique}.items():
                taus.setdefault((target, by), []).append(float(kendalltau(value, worth).statistic))
    rows = [
        {"what the partner is for": t, "told by": by, "mean tau": np.mean(v)} for (t, by), v in taus.items()
    ]
    return pd.DataFrame(rows)


def draw(folder: Path, name: str, table: pd.DataFrame) -> None:
    """Writes the pictures of a campaign."""
    from drawn_tables import fusion  # beside this script
    from ir_measures_relative import plots

    folder.mkdir(parents=True, exist_ok=True)
    figure = plots.new_figure()
    fusion(table, figure.subplots())
    figure.savefig(folder / f"fusion-{name}.png", dpi=110)


def coverage(
    context: RunContext, qrels: str, campaigns: int, most_runs: int = 17, n: int = 3
) -> pd.DataFrame:
    """How often a 95 % interval holds the true difference from the best single run.

    The topics of the campaign are the population. A simulated campaign draws some of them, with replacement. The truth
    is the mean, over many draws of as many topics as choose, of what the choice is worth on the population. "equal" are
    the same values, moved so that all sets of one size have the same mean.
    """
    view = judged_collection(context, qrels)
    rng = np.random.default_rng(0)
    runs = sorted(rng.permutation(len(context.names))[:most_runs].tolist())
    values = FusedValues(view, nDCG @ 10, Fusion("rrf", 60, DEPTH))
    sets = {s: values([s])[0] for size in (1, n) for s in _sets(runs, size, values)}
    rows = []
    for equal, n_topics, folds in [
        (False, 25, 2),
        (False, 50, 2),
        (False, 100, 2),
        (True, 50, 2),
        (False, 50, 5),
    ]:
        population = _equal(sets) if equal else sets
        for strategy, found in _simulated(population, len(runs), n_topics, folds, campaigns, n).items():
            rows.append({"runs": "equal" if equal else "real", "topics": n_topics, "folds": folds,
                         "strategy": strategy} | found)  # fmt: skip
    return pd.DataFrame(rows)


def _sets(runs: Sequence[int], size: int, values: FusedValues) -> list[tuple[int, ...]]:
    found = list(itertools.combinations(runs, size))
    values(found)  # all at once
    return found


def _equal(sets: dict[tuple[int, ...], np.ndarray]) -> dict[tuple[int, ...], np.ndarray]:
    """The values, moved so that all sets of one size have the mean of these."""
    means = {
        size: np.mean([v.mean() for s, v in sets.items() if len(s) == size]) for size in {*map(len, sets)}
    }
    return {s: v - v.mean() + means[len(s)] for s, v in sets.items()}


class Drawn:
    """The values of sets on some topics of the population, the runs numbered anew."""

    def __init__(self, sets: dict[tuple[int, ...], np.ndarray], topics: np.ndarray) -> None:
        self.values = {s: v[topics] for s, v in sets.items()}

    def __call__(self, sets: Sequence[tuple[int, ...]]) -> np.ndarray:
        return np.array([self.values[s] for s in sets])


def _simulated(
    sets: dict[tuple[int, ...], np.ndarray], n_runs: int, n_topics: int, folds: int, campaigns: int, n: int
) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(1)
    number = {run: i for i, run in enumerate(sorted({run for s in sets for run in s}))}
    sets = {tuple(number[run] for run in s): v for s, v in sets.items()}
    size = len(next(iter(sets.values())))
    mean = {s: float(v.mean()) for s, v in sets.items()}
    alone, together = ([s for s in sets if len(s) == size_of] for size_of in (1, n))
    draws = rng.multinomial(n_topics - n_topics // folds, np.full(size, 1 / size), 4000).astype(np.float64)
    of_alone, of_together = (np.array([sets[s] for s in some]) @ draws.T for some in (alone, together))
    single = np.array([mean[alone[i]] for i in of_alone.argmax(axis=0)])
    tops = [tuple(sorted(order[:n].tolist())) for order in np.argsort(-of_alone, axis=0, kind="stable").T]
    truth = {
        "exact": float((np.array([mean[together[i]] for i in of_together.argmax(axis=0)]) - single).mean()),
        "top": float((np.array([mean[top] for top in tops]) - single).mean()),
    }
    held, width, naive = (dict.fromkeys(truth, 0.0) for _ in range(3))
    for i in tqdm(range(campaigns), desc="campaigns", disable=None, leave=False):
        splits = split_topics(n_topics, folds, 20 if folds == 2 else 8, i)
        chooser = Chooser(Drawn(sets, rng.integers(size, size=n_topics)), n_runs, splits)
        best = chooser.choose("single", 1)
        for strategy, true in truth.items():
            found = chooser.choose(strategy, n)
            off = abs(found.held_out - best.held_out - true)
            reach = interval_margin(found, best, splits, 0.95)
            held[strategy] += (off <= reach) / campaigns
            width[strategy] += 2 * reach / campaigns
            scored = splits.held_out
            difference = (found.values - best.values)[: len(scored)] * scored
            means = difference.sum(axis=1) / scored.sum(axis=1)
            naive[strategy] += (off <= 2.0 * means.std(ddof=1) / len(means) ** 0.5) / campaigns
    return {
        s: {"holds the truth": held[s], "mean width": width[s], "splits as independent": naive[s]}
        for s in truth
    }


def say(table: pd.DataFrame) -> None:
    """Prints a table."""
    print("\n" + table.to_string(index=False, float_format="%.4f"))


if __name__ == "__main__":
    main()
