"""pt.relative.Experiment: the numbers of pt.Experiment in a hand-made context, digit for digit, with every option."""

from __future__ import annotations

import gzip
import pickle
import time
import warnings

import ir_datasets
import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, RR, Bpref, Compat, Judged, NumRet, P, SetP, infAP, nDCG

from ir_measures_relative import (
    MED,
    NRG,
    P_Rareness,
    RelativeWarning,
    RunContext,
    UniqueRel,
    demo,
    nDCG_UE,
    rrLP,
)
from ir_measures_relative.context import run_context
from ir_measures_relative.context.priors import BestOfOtherGroups
from ir_measures_relative.hosts import evaluator
from ir_measures_relative.io.runs import read_run

pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")

MEASURES = [nDCG @ 10, NRG @ 10, P_Rareness @ 10, UniqueRel @ 5]
NAMES = ["one", "two", "three", "four"]
GROUPS = {"one": "g", "two": "h", "three": "g", "four": "i"}
TREE = {"plan": "tree", "verbose": False}
POLICIES = [
    "others",
    "earlier",
    ["two", "four"],
    {"one": [], "two": ["one"], "three": ["one", "two", "four"], "four": ["three"]},
    BestOfOtherGroups(by=AP @ 20),
]


class Given(pt.Transformer):
    """A pipeline that counts its runs and answers with rows of a frame, here in the order of the frame."""

    def __init__(self, frame: pd.DataFrame, seconds: float = 0.0) -> None:
        self.frame = frame
        self.seconds = seconds
        self.queries: list[str] = []

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        time.sleep(self.seconds)
        self.queries += inp["qid"].tolist()
        return self.frame[self.frame["qid"].isin(inp["qid"])].reset_index(drop=True)

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        return list(self.frame.columns)


@pytest.fixture(scope="module")
def campaign():
    """Topics with and without judgments, judgments without topics, and four runs that lack some queries."""
    rng = np.random.default_rng(11)
    docs = [f"d{i}" for i in range(60)]
    topics = pd.DataFrame({"qid": [f"q{i}" for i in range(17)], "query": "x"})
    judged = [(f"q{i}", d) for i in range(2, 20) for d in rng.choice(docs, 25, replace=False).tolist()]
    qrels = pd.DataFrame(judged, columns=["qid", "docno"]).assign(label=rng.integers(-1, 3, len(judged)))
    frames = {}
    for name, missing in zip(NAMES, (["q4"], [], ["q8", "q9"], []), strict=True):
        rows = [
            (q, "x", d, float(np.round(rng.normal(), 1)))
            for q in topics.qid
            if q not in missing
            for d in rng.choice(docs, 30, replace=False).tolist()
        ]
        frames[name] = pt.model.add_ranks(pd.DataFrame(rows, columns=["qid", "query", "docno", "score"]))
    return topics, qrels, frames


@pytest.fixture(autouse=True)
def pyterriers_own_warnings_left_out():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*topic.s. not found in qrels")
        warnings.filterwarnings("ignore", message="There are shared pipeline components")
        yield


def pipelines(frames, seconds=0.0):
    return {name: Given(frame, seconds) for name, frame in frames.items()}


def by_hand(campaign, options, measures=MEASURES, systems=None, **context):
    """Plain pt.Experiment with named pipelines, inside a context made of the same runs."""
    topics, qrels, frames = campaign
    given = systems or pipelines(frames)
    named = [
        s.assign(name=n)
        if isinstance(s, pd.DataFrame)
        else s >> pt.apply.generic(lambda r, n=n: r.assign(name=n))
        for n, s in given.items()
    ]
    with RunContext(frames, **context):
        return pt.Experiment(named, topics, qrels, measures, names=NAMES, validate="ignore", **options)


def same(ours, theirs) -> None:
    """The same tables, digit for digit; pt.Experiment gives the columns of measures in no particular order."""
    if isinstance(ours, tuple):
        for a, b in zip(ours, theirs, strict=True):
            same(a, b)
    elif isinstance(ours, dict):
        np.testing.assert_equal(ours, theirs)  # a topic without judgments has NaN
    elif "measure" in ours.columns:
        order = ["name", "qid", "measure"]
        a, b = (t.sort_values(order).reset_index(drop=True) for t in (ours, theirs))
        pd.testing.assert_frame_equal(a, b, check_exact=True)
    else:
        assert sorted(ours.columns) == sorted(theirs.columns)
        pd.testing.assert_frame_equal(ours[sorted(ours)], theirs[sorted(theirs)], check_exact=True)


def where_valid(theirs, ours):
    """Their table, with NaN for the comparisons with a baseline that are NaN in ours, since they are not valid."""
    if isinstance(theirs, pd.DataFrame):
        for column in [c for c in theirs if str(c).endswith((" +", " -", " p-value"))]:
            theirs[column] = theirs[column].mask(ours[column].isna())
    return theirs


# ---- the numbers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("priors", POLICIES, ids=["others", "earlier", "list", "dict", "groups"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"baseline": 1, "batch_size": 5},
        {"perquery": "both", **TREE, "batch_size": 5},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:.*are different quantities")
def test_every_policy(campaign, priors, options) -> None:
    topics, qrels, frames = campaign
    ours = pt.relative.Experiment(
        pipelines(frames), topics, qrels, MEASURES, priors=priors, groups=GROUPS, **options
    )
    if "batch_size" in options and isinstance(priors, BestOfOtherGroups):  # by hand a batch knows no other
        best = by_hand(campaign, {}, [priors.by]).set_index("name")[str(priors.by)]
        priors = BestOfOtherGroups.choose(best.to_dict(), GROUPS)
    same(ours, where_valid(by_hand(campaign, options, priors=priors, groups=GROUPS), ours))


