"""Folders, globs, lists of paths, and folders of an archive: which runs there are, their names, what is said of the rest."""

import bz2
import gzip
import json
import lzma
import os
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ir_measures import Qrel

from ir_measures_relative import RelativeWarning, RunContext
from ir_measures_relative.context.priors import BestOfOtherGroups
from kinds import QRELS, RUNS, trec_qrels, trec_run

PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
TREE = ("a/run.txt", "b/run.txt.xz", "b/run2.txt", "c/d/run.tsv", "e/run.bz2")


def run_of(tag: str, doc: str = "d") -> str:
    return f"q Q0 {doc} 1 2.0 {tag}\nq Q0 e 2 1.0 {tag}\n"


def written(folder: Path, contents: Mapping[str, str]) -> Path:
    """Files by their paths, packed as their endings say."""
    for name, text in contents.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(PACKED.get(file.suffix, bytes)(text.encode()))
    return folder


def names(folder: Path, glob: str = "") -> list[str]:
    return RunContext.from_files(os.path.join(folder, glob) if glob else folder).names


PAGES = ("README.md", "retrieval-ir-metadata.yml", "index-ir-metadata.yaml", "about.html", ".hidden")


@pytest.mark.parametrize("glob", ["", "**", "**/*", "*"])
def test_every_run_below_a_folder_is_read(glob: str, tmp_path: Path) -> None:
    written(tmp_path, {name: run_of(name.replace("/", "-")) for name in TREE})
    written(tmp_path, dict.fromkeys([*PAGES, "a/README.md", "c/d/.x/run.txt", ".git/run.txt"], "no run"))
    assert names(tmp_path, glob) == [name.replace("/", "-") for name in TREE]


def test_a_run_may_be_called_as_a_page(tmp_path: Path) -> None:
    assert names(written(tmp_path, {"a.md": run_of("A"), "b.md": "# no run"})) == ["A"]


@pytest.mark.parametrize("glob", ["", "*"])
def test_folders_beside_runs_are_counted(glob: str, tmp_path: Path) -> None:
    written(tmp_path, {"A.run": run_of("A"), "old/B.run": run_of("B"), "new/C/D.run": run_of("D")})
    written(tmp_path, {"empty/README.md": "no run", "figures/a.svg": "<svg></svg>", "logs/a.log": "no run\n"})
    said = r"its files are read, and not those of 2 folders beside them \(.*new, .*old\); to read .* '.*\*\*'"
    with pytest.warns(RelativeWarning, match=said) as caught:
        assert names(tmp_path, glob) == ["A"]
    assert len(caught) == 1
    (tmp_path / "logs" / "a.log").unlink()
    assert names(tmp_path, "**") == ["A", "D", "B"]


@pytest.mark.parametrize("kind", ["trec", "json", "csv", "ranks", "packed", "unreadable"])
def test_what_a_folder_beside_runs_may_hold(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"json": '{"q": {"d": 1.0}}', "csv": "a;b\n", "ranks": "q\td\t1\n"}
    ending = {"packed": ".gz", "csv": ".csv"}.get(kind, ".x")
    written(tmp_path, {"A.run": run_of("A"), f"old/b{ending}": texts.get(kind, run_of("B"))})
    if kind == "unreadable":

        def iterdir(path: Path, real: Any = Path.iterdir) -> Any:
            if path.name == "old":
                raise PermissionError(path)
            return real(path)

        monkeypatch.setattr(Path, "iterdir", iterdir)
        assert names(tmp_path) == ["A"]
    else:
        with pytest.warns(RelativeWarning, match="not those of 1 folder beside"):
            assert names(tmp_path) == ["A"]


def test_links(tmp_path: Path) -> None:
    """A link to a folder that it lies in is not followed, and one to nothing is no run that goes missing."""
    written(tmp_path, {"runs/A.run": run_of("A"), "runs/more/B.run": run_of("B"), "other/C.run": run_of("C")})
    (tmp_path / "runs" / "more" / "loop").symlink_to(tmp_path / "runs", target_is_directory=True)
    assert names(tmp_path / "runs", "**") == ["A", "B"]
    (tmp_path / "runs" / "A.run").unlink()
    (tmp_path / "runs" / "link").symlink_to("../other", target_is_directory=True)
    assert names(tmp_path / "runs") == ["C", "B"]
    (tmp_path / "runs" / "lost.run").symlink_to("nowhere")
    for glob in ("", "*.run", "**"):
        with pytest.raises(FileNotFoundError, match=r"lost\.run is no file, or a link to none; remove it"):
            names(tmp_path / "runs", glob)


