"""Duplicate runs, and runs whose values are not comparable."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import ir_measures
import numpy as np

from ..arguments import match_patterns
from ..data.ids import WordArray
from ..data.rankings import Rankings, hold_same_rows, known_depth
from ..messages import first_ids, warn
from .collection import Collection
from .evaluated import Evaluated
from .measure_strings import is_relative, param_value
from .memo import Memo
from .priors import FixedPriors
from .tops import same_rankings

_START = 10  # rankings are compared to this depth first, and further only if they agree
_FEWEST = 10  # documents that a shorter duplicate must have in all; fewer may agree by chance


def rank_alike(
    run: Evaluated, name: str, depth: int | None = None, *, partly: bool = False, to_shorter: bool = False
) -> bool:
    """Return whether a run has the same ranking of every judged topic as the context's run ``name``, to a depth.

    With ``partly``, only the judged topics that the run ranks are compared; with ``to_shorter``, each of these to the
    end of the shorter ranking. Runs without a judged topic are not alike. A cut ranking is compared only as deep as it
    is known.
    """
    collection, other = run.collection, run.collection.runs[name]
    depth = known_depth([run.run, other], depth)
    start = _START if depth is None else min(depth, _START)
    starts = _hash_starts(collection, run.run, start, run.memo)
    among = starts != 0
    differ = starts != _hash_starts(collection, other, start, collection.memo)
    if not among.any() or (not to_shorter and (differ & among if partly else differ).any()):
        return False
    if depth is None and hold_same_rows(run.run, other):  # a few first documents take less time
        return True
    tops = run.top(depth), collection.top(other, depth)
    if to_shorter and min(len(top.position) for top in tops) < _FEWEST:
        return False
    return bool(same_rankings(*tops, among, to_shorter=to_shorter)[among].all())


def find_alike(run: Evaluated, names: Iterable[str], **compared: bool) -> str | None:
    """Return the first of these runs with the same rankings, by :func:`rank_alike`; None if there is none."""
    return next((name for name in names if rank_alike(run, name, **compared)), None)


def _hash_starts(
    collection: Collection, run: Rankings, depth: int, memo: Memo, *, first: bool = False
) -> WordArray:
    """Return a hash of the first documents of each ranking, 0 without a ranking; collisions are rare.

    ``first``: hash the first document only.
    """

    def compute() -> WordArray:
        top = run.top(depth if run.cut is None else min(depth, run.cut.depth))
        query = collection.documents.match_queries(run)[top.query]
        keep, result = query >= 0, np.zeros(collection.documents.n_queries, dtype=np.uint64)
        if first:
            keep &= top.position == 1
        np.add.at(result, query[keep], (top.hashes * (2 * top.position + 1).astype(np.uint64))[keep])
        return result

    return memo.get(("start", run, collection.documents, depth, first), compute)


def find_duplicates(collection: Collection, depth: int | None) -> dict[str, str]:
    """Map each run that duplicates an earlier one, to this depth, to that earlier run."""

    def find() -> dict[str, str]:
        whole_to = known_depth(collection.rankings, depth)
        start = _START if whole_to is None else min(whole_to, _START)
        by_start, duplicates = dict[Hashable, list[str]](), dict[str, str]()
        for name, run in collection.runs.items():
            evaluated = Evaluated.of(collection, name)
            candidates = by_start.setdefault(
                _hash_starts(collection, run, start, collection.memo).tobytes(), []
            )
            first = next((other for other in candidates if rank_alike(evaluated, other, depth)), None)
            if first is None:
                candidates.append(name)
            else:
                duplicates[name] = first
        return duplicates

    return collection.memoize(("duplicates", depth), find)


def deepest_cutoff(measures: Iterable[ir_measures.Measure]) -> int | None:
    """Return the deepest cutoff of the measures relative to priors: None if any has none, 0 without such measures."""
    depths = [m.params.get("cutoff") for m in measures if is_relative(m) and m.RELATIVE_TO == "priors"]
    return None if None in depths else max(depths, default=0)


def warn_about_duplicates(runs: Sequence[Evaluated], measures: Sequence[ir_measures.Measure]) -> None:
    """Warn of a run that duplicates one of its priors, if the priors are fixed or each is a prior of the other.

    With ``priors="earlier"`` there is no warning: that a later duplicate adds nothing is the correct answer.
    """
    relative = [m for m in measures if is_relative(m) and m.RELATIVE_TO == "priors"]
    depth = deepest_cutoff(measures)
    first = find_duplicates(runs[0].collection, depth) if runs and depth != 0 else {}
    by_name = {str(run.name): run for run in runs}

    def priors(run: Evaluated) -> set[str]:
        return {run.collection.names[row] for m in relative for row in run.priors(m.get("prior")).tolist()}

    for name, run in by_name.items() if first else ():
        fixed = isinstance(run.collection.policy, FixedPriors)
        alike = [n for n in run.collection.names if n != name and first.get(n, n) == first.get(name, name)]
        for same in [n for n in alike if n in priors(run)]:
            if fixed or same not in by_name or name in priors(by_name[same]):
                where = "" if depth is None else f" in their first {depth}"
                warn(
                    f"{same!r} and {name!r} rank alike{where}, and {same!r} is a prior of {name!r}: leave one of them "
                    "out; there may be more such runs",
                    run.collection.context,
                )
                return


def warn_about_duplicate(run: Evaluated, measures: Sequence[ir_measures.Measure]) -> None:
    """Warn of a new run that duplicates a run that it is scored relative to.

    Warn also of a run with the name of a run of the context, but other rankings.
    """
    collection = run.collection
    if run.name is not None:
        if run.run is not collection.runs[run.name] and not rank_alike(run, run.name, _START, partly=True):
            warn(
                f"the evaluated run is named {run.name!r}, but ranks differently from the context's run of that name: "
                "give it another name if it is another run",
                collection.context,
            )
        return
    relative_to = [m.RELATIVE_TO for m in measures]
    if "systems" not in relative_to and "priors" not in relative_to:
        return
    of_own_group = "systems" in relative_to or run.group is None
    firsts = _hash_starts(collection, run.run, _START, run.memo, first=True)  # most runs differ in these
    names = []
    for name, other in collection.runs.items() if firsts.any() else ():
        differ = firsts != _hash_starts(collection, other, _START, collection.memo, first=True)
        if not differ[firsts != 0].any() and (of_own_group or collection.groups.get(name) != run.group):
            names.append(name)
    comparisons: dict[str, dict[str, bool]] = {
        "ranks exactly as": {},
        "ranks the judged topics that it has as does": {"partly": True},
        "ranks, to the end of the shorter of the two, exactly as": {"to_shorter": True},
    }
    for alike, compared in comparisons.items() if names else ():
        if (same := find_alike(run, names, **compared)) is not None:
            warn(
                f"the evaluated run {alike} the context's run {same!r}, its prior: if it is that run, name it with a "
                f"column name='{same}' (pt.relative.named({{{same!r}: pipeline}})) or context.evaluating({same!r})",
                collection.context,
            )
            return


def why_incomparable(collection: Collection, measure: ir_measures.Measure, a: str, b: str) -> str | None:
    """Return why the values of two runs of a context are not comparable; None if they are."""
    if not is_relative(measure):
        return None
    names = collection.names
    if measure.RELATIVE_TO == "priors":
        a_priors, b_priors = (
            {names[i] for i in Evaluated.of(collection, n).priors(measure.get("prior"))} for n in (a, b)
        )
        if (b in a_priors) != (a in b_priors):
            run, prior = (a, b) if b in a_priors else (b, a)
            return f"{prior!r} is a prior of {run!r}, and {run!r} is not a prior of {prior!r}"
        unshared = sorted((a_priors - {b}) ^ (b_priors - {a}))
        if unshared:
            are_priors = "is a prior" if len(unshared) == 1 else "are priors"
            return f"{first_ids(unshared)} {are_priors} of one and not of the other"
    systems = param_value(measure, "systems")
    if systems not in (None, "groups"):
        selected = {a, b} & {*match_patterns(systems, names, "systems")}
        if len(selected) == 1:
            return f"{selected.pop()!r} is one of systems={systems!r}, and the other run is not"
    if measure.RELATIVE_TO == "reference" and not measure.SIGNED:
        reference = Evaluated.of(collection, collection.runs[a]).reference(measure.get("ref"))
        for name in (a, b):
            if reference is collection.runs[name]:
                return f"{name!r} is the reference, which is at no distance from itself"
    return None
