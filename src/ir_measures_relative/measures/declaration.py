"""What the declaration of a measure is made of.

A measure is data that ir_measures understands (name, one-line description, typed parameters) plus one method,
:meth:`RelativeMeasure.score`, which reads its parameters, asks the comparison for arrays, and hands both to a pure
function. Adding a measure touches one file, in this folder, and the list of what the package exports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import ir_measures.measures
import numpy as np
from ir_measures.measures import Measure

from ..arrays import FloatArray
from ..messages import warn
from .parameters import MISSING

if TYPE_CHECKING:
    from ir_measures import CalcResults, Evaluator, Metric

    from ..comparison import Comparison, JudgedContext
    from ..extremes.bounding import Labelings
    from ..extremes.model import Model
    from ..io.qrels import Qrels
    from ..io.runs import Run
    from ..judgments import Judgments
    from .browsing import CoverageFunction

#: What a measure may be relative to, in turn the prior runs, all systems, one reference run, a random ranking.
RELATIVE_TO = ("priors", "systems", "reference", "chance")


class Contributions(NamedTuple):
    """What each judged document gives to the score of its query; see :func:`~ir_measures_relative.explain`."""

    docs: Judgments  #: the documents
    gain: FloatArray  #: what finding the document is worth, before its position counts
    contribution: FloatArray  #: what it adds; the contributions of a query sum to its score


class RelativeMeasure(Measure):  # type: ignore[misc]
    """A measure that scores a run relative to a context.

    Unlike ir_measures' own, it refuses a wrong parameter at once and in words. Parameters that do not go together, as
    in ``NRG(rel=2) @ 10``, are refused when it is used: ``NRG(rel=2)(base="P") @ 10`` is made in steps.
    """

    PRETTY_NAME: str
    SHORT_DESC: str
    RELATIVE_TO: str  #: one of ``"priors"``, ``"systems"``, ``"reference"``, ``"chance"``
    FORMULA = ""  #: in LaTeX, for the documentation
    SEE_ALSO: tuple[str, ...] = ()  #: measures that somebody who looks at this one may want instead
    SIGNED = False  #: whether it says by its sign which of two runs is better
    SIMILARITY = False  #: whether it says by 1 that two rankings are alike, where a distance says it by 0
    JUDGMENTS = (
        "needed"  #: whether judgments are ``"needed"``, ``"used"`` where there are any, or ``"ignored"``
    )
    validated: bool

    def __init__(self, **params: Any) -> None:
        # numpy's numbers as Python's, which ir_measures can write and read
        super().__init__(**{k: v.item() if isinstance(v, np.generic) else v for k, v in params.items()})
        self.check_values()

    def evaluator(self, qrels: Qrels) -> Evaluator:
        """As of ir_measures' own measures; ``qrels`` may also be the path of a file."""
        evaluator: Evaluator = super().evaluator(_path_if_string(qrels))
        return evaluator

    def iter_calc(self, qrels: Qrels, run: Run) -> Iterator[Metric]:
        """As of ir_measures' own measures; ``qrels`` and ``run`` may also be paths of files."""
        values: Iterator[Metric] = super().iter_calc(_path_if_string(qrels), run)
        return values

    def calc_aggregate(self, qrels: Qrels, run: Run) -> float:
        """As of ir_measures' own measures; ``qrels`` and ``run`` may also be paths of files."""
        value: float = super().calc_aggregate(_path_if_string(qrels), run)
        return value

    def calc(self, qrels: Qrels, run: Run) -> CalcResults:
        """As of ir_measures' own measures; ``qrels`` and ``run`` may also be paths of files."""
        results: CalcResults = super().calc(_path_if_string(qrels), run)
        return results

    def __eq__(self, other: object) -> bool:
        """Also equal to its own string, under which ``pt.GridSearch`` keeps its values and looks for it itself."""
        return str(self) == other if isinstance(other, str) else bool(super().__eq__(other))

    __hash__ = Measure.__hash__  # that of the string

    @property
    def needs_context(self) -> bool:
        """Whether an evaluator without an active RunContext is an error."""
        return self.RELATIVE_TO != "chance"

    @property
    def is_0_for_a_copy(self) -> bool:
        """Whether a run that ranks as a prior does scores 0, so that to be above 0 is to add something."""
        return False

    @property
    def asks_for_grades(self) -> tuple[bool, bool]:
        """Whether a value depends on the lowest, and on the highest grade of the whole collection."""
        return False, False

    def score(self, comparison: Comparison) -> FloatArray:
        """One value a query, in the order of ``comparison.judgments.query_ids``."""
        raise NotImplementedError

    def contributions(self, comparison: Comparison) -> Contributions:
        """What each document gives to the score, for a measure that is a sum over documents."""
        why = "looks at no judgment" if self.JUDGMENTS == "ignored" else "is not a sum over documents"
        raise ValueError(
            f"{self!r} {why}, so it cannot be explained document by document; explain NRG, UniqueRel, P_Rareness or "
            "AP_Rareness"
        )

    def bounded(self, labelings: Labelings) -> Model:
        """How the measure depends on the labels of the open documents, for ``bounds``, ``verdicts`` and ``judge_next``.

        A measure that can be bounded chooses one of the kinds of measures that ``labelings`` offers, such as
        :meth:`.Labelings.additive`, and says what its documents weigh.

        Raises:
            NotImplementedError: the measure does not say how.
            ValueError: it cannot be bounded with these parameters; says why.
        """
        if self.JUDGMENTS == "ignored":
            raise ValueError(f"{self} looks at no judgment, so that none can change it; leave it out")
        raise NotImplementedError

    def coverage(self, judged: JudgedContext) -> CoverageFunction | None:
        """What groups of the context's runs are worth, for a measure of what a run adds to its priors."""
        return None

    def get(self, name: str) -> Any:
        """The value of a parameter: as given, else its default, else None."""
        value = self[name]
        return None if value is MISSING else value

    def check_values(self) -> None:
        """Raises ValueError for an unknown parameter or a value that is not allowed, saying what is."""
        for name, value in self.params.items():
            spec = self.SUPPORTED_PARAMS.get(name)
            if spec is None:
                known = ", ".join(self.SUPPORTED_PARAMS)
                import difflib

                close = difflib.get_close_matches(name, self.SUPPORTED_PARAMS, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                raise ValueError(f"{self.NAME} has no parameter {name!r}{hint}; its parameters are {known}")
            if not spec.allows(value):
                raise ValueError(
                    f"{self.NAME}: {name}={value!r} is not allowed; it must be {spec.describe()}"
                )

    def validate_params(self) -> None:
        """Raises ValueError for parameters that are missing or do not go together.

        ir_measures calls it when a measure is used, since a measure such as ``NRG(base='P')`` may yet get its
        ``@k``; so does :meth:`RunContext.evaluate`.
        """
        if self.validated:
            return
        self.check_values()
        for name, spec in self.SUPPORTED_PARAMS.items():
            if spec.required and name not in self.params:
                example = f"{self.NAME}@10" if name == self.AT_PARAM else f"{self.NAME}({name}=…)"
                raise ValueError(f"{self!r} needs {name}, {spec.describe()}: write {example}")
            if name in self.params and spec.bases is not None and self.get("base") not in spec.bases:
                raise ValueError(
                    f"{self!r}: {name} goes with base {', '.join(map(repr, spec.bases))}, not {self.get('base')!r}"
                )
        self.check_together()
        self.validated = True

    def check_together(self) -> None:
        """For a measure with conditions that span several parameters: raises ValueError where one fails."""


def register(measure: RelativeMeasure, aliases: Sequence[str] = ()) -> None:
    """Makes the measure known to ``ir_measures.parse_measure``; again, after its module was reloaded.

    A name that another package has taken stays with that package, and draws a warning: nothing that a plug-in
    registers may keep ``import pyterrier`` from working.

    Raises:
        ValueError: a measure that does not say what it is relative to.
    """
    kind = type(measure)
    if getattr(kind, "RELATIVE_TO", None) not in RELATIVE_TO:
        raise ValueError(
            f"{kind.__name__} does not say what it is relative to; give the class RELATIVE_TO = one of {RELATIVE_TO}"
        )
    registry = ir_measures.measures.registry
    for name in (measure.NAME, *aliases):
        known = type(registry.get(name, measure))
        if (known.__module__, known.__qualname__) == (kind.__module__, kind.__qualname__):
            registry[name] = measure
        else:
            warn(
                f"ir_measures has a measure {name!r} already, of {known.__module__}; measure strings mean that one, "
                f"and this package's is there as an object, {kind.__module__.partition('.')[0]}.{name}"
            )


def _path_if_string(qrels: Qrels) -> Qrels:
    """The qrels, in a form that ir_measures hands on as it is: it iterates over the characters of a string."""
    if not isinstance(qrels, str):
        return qrels
    from pathlib import Path

    return Path(qrels)


def is_relative(measure: object) -> TypeGuard[RelativeMeasure]:
    """Whether a measure is one of this package's, or of another that builds on it; also after a reload."""
    return isinstance(measure, Measure) and getattr(measure, "RELATIVE_TO", None) in RELATIVE_TO


def registered() -> dict[str, RelativeMeasure]:
    """The measures of this package, and those of others that build on it, by name; aliases left out."""
    registry = ir_measures.measures.registry
    return {name: m for name, m in registry.items() if is_relative(m) and name == m.NAME}


def parse_measures(measures: Sequence[Measure | str]) -> list[Measure]:
    """The measures, each once, with their parameters checked.

    Raises:
        ValueError: no measure, a string that is not one, or a parameter that is not allowed.
    """
    if isinstance(measures, (str, Measure)):
        raise ValueError(
            f"measures={shown(measures)} must be a list of measures, such as [{shown(measures)}]"
        )
    parsed: list[Measure] = []
    for measure in measures:
        one = parse_measure(measure)
        if one not in parsed:
            parsed.append(one)
    if not parsed:
        raise ValueError("no measure is given; name one, such as NRG@10")
    return parsed


def parse_measure(measure: Measure | str) -> Measure:
    """The measure that an object or a string stands for, with its parameters checked.

    Raises:
        ValueError: a string that is not a measure, with the nearest name; or a parameter that is not allowed.
    """
    if not isinstance(measure, (str, Measure)):
        raise ValueError(f"{measure!r} is not a measure; give one such as NRG@10, or a measure string")
    if isinstance(measure, str):
        _check_name(measure)
    try:
        one = ir_measures.parse_measure(measure)
        one.validate_params()
    except (
        NameError,
        AssertionError,
        TypeError,
        AttributeError,
        SyntaxError,
        RecursionError,
        MemoryError,
    ) as error:
        raise ValueError(_what_is_wrong(measure, str(error) or type(error).__name__)) from None
    except ValueError as error:
        message = str(error)
        raise ValueError(message if str(measure) in message else _what_is_wrong(measure, message)) from None
    if not is_relative(one):
        _check_host_measure(one)
    return one


def nearest_name(name: str, names: Sequence[str]) -> str | None:
    """The one of the names that looks most like this one, whatever the case of the letters; None where none does.

    >>> nearest_name("ndgc", ["AP", "nDCG", "NRG"])
    'nDCG'
    >>> nearest_name("foo", ["AP", "nDCG", "NRG"])
    """
    import difflib

    lower = [n.lower() for n in names]
    near = difflib.get_close_matches(name.lower(), lower, n=1)
    return names[lower.index(near[0])] if near else None


def no_such_measure(name: str, names: Sequence[str], rest: str = "") -> str:
    """That no measure has this name, and which of those there are is meant; ``rest`` is what followed the name.

    >>> no_such_measure("NGR", ["AP", "NRG"])
    "no measure is called 'NGR'; the nearest is 'NRG'"
    >>> no_such_measure("foo", ["NRG", "AP"])
    "no measure is called 'foo'; there are AP, NRG"
    """
    nearest = nearest_name(name, names)
    if nearest is None:
        return f"no measure is called {name!r}; there are {', '.join(sorted(names, key=str.lower))}"
    whole = f", that is {nearest}{rest}" if rest else ""
    return f"no measure is called {name!r}; the nearest is {nearest!r}{whole}"


def _check_name(text: str) -> None:
    """Raises ValueError where the string starts with the name of no measure; says which is nearest."""
    match = re.match(r"\w*", text[:_LONGEST])
    name = match[0] if match else ""
    registry = ir_measures.measures.registry
    if len(text) <= _LONGEST and (not name or name in registry):
        return
    if not name or len(text) > _LONGEST:
        raise ValueError(
            f"{shown(text)} is not a measure; give one such as NRG@10, nDCG@10 or MED(base='AP')@10"
        )
    raise ValueError(f"{text!r}: {no_such_measure(name, list(registry), text[len(name) :])}")


_LONGEST = 10_000  # characters of a measure string; ast.parse runs out of stack on some that are longer


def shown(measure: object) -> str:
    """A measure in a message: cut where it is very long."""
    text = repr(measure)
    return text if len(text) <= 200 else f"{text[:100]}… ({len(text)} characters)"


def _what_is_wrong(measure: object, message: str) -> str:
    """What ir_measures says of a measure, in words that name it."""
    text = str(measure)
    message = re.sub(r"invalid param (\w+)=<object.*", r"it needs the parameter \1", message)
    if message.endswith(" cutoff"):
        message += f": write {text}@10"
    return f"{shown(text)}: {message}"


_LARGEST_INT = 2**31 - 1


def _check_host_measure(measure: Measure) -> None:
    """Raises ValueError for what trec_eval takes the whole process down for, or cannot count."""
    cutoff, rel = measure.params.get("cutoff"), measure.params.get("rel")
    if isinstance(cutoff, int) and not 1 <= cutoff <= _LARGEST_INT:
        raise ValueError(f"{measure}: cutoff={cutoff} is not allowed; it must be from 1 to 2^31 - 1")
    if isinstance(rel, int) and not 1 <= rel <= _LARGEST_INT:
        raise ValueError(f"{measure}: rel={rel} is not allowed; it must be from 1 to 2^31 - 1")
    gains = measure.params.get("gains")
    if isinstance(gains, dict) and any(isinstance(n, int) and abs(n) > _LARGEST_INT for n in gains.values()):
        raise ValueError(f"{measure}: gains={gains} is not allowed; the gains must be below 2^31 in size")


def needs_subtopics(measure: Measure) -> bool:
    """Whether a measure of ir_measures rates diversity, by subtopics that stand in the qrels' iteration column."""
    return bool(ir_measures.providers.registry["pyndeval"].supports(measure))
