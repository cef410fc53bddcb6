"""What goes out to others: a context as ranx's runs, a table as LaTeX, a description of the runs as ir_metadata."""

from __future__ import annotations

import json
import os
import string
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ir_measures

from ..context.run_context import RunContext
from ..data.rankings import Rankings
from ..work import check_writable, write_whole
from .content import keeping_order

if TYPE_CHECKING:
    import pandas as pd


def to_ranx(context: RunContext) -> dict[str, Any]:
    """The runs of a context as ``ranx.Run``, by name, for ranx's own measures, fusion and reports.

    ranx breaks ties by chance of its sorting. So tied documents get scores that are a step of a 32-bit float apart, in
    trec_eval's order; all other scores are as given, to 32 bits.

    Raises:
        ImportError: ranx is not installed.
        ValueError: a document that stands twice in a ranking.
    """
    try:
        import ranx
    except ImportError:
        raise ImportError("to make runs of ranx's needs ranx: pip install ranx") from None
    return {name: ranx.Run(_falling(run), name=name) for name, run in context.runs.items()}


def _falling(run: Rankings) -> dict[str, dict[str, float]]:
    top = run.top()
    scores = keeping_order(top.query, top.position, top.score.tolist()).tolist()
    found: dict[str, dict[str, float]] = {}
    for query, doc, score in zip(top.query.tolist(), top.doc_ids.tolist(), scores, strict=True):
        found.setdefault(run.query_ids[query], {})[doc] = score
    return found


def to_latex(
    table: pd.DataFrame, comparisons: pd.DataFrame | None = None, *, places: int = 3, level: float = 0.05
) -> str:
    """A table of ``context.evaluate`` as LaTeX, in the form of ranx's reports. Needs the package booktabs.

    The best mean of each measure is in bold. With ``comparisons``, superscripts are the letters of the runs that a run
    is significantly above.

    Args:
        table: a row a run: ``name`` and a column a measure.
        comparisons: what ``compare(context, qrels, measures)`` gives; its ``p_corrected`` counts.
        places: how many decimals.
        level: the largest p that counts.

    Raises:
        ValueError: another table.

    Example:
        >>> from ir_measures_relative import RunContext
        >>> from ir_measures_relative.formats.export import to_latex
        >>> context = RunContext({"BM25": {"q": {"A": 2.0}}, "dense": {"q": {"B": 1.0}}})
        >>> print(to_latex(context.evaluate({"q": {"A": 1}}, ["P@1"])))
        \\begin{tabular}{clc}
        \\toprule
          \\#  & Run   &      P@1       \\\\
        \\midrule
          a   & BM25  & \\textbf{1.000} \\\\
          b   & dense &     0.000      \\\\
        \\bottomrule
        \\end{tabular}
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
    """A tabular of the package booktabs.

    Args:
        header: LaTeX, as all cells are.
        alignment: of each column: left, right or center.
    """
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
    """a to z, then aa to az, and so on.

    >>> [_letter(i) for i in (0, 25, 26, 702)]
    ['a', 'z', 'aa', 'aaa']
    """
    more, last = divmod(i, 26)
    return (_letter(more - 1) if more else "") + string.ascii_lowercase[last]


_OF_LATEX = {
    **{
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": "$<$",
        ">": "$>$",
    },
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
}


def latex_text(text: Any) -> str:
    """What LaTeX shows as this text."""
    return "".join(_OF_LATEX.get(sign, sign) for sign in str(text))


def write_ir_metadata(
    context: RunContext,
    path: str | os.PathLike[str],
    qrels: Any = None,
    measures: Sequence[ir_measures.Measure | str] = (),
) -> None:
    """Writes what values of a context are relative to as ``ir-metadata.yml``, in the sections of ir_metadata.

    The section ``relative to`` is :meth:`RunContext.fingerprint`. Put the file beside a report or a table: others can
    then tell whether they have the same runs and judgments.

    Args:
        path: the file; ``.yml`` as a rule.
        qrels: the judgments, to be in it as well.
        measures: those that are reported.

    Raises:
        OSError: the file cannot be written.
    """
    import yaml

    check_writable(path)
    found = context.fingerprint(qrels)
    evaluation: dict[str, Any] = {"reported measures": [str(m) for m in measures]}
    if context.reference is not None:
        evaluation["baseline"] = [context.reference]
    libraries = [f"{name}=={version}" for name, version in found["versions"].items()]
    sections = {
        "schema version": 0.1,
        "platform": {"software": {"libraries": {"python": libraries}}},
        "research goal": {"evaluation": evaluation},
        "data": {"test collection": {"name": found["dataset"]}},
        "relative to": {key: value for key, value in found.items() if key != "versions"},
    }
    plain = json.loads(json.dumps(sections))  # so that equal objects are written out, and not referred to
    text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)
    write_whole(path, lambda place: Path(place).write_text(text, encoding="utf-8"))
