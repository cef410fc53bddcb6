"""The parameters of measures: what each is called, what it allows, what it means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ir_measures.measures import ParamInfo

from ..context.measure_strings import MISSING


class Param(ParamInfo):  # type: ignore[misc]
    """A parameter of a measure; ``allowed`` says in words which values pass ``test``. An int is taken as a float."""

    def __init__(
        self,
        dtype: type,
        desc: str,
        *,
        test: Callable[[Any], bool] | None = None,
        allowed: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(dtype=dtype, desc=desc, **options)
        self.test = test
        self.allowed = allowed

    def allows(self, value: Any) -> bool:
        """Return whether the parameter may have this value."""
        if self.choices is not MISSING:
            return any(type(value) is type(choice) and value == choice for choice in self.choices)
        if isinstance(value, bool) and self.dtype is not bool:
            return False
        kinds = (int, float) if self.dtype is float else self.dtype
        if not isinstance(value, kinds):
            return False
        return self.test is None or self.test(value)

    def validate(self, value: Any) -> bool:
        return not self.required if value is MISSING else self.allows(value)

    def describe(self) -> str:
        """Return the allowed values in words."""
        if self.choices is not MISSING:
            return "one of " + ", ".join(map(repr, self.choices))
        return self.allowed or ("True or False" if self.dtype is bool else f"of type {self.dtype.__name__}")


def pick(params: Mapping[str, Param], *names: str) -> dict[str, Param]:
    """Return some of a measure's parameters, for a measure that extends it."""
    return {name: params[name] for name in names}


# Parameters that several measures share, with the names and meanings that ir_measures gives them.
def cutoff(*, required: bool = False) -> Param:
    return count("ranking cutoff, for the evaluated run and the context's runs alike", required=required)


def count(desc: str, least: int = 1, **options: Any) -> Param:
    allowed = f"a whole number of at least {least} and below 2^31"
    return Param(int, desc, test=lambda n: least <= n < 2**31, allowed=allowed, **options)


def grade(desc: str, **options: Any) -> Param:
    return Param(int, desc, test=lambda g: g >= 1, allowed="a whole number of at least 1", **options)


def rel() -> Param:
    return grade("minimum relevance score to be considered relevant (inclusive)", default=1)


def judged_only() -> Param:
    return Param(bool, "ignore returned documents that do not have relevance judgments", default=False)


def dcg(default: str = "log2") -> Param:
    return Param(
        str,
        "DCG formulation: the gain is the label ('log2') or 2^label - 1 ('exp-log2')",
        default=default,
        choices=("log2", "exp-log2"),
    )


def gains(use: str = "applied to the label before dcg") -> Param:
    return Param(
        dict,
        f"custom gain mapping (int-to-int), {use}; labels below 0 are not in ir_measures' grammar of strings",
        test=lambda g: all(_is_int(a) and _is_int(b) for a, b in g.items()),
        allowed="a dict from int to int, such as {1: 1, 2: 3}",
    )


def prior() -> Param:
    return Param(
        str,
        "the prior runs, by name or glob; the context's policy if not given",
        test=lambda s: any(part.strip() for part in s.split(",")),
        allowed="names or globs separated by commas, such as 'ANCE,SPLADE*'",
    )


def ref() -> Param:
    return Param(
        str,
        "the name of the reference run; the context's reference if not given, else the only other run",
        test=bool,  # a run may have a blank name
        allowed="the name of a run of the context",
    )


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31


def persistence(default: float = 0.8, of: str = "RBP") -> Param:
    return Param(
        float,
        f"persistence of {of}",
        default=default,
        test=lambda p: 0 < p < 1,
        allowed="a number between 0 and 1, both excluded",
    )


def err_max_grade() -> Param:
    return Param(
        int,
        "the highest grade that a document may have, which satisfies with the chance (2^max_grade - 1) / 2^max_grade",
        default=4,  # gdeval's
        test=lambda g: 1 <= g <= 1000,
        allowed="a whole number from 1 to 1000",
    )
