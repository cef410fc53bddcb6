"""By what options are compared, and how: the arguments of decide, worth and drop, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ir_measures

from ..arguments import check_amount, check_choice, check_count
from ..context.lengths import DocumentLengths, Tokens
from ..context.measure_strings import absolute_measure, is_relative, parse_measure, value_range
from ..context.run_context import RunContext
from ..context.view import check_is_context
from ..further_measures.fusion_gain import cutoff_of
from ..io.runs import Run, read_run
from ..messages import few_quoted
from ..stats.paired_tests import PairedTestOptions
from ..work import Work
from .options import ALL_METHODS, Combination

# Measures of which more is not better, or which do not look at relevance.
_NO_QUALITY = ("Judged", "NumQ", "NumRel", "NumRet")
# Relative measures of what a run adds to others.
_ADDED = ("UniqueRel", "NRG", "FusionGain", "NewAspects", "alpha_NRG")


@dataclass(frozen=True, kw_only=True, eq=False)
class Settings:
    """By what options are compared, and how; :func:`decide` says what each is. Checked by :func:`settings_of`."""

    by: ir_measures.Measure
    margin: float
    how: Combination
    test: PairedTestOptions
    unretrieved_relevant: int | None
    n: int
    work: Work
    groups: Mapping[str, str] | None

    @property
    def ends(self) -> tuple[float, float]:
        """Between which a difference lies."""
        low, high = value_range(self.by)
        return low - high, high - low

    def shown(self) -> dict[str, Any]:
        """What a decision says of it."""
        method = "rerank" if self.how.rerank is not None else self.how.method
        shown = {"by": str(self.by), "method": method, "margin": self.margin}
        return shown | {"confidence": self.test.confidence}


def settings_of(
    context: RunContext,
    by: ir_measures.Measure | str,
    method: str = "rrf",
    margin: float = 0.0,
    *,
    k: int = 60,
    depth: int = 1000,
    rerank: Run | str | None = None,
    pool: int = 100,
    tokens: Tokens | None = None,
    budget: int | None = None,
    groups: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    unretrieved_relevant: int | None = None,
    n: int = 20,
    resamples: int = 9999,
    seed: int = 0,
    time_limit: float | None = 10.0,
) -> Settings:
    """The arguments of :func:`decide`, checked."""
    check_is_context(context)
    measure = _measure(by)
    check_choice("method", method, ALL_METHODS)
    check_amount("margin", margin)
    low, high = value_range(measure)
    if margin >= high - low:
        raise ValueError(f"margin={margin!r} is not allowed; {measure} lies between {low:g} and {high:g}")
    if rerank is None and pool != 100:
        raise ValueError(f"pool={pool!r} is how many documents a reranker gets; set rerank=, or leave it out")
    if rerank is not None:
        for name, value, usual in (("method", method, "rrf"), ("k", k, 60)):
            if value != usual:
                raise ValueError(
                    f"{name}={value!r} does not go with rerank=, which orders the pools of all options; leave it out"
                )
    if tokens is not None and budget is None:
        raise ValueError("tokens= has no effect without a budget=, how many tokens a list may have; set one")
    if k != 60 and method != "rrf":
        raise ValueError(f"k={k!r} goes with method='rrf', not {method!r}; leave it out")
    for name, value, least in (("k", k, 0), ("depth", depth, 1), ("pool", pool, 1), ("n", n, 1)):
        check_count(name, value, least)
    if unretrieved_relevant is not None:
        check_count("unretrieved_relevant", unretrieved_relevant, 0)
    lengths = context.lengths if tokens is None else DocumentLengths(tokens)
    if budget is not None:
        check_count("budget", budget, 1)
        if lengths is None:
            raise ValueError(
                f"budget={budget} needs the lengths of the documents: set tokens=, such as a dict from document id to "
                "its number of tokens"
            )
    scores = None
    if rerank is not None:
        named = isinstance(rerank, str) and rerank in context.runs
        if isinstance(rerank, str) and not named and not Path(rerank).exists():
            raise ValueError(
                f"rerank={rerank!r} is neither a run of the context nor a file; its runs are "
                f"{few_quoted(context.names)}"
            )
        scores = context.runs[str(rerank)] if named else read_run(rerank, "the reranker")
    how = Combination(method, k, depth, cutoff_of(measure), scores, pool, lengths, budget)
    test = PairedTestOptions(confidence=confidence, resamples=resamples, seed=seed)
    return Settings(
        by=measure,
        margin=float(margin),
        how=how,
        test=test,
        unretrieved_relevant=unretrieved_relevant,
        n=n,
        work=Work(time_limit=time_limit),
        groups=groups,
    )


def _measure(by: ir_measures.Measure | str) -> ir_measures.Measure:
    """The measure that decides; ValueError for one that does not say how good a list is."""
    asked = parse_measure(by)
    if is_relative(asked) and asked.NAME not in _ADDED:
        raise ValueError(
            f"by={str(by)!r} depends on other runs or on the whole pool, so it does not say how good a list is by "
            "itself; "
            "set an absolute measure of what the user sees, such as 'nDCG@10'"
        )
    if is_relative(asked):
        raise ValueError(
            f"by={str(by)!r} counts what a run adds to others, and ten more documents nearly always add something; set "
            "an absolute measure of what the user sees, such as 'nDCG@10'"
        )
    measure = absolute_measure(by, "by")
    if measure.NAME in _NO_QUALITY and measure.params.get("rel") is None:
        raise ValueError(
            f"by={str(by)!r} does not say how good a list is; set a measure of which more is better, such as 'nDCG@10'"
        )
    return measure
