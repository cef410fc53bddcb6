"""Files of measures, such as trec_eval's output: they are recognized to be rejected, as they hold no rankings."""

from __future__ import annotations

import re
from itertools import islice, pairwise

from ..io.frames import has_known_columns
from .content import Content, Format, add_formats

_OF_A_MEASURE = re.compile(
    r"((alpha_|main_|geometric_|gm_|set_|i?11pt_)*"
    r"(n?dcg|m?ap|infap|m?rr|recip_rank|recall|precision|p|f1|hits?|hit_rate|r_?prec|r_cap|hole|bpref|success|judged|err|"
    r"rbp|iprec_at_recall|avg|accuracy|unj|num_?(q|ret|rel|rel_ret)|score)|"
    r"(context|answer|response|citation|factual|semantic)_(recall|precision|relevanc[ey]|correctness|similarity|accuracy)|"
    r"faithfulness|groundedness|hallucination|runid|relstring|utility)([@_(].*)?",
    re.IGNORECASE,
)
#: What to give in place of measures.
INSTEAD = "give the file of the rankings, not of their scores"


def names_a_measure(name: str) -> bool:
    """Whether it is what some program calls a measure."""
    return _OF_A_MEASURE.fullmatch(name) is not None


def has_measures(content: Content) -> bool:
    """Whether the JSON has the values of measures anywhere, as MTEB's results have deep inside."""
    names = re.findall(r'"([^"\\\n]+)": *[-0-9]', content.start.decode("utf-8", "replace"))
    return any(names_a_measure(name) for name in names if name.lower() not in ("score", "hits", "p"))


def is_table_of_measures(content: Content) -> bool:
    """Whether a text is the output of trec_eval or ir_measures, or a table of their measures."""
    lines = filter(str.strip, content.start.decode("utf-8", "replace").split("\n"))
    rows = [re.split(r"\s*[\t,]\s*", line.strip()) for line in islice(lines, 20)]
    names = [row[0] for row in rows]
    if not rows or has_known_columns(content.header):
        return False
    if all(map(names_a_measure, rows[0][1:])):  # the first is the name of a run
        return len(rows[0]) > 1
    if all(len(row) == 3 and "@" in row[1] for row in rows) and any(names_a_measure(row[1]) for row in rows):
        return True  # ir_measures' values by topic: topic, measure, value
    is_list = {len(row) for row in rows} <= {2, 3} and (len(rows) > 1 or rows[0][1] in ("all", rows[0][-1]))
    return is_list and all(map(names_a_measure, names)) and all(a != b for a, b in pairwise(names))


add_formats(
    "measures",
    Format(name="a table of measures (trec_eval, ir_measures)", holds=is_table_of_measures, instead=INSTEAD),
)
