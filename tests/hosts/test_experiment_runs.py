"""pt.relative.Experiment runs each pipeline once, saves as PyTerrier, finds mistakes first, and knows missing topics."""

import gzip
import inspect
import pickle
import warnings
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest
from ir_measures import AP, P, nDCG

from experiments import MEASURES, NAMES, TREE, Given, campaign, judged, pt, ranked, topics_of
from ir_measures_relative import NRG, RelativeWarning, RunContext, UniqueRel, compare, nDCG_UE, rrLP
from ir_measures_relative.context import run_context
from ir_measures_relative.context.priors import BestOfOtherGroups
from ir_measures_relative.hosts import evaluator
from ir_measures_relative.hosts.pyterrier import experiment
from ir_measures_relative.io.readers import check_topics_once
from ir_measures_relative.io.runs import read_run

CAMPAIGN = campaign()
TOPICS = CAMPAIGN.topics["qid"].tolist()
N_JUDGED = len({*TOPICS} & {*CAMPAIGN.qrels["qid"]})
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*topic.s. not found in qrels",
    "ignore:There are shared pipeline components",
    "ignore:Experiment Pipeline Validation",
    "ignore:Evaluation measures differ",  # PyTerrier's, of its summary
    "ignore:precompute_prefix is deprecated",
    "ignore:.*one topic supplies",
)


def same(ours: Any, theirs: Any) -> None:
    pd.testing.assert_frame_equal(ours[sorted(ours)], theirs[sorted(theirs)], check_exact=True)


@pytest.mark.parametrize(
    "options", [{}, {"batch_size": 4}, TREE, {"perquery": True}, {"filter_by_qrels": True}], ids=str
)
def test_every_pipeline_runs_once(options) -> None:
    given = CAMPAIGN.pipelines()
    CAMPAIGN.relative(systems=given, **options)
    asked = TOPICS[2:] if "filter_by_qrels" in options else TOPICS  # the first two have no judgments
    assert all(pipeline.queries == asked for pipeline in given.values())


@pytest.mark.parametrize("options", [TREE, {"precompute_prefix": True}], ids=str)
def test_a_shared_prefix_runs_once_where_that_is_asked_for(options) -> None:
    first = Given(CAMPAIGN.frames["two"], seconds=0.02)
    measures = [NRG @ 10, nDCG @ 10]
    table = CAMPAIGN.relative([*measures, "mrt"], {"whole": first, "cut": first % 5}, **options)
    assert first.queries == TOPICS
    assert (table["mrt"] >= 20 / N_JUDGED).all()  # the time of the prefix is part of both
    frames = {"whole": first.frame, "cut": (first % 5)(CAMPAIGN.topics)}
    with RunContext(frames):
        same(
            table.drop(columns="mrt"),
            CAMPAIGN.plain(measures, [f.assign(name=n) for n, f in frames.items()], names=list(frames)),
        )


def test_mrt_is_the_time_of_the_pipelines_themselves(tmp_path) -> None:
    frames = CAMPAIGN.frames
    systems = {"one": frames["one"], "two": Given(frames["two"], 0.03), "three": Given(frames["three"], 0.06)}
    measures = ["mrt", NRG @ 10]
    for options in ({}, {"round": 1}, {"round": {"mrt": 0}}, TREE, {"save_dir": str(tmp_path)}):
        table = CAMPAIGN.relative(measures, systems, **options).set_index("name")
        assert table["mrt"]["one"] == 0 or "plan" in options
        assert table["mrt"]["two"] >= 30 / N_JUDGED - 0.5 and table["mrt"]["three"] >= 60 / N_JUDGED - 0.5
        digits = options.get("round")
        digits = digits.get("mrt") if isinstance(digits, dict) else digits
        assert digits is None or (table["mrt"] == table["mrt"].round(digits)).all()
    summary = pd.read_csv(tmp_path / "aggregated.csv").set_index("name")
    pd.testing.assert_frame_equal(summary[table.columns], table, rtol=1e-15)
    as_dict = CAMPAIGN.relative(measures, systems, dataframe=False, batch_size=4)
    assert as_dict["two"]["mrt"] >= 3 * 30 / N_JUDGED  # of at least three batches
    assert "mrt" not in CAMPAIGN.relative(measures, systems, perquery="both")[0]  # as in PyTerrier


