"""Whatever the command is given for stdout and stderr, and whenever it is interrupted: exit codes, no traceback."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from command_line import COMMAND, error, here, run, unmeasured, write_run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX streams and signals")

# What the installed script runs. "python -m ir_measures_relative" has to import the package before its first line.
CONSOLE = [sys.executable, "-m", "ir_measures_relative_console"]
OF_THE_PACKAGE = re.compile(r"ir_measures_relative[/\\.]")
GOOD = ["qrels.txt", "runs", "NRG@2"]
BAD = ["qrels.txt", "runs", "NGR@2"]
WARNS = ["qrels.txt", "runs/A.run", "NRG@2", "--prior", "empty.run", "--allow-empty"]


def shell(folder: Path, arguments: list[str], redirection: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command, redirected by a shell."""
    (folder / "empty.run").write_text("")
    # Unbuffered, nothing would be left that fails on the way out.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", *COMMAND, *arguments],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout, done.stderr


full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")


@full
def test_no_stderr(files: Path) -> None:
    """The table is all there, and the exit code says the rest."""
    table = run(*GOOD, cwd=files).stdout
    for redirection in ("2>&-", "2>/dev/full"):
        assert shell(files, GOOD, redirection) == (0, table, "")
    assert shell(files, BAD, "2>/dev/full") == (2, "", "")


@pytest.mark.parametrize(
    ("redirection", "arguments"),
    [
        (">&-", GOOD),
        (">&-", BAD),
        pytest.param(">/dev/full", GOOD, marks=full),
        pytest.param(">/dev/full", ["--version"], marks=full),
    ],
)
def test_no_stdout(files: Path, redirection: str, arguments: list[str]) -> None:
    code, out, err = shell(files, arguments, redirection)
    assert (code, out) == (2, "")
    assert err.startswith("ir_measures_relative: error: ") and err.count("\n") == 1, err
    if arguments is GOOD:
        assert ("the standard output is closed" in err) == (">&-" in redirection)
        assert ("No space left on device" in err) == ("full" in redirection)


@full
def test_neither(files: Path) -> None:
    assert shell(files, GOOD, ">&- 2>&-") == (2, "", "")
    assert shell(files, ["--help"], ">/dev/full 2>/dev/full") == (2, "", "")


def test_a_closed_stdout_is_not_replaced_by_a_file(files: Path) -> None:
    """What is opened first takes the number of a closed stream; nothing may be printed into it."""
    before = {p: p.read_bytes() for p in files.rglob("*") if p.is_file()}
    for redirection in (">&-", "<&- >&- 2>&-"):
        shell(files, WARNS, redirection)
    assert {p: p.read_bytes() for p in before} == before


