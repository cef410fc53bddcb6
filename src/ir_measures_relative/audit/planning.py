"""Plans: which documents assessors should judge, the chance of each, and whether a plan is still its own."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd

from ..arguments import check_amount, check_count
from ..bounding.judge_next import check_pool, pool_lines
from ..context.measure_strings import value_of
from ..context.run_context import RunContext
from ..data.arrays import BoolArray, FloatArray, IntArray, ObjectArray, ratio
from ..io.files import read_bytes
from ..io.frames import columns_of, is_frame
from ..messages import kind_of
from ..work import write_whole
from .sampling import chances, draw_order, spread_of_grade, uniform
from .targets import Audited, Between, Judge, Target, read_measures

#: What every output says first.
THESE_TOPICS = "These topics, with human judgments as the target"
#: How deep a topic in full is labelled, as a multiple of the cutoff; and without a cutoff.
_TIMES, _LEAST = 2, 20

_COLUMNS = "query_id", "doc_id", "probability", "ask"
_BESIDE = ".plan.csv"  # the file with the chances, beside the pool
# Chances that were written to a file and read again are equal.
_WRITTEN = 1e-9


def target_of(depth: int, topics: str = THESE_TOPICS) -> str:
    """What an output says first; with the depth that ideal rankings are from, or 0."""
    return f"{topics}; ideal rankings from the top {depth} of the runs" if depth else topics


class AuditTable(pd.DataFrame):  # type: ignore[misc]
    """A table that says first what it is about."""

    @property
    def _constructor(self) -> type[AuditTable]:
        return AuditTable

    def __repr__(self) -> str:
        said = self.attrs.get("target")
        return super().__repr__() if said is None else f"{said}\n{super().__repr__()}"

    __str__ = __repr__

    def _repr_html_(self) -> str | None:
        table, said = super()._repr_html_(), self.attrs.get("target")
        return table if said is None or table is None else f"<p>{said}</p>{table}"


class Design(NamedTuple):
    """All that a plan follows from, beside the runs and the judge."""

    measures: list[str]
    budget: float
    between: Any = None
    topics: int = 0
    depth: int = 0
    seed: int = 0


class Drawn(NamedTuple):
    """What a plan chose, over the documents of a campaign."""

    chance: FloatArray  #: to be asked for
    asked: BoolArray
    topics: IntArray  #: those that are labelled in full
    full: BoolArray  #: which documents are asked for because their topic is


def plan(
    context: RunContext,
    judge: Judge,
    measures: Sequence[ir_measures.Measure | str],
    budget: int,
    *,
    between: Between = None,
    topics: int = 0,
    depth: int | None = None,
    seed: int = 0,
    path: str | os.PathLike[str] | None = None,
) -> pd.DataFrame:
    """Which documents assessors should judge, so that :func:`estimate` can say what all human judgments would.

    Exactly ``budget`` documents are drawn by Pareto sampling (Rosén, 1997), each with the chance ``π_d = min(1,
    c·|w_d|·(√(p(1 - p)) + 0.1))``: w_d is what its judgment counts in the difference, p a rough chance that a document
    with the judge's grade is relevant.

    Args:
        context: the runs.
        judge: the LLM judgments: qrels, whose topics are those of the audit; or a function from query id and
            document id to a grade, or to None.
        measures: P, RBP, SDCG, UniqueRel, NRG and Shapley with base P or RBP, P_Rareness; ``DCG@k``, nDCG over a
            constant. With ``topics`` also nDCG, ERR, and NRG and Shapley with base nDCG.
        budget: how many judgments the assessors can make, of the topics in full as well.
        between: two runs, ``("BM25", "ANCE")``; a run and its fixed priors, ``("ANCE", ["BM25"])``; or a list of
            these. If not given, all pairs of runs, or those with the context's reference.
        topics: how many topics to judge in full, at least 2; for measures that are no sums of judgments.
        depth: of topics in full, and of ideal rankings: what a run of the context ranks so high; twice the cutoff if
            not given.
        seed: of the draw. Twice the budget with the same seed asks for what half of it did, and for more.
        path: a pool file to write, one ``query_id doc_id`` a line; the plan goes beside it, with ``.plan.csv`` after
            its name.

    Returns:
        one row per document that may be asked for, those to judge first: ``query_id``, ``doc_id``; ``probability``:
        the chance to be asked for; ``ask``: whether it is.

    Raises:
        ValueError: a measure that cannot be audited, or not without ``topics``; topics that need more than the
            budget; names that are no runs; runs that do not compare, as in :func:`.compare`.
    """
    check_count("budget", budget, 1)
    check_count("topics", topics, 0)
    if depth is not None:
        check_count("depth", depth, 1)
    check_count("seed", seed, 0)
    if topics == 1:
        raise ValueError("topics=1 is not allowed; give 2 or more")
    if path is not None:
        check_pool(path)
    depth = depth_of(measures, topics, depth)
    audited = Audited(context, judge, measures, between, depth)
    pairs = [[v.name, v.other if v.priors is None else list(v.priors)] for v in audited.versus]
    names = [asked.name for asked in audited.asked]
    design = Design(names, int(budget), None if between is None else pairs, topics, depth, seed)
    table = _table(audited, drawn(audited, audited.targets(topics > 0, audited.grades()), design), design)
    if path is not None:
        write_plan(table, path)
    return table


def write_plan(table: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Writes the documents to judge as a pool file, and the plan beside it."""
    pool = "".join(line + "\n" for line in pool_lines(table[table["ask"]]))
    beside = f"# {json.dumps(table.attrs['audit'])}\n{table.to_csv(index=False)}"
    for file, text in ((str(path), pool), (f"{path}{_BESIDE}", beside)):
        write_whole(file, lambda at, text=text: Path(at).write_text(text, encoding="utf-8"))  # type: ignore[misc]