def test_a_progress_bar(capfd) -> None:
    CAMPAIGN.relative(verbose=True)
    assert "4/4" in capfd.readouterr().err
    for quiet in ({"verbose": False}, {}):  # this is no terminal
        CAMPAIGN.relative(**quiet)
        assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("options", [{}, {"batch_size": 5}, {"baseline": 0}], ids=str)
def test_a_run_is_read_once(monkeypatch, options) -> None:
    """Into the context; PyTerrier's own evaluation sees no run."""
    read = []

    def counting(run, *name, **options):
        if isinstance(run, pd.DataFrame):
            read.append(name)
        return read_run(run, *name, **options)

    for module in (run_context, evaluator, experiment):
        monkeypatch.setattr(module, "read_run", counting)
    for systems in (CAMPAIGN.pipelines(), CAMPAIGN.frames):
        read.clear()
        CAMPAIGN.relative(systems=systems, **options)
        assert read == [(f"run {name!r}",) for name in NAMES]
    with pytest.raises(ValueError, match="no RunContext is active"):  # none is left behind
        (NRG @ 10).calc_aggregate({"q": {"d": 1}}, {"q": {"d": 1.0}})


QUERY = {"qid": "1", "query": "tea"}
DOCUMENT = {"docno": "a", "score": 1.0, "rank": 0}
TWO = CAMPAIGN._replace(topics=topics_of("1", "2"), qrels=judged({"1": {"a": 1}, "2": {"b": 1}}))
LENGTH = ir_measures.define_byquery(
    lambda qrels, run: len(run.iloc[0]["context"]), name="length", run_inputs=["context"]
)
ANYTHING = ir_measures.define_byquery(lambda qrels, run: 0.0, name="anything")


def giving(**row: Any) -> Any:
    """A pipeline that answers the first topic by one row."""
    return pt.Transformer.from_df(pd.DataFrame([row]), uniform=True)


@pytest.mark.parametrize("plan", ["linear", "tree"])
def test_results_without_documents(plan: str) -> None:
    systems = {"one": giving(**QUERY, context="here"), "two": giving(**QUERY, context="there")}
    options = {"validate": "error", "plan": plan, "verbose": False}
    ours = TWO.relative([LENGTH], systems, **options)
    pd.testing.assert_frame_equal(ours, TWO.plain([LENGTH], systems, **options))
    assert ours["length"].tolist() == [2.0, 2.5]  # a mean over two topics


@pytest.mark.parametrize("run", [TWO.plain, TWO.relative], ids=["plain", "relative"])
def test_what_the_results_lack(run) -> None:
    for row, measure in (({"context": "here"}, "map"), ({}, LENGTH)):
        with pytest.raises(ValueError, match=r"do not produce the required outputs"):
            run([measure], [giving(**QUERY, **row)], validate="error")
    with pytest.raises(KeyError, match="context"):
        run([LENGTH], [giving(**QUERY)], validate="ignore")


def test_columns_that_a_measure_beside_a_relative_one_needs() -> None:
    full, lacking = giving(**QUERY, **DOCUMENT, context="here"), giving(**QUERY, **DOCUMENT)
    measures = [LENGTH, UniqueRel @ 1]
    table = TWO.relative(measures, {"one": full, "two": full}, validate="error")
    assert table.columns.tolist() == ["name", "length", "UniqueRel@1"] and table["length"].tolist() == [2, 2]
    with pytest.raises(ValueError, match=r"(?s)required outputs.*context.*Pipeline #1: two"):
        TWO.relative(measures, {"one": full, "two": lacking}, validate="error")


def content(folder: Path) -> dict[str, bytes]:
    data = {path: path.read_bytes() for path in folder.iterdir()}
    return {
        p.name: gzip.decompress(of) if p.suffix == ".gz" else b"\n".join(sorted(of.split()))
        for p, of in data.items()
    }


