"""What each further search was worth: every cell against an oracle, the sessions, the same cost, bad input."""

import itertools
import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from command_line import error, write_qrels, write_run
from command_line import run as command
from ir_measures_relative import RelativeWarning, RunContext, trajectory
from ir_measures_relative.decisions.same_cost import largest_difference
from ir_measures_relative.formats.searches import read_searches
from ir_measures_relative.stats.regret import option_bounds
from oracles import trajectory as oracle

SESSIONS = Path(__file__).resolve().parents[3] / "shared" / "sessions"
DOCS = [f"d{i}" for i in range(12)]


def table_of(lists: dict[str, oracle.Lists]) -> pd.DataFrame:
    """Rows; an empty search has a row without a document, or none where a later search shows that it was made."""
    rows = []
    for query, searches in lists.items():
        for number, docs in enumerate(searches, start=1):
            for rank, doc in enumerate(docs or [], start=1):
                rows.append((query, number, doc, rank))
            if docs == [] and (
                number == len(searches) or number == 1 or number % 2 or searches[number - 2] is None
            ):
                rows.append((query, number, "", None))
    frame = pd.DataFrame(rows, columns=["query_id", "search", "doc_id", "rank"])
    return frame.sample(frac=1, random_state=1)


def random_trajectories(seed: int, count: int) -> tuple[dict[str, oracle.Lists], dict[str, dict[str, int]]]:
    rng = random.Random(seed)
    lists, qrels = dict[str, oracle.Lists](), dict[str, dict[str, int]]()
    for i in range(count):
        unknown = rng.choice([0, 0, 0, 1, 2])
        made = [rng.sample(DOCS, rng.choice([0, 1, 3, 6])) for _ in range(rng.randint(1, 5))]
        lists[f"t{i}"] = [None] * unknown + made
        qrels[f"t{i}"] = {d: rng.choice([-1, 0, 0, 1, 2]) for d in rng.sample(DOCS, rng.randint(1, 9))}
    return lists, qrels


@pytest.mark.parametrize("k", [1, 5, 12])
def test_every_cell_is_the_oracle(k: int) -> None:
    lists, qrels = random_trajectories(k, 250)
    answer = trajectory(table_of(lists), qrels, k)
    cells = answer.cells.set_index(["query_id", "search"]).to_dict("index")
    expected = {(q, row["search"]): row for q in lists for row in oracle.cells(lists[q], qrels[q], k)}
    assert cells.keys() == expected.keys()
    for key, row in expected.items():
        nrg = cells[key][f"NRG(norm='ideal')@{k}"]
        assert math.isnan(nrg) if row["nrg"] is None else nrg == pytest.approx(row["nrg"], abs=1e-12), key
        for column in row.keys() - {"search", "nrg"}:
            assert cells[key][column] == row[column], (key, column)
    for row in answer.searches.to_dict("records"):
        own = [r for (_, number), r in expected.items() if number == row["search"]]
        assert row["trajectories"] == len(own)
        assert row["new_relevant"] == pytest.approx(np.mean([r["new_relevant"] for r in own]))
        assert row["nothing_left"] == sum(r["nothing_left"] for r in own)
        assert row["repeated"] == pytest.approx(
            sum(r["repeated"] for r in own) / sum(r["shown"] for r in own)
        )
    for row in answer.stopping.to_dict("records"):
        ends = {q: max(n for p, n in expected if p == q) for q in lists}
        shares = [
            r["found"] / expected[q, ends[q]]["found"]
            for (q, number), r in expected.items()
            if number == row["search"] < ends[q] and expected[q, ends[q]]["found"]
        ]
        assert (row["trajectories"], row["found_by_then"]) == (len(shares), pytest.approx(np.mean(shares)))


def test_the_sessions_of_users() -> None:
    if not SESSIONS.exists():
        pytest.skip("the sessions are not there")
    tasks = pd.read_csv(SESSIONS / "session.tsv", sep="\t", dtype=str)
    topic = dict(zip(tasks["SessionID"], tasks["Topic"], strict=True))
    answer = trajectory(RunContext.from_files(SESSIONS / "runs"), SESSIONS / "qrels.txt", 9, topic=topic)
    table = answer.searches.set_index("search")
    assert table["trajectories"].tolist()[:5] == [79, 66, 48, 41, 32]
    assert table["new_relevant"].round(2).tolist()[:5] == [5.99, 3.95, 3.19, 2.76, 2.88]
    as_zero = (
        answer.cells.fillna({"NRG(norm='ideal')@9": 0.0}).groupby("search")["NRG(norm='ideal')@9"].mean()
    )
    assert as_zero.round(3).tolist()[:5] == [0.590, 0.386, 0.324, 0.299, 0.317]
    third = answer.stopping.set_index("search").loc[3]
    assert (third["trajectories"], round(third["found_by_then"], 2)) == (41, 0.56)
    assert answer.searches["unjudged"].max() == 0


