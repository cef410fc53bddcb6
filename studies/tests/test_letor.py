"""``python -m studies.reproduce ue --letor FOLDER``: the reader against the lines of the file, the tables on generated data."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from ir_measures import nDCG
from studies.reproduce import ue_printed
from studies.reproduce.__main__ import main
from studies.reproduce.letor import Rows, campaign, rankers

from ir_measures_relative import RunContext

pytest.importorskip("sklearn", reason="the rankers are scikit-learn's, of the extra [examples]")


def write_letor(folder: Path, queries: int = 200, seed: int = 0) -> Path:
    """Half of the queries to train on and half to test; the label grows with the first of five features."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    for name, ids in (("train", range(queries // 2)), ("test", range(queries // 2, queries))):
        lines = []
        for q in ids:
            for _ in range(int(rng.integers(5, 12))):
                x = rng.random(5)
                label = int(np.clip(round(3 * x[0] - 0.5 + rng.normal(0, 0.4)), 0, 2))
                lines.append(
                    f"{label} qid:{q} " + " ".join(f"{i}:{v:.4f}" for i, v in enumerate(x, 1)) + " # doc\n"
                )
        (folder / f"{name}.txt").write_text("".join(lines))
    return folder


def test_rows_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("2 qid:7 1:0.5 3:1 # docid = GX1\n0 qid:7 2:0.25\n1 qid:9 1:1\n")
    rows = Rows.read(path)
    assert rows.features.tolist() == [[0, 0.5, 0, 1], [0, 0, 0.25, 0], [0, 1, 0, 0]]
    want = [("7", "d0", 2), ("7", "d1", 0), ("9", "d0", 1)]
    assert list(rows.qrels().itertuples(index=False, name=None)) == want
    run = rows.run(np.array([0.1, 0.9, 0.5]))
    values = RunContext({"r": run}).evaluate(rows.qrels(), [nDCG @ 1], perquery=True)["value"]
    assert values.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ("0.5 qid:1 1:1\n1 qid:1 1:1\n", "label 0.5; labels are whole numbers"),
        ("nan qid:1 1:1\n", "label nan"),
        ("-inf qid:1 1:1\n", "label -inf"),
        ("1e30 qid:1 1:1\n", "label 1e\\+30"),
        ("1 qid:1 1:nan\n", "a feature is NaN"),
        ("1 qid:99999999999999999999 1:1\n", "not an SVMlight file"),
        ("1 qid:1 1:1\n0 1:2\n", "2 rows, of which 1 have a qid"),
    ],
)
def test_what_no_label_or_feature_can_be_is_refused(tmp_path: Path, lines: str, what: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(lines)
    with pytest.raises(SystemExit, match=what):
        Rows.read(path)


def test_a_feature_keeps_its_number_where_a_file_has_no_feature_0(tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("1 qid:1 0:0.5 1:2\n")
    second.write_text("1 qid:1 1:2\n")
    assert Rows.read(first).features.tolist() == [[0.5, 2]]
    assert Rows.read(second).features.tolist() == [[0, 2]]


def test_a_query_in_the_tests_of_two_folds_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "folds"
    folder.mkdir()
    for fold in ("Fold1", "Fold2"):
        write_letor(folder / fold, 20, 1)
    with pytest.raises(SystemExit, match="Fold2/test.txt: query 10 is in the test of another fold, too"):
        campaign(folder, tmp_path / "out")


def test_rankers_learn_and_make_a_campaign(tmp_path: Path) -> None:
    made = campaign(write_letor(tmp_path / "data"), tmp_path / "out")
    assert {*made.context.names} == {*rankers()} and len(made.queries) == 100
    table = made.context.evaluate(made.qrels, [nDCG @ 5])
    random = np.random.default_rng(1).random(len(made.qrels))
    chance = RunContext({"chance": made.qrels.assign(score=random)[["query_id", "doc_id", "score"]]})
    assert table["nDCG@5"].min() > chance.evaluate(made.qrels, [nDCG @ 5])["nDCG@5"][0] + 0.05


def test_folds_are_put_together(tmp_path: Path) -> None:
    folder = tmp_path / "folds"
    folder.mkdir()
    write_letor(folder / "Fold1", 20, 1)
    other = write_letor(folder / "Fold2", 20, 2)
    test = (other / "test.txt").read_text().replace("qid:", "qid:5")
    (other / "test.txt").write_text(test)
    assert len(campaign(folder, tmp_path / "out").queries) == 20


def test_all_tables_of_two_data_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(write_letor(tmp_path / name, 200, seed)) for seed, name in enumerate(("one", "two"))]
    monkeypatch.setattr(sys, "argv", ["reproduce", "ue", "--letor", *folders, "--out", str(tmp_path / "out")])
    main()
    printed = capsys.readouterr().out
    for table in (
        "Tables 3-6, one",
        "Tables 15-18, two",
        "Table 11 ",
        "Table 23 ",
        "Table 13, one",
        "Table 25, two",
        "§6.3.2, two",
    ):
        assert table in printed, table
    assert "MSLR-WEB30K and MQ2007, which are not here" not in printed
    assert "pairwise-svm" in printed and len(list(ue_printed.left_open())) > len(
        list(ue_printed.left_open(2))
    )


def test_what_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=r"holds no train.txt beside a test.txt"):
        campaign(tmp_path, tmp_path / "out")
    (tmp_path / "no.txt").write_text("2 1:0.5\n")
    with pytest.raises(SystemExit, match="every row needs one"):
        Rows.read(tmp_path / "no.txt")
    monkeypatch.setattr(
        sys, "argv", ["reproduce", "ue", "--letor", str(tmp_path / "a/x"), str(tmp_path / "b/x")]
    )
    with pytest.raises(SystemExit):
        main()
    assert "have one name" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["reproduce", "nrg", "--letor", str(tmp_path)])
    with pytest.raises(SystemExit):
        main()
