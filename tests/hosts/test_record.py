"""``pt.relative.record``: an agent's searches, in an experiment, in threads, and not in another process."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pandas as pd
import pytest

pt = pytest.importorskip("pyterrier")

TEXTS = {"d1": "cats dogs", "d2": "cats fish", "d3": "fish chips", "d4": "dogs bones", "d5": "bones soup"}
TOPICS = pd.DataFrame({"qid": ["q1", "q2", "q3"], "query": ["cats", "bones", "nothing"]})
QRELS = pd.DataFrame(
    [("q1", "d3", 1), ("q1", "d1", 1), ("q2", "d5", 1), ("q3", "d1", 1)], columns=["qid", "docno", "label"]
)


def _search(queries: pd.DataFrame) -> pd.DataFrame:
    rows = [
        (row.qid, row.query, doc, float(len(set(text.split()) & set(row.query.split()))))
        for row in queries.itertuples()
        for doc, text in TEXTS.items()
        if set(text.split()) & set(row.query.split())
    ]
    results = pd.DataFrame(rows, columns=["qid", "query", "docno", "score"])
    return pt.model.add_ranks(results)


RETRIEVER = pt.apply.generic(_search)


class Agent(pt.Transformer):
    """Searches, reads the first document that it got, and searches again with the last word of it."""

    def __init__(self, retriever: Any) -> None:
        self.retriever = retriever

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        asked, results = inp, []
        for _ in range(3):
            results.append(self.retriever(asked))
            read = results[-1].sort_values("rank").drop_duplicates("qid").set_index("qid")["docno"]
            words = asked["qid"].map(read).map(TEXTS).str.split().str[-1].fillna("nothing")
            asked = asked.assign(query=words)
        return pt.model.add_ranks(pd.concat(results).drop_duplicates(["qid", "docno"]).drop(columns="rank"))


def test_an_agent_within_an_experiment() -> None:
    recorded = pt.relative.record(RETRIEVER)
    pd.testing.assert_frame_equal(recorded(TOPICS), RETRIEVER(TOPICS))
    recorded.clear()
    plain = pt.Experiment([Agent(RETRIEVER)], TOPICS, QRELS, ["recall_10"], names=["agent"])
    with_record = pt.Experiment([Agent(recorded)], TOPICS, QRELS, ["recall_10"], names=["agent"])
    pd.testing.assert_frame_equal(plain, with_record)
    searches = recorded.searches
    assert list(searches.columns) == ["qid", "search", "query", "docno", "rank", "score"]
    first = searches[searches["qid"] == "q1"].groupby("search")["docno"].agg(list)
    assert first.index.tolist() == [1, 2, 3]
    assert set(first[1]) == {"d1", "d2"}
    assert searches[searches["qid"] == "q3"]["docno"].tolist() == ["", "", ""]  # asked, and without results
    answer = pt.relative.trajectory(searches, QRELS)
    assert answer.searches["trajectories"].tolist() == [3, 3, 3]
    assert answer.searches["nothing_new"].tolist()[0] == 1
    pt.Experiment([Agent(recorded)], TOPICS, QRELS, ["recall_10"])
    assert recorded.searches["search"].max() == 6  # numbers go on
    recorded.clear()
    assert recorded.searches.empty


def test_a_column_names_the_trajectory() -> None:
    recorded = pt.relative.record(RETRIEVER, topic="need")
    for number, query in enumerate(["cats", "fish"]):
        recorded(pd.DataFrame({"qid": [f"q1-{number}"], "query": [query], "need": ["q1"]}))
    assert recorded.searches.groupby("search")["qid"].unique().map(list).tolist() == [["q1"], ["q1"]]
    with pytest.raises(ValueError, match="no column need; set topic= to the column"):
        recorded(TOPICS)


def test_threads_and_other_processes() -> None:
    recorded = pt.relative.record(RETRIEVER)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: recorded(TOPICS), range(12)))
    asked = recorded.searches.drop_duplicates(["qid", "search"])
    assert sorted(asked[asked["qid"] == "q1"]["search"]) == list(range(1, 13))
    with pytest.raises(RuntimeError, match="remembers the searches of one process"):
        pickle.dumps(recorded)
