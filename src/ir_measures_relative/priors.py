"""Which runs are the priors of which: the policies of a context, and the ``prior=`` of a measure."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import ir_measures

if TYPE_CHECKING:
    from .comparison import JudgedContext


@dataclass(frozen=True)
class BestOfOtherGroups:
    """The best run of every group but its own, by mean effectiveness: the TREC protocol of the NRG paper (§4).

    Groups differ in how many runs they submit, and the runs of one group in little; this policy lets every group
    count once, and keeps a run's own group out. Ties go to the run given first. A newcomer has no group, so every
    run of the context is its prior. The context needs ``groups={run name: group name}``.

    Args:
        by: the ir_measures measure, or measure string, that says which run of a group is best.
    """

    by: Any = ir_measures.nDCG @ 10

    def priors_of(self, judged: JudgedContext, member: str) -> list[str]:
        """The names of the priors of a member, in the order of the context."""
        by, groups = ir_measures.parse_measure(self.by), judged.context.groups
        return judged.cached(("best of other groups", by), lambda: self.choose(judged.means(by), groups))[member]

    @staticmethod
    def choose(means: Mapping[str, float], groups: Mapping[str, str]) -> dict[str, list[str]]:
        """The names of the priors of every run, from the mean effectiveness and the group of each.

        A dict that a context takes as its ``priors``: for runs whose means were computed elsewhere.
        """
        best: dict[str, str] = {}
        for name, mean in means.items():
            group = groups[name]
            if group not in best or mean > means[best[group]]:
                best[group] = name
        chosen = [name for name in means if best[groups[name]] == name]
        return {name: [prior for prior in chosen if groups[prior] != groups[name]] for name in means}


#: ``"others"``, ``"earlier"``, a list of names, a dict from name to list, or :class:`BestOfOtherGroups`.
Policy: TypeAlias = "str | Sequence[str] | Mapping[str, Sequence[str]] | BestOfOtherGroups"


def check_policy(policy: Policy, names: Sequence[str], groups: Mapping[str, str]) -> None:
    """Raises ValueError for a policy that is none, or that names a run which the context does not hold."""
    if isinstance(policy, BestOfOtherGroups):
        lacking = [n for n in names if n not in groups]
        if lacking:
            raise ValueError(
                f"priors=BestOfOtherGroups() needs the group of every run, and groups= lacks {lacking}; give "
                "groups={run name: group name}"
            )
    elif isinstance(policy, str):
        if policy not in ("others", "earlier"):
            raise ValueError(
                f"priors={policy!r} is no policy; give 'others', 'earlier', a list of run names, a dict from run "
                "name to list, or BestOfOtherGroups()"
            )
    elif isinstance(policy, Mapping):
        _check_names("the keys of priors", list(policy), names)
        for name, chosen in policy.items():
            _check_names(f"priors[{name!r}]", chosen, names)
    elif isinstance(policy, Sequence):
        _check_names("priors", policy, names)
    else:
        raise ValueError(
            f"priors={policy!r} is no policy; give 'others', 'earlier', a list of run names, a dict from run name "
            "to list, or BestOfOtherGroups()"
        )


def _check_names(what: str, chosen: Sequence[str], names: Sequence[str]) -> None:
    if isinstance(chosen, str):
        raise ValueError(f"{what}={chosen!r} must be a list of run names, such as [{chosen!r}]")
    unknown = [n for n in chosen if n not in names]
    if unknown:
        raise ValueError(f"{what} names {unknown}, which the context does not hold; its runs are {list(names)}")


def resolve(judged: JudgedContext, member: str | None, prior: str | None) -> list[str]:
    """The names of the priors, in the order of the context; never the run itself.

    Args:
        member: the name of the evaluated run, None for a newcomer.
        prior: the ``prior=`` of the measure, which goes before the context's policy.

    Raises:
        ValueError: a name or glob that fits no run of the context, or a dict of priors without the member.
    """
    context = judged.context
    names: Sequence[str] = context.names
    policy: Policy = context.priors
    if prior is not None:
        chosen = set(_matches(prior, names))
    elif isinstance(policy, BestOfOtherGroups):
        chosen = set(names) if member is None else set(policy.priors_of(judged, member))
    elif isinstance(policy, Mapping):
        if member is not None and member not in policy:
            raise ValueError(
                f"the context's priors say nothing of {member!r}; add it to the dict, with an empty list if it "
                "has none"
            )
        chosen = set(names) if member is None else set(policy[member])
    elif not isinstance(policy, str):
        chosen = set(policy)
    elif policy == "earlier" and member is not None:
        chosen = set(names[: names.index(member)])
    else:
        chosen = set(names)
    return [n for n in names if n in chosen and n != member]


def _matches(prior: str, names: Sequence[str]) -> list[str]:
    if prior in names:  # a name may hold a comma, or blanks at its ends
        return [prior]
    found: list[str] = []
    for pattern in filter(None, map(str.strip, prior.split(","))):
        # A name may hold glob characters ("bm25[k1=1.2]"), so the name itself goes first.
        fitting = [pattern] if pattern in names else [n for n in names if fnmatch.fnmatchcase(n, pattern)]
        if not fitting:
            raise ValueError(
                f"prior={prior!r}: {pattern!r} fits no run of the context; its runs are {list(names)}"
            )
        found += fitting
    return found
