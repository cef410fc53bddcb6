"""Files of measures, such as trec_eval's output: they are recognized to be rejected, as they hold no rankings."""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import Any

from ..io.frames import names_a_column
from .content import Content, Format

_OF_A_MEASURE = re.compile(
    r"((alpha_|main_|geometric_|gm_|set_|i?11pt_)*"
    r"(n?dcg|m?ap|infap|m?rr|recip_rank|recall|precision|p|f1|hits?|hit_rate|r_?prec|r_cap|hole|bpref|success|judged|err|"
    r"rbp|iprec_at_recall|avg|accuracy|unj|num_?(q|ret|rel|rel_ret)|score)|"
    r"(context|answer|response|citation|factual|semantic)_(recall|precision|relevanc[ey]|correctness|similarity|accuracy)|"
    r"faithfulness|groundedness|hallucination)([@_(].*)?",
    re.IGNORECASE,
)
_OF_TREC_EVAL = ("runid", "relstring", "utility")
#: What to give in place of measures.
INSTEAD = "give the file of the rankings, not of their scores"


def names_a_measure(name: str) -> bool:
    """Whether it is what some program calls a measure."""
    return _OF_A_MEASURE.fullmatch(name) is not None


def has_nested_measures(value: Any, depth: int = 6) -> bool:
    """Whether an object within JSON has the values of measures, as MTEB's results have deep inside."""
    if isinstance(value, dict):
        numbers = [key for key, x in value.items() if isinstance(x, float) and key != "score"]
        if 2 * sum(map(names_a_measure, numbers)) > len(numbers):
            return True
    children = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return depth > 0 and any(has_nested_measures(child, depth - 1) for child in children[:20])


def is_table_of_measures(content: Content) -> bool:
    """Whether a text is trec_eval's output, ir_measures', or a table with the names of measures above."""
    header = content.header
    if len(header) > 3 or content.line.count(b",") > 0:
        named = sum(map(names_a_measure, header))
        return named > 0 and 2 * named >= len(header) - 1 and not names_a_column(header)
    lines = filter(str.strip, content.start.decode("utf-8", "replace").split("\n"))
    rows = [re.split(r"\s*\t\s*|\s{2,}", line.strip()) for line in islice(lines, 20)]
    if not rows or {len(row) for row in rows} - {2, 3}:
        return False
    if all(len(row) == 3 and names_a_measure(row[1]) and ("@" in row[1] or "." in row[2]) for row in rows):
        return True
    names = [row[0] for row in rows]
    of_measures = all(name in _OF_TREC_EVAL or names_a_measure(name) for name in names)
    once = len(rows[0]) == 2 or rows[0][1] == "all" or len(rows) > 1
    return of_measures and once and all(a != b for a, b in pairwise(names))


FORMATS = (
    Format(name="a table of measures (trec_eval, ir_measures)", holds=is_table_of_measures, instead=INSTEAD),
)
