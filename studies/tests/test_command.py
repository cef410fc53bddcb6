"""``python -m studies.reproduce``: what it prints and writes of a campaign that it has never seen, and what it refuses."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from studies.reproduce import __main__ as command
from studies.reproduce import lexiprecision, nrg_claims, page
from studies.reproduce.__main__ import main
from studies.reproduce.data import Campaign, Data
from studies.reproduce.finding import Finding
from studies.reproduce.lexiprecision_study import Study
from studies.reproduce.nrg_campaign import Figures

from small_campaign import reproduce, write_campaign


def _groups(folder: Path, *groups: str) -> None:
    (folder / "groups.csv").write_text("run,group\n" + "".join(f"run{i},{g}\n" for i, g in enumerate(groups)))


def test_runs_on_another_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two papers; a table and its pictures for each."""
    plain = write_campaign(tmp_path / "plain", seed=2)
    grouped = write_campaign(tmp_path / "grouped", runs=5, seed=3)
    _groups(grouped, "BASELINE", "BASELINE", "BASELINE", "X", "Y")
    options = "--robust", str(plain), "--dl19", str(grouped), "--out", str(tmp_path / "out")
    for paper in ("nrg", "rareness"):
        monkeypatch.setattr(sys, "argv", ["reproduce", paper, *options])
        main()
        _, _, header, *rows = capsys.readouterr().out.splitlines()
        assert header.split("  ")[0] == "where" and header.split()[-1] == "holds"
        assert any("plain" in row for row in rows) and any("grouped" in row for row in rows)
        assert not [row for row in rows if "nan" in row.split()]
    pictures = [f"nrg-figure-{n}" for n in (2, 3, 4, 5)]
    pictures += ["rareness-figure-1", "rareness-figure-2", "rareness-table-2"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *(f"{what}-{c}.png" for what in pictures for c in ("plain", "grouped")), "rareness-table-3.png",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ((), "There is no groups.csv"),
        (("X", "BASELINE", "BASELINE", "Y"), "no group BASELINE of three runs"),
    ],
)
def test_says_what_cannot_be_run(tmp_path: Path, groups: tuple[str, ...], said: str) -> None:
    folder = write_campaign(tmp_path / "c")
    if groups:
        _groups(folder, *groups)
    found = list(nrg_claims.findings(Figures(Campaign(folder))))
    assert [f.holds for f in found if said in f.note] == ["open"]
    assert not any("bm25" in f.what or f.where == "§4" for f in found)  # claims about runs that are not there


def test_refuses_bad_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", ["reproduce", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
        return str(exit_.value.code) + capsys.readouterr().err

    monkeypatch.chdir(tmp_path)
    assert "give the runs: --robust PATH" in said("nrg")
    assert f"{tmp_path / 'no'} is not a folder" in said("nrg", "--dl19", tmp_path / "no")
    assert f"{tmp_path} holds no folder runs/" in said("nrg", "--dl19", tmp_path)
    assert "--write is for the whole page" in said("nrg", "--dl19", tmp_path, "--write")
    folder = write_campaign(tmp_path / "c", runs=2)
    assert "runs: 2; the experiments need 3 or more" in said("rareness", "--robust", folder)
    (folder / "runs" / "run2").write_text("t0 Q0 d1 1 high run2\n")
    assert "run2, line 1: the score 'high' is not a number" in said("rareness", "--robust", folder)
    (folder / "runs" / "run2").write_text("t0 Q0 d1 1 1.0 run2\n")
    _groups(folder, "X", "Y")
    assert "groups.csv says no group of run2" in said("nrg", "--dl19", folder)
    (folder / "qrels.txt").write_text("t0 0 d1 1\n")
    assert "judged topics: 1; the experiments need 2 or more" in said("nrg", "--dl19", folder)
    (folder / "qrels.txt").write_text("t0 0 d1 0\nt1 0 d1 0\n")
    assert "documents of relevance 1 or more: 0" in said("rareness", "--dl19", folder)
    (folder / "qrels.txt").write_text("t0 0 d1 yes\n")
    assert "is not a qrels file of 'query_id 0 doc_id relevance' a line" in said(
        "rareness", "--robust", folder
    )
    (folder / "qrels.txt").unlink()
    assert f"{folder} holds no file qrels*" in said("nrg", "--dl19", folder)


