"""A folder of runs as downloaded from an archive."""

import gzip
from pathlib import Path

import pytest
from ir_measures import Qrel

from ir_measures_relative import RelativeWarning, RunContext
from ir_measures_relative.context.priors import BestOfOtherGroups
from kinds import QRELS, RUNS, trec_qrels, trec_run

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
