"""Policies for which runs of a context are the priors of which.

A new policy is a :class:`PriorPolicy`, here or anywhere; :data:`POLICIES` has those with a name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from types import SimpleNamespace
from typing import Any, Protocol, TypeAlias

import ir_measures

from ..arguments import check_names
from ..data.registry import Registry
from ..messages import few_quoted
from ..tolerances import ROUNDED
from .measure_strings import absolute_measure


class Systems(Protocol):
    """The runs that a policy chooses from."""

    @property
    def names(self) -> Sequence[str]:
        """The runs, in their order."""

    @property
    def groups(self) -> Mapping[str, str]:
        """From run name to group name."""

    def means(self, measure: ir_measures.Measure) -> Mapping[str, float]:
        """Return the mean over all queries of an absolute measure, for every run."""


class PriorPolicy:
    """A policy for which runs a user has seen before another, as :class:`RunContext` takes it for ``priors``.

    A policy that uses groups may also have a method ``priors_of_new_run(systems, group)``: the names of the priors
    of a new run of a group, which may be a new group.
    """

    needs_order = False  #: whether the order of the runs matters; runs in a Dask DataFrame have none
    needs_groups = False  #: whether the groups of the runs matter

    def priors_of(self, systems: Systems, name: str | None) -> Collection[str]:
        """Return the names of the priors of a run; None is a new run. The run itself may be among them."""
        raise NotImplementedError

    def check(self, names: Sequence[str], groups: Mapping[str, str]) -> None:
        """Raise ValueError if a context of these runs and groups cannot have this policy."""


@dataclass(frozen=True)
class Others(PriorPolicy):
    """All other runs."""

    def priors_of(self, systems: Systems, name: str | None) -> Collection[str]:
        return systems.names


@dataclass(frozen=True)
class Earlier(PriorPolicy):
    """The runs given before each run: the order of the runs is their history. For a new run, all runs."""

    needs_order = True

    def priors_of(self, systems: Systems, name: str | None) -> Collection[str]:
        names = systems.names
        return names if name is None else names[: names.index(name)]


@dataclass(frozen=True)
class FixedPriors(PriorPolicy):
    """The same runs for every run, new runs too."""

    priors: tuple[str, ...]

    def priors_of(self, systems: Systems, name: str | None) -> Collection[str]:
        return self.priors

    def check(self, names: Sequence[str], groups: Mapping[str, str]) -> None:
        check_names("priors", self.priors, names)


@dataclass(frozen=True)
class PriorsByRun(PriorPolicy):
    """The runs listed for each run; for a new run, all."""

    priors: Mapping[str, Sequence[str]]

    def priors_of(self, systems: Systems, name: str | None) -> Collection[str]:
        if name is None:
            return systems.names
        if name not in self.priors:
            raise ValueError(f"the context's priors say nothing of {name!r}; add it to the dict")
        return self.priors[name]

    def check(self, names: Sequence[str], groups: Mapping[str, str]) -> None:
        check_names("priors, in its keys,", list(self.priors), names)
        for name, chosen in self.priors.items():
            check_names(f"priors[{name!r}]", chosen, names)


class Chosen(dict[str, list[str]]):
    """The priors of every run, as :meth:`BestOfOtherGroups.choose` finds them, and the best run of each group."""

    best: Mapping[str, str]


@dataclass(frozen=True)
class PriorsByGroup(PriorsByRun):
    """The runs listed for each run; for a new run of a group, the best runs of the other groups."""

    best: Mapping[str, str]  #: from group to the name of its best run

    def priors_of_new_run(self, systems: Systems, group: str) -> Collection[str]:
        """Return the best run of every other group; the new run may be of a new group."""
        return [name for other, name in self.best.items() if other != group]


@dataclass(frozen=True)
class BestOfOtherGroups(PriorPolicy):
    """The best run of every group but its own, by mean effectiveness: the TREC protocol of the NRG paper (§4).

    Every group counts once, and a run's own group not at all. Ties go to the run given first. The context needs
    ``groups={run name: group name}``. The group of a new run is set by :meth:`RunContext.evaluating`, or by its column
    ``group``; for a new run of no group every run of the context is a prior.

    Args:
        by: the ir_measures measure, or measure string, that says which run of a group is best.
    """

    by: Any = ir_measures.nDCG @ 10
    needs_groups = True

    def priors_of(self, systems: Systems, name: str | None) -> Collection[str]:
        return systems.names if name is None else self.priors_of_new_run(systems, systems.groups[name])

    def priors_of_new_run(self, systems: Systems, group: str) -> Collection[str]:
        """Return the best run of every other group; the new run may be of a new group."""
        groups = systems.groups
        best = self._best(systems.means(self._measure()), groups)
        return [prior for prior in best if groups[prior] != group]

    def check(self, names: Sequence[str], groups: Mapping[str, str]) -> None:
        if ungrouped := [n for n in names if n not in groups]:
            raise ValueError(
                f"priors=BestOfOtherGroups() needs the group of every run; groups= lacks {few_quoted(ungrouped)}"
            )
        self._measure()

    def _measure(self) -> ir_measures.Measure:
        return absolute_measure(self.by, "BestOfOtherGroups: by")

    @classmethod
    def choose(cls, means: Mapping[str, float], groups: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the priors of every run from means that were computed elsewhere, for ``RunContext(priors=…)``.

        Args:
            means: from run name to mean effectiveness.
            groups: from run name to group name.
        """
        best = cls._best(means, groups)
        chosen = Chosen({name: [prior for prior in best if groups[prior] != groups[name]] for name in means})
        chosen.best = {groups[name]: name for name in best}
        return chosen

    @staticmethod
    def _best(means: Mapping[str, float], groups: Mapping[str, str]) -> list[str]:
        """Return the best run of every group, in the order of the runs; NaN is the worst, rounding is ignored."""
        best: dict[str, str] = {}
        for name, mean in means.items():
            before = means[best.setdefault(groups[name], name)]
            if mean - before > ROUNDED * abs(mean) or (isnan(before) and not isnan(mean)):
                best[groups[name]] = name
        return [name for name in means if best[groups[name]] == name]


