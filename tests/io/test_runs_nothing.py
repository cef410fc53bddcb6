"""Reading executes nothing: no pickle is loaded and no code is evaluated, whatever a file or a measure string holds."""

import builtins
import io
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ir_measures_relative import RunContext
from ir_measures_relative.cli import main
from ir_measures_relative.context.measure_strings import parse_measure
from ir_measures_relative.io.qrels import read_qrels_file
from ir_measures_relative.io.runs import read_run

_EVENTS = ("pickle.find_class", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "os.fork")
_watched: list[list[str]] = []  # an audit hook stays for good; it looks only while a test asks


def _hook(event: str, _: Any) -> None:
    if _watched and event in _EVENTS:
        _watched[-1].append(event)


class Bomb:
    """Sets ``sys.exploded`` if it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("import sys; sys.exploded = True",)


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Inside, unpickling and evaluating are mistakes, and so is any process that is started."""
    read_run(write(tmp_path / "warm-up", b"1 Q0 a 1 1 t\n"))  # imports, which may evaluate
    if not hasattr(sys, "_ir_measures_relative_hook"):
        sys.addaudithook(_hook)
        sys._ir_measures_relative_hook = True  # type: ignore[attr-defined]
    said: list[str] = []

    def refuse(name: str) -> Any:
        def call(*_: Any, **__: Any) -> Any:
            said.append(name)
            raise AssertionError(f"{name} is called")

        return call

    evaluate = builtins.eval

    def of_namedtuple(*arguments: Any) -> Any:  # as modules make them that are imported only now
        named = sys._getframe(1).f_globals["__name__"] == "collections"
        return evaluate(*arguments) if named else refuse("eval")()

    monkeypatch.setattr(builtins, "eval", of_namedtuple)
    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse(name))
    _watched.append(said)
    try:
        yield
    finally:
        _watched.pop()
        monkeypatch.undo()
        assert said == [] and not hasattr(sys, "exploded")


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def files(folder: Path) -> dict[str, Path]:
    """Files that would run something where they were loaded as what they are."""
    array = np.array([[Bomb()] * 6], dtype=object)
    npy, npz = io.BytesIO(), io.BytesIO()
    np.save(npy, array, allow_pickle=True)
    np.savez(npz, array)
    pickled = pickle.dumps({"1": {"a": Bomb()}})
    found = {
        "pickle": pickled,
        "pickle with text": b"1 Q0 a 1 1.0 t\n" + pickled,
        "old pickle": pickle.dumps(Bomb(), protocol=0),
        "npy": npy.getvalue(),
        "npz": npz.getvalue(),
        "python": b"import sys; sys.exploded = True\n",
        "xml": b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>',
        "yaml": b"!!python/object/apply:os.system ['true']\n",
    }
    for name, data in found.items():
        write(folder / name, data)
    return {name: folder / name for name in found}


def test_the_bombs_go_off(tmp_path: Path) -> None:
    """Where they are loaded, which shows that the other tests can fail."""
    for path in (files(tmp_path)["pickle"], files(tmp_path)["npy"]):
        np.load(path, allow_pickle=True)
        assert sys.exploded  # type: ignore[attr-defined]
        del sys.exploded  # type: ignore[attr-defined]


def test_files_are_data(tmp_path: Path, request: pytest.FixtureRequest, capsys: Any) -> None:
    made = files(tmp_path)
    qrels = write(tmp_path / "qrels", b"1 0 a 1\n")
    runs = tmp_path / "runs"
    runs.mkdir()
    write(runs / "t", b"1 Q0 a 1 1 t\n")
    request.getfixturevalue("nothing_runs")
    for path in made.values():
        for read in (read_run, read_qrels_file, RunContext.from_files):
            try:
                read(path)
            except ValueError as error:
                assert len(str(error)) > 20
        for arguments in (
            [qrels, path, "P@1"],
            [path, runs, "P@1"],
            [qrels, runs, "P@1", "--groups", path],
            [qrels, runs / "t", "P@1", "--prior", path],
        ):
            assert main([str(a) for a in arguments]) in (0, 2)
            assert "Traceback" not in capsys.readouterr().err


def test_objects_in_a_frame_are_not_called(nothing_runs: None) -> None:
    frame = pd.DataFrame({"query_id": ["1"], "doc_id": ["a"], "score": [Bomb()]})
    with pytest.raises(ValueError, match="scores must be numbers"):
        read_run(frame)


MEASURES = [
    "__import__('os').system('true')",
    "__import__('os')@10",
    "NRG(base=__import__('os'))@10",
    "NRG(base=exec('import sys; sys.exploded = True'))@10",
    "NRG(prior=[x for x in ().__class__.__base__.__subclasses__()])",
    "NRG(base=(lambda: 0)())",
    "NRG@exec('1')",
    "NRG(**{'base': 'P'})",
    "NRG(gains={exec: 1})",
    "NRG(p=2**10**10**10)",
    "(x := NRG)@10",
    "parse_measure",
]


@pytest.mark.parametrize("text", MEASURES)
def test_measure_strings_are_not_evaluated(text: str, nothing_runs: None) -> None:
    with pytest.raises(ValueError) as caught:
        parse_measure(text)
    assert len(str(caught.value)) > 20
