"""The provider for ir_measures; the evaluator is imported when there is something to evaluate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import ir_measures
from ir_measures.providers import Evaluator, Provider, registry

from ..context.measure_strings import is_relative, registered
from ..measures.measure import RelativeMeasure
from ..messages import warn
from . import compat


class RelativeProvider(Provider):  # type: ignore[misc]
    """Provider of the measures of this package, which are relative to the active :class:`RunContext`."""

    NAME = "relative"
    PRIORITY = compat.PRIORITY

    @property
    def SUPPORTED_MEASURES(self) -> list[RelativeMeasure]:
        """The registered measures."""
        return list(registered().values())

    def supports(self, measure: ir_measures.Measure) -> bool:
        """Return whether a measure is one of this package, or an :class:`Answered` one."""
        measure.validate_params()
        return is_relative(measure) or isinstance(measure, Answered)

    def run_inputs(self, measures: Iterable[RelativeMeasure]) -> list[str]:
        """Return the columns of a run that the measures need; raise ValueError if PyTerrier asks without a context.

        PyTerrier asks before it retrieves, unless ``validate="ignore"``: nothing else is called in time.
        """
        answered = next((m for m in measures if isinstance(m, Answered)), None)
        if answered is not None:
            return list(answered.inputs)
        if compat.asked_by_pyterrier():
            from .evaluator import check_context

            check_context(measures)
        return super().run_inputs(measures)

    def _evaluator(self, measures: Iterable[RelativeMeasure], qrels: Any) -> Evaluator:
        from .evaluator import RelativeEvaluator

        answered = next((m for m in measures if isinstance(m, Answered)), None)
        return (
            RelativeEvaluator(list(measures), qrels)
            if answered is None
            else _AnswerEvaluator(answered, qrels)
        )


#: A function from the host's judgments and run to the values of several measures.
Answer: TypeAlias = Callable[[Any, Any], Iterable[ir_measures.Metric]]


class Answered(ir_measures.Measure):  # type: ignore[misc]
    """A measure, under any name, whose values are known already: it passes them to ``pt.Experiment``."""

    NAME = "answered"  # not the name of any provider's measure

    def __init__(self, name: str, answer: Answer, inputs: Iterable[str] = ()) -> None:
        super().__init__()
        self._name, self.answer, self.inputs = name, answer, inputs

    def __repr__(self) -> str:
        return self._name

    __str__ = __repr__

    def __hash__(self) -> int:
        return hash(self._name)


class _AnswerEvaluator(Evaluator):  # type: ignore[misc]
    def __init__(self, measure: Answered, qrels: Any) -> None:
        super().__init__([measure], ())
        self._qrels = qrels

    def iter_calc(self, run: Any) -> Iterator[ir_measures.Metric]:
        yield from self.measures[0].answer(self._qrels, run)


#: The one provider; :func:`registered_provider` makes it known to ir_measures.
relative = RelativeProvider()


def registered_provider() -> RelativeProvider:
    """Register the provider with ir_measures, in its registry and its default pipeline; may be called again."""
    existing = registry.get(relative.NAME, relative)
    if _is_ours(existing):
        registry[relative.NAME] = relative
    else:
        warn(
            f"ir_measures has a provider {relative.NAME!r} of {type(existing).__module__} already, which stays: give "
            "that one another name"
        )
    providers = compat.default_providers()
    providers[:] = [*(p for p in providers if not _is_ours(p)), relative]
    return relative


def _is_ours(provider: Provider) -> bool:
    """Return whether a provider is from this module, also from before a reload."""
    return type(provider).__module__ == __name__