def test_control_c_at_any_time(files: Path) -> None:
    """From the first moment of the import to the last of the exit."""
    started = time.perf_counter()
    run(*GOOD, cwd=files, env=unmeasured())
    whole = time.perf_counter() - started
    codes = []
    for share in (30, 90, 103):
        process = subprocess.Popen(
            [*CONSOLE, *GOOD],
            cwd=files,
            env=unmeasured(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(whole * share / 100)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        if process.returncode not in (0, 130) and not OF_THE_PACKAGE.search(err):
            continue  # Python itself had not yet come to the package, or was past its end
        assert (process.returncode, err) in ((130, ""), (0, "")), (share, process.returncode, err)
        codes.append(process.returncode)
    assert 130 in codes


# The command, which says on stderr when a file is half written, and then waits.
SLOW = """
import signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # where the tests run under nohup, it would be ignored
from ir_measures_relative import writing
write_whole = writing.write_whole
def slow(path, write):
    def half(beside):
        open(beside, "w").write("half")
        print("half", file=sys.stderr, flush=True)
        for _ in range(1200):  # a signal between the line above and one long sleep would end neither
            time.sleep(0.05)
    write_whole(path, half)
writing.write_whole = slow
from ir_measures_relative.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_signal_leaves_no_half_file(files: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    (files / "pictures").mkdir()
    command = [sys.executable, "-c", SLOW, "plot", *GOOD, "P@1", "--output", "pictures/x.png"]
    with subprocess.Popen(
        command, cwd=files, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=unmeasured()
    ) as started:
        assert started.stderr is not None and started.stderr.readline() == "half\n"
        assert len(list((files / "pictures").iterdir())) == 1
        started.send_signal(signal.SIGTERM)
        _, err = started.communicate(timeout=60)
    assert (started.returncode, err) == (128 + signal.SIGTERM, "")
    assert list((files / "pictures").iterdir()) == []


def test_lone_surrogates(files: Path) -> None:
    """Bytes that are not text, which Python makes these of."""
    pytest.importorskip("matplotlib", reason="one of them names a picture")
    odd = b"\xff\xfe"
    for arguments, message in [
        (["qrels.txt", "runs", b"NRG" + odd], "is not a measure, since it is not text"),
        (["qrels.txt", "runs", odd], "is not a measure, since it is not text"),
        ([odd, "runs", "NRG@2"], "there is no qrels file"),
        (["qrels.txt", odd, "NRG@2"], "no such file or folder"),
        (["qrels.txt", "runs", "rrLP", "--reference", odd], "is not a run of"),
        (["qrels.txt", "runs", "NRG@2", "--groups", odd], "no such file"),
        (["plot", "qrels.txt", "runs", "NRG@2", "P@1", "--output", odd], "give a name that ends in"),
    ]:
        done = here(*arguments, cwd=files)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
        assert message in done.stderr, done.stderr


def test_what_no_text_can_hold_is_named(files: Path) -> None:
    """JSON is text in UTF-8: the message names the run, and says how to go on."""
    odd = files / "odd"
    odd.mkdir()
    try:
        write_run(odd / os.fsdecode(b"\xffa.run"), "same", {"1": {"a": 2.0, "b": 1.0}})
    except OSError:
        pytest.skip("file names are text on this system")
    for name in ("b.run", "c.run"):
        write_run(odd / name, "same", {"1": {"b": 2.0, "a": float(name == "c.run")}})
    said = here("worth", "qrels.txt", "odd", "-o", "json", cwd=files)
    assert said.returncode == 2 and "\\udcffa" in said.stderr and "--names" in said.stderr


def test_the_c_locale_ends_no_table(files: Path) -> None:
    """Its ASCII has no other letter; the bytes of UTF-8 go out as they came."""
    folder = files / "letters"
    folder.mkdir()
    for name in ("é", "z", "文"):
        write_run(folder / f"{ord(name)}.run", name, {"1": {"a": 2.0, name: 1.0}})
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [*COMMAND, "qrels.txt", "letters", "nDCG@2", "-o", "tsv"],
        cwd=files,
        capture_output=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert {line.split("\t")[0] for line in done.stdout.decode().splitlines()} == {"name", "é", "z", "文"}


FORGED = ["a\t0.9999\nfake", "\x1b[2Jb\x9b", "c\u202ed\u2028"]


def test_names_are_one_cell_each(files: Path) -> None:
    """Files, and so runs, whose names hold control characters: no row is forged, and no terminal cleared."""
    folder = files / "odd"
    folder.mkdir()
    for name in FORGED:
        try:
            write_run(folder / name, "same", {"1": {"a": 2.0, f"doc{name[-1]}".strip(): 1.0}})
        except OSError:
            pytest.skip("file names are text on this system")
    (files / "groups.csv").write_text("".join(f'"{name}",g\n' for name in FORGED), encoding="utf-8")
    for command, *options in (
        ["score"],
        ["score", "-q"],
        ["score", "--ci"],
        ["unjudged", "--bounds", "-o", "tsv"],
        ["unjudged", "-o", "tsv"],
    ):
        given = command, "qrels.txt", "odd", "P@1", *options
        done = run(*given, cwd=files)
        header, *rows = done.stdout.split("\n")[:-1]
        assert done.returncode == 0 and len({row.count("\t") for row in (header, *rows)}) == 1
        assert set(re.findall(r"[^\t\n -~]", done.stdout)) == set()
        cells = {cell for row in rows for cell in row.split("\t")}
        assert {r"a\t0.9999\nfake", r"\x1b[2Jb\x9b", r"c\u202ed\u2028"} <= cells
        assert json.loads(run(*given, "-o", "jsonl", cwd=files).stdout.splitlines()[0])
    measure = f"NRG(prior='{FORGED[1]}')@2"
    header = run("qrels.txt", "odd", measure, cwd=files).stdout.splitlines()[0]
    assert header == r"name	NRG(prior='\x1b[2Jb\x9b')@2"


@pytest.mark.parametrize("name", ["no\x1b[31msuch", "no\tsuch\nline"])
def test_messages_hold_no_control_characters(files: Path, name: str) -> None:
    for arguments in (
        [name, "runs", "NRG@2"],
        ["qrels.txt", name, "NRG@2"],
        ["qrels.txt", "runs", name],
        ["qrels.txt", "runs", "rrLP", "--reference", name],
        ["qrels.txt", "runs", "NRG@2", f"--{name}"],
    ):
        assert re.fullmatch(r"[ -~…α]*", error(*arguments, cwd=files))


def test_what_a_library_says_to_programmers_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Nor where it sets a filter of its own, as pyparsing does."""
    from ir_measures_relative.cli.output import tidy_warnings

    with tidy_warnings():
        warnings.filterwarnings("default", category=DeprecationWarning)
        warnings.warn("old name", DeprecationWarning, stacklevel=1)
        warnings.warn("odd value", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "ir_measures_relative: warning: odd value\n"
