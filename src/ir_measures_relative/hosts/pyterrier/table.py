"""The tables that ``pt.Experiment`` makes: only valid comparisons, measures in order, times of the pipelines."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...context.checks import why_incomparable
from ...context.view import View
from ...messages import warn
from ..compat import COMPARISON_COLUMNS, highlight_only


def incomparable(view: View, relative: Sequence[Any], options: Mapping[str, Any]) -> set[tuple[str, int]]:
    """The measures and systems whose comparison with the baseline is not valid; and one warning that says why.

    On a measure relative to priors, a system and the baseline compare if, apart from the two themselves,
    both are scored against the same runs. On a distance to the reference they compare if neither is the
    reference; see
    :func:`~ir_measures_relative.compare`.
    """
    baseline = options.get("baseline")
    if baseline is None or not options.get("dataframe", True):
        return set()
    against = view.names[baseline]
    reasons: dict[tuple[Any, int], str] = {}
    for measure in relative:
        for i, name in enumerate(view.names):
            reason = why_incomparable(view, measure, name, against) if name != against else None
            if reason is not None:
                reasons[measure, i] = reason
    if reasons:
        (first, i), reason = next(iter(reasons.items()))
        more = f" (and {len(reasons) - 1} more such)" if len(reasons) > 1 else ""
        remedy = (
            "Give priors='others', where each is compared with all other systems; or compare candidates with each "
            "other against fixed priors: pt.relative.compare(RunContext({name: results, …}), qrels, measures, "
            "priors=[…])"
            if first.RELATIVE_TO == "priors"
            else "The distance itself is the answer; or give a third system as the reference"
        )
        warn(
            f"the values of {view.names[i]!r} and the baseline {against!r} on {first} are different quantities, since "
            f"{reason}: the p-value and the wins and losses are NaN{more}. {remedy}"
        )
    return {(str(measure), i) for measure, i in reasons}


def without_comparisons(
    result: Any, invalid: Collection[tuple[str, int]], options: Mapping[str, Any]
) -> None:
    """Makes comparisons that are not valid NaN in a table of means, and corrects the others for their own number.

    Args:
        result: what ``pt.Experiment`` returned, a table or a styled one.
        invalid: the measures and systems, of which there are none where it returned anything else.
    """
    for measure in {measure for measure, _ in invalid}:
        table = _data(result)
        wins, losses, p, reject, corrected = (f"{measure} {column}" for column in COMPARISON_COLUMNS)
        table.loc[[i for of, i in invalid if of == measure], [wins, losses, p]] = np.nan
        if corrected in table:
            table[reject], table[corrected] = False, np.nan
            valid = table[p].notna()
            if valid.any():
                from statsmodels.stats.multitest import multipletests  # as pt.Experiment does

                level = options.get("correction_alpha", 0.05)
                found = multipletests(table.loc[valid, p], alpha=level, method=options["correction"])
                table.loc[valid, reject], table.loc[valid, corrected] = found[:2]
    if invalid and not isinstance(result, pd.DataFrame):
        numbers = result.data.columns[result.data.notna().any()]
        highlight_only(result, set(numbers))


def _data(result: Any) -> pd.DataFrame:
    """The table of means, of a styled one too."""
    return result if isinstance(result, pd.DataFrame) else result.data


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


def set_times(result: Any, names: Sequence[str], times: Sequence[float]) -> None:
    """Puts the times of the pipelines where those of their stubs are, in the order of the systems."""
    if isinstance(result, dict):
        for name, time in zip(names, times, strict=True):
            result[name]["mrt"] = time
    else:
        _data(result)["mrt"] = times


def of_topics(qrels: pd.DataFrame, topics: Any, options: Mapping[str, Any]) -> pd.DataFrame:
    """The judgments that ``pt.Experiment`` scores on: those of the topics, unless its options say otherwise."""
    if options.get("filter_by_topics", True) and isinstance(topics, pd.DataFrame):
        return qrels[qrels["qid"].isin(topics["qid"])]
    return qrels