def test_a_campaign_is_not_taken_twice(tmp_path: Path) -> None:
    """The tables know campaigns by name: two of one name would be one."""
    first, second = (write_campaign(tmp_path / parent / "runs-of-2020", seed=1) for parent in ("a", "b"))
    done = reproduce("nrg", "--robust", first, "--dl19", second)
    assert done.returncode == 1 and "both runs-of-2020: give one of them" in done.stderr


@pytest.mark.parametrize(
    ("topics", "some", "name"),
    [
        (54, "23849 42255 47210 67316 118440", "deep-pass (2020)"),
        (53, "2082 23287 30611 112700 168329", "deep-pass (2021)"),
        (53, "23849 42255 47210 67316 118440", None),
        (54, "23849 42255 47210 67316 1", None),
    ],
)
def test_a_year_is_known_by_its_topics(tmp_path: Path, topics: int, some: str, name: str | None) -> None:
    """Its numbers are printed beside ours, and need not come out, as nobody knows that they are of these runs."""
    campaign = Campaign(write_campaign(tmp_path / "mine", topics=topics))
    ids = dict(zip(campaign.queries, [*some.split(), *map(str, range(10**6, 10**6 + topics))], strict=False))
    for file in (*(campaign.folder / "runs").iterdir(), *campaign.folder.glob("qrels*")):
        rows = (line.split() for line in file.read_text().splitlines())
        file.write_text("".join(" ".join([ids.get(row[0], row[0]), *row[1:]]) + "\n" for row in rows))
    study = Study(Campaign(campaign.folder))
    assert (study.campaign.known and study.name) == name and (name or study.name == "mine")
    found = list(lexiprecision._table_2(study))
    printed = {"deep-pass (2020)": [2.58, 50.30], "deep-pass (2021)": [1.32, 47.41], None: [None, None]}
    assert [f.printed for f in found] == printed[name]
    assert found[0].where == f"Table 2, {study.name}" + (" (printed: of the paper’s runs)" if name else "")
    assert {f.holds for f in found} == {"yes"}  # that rrLP ties less


def test_what_holds_on_how_many_campaigns() -> None:
    """A claim that cannot be asked of a campaign is counted by the others; findings without a claim do not count."""
    asked = [("all", "yes", "yes"), ("some", "yes", "open"), ("none", "no", "in part"), ("one", "yes", None)]
    found = [
        Finding(f"Table 1, {campaign} (printed: of others)", "x", holds=holds, claim=claim)
        for claim, *both in asked
        for campaign, holds in zip(("a", "b"), both, strict=True)
        if holds
    ]
    found += [Finding("Table 1, a", "no claim", holds="yes"), Finding("Table 1", "no campaign", claim="one")]
    overview = page.overview({"Paper": found}, ["a", "b"])
    assert "| Paper | 4 | 2 | 1 | 1 |" in overview
    assert "| Table 1 | some | yes | open |" in overview and "| Table 1 | one | yes |  |" in overview
    assert "no claim" not in overview


def test_the_page_is_written_of_three_campaigns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The opening, what holds where, one paper, the table of items; pictures of an earlier page are gone."""

    def findings(data: Data, out: Path) -> list[Finding]:
        (out / "new.png").touch()
        holds = zip(data.given, ("yes", "yes", "no"), strict=True)
        return [
            Finding(f"Table 1, {c.name}", "x", holds=h, claim="More.", picture="new.png") for c, h in holds
        ]

    monkeypatch.setitem(
        sys.modules, "studies.reproduce.made", SimpleNamespace(TITLE="A paper", findings=findings)
    )
    monkeypatch.setattr(command, "PAPERS", ("made",))
    monkeypatch.setattr(command, "STUDIES", tmp_path)
    pictures = tmp_path / "pictures" / "re-tested"
    pictures.mkdir(parents=True)
    (pictures / "old.png").touch()
    names = ("robust", "dl19", "dl21")
    options = [word for name in names for word in (f"--{name}", str(write_campaign(tmp_path / name)))]
    monkeypatch.setattr(sys, "argv", ["reproduce", "all", "--write", *options])
    main()
    page_ = (tmp_path / "re-tested.md").read_text()
    titles = [line[3:] for line in page_.splitlines() if line.startswith("## ")]
    assert titles == [
        "What holds on how many campaigns",
        "A paper",
        "What the papers left open, and where it is",
    ]
    assert "| A paper | 1 | 0 | 1 | 0 |" in page_ and "| Table 1 | More. | yes | yes | no |" in page_
    assert [path.name for path in pictures.iterdir()] == ["new.png"]
