"""Tables as LaTeX."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def to_latex(
    table: pd.DataFrame, comparisons: pd.DataFrame | None = None, *, places: int = 3, level: float = 0.05
) -> str:
    """A table of ``context.evaluate`` as LaTeX, in the form of ranx's reports. Needs the package booktabs.

    The best mean of each measure is in bold. Superscripts are letters of runs that a run is significantly above.

    Args:
        table: a row a run: ``name`` and a column a measure.
        comparisons: what ``compare(context, qrels, measures)`` gives; its ``p_corrected`` counts.
        places: how many decimals.
        level: the largest p that counts.

    Raises:
        ValueError: another table.
    """
    if "name" not in table.columns or len(table.columns) < 2:
        raise ValueError(f"the table has the columns {list(table.columns)}; give one of context.evaluate")
    measures = [c for c in table.columns if c != "name"]
    letters = dict(zip(table["name"], map(_letter, range(len(table))), strict=True))
    significant = _significant(comparisons, level)
    best = table[measures].round(places).max()
    rows = []
    for _, row in table.iterrows():
        cells = [letters[row["name"]], latex_text(row["name"])]
        for measure in measures:
            text = f"{row[measure]:.{places}f}"
            text = rf"\textbf{{{text}}}" if round(row[measure], places) == best[measure] else text
            above = "".join(letters[o] for o in table["name"] if (row["name"], o, measure) in significant)
            cells.append(text + (f"$^{{{above}}}$" if above else ""))
        rows.append(cells)
    header = [r"\#", "Run", *map(latex_text, measures)]
    return latex_table(header, rows, ["center", "left", *["center"] * len(measures)])


def latex_table(header: Sequence[str], rows: Sequence[Sequence[str]], alignment: Sequence[str]) -> str:
    """A tabular of the package booktabs, from cells that are LaTeX; alignments are left, right or center."""
    from tabulate import tabulate

    rows = rows or [[""] * len(header)]  # without a row tabulate does not align
    text: str = tabulate(rows, header, "latex_raw", colalign=alignment, disable_numparse=True)
    for rule in ("toprule", "midrule", "bottomrule"):
        text = text.replace(r"\hline", rf"\{rule}", 1)
    return text


def _significant(comparisons: pd.DataFrame | None, level: float) -> set[tuple[str, str, str]]:
    """The run, the run that it is significantly above, and the measure."""
    if comparisons is None:
        return set()
    lacking = {"name", "other", "measure", "difference", "p_corrected"} - set(comparisons.columns)
    if lacking:
        raise ValueError(f"the comparisons lack {', '.join(sorted(lacking))}; give those of compare()")
    found = set()
    for row in comparisons[comparisons["p_corrected"] <= level].itertuples():
        winner, loser = (row.name, row.other) if row.difference > 0 else (row.other, row.name)
        found.add((winner, loser, str(row.measure)))
    return found


def _letter(i: int) -> str:
    """The letters a to z, then aa to az, and so on."""
    more, last = divmod(i, 26)
    return (_letter(more - 1) if more else "") + string.ascii_lowercase[last]


_OF_LATEX = {
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": "$<$", ">": "$>$"},
}


def latex_text(text: Any) -> str:
    """What LaTeX shows as this text."""
    return "".join(_OF_LATEX.get(sign, sign) for sign in str(text))
