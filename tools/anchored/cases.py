"""What :mod:`tools.anchored` computes: one table a case, all by the public interface alone.

A case is a campaign, a part, and a question: a measure string on all runs, the bounds of one, a test. Only what every
version of the package can be asked stands here, so that one script runs on the old and on the new code. No argument
named ``time_limit`` is given: what it means has changed once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd

import ir_measures_relative as relative
from ir_measures_relative import RunContext

from .campaign import Campaign
from .measures import (
    QUICK,
    QUICK_BOUNDED,
    bounded_measures,
    chance_measures,
    host_measures,
    prior_measures,
    reference_measures,
    system_measures,
)
from .names import asked, public, renamed, written

#: The parts, in the order in which they are computed.
PARTS = ("measures", "bounds", "verdicts", "statistics")


def _hashed(text: str) -> str:
    """Return a stand-in for a document, whose id is not written."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class Table(NamedTuple):
    """The values of a case: what identifies each row, and the values, as arrays of numbers or of text.

    Truth values and whole numbers that may be missing are floats.
    """

    keys: dict[str, Any]
    values: dict[str, Any]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.keys.values())))

    def ordered(self) -> Table:
        """The table with its rows in the order of their keys: the order in which they come does not count."""
        order = np.lexsort(tuple(self.keys.values()))
        keys, values = ({name: array[order] for name, array in columns.items()} for columns in self)
        return Table(keys, values)


@dataclass(frozen=True)
class Case:
    """One table to compute.

    Attributes:
        campaign: the name of the campaign.
        part: one of :data:`PARTS`.
        name: the question, with the measure string.
        quick: whether ``--quick`` computes it, too.
        compute: the table.
    """

    campaign: str
    part: str
    name: str
    quick: bool
    compute: Callable[[], Table]


def cases(campaign: Campaign, parts: Iterable[str] = PARTS) -> Iterator[Case]:
    """The cases of a campaign."""
    makers = dict(zip(PARTS, (_of_measures, _of_bounds, _of_verdicts, _of_statistics), strict=True))
    for part in parts:
        for name, quick, compute in makers[part](campaign):
            yield Case(campaign.name, part, name, quick, compute)


#: A name, whether it is quick, and what computes the table.
Question = tuple[str, bool, Callable[[], Table]]


def _table(campaign: Campaign, frame: pd.DataFrame, keys: Sequence[str]) -> Table:
    """A table with queries as numbers and documents as hashes; rows of equal keys are told apart by their order."""
    frame = frame.reset_index(drop=True)
    if "query_id" in frame:
        number = campaign.query_number
        frame["query_id"] = [number.get(q, -1) for q in frame["query_id"].astype(str)]
    if "doc_id" in frame:
        frame["doc_id"] = [_hashed(d) for d in frame["doc_id"].astype(str)]
    keyed = frame[[k for k in keys if k in frame]].copy()
    if not len(keyed.columns):
        keyed["row"] = range(len(frame))
    elif keyed.duplicated().any():
        keyed["row"] = keyed.groupby(list(keyed.columns), sort=False).cumcount()
    rest = frame.drop(columns=[k for k in keys if k in frame])
    return Table({n: _as_array(keyed[n]) for n in keyed}, {n: _as_array(rest[n]) for n in rest})


def _extremes(campaign: Campaign, frame: pd.DataFrame, keys: Sequence[str]) -> Table:
    """A table of bounds or verdicts, with the new names and words."""
    identity, values = _table(campaign, frame, keys)
    return Table(identity, renamed(values))


def _as_array(column: pd.Series) -> Any:
    """Numbers as they are; truth values, and numbers that may be missing, as floats; anything else as text."""
    if column.dtype == bool or str(column.dtype) in ("Int64", "boolean", "Float64"):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if column.dtype.kind in "iuf":
        return column.to_numpy()
    return np.array([str(value) for value in column], dtype=str)


def measures_of(campaign: Campaign) -> list[str]:
    """Every measure string that all runs of a campaign are scored on."""
    names = campaign.names
    found = [*host_measures(), *prior_measures(names), *system_measures(), *chance_measures()]
    return list(dict.fromkeys(found + reference_measures(names[-1])))


