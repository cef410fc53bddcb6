"""The command line: its output, its exit codes, and one line for whatever is wrong."""

import gzip
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import ir_measures
import pandas as pd
import pytest
from ir_measures import AP, P, nDCG

from command_line import COMMAND, QRELS, RUNS, error, output, process, run, unmeasured, write_run
from ir_measures_relative import NRG, RunContext, UniqueRel, __version__, demo, rrLP
from ir_measures_relative.cli import COMMANDS, load_command
from ir_measures_relative.context.measure_strings import split_measures
from ir_measures_relative.context.priors import BestOfOtherGroups
from ir_measures_relative.demo.__main__ import main as write_campaign


@pytest.mark.host_strings
def test_absolute_measures_are_printed_as_ir_measures_prints_them(files: Path) -> None:
    arguments = [files / "qrels.txt", files / "runs" / "A.run", "nDCG@10 AP", "P@2"]
    for flags in (["-p", "7"], ["-q", "-n", "-p", "-1"], ["-q", "-o", "jsonl"]):
        theirs = subprocess.run(
            [sys.executable, "-m", "ir_measures", *map(str, arguments), *flags],
            capture_output=True,
            text=True,
        )
        assert theirs.returncode == 0, theirs.stderr
        assert sorted(output(*arguments, *flags).splitlines()) == sorted(theirs.stdout.splitlines()), flags


def test_one_run_relative_to_others(files: Path) -> None:
    runs = files / "runs"
    arguments = [files / "qrels.txt", runs / "A.run", "nDCG@2", "NRG@2 UniqueRel(rel=1)@2", "rrLP"]
    with_reference = ["--prior", runs / "B.run", "--reference", runs / "C.run"]
    measures = [nDCG @ 2, NRG @ 2, UniqueRel @ 2, rrLP]
    with RunContext({n: RUNS[n] for n in "BC"}, reference="C"):
        expected = ir_measures.calc(measures, QRELS, RUNS["A"])
    assert output(*arguments, *with_reference) == "".join(
        f"{m}\t{expected.aggregated[m]:.4f}\n" for m in measures
    )
    lines = [
        json.loads(line) for line in output(*arguments, *with_reference, "-q", "-o", "jsonl").splitlines()
    ]
    values = {(m.query_id, str(m.measure)): m.value for m in expected.per_query}
    values |= {("all", str(m)): v for m, v in expected.aggregated.items()}
    assert {(r["query_id"], r["measure"]): r["value"] for r in lines} == pytest.approx(values)
    assert len(lines) == len(values)


def test_runs_with_one_tag_are_told_apart_by_their_files(files: Path) -> None:
    """A prior that carries the tag of the evaluated run is a prior all the same."""
    for name, rankings in RUNS.items():
        write_run(files / f"{name}.run", "Anserini", rankings)
    runs = files / "runs"
    expected = output(files / "qrels.txt", runs / "A.run", "NRG@2", "--prior", runs / "B.run")
    assert output(files / "qrels.txt", files / "A.run", "NRG@2", "--prior", files / "B.run") == expected


def test_measures_in_one_argument() -> None:
    assert split_measures("nDCG@10  NRG(prior='a b, c', p=0.5)@10\tnDCG(gains={1: 2, 2: 3})@5") == [
        "nDCG@10",
        "NRG(prior='a b, c', p=0.5)@10",
        "nDCG(gains={1: 2, 2: 3})@5",
    ]
    assert split_measures(" ") == []


@pytest.mark.parametrize("policy", ["others", "earlier"])
def test_a_folder_is_a_table(files: Path, policy: str) -> None:
    given = files / "qrels.txt", files / "runs", "nDCG@2 NRG@2", "UniqueRel(rel=1)@2", "-p", -1
    text = output(*given, "--priors", policy)
    if policy == "others":
        whole = process(*given)
        assert (whole.returncode, whole.stdout, whole.stderr) == (0, text, "")  # the process says the same
    (files / "table.tsv").write_text(text, encoding="utf-8")
    table = pd.read_csv(files / "table.tsv", sep="\t")
    expected = RunContext(RUNS, priors=policy).evaluate(QRELS, [nDCG @ 2, NRG @ 2, UniqueRel @ 2])
    pd.testing.assert_frame_equal(table, expected, check_dtype=False, rtol=1e-14)


