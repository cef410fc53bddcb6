"""Packed files are unpacked or named, Parquet is read, and what is no text is told by what it is."""

import bz2
import gzip
import io
import lzma
import random
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from ir_measures_relative import RunContext
from ir_measures_relative.io import files as packed
from ir_measures_relative.io.files import read_bytes
from ir_measures_relative.io.qrels import read_qrels_file
from ir_measures_relative.io.runs import read_run

RUN = "1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n2 Q0 é 1 0.5 t\n"
QRELS = "1 0 a 1\n1 3 b 0\n2 0 é 2\n"
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "txt": bytes,
    "two.gz": lambda data: gzip.compress(data[:20]) + gzip.compress(data[20:]),
    "mark.txt": lambda data: b"\xef\xbb\xbf" + data,
    "mark.gz": lambda data: gzip.compress(b"\xef\xbb\xbf" + data),
}


@pytest.mark.parametrize("kind", PACKED)
def test_packed_files(kind: str, tmp_path: Path) -> None:
    """By their content, whatever they are called."""
    for name in (f"x.{kind}", "x.run"):
        (tmp_path / name).write_bytes(PACKED[kind](RUN.encode()))
        rankings = read_run(tmp_path / name)
        assert rankings.to_dict() == {"1": {"a": -1.0, "b": -2.0}, "2": {"é": -1.0}}
        assert rankings.tag == "t"
        (tmp_path / name).write_bytes(PACKED[kind](QRELS.encode()))
        columns = read_qrels_file(tmp_path / name)
        assert columns.doc_ids.strings().tolist() == ["a", "b", "é"]
        assert (columns.relevance.tolist(), columns.aspect_texts().tolist()) == ([1, 0, 2], ["0", "3", "0"])


def zipped() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("x.run", RUN)
    return data.getvalue()


