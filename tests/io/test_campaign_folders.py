"""A campaign's folder as downloaded from an archive, and fetched from one on this machine."""

from __future__ import annotations

import base64
import gzip
import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from ir_measures import Qrel

from ir_measures_relative import RelativeWarning, RunContext
from ir_measures_relative.io.archive import CACHE, HOST, PAGES, PASSWORD, TIMEOUT, USER
from ir_measures_relative.priors import BestOfOtherGroups
from kinds import QRELS, RUNS, trec_qrels, trec_run

TEAMS = {"bm25-base": "Waterloo", "dense_ü": "Café_IR", "rerank.v2": "Waterloo"}
TASKS = {"bm25-base": "passages", "dense_ü": "passages", "rerank.v2": "documents"}


def runs_page(site: str = "https://trec.nist.gov", md5: str = "") -> str:
    blocks = [
        f"#### {name} \n[**`Results`**](./results.md#x), [**`Input`**]({site}/files/input.{name}.gz) \n\n"
        f"- :material-rename: **Run ID:** {name} \n- :fontawesome-solid-user-group: **Participant:** {TEAMS[name]} \n"
        f"- :material-text-search: **Task:** {TASKS[name]} \n"
        + (f"- :material-fingerprint: **MD5:** `{md5}` \n" if md5 else "")
        + "- :material-text: **Run description:** **Task:** made up \n\n---\n"
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
        ValueError, match=r"several tasks: 'documents' \(1 runs\), 'passages' \(2 runs\); say which, such"
    ):
        RunContext.from_campaign(folder)
    with pytest.raises(ValueError, match=r"no run of the task 'chats'; there are 'documents'"):
        RunContext.from_campaign(folder, "chats")
    context = RunContext.from_campaign(folder, "passages", priors=BestOfOtherGroups(by="nDCG@10"))
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
    context = RunContext.from_campaign(folder, "passages")
    found = context.evaluate(None, ["NewAspects@10"])
    assert found.equals(context.evaluate(judged, ["NewAspects@10"]))


def test_participants_alone_say_the_groups(folder: Path) -> None:
    (folder / "runs.md").unlink()
    names = ", ".join(f"[{n}](./runs.md#x)" for n in ("bm25-base", "rerank.v2"))
    page = f"# Participants\n\n#### Waterloo\n - :octicons-organization-16: **Organization:** x\n - :x: **Runs:** {names}\n\n"
    (folder / "participants.md").write_text(page, "utf-8")
    with pytest.warns(
        RelativeWarning, match="does not say who sent dense_ü; each counts as a group of its own"
    ):
        context = RunContext.from_campaign(folder)
    assert dict(context.groups) == {"bm25-base": "Waterloo", "dense_ü": "dense_ü", "rerank.v2": "Waterloo"}
    (folder / "participants.md").unlink()
    assert RunContext.from_campaign(folder).groups == {}


def test_what_a_folder_lacks_is_said(folder: Path, tmp_path: Path) -> None:
    (folder / "qrels.json").write_text("{}")
    with pytest.raises(
        ValueError, match=r"several files of judgments, 2099qrels-docs.txt, qrels.json; say which: jud"
    ):
        RunContext.from_campaign(folder, "passages")
    context = RunContext.from_campaign(folder, "passages", judgments=folder / "2099qrels-docs.txt")
    assert len(context.evaluate(None, ["nDCG@10"])) == 2
    with pytest.raises(ValueError, match="knows no dataset 'nothing/here'"):
        RunContext.from_campaign(folder, "passages", judgments="nothing/here")
    (folder / "old.Z").write_bytes(b"\x1f\x9d\x90")
    (folder / "runs.md").unlink()
    with pytest.raises(
        ValueError, match=r"old\.Z is a file packed by compress \(\.Z\), which is not read here; unpack"
    ):
        RunContext.from_campaign(folder, judgments=folder / "2099qrels-docs.txt")
    with pytest.raises(FileNotFoundError, match="holds no file of a run; put input.NAME.gz"):
        (tmp_path / "empty").mkdir()
        RunContext.from_campaign(tmp_path / "empty")
    with pytest.raises(
        FileNotFoundError, match="no such folder; give one, or the id of a campaign: 'trec28/deep'"
    ):
        RunContext.from_campaign(tmp_path / "nowhere")


# ---- an archive on this machine ------------------------------------------------------------------------------------