def test_a_folder_by_query_and_as_jsonl(files: Path) -> None:
    arguments = [files / "qrels.txt", files / "runs", "NRG@2", "rrLP", "--reference", "B"]
    context = RunContext(RUNS, reference="B")
    expected = context.evaluate(QRELS, [NRG @ 2, rrLP]).set_index("name")
    rows = [json.loads(line) for line in output(*arguments, "-o", "jsonl").splitlines()]
    assert [r.pop("name") for r in rows] == list(RUNS)
    assert rows == expected.to_dict(orient="records")

    (files / "long.tsv").write_text(output(*arguments, "-q", "-p", -1), encoding="utf-8")
    long = pd.read_csv(files / "long.tsv", sep="\t", dtype={"query_id": str})
    assert list(long.columns) == ["name", "query_id", "measure", "value"]
    per_query = context.evaluate(QRELS, [NRG @ 2, rrLP], perquery=True)
    want = {(r.name, r.query_id, r.measure): r.value for r in per_query.itertuples(index=False)}
    want |= {(name, "all", m): expected.loc[name, m] for name in RUNS for m in expected.columns}
    got = {(r.name, r.query_id, r.measure): r.value for r in long.itertuples(index=False)}
    assert got == pytest.approx(want) and len(long) == len(want)
    without = output(*arguments, "-q", "-n", "-o", "jsonl").splitlines()
    assert len(without) == len(per_query) and "all" not in {json.loads(line)["query_id"] for line in without}


def test_groups(files: Path) -> None:
    groups = {"A": "x", "B": "x", "C": "y"}
    arguments = [files / "qrels.txt", files / "runs", "NRG@2", "-p", "-1", "-o", "jsonl"]
    expected = RunContext(RUNS, priors=BestOfOtherGroups(), groups=groups).evaluate(QRELS, [NRG @ 2])
    for start in ("", "\ufeffRun, Group\n\nstale,z\n"):
        csv = files / "groups.csv"
        csv.write_text(start + "".join(f"{n}, {g}\n" for n, g in groups.items()), encoding="utf-8")
        rows = output(*arguments[:3], "-o", "jsonl", "--priors", "best-of-other-groups", "--groups", csv)
        assert [json.loads(line) for line in rows.splitlines()] == expected.to_dict(orient="records"), start


def test_qrels_of_a_dataset(files: Path) -> None:
    scored = demo.generate().scoreddocs
    rankings: dict[str, dict[str, float]] = {}
    for row in scored:
        rankings.setdefault(row.query_id, {})[row.doc_id] = row.score
    path = write_run(files / "bm25.run", "BM25", rankings)
    measures = [nDCG @ 10, AP, P @ 5]
    expected = ir_measures.calc_aggregate(measures, demo.generate().qrels, rankings)
    assert output(demo.DATASET_ID, path, "nDCG@10 AP P@5") == "".join(
        f"{m}\t{expected[m]:.4f}\n" for m in measures
    )


