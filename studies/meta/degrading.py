"""Does a ranking of runs hold with fewer labels, topics or runs, without a group? Lexiprecision §5, rareness §4.5."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from tqdm import tqdm

from ir_measures_relative import RelativeWarning, RunContext
from ir_measures_relative.data.arrays import rank_within
from ir_measures_relative.stats import Pairs

from .checks import check_choice, check_count, check_statistics, is_number
from .judged import Judged, check_two_runs, contributions, groups_of, part_of
from .table import ALIKE, CORRELATIONS, BoolArray, FloatArray, IntArray, pairs_of, score, summaries, with_ties

_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_DEPTHS = (1, 2, 5, 10, 20, 50, 100)


def degrade(
    context: RunContext,
    qrels: Any,
    measures: Sequence[ir_measures.Measure | str],
    what: str = "labels",
    levels: Sequence[float] | None = None,
    statistics: str | Sequence[str] = "tau",
    samples: int = 10,
    *,
    truth: ir_measures.Measure | str | None = None,
    of: str = "relevant",
    groups: Mapping[str, str] | None = None,
    pool_depth: int = 100,
    seed: int = 0,
) -> pd.DataFrame:
    """Does the order of the runs hold without some judgments or topics, or with a shallower pool?

    ``what`` is left, and the ``levels``:

    - ``"labels"``: a random share of each topic's judgments, rounded up, among those above 0 (``of="relevant"``) or
      among all (``of="all"``). A smaller share is part of the larger ones.
    - ``"topics"``: a share of the topics, rounded up; priors that a policy chooses by means stay those of all topics.
    - ``"pool"``: the judgments of documents that some run of the context has in its first 1, 2, …, 100.
    - ``"groups"``: for each group, all judgments but of the documents that its runs alone have in their first
      ``pool_depth``; run by run without groups. See also :func:`reusability`.

    ``statistics``, with the values on all judgments and topics as the truth: the correlations of :func:`correlation`
    (a measure of pairs ranks runs by their means over topics and opponents); ``"agreement"``, the share of pairs of
    runs with different means by the truth that differ in the same direction; ``"ranking_agreement"``, the same on each
    topic; ``"ties"``, the share of tied pairs. Invariant under: positive factors and added constants of the measures.

    Args:
        truth: a measure whose values are the truth for all; default: each measure's own.
        groups: from run name to group; default: the context's.

    Returns:
        a DataFrame with one row per ``measure``, ``statistic`` and ``level``: ``kept``, the share that is left;
        ``samples`` with a value; their ``mean`` and ``deviation`` (n - 1).
    """
    check_two_runs(context, "rank")
    parsed = _parsed(measures)
    of_truth = None if truth is None else _parsed([truth])
    check_choice("what", what, ("labels", "topics", "pool", "groups"))
    check_choice("of", of, ("relevant", "all"))
    chosen = check_statistics(statistics, tuple(ALIKE))
    check_count("samples", samples, 1)
    check_count("seed", seed, 0)
    check_count("pool_depth", pool_depth, 1)
    if levels is not None and not len(levels):
        raise ValueError("levels is empty; give some, or leave it out")
    judged = Judged.read(qrels)
    context = part_of(context, grades=judged.grades)  # which fewer judgments may not have all of
    parts: list[tuple[Any, BoolArray]]
    if what == "pool":
        parts = list(_pools(context, judged, levels))
    elif what == "groups":
        lost = contributions(context, judged, groups_of(context, groups), pool_depth)
        wanted: Sequence[Any] = list(lost) if levels is None else levels
        for group in wanted:
            if group not in lost:
                raise ValueError(f"levels holds {group!r}, which is no group; the groups are {list(lost)}")
        parts = [(group, ~lost[group]) for group in wanted]
    else:
        parts = list(_samples(judged, what, levels, samples, of == "all", seed))
    full = score(context, judged.rows, parsed)
    expected = full if of_truth is None else score(context, judged.rows, of_truth) * len(full)
    kept: dict[Any, list[float]] = {level: [] for level, _ in parts}
    found: dict[tuple[str, str, Any], list[float]] = {
        (scores.measure, statistic, level): [] for scores in full for statistic in chosen for level in kept
    }
    for level, keep in tqdm(parts, desc=f"leaving out {what}", unit="sample", disable=None, leave=False):
        kept[level].append(float(keep.mean()))
        left = full if what == "topics" else score(context, judged.kept(keep), parsed)
        for scores, best in zip(left, expected, strict=True):
            of_same = best
            if what == "topics":
                scores, of_same = (s.on(keep) for s in (scores, best))
            for statistic in chosen:
                other = of_same if statistic == "ranking_agreement" else best
                found[scores.measure, statistic, level].append(ALIKE[statistic](scores, other))
    result = summaries(found, "measure", "statistic", "level")
    result.insert(3, "kept", [float(np.mean(kept[level])) for _, _, level in found])
    return result


def _parsed(measures: Sequence[ir_measures.Measure | str]) -> list[ir_measures.Measure]:
    """Return the measures, each once."""
    parsed = [ir_measures.parse_measure(m) if isinstance(m, str) else m for m in measures]
    return list(dict.fromkeys(parsed))


def _samples(
    judged: Judged, what: str, levels: Sequence[float] | None, samples: int, every: bool, seed: int
) -> Iterator[tuple[Any, BoolArray]]:
    """Shares of the judgments or topics, and random parts of that size; one sample where nothing is left out."""
    n = len(judged.query_ids)
    topic = judged.query if what == "labels" else np.zeros(n, dtype=np.int64)
    drawn = np.ones(len(topic), dtype=bool) if every or what == "topics" else judged.grade > 0
    size = np.bincount(topic[drawn], minlength=max(n, 1))
    orders = [_places(topic, drawn, np.random.default_rng([seed, i])) for i in range(samples)]
    shares = _SHARES if levels is None else levels
    for share in shares:
        if not is_number(share) or not 0 < share <= 1:
            raise ValueError(
                f"levels holds {share!r}; give shares above 0 and up to 1, such as levels=[0.5, 1]"
            )
    for share in map(float, shares):
        most = np.ceil(np.round(share * size, 9))
        for place in orders[: 1 if share == 1 else samples]:
            yield share, ~drawn | (place < most[topic])


def _places(topic: IntArray, drawn: BoolArray, rng: np.random.Generator) -> IntArray:
    """At which place of a random order of its topic each one that takes part stands, from 0."""
    rows = np.flatnonzero(drawn)
    order = rows[np.lexsort((rng.random(len(rows)), topic[rows]))]
    place = np.zeros(len(topic), dtype=np.int64)
    place[order] = rank_within(topic[order]) - 1
    return place


def _pools(
    context: RunContext, judged: Judged, levels: Sequence[float] | None
) -> Iterator[tuple[Any, BoolArray]]:
    depths = list(_DEPTHS if levels is None else levels)
    for depth in depths:
        check_count("levels", depth, 1)
    positions = judged.positions(context, int(max(depths)))
    best = np.where(positions > 0, positions, np.iinfo(np.int64).max).min(axis=0)
    for depth in depths:
        yield int(depth), best <= depth


def system_subsets(
    context: RunContext,
    qrels: Any,
    measures: Sequence[ir_measures.Measure | str],
    sizes: Sequence[int] | None = None,
    statistics: str | Sequence[str] = "tau",
    samples: int = 1000,
    *,
    seed: int = 0,
) -> pd.DataFrame:
    """Does a measure relative to the systems order the runs in the same way with fewer systems? (rareness, Algorithm 1)

    Draws subsets of the context's runs, ranks each as though its runs alone had taken part, and correlates that with
    the ranking of all runs: 1 by a measure that is not relative to the others. No subset counts twice. Invariant under:
    positive factors and added constants of the measure.

    Args:
        context: its policy of priors is asked anew in each subset.
        measures: as for :func:`degrade`; without ``ref=`` and ``prior=``.
        sizes: of the subsets; default: the powers of 2 below the number of runs.
        statistics: ``"tau"``, ``"tau_ap"``, ``"weighted"`` as in :func:`correlation`, or a list of these.
        samples: subsets per size; all of them where there are no more.

    Returns:
        a DataFrame with one row per ``measure``, ``statistic`` and size (``systems``): ``samples`` with a value, their
        ``mean`` and ``deviation`` (n - 1).
    """
    check_two_runs(context, "rank")
    parsed, names = _parsed(measures), context.names
    chosen = check_statistics(statistics, tuple(CORRELATIONS))
    check_count("samples", samples, 1)
    check_count("seed", seed, 0)
    for measure in parsed:
        for param in ("ref", "prior"):
            if measure.params.get(param) is not None:
                raise ValueError(
                    f"{measure} names {measure.params[param]!r}, which not every subset of the runs holds; leave "
                    f"{param}= out"
                )
    if sizes is None:
        sizes = [2**i for i in range(1, (len(names) - 1).bit_length()) if 2**i < len(names)] or [2]
    if not len(sizes):
        raise ValueError("sizes is empty; give some, or leave it out")
    for size in sizes:
        check_count("sizes", size, 2)
        if size > len(names):
            raise ValueError(f"sizes holds {size}, and the context {len(names)} runs; give smaller ones")
    judged = Judged.read(qrels)
    full = score(context, judged.rows, parsed)
    truth = {scores.measure: scores.standing() for scores in full}
    anew = [m for m in parsed if getattr(m, "RELATIVE_TO", None) in ("priors", "systems")]
    found: dict[tuple[str, str, int], list[float]] = {
        (measure, statistic, int(size)): [] for measure in truth for statistic in chosen for size in sizes
    }
    subsets = [(int(n), rows) for n in sizes for rows in _subsets(len(names), int(n), samples, seed)]
    for size, rows in tqdm(subsets, desc="choosing systems", unit="subset", disable=None, leave=False):
        of_rows, inside = [names[i] for i in rows], np.isin(pairs_of(names), rows).all(axis=0)
        anew_scores = score(part_of(context, of_rows), judged.rows, anew) if anew else []
        moved = {scores.measure: scores.standing() for scores in anew_scores}
        for scores in full:
            if scores.values is None:  # of pairs: those of these runs alone
                pairs = Pairs.from_differences(scores.pairs.differences[inside])
                moved[scores.measure] = scores._replace(names=of_rows, pairs=pairs).standing()
        for measure, of_all in truth.items():
            of_some = of_all[list(rows)]
            for statistic in chosen:
                values = found[measure, statistic, size]
                values.append(CORRELATIONS[statistic](moved.get(measure, of_some), of_some))
    return summaries(found, "measure", "statistic", "systems")


def _subsets(n: int, size: int, samples: int, seed: int) -> list[tuple[int, ...]]:
    """Return all sets of a size of the first whole numbers, or as many of them, drawn at random, as asked for."""
    if math.comb(n, size) <= samples:
        return list(itertools.combinations(range(n), size))
    rng = np.random.default_rng([seed, size])
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < samples:
        drawn.add(tuple(sorted(rng.choice(n, size, replace=False).tolist())))
    return sorted(drawn)


def reusability(
    context: RunContext,
    qrels: Any,
    measures: Sequence[ir_measures.Measure | str],
    groups: Mapping[str, str] | None = None,
    *,
    pool_depth: int = 100,
) -> pd.DataFrame:
    """Leave-out-uniques: each run's score and rank without the judgments that it alone contributed.

    What a pooled run loses without the judgments of documents that only it, or its group, brought into the pool is what
    a new run like it would lose.

    Args:
        groups: from run name to group, whose runs are left out together; default: the context's.
        pool_depth: to which depth each run is taken to have been pooled; the qrels do not say it.

    Returns:
        a DataFrame with one row per run and measure: ``name``, ``measure``; ``value`` and ``place`` by all judgments
        (1 is best; tied runs share the better one); ``simulated`` and ``simulated_place`` without them; ``lost``, how
        many judgments these are; ``pool_depth``.
    """
    check_two_runs(context, "rank")
    check_count("pool_depth", pool_depth, 1)
    parsed, judged, names = _parsed(measures), Judged.read(qrels), context.names
    own = np.array(groups_of(context, groups), dtype=object)
    context = part_of(context, grades=judged.grades)
    means, place = _means_and_places(context, judged.rows, parsed)
    left, place_left, lost_of = means.copy(), place.copy(), np.zeros(len(names), dtype=np.int64)
    lost_by = contributions(context, judged, own.tolist(), pool_depth)
    for group, lost in tqdm(lost_by.items(), desc="leaving out", unit="group", disable=None, leave=False):
        if lost.any():
            without = _means_and_places(context, judged.kept(~lost), parsed)
            for kept, found in zip((left, place_left), without, strict=True):
                kept[own == group] = found[own == group]
            lost_of[own == group] = lost.sum()
    columns = {"value": means, "simulated": left, "place": place, "simulated_place": place_left}
    of_each = {"name": np.repeat(names, len(parsed)), "measure": list(map(str, parsed)) * len(names)}
    table = pd.DataFrame(of_each | {column: values.ravel() for column, values in columns.items()})
    lost_rows = np.repeat(lost_of, len(parsed))
    return table.astype({"name": str}).assign(lost=lost_rows, pool_depth=pool_depth)


def _means_and_places(
    context: RunContext, qrels: pd.DataFrame, measures: Sequence[ir_measures.Measure]
) -> tuple[FloatArray, IntArray]:
    """Return the mean and the place of each run by each measure: runs × measures; tied runs share the better place."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelativeWarning)
        means = context.evaluate(qrels, measures)[list(map(str, measures))].to_numpy()
        values = context.evaluate(qrels, measures, perquery=True)
    spread = values.groupby("measure")["value"].agg(["min", "max"]).loc[list(map(str, measures))]
    limits = [Pairs.between(np.array([low]), np.array([high])).limit for low, high in spread.to_numpy()]
    tied = np.array([with_ties(of_runs, limit) for of_runs, limit in zip(means.T, limits, strict=True)])
    above: IntArray = (tied[:, None, :] > tied[:, :, None]).sum(axis=2)
    return means, above.T + 1