class Archive:
    """A server on the loopback address: what it holds, and how it answers."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.answer: Callable[[BaseHTTPRequestHandler, bytes], bool] | None = (
            None  # says whether it answered itself
        )
        self.asked: list[tuple[str, str | None, str | None]] = []  # paths, credentials, ranges
        archive = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                given, wanted = self.headers.get("Authorization"), self.headers.get("Range")
                archive.asked.append((self.path, given, wanted))
                name = self.path.rsplit("/", 1)[1].replace("%C3%BC", "ü")
                data = archive.files.get(name)
                if data is None:
                    return self.send_error(404)
                if name.endswith(".gz") and given != "Basic " + base64.b64encode(b"ada:secret").decode():
                    return self.send_error(401)
                if name.endswith(".gz") and archive.answer is not None and archive.answer(self, data):
                    return None
                start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
                self.send_response(206 if wanted else 200)
                self.send_header("Content-Length", str(len(data) - start))
                self.end_headers()
                self.wfile.write(data[start:])
                return None

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Archive]:
    archive = Archive()
    archive.files = {f"input.{name}.gz": gzip.compress(trec_run(name), mtime=0) for name in RUNS}
    archive.files["runs.md"] = runs_page(archive.url).encode()
    given = {
        PAGES: archive.url,
        HOST: "127.0.0.1",
        USER: "ada",
        PASSWORD: "secret",
        CACHE: str(tmp_path / "cache"),
    }
    for name, value in (given | {TIMEOUT: "5", "NO_PROXY": "127.0.0.1"}).items():
        monkeypatch.setenv(name, value)
    thread = threading.Thread(target=archive.server.serve_forever, daemon=True)
    thread.start()
    yield archive
    archive.server.shutdown()
    archive.server.server_close()
    thread.join()


def fetch() -> RunContext:
    return RunContext.from_campaign("trec99/adhoc", "passages")


def test_runs_are_fetched_once(archive: Archive, tmp_path: Path) -> None:
    context = fetch()
    assert context.names == ["bm25-base", "dense_ü"] and context.groups["dense_ü"] == "Café_IR"
    assert len(archive.asked) == 3  # and not the run of the other task
    pins = tmp_path / "cache" / "trec99" / "adhoc" / "sha256.json"
    written = pins.stat().st_mtime_ns, pins.stat().st_ino
    assert fetch().names == context.names and len(archive.asked) == 3
    assert (pins.stat().st_mtime_ns, pins.stat().st_ino) == written  # and nothing is written again
    for file in (tmp_path / "cache").rglob("*"):
        assert not file.is_file() or b"secret" not in file.read_bytes()
    assert "secret" not in str(context.fingerprint(QRELS)) and "ada" not in str(context.fingerprint(QRELS))


def test_a_file_that_changed_is_refused(archive: Archive, tmp_path: Path) -> None:
    fetch()
    file = tmp_path / "cache" / "trec99" / "adhoc" / "input.bm25-base.gz"
    file.write_bytes(gzip.compress(trec_run("rerank.v2")))
    with pytest.raises(
        ValueError, match=r"input\.bm25-base\.gz is not what it was when it was first fetched"
    ):
        fetch()
    file.unlink()
    assert len(fetch().names) == 2  # the archive has it as it was
    file.unlink()
    archive.files[file.name] = gzip.compress(trec_run("rerank.v2"))
    with pytest.raises(ValueError, match="not what it was"):
        fetch()


def test_another_md5_is_a_warning(archive: Archive) -> None:
    archive.files["runs.md"] = runs_page(archive.url, md5="0" * 32).encode()
    with pytest.warns(RelativeWarning, match="another MD5 for 2 of the runs fetched, such as bm25-base"):
        fetch()


def test_the_right_md5_is_none(archive: Archive) -> None:
    for name in ("dense_ü", "rerank.v2"):
        archive.files[f"input.{name}.gz"] = archive.files["input.bm25-base.gz"]
    md5 = hashlib.md5(archive.files["input.bm25-base.gz"], usedforsecurity=False).hexdigest()
    archive.files["runs.md"] = runs_page(archive.url, md5=md5).encode()
    fetch()


@pytest.mark.parametrize(
    ("name", "password", "message"),
    [
        (None, None, "asks for a name and password; set yours as IR_MEASURES_RELATIVE_ARCHIVE_USER"),
        ("ada", "wrong", "does not take the name and password given"),
    ],
)
def test_without_the_right_password(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, name: str | None, password: str | None, message: str
) -> None:
    for variable, value in ((USER, name), (PASSWORD, password)):
        monkeypatch.setenv(variable, value) if value else monkeypatch.delenv(variable)
    with pytest.raises(PermissionError, match=message) as caught:
        fetch()
    assert "wrong" not in str(caught.value)


def test_another_host_gets_no_password(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login ada password secret\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(HOST, "trec.nist.gov")
    with pytest.raises(PermissionError):
        fetch()
    assert {given for _, given, _ in archive.asked} == {None}


def test_what_broke_off_is_resumed(archive: Archive) -> None:
    def half(handler: BaseHTTPRequestHandler, data: bytes) -> bool:
        if handler.headers.get("Range"):
            return False
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data[:50])
        return True

    archive.answer = half
    with pytest.raises(
        ConnectionError, match=r"could not be fetched \(.*\); what was fetched is kept: call again"
    ):
        fetch()
    archive.answer = lambda handler, data: not handler.headers.get("Range") and half(handler, data)
    with pytest.raises(ConnectionError):
        fetch()  # the first is whole now, and the second breaks off
    assert fetch().names == ["bm25-base", "dense_ü"]
    assert [wanted for _, _, wanted in archive.asked if wanted] == ["bytes=50-", "bytes=50-"]


def test_a_damaged_file_is_not_kept(archive: Archive) -> None:
    whole = archive.files["input.bm25-base.gz"]
    archive.files["input.bm25-base.gz"] = whole[:-10]
    with pytest.raises(ValueError, match=r"input\.bm25-base\.gz: the \.gz file is truncated or damaged"):
        fetch()
    archive.files["input.bm25-base.gz"] = whole
    assert len(fetch().names) == 2


def test_an_archive_that_does_not_answer(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TIMEOUT, "0.3")
    archive.answer = lambda *_: time.sleep(1) is None
    start = time.monotonic()
    with pytest.raises(ConnectionError, match="could not be fetched"):
        fetch()
    assert time.monotonic() - start < 5
    archive.answer = lambda handler, _: handler.send_error(503) is None
    with pytest.raises(ConnectionError, match="the archive answers 503 .*; try again later"):
        fetch()
    with pytest.raises(ConnectionError, match="the archive has no such file; check the id of the campaign"):
        del archive.files["input.bm25-base.gz"]
        fetch()


def test_a_page_cannot_name_a_file_elsewhere(archive: Archive, tmp_path: Path) -> None:
    page = runs_page(archive.url).replace("**Run ID:** bm25-base", "**Run ID:** ../../../evil")
    archive.files["runs.md"] = page.encode()
    assert fetch().names == ["dense_ü"]
    assert not list(tmp_path.rglob("*evil*"))
