"""Inputs at random for the fuzz targets, and what must hold of each: read as ir_measures reads it, or refused in words.

Each target makes an input from a seed and checks it. It returns what came of it, ``"read"`` or the kind of refusal, and
raises ``AssertionError`` where neither holds.
"""

import io
import math
import random
import re
import warnings
from collections.abc import Callable
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import nDCG

import fuzzed_tables
import read_back
from fuzzed_formats import targets, with_changes
from ir_measures_relative import NRG, RunContext
from ir_measures_relative.context.measure_strings import parse_measure, registered
from ir_measures_relative.io.qrels import read_qrels_file

# What breaks readers: white space that is none in C, numbers as Python alone writes them, halves of characters.
_PIECES = [
    *(b"\t", b"\v", b"\f", b"\r", b"\r\n", b"\n", b"\n\n", b"  ", b"\0", b"\x1c", b"\x85", b"\xa0"),
    *(b"\xc2\xa0", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xff\xfe", b"\xc3", "😀".encode(), b"\xed\xa0\x80"),
    *b"1_000 nan inf -inf Infinity 1e400 -0.0 0x10 1e 1,5 + . 1e-400 9007199254740993 0.1 16777217 1e39".split(),
    *(b"1" * 400, b"3.4028235677973366e38", "١٢".encode(), b"a" * 70, b"PAR1", b"\x1f\x8b", b"BZh9"),
    *b"# , \" ' \\ %s {0} None".split(),
]
_IDS = ["1", "2", "q", "d", "a", "b", "é", "日本", "😀", "x" * 7, "x" * 8, "x" * 9, "q1", "q2", "doc-1"]
_NUMBERS = ["1", "2.5", "-3", "0", "1e3", ".5", "5.", "0.30000000000000004", "-1e-5", "12345678901234567890"]


def _file(rng: random.Random, columns: int) -> bytes:
    """A file in TREC's format, with a few things in it that may not be."""
    lines = []
    for i in range(rng.randrange(8)):
        query, doc = rng.choice(_IDS), f"{rng.choice(_IDS)}{i if rng.random() < 0.9 else ''}"
        label = str(rng.randrange(-1, 4))
        row = (
            [query, "Q0", doc, str(i), rng.choice(_NUMBERS), "tag"]
            if columns == 6
            else [query, "0", doc, label]
        )
        lines.append(rng.choice([" ", "\t", "  "]).join(row).encode())
    data = rng.choice([b"\n", b"\n", b"\r\n"]).join(lines) + rng.choice([b"", b"\n"])
    return with_changes(rng, data, rng.choice([0, 0, 1, 1, 2, 5]), _PIECES, [1, 1, 2, 9], 30)


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


def tidied(data: bytes, n_columns: int) -> bytes:
    """A TREC file without comments: lines that begin with # and are no rows to ir_measures."""
    value = {6: 4, 4: 3}[n_columns]
    lines = [(line, line.split()) for line in data.split(b"\n")]
    return b"\n".join(
        b""
        if line.startswith(b"#") and not (len(fields) == n_columns and _is_number(fields[value]))
        else line
        for line, fields in lines
    )


def _is_number(text: bytes) -> bool:
    try:
        return float(text) is not None
    except ValueError:
        return False


def _opened(data: bytes) -> io.TextIOWrapper:
    """As ir_measures is to read it: it takes a UTF-8 mark for a part of the first id, and we leave that out."""
    return io.TextIOWrapper(io.BytesIO(data.removeprefix(b"\xef\xbb\xbf")), encoding="utf-8")


def runs(rng: random.Random, folder: Any) -> str:
    """A run file: the same rows with the same 32-bit scores."""
    data = _file(rng, 6)
    path = folder / "fuzzed.run"
    path.write_bytes(data)
    try:
        ours = read_back.scores(path)
    except Exception as error:
        return _refusal(error, "fuzzed.run")
    theirs: dict[str, dict[str, float]] = {}
    with np.errstate(over="ignore"):
        for row in ir_measures.read_trec_run(_opened(tidied(data, 6))):
            theirs.setdefault(row.query_id, {})[row.doc_id] = float(np.float32(row.score))
    assert ours == theirs, (data, ours, theirs)
    return "read"


def qrels(rng: random.Random, folder: Any) -> str:
    """A file of judgments: the same rows in the same order."""
    data = _file(rng, 4)
    path = folder / "fuzzed.qrels"
    path.write_bytes(data)
    try:
        columns = read_qrels_file(path)
    except Exception as error:
        return _refusal(error, "fuzzed.qrels")
    plain = re.sub(
        rb"([0-9])\.0*(?=\s*$)", rb"\1", tidied(data, 4), flags=re.MULTILINE
    )  # 3.0 is a label as well
    theirs = [(r.query_id, r.doc_id, r.relevance) for r in ir_measures.read_trec_qrels(_opened(plain))]
    ours = list(zip(*(_listed(column) for column in columns[:3]), strict=True))
    assert ours == theirs, (data, ours, theirs)
    return "read"


def _listed(column: Any) -> list[Any]:
    return list(column.strings() if hasattr(column, "strings") else column)


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
    "runs": runs,
    "qrels": qrels,
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ALL[target](random.Random(f"{target} {seed}"), folder)