WHOLE = {"1": {"a": 2, "b": 1}, "2": {"e": 1}}
OTHER = {"1": {"b": 2.5, "c": 1.5}, "2": {"f": 1.5}}
DEEP = {"1": {f"d{i}": 20 - i for i in range(12)}}
TIES = {"1": {"a": 2, "b": 1, "c": 1}, "2": {"e": 1, "f": 0}}


def as_json(run: object) -> str:
    return json.dumps(run)


def as_table(run: Mapping[str, Mapping[str, float]], header: bool = True) -> str:
    rows = [f"{query}\t{doc}\t{score}" for query, docs in run.items() for doc, score in docs.items()]
    return "\n".join([*(["query_id\tdoc_id\tscore"] if header else []), *rows, ""])


JUDGMENTS = {
    "few documents": ("qrels.tsv", as_table({"1": {"b": 1}, "2": {"f": 1}}, header=False)),
    "one document": ("qrels.tsv", "1\ta\t1\n"),
    "grades 1, 2, 3 in order": ("qrels.tsv", "1\tx\t1\n1\ty\t2\n1\tz\t3\n2\tw\t1\n"),
    "other documents": ("whole.json", as_json({"1": {"x": 2, "y": 1}, "2": {"z": 1}})),
    "ties": ("whole.json", as_json(TIES)),
    "ties in a table": ("whole.tsv", as_table(TIES)),
    "many judged": ("whole.json", as_json({"1": {f"d{i}": i % 9 for i in range(40)}})),
}


@pytest.mark.parametrize("kind", JUDGMENTS)
def test_judgments_in_a_folder_of_runs_are_refused_by_name(kind: str, tmp_path: Path) -> None:
    """A path that is given itself is a run, whatever is in the file."""
    name, text = JUDGMENTS[kind]
    written(tmp_path, {name: text, "other.json": as_json(OTHER)})
    for glob in ("", "*", "**"):
        with pytest.raises(ValueError, match=rf"{name} may be judgments: all its scores are whole numbers"):
            names(tmp_path, glob)
    assert len(RunContext.from_files([tmp_path / name, tmp_path / "other.json"]).names) == 2


@pytest.mark.parametrize(
    ("name", "text", "is_unclear"),
    [
        ("whole.json", as_json(WHOLE), True),
        ("whole.csv", as_table(WHOLE), True),
        ("ranks.tsv", "1\tb\t1\n1\ta\t2\n2\te\t1\n", True),
        ("ranks.tsv", "1\tx\t1\n1\tb\t2\n1\tz\t3\n2\tf\t1\n", True),
        ("ranks.tsv", "1\ta\t1\n1\tb\t2\n1\tc\t3\n1\td\t4\n1\te\t5\n2\tf\t1\n", False),
        ("whole.json", as_json(DEEP), False),
    ],
)
def test_a_run_of_whole_numbers_wins(name: str, text: str, is_unclear: bool, tmp_path: Path) -> None:
    written(tmp_path, {name: text, "other.json": as_json(OTHER)})
    with warnings.catch_warnings(record=True, action="always") as caught:
        assert len(names(tmp_path)) == 2
    assert [
        re.search(rf"{name} may be judgments.*read as runs", str(w.message)) is not None for w in caught
    ] == [True] * is_unclear


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (("sysA/tot-dev/run.txt", "sysB/tot-dev/run.txt"), ["sysA/tot-dev/run", "sysB/tot-dev/run"]),
        (("a/x/run.txt", "b/y/run.txt.gz"), ["x/run", "y/run"]),
        (("x/y/z/r.csv", "x/q/z/r.csv"), ["y/z/r", "q/z/r"]),
        (("x/r.csv", "x/r.json"), ["r.csv", "r.json"]),
    ],
)
def test_names_have_as_many_folders_as_it_takes(
    files: list[str], expected: list[str], tmp_path: Path
) -> None:
    written(tmp_path, dict.fromkeys(files, run_of("same")))
    paths = [tmp_path / file for file in files]
    assert RunContext.from_files(paths).names == expected
    with pytest.raises(ValueError, match=r" is given twice"):
        RunContext.from_files([*paths, paths[0]])


TEAMS = {"bm25-base": "Waterloo", "dense_ü": "Café_IR", "rerank.v2": "Waterloo"}
TASKS = {"bm25-base": "passages", "dense_ü": "passages", "rerank.v2": "documents"}