@pytest.mark.parametrize("options", [{}, {"batch_size": 4, "perquery": True}], ids=str)
def test_save_dir_gets_what_pyterrier_saves(tmp_path, options) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    measures = [NRG @ 10]  # of several, pt.Experiment gives the columns in no particular order
    CAMPAIGN.relative(measures, save_dir=str(ours), **options)
    CAMPAIGN.by_hand({"save_dir": str(theirs), **options}, measures)
    assert content(ours) == content(theirs)
    assert set(content(ours)) == {"aggregated.csv", "perquery.csv", *(f"{n}.res.gz" for n in NAMES)}


def test_what_pickles_is_saved_without_documents(tmp_path: Path) -> None:
    systems = {"t": giving(**QUERY, context="here")}
    with pytest.raises(TypeError, match=r"missing \['docno', 'score', 'rank'\]"):
        TWO.relative([ANYTHING], systems, save_dir=str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    TWO.relative([ANYTHING], systems, save_dir=str(tmp_path), save_format=pickle)
    assert sorted(f.name for f in tmp_path.iterdir()) == ["aggregated.csv", "perquery.csv", "t.mod"]
    assert pickle.loads((tmp_path / "t.mod").read_bytes())["context"].tolist() == ["here"]


def test_reuse_does_not_run_the_pipelines_again(tmp_path) -> None:
    options = {"save_dir": str(tmp_path), "save_mode": "reuse", "priors": "earlier"}
    few = [Given(CAMPAIGN.frames[n]) for n in NAMES[1:3]]
    CAMPAIGN.plain([nDCG @ 10], few, names=NAMES[1:3], save_dir=str(tmp_path))
    for measures, ran in (
        ([nDCG @ 10, NRG @ 10], [len(TOPICS), 0, 0, len(TOPICS)]),
        (MEASURES, [0, 0, 0, 0]),
    ):
        given = CAMPAIGN.pipelines()
        table = CAMPAIGN.relative([*measures, "mrt"], given, **options)
        assert [len(g.queries) for g in given.values()] == ran
        assert (table["mrt"] == 0).tolist() == [not n for n in ran]
        same(table.drop(columns="mrt"), CAMPAIGN.by_hand({}, measures, priors="earlier"))


def test_ids_that_pandas_takes_for_missing_values(tmp_path) -> None:
    """Queries and documents called NA, null, None and nan, in a file of qrels and in saved runs."""
    odd = ["NA", "null", "None", "nan", "1"]
    one = {q: {d: -i / 3 for i, d in enumerate(odd)} for q in odd}
    frames = ranked({"one": one, "two": {q: {d: -s for d, s in docs.items()} for q, docs in one.items()}})
    path, saved = tmp_path / "qrels.txt", tmp_path / "saved"
    path.write_text("".join(f"{q} 0 {d} {i % 2}\n" for q in odd for i, d in enumerate(odd)))
    expected = RunContext(frames).evaluate({q: {d: i % 2 for i, d in enumerate(odd)} for q in odd}, MEASURES)
    pd.testing.assert_frame_equal(RunContext(frames).evaluate(path, MEASURES), expected)
    saved.mkdir()
    odd_campaign = CAMPAIGN._replace(topics=topics_of(*odd), frames=frames)
    for qrels in (str(path), path):
        given = odd_campaign.pipelines()
        same(
            odd_campaign.relative(systems=given, qrels=qrels, save_dir=str(saved), save_mode="reuse"),
            expected,
        )
    assert not any(g.queries for g in given.values())
    with pytest.raises(
        ValueError, match="query id nan is a missing value; give every row an id. pandas reads the ids NA"
    ):
        RunContext({"one": pt.io.read_results(str(saved / "one.res.gz"))})


@pytest.mark.parametrize("doc", ["a b", 'a"b', "a\tb", ""])
def test_a_run_that_could_not_be_read_back_is_not_saved(tmp_path, doc) -> None:
    frames = ranked({"one": {"1": {doc: 2.0, "c": 1.0}}, "two": {"1": {"c": 1.0}}})
    for measures in ([nDCG @ 10], MEASURES):
        with pytest.raises(ValueError, match=r"one\.res\.gz has ids that a TREC file cannot hold"):
            TWO._replace(qrels=judged({"1": {"c": 1}}), frames=frames).relative(
                measures, save_dir=str(tmp_path)
            )
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["mod", "custom"])
def test_other_save_formats(tmp_path, kind) -> None:
    save_format = pickle if kind == "mod" else (pd.read_pickle, lambda frame, file: frame.to_pickle(file))
    options = {"save_dir": str(tmp_path), "save_format": save_format}
    CAMPAIGN.relative(**options)
    pd.testing.assert_frame_equal(pd.read_pickle(tmp_path / f"two.{kind}"), CAMPAIGN.frames["two"])
    given = CAMPAIGN.pipelines()
    same(CAMPAIGN.relative(systems=given, save_mode="reuse", **options), CAMPAIGN.by_hand({}))
    assert not any(g.queries for g in given.values())


