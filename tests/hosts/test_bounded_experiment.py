"""``pt.relative.Experiment(…, bounds=True)``."""

from __future__ import annotations

import pandas as pd
import pytest

pt = pytest.importorskip("pyterrier", reason="needs PyTerrier, of the extra [pyterrier]")

from ir_measures_relative import RelativeWarning, RunContext, bounds  # noqa: E402

TOPICS = pd.DataFrame({"qid": ["1", "2"], "query": ["tea", "milk"]})
QRELS = pd.DataFrame(
    {"qid": ["1", "1", "2", "3"], "docno": ["a", "b", "a", "z"], "label": [1, 0, 1, 1]},
)


def ranking(*docnos: str) -> pd.DataFrame:
    rows = [(qid, d, -float(i), i) for qid in ("1", "2") for i, d in enumerate(docnos)]
    return pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"])


SYSTEMS = {"one": ranking("a", "c"), "two": ranking("d", "a")}


def test_columns_behind_each_measure() -> None:
    found = pt.relative.Experiment(SYSTEMS, TOPICS, QRELS, ["nDCG@2", "NRG@2"], bounds=True)
    names = [f"{m}{end}" for m in ("nDCG@2", "NRG@2") for end in ("", " worst", " best")]
    assert list(found.columns) == ["name", *names]
    plain = pt.relative.Experiment(SYSTEMS, TOPICS, QRELS, ["nDCG@2", "NRG@2"])
    pd.testing.assert_frame_equal(found[plain.columns], plain)
    runs = {n: f.rename(columns={"qid": "query_id", "docno": "doc_id"}) for n, f in SYSTEMS.items()}
    judged = QRELS[QRELS["qid"].isin(TOPICS["qid"])].set_axis(["query_id", "doc_id", "relevance"], axis=1)
    expected = bounds(RunContext(runs, grades=(0, 1)), judged, ["nDCG@2"])
    assert found["nDCG@2 worst"].tolist() == expected["worst"].tolist()
    assert found["nDCG@2 best"].tolist() == expected["best"].tolist()
    assert ((found["nDCG@2 worst"] <= found["nDCG@2"]) & (found["nDCG@2"] <= found["nDCG@2 best"])).all()


def test_names_of_trec_eval_and_rounding() -> None:
    with pytest.warns(RelativeWarning, match="add the other runs of the campaign"):
        found = pt.relative.Experiment(SYSTEMS, TOPICS, QRELS, ["map", "P.2"], bounds=True, round=2)
    assert [c for c in found.columns if c.endswith("best")] == ["map best", "P.2 best"]
    assert (found["map best"] == found["map best"].round(2)).all()


@pytest.mark.parametrize("option", [{"perquery": True}, {"dataframe": False}, {"highlight": "bold"}])
def test_what_has_no_plain_table(option: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="bounds=True adds columns"):
        pt.relative.Experiment(SYSTEMS, TOPICS, QRELS, ["nDCG@2"], bounds=True, **option)