OFFLINE = {"IR_DATASETS_DL_TRIES": "1", "IR_DATASETS_DL_TIMEOUT": "2", "https_proxy": "http://127.0.0.1:9"}


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        ("antique/test", "files of the dataset 'antique/test' could not be fetched .*is there a network"),
        ("antiqe/test", "no qrels file 'antiqe/test', and ir_datasets knows no dataset"),
        ("antique", "'antique' has docs, but no .*qrels.*give the qrels yourself"),
    ],
)
def test_datasets_that_cannot_be_had(
    files: Path, dataset: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (OFFLINE | {"IR_DATASETS_HOME": str(files / "home")}).items():
        monkeypatch.setenv(name, value)
    said = error(dataset, files / "runs", "NRG@2", cwd=files)
    assert re.search(message, said), said


ONE = ["qrels.txt", "runs/A.run"]
PRIOR = ["--prior", "runs/B.run"]
FOLDER = ["qrels.txt", "runs"]
BAD = {
    "nothing": (["score"], "the following arguments are required: QRELS, RUN, MEASURE; see ir_measures_relative score --help"),
    "no such qrels": (["nix.txt", *ONE[1:], "NRG@2", *PRIOR], "no qrels file 'nix.txt'"),
    "empty qrels": (["empty", *ONE[1:], "NRG@2", *PRIOR], "the qrels hold no judgment"),
    "other topics": (["other.txt", *ONE[1:], "NRG@2", *PRIOR], "run 'A' has no query in common with the qrels"),
    "no such run": (["qrels.txt", "nix", "NRG@2", *PRIOR], "nix: no such file or folder"),
    "truncated run": (["qrels.txt", "truncated.gz", "NRG@2", *PRIOR], "truncated.gz: the .gz file is truncated"),
    "no prior": ([*ONE, "nDCG@2 NRG@2"], "NRG@2 needs runs to compare with: pass them with --to"),
    "prior is the run": ([*ONE, "NRG@2", "--prior", "./runs/../runs/A.run"], "is the evaluated run itself"),
    "reference is the run": ([*ONE, "rrLP", "--reference", "runs/A.run"], "is the evaluated run itself"),
    "prior ranks as the run": ([*ONE, "NRG@2", "--prior", "copy.run"], "'copy' ranks exactly as the evaluated run"),
    "which reference": ([*ONE, "rrLP", "--prior", "runs/B.run", "--prior", "runs/C.run"], "set --reference to one of B, C"),
    "unknown reference": ([*FOLDER, "MED@2", "--reference", "D"], "--reference D is not a run of runs; its runs are A, B, C"),
    "a run as a measure": ([*ONE, "runs/B.run", "NRG@2"], "'runs/B.run' is a file, not a measure"),
    "typo": ([*ONE, "NGR(base='RBP')@10", *PRIOR], "the nearest is 'NRG', that is NRG(base='RBP')@10"),
    "trec_eval's name": ([*ONE, "ndcg_cut_10"], "trec_eval's is nDCG@10"),
    "comma": ([*ONE, "nDCG@2,NRG@2"], "two with a space between"),
    "cutoff 0": ([*ONE, "nDCG@0"], "nDCG@0: cutoff=0 is not allowed; it must be from 1 to 2^31 - 1"),
    "no provider": ([*ONE, "INST(max_rel=1)"], "Unsupported measures"),
    "other provider": ([*ONE, "nDCG@2", "--provider", "judged"], "--provider judged does not compute nDCG@2"),
    "no size of the collection": ([*ONE, "nDCG_UE(pool='corpus')@2"], "(on the command line: --num_docs)"),
    "-n without -q": ([*ONE, "P@1", "-n"], "add -q"),
    "bad places": ([*ONE, "P@1", "-p", "-2"], "--places -2: give 0"),
    "a run without a name": (["qrels.txt", "", "P@1"], "the path of a run is an empty string; give a file"),
    "a link to nowhere": (["qrels.txt", "broken", "P@1"], "broken: no such file or folder"),
    "the input twice": (["qrels.txt", "-", "NRG@2", "--to", "-"], "- is the standard input, which can be read once"),
    "sort by nothing": ([*FOLDER, "P@2", "--sort", "NRG@2"], "--sort NRG@2: there is no such column; the columns are name, P@2"),
    "names of no file": ([*FOLDER, "P@2", "--names", "nix.csv"], "--names nix.csv: no such file; check the path"),
    "one name for two": ([*FOLDER, "P@2", "--names", "same.csv"], "--names same.csv calls two runs 'x'; give each its own name"),
    "names of other runs": ([*FOLDER, "P@2", "--names", "stale.csv"], "stale.csv names none of the runs, which are A, B, C"),
    "no word for it": (["wroth", *FOLDER], "no command and no file is called 'wroth'; did you mean worth?"),
    "non-run in the folder": (["qrels.txt", "mixed", "NRG@2"], "mixed/notes.txt, line 1: 3 columns"),
    "no groups": ([*FOLDER, "NRG@2", "--priors", "best-of-other-groups"], "needs the groups: give --groups CSV"),
    "no run is in the groups": ([*FOLDER, "NRG@2", "--groups", "stale.csv"], "stale.csv names none of the runs, which are A, B, C; add a line such as 'A,its group'"),
    "three columns": ([*FOLDER, "NRG@2", "--groups", "three.csv"], "Expected 2 fields in line 2, saw 3"),
    "one column": ([*FOLDER, "NRG@2", "--groups", "qrels.txt"], "--groups qrels.txt is no CSV file of two columns; give one of run,group"),
    "two groups": ([*FOLDER, "NRG@2", "--groups", "two.csv"], "two.csv, line 2: 'A' is in 'x' already"),
    "groups that are no text": ([*FOLDER, "NRG@2", "--groups", "binary"], "--groups binary, line 1: not text in UTF-8; convert the file"),
    "reference is a folder": ([*ONE, "rrLP", "--reference", "runs"], "--reference runs stands for 3 files; name one run file"),
    "measures of spaces": ([*ONE, " "], "no measure is given; name one, such as NRG@10"),
    "the run as its baseline": (["compare", *ONE, "P@1", "--baseline", "runs/A.run"], "--baseline runs/A.run is the evaluated run itself; name another run"),
    "by its name": (["compare", *ONE, "P@1", "--baseline", "A"], "--baseline A is the evaluated run itself; name another run"),
    "a folder as baseline": (["compare", *ONE, "P@1", "--baseline", "runs"], "--baseline runs stands for 3 files; name one run file"),
    "a command in capitals": (["SCORE", *ONE, "P@1"], "no command and no file is called 'SCORE'; did you mean score?"),
    "more places than a number has": ([*FOLDER, "P@1", "-p", "99"], "--places 99: give 0 to 17, or -1 for all places"),
    "a picture to the output": (["plot", *FOLDER, "--output", "-"], "--output -: a picture does not go to the standard output"),
    "a track without --to": (["worth", *ONE, "--track", "x.track"], "arguments: --track x.track; did you mean --to?"),
    "a run without --to": (["worth", *ONE, "b.run"], "the runs to compare with go behind --to"),
    "plot without absolute": (["plot", *FOLDER, "NRG@2", "--output", "o.png"], "add an absolute one, such as nDCG@10"),
    "plot without relative": (["plot", *FOLDER, "P@2", "--output", "o.png"], "add a relative one, such as NRG@10"),
}  # fmt: skip


def test_bad_input_is_one_line_and_exit_code_2(files: Path) -> None:
    pytest.importorskip("matplotlib", reason="the cases of plot need matplotlib")
    prepare_bad_input(files)
    for case, (arguments, message) in BAD.items():
        assert message in error(*arguments, cwd=files), case


def prepare_bad_input(files: Path) -> None:
    (files / "binary").write_bytes(b"\xff\xfa 0 x 1\n")
    (files / "truncated.gz").write_bytes(gzip.compress(b"1 Q0 a 1 1.0 A\n" * 1000)[:30])
    (files / "empty").write_text("")
    (files / "other.txt").write_text("77 0 a 1\n")
    write_run(files / "copy.run", "copy", RUNS["A"])
    (files / "broken").symlink_to("nowhere")
    for folder in ("mixed", "dir.png"):
        (files / folder).mkdir()
    write_run(files / "mixed" / "A.run", "A", RUNS["A"])
    (files / "mixed" / "notes.txt").write_text("Runs of mine\n")
    (files / "stale.csv").write_text("run,group\nZ,x\n")
    (files / "same.csv").write_text("A,x\nB,x\n")
    (files / "three.csv").write_text("A,x\nB,x,y\n")
    (files / "two.csv").write_text("A,x\nA,y\n")


def test_a_run_that_goes_after_its_folder_was_listed(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ir_measures_relative.cli import main
    from ir_measures_relative.formats import run_paths

    def gone(files: Iterable[Path], *_: object) -> list[Path]:
        listed = list(files)
        for file in listed:
            file.unlink()
        return listed

    monkeypatch.setattr(run_paths, "_select_task", gone)
    assert main([str(files / "qrels.txt"), str(files / "runs"), "NRG@2"]) == 2
    assert "A.run: no such file; check the path" in capsys.readouterr().err


def test_warnings_are_single_lines(files: Path) -> None:
    (files / "one").mkdir()
    shutil.copy(files / "runs" / "A.run", files / "one")
    done = run(files / "qrels.txt", files / "one", "NRG@2 UniqueRel(rel=1)@2", "-o", "jsonl", "-p", "2")
    assert done.returncode == 0
    first, second = done.stderr.splitlines()
    assert first.startswith("ir_measures_relative: warning: --places is ignored")
    assert second.startswith("ir_measures_relative: warning: the context holds no run but 'A'")


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX pipes and signals")
def test_a_reader_who_leaves(files: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "qrels.txt", "runs", "NRG@2", "-q"],
        cwd=files,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout and process.stderr
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait() == 141


def test_help_and_version() -> None:
    done = process("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"ir_measures_relative {__version__}\n", "")
    text = output("--help")
    assert text == output() and len(text.splitlines()) <= 45
    for name, summary in COMMANDS.items():
        assert f"  {name} " in text and summary in text


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo's campaign."""
    folder = tmp_path_factory.mktemp("demo")
    write_campaign([str(folder / "campaign")])
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_fits_a_screen_and_its_example_runs(
    name: str, demo_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = load_command(name)
    lines = output(name, "--help").splitlines()
    assert len(lines) <= 45 and max(map(len, lines)) <= 100
    if name == "report":
        return  # test_report.py writes reports
    if name == "plot":
        pytest.importorskip("matplotlib", reason="the extra [plot] is not installed")
    monkeypatch.chdir(demo_folder)
    done = run(name, *shlex.split(command.example.replace("\\\n", "")))
    assert done.returncode == 0 and "error" not in done.stderr, done.stderr
    written = re.search(r"--output (\S+)", command.example)
    assert (demo_folder / written[1]).stat().st_size > 1000 if written else done.stdout


PACKAGE = "ir_measures_relative"
LATE = ("pandas", "scipy", "tqdm")


@pytest.mark.parametrize(
    ("arguments", "late"),
    [
        *(
            (given, (*LATE, "pathlib", f"{PACKAGE}.context.run_context", f"{PACKAGE}.reporting"))
            for given in (["worth", "--help"], ["qrels.txt", "runs", "NGR@10"])
        ),
        (["qrels.txt", "runs", "NRG@2"], (*LATE, "numpy.ma", "importlib.metadata", "hashlib")),
    ],
)
def test_a_command_waits_for_no_import_that_it_does_without(
    files: Path, arguments: list[str], late: tuple[str, ...]
) -> None:
    """Most of what help, a wrong measure and small scores take is the start."""
    code = f"import sys, numpy; brought = set(sys.modules); from ir_measures_relative.cli import main; main(sys.argv[1:]); print([m for m in {late} if m in set(sys.modules) - brought])"
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=unmeasured(), cwd=files)
    assert done.stdout.splitlines()[-1] == "[]", done


def test_what_the_start_imports_is_no_work_for_the_garbage_collector() -> None:
    code = "import gc, sys; from ir_measures_relative_console import main; main(); print(gc.isenabled(), gc.get_freeze_count() > 10_000)"
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"], capture_output=True, text=True, env=unmeasured()
    )
    assert done.stdout.splitlines()[-1] == "True True", done