def test_three_zeros_have_three_names() -> None:
    qrels = {q: {"d0": 1, "d1": 1} for q in "abc"}
    searches = {"a": [["d0", "d1"], ["d0"]], "b": [["d0"], ["d5"]], "c": [["d0"]]}
    answer = trajectory(searches, qrels)
    assert answer.text.startswith("Search 2 brought 0 new relevant documents on average (2 trajectories")
    assert answer.text.endswith("went on past search 1 found in the end, 100 % had been found by then.")
    second = answer.searches.iloc[1]
    assert (second["trajectories"], second["nothing_new"], second["nothing_left"]) == (2, 1, 1)


def test_extremes_of_a_difference_over_labels() -> None:
    rng = random.Random(0)
    for _ in range(300):
        held, other = rng.randint(0, 3), rng.randint(0, 3)
        relevant = max(held, other, 1) + rng.randint(0, 2)
        own, others, both = (rng.randint(0, 3) for _ in range(3))
        every = [
            ((held + x + z) - (other + y + z)) / (relevant + x + y + z)
            for x, y, z in itertools.product(range(own + 1), range(others + 1), range(both + 1))
        ]
        assert largest_difference(held - other, relevant, own, both) == pytest.approx(max(every))
        assert -largest_difference(other - held, relevant, others, both) == pytest.approx(min(every))


