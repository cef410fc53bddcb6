"""Plans of audits, and what tests ask of the fixture ``worth``, at random: answered as ever, or refused in words."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ir_measures_relative_pytest
from audited import CONTEXT, JUDGE, labels_of
from candidates import write_candidates
from fuzzed_formats import mutated
from ir_measures_relative import audit
from ir_measures_relative.audit.planning import read_plan, write_plan

Refusal = Callable[[Exception, str], str]

_ODD: list[Any] = [
    *(None, True, 0, 1, -1, 2.5, -0.0, math.nan, math.inf, 10**30, 10**400, 1e-300, 1 + 2j, b"x", object(), pd.NA),
    *("", " ", "a", "b", "x", "q0", "d0", "0.5", "True", "nan", "\ud800", "\0", "x" * 5000, "runs", "qrels.txt", "*"),
    *([], {}, (), [1], ["a", "b"], ("a", "b"), ["a", ["b"]], [["a", "b"]], {"a": 1}, {"a": {"q0": {"d0": 1.0}}}, set()),
    *(np.array([]), np.zeros((2, 2)), pd.DataFrame(), pd.DataFrame({"query_id": ["1"]}), pd.NaT, int, "P@3", ["P@3"]),
]  # fmt: skip
_KEYS = ["measures", "budget", "between", "topics", "depth", "seed"]
_MEASURES = ["P(rel=2)@5"]


@functools.cache
def _plan() -> tuple[pd.DataFrame, Any, pd.DataFrame]:
    """A plan, the labels that it asks for, and what they say."""
    plan = audit.plan(CONTEXT, JUDGE, _MEASURES, 30)
    return plan, labels_of(plan), audit.estimate(CONTEXT, plan, labels_of(plan), JUDGE, _MEASURES)


def _changed_table(rng: random.Random, plan: pd.DataFrame) -> pd.DataFrame:
    """A plan with a few odd cells, columns, rows or facts of its design."""
    design = dict(plan.attrs["audit"])
    table = plan.astype(object) if rng.random() < 0.5 else plan.copy()
    for _ in range(rng.choice([0, 1, 1, 2])):
        column, row = rng.choice([*table.columns]), rng.randrange(max(len(table), 1))
        what = rng.randrange(6)
        if what == 0:
            cells = [*table[column]] if table[column].ndim == 1 and len(table) else []
            cells[row : row + 1] = [rng.choice(_ODD)] if cells else []
            if cells:
                table = table.assign(**{str(column): pd.Series(cells, index=table.index, dtype=object)})
        elif what == 1:
            table = table.drop(columns=column)
        elif what == 2:
            table = table.rename(columns={column: rng.choice(["qid", "docno", "ask", "probability", "x", 0])})
        elif what == 3:
            table = pd.concat([table, table.iloc[[row]]]) if len(table) else table
        elif what == 4:
            design[rng.choice([*_KEYS, "more"])] = rng.choice(_ODD)
        else:
            design.pop(rng.choice(_KEYS), None)
        if not len(table.columns):
            break
    table.attrs["audit"] = design if rng.random() < 0.8 else rng.choice(_ODD)
    return table


def plan(rng: random.Random, folder: Path, refusal: Refusal) -> str:
    """A plan that was changed, as a file or a table: it says what the plan itself says, or is refused in words."""
    own, labels, right = _plan()
    if rng.random() < 0.6:
        path = folder / "pool.txt"
        write_plan(own, path)
        file = folder / "pool.txt.plan.csv"
        head, _, rest = file.read_bytes().partition(b"\n")
        if rng.random() < 0.5:
            head = b"# " + mutated(rng, head[2:])
        else:
            rest = mutated(rng, rest)
        file.write_bytes(head + b"\n" + rest)
        given: Any = path
    else:
        given = _changed_table(rng, own)
    judge = JUDGE if rng.random() < 0.8 else lambda q, d: JUDGE[q].get(d)
    try:
        read = read_plan(given)
        assert all(0 <= chance <= 1 and asks in (True, False) for chance, asks in read.rows.values())
        found = audit.estimate(CONTEXT, given, labels, judge, _MEASURES)
    except AssertionError:
        raise
    except Exception as error:
        return refusal(error, "")
    columns = ["difference", "ci_lower", "ci_upper"]
    np.testing.assert_allclose(found[columns], right[columns], rtol=0, atol=1e-12)
    return "read"


def fixture(rng: random.Random, folder: Path, refusal: Refusal) -> str:
    """A call of pytest's fixture ``worth``: a verdict, or refused in words."""
    if not (folder / "new").exists():
        write_candidates(folder)
    ask = getattr(ir_measures_relative_pytest.worth, "__wrapped__", None)
    ask = (ask or ir_measures_relative_pytest.worth._get_wrapped_function())()  # type: ignore[attr-defined]
    strong, runs = str(folder / "new/strong.run"), str(folder / "runs")
    given: dict[str, Any] = {
        "candidate": rng.choice(
            [strong, Path(strong), str(folder / "new/copy.run"), str(folder / "none.run")]
        ),
        "to": rng.choice([runs, Path(runs), f"{runs}/*.run", [f"{runs}/BM25.run"], f"{runs}/QL.run"]),
        "qrels": rng.choice([str(folder / "qrels.txt"), folder / "qrels.txt", {"1": {"d2": 1, "d3": 0}}]),
        "by": "P@5",
    }
    options = [
        "margin",
        "confidence",
        "n",
        "unretrieved_relevant",
        "resamples",
        "seed",
        "time_limit",
        "budget",
        "pool",
        "rerank",
    ]
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        given[rng.choice([*given, *options, "nosuch", "deployed"])] = rng.choice(_ODD)
    try:
        answer = ask(given.pop("candidate"), **given)
    except Exception as error:
        if isinstance(error, TypeError) and "keyword argument" in str(error):  # as of any function
            return "refused: TypeError"
        if isinstance(error, OSError) and len(str(error)) > 15 and (error.filename or error.errno is None):
            return "refused: OSError"
        return refusal(error, "")
    assert answer.outcome() in ("change", "keep", "open") and str(answer)
    return "read"


def targets(refusal: Refusal) -> dict[str, Callable[[random.Random, Any], str]]:
    """The doors beside the command line."""
    return {
        "plan": functools.partial(plan, refusal=refusal),
        "fixture": functools.partial(fixture, refusal=refusal),
    }