@pytest.mark.parametrize(
    "options",
    [
        {"perquery": True, **TREE},
        {"perquery": "both", "batch_size": 3},
        {"baseline": 1, "correction": "holm", "test": "wilcoxon"},
        {"perquery": True, "dataframe": False},
        {"dataframe": False, "round": 2},
        {"round": 2},
        {"round": {"NRG@10": 1}, "baseline": 0},
        {"filter_by_qrels": True},
        {"filter_by_topics": False},
        {"filter_by_topics": False, "batch_size": 4},
        {"filter_by_topics": False, "filter_by_qrels": True, "batch_size": 4, **TREE},
        {"test": lambda a, b: (0.0, float((a > b).mean())), "baseline": 2, "correction": "bonferroni"},
        {"correction": "hs", "baseline": 3, "correction_alpha": 0.5},
    ],
    ids=lambda options: str(sorted(options)),
)
@pytest.mark.filterwarnings("ignore:the qrels hold no judgment")
def test_every_option(campaign, options) -> None:
    topics, qrels, frames = campaign
    given = list(pipelines(frames).values())
    ours = pt.relative.Experiment(given, topics, qrels, MEASURES, NAMES, **options)
    same(ours, by_hand(campaign, options))


def test_each_against_its_priors_alone(campaign) -> None:
    """A context of nothing but the priors, and the system a new run to it: NRG knows nothing else."""
    topics, qrels, frames = campaign
    best = by_hand(campaign, {}, [AP @ 20]).set_index("name")["AP@20"]
    best_of = {g: max((n for n in NAMES if GROUPS[n] == g), key=best.__getitem__) for g in "ghi"}
    expected = {
        "others": {n: [o for o in NAMES if o != n] for n in NAMES},
        "earlier": {n: NAMES[: NAMES.index(n)] for n in NAMES},
        "groups": {n: [b for g, b in best_of.items() if g != GROUPS[n]] for n in NAMES},
    }
    for policy, priors_of in expected.items():
        table = pt.relative.Experiment(
            pipelines(frames), topics, qrels, [NRG @ 10],
            priors=BestOfOtherGroups(by=AP @ 20) if policy == "groups" else policy, groups=GROUPS,
        )  # fmt: skip
        for name, value in zip(table["name"], table["NRG@10"], strict=True):
            with RunContext({n: frames[n] for n in priors_of[name]}):
                alone = pt.Experiment([frames[name]], topics, qrels, [NRG @ 10], names=["it"])["NRG@10"][0]
            assert value == pytest.approx(alone, abs=1e-12), (policy, name)


@pytest.mark.parametrize("options", [{"batch_size": 4}, TREE | {"batch_size": 4}], ids=str)
def test_frames_and_pipelines_together(campaign, options) -> None:
    topics, qrels, frames = campaign
    mixed = {n: f if n in ("one", "three") else Given(f) for n, f in frames.items()}
    before = {n: list(f.columns) for n, f in frames.items()}
    same(
        pt.relative.Experiment(mixed, topics, qrels, MEASURES, **options),
        by_hand(campaign, options, systems=mixed),
    )
    assert {n: list(f.columns) for n, f in frames.items()} == before


@pytest.mark.filterwarnings("ignore:.*are different quantities")
def test_the_reference_is_the_baseline_unless_given(campaign) -> None:
    topics, qrels, frames = campaign
    measures = [rrLP, MED @ 5, NRG(prior="t*") @ 10, rrLP(ref="four")]
    for options, reference in (({"baseline": 1}, "two"), ({"baseline": "two"}, "two"), ({}, "three")):
        extra = {"reference": "three"} if not options else {}
        ours = pt.relative.Experiment(pipelines(frames), topics, qrels, measures, **options, **extra)
        theirs = by_hand(campaign, {"baseline": 1} if options else {}, measures, reference=reference)
        same(ours, where_valid(theirs, ours))
    options = {"baseline": 0, "reference": "four"}
    ours = pt.relative.Experiment(pipelines(frames), topics, qrels, measures, **options)
    same(ours, where_valid(by_hand(campaign, {"baseline": 0}, measures, reference="four"), ours))
    with pytest.raises(ValueError, match="which run is the reference"):
        pt.relative.Experiment(pipelines(frames), topics, qrels, measures)


def test_an_earlier_name_column_does_not_matter(campaign) -> None:
    topics, qrels, frames = campaign
    tagged = {n: f.assign(name="pyterrier") for n, f in frames.items()}
    same(
        pt.relative.Experiment({n: Given(f) for n, f in tagged.items()}, topics, qrels, MEASURES),
        by_hand(campaign, {}),
    )
    same(pt.relative.Experiment(tagged, topics, qrels, MEASURES), by_hand(campaign, {}))


def test_a_dataset_brings_its_judgments_and_its_size(monkeypatch) -> None:
    """Qrels that are a dataset of ir_datasets, by PyTerrier's object or by id; num_docs= goes before its size."""
    dataset = ir_datasets.load(demo.register())
    monkeypatch.setattr(dataset, "docs_metadata", lambda: {"count": 1200}, raising=False)
    given = pt.get_dataset(f"irds:{demo.DATASET_ID}")
    frames = {
        n: r.rename(columns={"query_id": "qid", "doc_id": "docno"}) for n, r in list(demo.runs().items())[:2]
    }
    systems = {n: pt.model.add_ranks(frame) for n, frame in frames.items()}
    measures, topics = [nDCG_UE(pool="corpus") @ 10, nDCG @ 10], given.get_topics()
    expected = pt.relative.Experiment(systems, topics, given.get_qrels(), measures, num_docs=1200)
    for qrels in (given, f"irds:{demo.DATASET_ID}", dataset):
        pd.testing.assert_frame_equal(pt.relative.Experiment(systems, topics, qrels, measures), expected)
    fewer = pt.relative.Experiment(systems, topics, given, measures, num_docs=600)
    assert (fewer.iloc[:, 1] < expected.iloc[:, 1]).all()


