"""How many topics an open verdict needs: predicted from a few topics, against the number that is enough.

The options are keep, add and replace, for random pairs of a deployed run and a candidate of another group, by nDCG@10
and all judgments of the track. The topics of the track are the population. The number that is enough is the least with
which 80 % of samples, drawn with replacement, have a verdict. A pilot is such a sample of a few topics; where its
verdict is open, ``topics_needed`` predicts a range.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from imputed_verdicts import ENDS, SIZES, Data, compare, redrawn_verdicts
from ir_measures_relative import RelativeWarning
from ir_measures_relative.decisions.rule import DEFAULT_MARGIN, OPEN, decide_by
from ir_measures_relative.stats.intervals import MOST_TOPICS, POWER
from ir_measures_relative.stats.regret import option_bounds, topics_needed

SIZES_OF_SAMPLES = np.unique(np.geomspace(5, MOST_TOPICS, 48).round()).astype(int)


def count_enough_topics(values: Any, redraws: int) -> float:
    """Return the least number of topics with which enough samples have a verdict; inf if none is enough.

    The values have the shape (options, topics).
    """
    differences = (values[:, None] - values)[:, :, None]
    low, high = -1, len(SIZES_OF_SAMPLES)
    while high - low > 1:
        middle = (low + high) // 2
        verdicts = redrawn_verdicts(differences, redraws, 0, int(SIZES_OF_SAMPLES[middle]))
        low, high = (low, middle) if np.mean(verdicts != OPEN) >= POWER else (middle, high)
    return float(np.append(SIZES_OF_SAMPLES, np.inf)[high])


def study(data: Data, pilots: list[int], pairs: int, redraws: int, draws: int) -> pd.DataFrame:
    """Return how often the predicted range holds the number that is enough, a row for each size of a pilot."""
    every, random = np.ones(len(data.qrels), dtype=bool), np.random.default_rng(1)
    populations = []
    for draw in data.draws(pairs, None, seed=5):
        compared = compare(data.collection(draw, [draw.deployed], every), draw)
        populations.append(compared.scored.scores.judged[:3])
    enough = [count_enough_topics(values, redraws) for values in populations]
    rows = []
    for size in pilots:
        predicted = []
        for values, number in zip(populations, enough, strict=True):
            for _ in range(draws):
                pilot = values[:, random.integers(values.shape[1], size=size)]
                if decide_by(option_bounds(pilot, ENDS), SIZES, DEFAULT_MARGIN).verdict == OPEN:
                    low, high = np.maximum(topics_needed(pilot, DEFAULT_MARGIN), size + 1)
                    predicted.append((low, high, number))
        low, high, number = np.array(predicted).T
        rows.append(
            {
                "collection": data.name,
                "pilot": size,
                "pilots": len(populations) * draws,
                "open": len(number),
                "in the range (%)": 100 * np.mean((low <= number) & (number <= high)),
                "fewer (%)": 100 * np.mean(number < low),
                "more (%)": 100 * np.mean(number > high),
                "median low": np.median(low),
                "median high": np.median(high),
                "median enough": np.median(number),
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    """Print a table for each folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, help="with runs/ and qrels.txt.gz; groups.csv")
    parser.add_argument(
        "--pilots", nargs="+", type=int, default=[10, 20], help="topics (default: %(default)s)"
    )
    parser.add_argument("--pairs", type=int, default=60, help="pairs of runs (default: %(default)s)")
    parser.add_argument("--draws", type=int, default=4, help="of pilots per pair (default: %(default)s)")
    parser.add_argument("--redraws", type=int, default=200, help="samples per size (default: %(default)s)")
    args = parser.parse_args()
    warnings.simplefilter("ignore", RelativeWarning)
    for folder in args.folders:
        table = study(Data(folder), args.pilots, args.pairs, args.redraws, args.draws)
        print(table.round(0).to_string(index=False), flush=True)


if __name__ == "__main__":
    main()
