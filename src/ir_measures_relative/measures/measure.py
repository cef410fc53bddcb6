"""A measure: data that ir_measures understands, and one method, :meth:`RelativeMeasure.score`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import ir_measures.measures
import numpy as np
from ir_measures.measures import Measure

from ..context.measure_strings import RELATIVE_TO, nearest_name, param_value
from ..context.tops import Look
from ..data.arrays import FloatArray, ObjectArray
from ..data.documents import Documents
from ..messages import warn
from .bases.gains import Satisfying

if TYPE_CHECKING:
    from ir_measures import CalcResults, Evaluator, Metric

    from ..context.collection import Collection
    from ..context.evaluated import Evaluated
    from ..io.qrels import Qrels
    from ..io.runs import Run
    from .form import Form, Rule

_M = TypeVar("_M", bound="RelativeMeasure")


class Contributions(NamedTuple):
    """The contribution of each judged document to its query's score; see :func:`~ir_measures_relative.explain`."""

    docs: Documents  #: the documents
    gain: FloatArray  #: the gain of the document, before its position counts
    contribution: FloatArray  #: the contributions of a query sum to its score
    #: Further columns of ``explain``: a tuple of names for each document, () for none.
    names: Mapping[str, ObjectArray] = {}


class RelativeMeasure(Measure):  # type: ignore[misc]
    """A measure that scores a run relative to a context.

    A wrong parameter is rejected at once, and inconsistent ones, as in ``NRG(rel=2) @ 10``, when the measure is used.
    """

    PRETTY_NAME: str
    SHORT_DESC: str
    RELATIVE_TO: str  #: one of ``"priors"``, ``"systems"``, ``"reference"``, ``"chance"``
    #: The keys of its papers in ``CITATIONS.bib``, each with the base that it is about; "" for all bases.
    PAPERS: Mapping[str, str] = {}
    FORMULA = ""  #: in LaTeX, for the documentation
    #: What ``base`` may name, where that is a choice; each with ``parameters`` and ``needs_cutoff``.
    BASES: Mapping[str, Any] = {}
    SEE_ALSO: tuple[str, ...] = ()  #: measures to use instead
    TEST = "t"  #: the default test of a difference; ``"bootstrap"`` where it is sparse and skewed
    SIGNED = False  #: whether its sign tells which of two runs is better
    SIMILARITY = False  #: whether identical rankings have the value 1, and not 0 as for a distance
    #: Whether judgments are ``"needed"``, ``"used"`` where there are any, or ``"ignored"``.
    JUDGMENTS = "needed"
    COUNTS = False  #: whether it counts documents or aspects of all grades from ``rel`` on equally
    validated: bool

    # Guess: names of measures. ir_measures registers and writes a measure by its ``__name__``, and supports it by its
    # ``NAME``. Ends with: one of the two in ``ir_measures.Measure``.
    def __init_subclass__(cls) -> None:
        cls.NAME = cls.__dict__.get("__name__", cls.NAME)

    def __init__(self, **params: Any) -> None:
        # numpy's numbers as Python's, which ir_measures can write and read
        super().__init__(**{k: v.item() if isinstance(v, np.generic) else v for k, v in params.items()})
        self._check_values()

    # As of ir_measures' own measures; qrels and run may also be paths of files.

    def evaluator(self, qrels: Qrels) -> Evaluator:
        return super().evaluator(path_if_string(qrels))

    def iter_calc(self, qrels: Qrels, run: Run) -> Iterator[Metric]:
        return super().iter_calc(path_if_string(qrels), run)

    def calc_aggregate(self, qrels: Qrels, run: Run) -> float:
        return super().calc_aggregate(path_if_string(qrels), run)

    def calc(self, qrels: Qrels, run: Run) -> CalcResults:
        return super().calc(path_if_string(qrels), run)

    # Guess: measures equal their strings. ``pt.GridSearch`` keeps values under a measure's string, and looks for them
    # by the measure. Ends with: ``str(metric)`` in ``GridSearch``.
    def __eq__(self, other: object) -> bool:
        """Return whether it is the same measure, or its own string."""
        return str(self) == other if isinstance(other, str) else bool(super().__eq__(other))

    __hash__ = Measure.__hash__  # that of the string

    def __repr__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        """The measure string, cached: hosts read it, and its hash, for every value."""
        return str(super().__repr__())

    @property
    def zero_for_duplicate(self) -> bool:
        """Whether a duplicate of a prior scores 0, so that a score above 0 means that the run adds something."""
        return False

    @property
    def value_range(self) -> tuple[float, float]:
        """The least and the greatest possible value of a query."""
        return -math.inf, math.inf

    @property
    def looks_at_aspects(self) -> bool:
        """Whether it reads the labels of documents for aspects, and not one label a document."""
        return False

    @property
    def asks_for_grades(self) -> tuple[bool, bool]:
        """Whether a value depends on the lowest, and on the highest grade of the whole collection."""
        return False, False

    @cached_property
    def rule(self) -> Rule:
        """The rule of its base, for a measure that has one."""
        raise AttributeError(f"{self!r} has no rule")

    @property
    def highest_grade(self) -> int | None:
        """The highest grade that it has a gain for; None for any."""
        rule = getattr(self, "rule", None)
        return rule.gain.max_grade if rule is not None and isinstance(rule.gain, Satisfying) else None

    @cached_property
    def look(self) -> Look:
        """The part of every ranking that it reads."""
        return Look(self.get("cutoff"), bool(self.get("judged_only", False)))

    @cached_property
    def prior(self) -> str | None:
        """The names or globs of its priors; None for those of the context's policy."""
        return self.get("prior")

    def form(self, run: Evaluated) -> Form:
        """Return the form of the measure for one run. A measure without a form overrides :meth:`score`."""
        raise NotImplementedError

    @property
    def has_form(self) -> bool:
        """Whether :meth:`form` declares the measure, so that all else follows from it."""
        return type(self).form is not RelativeMeasure.form

    def score(self, run: Evaluated) -> FloatArray:
        """Return one value per query, in the order of the judgments."""
        return self.form(run).values()

    def contributions(self, run: Evaluated) -> Contributions:
        """Return the contribution of each document to the score, for a measure that is a sum over documents."""
        if not self.has_form:
            why = "looks at no judgment" if self.JUDGMENTS == "ignored" else "is not a sum over documents"
            raise ValueError(f"{self!r} {why}; explain NRG, UniqueRel, P_Rareness or AP_Rareness")
        form = self.form(run)
        assert isinstance(form.items, Documents)  # other measures override this method
        return Contributions(form.items, *form.contributions())

    def covered_by_runs(self, collection: Collection) -> tuple[FloatArray, FloatArray] | None:
        """Return how far each run covers each item, shape (runs, items), and the items' weights.

        For a measure without a form by which a group of runs covers an item as far as the best of them; else None.
        """
        return None

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a parameter, as ``param_value`` does."""
        return param_value(self, name, default)

    def _check_values(self) -> None:
        """Raise ValueError for an unknown parameter, or a value that is not allowed."""
        for name, value in self.params.items():
            spec = self.SUPPORTED_PARAMS.get(name)
            if spec is None:
                names = list(self.SUPPORTED_PARAMS)
                close = nearest_name(name, names)
                hint = f"; did you mean {close!r}?" if close else ""
                message = (
                    f"{self.NAME} has no parameter {name!r}{hint}; its parameters are {', '.join(names)}"
                )
                raise ValueError(message)
            if not spec.allows(value):
                raise ValueError(
                    f"{self.NAME}: {name}={value!r} is not allowed; it must be {spec.describe()}"
                )

    def validate_params(self) -> None:
        """Raise ValueError for missing or inconsistent parameters; called when the measure is used."""
        if self.validated:
            return
        self._check_values()
        for name, spec in self.SUPPORTED_PARAMS.items():
            if spec.required and name not in self.params:
                example = f"{self.NAME}@10" if name == self.AT_PARAM else f"{self.NAME}({name}=…)"
                raise ValueError(f"{self!r} needs {name}, {spec.describe()}: write {example}")
            bases = bases_with(self, name)
            if name in self.params and bases and self.get("base") not in bases:
                listed = ", ".join(map(repr, bases))
                raise ValueError(f"{self!r}: {name} goes with base {listed}, not {self.get('base')!r}")
        base = self.BASES.get(self.get("base"))
        if base is not None and base.needs_cutoff and self.get("cutoff") is None:
            raise ValueError(f"{self!r} needs a cutoff: write {self!r}@10")
        self.check_together()
        self.validated = True

    def check_together(self) -> None:
        """Raise ValueError if parameters are inconsistent, for a measure with such conditions."""


def bases_with(measure: RelativeMeasure, parameter: str) -> tuple[str, ...]:
    """Return the bases that have a parameter, if others lack it; none if the measure has it for every base."""
    bases = measure.BASES if "base" in measure.SUPPORTED_PARAMS else {}
    return tuple(name for name, base in bases.items() if parameter in base.parameters)


def register(measure: _M, aliases: Sequence[str] = ()) -> _M:
    """Register the measure with ``ir_measures.parse_measure``, also after a reload, and return it.

    A name that another package has taken stays with that package, and draws a warning: ``import pyterrier`` must work.
    """
    kind = type(measure)
    if getattr(kind, "RELATIVE_TO", None) not in RELATIVE_TO:
        raise ValueError(
            f"{kind.__name__} does not say what it is relative to; give the class RELATIVE_TO = one of {RELATIVE_TO}"
        )
    registry = ir_measures.measures.registry
    for name in (measure.NAME, *aliases):
        registered = type(registry.get(name, measure))
        if (registered.__module__, registered.__qualname__) == (kind.__module__, kind.__qualname__):
            registry[name] = measure
        else:
            warn(
                f"ir_measures has a measure {name!r} already, of {registered.__module__}; measure strings mean "
                f"that one; for this one, use the object {kind.__module__.partition('.')[0]}.{name}"
            )
    return measure


# Guess: paths of qrels. A string is a sequence of characters to ir_measures; it hands a ``Path`` on as it is.
# Ends with: paths that its conversion reads.
def path_if_string(qrels: Qrels) -> Qrels:
    """Return the qrels, a string as a path, since ir_measures would iterate over its characters."""
    from pathlib import Path  # importing the package does without it

    return Path(qrels) if isinstance(qrels, str) else qrels


# --- the papers behind the measures, as BibTeX


def citations(measures: Iterable[Measure]) -> list[str]:
    """Return the BibTeX entries of the measures' ``PAPERS``, each once, in the order of the file.

    The paper of a base is cited with that base, and by a bare ``NRG``, which may have any.
    """
    from importlib.resources import files  # which --help does without

    cited = set()
    for measure in measures:
        for key, base in getattr(measure, "PAPERS", {}).items():
            if not measure.params or not base or f"'{base}" in str(measure):
                cited.add(key)
    text = files(__package__).joinpath("CITATIONS.bib").read_text(encoding="utf-8")
    entries = re.finditer(r"^@\w+\{(\w+),.*?^\}$", text, re.MULTILINE | re.DOTALL)
    # A note of how a paper was read is no part of its entry.
    return [re.sub(r",\s*note = \{Read [^}]*\}", "", entry[0]) for entry in entries if entry[1] in cited]
