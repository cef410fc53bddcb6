"""What other libraries hold runs and judgments in is read as a plain dict of it is: same rankings, same labels, words."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest

from ir_measures_relative import NRG, RunContext, bounds, compare, explain, worth
from ir_measures_relative.io.qrels import make_judgments, qrels_columns
from ir_measures_relative.io.runs import read_run

Rows = list[tuple[str, str, float]]

NAMES = {
    "ir_measures": ("query_id", "doc_id", "score", "relevance"),
    "PyTerrier": ("qid", "docno", "score", "label"),
    "trectools": ("query", "docid", "score", "rel"),
    "BEIR": ("query-id", "corpus-id", "score", "score"),
}


def columns(rows: Rows, names: str, what: int) -> dict[str, list[Any]]:
    query, doc, _, _ = NAMES[names]
    return {query: [r[0] for r in rows], doc: [r[1] for r in rows], NAMES[names][what]: [r[2] for r in rows]}


def as_dict(rows: Rows) -> dict[str, dict[str, Any]]:
    result: dict[str, dict[str, Any]] = {}
    for query, doc, value in rows:
        result.setdefault(query, {})[doc] = value
    return result


def polars(rows: Rows, what: int, names: str = "ir_measures") -> Any:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    text = "a document's text, which is not looked at"
    return pl.DataFrame(columns(rows, names, what)).with_columns(pl.lit(text).alias("text"))


def polars_categorical(rows: Rows, what: int) -> Any:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars(rows, what)
    return frame.with_columns(pl.col("query_id").cast(pl.Categorical), pl.col("doc_id").cast(pl.Categorical))


def polars_lazy(rows: Rows, what: int) -> Any:
    return polars(rows, what, "PyTerrier").lazy()


def arrow(kind: str) -> Callable[[Rows, int], Any]:
    def make(rows: Rows, what: int) -> Any:
        pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        if kind == "string_view" and not hasattr(pa, "string_view"):
            pytest.skip("this pyarrow has no string_view")
        table = pa.table(columns(rows, "ir_measures", what))
        for i, field in enumerate(table.schema):
            if field.type == pa.string():
                other = (
                    pa.dictionary(pa.int32(), pa.string()) if kind == "dictionary" else getattr(pa, kind)()
                )
                table = table.set_column(i, field.name, table[i].cast(other))
        half = len(rows) // 2
        return pa.concat_tables([table.slice(0, half), table.slice(half)])  # in chunks

    return make


arrow_table = arrow("large_string")
arrow_table.__name__ = "arrow_table"


def record_batch(rows: Rows, what: int) -> Any:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    return pa.record_batch(columns(rows, "PyTerrier", what))


def ranx(rows: Rows, what: int) -> Any:
    library = pytest.importorskip("ranx", reason="ranx is not installed")
    return (library.Run if what == 2 else library.Qrels)(as_dict(rows))


def trectools(rows: Rows, what: int) -> Any:
    library = pytest.importorskip("trectools", reason="trectools is not installed")
    frame = pd.DataFrame(columns(rows, "trectools", what)).assign(q0="Q0")
    if what == 2:
        result = library.TrecRun()
        result.run_data = frame.assign(system="tag", rank=1)
    else:
        result = library.TrecQrel()
        result.qrels_data = frame
    return result


def lenskit(rows: Rows, what: int) -> Any:
    data = pytest.importorskip("lenskit.data", reason="LensKit is not installed")
    lists = {}
    for query, values in as_dict(rows).items():
        of_field = {"scores" if what == 2 else "relevance": list(values.values())}
        lists[query] = data.ItemList(item_ids=list(values), **of_field)
    return data.ItemListCollection.from_dict(lists, key="user_id")


def huggingface(rows: Rows, what: int) -> Any:
    library = pytest.importorskip("datasets", reason="HuggingFace's datasets is not installed")
    data = columns([rows[0], *rows], "BEIR", what)  # of which the first is then left out
    return library.Dataset.from_dict(data | {"text": ["…"] * (len(rows) + 1)}).select(range(1, len(rows) + 1))


def dict_of_columns(rows: Rows, what: int) -> Any:
    return columns(rows, "trectools", what) | {"q0": ["Q0"] * len(rows)}


def rows_of_dicts(rows: Rows, what: int) -> Any:
    names = columns(rows, "BEIR", what)
    return [dict(zip(names, values, strict=True)) for values in zip(*names.values(), strict=True)]


MAKERS = {
    "polars": polars,
    "polars, categorical": polars_categorical,
    "polars, lazy": polars_lazy,
    "arrow, string": arrow("string"),
    "arrow, large_string": arrow("large_string"),
    "arrow, string_view": arrow("string_view"),
    "arrow, dictionary": arrow("dictionary"),
    "arrow, record batch": record_batch,
    "ranx": ranx,
    "trectools": trectools,
    "LensKit": lenskit,
    "HuggingFace Dataset": huggingface,
    "dict of columns": dict_of_columns,
    "rows of dicts": rows_of_dicts,
}
EACH = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def campaign(seed: int, grades: bool) -> Rows:
    """Random rows, their queries mixed, with equal scores and ids of all lengths, or graded labels."""
    rng = np.random.default_rng(seed)
    pairs = [(f"q{i}", f"d{j}-é" * (1 + j % 3)) for i in range(4) for j in range(12) if rng.random() < 0.6]
    values = rng.integers(-1, 4, len(pairs)) if grades else rng.integers(0, 5, len(pairs)) / 4
    rng.shuffle(pairs)
    return [(q, d, v) for (q, d), v in zip(pairs, values.tolist(), strict=True)]


@EACH
def test_same_run_as_a_dict(make: Any) -> None:
    for seed in range(5):
        rows = campaign(seed, grades=False)
        found, expected = read_run(make(rows, 2)), read_run(as_dict(rows))
        order = np.random.default_rng(seed).permutation(len(rows))
        other = read_run(
            make([rows[i] for i in order], 2)
        )  # the order of rows, and so of ties, does not count
        for run in (found, other):
            assert {q: list(d) for q, d in run.to_dict().items()} == {
                q: list(d) for q, d in expected.to_dict().items()
            }


@EACH
def test_same_judgments_as_a_dict(make: Any) -> None:
    for seed in range(5):
        rows = campaign(seed, grades=True)
        found = make_judgments(qrels_columns(make(rows, 3)))
        expected = make_judgments(qrels_columns(as_dict(rows)))
        as_set = [
            {
                (j.query_ids[q], d, g)
                for q, d, g in zip(j.query.tolist(), j.ids.strings(), j.grade.tolist(), strict=True)
            }
            for j in (found, expected)
        ]
        assert as_set[0] == as_set[1]
        assert len(found.grade) == len(rows)


def pandas(rows: Rows, what: int) -> Any:
    return pd.DataFrame(columns(rows, "PyTerrier", what))


def named_tuples(rows: Rows, what: int) -> Any:
    return [(ir_measures.ScoredDoc if what == 2 else ir_measures.Qrel)(*row) for row in rows]


OTHER = {f"q{i}": {"d1-é": 2.0, "d0-é": 1.0} for i in range(4)}


def _of(run: Any) -> RunContext:
    return RunContext({"other": OTHER, "run": run})


DOORS: dict[str, Callable[[Any, Any], Any]] = {
    "calc_aggregate": lambda q, r: ir_measures.calc_aggregate([NRG @ 3], q, r),
    "iter_calc": lambda q, r: sorted(ir_measures.iter_calc([NRG @ 3], q, r)),
    "calc": lambda q, r: ir_measures.calc([NRG @ 3], q, r).aggregated,
    "evaluator": lambda q, r: ir_measures.evaluator([NRG @ 3], q).calc_aggregate(r),
    "provider": lambda q, r: ir_measures.providers.registry["relative"].calc_aggregate([NRG @ 3], q, r),
    "measure": lambda q, r: (NRG @ 3).calc_aggregate(q, r),
    "evaluate": lambda q, r: _of(r).evaluate(q, ["NRG@3", "nDCG@3"]),
    "compare": lambda q, r: compare(_of(r), q, ["nDCG@3"]),
    "bounds": lambda q, r: bounds(_of(r), q, ["nDCG@3"]),
    "explain": lambda q, r: (
        explain(RunContext({"other": OTHER}), r, q, NRG @ 3)
        .sort_values(["query_id", "position"])
        .to_csv(index=False)
    ),
    "worth": lambda q, r: worth(RunContext({"other": OTHER}), q, r).options,
}


@pytest.mark.filterwarnings("ignore::ir_measures_relative.RelativeWarning")
@pytest.mark.parametrize("door", DOORS)
def test_every_form_at_every_door(door: str) -> None:
    rows = {what: campaign(3, grades=what == 3) for what in (2, 3)}
    run, qrels = as_dict(rows[2]), as_dict(rows[3])
    with RunContext({"other": OTHER}):
        expected = repr(DOORS[door](qrels, run))
        some = [*DOORS].index(door) % 3  # a third of the forms at a door, and each at several
        for make in [*MAKERS.values(), pandas, named_tuples][some::3]:
            try:
                forms = [(make(rows[3], 3), run), (qrels, make(rows[2], 2))]
            except pytest.skip.Exception:
                continue
            for form in forms:
                assert repr(DOORS[door](*form)) == expected, make


def test_name_of_its_own_is_the_tag() -> None:
    rows = campaign(1, grades=False)
    assert read_run(dict_of_columns(rows, 2) | {"system": ["BM25"] * len(rows)}).tag == "BM25"
    assert read_run(dict_of_columns(rows, 2)).tag is None
    pl = pytest.importorskip("polars", reason="polars is not installed")
    assert read_run(polars(rows, 2).with_columns(pl.lit("BM25").alias("name"))).tag == "BM25"


def test_query_beside_qid_is_its_text() -> None:
    row = {"qid": "1", "query": "tea", "docid": "7", "docno": "d", "score": 1.0, "rel": 0, "label": 2}
    frame = pd.DataFrame([row])
    assert read_run(frame).to_dict() == {"1": {"d": -1.0}}
    assert make_judgments(qrels_columns(frame)).query_ids.tolist() == ["1"]


IDS_OF_ALL_KINDS = [polars, polars_lazy, arrow_table, huggingface, rows_of_dicts]


@pytest.mark.parametrize("make", IDS_OF_ALL_KINDS, ids=lambda make: make.__name__)
def test_ids_that_are_numbers(make: Any) -> None:
    with pytest.raises(ValueError, match=r"the run: query id 7 is an int; query ids must be strings"):
        read_run(make([(7, "d", 1.0)], 2))
    with pytest.raises(ValueError, match=r"the run: query 'q': document id 7 is an int"):
        read_run(make([("q", 7, 1.0)], 2)).top()
    with pytest.raises(ValueError, match=r"the qrels: document id 7 is an int"):
        make_judgments(qrels_columns(make([("q", 7, 1)], 3)))


@pytest.mark.parametrize("make", [*IDS_OF_ALL_KINDS, dict_of_columns], ids=lambda make: make.__name__)
def test_values_that_are_missing(make: Any) -> None:
    rows = [("q", "d", 1), ("q", "e", None)]
    with pytest.raises(ValueError, match=r"query 'q', document 'e' has the score (nan|<NA>|None)"):
        read_run(make(rows, 2))
    with pytest.raises(ValueError, match=r"query 'q', document 'e' has the relevance"):
        make_judgments(qrels_columns(make(rows, 3)))


def test_columns_that_are_not_there() -> None:
    rows = campaign(1, grades=False)
    table, unequal = arrow_table(rows, 2), {"query": ["q"], "docid": ["d", "e"], "score": [1.0, 2.0]}
    for read, given, message in (
        (read_run, table.drop_columns(["score"]), r"the run: the Table has no column 'score'"),
        (qrels_columns, table, r"the Table has no column 'relevance' \(or 'label'\); .*'score'"),
        (qrels_columns, dict_of_columns(rows, 2), r"the qrels: the dict has no column 'relevance'"),
        (
            read_run,
            table.append_column("score", table["score"]),
            r"the column 'score' stands twice in the Table",
        ),
        (read_run, unequal, r"the columns of the dict differ in length: {'query': 1, 'docid'"),
        (
            read_run,
            {"query": "q", "docid": "d", "score": 1.0},
            r"the column 'query' of the dict is a str; give a",
        ),
        (read_run, [{"a": 1}], r"the list of dicts has no column 'query_id'"),
    ):
        with pytest.raises(ValueError, match=message):
            read(given)


def test_objects_of_the_other_kind() -> None:
    pytest.importorskip("ranx", reason="ranx is not installed")
    rows = campaign(1, grades=True)
    with pytest.raises(ValueError, match=r"the run: a ranx.Qrels holds judgments; give a ranx.Run"):
        read_run(ranx(rows, 3))
    with pytest.raises(ValueError, match=r"the qrels: a ranx.Run holds a run; give a ranx.Qrels"):
        qrels_columns(ranx(rows, 2))


def test_objects_that_are_no_table() -> None:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    rows = campaign(1, grades=False)
    for series in (pl.Series(["a"]), pd.Series(["a"])):
        with pytest.raises(ValueError, match=r"the run: a Series is one column; give the DataFrame"):
            read_run(series)
    large = polars(rows, 2).with_columns(pl.lit(1).cast(pl.Int128).alias("score"))
    with pytest.raises(ValueError, match=r"the run: a DataFrame that is no table to pyarrow \(.*i128"):
        read_run(large)


@pytest.mark.parametrize(
    ("query", "doc"), [("q_id", "doc_id"), ("user_id", "item_id"), ("query-id", "corpus-id")]
)
def test_names_of_columns_that_others_write(query: str, doc: str) -> None:
    """Those of ranx, LensKit and BEIR, in a frame and in a dict; what is called relevance goes before a score."""
    rows = {query: ["q", "q"], doc: ["a", "b"]}
    for make in (dict, pd.DataFrame):
        assert read_run(make(rows | {"score": [1.0, 2.0]})).to_dict() == {"q": {"b": -1.0, "a": -2.0}}
        judged = make(rows | {"relevance": [2, 0], "score": [0.5, 0.25]})
        assert make_judgments(qrels_columns(judged)).grade.tolist() == [2, 0]
        name = "rating" if query == "user_id" else "score"
        assert make_judgments(qrels_columns(make(rows | {name: [1, 0]}))).grade.tolist() == [1, 0]
        with pytest.raises(ValueError, match=r"has the relevance 0\.5.*by a threshold"):
            make_judgments(qrels_columns(make(rows | {name: [0.5, 1.0]})))


def test_topics_of_evaluate_are_numbers() -> None:
    run = {"query": [0, 0, 7], "q0": ["q0"] * 3, "docid": ["b", "a", "a"], "score": [1.5, 1.2, 1]}
    run |= {"rank": [0, 1, 0]}
    assert read_run(run).to_dict() == {"0": {"b": -1.0, "a": -2.0}, "7": {"a": -1.0}}
    judged = make_judgments(
        qrels_columns({"query": np.array([0, 7]), "q0": ["0"] * 2, "docid": ["a", "a"], "rel": [2, 0]})
    )
    assert judged.query_ids.tolist() == ["0", "7"] and judged.grade.tolist() == [2, 0]
    other_name = {"query_id": [0], "doc_id": ["a"], "score": [1.0]}
    for wrong, message in (
        (run | {"query": [True, True, False]}, "query id True is a bool"),
        (run | {"query": ["0", "0", 7]}, "query id 7 is an int"),  # beside ids that are none
        (other_name, "query id 0 is an int"),
    ):
        with pytest.raises(ValueError, match=message):
            read_run(wrong)


def test_topics_that_trectools_reads_as_numbers(tmp_path: Path) -> None:
    library = pytest.importorskip("trectools", reason="trectools is not installed")
    (tmp_path / "run").write_text("401 Q0 FR940104-0-00001 1 2.5 BM25\n402 Q0 7 1 1.5 BM25\n")
    (tmp_path / "qrels").write_text("401 0 FR940104-0-00001 1\n402 0 7 0\n")
    run = read_run(library.TrecRun(str(tmp_path / "run")))
    assert run.to_dict() == {"401": {"FR940104-0-00001": -1.0}, "402": {"7": -1.0}} and run.tag == "BM25"
    judged = make_judgments(qrels_columns(library.TrecQrel(str(tmp_path / "qrels"))))
    assert judged.query_ids.tolist() == ["401", "402"] and judged.grade.tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"the run: the TrecRun holds no data; let it read a file first"):
        read_run(library.TrecRun())


def test_lists_of_lenskit() -> None:
    data = pytest.importorskip("lenskit.data", reason="LensKit is not installed")

    def lists(key: Any = "user_id", **of_list: Any) -> Any:
        return data.ItemListCollection.from_dict(
            {"u": data.ItemList(item_ids=["b", "a"], **of_list)}, key=key
        )

    assert list(read_run(lists(ordered=True)).to_dict()["u"]) == ["b", "a"]  # in order, without scores
    assert make_judgments(qrels_columns(lists())).grade.tolist() == [1, 1]  # as LensKit has it
    with pytest.warns(UserWarning, match="the qrels: ratings count as relevance labels"):
        assert make_judgments(qrels_columns(lists(rating=[3.0, 5.0]))).grade.tolist() == [3, 5]
    with pytest.raises(ValueError, match=r"the qrels: the ratings are no whole numbers"):
        qrels_columns(lists(rating=[3.5, 5.0]))
    assert list(read_run(lists(scores=[2.0, 2.0])).to_dict()["u"]) == ["b", "a"]
    tied = data.ItemListCollection.from_dict(
        {"u": data.ItemList(item_ids=["a", "b"], scores=[2.0, 2.0], ordered=True)}, key="user_id"
    )
    assert list(read_run(tied).to_dict()["u"]) == ["a", "b"]  # LensKit's metrics go by the order
    with pytest.raises(ValueError, match=r"the qrels: the lists hold scores and no labels"):
        qrels_columns(lists(scores=[3.5, 5.0]))
    with pytest.raises(ValueError, match=r"the ItemListCollection has no column 'score'"):
        read_run(lists())
    two = data.ItemListCollection.from_dict(
        {("u", 1): data.ItemList(item_ids=["a"])}, key=("user_id", "turn")
    )
    with pytest.raises(ValueError, match=r"have the keys \['user_id', 'turn'\]; give one key"):
        read_run(two)


def test_rows_that_a_function_makes_or_a_stream_holds() -> None:
    rows = campaign(1, grades=True)
    made = huggingface(rows, 2).with_transform(lambda rows: rows | {"score": [-s for s in rows["score"]]})
    assert read_run(made).to_dict() == read_run(as_dict([(q, d, -s) for q, d, s in rows])).to_dict()
    stream = huggingface(rows, 3).to_iterable_dataset()
    assert read_run(stream).to_dict() == read_run(as_dict(rows)).to_dict()
    expected = make_judgments(qrels_columns(rows_of_dicts(rows, 3))).grade.tolist()
    assert make_judgments(qrels_columns(stream)).grade.tolist() == expected
    assert make_judgments(qrels_columns(iter(rows_of_dicts(rows, 3)))).grade.tolist() == expected


def test_table_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    table = arrow_table(campaign(3, grades=False), 2)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"to read a Table needs pyarrow: pip install pyarrow"):
        read_run(table)