def runs_page() -> str:
    blocks = [
        f"#### {name} \n[**`Results`**](./results.md#x), [**`Input`**](https://trec.nist.gov/files/input.{name}.gz) \n\n"
        f"- :material-rename: **Run ID:** {name} \n- :fontawesome-solid-user-group: **Participant:** {TEAMS[name]} \n"
        f"- :material-text-search: **Task:** {TASKS[name]} \n"
        "- :material-text: **Run description:** **Task:** made up \n\n---\n"
        for name in RUNS
    ]
    return "# Runs - Adhoc 2099 \n\n" + "".join(blocks)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "adhoc"
    folder.mkdir()
    for pattern, name in zip(("input.{}.gz", "{}.gz", "input-{}.gz"), RUNS, strict=True):
        (folder / pattern.format(name)).write_bytes(gzip.compress(trec_run(name)))
    (folder / "runs.md").write_text(runs_page(), "utf-8")
    (folder / "2099qrels-docs.txt").write_bytes(trec_qrels())
    return folder


def test_groups_tasks_and_judgments_are_those_of_the_folder(folder: Path) -> None:
    with pytest.raises(
        ValueError, match=r"several tasks: 'documents' \(1 run\), 'passages' \(2 runs\); name one"
    ):
        RunContext.from_files(folder)
    with pytest.raises(ValueError, match=r"no run of the task 'chats'; there are 'documents'"):
        RunContext.from_files(folder, task="chats")
    context = RunContext.from_files(folder, task="passages", priors=BestOfOtherGroups(by="nDCG@10"))
    assert context.names == ["bm25-base", "dense_ü"]
    assert dict(context.groups) == {"bm25-base": "Waterloo", "dense_ü": "Café_IR"}
    assert context.evaluate(None, ["NRG@10"]).equals(context.evaluate(QRELS, ["NRG@10"]))
    assert context.fingerprint()["qrels"]["judgments"] == 15
    assert str(folder) not in str(context.fingerprint())


def test_judgments_of_the_folder_keep_their_aspects(folder: Path) -> None:
    (query, docs), *_ = QRELS.items()
    judged = [Qrel(query, doc, 1, aspect) for doc, aspect in zip(docs, "aba", strict=False)]
    lines = [f"{q.query_id} {q.iteration} {q.doc_id} {q.relevance}\n" for q in judged]
    (folder / "2099qrels-docs.txt").write_text("".join(lines), "utf-8")
    context = RunContext.from_files(folder, task="passages")
    found = context.evaluate(None, ["NewAspects@10"])
    assert found.equals(context.evaluate(judged, ["NewAspects@10"]))


def test_participants_alone_say_the_groups(folder: Path) -> None:
    (folder / "runs.md").unlink()
    names = ", ".join(f"[{n}](./runs.md#x)" for n in ("bm25-base", "rerank.v2"))
    page = f"# Participants\n\n#### Waterloo\n - :octicons-organization-16: **Organization:** x\n - :x: **Runs:** {names}\n\n"
    (folder / "participants.md").write_text(page, "utf-8")
    with pytest.warns(RelativeWarning, match="does not say who sent dense_ü"):
        context = RunContext.from_files(folder)
    assert dict(context.groups) == {"bm25-base": "Waterloo", "dense_ü": "dense_ü", "rerank.v2": "Waterloo"}
    (folder / "participants.md").unlink()
    assert RunContext.from_files(folder).groups == {}


def test_what_a_folder_lacks_is_said(folder: Path, tmp_path: Path) -> None:
    (folder / "qrels.json").write_text("{}")
    with pytest.raises(
        ValueError, match=r"several files of judgments, 2099qrels-docs.txt, qrels.json; name one"
    ):
        RunContext.from_files(folder, task="passages")
    context = RunContext.from_files(folder, task="passages", judgments=folder / "2099qrels-docs.txt")
    assert len(context.evaluate(None, ["nDCG@10"])) == 2
    with pytest.raises(ValueError, match="knows no dataset 'nothing/here'"):
        RunContext.from_files(folder, task="passages", judgments="nothing/here")
    (folder / "old.Z").write_bytes(b"\x1f\x9d\x90")
    (folder / "runs.md").unlink()
    with pytest.raises(ValueError, match=r"old\.Z is a file packed by compress \(\.Z\)"):
        RunContext.from_files(folder, judgments=folder / "2099qrels-docs.txt")
    with pytest.raises(FileNotFoundError, match="the folder holds no file of a run"):
        (tmp_path / "empty").mkdir()
        RunContext.from_files(tmp_path / "empty")
    with pytest.raises(FileNotFoundError, match="nowhere: no such file or folder"):
        RunContext.from_files(tmp_path / "nowhere")