def is_plan(path: str) -> bool:
    """Whether a plan stands beside a file of this path."""
    beside = f"{path}{_BESIDE}"
    if not os.path.isfile(beside):
        return False
    with open(beside, "rb") as file:
        return file.read(3) == b"# {"


def depth_of(measures: Sequence[ir_measures.Measure | str], topics: int, depth: int | None) -> int:
    """How deep topics in full are labelled; 0 where there is no such topic."""
    cutoffs = [value_of(asked.measure, "cutoff") or 0 for asked in read_measures(measures)]
    return 0 if not topics else depth or _TIMES * max(cutoffs) or _LEAST


def drawn(audited: Audited, targets: Sequence[Target], design: Design) -> Drawn:
    """The documents of a plan."""
    docs, matters = audited.docs, np.zeros(len(audited.docs))
    for target in targets:  # each measure counts as much as any other, whatever its unit
        square = (target.weight**2).sum(axis=0)
        matters += ratio(square, np.full(len(square), square.sum()))
    score = np.sqrt(matters) * spread_of_grade(audited.share)
    topics, full = np.empty(0, dtype=np.int64), np.zeros(len(docs), dtype=bool)
    if design.topics:
        if design.topics > audited.n_queries:
            raise ValueError(
                f"topics={design.topics} is more than the {audited.n_queries} there are; give fewer"
            )
        tag = ["topic"] * audited.n_queries
        topics = np.sort(
            np.argsort(uniform(design.seed, tag, docs.query_ids), kind="stable")[: design.topics]
        )
        full = np.isin(docs.query, topics) & audited.in_full
        needed = int(full.sum()) + bool(((score > 0) & ~full).any())  # and one of the other topics
        if needed > design.budget:
            raise ValueError(
                f"to judge {design.topics} topics in full takes {needed} judgments, and budget={design.budget}"
            )
    chance = np.where(full, 1.0, chances(np.where(full, 0.0, score), design.budget - int(full.sum())))
    maybe = np.flatnonzero((chance > 0) & (chance < 1))
    asked = chance == 1.0
    order = np.argsort(draw_order(design.seed, _ids(audited, maybe), chance[maybe]))
    asked[maybe[order[: round(chance[maybe].sum())]]] = True
    return Drawn(chance, asked, topics, full)


def _ids(audited: Audited, rows: IntArray) -> tuple[ObjectArray, ObjectArray]:
    docs = audited.docs
    return docs.query_ids[docs.query[rows]], docs.ids.take(rows).strings()