def test_files_that_are_there(tmp_path) -> None:
    (tmp_path / "two.res.gz").write_bytes(gzip.compress(b"q1 Q0 d1 0 1.0 old\n"))
    given, save = CAMPAIGN.pipelines(), {"save_dir": str(tmp_path)}
    with pytest.raises(ValueError, match=r"two\.res\.gz' already exists; set save_mode='reuse'"):
        CAMPAIGN.relative(systems=given, save_mode="error", **save)
    assert not any(g.queries for g in given.values())
    with pytest.warns(UserWarning, match=r"two\.res\.gz' already exists"):
        CAMPAIGN.relative(systems=given, **save)
    assert len(pt.io.read_results(str(tmp_path / "two.res.gz"))) == len(CAMPAIGN.frames["two"])
    others = {"two": CAMPAIGN.frames["one"], "x": Given(CAMPAIGN.frames["two"])}
    CAMPAIGN.relative(systems=others, save_mode="overwrite", **save)
    assert set(pd.read_csv(tmp_path / "aggregated.csv")["name"]) == {
        *NAMES,
        "x",
    }  # PyTerrier keeps the others
    before = content(tmp_path)

    def fails(results):
        raise ZeroDivisionError("as expected")

    systems = CAMPAIGN.pipelines() | {"five": Given(CAMPAIGN.frames["one"]) >> pt.apply.generic(fails)}
    with pytest.raises(ZeroDivisionError, match="as expected"):
        CAMPAIGN.relative(systems=systems, save_mode="overwrite", validate="ignore", **save)
    assert content(tmp_path) == before


KEYS_AND_TYPES = {
    KeyError: [
        ({"measures": [NRG @ 10, 7]}, "Unknown measure 7 of type"),
    ],
    TypeError: [
        ({"foo": 1}, r"Unknown kwargs: \['foo'\]"),
        ({"systems": tuple(CAMPAIGN.frames.values())}, "systems is a tuple; give a list or dict"),
        ({"systems": [CAMPAIGN.frames["one"], {}]}, "system 1 is a dict"),
        ({"topics": None}, "topics is None"),
    ],
    FileNotFoundError: [({"topics": "no.txt"}, "topics='no.txt': no such file")],
    AssertionError: [({"test": "u"}, "Unknown test function name u")],
}
VALUES = [
    ({"names": ["a", "b", "a", "c"]}, "two systems are called 'a'.*names="),
    ({"names": ["a"]}, "1 name for 4 systems"),
    ({"systems": []}, "systems is empty"),
    ({"priors": "all"}, "priors='all' is not a policy"),
    ({"priors": ["BM25"]}, r"priors names \['BM25'\]"),
    ({"priors": BestOfOtherGroups()}, "needs the group of every run"),
    ({"groups": {"BM25": "x"}}, r"groups names \['BM25'\]"),
    ({"reference": "BM25"}, "reference='BM25' is not a run"),
    ({"reference": {"q": {"d": 1.0}}}, "reference=.* is not a run"),
    ({"measures": [NRG(prior="BM25") @ 10]}, "'BM25' fits no run"),
    ({"measures": [rrLP]}, "which run is the reference.* in RunContext or pt.relative.Experiment"),
    ({"measures": [nDCG_UE(pool="corpus") @ 10]}, "num_docs"),
    ({"measures": ["nrg"]}, "'nrg'.*the nearest is 'NRG'"),
    ({"measures": ["ndcg_cut_0"]}, "nDCG@0: cutoff=0 is not allowed"),
    ({"measures": []}, "eval_metrics names no measure"),
    ({"measures": ["mrt"]}, "eval_metrics names no measure"),
    ({"grades": (3, 0)}, r"grades=\(3, 0\) is not allowed"),
    ({"baseline": "on"}, r"baseline='on' is not a system; the systems are \['one', 'two', "),
    ({"baseline": 1.5}, "baseline=1.5 is not a system; give 0 to 3"),
    ({"baseline": 0, "perquery": True}, "baseline compares means"),
    ({"round": {"NRG@10": 1}, "perquery": True}, "round by measure"),
    ({"round": "2"}, "round should be an integer"),
    ({"correction": "holm"}, "no baseline"),
    ({"save_dir": "/nowhere"}, "save_dir /nowhere is not there"),
    ({"save_dir": ".", "plan": "tree"}, "not yet supported for tree"),
    ({"save_dir": ".", "save_mode": "keep"}, "save_mode='keep' is not allowed"),
    ({"save_dir": ".", "save_format": "csv"}, "save_format='csv' is not allowed"),
    ({"save_dir": ".", "names": ["a/b", "b", "c", "d"]}, "'a/b' cannot be the name of a file"),
    ({"topics": topics_of("99")}, r"have no topic in common: the topics have \['99'\]"),
]
MISTAKES = [(ValueError, *row) for row in VALUES] + [
    (e, *row) for e, rows in KEYS_AND_TYPES.items() for row in rows
]


