"""Pictures of what ``studies.meta`` returns: what is on them is what the table says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from ir_measures import RR, P
from studies import meta
from studies.meta import plots

from ir_measures_relative import P_Rareness, RunContext, rrLP
from ir_measures_relative.plots import new_figure
from random_campaigns import graded_campaign

RUNS, QRELS = graded_campaign(7, runs=6, topics=8)
CONTEXT = RunContext(RUNS, groups={"r0": "g", "r1": "g"})
TABLE = CONTEXT.evaluate(QRELS, [P @ 3, P_Rareness @ 3, RR], perquery=True)
MEASURES = ["P@3", "P_Rareness@3", "RR"]


def draw(function: Any, table: Any, **options: Any) -> Any:
    ax = new_figure().subplots()
    assert function(table, ax=ax, **options) is ax
    ax.figure.savefig("/dev/null", format="svg")
    return ax


def lines(ax: Any) -> dict[str, Any]:
    return {line.get_label(): line.get_xydata() for line in ax.lines if not line.get_label().startswith("_")}


def test_asl_curves() -> None:
    table = meta.asl_curve(TABLE, "t")
    ax = draw(plots.asl_curves, table, highest=1)
    found = lines(ax)
    assert list(found) == MEASURES and ax.get_ylim() == (0, 1)
    for measure, rows in table.dropna().groupby("measure"):
        assert np.array_equal(found[measure], rows[["rank", "p"]])


@pytest.mark.parametrize("what", ["labels", "topics", "pool", "groups", "systems"])
def test_degradation(what: str) -> None:
    if what == "systems":
        table = meta.system_subsets(
            CONTEXT, QRELS, ["P@3", P_Rareness @ 3], statistics=["tau", "tau_ap"], samples=9
        )
    else:
        table = meta.degrade(CONTEXT, QRELS, ["P@3", rrLP], what, statistics=["ties", "tau_ap"], samples=2)
    kinds = list(dict.fromkeys(table["statistic"]))
    for kind in kinds:
        ax = draw(plots.degradation, table, statistic=kind)
        rows = table[table["statistic"] == kind]
        found = lines(ax)
        assert list(found) == list(dict.fromkeys(rows["measure"]))
        for measure, of_measure in rows.groupby("measure"):
            np.testing.assert_array_equal(found[measure][:, 1], of_measure["mean"])
    with pytest.raises(ValueError, match=r"no statistic 'rho'; its statistics are"):
        plots.degradation(table, "rho")


def test_bands_end_where_the_statistic_does() -> None:
    row = {"measure": "M", "statistic": "tau", "systems": 2, "samples": 9, "mean": 0.9, "deviation": 0.5}
    band = draw(plots.degradation, pd.DataFrame([row, row | {"systems": 4}])).collections[0]
    assert band.get_paths()[0].vertices[:, 1].max() == 1.0


def test_separation() -> None:
    both = pd.concat([meta.separation(CONTEXT, QRELS).assign(measure=m) for m in "AB"])
    assert list(lines(draw(plots.separation, both))) == ["A", "B"]


def test_matrices() -> None:
    table = meta.correlation(TABLE, "tau_ap")
    image = draw(plots.matrix_of_measures, table).images[0].get_array()
    for row in table.itertuples():
        assert image[MEASURES.index(row.measure), MEASURES.index(row.other)] == row.correlation
    conflicts = draw(plots.matrix_of_measures, meta.conflicts(TABLE)).images[0].get_array()
    assert np.array_equal(conflicts.filled(-1), conflicts.T.filled(-1)) and conflicts.mask.diagonal().all()


@pytest.mark.parametrize(
    "function", [plots.asl_curves, plots.degradation, plots.separation, plots.matrix_of_measures]
)
def test_other_tables_are_refused(function: Any) -> None:
    for table in (pd.DataFrame({"other": [1]}), pd.DataFrame()):
        with pytest.raises(ValueError, match=r"the table lacks .*; give the one that"):
            function(table)
