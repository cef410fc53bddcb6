"""What the declaration of a measure is made of.

A measure is data that ir_measures understands (name, one-line description, typed parameters) plus one method,
:meth:`RelativeMeasure.score`, which reads its parameters, asks the comparison for arrays, and hands both to a pure
function. Adding a measure touches one file: write it in this folder and register it there.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import ir_measures.measures
import numpy as np
from ir_measures.measures import Measure, ParamInfo

from ..judgments import FloatArray, Judgments

if TYPE_CHECKING:
    from ..comparison import Comparison

_MISSING: Any = ParamInfo().default  # ir_measures' mark of a parameter that was not given


class Param(ParamInfo):  # type: ignore[misc]
    """A parameter of a measure, which knows how to say what it allows.

    Args:
        dtype: its type; an int is taken wherever a float is.
        desc: one line for the reference.
        default: its value where none is given.
        choices: the values it may take.
        test: whether a value is allowed; ``allowed`` says in words which are.
        bases: the values of ``base`` that have this parameter; None is all of them.
    """

    def __init__(
        self,
        dtype: type,
        desc: str,
        *,
        default: Any = _MISSING,
        choices: Sequence[Any] = _MISSING,
        test: Callable[[Any], bool] | None = None,
        allowed: str | None = None,
        required: bool = False,
        bases: Sequence[str] | None = None,
    ) -> None:
        super().__init__(dtype=dtype, required=required, choices=choices, default=default, desc=desc)
        self.test = test
        self.allowed = allowed
        self.bases = bases

    def allows(self, value: Any) -> bool:
        """Whether the parameter may have this value."""
        if isinstance(value, bool) and self.dtype is not bool:
            return False
        kinds = (int, float) if self.dtype is float else self.dtype
        if not isinstance(value, kinds):
            return False
        if self.choices is not _MISSING:
            return value in self.choices
        return self.test is None or self.test(value)

    def validate(self, value: Any) -> bool:
        return not self.required if value is _MISSING else self.allows(value)

    def describe(self) -> str:
        """What is allowed, in words."""
        if self.choices is not _MISSING:
            return "one of " + ", ".join(map(repr, self.choices))
        return self.allowed or {int: "an int", float: "a number", bool: "True or False", str: "a string"}.get(
            self.dtype, f"a {self.dtype.__name__}"
        )


# Parameters that several measures share, with the names and meanings that ir_measures gives them.
def cutoff(*, required: bool = False) -> Param:
    """``@k``."""
    return Param(
        int,
        "ranking cutoff threshold, for the evaluated run and the context's runs alike",
        required=required,
        test=lambda k: 1 <= k < 2**31,
        allowed="a whole number of at least 1",
    )


def rel(bases: Sequence[str] | None = None) -> Param:
    """``rel``."""
    return Param(
        int,
        "minimum relevance score to be considered relevant (inclusive)",
        default=1,
        test=lambda r: r >= 1,
        allowed="a whole number of at least 1",
        bases=bases,
    )


def judged_only() -> Param:
    """``judged_only``."""
    return Param(bool, "ignore returned documents that do not have relevance judgments", default=False)


def dcg(default: str = "log2", bases: Sequence[str] | None = None) -> Param:
    """``dcg``."""
    return Param(
        str,
        "DCG formulation: the gain is the label ('log2') or 2^label - 1 ('exp-log2')",
        default=default,
        choices=("log2", "exp-log2"),
        bases=bases,
    )


def gains(bases: Sequence[str] | None = None) -> Param:
    """``gains``."""
    return Param(
        dict,
        "custom gain mapping (int-to-int), applied to the label before dcg",
        test=lambda g: all(_is_int(a) and _is_int(b) for a, b in g.items()),
        allowed="a dict from int to int, such as {1: 1, 2: 3}",
        bases=bases,
    )


def prior() -> Param:
    """``prior``."""
    return Param(
        str,
        "the prior runs, by name or glob, separated by commas, such as 'ANCE,SPLADE*'; the context's policy if "
        "not given",
        test=lambda s: any(part.strip() for part in s.split(",")),
        allowed="names or globs separated by commas, such as 'ANCE,SPLADE*'",
    )


def ref() -> Param:
    """``ref``."""
    return Param(
        str,
        "the name of the reference run; the context's reference if not given, else the only other run",
        test=lambda s: bool(s.strip()),
        allowed="the name of a run of the context",
    )


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31


class Contributions(NamedTuple):
    """What each judged document gives to the score of its query; see ``RunContext.explain``."""

    docs: Judgments
    gain: FloatArray  #: what finding the document is worth, before its position counts
    contribution: FloatArray  #: what it adds; the contributions of a query sum to its score


class RelativeMeasure(Measure):  # type: ignore[misc]
    """A measure that scores a run relative to a context.

    Unlike ir_measures' own, it refuses a wrong parameter at once and in words.
    """

    PRETTY_NAME: str
    SHORT_DESC: str
    validated: bool
    SIGNED = False  #: whether it says by its sign which of two runs is better
    NEEDS_CONTEXT = True  #: whether an evaluator without an active RunContext is an error

    def __init__(self, **params: Any) -> None:
        # numpy's numbers as Python's, which ir_measures can write and read
        super().__init__(**{k: v.item() if isinstance(v, np.generic) else v for k, v in params.items()})
        self.check_values()

    def __eq__(self, other: object) -> bool:
        """Also equal to its own string, under which ``pt.GridSearch`` keeps its values and looks for it itself."""
        return str(self) == other if isinstance(other, str) else bool(super().__eq__(other))

    __hash__ = Measure.__hash__  # that of the string

    def score(self, comparison: Comparison) -> FloatArray:
        """One value a query, in the order of ``comparison.judgments.query_ids``."""
        raise NotImplementedError

    def contributions(self, comparison: Comparison) -> Contributions:
        """What each document gives to the score, for a measure that is a sum over documents."""
        raise ValueError(
            f"{self!r} is no sum over documents, so it cannot be explained document by document; explain NRG, "
            "UniqueRel, P_Rareness or AP_Rareness"
        )

    def get(self, name: str) -> Any:
        """The value of a parameter: as given, else its default, else None."""
        value = self[name]
        return None if value is _MISSING else value

    def check_values(self) -> None:
        """Raises ValueError for an unknown parameter or a value that is not allowed, saying what is."""
        for name, value in self.params.items():
            spec = self.SUPPORTED_PARAMS.get(name)
            if spec is None:
                known = ", ".join(self.SUPPORTED_PARAMS)
                close = difflib.get_close_matches(name, self.SUPPORTED_PARAMS, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                raise ValueError(f"{self.NAME} has no parameter {name!r}{hint}; its parameters are {known}")
            if not spec.allows(value):
                raise ValueError(f"{self.NAME}: {name}={value!r} is not allowed; it must be {spec.describe()}")

    def validate_params(self) -> None:
        """Raises ValueError for parameters that are missing or do not go together."""
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
    """Makes the measure known to ``ir_measures.parse_measure``."""
    ir_measures.measures.register(measure, list(aliases))
