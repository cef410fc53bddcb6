"""What is accepted as a TREC file is read as ir_measures reads it; what is refused is told with file and line."""

import io
import re
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from drawn import examples
from ir_measures_relative import NRG, RunContext
from ir_measures_relative.io import trec_columns as trec
from ir_measures_relative.io.qrels import named_aspects, read_qrels_file
from ir_measures_relative.io.runs import read_run
from ir_measures_relative.io.trec_files import read_trec_qrels, read_trec_runs

_C_SPACE = " \t\n\r\v\f"
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def first_mistake(data: bytes, n_columns: int) -> int | None:
    """The number of the first line that must be refused; None where the file is all right."""
    seen: dict[tuple[str, str], int] = {}
    repeated = None
    for number, raw in enumerate(data.split(b"\n"), start=1):
        try:
            line = raw.decode()
        except UnicodeDecodeError:
            return number
        if "\0" in line or "\r" in line[:-1] or any(c.isspace() and c not in _C_SPACE for c in line):
            return number
        fields = line.split()
        if fields and fields[0].startswith("#"):
            return number
        if fields and (len(fields) != n_columns or not _is_value(fields, n_columns)):
            return number
        if fields and n_columns == 6:
            if (fields[0], fields[2]) in seen and repeated is None:
                repeated = number
            seen[fields[0], fields[2]] = number
    return repeated


def _is_value(fields: list[str], n_columns: int) -> bool:
    if n_columns == 6:
        return _NUMBER.fullmatch(fields[4]) is not None and abs(float(fields[4])) < 2.0**128 - 2.0**103
    if not re.fullmatch(r"[+-]?[0-9]+", fields[3]):
        return False
    try:
        return abs(int(fields[3])) < 2**31
    except ValueError:  # more digits than Python reads, some thousands
        return False


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


