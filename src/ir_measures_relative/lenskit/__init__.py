"""Relative measures in LensKit's evaluation. Needs LensKit: ``pip install 'ir-measures-relative[lenskit]'``.

LensKit gives a metric a list and its test items, and not the user, whom :class:`RelativeCollector` adds.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import ir_measures

from ..context.measure_strings import is_relative, parse_measures
from ..context.run_context import RunContext
from ..context.view import View
from ..io.qrels import judge, qrels_columns
from ..io.runs import read_run
from ..messages import needs_extra

try:
    from lenskit.metrics import ListMetric, MeasurementCollector
except ImportError:
    raise needs_extra("measuring with LensKit", "lenskit") from None

if TYPE_CHECKING:
    import pandas as pd

#: The keys of the list that a collector measures.
_keys: ContextVar[Mapping[str, Any] | None] = ContextVar("ir_measures_relative_list_keys", default=None)


class RelativeCollector(MeasurementCollector):  # type: ignore[misc]
    """A ``MeasurementCollector`` that tells a :class:`RelativeMetric` whose list it measures. Takes all metrics.

    With LensKit 2026 use it as any collector: ``collector.measure_run(lists, test)``. With 2025.8, which has no such
    method, call ``collector.add_list_measurement(items, test_items, user_id=…)`` for every list.
    """

    def add_list_measurement(self, output: Any, test: Any, **keys: Any) -> None:
        """Measures a list, of whom the keys say: ``user_id=7``. LensKit 2025.8 calls this ``measure_list``."""
        name = (
            "add_list_measurement"
            if hasattr(MeasurementCollector, "add_list_measurement")
            else "measure_list"
        )
        measure = getattr(super(), name)
        token = _keys.set(keys)
        try:
            measure(output, test, **keys)
        finally:
            _keys.reset(token)

    measure_list = add_list_measurement

    def empty_copy(self) -> RelativeCollector:
        """A collector of the same metrics; LensKit's own method gives one that knows no users."""
        copy = super().empty_copy()
        copy.__class__ = type(self)
        result: RelativeCollector = copy
        return result


class RelativeMetric(ListMetric):  # type: ignore[misc]
    """A relative measure as a metric of LensKit's. The mean is LensKit's own, over the lists that it measures.

    A list without an order ranks by score. Ratings of the test items are labels; without ratings, all are relevant.

    Args:
        measure: such as ``"NRG@10"``, ``"rrLP"``, ``"RBO"``.
        runs: the lists of other recommenders, by name, as ``ItemListCollection`` with one key.
        reference: the name of the one that MED, RBO, RBA and lexiprecision compare with; needed if there are several.

    Raises:
        ValueError: a measure that is not relative, or lists that cannot be read.
    """

    default = 0.0

    def __init__(self, measure: Any, runs: Mapping[str, Any], *, reference: str | None = None) -> None:
        [self.measure] = parse_measures([measure])
        if not is_relative(self.measure):
            raise ValueError(f"{self.measure} is relative to nothing; give LensKit's own metric")
        self._context = RunContext(runs, reference=reference)
        fields = {lists.key_fields for lists in runs.values() if hasattr(lists, "key_fields")}
        self._fields = [next(iter(f)) for f in fields]

    @property
    def label(self) -> str:
        """The name of the column: the measure string."""
        return str(self.measure)

    def measure_list(self, output: Any, test: Any, /) -> float:
        """The value of a list; NaN without a test item, ValueError without a :class:`RelativeCollector`."""
        query = self._query()
        if not len(test):
            return float("nan")
        judgments = judge(qrels_columns(_OneList(test, query)))
        runs = {name: run.of_query(query) for name, run in self._context.runs.items()}
        context = RunContext(runs, reference=self._context.reference)
        rankings = read_run(_OneList(output, query) if len(output) else {})
        values = self.measure.score(View.on(context, judgments).with_run(rankings))
        return float(values[0])

    def _query(self) -> str:
        keys = _keys.get()
        if keys is None:
            raise ValueError(f"{self.measure} must know whose list it is; add it to a RelativeCollector")
        named = [str(keys[field]) for field in self._fields if field in keys]
        if not named:
            raise ValueError(f"{self.measure}: the keys of the list are {list(keys)}, and not {self._fields}")
        return named[0]


class _OneList:
    """A list, read as a collection of it alone is: to make LensKit's own of each takes twice the time."""

    key_fields = ("query_id",)

    def __init__(self, items: Any, query: str) -> None:
        self._items, self._query = items, query

    def lists(self) -> list[Any]:
        return [self._items]

    def to_df(self) -> pd.DataFrame:
        rows: pd.DataFrame = self._items.to_df(numbers=False)
        return rows.assign(query_id=self._query)


def measure_pairs(
    runs: Mapping[str, Any],
    test: Any,
    measures: Sequence[ir_measures.Measure | str],
    reference: str | None = None,
) -> pd.DataFrame:
    """Compares collections of lists two by two: each run with one other, which is its prior and its reference.

    Args:
        runs: ``ItemListCollection`` by name, with one key; or anything else that is a run.
        test: the test items, or other judgments. A list that a run lacks counts as empty.
        measures: relative measures.
        reference: the run to compare all others with; every pair, both ways round, if not given.

    Returns:
        a row for each ``run``, ``reference`` and ``list`` (the index), a column a measure.

    Raises:
        ValueError: fewer than two runs, no such reference, a measure that is relative to nothing.
    """
    import pandas as pd

    parsed = parse_measures(measures)
    alone = [str(m) for m in parsed if not is_relative(m)]
    if alone:
        raise ValueError(f"{', '.join(alone)} is relative to nothing; give it to LensKit's RunAnalysis")
    if len(runs) < 2:
        raise ValueError(f"measure_pairs compares runs two by two; give at least two, not {len(runs)}")
    context = RunContext(runs, reference=reference)
    columns = qrels_columns(test)
    others = context.names if reference is None else [reference]
    tables = []
    for name, other in itertools.product(context.names, others):
        if name != other:
            pair = RunContext({n: context.runs[n] for n in (name, other)}, reference=other)
            rows = pair.evaluate(columns, parsed, perquery=True)
            tables.append(rows[rows["name"] == name].assign(reference=other))
    rows = pd.concat(tables, ignore_index=True).rename(columns={"name": "run", "query_id": "list"})
    wide = rows.pivot(index=["run", "reference", "list"], columns="measure", values="value")
    order = rows[["run", "reference", "list"]].drop_duplicates()
    wide = wide.reindex(pd.MultiIndex.from_frame(order))[[str(m) for m in parsed]]
    return wide.rename_axis(columns=None)


__all__ = ["RelativeCollector", "RelativeMetric", "measure_pairs"]