@pytest.mark.parametrize(("error", "options", "message"), MISTAKES)
def test_mistakes(error, options, message) -> None:
    given = list(CAMPAIGN.pipelines().values())
    with pytest.raises(error, match=message):
        CAMPAIGN.relative(
            **{"systems": given, "names": NAMES if "systems" not in options else None} | options
        )
    assert not any(g.queries for g in given)


def test_results_that_cannot_be_scored() -> None:
    one, two = CAMPAIGN.frames["one"], CAMPAIGN.frames["two"]
    for nothing, where in ((Given(one.head(0)), "received from"), (one.head(0), "in dataframe")):
        with pytest.raises(ValueError, match=f"{len(TOPICS)} topics, but no results {where}"):
            CAMPAIGN.relative(systems={"a": Given(one), "b": nothing})
    with pytest.raises(ValueError, match="batch of 5 topics, but no results received in batch 1"):
        CAMPAIGN.relative(systems={"a": Given(one[one["qid"] == "q2"]), "b": two}, batch_size=5)
    twice = Given(pd.concat([two, two[two["rank"] == 0]]))
    with pytest.raises(ValueError, match="run 'bad': query 'q0' lists document 'd[0-9]+' more than once"):
        CAMPAIGN.relative([NRG @ 10], {"good": Given(one), "bad": twice})
    unscored = Given(one[["qid", "query", "docno"]])
    with pytest.raises(ValueError, match="do not produce the required outputs(.|\n)*Pipeline #1: b"):
        CAMPAIGN.relative(systems={"a": Given(one), "b": unscored}, validate="error")
    assert unscored.queries == []


@pytest.mark.parametrize("batch_size", [None, 5])
def test_a_pipeline_that_returns_no_frame(batch_size) -> None:
    systems = [pt.apply.generic(lambda _: None), CAMPAIGN.frames["one"]]
    errors = []
    for run, measures in ((CAMPAIGN.plain, [AP]), (CAMPAIGN.relative, [AP, NRG])):
        with pytest.raises(Exception) as error, warnings.catch_warnings():
            run(measures, systems, batch_size=batch_size, validate="ignore")
        errors.append(repr(error.value))
    assert errors[0] == errors[1]


def test_every_parameter_of_the_host_is_named() -> None:
    """With the same default, so that editors complete it; the first has another name here."""
    ours, theirs = (inspect.signature(f).parameters for f in (pt.relative.Experiment, pt.Experiment))
    own = {"systems", "beside", "priors", "reference", "groups", "num_docs", "grades", "drop_self"}
    host = {name: p.default for name, p in theirs.items() if p.kind is not p.VAR_KEYWORD}
    del host["retr_systems"]
    named = {name: p.default for name, p in ours.items() if p.kind is not p.VAR_KEYWORD}
    assert {name: default for name, default in named.items() if name not in own} == host
    documented = inspect.getdoc(pt.relative.Experiment) or ""
    assert all(f"    {name}: " in documented for name in own)