def opened(data: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")


def bits(scores: Any) -> list[int]:
    return np.array(scores, dtype=np.float64).view(np.int64).tolist()


def check_run(data: bytes) -> None:
    given, data = data, tidied(data, 6)
    mistake = first_mistake(data, 6)
    if mistake is not None:
        with pytest.raises(ValueError, match=rf"^the file x\.run, line {mistake}: "):
            read_trec_runs(given, "the file x.run")
        return
    theirs = list(ir_measures.read_trec_run(opened(data)))
    columns = trec.Columns(data, 6)
    assert columns.ids(0).strings().tolist() == [r.query_id for r in theirs]
    assert columns.ids(2).strings().tolist() == [r.doc_id for r in theirs]
    assert bits(columns.floats(4)) == bits([r.score for r in theirs])
    assert sum(map(len, read_trec_runs(given, "the file x.run"))) == len(theirs)


def test_numbers_as_they_mostly_are_need_no_string(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is the slow way, and gives the same: without this, nobody would notice."""
    numbers = ["12.375", "-0.5", "+3", "7", "1234567.25", ".5", "5.", "12345678", "0.12345678901234567"]
    data = "".join(f"1 Q0 d{i} 1 {x} t\n" for i, x in enumerate(numbers)).encode()
    monkeypatch.setattr(trec.Columns, "_texts", lambda *_: pytest.fail("a number was read from a string"))
    assert trec.Columns(data, 6).floats(4).tolist() == [float(x) for x in numbers]


def check_qrels(data: bytes) -> None:
    given, data = data, tidied(data, 4)
    mistake = first_mistake(data, 4)
    if mistake is not None:
        with pytest.raises(ValueError, match=rf"^the qrels q\.txt, line {mistake}: "):
            read_trec_qrels(given, "the qrels q.txt")
        return
    theirs = list(ir_measures.read_trec_qrels(opened(data)))
    query_ids, iterations, doc_ids, relevance = read_trec_qrels(given, "the qrels q.txt")
    assert (named_aspects(iterations) is None) == (
        {r.iteration for r in theirs} <= {"0"} or {r.iteration for r in theirs} == {"Q0"}
    )
    columns = [query_ids.strings(), doc_ids.strings(), relevance, iterations.strings()]
    assert list(zip(*(c.tolist() for c in columns), strict=True)) == [tuple(r) for r in theirs]


ids = st.one_of(
    st.sampled_from(["1", "2", "q", "d", "a", "b", "é", "日本", "😀", "x" * 7, "x" * 8, "x" * 9]),
    st.text("ab1-é日😀\u200b", min_size=1, max_size=20),
    st.text("ab", min_size=60, max_size=130),
)
odd_ids = st.sampled_from(["a\x00", "a\x1cb", "\x85", "a\xa0", "\u2003", "\u3000b", "\ufeffa", "\u2028"])
# Some between two doubles, one that is no 32-bit float.
NUMBERS = (
    "0 -0 +0 -0.0 9007199254740993 -4503599627370497.5 450359962737049.85 .5 5. -.5 +1 1e5 1E+05 1e-320 4.9e-324 "
    "2e-324 1e38 3.4028235e38 3.4028236e38 00012.50 0.1 0.30000000000000004 123456789012345 999999999999999 "
    "9999999999999999 0.000000000000001 0.0000000000000001 12345678901234.5 -12345678901234.5 "
    "1.000000000000000000000001"
)
numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda x: f"{x:.17g}"),
    st.integers(-(10**20), 10**20).map(str),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.from_regex(r"[+-]?[0-9]{1,18}\.?[0-9]{0,18}", fullmatch=True),
    st.sampled_from(NUMBERS.split()),
)
odd_numbers = st.one_of(
    st.sampled_from(["nan", "NaN", "inf", "-inf", "Infinity", "1e400", "-1e309", "1_000", "١٢", "1,5", "0x10", "1e", "++1", "+-1", ".", "-", "e5", "1.2.3", "1f", "½", "1.."]),
    st.text("0123456789+-.eE_", min_size=1, max_size=22),
)  # fmt: skip
labels = st.one_of(
    st.integers(-5, 5).map(str),
    st.integers(-(2**31) + 1, 2**31 - 1).map(str),
    st.sampled_from(["+1", "-0", "007", "0000000000001", "-00000000000001"]),
)
odd_labels = st.one_of(
    st.sampled_from(
        ["1.0", "1_0", "٣", "2147483648", "-2147483648", "9" * 30, "9" * 5000, "x", "+", "-", "1-"]
    ),
    st.text("0123456789+-_", min_size=1, max_size=12),
)
gaps = st.sampled_from([" ", "\t", "  ", " \t ", "\v", "\f"])
ends = st.sampled_from(["\n", "\n", "\r\n", "\n\n", "\n \t\n", " \n", "\r\n\r\n", "\n\v\f\n"])
odd_ends = st.sampled_from(["\r", "\r\r\n", "", " "])


@st.composite
def files(draw: Any, columns: int) -> bytes:
    """A file with a mistake in one line, or with none."""
    n = draw(st.integers(0, 8))
    wrong = draw(st.integers(-n - 2, n))
    value, odd_value = (numbers, odd_numbers) if columns == 6 else (labels, odd_labels)
    parts = [draw(st.sampled_from(["", "", "\n", "\r\n", " "]))]
    for line in range(n):
        kind = draw(st.sampled_from(["id", "value", "columns", "end"])) if line == wrong else ""
        fields = [draw(ids) for _ in range(columns)]
        fields[4 if columns == 6 else 3] = draw(odd_value if kind == "value" else value)
        fields[5:] = ["tag"] * (columns - 5)  # two tags in one ranking are two runs
        if kind == "id":
            fields[draw(st.sampled_from([0, 1, 2]))] = draw(odd_ids)
        if kind == "columns":
            fields = draw(st.sampled_from([fields[:-1], [*fields, "x"], fields[:1]]))
        parts += [draw(st.sampled_from(["", "", " ", "\t"])), fields[0]]
        parts += [part for field in fields[1:] for part in (draw(gaps), field)]
        last = line == n - 1 and draw(st.booleans())
        parts.append(draw(odd_ends) if kind == "end" else "" if last else draw(ends))
    return "".join(parts).encode()


noise = st.one_of(
    st.binary(max_size=60),
    st.text("1a .-\n\r\t\v\f\0\x1c\x85\u00a0é", max_size=60).map(str.encode),
)


@examples(40)
@given(data=st.one_of(files(6), files(6), noise))
@example(b"")
@example(b"\n\r\n")
@example(b"1 Q0 a 1 1.5 t")
@example(b"1 Q0 a 1 1.5 t\r")
@example(b"1 Q0 a 1 1.5 t\r\r\n")
@example(b"\r\r\n1 Q0 a 1 1.5 t\n")
@example(b"1 Q0 a\n1 1.5 t\n")
@example(b"1 Q0 a 1 1.5 t 1 Q0 b 1 1 t\n")
@example(b"1 Q0 a 1 1.5 t\n\n2 Q0 a 1 1 t\n1 Q0 a 2 3 t\n1 Q0 a 2 3 t\n")
@example(b"1 Q0 a 1 1_000 t\n")
@example(b"1 Q0 a 1 1:5 t\n")
@example("1 Q0 a 1 ١٢ t\n".encode())
@example(b"1 Q0 a 1 1 t\n1 Q0 \xe9 1 1 t\n")
@example("1 Q0 a\u2003b 1 1 t\n".encode())
def test_runs_are_read_as_ir_measures_reads_them(data: bytes) -> None:
    check_run(data)


@examples(40)
@given(data=st.one_of(files(4), files(4), noise))
@example(b"")
@example(b"1 0 a 1")
@example(b"1 0 a 1 2 0 b 1\n")
@example(b"1 0 a 1\r")
@example(b"1 0 a\0 1\n")
@example(b"1 0 a " + b"9" * 5000 + b"\n")
@example(b"1 0 a " + b"0" * 5000 + b"1\n")
@example(b"1 0 a 12345678\n1 0 b 123456789\n")
def test_qrels_are_read_as_ir_measures_reads_them(data: bytes) -> None:
    check_qrels(data)


@examples(40)
@given(scores=st.lists(st.one_of(numbers, numbers, odd_numbers), min_size=1, max_size=50))
def test_scores_bit_for_bit(scores: list[str]) -> None:
    check_run("".join(f"1 Q0 d{i} 0 {s} t\n" for i, s in enumerate(scores)).encode())


def test_many_scores_bit_for_bit() -> None:
    """More than are read at a time, in all lengths, with a mistake at the end or none."""
    values = np.random.default_rng(3).normal(size=70_000) * 10.0 ** np.tile(np.arange(-7, 7), 5000)
    lines = [f"1 Q0 d{i} 0 {v:.{i % 19}{'fge'[i % 3]}} t\n" for i, v in enumerate(values.tolist())]
    check_run("".join(lines).encode())
    check_run("".join([*lines, "1 Q0 x 0 1_0 t\n"]).encode())


def test_white_space_is_what_c_says() -> None:
    """Every character that str.split splits at: read alike, or refused."""
    for code in range(sys.maxunicode + 1):
        if chr(code).isspace() or len(f"a{chr(code)}b".split()) > 1:
            check_run(f"1 Q0 a{chr(code)}b 1 1 t\n".encode())
            check_qrels(f"1 0 a{chr(code)}b 1\n".encode())


RUN = "1 Q0 a 1 2.0 t\n"
MISTAKES = {
    "underscore": (RUN + "1 Q0 b 2 1_000 t\n", "line 2: the score '1_000' is not a number; .* digits 0 to 9"),
    "too large": (RUN + "1 Q0 b 2 1e400 t\n", "line 2: query '1', document 'b' has the score 1e400; give a finite number"),
    "not UTF-8": (RUN.encode() + b"1 Q0 \xe9 2 1 t\n", r"line 2: it is not text in UTF-8 \(byte 0xe9 at 6\); convert"),
    "bare return": (RUN.replace("\n", "\r") * 2, "line 1: it holds a carriage return .* no line feed follows"),
    "NUL": (RUN + "1 Q0 b\0 2 1 t\n", "line 2: it holds a NUL"),
    "no-break space": (RUN + "1 Q0 b\xa0c 2 1 t\n", r"line 2: it holds the character U\+00A0, which Python takes for"),
    "twice": (RUN + "1 Q0 b 2 1 t\n\n" + RUN, "line 4: query '1' lists document 'a' more than once, before in line 1"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_in_a_run_name_file_and_line(case: str, tmp_path: Path) -> None:
    content, message = MISTAKES[case]
    path = tmp_path / "x.run"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=rf"x\.run\), {message}"):
        RunContext({"BM25": path})
    with pytest.raises(ValueError, match=rf"x\.run, {message}"):
        RunContext.from_files(path)


MISTAKES_IN_QRELS = {
    "fraction": ("1 0 a 0.5\n", "line 1: the relevance '0.5' is not a whole number"),
    "too large": ("1 0 a 2147483648\n", "line 1: the relevance '2147483648' is not a whole number below 2"),
    "three columns": ("1 a 1\n", "line 1: a TREC qrels line is 'query_id 0 doc_id relevance', not '1 a 1'"),
    "ideographic space": ("1 0 a\u3000b 1\n", r"line 1: it holds the character U\+3000"),
}


@pytest.mark.parametrize("case", MISTAKES_IN_QRELS)
def test_mistakes_in_qrels_name_file_and_line(case: str, tmp_path: Path) -> None:
    content, message = MISTAKES_IN_QRELS[case]
    path = tmp_path / "q.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    context = RunContext({"r": {"1": {"a": 1.0}}}, priors=[])
    for qrels in (path, str(path)):
        with pytest.raises(ValueError, match=rf"the qrels .*q\.txt, {message}"):
            context.evaluate(qrels, [NRG @ 10])


def large(end: str) -> Iterator[tuple[Path, bytes]]:
    for columns in ("{q} Q0 clueweb09-en0000-{d:05d} {d} {s} tag\n", "{q} 0 clueweb09-en0000-{d:05d} 1\n"):
        lines = [columns.format(q=q, d=d, s=(1000 - d) / 7) for q in range(50) for d in range(1000)]
        yield Path("x"), "".join([*lines, end]).encode()


@pytest.mark.parametrize("end", ["", "1 Q0 x 1 high tag\n", "1\n"])
def test_a_mistake_takes_no_more_memory_than_the_rest(end: str, tmp_path: Path) -> None:
    """Neither while it is looked for, nor afterwards, where somebody keeps the error."""
    path = tmp_path / "large"
    for read, (_, content) in zip((read_run, read_qrels_file), large(end), strict=True):
        path.write_bytes(content)
        kept: Any = None
        tracemalloc.start()
        try:
            kept = read(path)
        except ValueError as error:
            kept = error
        now, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert isinstance(kept, ValueError) == bool(end)
        assert peak < 7.5 * len(content), peak / len(content)
        if end:
            assert now < 1.5 * len(content), now / len(content)
