"""What the command computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ir_measures

from ..arrays import FloatArray
from ..comparison import judged_context
from ..context import RunContext
from ..measures.absolute import host_evaluator, host_values
from ..measures.strings import is_relative
from ..rankings import Rankings
from ..scoring import Scores, score_runs
from .inputs import Judged


def score(
    context: RunContext,
    names: Sequence[str],
    measures: Sequence[ir_measures.Measure],
    qrels: Judged,
    provider: Any,
) -> Scores:
    """The values of the runs; those of ir_measures by its provider, which also gets the qrels' iterations."""
    judged = judged_context(context, qrels.columns)
    host = [m for m in measures if not is_relative(m)]
    evaluator = host_evaluator(provider, host, list(qrels.as_ir_measures())) if host else None

    def absolute(measures: Sequence[ir_measures.Measure], rankings: Rankings) -> FloatArray:
        return host_values(evaluator, measures, rankings, judged.judgments)

    return score_runs(judged, names, measures, absolute=absolute)