def _of_measures(campaign: Campaign) -> Iterator[Question]:
    def compute(measure: str, policy: str = "others", thin: bool = False) -> Table:
        qrels = campaign.thin_qrels if thin else campaign.qrels_path
        frame = campaign.context(policy).evaluate(qrels, [written(measure)], perquery=True)
        return _table(campaign, frame.drop(columns="measure"), ("name", "query_id"))

    for measure in measures_of(campaign):
        yield measure, measure in QUICK, partial(compute, measure)
    to_priors = ("NRG@10", "NRG(base='P')@10", "NRG(base='RR')", "NRG(base='RBP')@100", "NRG(base='ERR')@20")
    to_priors += ("NRG(norm='ideal')@10", "UniqueRel@10", "TaSC(base='nDCG@10')", "AP_Rareness@10")
    for policy in ("earlier", "list", *(["groups"] if campaign.groups else [])):
        for measure in to_priors:
            yield f"{measure}, priors {policy}", measure == "NRG@10", partial(compute, measure, policy)
    thinned = [m for m in measures_of(campaign) if m in QUICK or "judged_only" in m]
    for measure in thinned:
        yield f"{measure}, half of the judgments", False, partial(compute, measure, thin=True)
    for base, cutoff in product(("SSP", "AP", "ERR"), (20, 100)):
        measure = f"MED(base={base!r})@{cutoff}"
        yield f"{measure} of two runs, half of the judgments", False, partial(_deep_med, campaign, measure)
    yield "a new run, by ir_measures", True, partial(_new_run, campaign)
    for measure in ("MED@10", "RBO@100", "RPP"):
        yield f"similarity({measure})", measure == "RBO@100", partial(_similarity, campaign, measure)
    for measure in ("NRG@10", "UniqueRel@10", "AP_Rareness@10", "rrLP", "Shapley@10", "MED@10"):
        yield f"explain({measure})", measure == "NRG@10", partial(_explained, campaign, measure)
    for measure in ("NRG@10", "UniqueRel@10", "nDCG@10"):
        yield f"select_complementary({measure})", measure == "NRG@10", partial(_selected, campaign, measure)


def _deep_med(campaign: Campaign, measure: str) -> Table:
    """Return the values of two runs by a base whose search takes long at a low cutoff."""
    first, *others = campaign.few[:3]
    context = RunContext({name: campaign.runs[name] for name in (first, *others)}, reference=first)
    frame = context.evaluate(campaign.thin_qrels, [measure], perquery=True)
    return _table(campaign, frame.drop(columns="measure"), ("name", "query_id"))


def _new_run(campaign: Campaign) -> Table:
    """A run that is not in the context, by ir_measures' own function."""
    members = campaign.names[1:]
    path = min((campaign.folder / "runs").iterdir())  # that of the first run
    columns = ["query_id", "q0", "doc_id", "rank", "score", "tag"]
    run = pd.read_csv(path, sep=r"\s+", header=None, names=columns, dtype={"query_id": str, "doc_id": str})
    context = RunContext({name: campaign.runs[name] for name in members}, reference=members[-1])
    measures = [ir_measures.parse_measure(m) for m in ("nDCG@10", "NRG@10", "UniqueRel@10", "P_Rareness@10")]
    measures += [
        ir_measures.parse_measure(m) for m in ("nDCG_UE@10", "MED@10", "rrLP", "RBO@10", "Shapley@10")
    ]
    with context:
        found = ir_measures.iter_calc(measures, campaign.qrels, run[["query_id", "doc_id", "score"]])
        frame = pd.DataFrame([(m.query_id, str(m.measure), m.value) for m in found])
    frame.columns = ["query_id", "measure", "value"]
    return _table(campaign, frame, ("query_id", "measure"))


def _similarity(campaign: Campaign, measure: str) -> Table:
    context = campaign.context(only=campaign.few)
    frame = relative.similarity(context, campaign.qrels_path, [measure], perquery=True)
    return _table(campaign, frame.drop(columns="measure"), ("name", "other", "query_id"))