def test_topics_and_qrels_as_paths(campaign, tmp_path) -> None:
    topics, qrels, frames = campaign
    (tmp_path / "topics").write_text(
        "".join(f"<top>\n<num>{q}</num>\n<title>x</title>\n</top>\n" for q in topics["qid"]), encoding="utf-8"
    )
    rows = qrels.assign(zero=0)[["qid", "zero", "docno", "label"]]
    rows.to_csv(tmp_path / "qrels", sep=" ", header=False, index=False)
    paths = str(tmp_path / "topics"), str(tmp_path / "qrels")
    same(pt.relative.Experiment(pipelines(frames), *paths, MEASURES), by_hand(campaign, {}))


# ---- absolute measures are the host's, to the last bit ---------------------------------------------------

LENGTH = ir_measures.define_byquery(lambda qrels, run: run["query"].str.len().mean() / 7, "length")
OPTIONS: list[dict] = [
    {"perquery": True},
    {"perquery": "both"},
    {"batch_size": 4},
    TREE,
    {"filter_by_qrels": True},
    {"filter_by_topics": False},
    {"dataframe": False},
    {"baseline": 1},
    {"baseline": 0, "correction": "holm"},
    {"baseline": 2, "test": "wilcoxon", "correction": "hs", "correction_alpha": 0.2},
    {"round": 2},
    {"validate": "ignore"},
]


def every_pair_is_in_one() -> list[dict]:
    """Sets of options, few of them, that hold each pair of options that go together."""

    def together(a: dict, b: dict) -> bool:
        return not a.keys() & b.keys() and not ({"perquery", "baseline"} <= (a | b).keys())

    left = [{i, j} for i in range(len(OPTIONS)) for j in range(i) if together(OPTIONS[i], OPTIONS[j])]
    found: list[dict] = [{}]
    while left:
        chosen = list(left[0])
        for i, option in enumerate(OPTIONS):
            if len(chosen) < 6 and all(together(option, OPTIONS[j]) for j in chosen):
                chosen.append(i)
        left = [pair for pair in left if not pair <= set(chosen)]
        found.append({key: value for i in chosen for key, value in OPTIONS[i].items()})
    return found


def part_of(ours, theirs):
    """What their table has, out of ours; and theirs, with the columns and rows in one order."""
    if isinstance(theirs, tuple):
        both = [part_of(a, b) for a, b in zip(ours, theirs, strict=True)]
        return [a for a, _ in both], [b for _, b in both]
    if isinstance(theirs, pd.DataFrame) and "measure" in theirs:
        by = ["name", "qid", "measure"]
        both = (ours[ours["measure"].isin(theirs["measure"])], theirs)
        return tuple(table.sort_values(by).reset_index(drop=True) for table in both)
    if isinstance(theirs, pd.DataFrame):
        return ours[list(theirs.columns)], theirs
    first = next(iter(theirs.values()))
    if isinstance(next(iter(first.values())), dict):
        return {s: part_of(ours[s], queries)[0] for s, queries in theirs.items()}, theirs
    return {name: {m: ours[name][m] for m in row} for name, row in theirs.items()}, theirs


def same_part(ours, theirs) -> None:
    """What their table has is in ours, digit for digit."""
    ours, theirs = part_of(ours, theirs)
    for a, b in zip(ours, theirs, strict=True) if isinstance(theirs, list) else [(ours, theirs)]:
        if isinstance(b, pd.DataFrame):
            pd.testing.assert_frame_equal(a, b, check_exact=True)
        else:
            np.testing.assert_equal(a, b)


@pytest.mark.filterwarnings("ignore:.*(one topic supplies|default of)")
@pytest.mark.parametrize("frames_too", [False, True])
@pytest.mark.parametrize(
    "options", every_pair_is_in_one(), ids=lambda options: ",".join(f"{k}={v}" for k, v in options.items())
)
def test_every_pair_of_options(campaign, options, frames_too) -> None:
    topics, qrels, frames = campaign
    measures = ["map", nDCG @ 10, P(rel=2) @ 5, RR @ 10, Judged @ 5]

    def systems() -> list:
        given = [Given(frame) for frame in frames.values()]
        return [frames["one"].copy(), *given[1:]] if frames_too else given

    ours = pt.relative.Experiment(systems(), topics, qrels, [*measures, NRG @ 10], NAMES, **options)
    theirs = pt.Experiment(systems(), topics, qrels, measures, NAMES, **options)
    same_part(ours, theirs)