def _table(audited: Audited, found: Drawn, design: Design) -> pd.DataFrame:
    rows = np.flatnonzero(found.chance > 0)
    query_ids, doc_ids = _ids(audited, rows)
    by_doc = np.unique(doc_ids.astype(str), return_inverse=True)[1]
    order = np.lexsort((by_doc, audited.docs.query[rows], ~found.asked[rows]))
    table = AuditTable(
        {
            "query_id": pd.Series(query_ids[order], dtype=str),
            "doc_id": pd.Series(doc_ids[order], dtype=str),
            "probability": found.chance[rows[order]],
            "ask": found.asked[rows[order]],
        }
    )
    table.attrs.update(target=target_of(design.depth), audit=design._asdict())
    return table


class GivenPlan(NamedTuple):
    """A plan as somebody gives it back: by document the chance, and whether it is asked for."""

    rows: dict[tuple[str, str], tuple[float, bool]]
    design: Design


def read_plan(given: Any) -> GivenPlan:
    """A plan, or the path of its file; ValueError for what is none."""
    if isinstance(given, (str, os.PathLike)):
        design, given = _read_file(str(given).removesuffix(_BESIDE) + _BESIDE)
    elif not is_frame(given):
        raise ValueError(f"the plan is {kind_of(given)}; give the table of audit.plan, or its path")
    else:
        design = given.attrs.get("audit")
    lacking = [column for column in _COLUMNS[2:] if column not in given.columns]
    if lacking:
        raise ValueError(f"the plan has no column {' and '.join(lacking)}; judge what audit.plan asks for")
    if not given.columns.is_unique:
        raise ValueError("the plan has a column twice; give it as audit.plan made it")
    queries, docs = columns_of(given, _COLUMNS[:2], "the plan")
    chance, ask = (_numbers(given[name]) for name in _COLUMNS[2:])
    if not (chance.between(0, 1) & ask.isin([0, 1])).all():
        raise ValueError(
            "the plan must hold a number from 0 to 1 as each probability, and True or False as each ask; give it as "
            "audit.plan made it"
        )
    pairs = zip(map(str, queries), map(str, docs), strict=True)
    rows = dict(zip(pairs, zip(chance.astype(float), ask.astype(bool), strict=True), strict=True))
    if len(rows) < len(given):
        raise ValueError(
            f"{len(given) - len(rows)} documents stand in the plan twice; pass the unchanged plan"
        )
    return GivenPlan(rows, _design_of(design))


def _numbers(column: Any) -> Any:
    try:
        return pd.to_numeric(column.infer_objects(), errors="coerce")
    except (OverflowError, UnicodeError):  # a whole number that no double holds, a text that no file holds
        return pd.Series(np.nan, index=column.index)


def _read_file(path: str) -> tuple[Any, pd.DataFrame]:
    """What a plan follows from, and its table."""
    from io import StringIO

    content = read_bytes(path, f"the plan {path}")
    try:
        head, _, rest = content.decode().partition("\n")
        if not head.startswith("# {"):
            raise ValueError
        ids = {"query_id": str, "doc_id": str}
        return json.loads(head[2:]), pd.read_csv(StringIO(rest), dtype=ids, keep_default_na=False)
    except (ValueError, RecursionError):
        raise ValueError(f"{path} is not a plan that audit.plan(…, path=…)") from None


def _design_of(given: Any) -> Design:
    try:
        design = Design(**given)
        for name, least in ("topics", 0), ("depth", 0), ("seed", 0):
            check_count(name, getattr(design, name), least)
        check_amount("budget", design.budget)
        if not isinstance(design.measures, list):
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(
            f"the plan says that it was made with {given!r}, and none is; give the table of audit.plan, or its path="
        ) from None
    return design


def check_unchanged(given: GivenPlan, audited: Audited, found: Drawn, design: Design) -> None:
    """Raises ValueError where a plan is not the one that follows from its design."""
    rows = np.flatnonzero(found.chance > 0)
    own = zip(found.chance[rows].tolist(), found.asked[rows].tolist(), strict=True)
    expected = dict(zip(zip(*_ids(audited, rows), strict=True), own, strict=True))
    changed = len(expected.keys() ^ given.rows.keys())
    changed += sum(
        abs(chance - given.rows[ids][0]) > _WRITTEN or asked != given.rows[ids][1]
        for ids, (chance, asked) in expected.items()
        if ids in given.rows
    )
    if changed:
        raise ValueError(
            f"the plan differs in {changed} documents from audit.plan with {design}; pass the same plan, runs and judge"
        )