def _explained(campaign: Campaign, measure: str) -> Table:
    run = campaign.names[len(campaign.names) // 2]
    frame = relative.explain(campaign.context(), run, campaign.qrels_path, measure)
    return _table(campaign, frame, ("query_id", "doc_id"))


def _selected(campaign: Campaign, measure: str) -> Table:
    context = campaign.context(only=campaign.few)
    chosen = asked(relative.select_complementary, context, campaign.qrels_path, 4, measure)
    return _table(campaign, chosen, ())


class _Settings(NamedTuple):
    """How bounds are asked for."""

    thin: bool = False
    policy: str = "others"
    options: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        policy = f", priors {self.policy}" * (self.policy != "others")
        options = "".join(f", {name}={value!r}" for name, value in self.options)
        return ", half of the judgments" * self.thin + policy + options


def _variants(campaign: Campaign) -> Iterator[tuple[str, _Settings]]:
    """Each measure with each way in which its bounds are asked for."""
    names = campaign.few  # which every context holds
    for thin in (False, True):
        for measure in bounded_measures(names):
            yield measure, _Settings(thin)
    for measure in ("nDCG@10", "AP@10", "AP_UE@10", "NRG@10", "rrLP@10", "Shapley(base='nDCG')@10", "ERR@10"):
        shown = f"{measure[:-3]}(ref={names[0]!r})@10" if measure == "rrLP@10" else measure
        yield shown, _Settings(options=(("unretrieved_relevant", 2),))
        yield shown, _Settings(thin=True, options=(("unretrieved_relevant", 2),))
    to_priors = ("NRG@10", "UniqueRel@10", "NRG(base='RR')@10", "NRG(base='ERR')@10", "TaSC(base='P@10')")
    for policy in ("earlier", "list", *(["groups"] if campaign.groups else [])):
        for measure in to_priors:
            yield measure, _Settings(policy=policy)


def _of_bounds(campaign: Campaign) -> Iterator[Question]:
    # with fewer judgments much more is open, so that some searches take long
    yield from _extremes_of(campaign, relative.bounds, [], campaign.few, ("name", "query_id"))


def _of_verdicts(campaign: Campaign) -> Iterator[Question]:
    few = campaign.few
    yield from _extremes_of(campaign, relative.verdicts, few, few[:6], ("name", "other", "query_id"))
    for thin in (False, True):
        yield f"means{_Settings(thin)}", False, partial(_verdicts_of_means, campaign, thin)


def _extremes_of(
    campaign: Campaign, ask: Callable[..., Any], runs: list[str], runs_if_thin: list[str], keys: Sequence[str]
) -> Iterator[Question]:
    def compute(measure: str, how: _Settings) -> Table:
        qrels = campaign.thin_qrels if how.thin else campaign.qrels
        context = campaign.context(how.policy, runs_if_thin if how.thin else runs)
        frame = asked(ask, context, qrels, [measure], perquery=True, **dict(how.options))
        return _extremes(campaign, frame.drop(columns="measure"), keys)

    for measure, how in _variants(campaign):
        yield f"{measure}{how}", measure in QUICK_BOUNDED and not how.options, partial(compute, measure, how)


def _verdicts_of_means(campaign: Campaign, thin: bool) -> Table:
    qrels = campaign.thin_qrels if thin else campaign.qrels
    frame = asked(relative.verdicts, campaign.context(only=campaign.few), qrels, sorted(QUICK_BOUNDED))
    return _extremes(campaign, frame, ("name", "other", "measure"))


def _of_statistics(campaign: Campaign) -> Iterator[Question]:
    context, few, qrels = campaign.context, campaign.few, campaign.qrels_path
    measures = ("nDCG@10", "NRG@10", "UniqueRel@10", "rrLP")

    def compared(**how: Any) -> pd.DataFrame:
        return asked(relative.compare, context(only=few), qrels, measures, **how)

    def settled() -> pd.DataFrame:
        how = {"relevance_model": "pool", "samples": 200}
        return asked(relative.verdicts, context(only=few), campaign.thin_qrels, ["nDCG@10", "P@10"], **how)

    frames: dict[str, Callable[[], pd.DataFrame]] = {
        **{f"compare({t})": partial(compared, test=t) for t in _TESTS},
        **{f"compare(t, {c})": partial(compared, correction=c) for c in ("bonferroni", "fdr_bh", None)},
        "judge_next": lambda: public("judge_next")(context(only=few), campaign.thin_qrels, "nDCG@10", 50),
        "verdicts with a relevance model": settled,
    }
    for name, compute in frames.items():
        keys = ("name", "other", "measure") if name.startswith("compare") else ()
        yield name, name in _QUICK, lambda keys=keys, compute=compute: _table(campaign, compute(), keys)


_TESTS = ("t", "wilcoxon", "sign", "randomization", "bootstrap")
_QUICK = ("compare(t)",)
