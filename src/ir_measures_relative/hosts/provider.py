"""ir_measures' door: its Provider. What evaluates is imported when there is something to evaluate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import ir_measures
from ir_measures.providers import Provider, registry

from ..context.measure_strings import is_relative, registered
from ..measures.measure import RelativeMeasure
from ..messages import warn
from . import compat

if TYPE_CHECKING:
    from .evaluator import RelativeEvaluator


class RelativeProvider(Provider):  # type: ignore[misc]
    """Computes the measures of this package, relative to the active :class:`RunContext`."""

    NAME = "relative"
    PRIORITY = compat.PRIORITY

    @property
    def SUPPORTED_MEASURES(self) -> list[RelativeMeasure]:
        """The measures that are registered."""
        return list(registered().values())

    def supports(self, measure: ir_measures.Measure) -> bool:
        """Whether it is a measure of this package."""
        measure.validate_params()
        return is_relative(measure)

    def run_inputs(self, measures: Iterable[RelativeMeasure]) -> list[str]:
        """The columns of a run that the measures need.

        ``pt.Experiment`` asks for them before it retrieves, unless it is told ``validate="ignore"``. It offers no other
        place to say in time that no context is active. Whoever else asks gets the columns.

        Raises:
            ValueError: ``pt.Experiment`` asks, a measure needs a context, and there is none.
        """
        if compat.asked_by_pyterrier():
            from .evaluator import check_context

            check_context(measures)
        columns: list[str] = super().run_inputs(measures)
        return columns

    def _evaluator(self, measures: Iterable[RelativeMeasure], qrels: Any) -> RelativeEvaluator:
        from .evaluator import RelativeEvaluator

        return RelativeEvaluator(list(measures), qrels)


#: The one provider; :func:`registered_provider` makes it known to ir_measures.
relative = RelativeProvider()


def registered_provider() -> RelativeProvider:
    """The provider, known to ir_measures: in its registry, and in its default pipeline once there is one.

    May be called any number of times, after a reload too, and while ir_measures itself is still being imported.
    """
    known = registry.get(relative.NAME, relative)
    if _is_ours(known):
        registry[relative.NAME] = relative
    else:
        warn(
            f"ir_measures has a provider {relative.NAME!r} already, of {type(known).__module__}; its registry keeps "
            "that one, and its default pipeline has this package's as well"
        )
    providers = compat.default_providers()
    providers[:] = [*(p for p in providers if not _is_ours(p)), relative]
    return relative


def _is_ours(provider: Provider) -> bool:
    """Whether it is a :class:`RelativeProvider`, also one from before the module was reloaded."""
    kind = type(provider)
    return (kind.__module__, kind.__qualname__) == (__name__, RelativeProvider.__qualname__)