def outcome(experiment, arguments, options):
    """What it returns or raises, and the texts of the host's warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = experiment(*arguments, **options)
        except Exception as error:
            result = error
    ours = (RelativeWarning, DeprecationWarning)
    texts = {str(w.message) for w in caught if not issubclass(w.category, ours)}
    return result, {
        t for t in texts if "nearly identical" not in t
    }  # scipy, of one measure and not of another


@pytest.mark.parametrize("options", [{}, {"batch_size": 4}, {"perquery": True}], ids=str)
@pytest.mark.parametrize(
    "measures",
    [
        [RR @ 10],
        [Judged @ 5],
        [Compat(p=0.9)],
        [infAP, Bpref],
        [LENGTH],
        [LENGTH, nDCG @ 5],
        [SetP, "num_q", NumRet],
    ],
    ids=str,
)
def test_measures_of_every_provider(campaign, measures, options) -> None:
    topics, qrels, frames = campaign
    options = options | {
        "filter_by_qrels": True
    }  # a measure that looks at no judgment has values without any
    ours = pt.relative.Experiment(pipelines(frames), topics, qrels, [*measures, NRG @ 10], **options)
    theirs = pt.Experiment(pipelines(frames), topics, qrels, measures, **options)
    pd.testing.assert_frame_equal(*part_of(ours, theirs), check_exact=True)


@pytest.mark.filterwarnings("ignore:.*one topic supplies")
def test_qrels_that_judge_a_document_twice_draw_the_warning(campaign) -> None:
    topics, qrels, frames = campaign
    twice = pd.concat([qrels, qrels.head(1).assign(label=2)], ignore_index=True)
    with pytest.warns(UserWarning, match="judge 1 .query, document. pair"):
        ours = pt.relative.Experiment(pipelines(frames), topics, twice, [nDCG @ 5, NRG @ 5])
    theirs = pt.Experiment(pipelines(frames), topics, twice, [nDCG @ 5], names=NAMES)
    pd.testing.assert_frame_equal(ours[["name", "nDCG@5"]], theirs, check_exact=True)


def test_documents_twice_below_what_relative_measures_look_at(campaign) -> None:
    topics, qrels, frames = campaign
    twice = {n: pd.concat([f, f.groupby("qid").tail(2).assign(score=-9.0)]) for n, f in frames.items()}
    ours = pt.relative.Experiment(twice, topics, qrels, [AP, P @ 20, UniqueRel @ 5])
    theirs = pt.Experiment(twice, topics, qrels, [AP, P @ 20])
    pd.testing.assert_frame_equal(*part_of(ours, theirs), check_exact=True)


# ---- measures as strings, and their order ----------------------------------------------------------------

ASKED = ["UniqueRel@5", "map", NRG(base="RBP") @ 10, "nDCG@10", "P.5", "NRG@10", "recip_rank"]
COLUMNS = ["UniqueRel@5", "map", "NRG(base='RBP')@10", "nDCG@10", "P.5", "NRG@10", "recip_rank"]
OBJECTS = [UniqueRel @ 5, "map", NRG(base="RBP") @ 10, nDCG @ 10, "P.5", NRG @ 10, "recip_rank"]


@pytest.mark.filterwarnings("ignore:.*one topic supplies")
@pytest.mark.parametrize(
    ("turn", "options"), [(0, {}), (1, {}), (2, {}), (1, {"batch_size": 4}), (2, TREE)], ids=str
)
def test_strings_are_measures_and_come_in_the_order_asked(campaign, turn, options) -> None:
    topics, qrels, frames = campaign
    asked, columns = (values[turn * 2 :] + values[: turn * 2] for values in (ASKED, COLUMNS))
    table = pt.relative.Experiment(pipelines(frames), topics, qrels, asked, **options)
    assert list(table.columns) == ["name", *columns]
    same(table, by_hand(campaign, options, OBJECTS))
    table = pt.relative.Experiment(pipelines(frames), topics, qrels, ["mrt", *asked], **options)
    assert list(table.columns) == ["name", "mrt", *columns]


@pytest.mark.filterwarnings("ignore:.*one topic supplies")
def test_the_order_of_everything_else_is_pyterriers(campaign) -> None:
    topics, qrels, frames = campaign

    def made(**options):
        return pt.relative.Experiment(pipelines(frames), topics, qrels, [*ASKED, "mrt"], **options)

    table = made(baseline="two", correction="holm")
    added = ["+", "-", "p-value", "reject", "p-value corrected"]
    assert list(table.columns) == ["name", *COLUMNS, "mrt", *(f"{m} {a}" for m in COLUMNS for a in added)]
    same(table.drop(columns="mrt"), by_hand(campaign, {"baseline": 1, "correction": "holm"}, OBJECTS))

    both = made(perquery="both")
    means, rows = both.averages, both.perquery
    assert list(means.columns) == ["name", *COLUMNS]
    theirs = by_hand(campaign, {"perquery": True}, OBJECTS)
    assert list(rows.columns) == list(theirs.columns)
    assert rows[["name", "qid"]].values.tolist() == theirs[["name", "qid"]].values.tolist()
    assert rows["measure"].tolist() == COLUMNS * (4 * 17)
    same(rows, theirs)

    as_dict = made(dataframe=False)
    assert list(as_dict) == NAMES and all(list(row) == [*COLUMNS, "mrt"] for row in as_dict.values())
    by_system = made(dataframe=False, perquery=True)
    assert all(list(row) == COLUMNS for queries in by_system.values() for row in queries.values())


def test_a_family_of_trec_evals(campaign) -> None:
    topics, qrels, frames = campaign
    table = pt.relative.Experiment(pipelines(frames), topics, qrels, ["NRG@10", "P", "map"])
    assert list(table.columns)[:4] == ["name", "NRG@10", "P@5", "P@10"] and list(table.columns)[-1] == "map"


@pytest.mark.filterwarnings("ignore:.*one topic supplies")
def test_a_styled_table_in_the_order_asked(campaign) -> None:
    pytest.importorskip("jinja2", reason="pandas' styles need jinja2")
    topics, qrels, frames = campaign
    styled = pt.relative.Experiment(
        pipelines(frames), topics, qrels, [*ASKED, "mrt"], highlight="bold", baseline=0
    )
    assert list(styled.data.columns)[:9] == ["name", *COLUMNS, "mrt"]
    page = styled.to_html()
    assert page.index("UniqueRel@5") < page.index("map") < page.index("nDCG@10") < page.index("recip_rank")
    bold = styled._compute().ctx  # pandas has no other way to ask for the style of a cell
    for place, column in enumerate(COLUMNS, start=1):
        best = styled.data[column].max()
        cells = [bool(bold.get((row, place))) for row in range(4)]
        assert cells == (styled.data[column] == best).tolist(), column


# ---- running the pipelines -------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"batch_size": 4}, TREE, {"perquery": True}], ids=str)
def test_every_pipeline_runs_once(campaign, options) -> None:
    topics, qrels, frames = campaign
    given = pipelines(frames)
    pt.relative.Experiment(given, topics, qrels, MEASURES, **options)
    assert all(g.queries == topics["qid"].tolist() for g in given.values())


def test_filter_by_qrels_spares_the_topics_without_judgments(campaign) -> None:
    topics, qrels, frames = campaign
    given = pipelines(frames)
    pt.relative.Experiment(given, topics, qrels, MEASURES, filter_by_qrels=True)
    assert all(g.queries == topics["qid"].tolist()[2:] for g in given.values())


@pytest.mark.filterwarnings("ignore:precompute_prefix is deprecated")
@pytest.mark.parametrize("options", [TREE, {"precompute_prefix": True}], ids=str)
def test_a_shared_prefix_runs_once_where_that_is_asked_for(campaign, options, capfd) -> None:
    topics, qrels, frames = campaign
    first = Given(frames["two"], seconds=0.02)
    systems = {"whole": first, "cut": first % 5}
    table = pt.relative.Experiment(systems, topics, qrels, [NRG @ 10, nDCG @ 10, "mrt"], **options)
    assert first.queries == topics["qid"].tolist()
    judged = topics["qid"].isin(qrels["qid"]).sum()
    assert (table["mrt"] >= 20 / judged).all()  # the time of the prefix is part of both
    cut = (Given(frames["two"]) % 5)(topics)
    assert cut.groupby("qid").size().eq(5).all()
    with RunContext({"whole": frames["two"], "cut": cut}):
        named = [frames["two"].assign(name="whole"), cut.assign(name="cut")]
        theirs = pt.Experiment(named, topics, qrels, [NRG @ 10, nDCG @ 10], names=["whole", "cut"])
    same(table.drop(columns="mrt"), theirs)


def test_mrt_is_the_time_of_the_pipelines_themselves(campaign, tmp_path) -> None:
    topics, qrels, frames = campaign
    judged = topics["qid"].isin(qrels["qid"]).sum()
    systems = {"one": frames["one"], "two": Given(frames["two"], 0.03), "three": Given(frames["three"], 0.06)}
    for options in ({}, {"round": 1}, {"round": {"mrt": 0}}, TREE, {"save_dir": str(tmp_path)}):
        table = pt.relative.Experiment(systems, topics, qrels, ["mrt", NRG @ 10], **options).set_index("name")
        assert table["mrt"]["one"] == 0 or "plan" in options
        assert table["mrt"]["two"] >= 30 / judged - 0.5
        assert table["mrt"]["three"] >= 60 / judged - 0.5
        digits = options.get("round")
        digits = digits.get("mrt") if isinstance(digits, dict) else digits
        assert digits is None or (table["mrt"] == table["mrt"].round(digits)).all()
    summary = pd.read_csv(tmp_path / "aggregated.csv").set_index("name")
    pd.testing.assert_frame_equal(summary[table.columns], table, rtol=1e-15)
    as_dict = pt.relative.Experiment(systems, topics, qrels, ["mrt", NRG @ 10], dataframe=False, batch_size=4)
    assert as_dict["two"]["mrt"] >= 4 * 30 / judged  # of at least four batches
    both = pt.relative.Experiment(systems, topics, qrels, ["mrt", NRG @ 10], perquery="both")
    assert "mrt" not in both[0].columns  # as in PyTerrier


def test_a_progress_bar(campaign, capfd) -> None:
    topics, qrels, frames = campaign
    pt.relative.Experiment(pipelines(frames), topics, qrels, MEASURES, verbose=True)
    assert "4/4" in capfd.readouterr().err
    for quiet in ({"verbose": False}, {}):  # this is no terminal
        pt.relative.Experiment(pipelines(frames), topics, qrels, MEASURES, **quiet)
        assert capfd.readouterr() == ("", "")


# ---- save_dir --------------------------------------------------------------------------------------------


def content(folder) -> dict[str, bytes]:
    return {
        p.name: gzip.decompress(p.read_bytes())
        if p.suffix == ".gz"
        else b"\n".join(sorted(p.read_bytes().split()))
        for p in folder.iterdir()
    }


@pytest.mark.parametrize("options", [{}, {"batch_size": 4, "perquery": True}], ids=str)
def test_save_dir_gets_what_pyterrier_saves(campaign, tmp_path, options) -> None:
    topics, qrels, frames = campaign
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    measures = [NRG @ 10]  # of several, pt.Experiment gives the columns in no particular order
    table = pt.relative.Experiment(pipelines(frames), topics, qrels, measures, save_dir=str(ours), **options)
    same(table, by_hand(campaign, {"save_dir": str(theirs), **options}, measures))
    assert content(ours) == content(theirs)
    assert set(content(ours)) == {"aggregated.csv", "perquery.csv", *(f"{n}.res.gz" for n in NAMES)}


def test_reuse_does_not_run_the_pipelines_again(campaign, tmp_path) -> None:
    topics, qrels, frames = campaign
    options = {"save_dir": str(tmp_path), "save_mode": "reuse", "priors": "earlier"}
    few = {n: frames[n] for n in NAMES[1:3]}
    pt.Experiment(
        list(pipelines(few).values()), topics, qrels, [nDCG @ 10], names=list(few), save_dir=str(tmp_path)
    )
    saved = {n: (tmp_path / f"{n}.res.gz").stat().st_mtime_ns for n in few}
    given = pipelines(frames)
    with pytest.warns(UserWarning, match="Evaluation measures differ"):  # PyTerrier's, of its summary
        table = pt.relative.Experiment(given, topics, qrels, [nDCG @ 10, NRG @ 10, "mrt"], **options)
    assert [len(g.queries) for g in given.values()] == [17, 0, 0, 17]
    assert (table["mrt"] == 0).tolist() == [False, True, True, False]
    same(table.drop(columns="mrt"), by_hand(campaign, {}, [nDCG @ 10, NRG @ 10], priors="earlier"))
    again = pipelines(frames)
    with pytest.warns(UserWarning, match="Evaluation measures differ"):
        table = pt.relative.Experiment(again, topics, qrels, MEASURES, **options)
    same(table, by_hand(campaign, {}, priors="earlier"))
    assert not any(g.queries for g in again.values())
    assert {n: (tmp_path / f"{n}.res.gz").stat().st_mtime_ns for n in few} == saved


def test_ids_that_pandas_takes_for_missing_values(tmp_path) -> None:
    """Queries and documents called NA, null, None and nan, in a file of qrels and in saved runs."""
    odd = ["NA", "null", "None", "nan", "1"]
    topics = pd.DataFrame({"qid": odd, "query": "tea"})
    rows = [(q, d, float(-i)) for q in odd for i, d in enumerate(odd)]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "score"]).assign(
        rank=lambda f: -f["score"].astype(int)
    )
    frames = {
        "one": frame.assign(score=frame["score"] / 3),
        "two": frame.iloc[::-1].assign(score=frame["score"] / -7),
    }
    path = tmp_path / "qrels.txt"
    path.write_text("".join(f"{q} 0 {d} {i % 2}\n" for q in odd for i, d in enumerate(odd)))
    qrels = {q: {d: i % 2 for i, d in enumerate(odd)} for q in odd}
    expected = RunContext(frames).evaluate(qrels, MEASURES)
    pd.testing.assert_frame_equal(RunContext(frames).evaluate(path, MEASURES), expected)
    saved = {"save_dir": str(tmp_path / "saved"), "save_mode": "reuse"}
    (tmp_path / "saved").mkdir()
    for of_qrels in (str(path), path):
        given = pipelines(frames)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Evaluation measures differ")
            table = pt.relative.Experiment(given, topics, of_qrels, MEASURES, **saved)
        same(table, expected)
    assert not any(g.queries for g in given.values())
    plain = pt.io.read_results(str(tmp_path / "saved" / "one.res.gz"))
    with pytest.raises(ValueError, match="query id nan is a missing value, which pandas makes of the ids NA"):
        RunContext({"one": plain})


@pytest.mark.parametrize("doc", ["a b", 'a"b', "a\tb", ""])
def test_a_run_that_could_not_be_read_back_is_not_saved(tmp_path, doc) -> None:
    topics = pd.DataFrame({"qid": ["1"], "query": "tea"})
    frame = pd.DataFrame({"qid": "1", "docno": [doc, "c"], "score": [2.0, 1.0], "rank": [0, 1]})
    frames = {"one": frame, "two": frame.iloc[1:]}
    qrels = pd.DataFrame({"qid": ["1"], "docno": ["c"], "label": [1]})
    for measures in ([nDCG @ 10], MEASURES):
        with pytest.raises(ValueError, match=r"one\.res\.gz has ids that a TREC file cannot hold"):
            pt.relative.Experiment(pipelines(frames), topics, qrels, measures, save_dir=str(tmp_path))
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "save_format",
    [pickle, (pd.read_pickle, lambda frame, file: frame.to_pickle(file))],
    ids=["module", "pair"],
)
def test_other_save_formats(campaign, tmp_path, save_format) -> None:
    topics, qrels, frames = campaign
    options = {"save_dir": str(tmp_path), "save_format": save_format}
    pt.relative.Experiment(pipelines(frames), topics, qrels, MEASURES, **options)
    suffix = "mod" if save_format is pickle else "custom"
    saved = pd.read_pickle(tmp_path / f"two.{suffix}")
    pd.testing.assert_frame_equal(saved, frames["two"])
    given = pipelines(frames)
    table = pt.relative.Experiment(given, topics, qrels, MEASURES, save_mode="reuse", **options)
    assert not any(g.queries for g in given.values())
    same(table, by_hand(campaign, {}))


def test_files_that_are_there(campaign, tmp_path) -> None:
    topics, qrels, frames = campaign
    (tmp_path / "two.res.gz").write_bytes(gzip.compress(b"q1 Q0 d1 0 1.0 old\n"))
    given = pipelines(frames)
    with pytest.raises(ValueError, match=r"two\.res\.gz' already exists; set save_mode='reuse'"):
        pt.relative.Experiment(given, topics, qrels, MEASURES, save_dir=str(tmp_path), save_mode="error")
    assert not any(g.queries for g in given.values())
    with pytest.warns(UserWarning, match=r"two\.res\.gz' already exists"):
        pt.relative.Experiment(given, topics, qrels, MEASURES, save_dir=str(tmp_path))
    assert len(pt.io.read_results(str(tmp_path / "two.res.gz"))) == len(frames["two"])
    pt.relative.Experiment({"two": frames["one"], "x": Given(frames["two"])}, topics, qrels, MEASURES,
                           save_dir=str(tmp_path), save_mode="overwrite")  # fmt: skip
    assert set(pd.read_csv(tmp_path / "aggregated.csv")["name"]) == {
        *NAMES,
        "x",
    }  # PyTerrier keeps the others


def test_a_failure_leaves_save_dir_as_it_was(campaign, tmp_path) -> None:
    topics, qrels, frames = campaign
    pt.relative.Experiment(pipelines(frames), topics, qrels, MEASURES, save_dir=str(tmp_path))
    before = content(tmp_path)

    def fails(results):
        raise ZeroDivisionError("as expected")

    systems = pipelines(frames) | {"five": Given(frames["one"]) >> pt.apply.generic(fails)}
    with pytest.raises(ZeroDivisionError, match="as expected"):
        pt.relative.Experiment(
            systems, topics, qrels, MEASURES, save_dir=str(tmp_path), save_mode="overwrite", validate="ignore"
        )
    assert content(tmp_path) == before


# ---- mistakes, all found before a pipeline runs ----------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"names": ["a", "b", "a", "c"]}, ValueError, "two systems are called 'a'.*names="),
        ({"names": ["a"]}, ValueError, "1 names for 4 systems"),
        ({"priors": "all"}, ValueError, "priors='all' is not a policy"),
        ({"priors": ["BM25"]}, ValueError, "priors names \\['BM25'\\]"),
        ({"priors": BestOfOtherGroups()}, ValueError, "needs the group of every run"),
        ({"groups": {"BM25": "x"}}, ValueError, "groups names \\['BM25'\\]"),
        ({"reference": "BM25"}, ValueError, "reference='BM25' is not a run"),
        ({"eval_metrics": [NRG(prior="BM25") @ 10]}, ValueError, "'BM25' fits no run"),
        ({"eval_metrics": [rrLP]}, ValueError, "which run is the reference"),
        ({"eval_metrics": [nDCG_UE(pool="corpus") @ 10]}, ValueError, "num_docs"),
        ({"eval_metrics": ["nrg"]}, ValueError, "'nrg'.*the nearest is 'NRG'"),
        ({"eval_metrics": ["map", "NGR@10"]}, ValueError, "'NGR@10'.*the nearest is 'NRG', that is NRG@10"),
        ({"eval_metrics": ["NRG(prior='BM25')@10"]}, ValueError, "'BM25' fits no run"),
        ({"eval_metrics": "NRG@10"}, ValueError, "eval_metrics='NRG@10' must be a list"),
        ({"eval_metrics": NRG @ 10}, ValueError, "eval_metrics=NRG@10 must be a list"),
        ({"eval_metrics": [nDCG @ 0]}, ValueError, "nDCG@0: cutoff=0 is not allowed"),
        ({"eval_metrics": ["ndcg_cut_0"]}, ValueError, "nDCG@0: cutoff=0 is not allowed"),
        ({"eval_metrics": [NRG @ 10, 7]}, KeyError, "Unknown measure 7 of type"),
        ({"eval_metrics": [type(nDCG), NRG @ 10]}, KeyError, "Unknown measure .*_nDCG.* of type"),
        ({"eval_metrics": []}, ValueError, "eval_metrics names no measure"),
        ({"eval_metrics": ["mrt"]}, ValueError, "eval_metrics names no measure"),
        ({"reference": {"q": {"d": 1.0}}}, ValueError, "reference is a dict; give the name of a run"),
        ({"grades": (3, 0)}, ValueError, "grades=\\(3, 0\\) is not allowed"),
        ({"baseline": "on"}, ValueError, "baseline='on' is not a system; the systems are \\['one', 'two', "),
        ({"baseline": 1.5}, ValueError, "baseline=1.5 is not a system; give 0 to 3"),
        ({"baseline": 9}, ValueError, "baseline=9 is not a system; give 0 to 3"),
        ({"baseline": 0, "perquery": True}, ValueError, "baseline compares means"),
        ({"round": {"NRG@10": 1}, "perquery": True}, ValueError, "round by measure"),
        ({"round": "2"}, ValueError, "round should be an integer"),
        ({"test": "u"}, AssertionError, "Unknown test function name u"),
        ({"correction": "holm"}, ValueError, "no baseline"),
        ({"foo": 1}, TypeError, "Unknown kwargs: \\['foo'\\]"),
        ({"save_dir": "/nowhere"}, ValueError, "save_dir /nowhere is not there"),
        ({"save_dir": ".", "plan": "tree"}, ValueError, "not yet supported for tree"),
        ({"save_dir": ".", "save_mode": "keep"}, ValueError, "save_mode='keep' is not allowed"),
        ({"save_dir": ".", "save_format": "csv"}, ValueError, "save_format='csv' is not allowed"),
        (
            {"save_dir": ".", "names": ["a/b", "b", "c", "d"]},
            ValueError,
            "'a/b' cannot be the name of a file",
        ),
        (
            {"topics": pd.DataFrame({"qid": ["99"], "query": ["x"]})},
            ValueError,
            "no overlap between the qids",
        ),
    ],
)
def test_mistakes(campaign, options, error, message) -> None:
    topics, qrels, frames = campaign
    given = list(pipelines(frames).values())
    arguments = {"topics": topics, "qrels": qrels, "eval_metrics": MEASURES, "names": NAMES} | options
    with pytest.raises(error, match=message):
        pt.relative.Experiment(given, **arguments)
    assert not any(g.queries for g in given)


def test_wrong_systems(campaign) -> None:
    topics, qrels, frames = campaign
    with pytest.raises(TypeError, match="systems is a tuple; give a list or dict"):
        pt.relative.Experiment((frames["one"],), topics, qrels, MEASURES)
    with pytest.raises(TypeError, match="system 1 is a dict"):
        pt.relative.Experiment([frames["one"], {}], topics, qrels, MEASURES, NAMES[:2])
    with pytest.raises(ValueError, match=r"baseline='x' is not a system; the systems are \['one', 'two', "):
        pt.relative.Experiment(pipelines(frames), topics, qrels, MEASURES, baseline="x")


@pytest.mark.parametrize("dataframe", [True, False])
def test_systems_without_names_are_called_as_pyterrier_calls_them(campaign, dataframe) -> None:
    topics, qrels, frames = campaign
    same_name = [Given(frames["one"]), Given(frames["two"])]
    for pipeline in same_name:
        pipeline.__class__ = type("Same", (Given,), {"__repr__": lambda self: "same"})
    for systems in ([frames["one"], frames["two"]], same_name):
        both = ({"dataframe": dataframe}, [nDCG @ 10, "mrt"])
        ours = pt.relative.Experiment(systems, topics, qrels, [*both[1], NRG @ 10], **both[0])
        theirs = pt.Experiment(systems, topics, qrels, both[1], **both[0])
        if dataframe:
            pd.testing.assert_frame_equal(
                ours[["name", "nDCG@10"]], theirs[["name", "nDCG@10"]], check_exact=True
            )
        else:
            assert {n: row["nDCG@10"] for n, row in ours.items()} == {
                n: r["nDCG@10"] for n, r in theirs.items()
            }


@pytest.mark.parametrize(
    "options", [{}, {"perquery": True}, {"dataframe": False}, {"batch_size": 5}], ids=str
)
def test_names_that_are_numbers(campaign, options) -> None:
    topics, qrels, frames = campaign
    by_number = dict(enumerate(pipelines(frames).values()))
    for given, names in ((by_number, None), (list(by_number.values()), [0, 1, 2, 3])):
        ours = pt.relative.Experiment(given, topics, qrels, ["map", NRG @ 10], names, **options)
        same_part(ours, pt.Experiment(given, topics, qrels, ["map"], names, **options))


def test_systems_without_results(campaign) -> None:
    topics, qrels, frames = campaign
    nothing = frames["one"].head(0)
    with pytest.raises(ValueError, match="17 topics, but no results received from"):
        pt.relative.Experiment({"a": Given(frames["one"]), "b": Given(nothing)}, topics, qrels, MEASURES)
    with pytest.raises(ValueError, match="17 topics, but no results in dataframe"):
        pt.relative.Experiment({"a": Given(frames["one"]), "b": nothing}, topics, qrels, MEASURES)
    one_query = frames["one"][frames["one"]["qid"] == "q2"]
    with pytest.raises(ValueError, match="batch of 5 topics, but no results received in batch 1"):
        pt.relative.Experiment(
            {"a": Given(one_query), "b": frames["two"]}, topics, qrels, MEASURES, batch_size=5
        )


def test_bad_results_name_the_system(campaign) -> None:
    topics, qrels, frames = campaign
    twice = pd.concat([frames["two"], frames["two"].head(3)])
    with pytest.raises(ValueError, match="run 'bad': query 'q0' lists document 'd[0-9]+' more than once"):
        pt.relative.Experiment({"good": Given(frames["one"]), "bad": Given(twice)}, topics, qrels, [NRG @ 10])


def test_validate(campaign) -> None:
    topics, qrels, frames = campaign
    unscored = Given(frames["one"][["qid", "query", "docno"]])
    with pytest.raises(ValueError, match="do not produce the required outputs(.|\n)*Pipeline #1: b"):
        pt.relative.Experiment(
            {"a": Given(frames["one"]), "b": unscored}, topics, qrels, MEASURES, validate="error"
        )
    assert unscored.queries == []


@pytest.mark.parametrize("batch_size", [None, 5])
def test_a_pipeline_that_returns_no_frame(campaign, batch_size) -> None:
    topics, qrels, frames = campaign
    nothing = pt.apply.generic(lambda _: None)
    errors = [
        outcome(
            f, ([nothing, frames["one"]], topics, qrels, m), {"batch_size": batch_size, "validate": "ignore"}
        )[0]
        for f, m in ((pt.Experiment, [AP]), (pt.relative.Experiment, [AP, NRG]))
    ]
    assert repr(errors[0]) == repr(errors[1]) and isinstance(errors[0], Exception)


def test_one_system_alone_draws_the_contexts_warning(campaign) -> None:
    topics, qrels, frames = campaign
    with pytest.warns(UserWarning, match="holds no run but 'one'"):
        table = pt.relative.Experiment({"one": frames["one"]}, topics, qrels, [NRG @ 10, nDCG @ 10])
    assert table["NRG@10"][0] == pytest.approx(table["nDCG@10"][0], abs=1e-12)


def test_no_context_is_left_behind(campaign) -> None:
    topics, qrels, frames = campaign
    pt.relative.Experiment(frames, topics, qrels, [NRG @ 10])
    with pytest.raises(ValueError, match="no RunContext is active"):
        (NRG @ 10).calc_aggregate({"q": {"d": 1}}, {"q": {"d": 1.0}})
    assert isinstance(ir_measures.parse_measure("NRG@10"), type(NRG))


@pytest.mark.parametrize("options", [{}, {"batch_size": 5}, {"baseline": 0}], ids=str)
def test_a_run_is_read_once(campaign, monkeypatch, options) -> None:
    """Into the context; PyTerrier's own evaluation sees no run."""
    from ir_measures_relative.hosts.pyterrier import experiment

    topics, qrels, frames = campaign
    read = []

    def counting(run, *name, **options):
        if isinstance(run, pd.DataFrame):
            read.append(name)
        return read_run(run, *name, **options)

    for module in (run_context, evaluator, experiment):
        monkeypatch.setattr(module, "read_run", counting)
    for systems in (list(map(Given, frames.values())), list(frames.values())):
        read.clear()
        pt.relative.Experiment(systems, topics, qrels, MEASURES, names=NAMES, **options)
        assert read == [(f"run {name!r}",) for name in NAMES]