#: What ``RunContext(priors=…)`` takes: a word of :data:`POLICIES`, a list of names, a dict from name to list, a policy.
Policy: TypeAlias = "str | Sequence[str] | Mapping[str, Sequence[str]] | PriorPolicy"

#: The policies with a name.
POLICIES: Registry[str, PriorPolicy] = Registry("prior policies")
POLICIES.register("others")(Others())
POLICIES.register("earlier")(Earlier())
POLICIES.register("best-of-other-groups")(BestOfOtherGroups())


def resolve_policy(priors: Policy, names: Sequence[str], groups: Mapping[str, str]) -> PriorPolicy:
    """Return the policy that the ``priors`` of a context stand for; it keeps no reference to a list or dict."""
    policy: PriorPolicy
    if isinstance(priors, str) and priors in POLICIES:
        policy = POLICIES[priors]
    elif isinstance(priors, Mapping):
        lists = {name: _names(f"priors[{name!r}]", chosen) for name, chosen in priors.items()}
        policy = PriorsByGroup(lists, priors.best) if isinstance(priors, Chosen) else PriorsByRun(lists)
    elif isinstance(priors, Sequence) and not isinstance(priors, (str, bytes)):
        policy = FixedPriors(_names("priors", priors))
    elif not isinstance(priors, str) and callable(getattr(priors, "priors_of", None)):
        policy = priors
    else:
        raise ValueError(
            f"priors={priors!r} is not a policy; give {', '.join(map(repr, POLICIES))}, names, a dict or a PriorPolicy"
        )
    getattr(policy, "check", PriorPolicy().check)(names, groups)
    return policy


def priors_chosen_by_means(policy: PriorPolicy, systems: Systems) -> dict[str, list[str]] | None:
    """Return the priors of every run by a policy that reads means, which depend on the judgments; None for others."""
    measures = []

    def means(measure: ir_measures.Measure) -> Mapping[str, float]:
        measures.append(measure)
        return systems.means(measure)

    watched: Any = SimpleNamespace(names=systems.names, groups=systems.groups, means=means)
    chosen = {name: list(policy.priors_of(watched, name)) for name in systems.names}
    return chosen if measures else None


def finder_for_new_runs(policy: PriorPolicy) -> Callable[[Systems, str], Collection[str]] | None:
    """Return the method for the priors of a new run of a group; None if the policy uses no groups."""
    return getattr(policy, "priors_of_new_run", None)


def _names(argument: str, chosen: Any) -> tuple[str, ...]:
    if isinstance(chosen, str):
        raise ValueError(f"{argument}={chosen!r} must be a list of run names, such as [{chosen!r}]")
    return tuple(chosen)
