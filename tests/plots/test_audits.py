"""The picture of a rehearsal of an audit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib", reason="the pictures need matplotlib: the extra plot")

from audited import CONTEXT, HUMAN
from ir_measures_relative import audit, plots


def test_lines_with_and_without_the_judge_and_what_it_saves() -> None:
    table = audit.simulate(
        CONTEXT,
        HUMAN,
        HUMAN,
        ["P(rel=2)@5", "NRG(base='P',rel=2)@5"],
        [10, 20, 30],
        between=("a", "b"),
        repeats=5,
    )
    ax = plots.audit(table, ax=plots.new_figure().subplots())
    assert [line.get_linestyle() for line in ax.lines] == ["-", "--"] * 2
    drawn = np.concatenate([line.get_ydata() for line in ax.lines[::2]])
    assert sorted(drawn) == pytest.approx(sorted(table["half_width"]))
    assert ax.get_xlabel() == "human labels" and ax.get_ylim()[0] == 0
    saved = table.sort_values("measure", ascending=False)["saved"].dropna()
    said = [text.get_text() for text in ax.texts if text.get_text()]
    assert said == [f"{more:.0f} labels" for more in saved if abs(more) >= 1] and said
    ax.figure.canvas.draw()


def test_another_table() -> None:
    with pytest.raises(ValueError, match="audit.simulate"):
        plots.audit(pd.DataFrame({"measure": ["P@5"]}))
