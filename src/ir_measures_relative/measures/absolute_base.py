"""What the measures share that take another one, of a run on its own, for their base."""

from __future__ import annotations

from typing import Any

import ir_measures

from .declaration import RelativeMeasure
from .parameters import Param
from .strings import needs_subtopics, parse_measure, shown


def base(desc: str) -> Param:
    """The measure that a relative one is made of: ``base``."""
    return Param(
        str,
        desc,
        default="nDCG@10",
        test=lambda s: bool(s.strip()),
        allowed="a measure string, such as 'nDCG@10'",
    )


class OfAbsoluteBase(RelativeMeasure):
    """A measure whose parameter ``base`` is a measure of ir_measures, as a string; the cutoff is the base's."""

    def __init__(self, **params: Any) -> None:
        if isinstance(params.get("base"), ir_measures.Measure):
            params["base"] = str(params["base"])
        if "cutoff" in params:
            raise ValueError(
                f"{self.NAME} has no cutoff; give it to the base: {self.NAME}(base='nDCG@{params['cutoff']}')"
            )
        super().__init__(**params)

    def check_together(self) -> None:
        self.base_measure()

    def base_measure(self) -> ir_measures.Measure:
        """The base measure.

        Raises:
            ValueError: a string that is not a measure, or one that ir_measures cannot compute on a run alone.
        """
        return absolute_measure(self.get("base"), f"{self.NAME}: base")


def absolute_measure(name: ir_measures.Measure | str, what: str = "measure") -> ir_measures.Measure:
    """A measure of a run on its own.

    Args:
        what: what messages call it.

    Raises:
        ValueError: a string that is not a measure, or one that ir_measures cannot compute on a run alone.
    """
    try:
        measure = parse_measure(name)
    except ValueError as error:
        raise ValueError(
            f"{what}={shown(name)} is not a measure: {error}; give one that ir_measures knows, such as 'nDCG@10'"
        ) from None
    if isinstance(measure, RelativeMeasure):
        raise ValueError(
            f"{what}={shown(name)} is itself relative to other runs; give a measure of one run, such as 'nDCG@10'"
        )
    if needs_subtopics(measure):
        raise ValueError(
            f"{what}={shown(name)} needs the subtopics of the qrels, which a context does not keep; give a measure "
            "that looks at relevance alone, such as 'nDCG@10'"
        )
    if not any(provider.supports(measure) for provider in ir_measures.DefaultPipeline.providers):
        raise ValueError(
            f"{what}={shown(name)}: no provider of ir_measures computes it; are its parameters right?"
        )
    return measure
