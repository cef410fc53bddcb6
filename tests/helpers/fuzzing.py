"""Inputs at random for the fuzz targets, and what must hold of each: read as ir_measures reads it, or refused in words.

Each target makes an input from a seed and checks it. It returns what came of it, ``"read"`` or the kind of refusal, and
raises ``AssertionError`` where neither holds.
"""

import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from ir_measures import nDCG

import fuzzed_tables
from fuzzed_formats import targets
from ir_measures_relative import NRG, RunContext
from ir_measures_relative.context.measure_strings import parse_measure, registered


def _refusal(error: Exception, source: str) -> str:
    """What kind of refusal this is; it must name the source and be said in words."""
    text = str(error)
    assert source in text and len(text) > len(source) + 15, f"no words for it: {error!r}"
    assert isinstance(error, (ValueError, TypeError)), f"an error of Python's own: {error!r}"
    for own in (
        "codec can't",
        "invalid literal",
        "could not convert",
        "unpack",
        "' object is not",
        "out of bounds",
    ):
        assert own not in text, f"Python's words, not ours: {error!r}"
    return f"refused: {type(error).__name__}"


_CELLS: list[Any] = [
    *(
        *("q1", "q2", "a", "b", "c", "", " ", "é", None, np.nan, float("inf"), 1, 2.5, True, b"q1"),
        *(("a",), ["a"]),
    ),
    *(np.float32(1.5), np.int8(3), np.str_("a"), "1", "1.5", pd.NA, pd.NaT, 10**400, 1 + 2j, object()),
]
_DTYPES = ["object", "str", "string", "category", "float64", "float32", "Float64", "int64", "Int64", "bool"]


def _column(rng: random.Random, kind: str, n: int) -> pd.Series:
    good = {"id": ["q1", "q2"], "doc": list("abcdef"), "number": [1, 2, 3]}[kind]
    cells = [rng.choice(good if rng.random() < 0.97 else _CELLS) for _ in range(n)]
    column = pd.Series(cells, dtype=object)
    if rng.random() < 0.6:
        dtype = rng.choice(
            _DTYPES
            if rng.random() < 0.2
            else ["float64", "int64", "Int64"]
            if kind == "number"
            else ["str", "category"]
        )
        try:
            column = column.astype(dtype)
        except Exception:
            return column
    return column


def frames(rng: random.Random, _: Any) -> str:
    """A DataFrame of a run and one of judgments: NRG without priors is nDCG."""
    n, m = rng.randrange(7), rng.randrange(1, 7)
    names = rng.choice([("query_id", "doc_id", "score", "relevance"), ("qid", "docno", "score", "label")])
    if rng.random() < 0.1:
        names = tuple(rng.choice([*names, 0, "rank", "name"]) for _ in names)
    columns = [_column(rng, "id", n), _column(rng, "doc", n), _column(rng, "number", n)]
    run = pd.concat(columns, axis=1, keys=names[:3]) if n else pd.DataFrame(columns=list(names[:3]))
    columns = [_column(rng, "id", m), _column(rng, "doc", m), _column(rng, "number", m)]
    labels = pd.concat(columns, axis=1, keys=[*names[:2], names[3]])
    if rng.random() < 0.2:
        run = run.set_axis(rng.choices(range(9), k=n))  # an index that repeats itself
    try:
        with RunContext({}):
            ours = {m.query_id: m.value for m in (NRG @ 5).iter_calc(labels, run)}
    except Exception as error:
        return _refusal(error, "")
    plain = run.rename(columns=dict(zip(names, ("query_id", "doc_id", "score"), strict=False)))
    judged = labels.rename(
        columns=dict(zip((*names[:2], names[3]), ("query_id", "doc_id", "relevance"), strict=True))
    )
    plain = plain.astype({"query_id": str, "doc_id": str, "score": float})
    judged = judged.astype({"query_id": str, "doc_id": str, "relevance": int})
    theirs = {m.query_id: m.value for m in (nDCG @ 5).iter_calc(judged, plain)} if len(plain) else {}
    for query, value in ours.items():
        assert math.isclose(value, theirs.get(query, 0.0), abs_tol=1e-12), (run, labels, ours, theirs)
    return "read"


_VALUES = [
    *("1", "0", "-1", "0.5", "'a'", "'nDCG'", "None", "True", "[1,2]", "{1:2}", "1e400", "'nDCG@10'"),
    *("b''", "f()"),
]
_TEXTS = [*"()@,='[{é-", " ", "\n", "\0", "__import__('os')", "10", "(" * 50, "**x"]


#: A list of its own, so that a measure that is added changes no draw.
_MEASURES = (
    *("NRG", "UniqueRel", "TaSC", "Rareness", "P_Rareness", "AP_Rareness", "UE", "nDCG_UE", "AP_UE", "MED"),
    *("rrLP", "sgnLP", "sgnLR", "RPP", "Shapley", "RBO", "alpha_NRG", "NewAspects"),
)


def measures(rng: random.Random, _: Any) -> str:
    """A measure string: its measure's own string means the same, or the words say what is allowed."""
    measure = registered()[rng.choice(_MEASURES)]
    names = [*measure.SUPPORTED_PARAMS, "rel", "judged_only", "nosuch"]

    def value(name: str) -> str:
        param = measure.SUPPORTED_PARAMS.get(name)
        if param is None or rng.random() < 0.4:
            return rng.choice(_VALUES)
        choices = getattr(param, "choices", ())
        return repr(rng.choice([param.default, *(choices if isinstance(choices, tuple) else ())]))

    asked = [rng.choice(names) for _ in range(rng.choice([0, 0, 1, 1, 2]))]
    inside = ", ".join(f"{name}={value(name)}" for name in asked)
    text = measure.NAME + (f"({inside})" if inside or rng.random() < 0.1 else "")
    text += rng.choice(["", "", "@10", "@5", "@0", "@-1", "@1.5", "@'a'"])
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(_TEXTS) + text[at + rng.randrange(2) :]
    try:
        parsed = parse_measure(text)
    except Exception as error:
        return _refusal(error, "")
    assert parse_measure(str(parsed)) == parsed, (text, parsed)
    return "read"


TARGETS: dict[str, Callable[[random.Random, Any], str]] = {
    "tables of runs": lambda rng, folder: fuzzed_tables.check(rng, folder, True, _refusal),
    "tables of judgments": lambda rng, folder: fuzzed_tables.check(rng, folder, False, _refusal),
    "frames": frames,
    "measures": measures,
}
#: A target for each kind of file that other tools write.
OF_FORMATS = targets(_refusal)
ALL = TARGETS | OF_FORMATS


def outcome(target: str, seed: int, folder: Any) -> str:
    """What comes of the input that this seed makes."""
    with warnings.catch_warnings(action="ignore"):
        return ALL[target](random.Random(f"{target} {seed}"), folder)