def campaign(further: list[str]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Thirty topics: search 1 holds one relevant document of three, and reading it deeper to four no further one."""
    qrels = {f"q{i}": {"d0": 1, "d1": 1, "d2": 1, "d3": 0, "d4": 0, "d5": 0} for i in range(30)}
    searches = {q: [["d0", "d3"], further] for q in qrels}
    deeper = {q: {d: -float(i) for i, d in enumerate(["d0", "d3", "d4", "d5", "d1"])} for q in qrels}
    return searches, qrels, deeper


def test_the_same_cost() -> None:
    searches, qrels, deeper = campaign(["d1", "d2"])
    answer = trajectory(searches, qrels, deeper=deeper)
    assert answer.same_cost is not None
    (row,) = answer.same_cost.to_dict("records")
    assert (row["verdict"], row["labels"]) == ("go on", "judged")
    assert row["go_on"] == pytest.approx(1) and row["read_deeper"] == pytest.approx(1 / 3)
    assert answer.text.startswith("Going on to search 2 found more than reading search 1 as deep.")
    nothing = trajectory({q: [["d0", "d3"], ["d4", "d5"]] for q in qrels}, qrels, deeper=deeper)
    assert nothing.same_cost is not None and nothing.same_cost["verdict"].tolist() == ["read deeper"]


def test_unjudged_documents_decide_or_not() -> None:
    searches, qrels, deeper = campaign(["d1", "u1"])
    answer = trajectory(searches, qrels, deeper=deeper)
    assert answer.same_cost is not None and answer.same_cost["labels"].tolist() == ["strict"]
    unjudged, _, _ = campaign(["u1", "u2"])
    none = trajectory(unjudged, qrels, deeper=deeper)
    assert none.same_cost is not None and none.same_cost["verdict"].tolist() == [None]
    assert "unjudged documents decide; judge them" in none.text
    judged = trajectory(unjudged, qrels, deeper=deeper, labels="judged").same_cost
    assert judged is not None and judged["verdict"].tolist() == ["read deeper"]


def test_every_search_has_its_sentence() -> None:
    """Also where unjudged documents decide one of them, and not the others."""
    searches, qrels, deeper = campaign(["d1", "d2"])
    longer = {q: [*lists, [f"u{i}" for i in range(6)]] for q, lists in searches.items()}
    deeper = {q: docs | {f"v{i}": -10.0 - i for i in range(9)} for q, docs in deeper.items()}
    answer = trajectory(longer, qrels, deeper=deeper)
    assert answer.text.startswith(
        "Going on to search 2 found more than reading search 1 as deep. Search 3: unjudged documents decide; judge "
    )


@pytest.mark.parametrize("labels", ["judged", "strict"])
def test_the_same_cost_is_the_definition(labels: str) -> None:
    """Sets and lists, one trajectory after the other; the bounds are those of the rule, at the level of the family."""
    lists, qrels = random_trajectories(21, 80)
    rng = random.Random(labels)
    for grades in qrels.values():
        grades[rng.choice(DOCS)] = 1
    deeper = {q: rng.sample(DOCS, len(DOCS)) for q in lists}
    scores = {q: {d: -float(i) for i, d in enumerate(order)} for q, order in deeper.items()}
    answer = trajectory(table_of(lists), qrels, deeper=scores, labels=labels)
    cells, rows = answer.cells.set_index(["query_id", "search"]), answer.same_cost
    assert rows is not None and rows["search"].tolist() == [2, 3, 4, 5]
    of_step: dict[int, list[list[float]]] = {}
    for q in answer.cells["query_id"].unique():  # whose order the resamples of a sparse difference depend on
        searches = lists[q]
        relevant, shown = {d for d, grade in qrels[q].items() if grade >= 1}, list[str]()
        for number, docs in enumerate(searches, start=1):
            if searches[0] is None:
                continue
            shown += [d for d in docs or () if d not in shown]
            read = deeper[q][: len(shown)]
            found, found_deeper = (len(relevant.intersection(docs)) for docs in (shown, read))
            assert tuple(cells.loc[(q, number), ["found", "found_deeper"]]) == (found, found_deeper)
            new, other = (set(docs) - qrels[q].keys() for docs in (shown, read))
            most = largest_difference(found - found_deeper, len(relevant), len(new - other), len(new & other))
            least = largest_difference(
                found_deeper - found, len(relevant), len(other - new), len(new & other)
            )
            row = [found_deeper / len(relevant), found / len(relevant), float(most), float(least)]
            of_step.setdefault(number, []).append(row)
    for row in rows.to_dict("records"):
        deep, on, most, least = np.array(of_step[row["search"]]).T
        if labels == "judged":
            bounds = option_bounds(np.array([deep, on]), (-1, 1), confidence=1 - 0.05 / 4)
        else:
            extremes = np.array([[0 * most, least], [most, 0 * most]])
            bounds = option_bounds(extremes, (-1, 1), strictly=True, confidence=1 - 0.05 / 4)
        assert bounds is not None
        assert (row["labels"], row["trajectories"]) == (labels, len(deep))
        assert [row["lower"], row["regret_deeper"], row["regret_go_on"]] == pytest.approx(
            [bounds.gain[1], *bounds.regret], abs=1e-12
        )
        assert row["difference"] == pytest.approx(np.mean(on) - np.mean(deep), abs=1e-12)


def test_the_interval_holds_the_middle_of_resampled_means() -> None:
    """95 %, topics drawn whole: five trajectories share one."""
    lists, qrels = random_trajectories(31, 100)
    topic = {q: f"topic {int(q[1:]) % 20}" for q in lists}
    answer = trajectory(table_of(lists), qrels, 5, topic=topic)
    of_second = answer.cells[answer.cells["search"] == 2]
    by_topic = [
        group["new_relevant"].tolist() for _, group in of_second.groupby(of_second["query_id"].map(topic))
    ]
    rng = random.Random(0)
    drawn = [list(itertools.chain(*rng.choices(by_topic, k=len(by_topic)))) for _ in range(10_000)]
    low, high = np.quantile([np.mean(values) for values in drawn], [0.025, 0.975])
    row = answer.searches.set_index("search").loc[2]
    assert [row["ci_lower"], row["ci_upper"]] == pytest.approx([low, high], abs=0.012)


def test_several_agents_on_one_topic() -> None:
    lists, qrels = random_trajectories(9, 40)
    of_topic = {f"t{i}": f"t{i % 8}" for i in range(40)}
    shared = {query: labels for query, labels in qrels.items() if query in set(of_topic.values())}
    answer = trajectory(table_of(lists), shared, 5, topic=of_topic)
    copied = trajectory(table_of(lists), {q: shared[t] for q, t in of_topic.items()}, 5, topic=of_topic)
    pd.testing.assert_frame_equal(answer.searches, copied.searches)


def test_forms_of_one_table_are_one(tmp_path: Path) -> None:
    nested = {"q1": [["a", "b"], [], ["c"]], "q2": [["x"]]}
    expected = read_searches(nested)
    frame = expected[["query_id", "search", "doc_id"]].assign(score=-expected["position"].astype(float))
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    (tmp_path / "t.json").write_text(json.dumps(nested))
    by_search = [
        {"query_id": q, "search": i, "docs": d} for q, s in nested.items() for i, d in enumerate(s, start=1)
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, by_search)))
    for name, text, message in (
        ("json", b"[1]", "give JSON rows with the columns query_id"),
        ("json", b"{", "the JSON is cut or damaged"),
        (
            "json",
            b'[{"query_id": "q", "search": 1, "docs": "ab"}]',
            "is no search; give a list of documents as docs",
        ),
        ("jsonl", b"\n\xff", "line 2: not text in UTF-8"),
        ("json", b'{"q": [["a"]], "q": [["b"]]}', "the key 'q' stands twice"),
        ("json", b'{"q": [["\\ud800"]]}', "half of a surrogate pair"),
        ("csv", b'query_id,search,doc_id\nq,1,"a\nq,2,"b\n', "a quotation mark hides rows"),
        ("parquet", b"PAR1PAR1", "the Parquet file is truncated or damaged"),
    ):
        (tmp_path / f"bad.{name}").write_bytes(text)
        with pytest.raises((ValueError, ImportError), match=rf"bad\.{name}.*{message}|needs pyarrow"):
            read_searches(tmp_path / f"bad.{name}")
    for name in ("t.csv", "t.jsonl", "t.json", "rows.jsonl"):
        pd.testing.assert_frame_equal(read_searches(tmp_path / name), expected, check_dtype=False)
    pd.testing.assert_frame_equal(
        read_searches(frame.rename(columns={"query_id": "qid", "doc_id": "docno"})), expected
    )
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(read_searches(tmp_path / "t.parquet"), expected, check_dtype=False)


@pytest.mark.parametrize(
    ("searches", "message"),
    [
        ({"q": [["a", "a"]]}, "topic 'q', search 1 has document 'a' twice"),
        (
            pd.DataFrame({"query_id": [1], "search": [1], "doc_id": ["a"]}),
            r"query_id holds .*1.*, and ids are strings: convert them with str\(\)",
        ),
        (pd.DataFrame({"query_id": ["q"], "search": [0], "doc_id": ["a"]}), "number searches 1, 2, 3"),
        (pd.DataFrame({"query_id": ["q"], "doc_id": ["a"]}), "have no column search"),
        (
            pd.DataFrame({"query_id": ["q"], "search": [1], "doc_id": ["a"], "rank": ["x"]}),
            "which is no number",
        ),
        (pd.DataFrame({"query_id": ["q"], "search": [10**9], "doc_id": ["a"]}), "at most 10,000"),
        ({"q": [[["a"]]]}, "doc_id holds .*ids are strings"),
        ({"z": [["a"]]}, "no trajectory is judged: the searches have .*'z'.*topic="),
        (7, "pass a DataFrame, a path, a dict or a RunContext"),
        ({"q": "ab"}, "trajectory 'q' is not a list of searches, each a list of documents"),
        (pd.DataFrame({"query_id": [""], "search": [1], "doc_id": ["a"]}), "a row has no query_id"),
    ],
)
def test_refused(searches: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trajectory(searches, {"q": {"a": 1}})


def test_a_margin_is_no_less_than_0() -> None:
    with pytest.raises(ValueError, match="margin=-1 is not allowed; it must be a number from 0 up"):
        trajectory({"q": [["a"]]}, {"q": {"a": 1}}, margin=-1)


def test_judgments_are_read_as_evaluate_reads_them() -> None:
    with pytest.raises(
        ValueError, match="document 'a' has the relevance 0.5; relevance must be a whole number"
    ):
        trajectory({"q": [["a"]]}, {"q": {"a": 0.5}})
    twice = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "a"], "relevance": [0, 1]})
    with pytest.warns(RelativeWarning, match="twice with different labels.*the last label counts"):
        assert trajectory({"q": [["a"]]}, twice).searches["new_relevant"].tolist() == [1]


def test_a_deeper_run_that_is_too_short_and_trajectories_without_judgments() -> None:
    searches, qrels, deeper = campaign(["d1", "d2"])
    deeper["q3"] = {"d0": 1.0}
    with pytest.raises(ValueError, match="deeper= has 1 documents for topic 'q3', whose searches show 4"):
        trajectory(searches, qrels, deeper=deeper)
    with pytest.warns(RelativeWarning, match="1 of 30 trajectories have no judgments and are left out: .*q0"):
        trajectory(searches, {q: labels for q, labels in qrels.items() if q != "q0"})


def test_the_command(tmp_path: Path) -> None:
    searches, qrels, deeper = campaign(["d1", "d2"])
    write_qrels(tmp_path / "qrels.txt", qrels)
    write_run(tmp_path / "deeper.run", "x", deeper)
    (tmp_path / "t.json").write_text(json.dumps(searches))
    given = "trajectory", "qrels.txt", "t.json"
    text = command(*given, "--deeper", "deeper.run", "--pays", "1", cwd=tmp_path).stdout
    assert text.startswith("Going on to search 2 found more") and "worth it: search 2" in text
    header = command(*given, "-k", "2", "-o", "csv", cwd=tmp_path).stdout.splitlines()[0]
    assert header.startswith(
        "search,trajectories,new_relevant,ci_lower,ci_upper,in_search_1,repeated,unjudged"
    )
    assert "have no column query_id, search, doc_id" in error(
        "trajectory", "qrels.txt", "qrels.txt", cwd=tmp_path
    )