def test_of_a_dict_the_keys_are_the_names() -> None:
    for measures in ([NRG @ 10], [nDCG @ 10]):
        assert CAMPAIGN.relative(measures, names=["x"])["name"].tolist() == NAMES
    assert CAMPAIGN.plain([nDCG @ 10], names=["x"])["name"].tolist() == NAMES


def test_topics_that_are_given_twice_are_named() -> None:
    """By a pipeline only: a frame of results is not made again; and with documents to rank a topic has many rows."""
    twice = pd.concat([CAMPAIGN.topics, CAMPAIGN.topics.head(2)])
    message = (
        rf"the topics hold the qid '{TOPICS[0]}' twice, as 2 rows in all; .*drop_duplicates\(\['qid'\]\)"
    )
    with pytest.raises(ValueError, match=message):
        CAMPAIGN.relative([NRG @ 10], topics=twice)
    with pytest.raises(ValueError, match=message):
        RunContext.from_pipelines(CAMPAIGN.pipelines(), twice)
    with pytest.raises(TypeError, match="pipelines is a list; give a dict from name to transformer"):
        RunContext.from_pipelines([], CAMPAIGN.topics)  # type: ignore[arg-type]
    frames = CAMPAIGN.frames
    same(CAMPAIGN.relative([NRG @ 10], frames, topics=twice), CAMPAIGN.relative([NRG @ 10], frames))
    candidates, pipelines = CAMPAIGN.frames["one"][["qid", "docno"]], [pt.Transformer.identity()]
    check_topics_once(candidates, pipelines)
    with pytest.raises(ValueError, match=r"drop_duplicates\(\['qid', 'docno'\]\)"):
        check_topics_once(pd.concat([candidates, candidates]), pipelines)


TWELVE = [f"{q}" for q in range(1, 13)]
QRELS = judged({q: {"a": 1, "b": 0} for q in TWELVE})
FRAMES = ranked(
    {
        "all": {q: {"a": 2.0, "b": 1.0} for q in TWELVE},
        "half": {q: {"b": 2.0, "a": 1.0} for q in TWELVE[::2]},
    }
)
PIPELINES = {name: Given(frame) for name, frame in FRAMES.items()}


@pytest.mark.parametrize(
    ("options", "measure"),
    [({}, P @ 2), *((o, NRG @ 2) for o in ({"batch_size": 5}, TREE, {"filter_by_topics": False}))],
)
def test_no_result_for_a_topic_is_an_answer(options: dict[str, Any], measure: Any) -> None:
    with warnings.catch_warnings(action="error", category=RelativeWarning):
        pt.relative.Experiment(PIPELINES, topics_of(*TWELVE), QRELS, [measure], **options)
        context = RunContext.from_pipelines(PIPELINES, topics_of(*TWELVE))
        compare(context, QRELS, [measure], test="sign")
        with context:
            pt.Experiment(pt.relative.named(PIPELINES), topics_of(*TWELVE), QRELS, [measure], **options)


@pytest.mark.parametrize("measure", [NRG @ 2, P @ 2])
def test_given_results_may_be_cut(measure: Any) -> None:
    with pytest.warns(
        RelativeWarning, match="run 'half' has no ranking for 6 of the 12 judged topics"
    ) as said:
        table = pt.relative.Experiment(FRAMES, topics_of(*TWELVE), QRELS, [measure])
    assert len(said) == 1 and table["name"].tolist() == list(FRAMES)
    with pytest.raises(ValueError, match="'half' has no ranking for 6 of the 12"):
        compare(RunContext(FRAMES), QRELS, [measure])


def test_topics_whose_ids_agree_in_part() -> None:
    topics = topics_of("1", "2", *(f"0{q}" for q in TWELVE[2:]))
    with pytest.warns(
        RelativeWarning, match="2 of the 12 topics are judged; 10 of these ids .* the topics have '010'"
    ):
        pt.relative.Experiment(PIPELINES, topics, QRELS, [NRG @ 2])
