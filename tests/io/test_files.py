"""Packed files are unpacked or named, Parquet is read, and what is no text is told by what it is."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from ir_measures_relative import RunContext
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
        columns, iterations = read_qrels_file(tmp_path / name)
        assert columns.doc_ids.strings().tolist() == ["a", "b", "é"]
        assert (columns.relevance.tolist(), iterations.strings().tolist()) == ([1, 0, 2], ["0", "3", "0"])


@pytest.mark.parametrize("kind", [k for k in PACKED if k.endswith("gz")])
def test_gzip_without_isal(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "isal", None)
    test_packed_files(kind, tmp_path)


def test_a_damaged_gzip_file_is_read_as_the_standard_library_reads_it(tmp_path: Path) -> None:
    """Also where isal is there, and reads the others."""
    generator = random.Random(5)
    whole = gzip.compress(RUN.encode() * 5, mtime=0)
    tails = (b"", b"\0" * 20, b"more", b"\x1f", b"\x1f\x8b", whole, whole[:20])
    cases = [whole + tail for tail in tails] + [whole[:n] for n in range(3, len(whole))]
    for _ in range(1000):
        damaged = bytearray(whole)
        for _ in range(generator.randint(1, 3)):
            damaged[generator.randrange(2, len(damaged))] = generator.randrange(256)
        cases.append(bytes(damaged))
    file = tmp_path / "run.gz"
    for case in cases:
        file.write_bytes(case)
        try:
            expected = gzip.decompress(case)
        except (EOFError, OSError, zlib.error) as error:
            with pytest.raises(ValueError, match=r"the \.gz file is truncated or damaged") as caught:
                read_bytes(file, "run.gz")
            assert str(error) in str(caught.value)
        else:
            assert read_bytes(file, "run.gz") == expected


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
@pytest.mark.parametrize(
    "damage", [lambda d: d[:-5], lambda d: d[:12], lambda d: d[:15] + b"\0\0\0\0\0" + d[20:]]
)
def test_damaged_files(kind: str, damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    path.write_bytes(damage(PACKED[kind](RUN.encode() * 50)))
    with pytest.raises(
        ValueError, match=rf"x\.run.*: the \.{kind} file is truncated or damaged .*; fetch it again"
    ):
        read_run(path)
    with pytest.raises(ValueError, match=rf"the qrels .*x\.run: the \.{kind} file is truncated or damaged"):
        read_qrels_file(path)


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
    command = [
        sys.executable,
        "-m",
        "ir_measures_relative",
        "qrels.parquet",
        "run.parquet",
        "P@1 nDCG@2",
        "-p",
        "2",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "P@1\t0.50\nnDCG@2\t0.82\n", "")


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


def test_parquet_without_pyarrow(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    code = (
        "import sys; sys.modules['pyarrow'] = sys.modules['fastparquet'] = None\n"
        "from ir_measures_relative import RunContext\n"
        "try: RunContext({'a': 'x.parquet'})\nexcept ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (
        done.stdout == "run 'a' (x.parquet) is a Parquet file, which needs pyarrow: pip install pyarrow\n"
    ), done.stderr