OTHERS = {
    "zst": (
        b"\x28\xb5\x2f\xfd\x04\x00",
        "is a zstd file, which is not read here; unpack it with 'zstd -d', or pack it",
    ),
    "lz4": (b"\x04\x22\x4d\x18\x64\x40", "is an lz4 file, which is not read here; unpack it with 'lz4 -d'"),
    "Z": (
        b"\x1f\x9d\x90q\x00",
        r"is a file packed by compress \(\.Z\), which is not read here; unpack it with 'gzip -d'",
    ),
    "zip": (zipped(), "is a zip file, which is not read here; unpack it, or pack it as .gz"),
    "7z": (b"7z\xbc\xaf\x27\x1c\x00", "is a 7z file"),
    "UTF-16": (RUN.encode("utf-16"), "is text in UTF-16, which is not read here; convert it to UTF-8"),
    "picture": (b"\x89PNG\r\n\x1a\n\0\0", r"is a picture \(PNG\); give a text file"),
    "parquet": (b"PAR1 and no more", "the Parquet file is truncated or damaged"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_files_are_named(kind: str, tmp_path: Path) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    content, message = OTHERS[kind]
    path = tmp_path / "x.run"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"x.run.*{message}"):
        read_run(path)
    with pytest.raises(ValueError, match=f"the qrels .*x.run.*{message}"):
        read_qrels_file(path)


@pytest.mark.parametrize("ours", [True, False])
def test_parquet(ours: bool, tmp_path: Path) -> None:
    """With ir_measures' names of columns, or PyTerrier's."""
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    names = {} if ours else {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    run = pd.DataFrame({"query_id": ["1", "1", "2"], "doc_id": ["a", "b", "é"], "score": [1, 2, 3]})
    run.assign(name="t").rename(columns=names).to_parquet(tmp_path / "run.parquet")
    rankings = read_run(tmp_path / "run.parquet")
    assert rankings.to_dict() == {"1": {"b": -1.0, "a": -2.0}, "2": {"é": -1.0}}
    assert RunContext.from_files(tmp_path).names == ["t"]
    qrels = pd.DataFrame({"query_id": ["1", "2"], "doc_id": ["a", "é"], "relevance": [1.0, 2.0]})
    qrels.rename(columns=names).to_parquet(tmp_path / "qrels.parquet")
    table = RunContext({"t": rankings}, priors=[]).evaluate(tmp_path / "qrels.parquet", ["nDCG_UE@10"])
    same = RunContext({"t": rankings}, priors=[]).evaluate({"1": {"a": 1}, "2": {"é": 2}}, ["nDCG_UE@10"])
    assert table.equals(same)


def test_mistakes_in_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    path = tmp_path / "x.parquet"
    run = pd.DataFrame({"query_id": ["1", "1", "1"], "doc_id": ["a", "b", "a"], "score": [3.0, 2.0, 1.0]})
    run.to_parquet(path)
    with pytest.raises(ValueError, match=r"run 'BM25' \(.*x\.parquet\)"):
        RunContext({"BM25": path})
    with pytest.raises(ValueError, match=r"the qrels .*x\.parquet: the DataFrame has no column 'relevance'"):
        read_qrels_file(path)
    run.drop(columns="score").to_parquet(path)
    with pytest.raises(ValueError, match=r"run 'BM25' .*x\.parquet\): the DataFrame has no column 'score'"):
        RunContext({"BM25": path})


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"x\.parquet\) is a Parquet file, which needs pyarrow"):
        RunContext({"a": tmp_path / "x.parquet"})


OPENED = {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open}
MB = 2**20


@pytest.fixture(params=["gz", "gz without isal", "bz2", "xz"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name, _, without = str(request.param).partition(" without ")
    if without:
        monkeypatch.setitem(sys.modules, without, None)
    return name


@pytest.mark.parametrize("members", [1, 40])
def test_a_bomb_is_refused_and_takes_no_more_memory_than_the_limit(
    kind: str, members: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also where it is many small ones, and where it has a header that zlib does not read and gzip does."""
    bomb = bytearray(PACKED[kind](bytes(24 * MB // members)) * members)
    variants = [bytes(bomb)]
    if kind == "gz":
        bomb[3] |= 0x20  # a flag that is reserved
        variants.append(bytes(bomb))
    monkeypatch.setattr(packed, "LEAST", 2 * MB)
    monkeypatch.setattr(packed, "TIMES", 2)
    for data in variants:
        (tmp_path / "bomb").write_bytes(data)
        tracemalloc.start()
        try:
            with pytest.raises(ValueError) as caught:
                read_bytes(tmp_path / "bomb", "the run bomb")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert str(caught.value) == (
            f"the run bomb: the .{kind} file, of {len(data):,} bytes, unpacks to more than 2,097,152, as no run does, and "
            "is not read; if it is meant, set IR_MEASURES_RELATIVE_MAX_UNPACKED in the environment to the number of "
            "bytes that it may have"
        )
        assert peak < 16 * MB  # xz has a dictionary of 8


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_members_and_pieces(kind: str, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stands where a piece ends: members, what is behind them, damage."""
    monkeypatch.setattr(packed, "_PIECE", piece)
    generator = random.Random(f"{kind} {piece}")
    for _ in range(60):
        texts = [b"1 Q0 a 1 2 t\n" * generator.choice([0, 1, 30]) for _ in range(generator.randrange(1, 4))]
        tail = generator.choice([b"", b"", b"\0", b"\0" * 9, b"more", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"])
        data = bytearray(b"".join(map(PACKED[kind], texts)) + tail)
        if generator.random() < 0.3:
            data[generator.randrange(6, len(data))] = generator.randrange(256)
        if generator.random() < 0.2:
            del data[generator.randrange(6, len(data)) :]
        try:
            with OPENED[kind](io.BytesIO(data)) as file:
                expected = file.read()
        except Exception as error:
            with pytest.raises(ValueError) as caught:
                packed.unpack(bytes(data), "x")
            assert (
                str(caught.value) == f"x: the .{kind} file is truncated or damaged ({error}); fetch it again"
            )
        else:
            assert packed.unpack(bytes(data), "x") == expected


def test_the_limit(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is of bytes, to the byte; of the environment where that says one; and of nothing that is not packed."""
    text = b"1 Q0 a 1 2.0 t\n2 Q0 a 1 2.0 t\n"
    file = tmp_path / "x.run"
    file.write_bytes(PACKED[kind](text))
    monkeypatch.setenv(packed.MAX_UNPACKED, str(len(text)))
    assert read_run(file).to_dict() == {"1": {"a": -1.0}, "2": {"a": -1.0}}
    monkeypatch.setenv(packed.MAX_UNPACKED, str(len(text) - 1))
    for read in (read_run, RunContext.from_files, read_qrels_file):
        with pytest.raises(ValueError, match=rf"x\.run.*unpacks to more than {len(text) - 1},"):
            read(file)
    file.write_bytes(text)
    assert len(read_run(file)) == 2
    for wrong in ("1e9", "-1", "a lot", "1" * 30):
        file.write_bytes(PACKED[kind](text))
        monkeypatch.setenv(packed.MAX_UNPACKED, wrong)
        with pytest.raises(
            ValueError, match=f"MAX_UNPACKED='{wrong}' is not a number of bytes; give one such as"
        ):
            read_run(file)
    monkeypatch.setenv(packed.MAX_UNPACKED, "")
    assert len(read_run(file)) == 2
    assert packed.max_unpacked(10) == 2**26 and packed.max_unpacked(2**26) == 200 * 2**26


def test_a_parquet_file_that_says_it_holds_more_than_any_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """9 kB that hold 5 MB: the values of a column that are all equal take no room."""
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    n = 200_000
    one = pa.repeat("1", n)
    file = tmp_path / "x.run"
    parquet.write_table(pa.table({"query_id": one, "doc_id": one, "score": pa.repeat(1.0, n)}), file)
    assert file.stat().st_size < 15_000
    monkeypatch.setattr(packed, "LEAST", MB)
    for read in (read_run, read_qrels_file):
        before = pa.total_allocated_bytes()
        with pytest.raises(ValueError, match=r"x\.run.*: the Parquet file, of .* bytes"):
            read(file)
        assert pa.total_allocated_bytes() - before < MB
    monkeypatch.setenv(packed.MAX_UNPACKED, str(10 * MB))
    with pytest.raises(ValueError, match="lists document '1' more than once"):
        read_run(file)
