"""How good is the greedy labeling for MED(AP) and MED(SSP)? The exact solver is the judge.

The MED paper (A. Moffat, "Computing Maximized Effectiveness Distance for Recall-Based Metrics", §5) labels
documents greedily (Eq. 13), and leaves open whether that is optimal and how far off it can be. This study
compares the greedy labeling with the optimal one on random rankings, on real runs, and on all small rankings,
and then looks for rankings that greedy does badly on.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import math
import os
import time
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ir_measures_relative.bounding.ap_search import Search
from ir_measures_relative.bounding.intervals import Clock
from ir_measures_relative.bounding.med_searches import med_sum_precision
from ir_measures_relative.io.runs import read_run

#: The paper's greedy heuristic (§5, Eq. 13), which the search begins with: it stops there.
greedy_sum_precision = partial(med_sum_precision, clock=Clock(0))

NORMS = {"k": "SSP", "R": "AP", "min": "AP, min(k, R)"}

# The smallest counter-examples that the search over small rankings finds: Y, Z, the relevant documents and the open
# ones; the others are not relevant.
SMALLEST = {"k": ("ABCpq", "rBDCE", "ADE", "BC"), "R": ("pBCDEF", "GBDqHr", "CEFGH", "BD")}


class Pair(NamedTuple):
    """Two rankings as `med_sum_precision` takes them."""

    y: np.ndarray
    z: np.ndarray
    label: np.ndarray
    other_relevant: int = 0


# ---- random rankings and real ones -----------------------------------------------------------------------


def random_pairs(rng: np.random.Generator, count: int, depth: int, share_open: float) -> Iterator[Pair]:
    """Pairs that share any number of documents; Z is anything from a noisy copy of Y to unrelated."""
    for _ in range(count):
        shared = rng.integers(0, depth + 1)
        documents = 2 * depth - shared
        y, z = np.zeros(documents, int), np.zeros(documents, int)
        y[:depth] = np.arange(1, depth + 1)
        in_z = np.append(rng.permutation(depth)[:shared], np.arange(depth, documents))
        place = in_z % depth + rng.choice([0.1, 1, 10]) * rng.normal(0, 3, depth)
        z[in_z[place.argsort()]] = np.arange(1, depth + 1)
        judged = rng.integers(0, 2, documents)
        yield Pair(y, z, np.where(rng.random(documents) < share_open, -1, judged))


class Campaign:
    """The top of every run of a folder, and the judgments."""

    def __init__(self, folder: Path, depth: int) -> None:
        self.tops: list[dict[str, dict[str, int]]] = []
        for path in sorted((folder / "runs").glob("*.gz")):
            rankings = read_run(path)
            top = rankings.top(depth)
            positions: dict[str, dict[str, int]] = {}
            for query, position, document in zip(top.query, top.position, top.doc_ids, strict=True):
                positions.setdefault(rankings.query_ids[query], {})[document] = int(position)
            self.tops.append(positions)
        self.qrels: dict[str, dict[str, int]] = {}
        with gzip.open(folder / "qrels.txt.gz", "rt") as lines:
            for line in lines:
                query, _, document, grade = line.split()
                self.qrels.setdefault(query, {})[document] = int(int(grade) > 0)

    def instances(self) -> list[tuple[int, int, str]]:
        """Every pair of runs on every query."""
        pairs = itertools.combinations(range(len(self.tops)), 2)
        return [(a, b, query) for (a, b), query in itertools.product(pairs, sorted(self.qrels))]

    def pair(self, first: int, second: int, query: str, judged: bool) -> Pair:
        y, z = (self.tops[run].get(query, {}) for run in (first, second))
        documents = sorted({*y, *z})
        qrels = self.qrels[query] if judged else {}
        label = np.array([qrels.get(d, -1) for d in documents], dtype=int)
        return Pair(
            np.array([y.get(d, 0) for d in documents], dtype=int),
            np.array([z.get(d, 0) for d in documents], dtype=int),
            label,
            sum(qrels.values()) - int((label == 1).sum()),
        )


def compare(name: str, pairs: Iterable[Pair], depth: int, norm: str, cpu_seconds: float) -> None:
    """One line of the table: greedy against exact."""
    gaps, shares, seconds, proved = [], [], [], []
    for pair in pairs:
        arguments = {"cutoff": depth, "norm": norm, "other_relevant": pair.other_relevant}
        greedy = greedy_sum_precision(*pair[:3], **arguments)
        start = time.thread_time()
        exact = med_sum_precision(*pair[:3], clock=Clock(cpu_seconds), **arguments)
        seconds.append(time.thread_time() - start)
        proved.append(exact.exact)
        gap = exact.value - greedy.value
        gaps.append(gap if gap > 1e-9 else 0.0)
        shares.append(gaps[-1] / exact.value if exact.value else 0.0)
    median, most, longest = np.quantile(seconds, [0.5, 0.95, 1]) * 1000
    print(
        f"{name:27} {NORMS[norm]:14} {len(gaps):6} {np.mean(proved):8.2%} {np.mean(np.array(gaps) == 0):9.2%} "
        f"{max(gaps):10.5f} {max(shares):8.2%} {median:9.1f} {most:8.1f} {longest:8.1f}",
        flush=True,
    )


HEADER = (
    f"{'rankings':27} {'metric':14} {'pairs':>6} {'proved':>8} {'greedy':>9} {'largest':>10} {'':>8} "
    f"{'ms':>9} {'95 %':>8} {'largest':>8}\n"
    f"{'':27} {'':14} {'':>6} {'optimal':>8} {'optimal':>9} {'gap':>10} {'of value':>8} {'median':>9}"
)


# ---- all small rankings ----------------------------------------------------------------------------------


class Small(NamedTuple):
    """A pair of rankings of k documents, as bits: document d is at bit y[d] of Y and z[d] of Z, 0 if absent.

    Documents are numbered in the order of Y, then those that only Z holds. `state` is -1 open, 0 or 1.
    """

    y: tuple[int, ...]
    z: tuple[int, ...]
    state: tuple[int, ...]


def placements(length: int, k: int) -> Iterator[tuple[int, ...]]:
    """Where in a ranking of k positions the `length` documents of another can stand: bits, 0 for nowhere."""

    def place(before: tuple[int, ...], taken: int) -> Iterator[tuple[int, ...]]:
        if len(before) == length:
            yield before
            return
        for bit in (0, *(1 << t for t in range(k))):
            if not bit & taken:
                yield from place((*before, bit), taken | bit)

    return place((), 0)


class SmallSearch:
    """Greedy against every labeling, in whole numbers, for many judgments at a time."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.unit = math.lcm(*range(1, k + 1))
        masks = np.arange(1 << k)
        self.count = np.array([m.bit_count() for m in range(1 << 2 * k)])
        self.sum_precision = np.zeros(
            1 << k, dtype=np.int64
        )  # of the relevant positions in a mask, times unit
        for t in range(1, k + 1):
            here = masks >> (t - 1) & 1
            self.sum_precision += here * self.count[masks & ((1 << t) - 1)] * (self.unit // t)

    def failures(
        self, y: tuple[int, ...], z: tuple[int, ...], opened: tuple[int, ...]
    ) -> Iterator[tuple[str, Small]]:
        """The judgments of the documents not `opened` under which greedy misses the optimum, by norm."""
        judged = [d for d in range(len(y)) if d not in opened]
        judged_y, judged_z = (subset_sums([bits[d] for d in judged]) for bits in (y, z))
        open_y, open_z = (subset_sums([bits[d] for d in opened]) for bits in (y, z))
        difference = (
            self.sum_precision[judged_y[:, None] | open_y] - self.sum_precision[judged_z[:, None] | open_z]
        )
        relevant = self.count[: len(judged_y), None] + self.count[: len(open_y)]
        for norm, normalizer in (("k", np.full_like(relevant, self.k)), ("R", np.maximum(relevant, 1))):
            value = difference / (normalizer * self.unit)
            found = np.maximum(greedy(difference, value), greedy(-difference, -value))
            for row in np.flatnonzero(np.abs(value).max(axis=1) > found + 1e-9):
                state = np.full(len(y), -1)
                state[judged] = row >> np.arange(len(judged)) & 1
                yield norm, Small(y, z, tuple(state.tolist()))


def subset_sums(bits: list[int]) -> np.ndarray:
    """The union of every subset of the given positions; subset m holds the documents at the bits of m."""
    sums = np.zeros(1, dtype=np.int64)
    for bit in bits:
        sums = np.append(sums, sums | bit)
    return sums


def greedy(difference: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The best value on the greedy path through the labelings (columns), one instance a row."""
    rows, columns = difference.shape
    at = np.zeros(rows, dtype=np.int64)
    best = value[:, 0]
    here = np.arange(rows)
    bits = 1 << np.arange(columns.bit_length() - 1)
    for _ in bits:
        gains = difference[here[:, None], at[:, None] | bits] - difference[here, at][:, None]
        document = gains.argmax(axis=1)  # one that is labeled already gains 0
        at = np.where(gains[here, document] > 0, at | bits[document], at)
        best = np.maximum(best, value[here, at])
    return best


def judged_failures(k: int, open_counts: Iterable[int]) -> Iterator[tuple[str, Small]]:
    """All pairs of rankings of k documents with all judgments that leave so many documents open.

    A shorter ranking is no special case: a document that is judged not relevant is as good as absent.
    """
    search = SmallSearch(k)
    sizes = list(open_counts)
    for in_z in placements(k, k):
        only_z = [1 << t for t in range(k) if not (1 << t) & sum(in_z)]
        y = tuple(1 << t for t in range(k)) + (0,) * len(only_z)
        for size in sizes:
            for opened in itertools.combinations(range(len(y)), size):
                yield from search.failures(y, (*in_z, *only_z), opened)


def unjudged_failures(k: int) -> Iterator[tuple[str, Small]]:
    """All pairs of rankings of at most k documents without judgments, in the direction in which Y wins.

    A document that only Z holds is then never relevant, and left out.
    """
    search = SmallSearch(k)
    for length in range(1, k + 1):
        y = tuple(1 << t for t in range(length))
        for in_z in placements(length, k):
            yield from search.failures(y, in_z, tuple(range(length)))


def exhaust(full: bool) -> None:
    print("\nAll small rankings: cases in which greedy misses the optimum (SSP and AP)")
    for k in range(2, 8 if full else 7):
        print(f"no judgments, at most {k} documents each: {sum(1 for _ in unjudged_failures(k))}", flush=True)
    for k in (2, 3, 4, 5) if full else (2, 3, 4):
        tally(f"all judgments, {k} documents each", judged_failures(k, range(2, 2 * k + 1)))
    for k in (5, 6) if full else (5,):
        tally(f"all judgments but of two documents, {k} documents each", judged_failures(k, [2]))


def tally(name: str, failures: Iterable[tuple[str, Small]]) -> None:
    norms = [norm for norm, _ in failures]
    print(f"{name}: SSP {norms.count('k')}, AP {norms.count('R')}", flush=True)


# ---- bad cases -------------------------------------------------------------------------------------------


def climb(rng: np.random.Generator, depth: int, norm: str, relative: bool, steps: int) -> tuple[float, float]:
    """Change rankings and judgments at random while greedy falls no less short: (exact, greedy) at the end.

    Starts from the smallest counter-example, with documents that are judged not relevant down to the depth.
    """

    def solve(order_y: np.ndarray, order_z: np.ndarray, label: np.ndarray) -> tuple[float, float, float]:
        y, z = (np.where(order < depth, order + 1, 0) for order in (order_y, order_z))
        exact = med_sum_precision(y, z, label, cutoff=depth, norm=norm).value
        greedy = greedy_sum_precision(y, z, label, cutoff=depth, norm=norm).value
        return (exact - greedy) / (exact if relative and exact else 1.0), exact, greedy

    first, second, relevant, opened = SMALLEST[norm]
    named = sorted({*first, *second})
    documents = 2 * depth
    order_y, order_z = places(first, named, documents), places(second, named, documents)
    label = np.zeros(documents, int)
    label[: len(named)] = [1 if d in relevant else -1 if d in opened else 0 for d in named]
    best = solve(order_y, order_z, label)
    for _ in range(steps):
        changed = order_y.copy(), order_z.copy(), label.copy()
        for _ in range(rng.integers(1, 4)):
            what, (i, j) = rng.integers(3), rng.integers(0, documents, 2)
            if what == 2:
                changed[2][i] = rng.integers(-1, 2)
            else:
                changed[what][[i, j]] = changed[what][[j, i]]
        found = solve(*changed)
        if found[0] >= best[0]:
            best = found
            order_y, order_z, label = changed
    return best[1:]


def places(ranking: str, named: list[str], documents: int) -> np.ndarray:
    """Where every document stands, from 0; those that the ranking lacks stand behind, then the nameless."""
    known = [ranking.find(d) for d in named] + [-1] * (documents - len(named))
    left = iter(sorted(set(range(documents)) - set(known), reverse=True))
    return np.array([place if place >= 0 else next(left) for place in known])


def search_bad_cases(seed: int, full: bool) -> None:
    print("\nRankings made for greedy to do badly on (hill climbing)")
    for depth in (10, 20) if full else (10,):
        for norm, relative in itertools.product(("k", "R"), (True, False)):
            rng = np.random.default_rng(seed)
            exact, greedy = climb(rng, depth, norm, relative, 4000 if full else 1500)
            aim = "share of the value" if relative else "gap"
            print(
                f"{NORMS[norm]:4} k={depth}, largest {aim:18}: exact {exact:.5f}, greedy {greedy:.5f}, "
                f"gap {exact - greedy:.5f} = {(exact - greedy) / exact:.1%}",
                flush=True,
            )


# ---- counter-examples, to check by hand ------------------------------------------------------------------


def show(norm: str) -> None:
    """Every labeling of the counter-example with all precisions in it."""
    y, z, relevant, opened = SMALLEST[norm]
    documents = sorted({*y, *z})
    label = [1 if d in relevant else -1 if d in opened else 0 for d in documents]
    positions = [[ranking.find(d) + 1 for d in documents] for ranking in (y, z)]
    print(
        f"\n{NORMS[norm]}@{len(y)}: Y = {y}, Z = {z}; relevant {relevant}, open {opened}, others not relevant"
    )
    for name, seconds in (("greedy", 0.0), ("exact", np.inf)):
        search = Search(*map(np.array, positions), np.array(label), len(y), norm, 0)
        search.run(Clock(seconds))
        chosen = {d for d, r in zip(documents, search.best, strict=True) if r}
        print(f"  {name}: relevant {''.join(sorted(chosen))}, |difference| {search.value:.5f}")
    for size in range(len(opened) + 1):
        for extra in itertools.combinations(opened, size):
            chosen = {*relevant, *extra}
            sums = [precisions(ranking, chosen) for ranking in (y, z)]
            normalizer = len(y) if norm == "k" else len(chosen)
            difference = (sum(sums[0]) - sum(sums[1])) / normalizer
            terms = [" + ".join(map(str, s)) or "0" for s in sums]
            print(
                f"    {''.join(extra) or 'none':>4}: ({terms[0]}) - ({terms[1]}), over {normalizer}: "
                f"{difference} = {float(difference):.5f}"
            )


def precisions(ranking: str, relevant: set[str]) -> list[Fraction]:
    at = [position for position, document in enumerate(ranking, 1) if document in relevant]
    return [Fraction(number, position) for number, position in enumerate(at, 1)]


# ---- the study -------------------------------------------------------------------------------------------


def robust_folder() -> Path | None:
    """$ROBUST03, or the folder beside the checkout if it exists."""
    if "ROBUST03" in os.environ:
        return Path(os.environ["ROBUST03"])
    beside = Path(__file__).resolve().parents[2] / "shared" / "robust03"
    return beside if beside.exists() else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--robust",
        type=Path,
        default=robust_folder(),
        metavar="PATH",
        help="folder with runs/*.gz and qrels.txt.gz, such as the TREC 2003 Robust track "
        "(default: $ROBUST03 or ../shared/robust03, none if absent)",
    )
    parser.add_argument(
        "--full", action="store_true", help="more pairs, larger searches: 20 minutes instead of 2"
    )
    parser.add_argument("--seed", type=int, default=0, help="for all random choices (default: %(default)s)")
    parser.add_argument(
        "--cpu-seconds",
        type=float,
        default=10.0,
        metavar="S",
        help="CPU seconds a pair (default: %(default)s)",
    )
    arguments = parser.parse_args()
    if arguments.robust and not (arguments.robust / "qrels.txt.gz").exists():
        parser.error(f"{arguments.robust} holds no qrels.txt.gz")
    rng = np.random.default_rng(arguments.seed)

    print(HEADER)
    for depth, count in ((10, 300), (20, 200), (100, 40)):
        for share_open, kind in ((1.0, "open"), (0.5, "half judged"), (0.1, "most judged")):
            pairs = list(random_pairs(rng, count * (10 if arguments.full else 1), depth, share_open))
            for norm in NORMS:
                compare(f"random, {kind}, k={depth}", pairs, depth, norm, arguments.cpu_seconds)
    if arguments.robust:
        for depth, count in ((100, 300), (1000, 30)):
            campaign = Campaign(arguments.robust, depth)
            instances = campaign.instances()
            drawn = rng.permutation(len(instances))[: count * (10 if arguments.full else 1)]
            instances = [instances[i] for i in drawn]
            for judged, kind in ((False, "open"), (True, "judged")):
                for norm in NORMS:
                    pairs = (campaign.pair(*instance, judged=judged) for instance in instances)
                    compare(f"runs, {kind}, k={depth}", pairs, depth, norm, arguments.cpu_seconds)

    exhaust(arguments.full)
    search_bad_cases(arguments.seed, arguments.full)
    print("\nThe smallest counter-examples")
    show("k")
    show("R")


if __name__ == "__main__":
    main()
