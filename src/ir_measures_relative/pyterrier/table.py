"""The tables that ``pt.Experiment`` makes: the comparison with a baseline, the measures in order, times, bounds.

The comparison is made by the tests of ``compare``, where it is valid.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from ..arrays import BoolArray, FloatArray, IntArray
from ..context import RunContext
from ..measures.strings import is_relative
from ..messages import warn
from ..questions.comparing import test_of, why_not_comparable
from ..stats.families import MAX_T, Family
from ..stats.paired_tests import PairedTestOptions, check_test
from ..stats.pairs_and_ties import Pairs, tie_limit
from ..unjudged.bounds import bounds
from ..view import view_of

# What pt.Experiment adds to a measure for a baseline; the last two with a correction.
_WINS, _LOSSES, _P, _REJECT, _CORRECTED = "+", "-", "p-value", "reject", "p-value corrected"


class BaselineTest:
    """The test of every system against the baseline, as :func:`~ir_measures_relative.compare` makes it.

    ``pt.Experiment`` takes it for the test, and asks it for each system and measure in turn. It remembers the values,
    since what counts as a tie goes by those of all systems, and a correction by all rows; :meth:`fill_in` then writes
    what it found into the table.

    Its ``options`` are the arguments of ``pt.Experiment``, with this for the test; a function as the test stays.
    """

    def __init__(self, options: Mapping[str, Any], metrics: Sequence[Any], family: str = "call") -> None:
        self.options = dict(options)
        self._test = options.get("test")
        self._test_of = {str(m): test_of(m) for m in metrics if is_relative(m)}
        self._family = Family(correction=options.get("correction"), extent=family)
        self._level = options.get("correction_alpha", 0.05)
        self._values: list[tuple[FloatArray, FloatArray]] = []
        if self._test is None or isinstance(self._test, str):
            check_test(self._test or "t")
            self.options["test"] = self
        elif self._family.correction == MAX_T:
            raise ValueError(
                f"correction={MAX_T!r} needs one of this package's tests; give test= by name, such as 't', or another "
                "correction"
            )
        if self._family.correction == MAX_T:
            self.options["correction"] = "bonferroni"  # so that there are columns to fill in

    def __call__(self, one: Any, baseline: Any) -> tuple[float, float]:
        self._values.append((np.asarray(one, dtype=np.float64), np.asarray(baseline, dtype=np.float64)))
        return 0.0, 0.5  # filled in later

    def fill_in(self, result: Any, invalid: Collection[tuple[str, str]] = ()) -> Any:
        """What ``pt.Experiment`` returned, with the p-values, wins and losses of the test.

        Args:
            invalid: the measures and systems whose comparison is not valid: they have NaN, and do not count for the
                correction.
        """
        table = _table_of(result)
        if table is None or self.options.get("baseline") is None:
            return result
        measures = [c.removesuffix(f" {_P}") for c in table.columns if c.endswith(f" {_P}")]
        others = np.flatnonzero(np.arange(len(table)) != self.options["baseline"])
        names = table["name"].to_numpy()[others]
        valid = [
            np.array([(measure, name) not in invalid for name in names], dtype=bool) for measure in measures
        ]
        found = self._found(table, measures, others, valid)
        for measure, of_measure, ok in zip(measures, found, valid, strict=True):
            for what, column in of_measure.items():
                filled = np.full(len(table), np.nan)
                filled[others] = np.where(ok, column, np.nan)
                if f"{measure} {what}" in table:
                    table[f"{measure} {what}"] = filled
            if f"{measure} {_REJECT}" in table:
                table[f"{measure} {_REJECT}"] = table[f"{measure} {_CORRECTED}"].to_numpy() <= self._level
        _style_only_numbers(result)
        return result

    def _found(
        self, table: pd.DataFrame, measures: Sequence[str], others: IntArray, valid: Sequence[BoolArray]
    ) -> list[dict[str, FloatArray]]:
        """The columns of each measure, a value a system that is not the baseline."""
        if not self._values:  # a function as the test: what it said stands there
            there = table.iloc[others].astype({f"{m} {_P}": np.float64 for m in measures})
            p = [np.where(ok, there[f"{m} {_P}"], np.nan) for m, ok in zip(measures, valid, strict=True)]
            both = zip(measures, self._family.of_p(p, self._level), strict=True)
            as_is = (_WINS, _LOSSES, _P)
            return [{what: there[f"{m} {what}"] for what in as_is} | {_CORRECTED: p} for m, p in both]
        values = np.array(self._values).reshape(len(others), len(measures), 2, -1).swapaxes(0, 1)
        pairs = [Pairs.between(v[:, 0], v[:, 1], tie_limit(v)) for v in values]
        members = [
            (
                Pairs(np.where(ok[:, None], one.differences, np.nan), one.limit),
                self._test or self._test_of.get(measure, "t"),
            )
            for measure, one, ok in zip(measures, pairs, valid, strict=True)
        ]
        tested = self._family.compared(members, PairedTestOptions(confidence=1 - self._level))
        return [
            {
                _WINS: one.wins.astype(np.float64),
                _LOSSES: one.losses.astype(np.float64),
                _P: found.p,
                _CORRECTED: found.p_corrected,
            }
            for one, found in zip(pairs, tested, strict=True)
        ]


def not_comparable(
    context: RunContext, qrels: Any, metrics: Sequence[Any], options: Mapping[str, Any]
) -> set[tuple[str, str]]:
    """The measures and systems whose comparison with the baseline is not valid; and one warning that says why.

    On a measure relative to priors, a system and the baseline compare if, apart from the two themselves,
    both are scored against the same runs. On a distance to the reference they compare if neither is the
    reference; see
    :func:`~ir_measures_relative.compare`.
    """
    baseline = options.get("baseline")
    relative = [m for m in metrics if is_relative(m)]
    if baseline is None or not options.get("dataframe", True) or not relative:
        return set()
    against, view = context.names[baseline], view_of(context, qrels)
    reasons: dict[tuple[Any, str], str] = {}
    for measure in relative:
        for name in context.names:
            reason = why_not_comparable(view, measure, name, against) if name != against else None
            if reason is not None:
                reasons[measure, name] = reason
    if reasons:
        (first, name), reason = next(iter(reasons.items()))
        more = f" (and {len(reasons) - 1} more such)" if len(reasons) > 1 else ""
        remedy = (
            "Give priors='others', where each is compared with all other systems; or compare candidates with each "
            "other against fixed priors: pt.relative.compare(RunContext({name: results, …}), qrels, measures, "
            "priors=[…])"
            if first.RELATIVE_TO == "priors"
            else "The distance itself is the answer; or give a third system as the reference"
        )
        warn(
            f"the values of {name!r} and the baseline {against!r} on {first} are different quantities, since {reason}: "
            f"the p-value and the wins and losses are NaN{more}. {remedy}"
        )
    return {(str(measure), name) for measure, name in reasons}


def _table_of(result: Any) -> pd.DataFrame | None:
    """The table of means, in which the comparisons stand."""
    if isinstance(result, tuple):
        result = result[0]
    if isinstance(result, dict):
        return None
    table = result if isinstance(result, pd.DataFrame) else getattr(result, "data", None)
    return table if isinstance(table, pd.DataFrame) else None


def _style_only_numbers(result: Any) -> None:
    """Takes columns without a number out of what PyTerrier highlights: it looks for their largest value."""
    styled = result[0] if isinstance(result, tuple) else result
    if isinstance(styled, pd.DataFrame):
        return
    empty = [column for column in styled.data if styled.data[column].isna().all()]
    for _, _, options in styled.export()["apply"]:
        for column in empty:
            options.get("col_type", {}).pop(column, None)


def in_order(result: Any, asked: Sequence[str]) -> Any:
    """What ``pt.Experiment`` returned, with its measures in the order asked; all else is as PyTerrier has it.

    PyTerrier has the measures in the order in which ir_measures computes them, and that is not a particular one. The
    ``result`` is a table of means, plain or styled, or of queries; a dict of either; or a pair.
    """
    if isinstance(result, tuple):
        both = [in_order(part, asked) for part in result]
        return type(result)(*both) if hasattr(result, "_fields") else tuple(both)
    if isinstance(result, dict):
        if any(isinstance(value, dict) for value in result.values()):
            return {key: in_order(value, asked) for key, value in result.items()}
        return {name: result[name] for name in sorted(result, key=_place_in(asked))}
    if not isinstance(result, pd.DataFrame):  # a styled table
        return in_order(result.data, asked).style.use(result.export())
    if list(result.columns) == ["name", "qid", "measure", "value"]:
        place = result["measure"].map(_place_in(asked))
        return result.assign(_place=place).sort_values(["name", "qid", "_place"]).drop(columns="_place")
    return result[_columns(list(result.columns), asked)]


def _columns(columns: list[str], asked: Sequence[str]) -> list[str]:
    """``name``, the measures, then what a baseline adds to each: ``NRG@10 +``, ``NRG@10 p-value`` and the like."""

    def owner(column: str) -> str:
        return max((m for m in asked if column.startswith(f"{m} ")), key=len, default="")

    first, *rest = columns
    place = _place_in(asked)
    measures = sorted((c for c in rest if c in asked), key=place)
    return [first, *measures, *sorted((c for c in rest if c not in asked), key=lambda c: place(owner(c)))]


def _place_in(asked: Sequence[str]) -> Any:
    place = {name: i for i, name in reversed(list(enumerate(asked)))}
    return lambda name: place.get(name, len(place))


def rounded(times: Mapping[str, float], digits: Any) -> dict[str, float]:
    """The times, rounded as the argument ``round`` of ``pt.Experiment`` says."""
    if isinstance(digits, dict):
        digits = digits.get("mrt")
    return {name: time if digits is None else round(time, digits) for name, time in times.items()}


def set_times(result: Any, times: Mapping[str, float]) -> None:
    """Puts the times of the pipelines where those of their replay are."""
    if isinstance(result, dict):
        for name, row in result.items():
            row["mrt"] = times[name]
    else:
        table = result if isinstance(result, pd.DataFrame) else result.data  # the data of a styled table
        table["mrt"] = table["name"].map(times)


def check_plain(options: Mapping[str, Any]) -> None:
    """Raises ValueError for options with which there is no plain table of means to add columns to."""
    clash = [name for name in ("perquery", "highlight") if options.get(name)]
    clash += ["dataframe=False"] if not options.get("dataframe", True) else []
    if clash:
        raise ValueError(
            f"bounds=True adds columns to the table of means, and does not go with {clash[0]}; leave one of them out, "
            "or call pt.relative.bounds"
        )


def with_bounds(
    table: pd.DataFrame,
    context: RunContext,
    qrels: pd.DataFrame,
    topics: Any,
    measures: Mapping[str, ir_measures.Measure],
    options: Mapping[str, Any],
) -> pd.DataFrame:
    """The table with ``M lower`` and ``M upper`` behind each measure M; ``measures`` go from column to measure."""
    found = bounds(context, of_topics(qrels, topics, options), list(measures.values()))
    digits = options.get("round")
    result = table.copy()
    for column, measure in measures.items():
        of_measure = found[found["measure"] == str(measure)].set_index("name")
        at = list(result.columns).index(column)
        for place, end in enumerate(("lower", "upper"), at + 1):
            values = result["name"].map(of_measure[end])
            places = digits.get(column) if isinstance(digits, dict) else digits
            result.insert(place, f"{column} {end}", values if places is None else values.round(places))
    return result


def of_topics(qrels: pd.DataFrame, topics: Any, options: Mapping[str, Any]) -> pd.DataFrame:
    """The judgments that ``pt.Experiment`` scores on: those of the topics, unless its options say otherwise."""
    if options.get("filter_by_topics", True) and isinstance(topics, pd.DataFrame):
        return qrels[qrels["qid"].isin(topics["qid"])]
    return qrels
