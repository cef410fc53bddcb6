"""pt.relative.Experiment: the numbers of pt.Experiment in a hand-made context, digit for digit, with every option."""

import re
import warnings

import ir_datasets
import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, RR, Bpref, Compat, Judged, NumRet, P, SetP, infAP, nDCG
from scipy.stats import ttest_rel

from experiments import MEASURES, NAMES, TREE, Given, campaign, pt
from ir_measures_relative import (
    MED,
    NRG,
    P_Rareness,
    RelativeWarning,
    RunContext,
    UniqueRel,
    compare,
    demo,
    nDCG_UE,
    rrLP,
)
from ir_measures_relative.context.priors import BestOfOtherGroups

CAMPAIGN = campaign()
GROUPS = {"one": "g", "two": "h", "three": "g", "four": "i"}
POLICIES = {
    "others": "others",
    "earlier": "earlier",
    "list": ["two", "four"],
    "dict": {"one": [], "two": ["one"], "three": ["one", "two", "four"], "four": ["three"]},
    "groups": BestOfOtherGroups(by=AP @ 20),
}
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*one topic supplies",
    "ignore:.*default of",
    "ignore:.*topic.s. not found in qrels",
    "ignore:There are shared pipeline components",
    "ignore:Experiment Pipeline Validation",
)


def same(ours, theirs) -> None:
    """The same tables, digit for digit; pt.Experiment gives the columns of measures in no particular order."""
    if isinstance(ours, tuple):
        for a, b in zip(ours, theirs, strict=True):
            same(a, b)
    elif isinstance(ours, dict):
        np.testing.assert_equal(ours, theirs)  # a topic without judgments has NaN
    elif "measure" in ours.columns:
        a, b = (t.sort_values(["name", "qid", "measure"], ignore_index=True) for t in (ours, theirs))
        pd.testing.assert_frame_equal(a, b, check_exact=True)
    else:
        pd.testing.assert_frame_equal(ours[sorted(ours)], theirs[sorted(theirs)], check_exact=True)


def where_valid(theirs, ours):
    """Their table, with NaN for the comparisons with a baseline that are NaN in ours, since they are not valid."""
    if isinstance(theirs, pd.DataFrame):
        for column in [c for c in theirs if str(c).endswith((" +", " -", " p-value"))]:
            theirs[column] = theirs[column].mask(ours[column].isna())
    return theirs


IN_BATCHES: dict = {"perquery": "both", **TREE, "batch_size": 5}


@pytest.mark.parametrize(
    ("policy", "options"),
    [*((policy, IN_BATCHES) for policy in POLICIES), ("dict", {"baseline": 1}), ("groups", {"baseline": 1})],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:.*are different quantities")
def test_every_policy(policy, options) -> None:
    priors = POLICIES[policy]
    ours = CAMPAIGN.relative(priors=priors, groups=GROUPS, **options)
    if "batch_size" in options and policy == "groups":  # by hand a batch knows no other
        best = CAMPAIGN.by_hand({}, [priors.by]).set_index("name")[str(priors.by)]
        priors = BestOfOtherGroups.choose(best.to_dict(), GROUPS)
    same(ours, where_valid(CAMPAIGN.by_hand(options, priors=priors, groups=GROUPS), ours))


@pytest.mark.parametrize("options", [{"batch_size": 4}, TREE | {"batch_size": 4}], ids=str)
def test_frames_and_pipelines_together(options) -> None:
    mixed = {n: f if n in ("one", "three") else Given(f) for n, f in CAMPAIGN.frames.items()}
    before = {n: list(f.columns) for n, f in CAMPAIGN.frames.items()}
    same(CAMPAIGN.relative(systems=mixed, **options), CAMPAIGN.by_hand(options, systems=mixed))
    assert {n: list(f.columns) for n, f in CAMPAIGN.frames.items()} == before


@pytest.mark.parametrize(
    ("options", "reference"),
    [
        ({"baseline": 1}, "two"),
        ({"baseline": "two"}, "two"),
        ({"reference": "three"}, "three"),
        ({"baseline": 0, "reference": "four"}, "four"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:.*are different quantities")
def test_the_reference_is_the_baseline_unless_given(options, reference) -> None:
    measures = [rrLP, MED @ 5, NRG(prior="t*") @ 10, rrLP(ref="four")]
    ours = CAMPAIGN.relative(measures, **options)
    places = (
        {"baseline": {"two": 1}.get(options["baseline"], options["baseline"])}
        if "baseline" in options
        else {}
    )
    same(ours, where_valid(CAMPAIGN.by_hand(places, measures, reference=reference), ours))


def test_an_earlier_name_column_does_not_matter() -> None:
    tagged = {n: f.assign(name="pyterrier") for n, f in CAMPAIGN.frames.items()}
    for systems in ({n: Given(f) for n, f in tagged.items()}, tagged):
        same(CAMPAIGN.relative(systems=systems), CAMPAIGN.by_hand({}))


def test_a_dataset_brings_its_judgments_and_its_size(monkeypatch) -> None:
    """Qrels that are a dataset of ir_datasets, by PyTerrier's object or by id; num_docs= goes before its size."""
    dataset = ir_datasets.load(demo.register())
    monkeypatch.setattr(dataset, "docs_metadata", lambda: {"count": 1200}, raising=False)
    given = pt.get_dataset(f"irds:{demo.DATASET_ID}")
    names = {"query_id": "qid", "doc_id": "docno"}
    systems = {n: pt.model.add_ranks(r.rename(columns=names)) for n, r in list(demo.runs().items())[:2]}
    measures, topics = [nDCG_UE(pool="corpus") @ 10, nDCG @ 10], given.get_topics().head(6)
    expected = pt.relative.Experiment(systems, topics, given.get_qrels(), measures, num_docs=1200)
    for qrels in (given, f"irds:{demo.DATASET_ID}", dataset):
        pd.testing.assert_frame_equal(pt.relative.Experiment(systems, topics, qrels, measures), expected)
    fewer = pt.relative.Experiment(systems, topics, given, measures, num_docs=600)
    assert (fewer.iloc[:, 1] < expected.iloc[:, 1]).all()


def test_topics_and_qrels_as_paths(tmp_path) -> None:
    topic = "<top>\n<num>{}</num>\n<title>x</title>\n</top>\n"
    (tmp_path / "topics").write_text("".join(map(topic.format, CAMPAIGN.topics["qid"])), encoding="utf-8")
    rows = CAMPAIGN.qrels.assign(zero=0)[["qid", "zero", "docno", "label"]]
    rows.to_csv(tmp_path / "qrels", sep=" ", header=False, index=False)
    ours = CAMPAIGN.relative(topics=str(tmp_path / "topics"), qrels=str(tmp_path / "qrels"))
    same(ours, CAMPAIGN.by_hand({}))
    same(CAMPAIGN.relative(qrels=pt.model.to_ir_measures(CAMPAIGN.qrels)), CAMPAIGN.by_hand({}))


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
    {"baseline": 2, "test": lambda a, b: (0.0, float((a > b).mean())), "correction": "bonferroni"},
    {"baseline": 3, "round": {"NRG@10": 1}},
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
            if len(chosen) < 8 and all(together(option, OPTIONS[j]) for j in chosen):
                chosen.append(i)
        left = [pair for pair in left if not pair <= set(chosen)]
        found.append({key: value for i in chosen for key, value in OPTIONS[i].items()})
    return found


def same_part(ours, theirs) -> None:
    """What their table has is in ours, digit for digit."""
    if isinstance(theirs, tuple):
        for a, b in zip(ours, theirs, strict=True):
            same_part(a, b)
    elif isinstance(theirs, pd.DataFrame):
        by_query = "measure" in theirs
        same(ours[ours["measure"].isin(theirs["measure"])] if by_query else ours[list(theirs)], theirs)
    elif isinstance(theirs, dict):
        for key, value in theirs.items():
            same_part(ours[key], value)
    else:
        np.testing.assert_equal(ours, theirs)


@pytest.mark.parametrize("options", every_pair_is_in_one(), ids=lambda options: str(sorted(options)))
@pytest.mark.filterwarnings("ignore:the qrels hold no judgment")
def test_every_pair_of_options(options) -> None:
    measures = [*MEASURES, "map", P(rel=2) @ 5, RR @ 10, Judged @ 5]
    systems = list(CAMPAIGN.pipelines().values())
    same(CAMPAIGN.relative(measures, systems, names=NAMES, **options), CAMPAIGN.by_hand(options, measures))


@pytest.mark.parametrize(
    ("measures", "options"),
    [
        ([LENGTH], {}),
        ([RR @ 10, Judged @ 5, Compat(p=0.9), infAP, LENGTH, "num_q"], {"batch_size": 4}),
        ([RR @ 10, Judged @ 5, Bpref, LENGTH, SetP, NumRet], {"perquery": True}),
    ],
    ids=str,
)
def test_measures_of_every_provider(measures, options) -> None:
    options = options | {"filter_by_qrels": True}  # what looks at no judgment has values without any
    same_part(CAMPAIGN.relative([*measures, NRG @ 10], **options), CAMPAIGN.plain(measures, **options))


def test_what_stands_twice() -> None:
    """A judgment, of which the last counts; and documents below what relative measures look at."""
    twice = CAMPAIGN._replace(
        qrels=pd.concat([CAMPAIGN.qrels, CAMPAIGN.qrels.head(1).assign(label=2)], ignore_index=True)
    )
    with pytest.warns(UserWarning, match="have 1 .query, document. pair"):
        ours = twice.relative([nDCG @ 5, NRG @ 5])
    same_part(ours, twice.plain([nDCG @ 5]))
    frames = {
        n: pd.concat([f, f.groupby("qid").tail(2).assign(score=-9.0)]) for n, f in CAMPAIGN.frames.items()
    }
    same_part(CAMPAIGN.relative([AP, P @ 20, UniqueRel @ 5], frames), CAMPAIGN.plain([AP, P @ 20], frames))


def test_names_that_are_numbers_and_none() -> None:
    by_query, as_dict = {"perquery": True}, {"dataframe": False, "batch_size": 5}
    by_number = dict(enumerate(CAMPAIGN.pipelines().values()))
    alike = [Given(CAMPAIGN.frames["one"]), Given(CAMPAIGN.frames["two"])]
    for pipeline in alike:
        pipeline.__class__ = type("Same", (Given,), {"__repr__": lambda self: "same"})
    unnamed = list(CAMPAIGN.frames.values())[:2]
    for systems, names, options in (
        (by_number, None, by_query),
        (list(by_number.values()), [0, 1, 2, 3], as_dict),
        (alike, None, as_dict),
        (unnamed, None, {}),
    ):
        ours = CAMPAIGN.relative(["map", NRG @ 10], systems, names=names, **options)
        same_part(ours, CAMPAIGN.plain(["map"], systems, names=names, **options))


ASKED = ["UniqueRel@5", "map", NRG(base="RBP") @ 10, "nDCG@10", "P.5", "NRG@10", "recip_rank"]
COLUMNS = ["UniqueRel@5", "map", "NRG(base='RBP')@10", "nDCG@10", "P.5", "NRG@10", "recip_rank"]
OBJECTS = [UniqueRel @ 5, "map", NRG(base="RBP") @ 10, nDCG @ 10, "P.5", NRG @ 10, "recip_rank"]


@pytest.mark.parametrize(("turn", "options"), [(1, {"batch_size": 4}), (2, TREE)], ids=str)
def test_strings_are_measures_and_come_in_the_order_asked(turn, options) -> None:
    asked, columns = (values[turn * 2 :] + values[: turn * 2] for values in (ASKED, COLUMNS))
    table = CAMPAIGN.relative(["mrt", *asked], **options)
    assert list(table.columns) == ["name", "mrt", *columns]
    same(table.drop(columns="mrt"), CAMPAIGN.by_hand(options, OBJECTS))


@pytest.mark.parametrize("asked", [["nDCG@10", "P@5"], ["AP", "NRG@5", "P@1", "nDCG@3"]], ids=str)
def test_the_order_asked_is_kept_where_ir_measures_has_its_own(asked) -> None:
    assert list(CAMPAIGN.relative(asked).columns) == ["name", *asked]
    assert list(dict.fromkeys(CAMPAIGN.relative(asked, perquery=True).measure)) == asked


def test_the_order_of_everything_else_is_pyterriers() -> None:
    asked = [*ASKED, "mrt"]
    table = CAMPAIGN.relative(asked, baseline="two", correction="holm")
    added = ["+", "-", "p-value", "reject", "p-value corrected"]
    assert list(table.columns) == ["name", *COLUMNS, "mrt", *(f"{m} {a}" for m in COLUMNS for a in added)]
    same(table.drop(columns="mrt"), CAMPAIGN.by_hand({"baseline": 1, "correction": "holm"}, OBJECTS))
    means, rows = CAMPAIGN.relative(asked, perquery="both")
    theirs = CAMPAIGN.by_hand({"perquery": True}, OBJECTS)
    assert list(means.columns) == ["name", *COLUMNS] and list(rows.columns) == list(theirs.columns)
    assert rows[["name", "qid"]].values.tolist() == theirs[["name", "qid"]].values.tolist()
    assert rows["measure"].tolist() == COLUMNS * (4 * len(CAMPAIGN.topics))
    as_dict = CAMPAIGN.relative(asked, dataframe=False)
    assert list(as_dict) == NAMES and all(list(row) == [*COLUMNS, "mrt"] for row in as_dict.values())
    by_system = CAMPAIGN.relative(asked, dataframe=False, perquery=True)
    assert all(list(row) == COLUMNS for queries in by_system.values() for row in queries.values())
    family = list(CAMPAIGN.relative(["NRG@10", "P", "map"]).columns)
    assert family[:4] == ["name", "NRG@10", "P@5", "P@10"] and family[-1] == "map"


def test_a_styled_table_in_the_order_asked() -> None:
    pytest.importorskip("jinja2", reason="pandas' styles need jinja2")
    styled = CAMPAIGN.relative([*ASKED, "mrt"], highlight="bold", baseline=0)
    assert list(styled.data.columns)[:9] == ["name", *COLUMNS, "mrt"]
    page = styled.to_html()
    assert page.index("UniqueRel@5") < page.index("map") < page.index("nDCG@10") < page.index("recip_rank")
    bold = styled._compute().ctx  # pandas has no other way to ask for the style of a cell
    for place, column in enumerate(COLUMNS, start=1):
        cells = [bool(bold.get((row, place))) for row in range(4)]
        assert cells == (styled.data[column] == styled.data[column].max()).tolist(), column


DIFFERENT = "the baseline 'one' on NRG@5 are different quantities"


def comparisons(table: pd.DataFrame, measure) -> pd.DataFrame:
    return table.set_index("name")[[f"{measure} {what}" for what in ("+", "-", "p-value")]]


def test_symmetric_priors_are_compared() -> None:
    ours = comparisons(CAMPAIGN.relative([NRG @ 5, "nDCG@5"], baseline="one"), NRG @ 5).drop("one")
    qrels = CAMPAIGN.qrels[CAMPAIGN.qrels["qid"].isin(CAMPAIGN.topics["qid"])]
    options = {"baseline": "one", "test": "t", "correction": None, "missing": "zero"}
    valid = compare(RunContext(CAMPAIGN.frames), qrels, [NRG @ 5], **options)
    assert ours["NRG@5 p-value"].astype(float).to_numpy() == pytest.approx(valid["p"].to_numpy())
    assert ours["NRG@5 +"].astype(int).tolist() == valid["wins"].tolist()
    assert ours["NRG@5 -"].astype(int).tolist() == valid["losses"].tolist()


def test_the_misleading_call() -> None:
    """The baseline is the only prior, so its NRG is its nDCG: NaN, and one warning that says what to call."""
    measures = [NRG @ 5, "nDCG@5", UniqueRel(prior="two") @ 5, P_Rareness @ 5, rrLP]
    topics, qrels, frames = CAMPAIGN
    with pytest.warns(RelativeWarning, match=DIFFERENT) as said:
        table = pt.relative.Experiment(frames, topics, qrels, measures, baseline="one", priors=["one"])
    (warning,) = (w for w in said if re.search(DIFFERENT, str(w.message)))
    assert warning.filename == __file__
    assert "since 'one' is a prior of 'two', and 'two' is not a prior of 'one'" in str(warning.message)
    assert comparisons(table, NRG @ 5).isna().all(axis=None) and table["NRG@5"].notna().all()
    for measure in ("nDCG@5", P_Rareness @ 5, rrLP):
        assert comparisons(table, measure).drop("one").notna().all(axis=None)
    of_two = comparisons(table, UniqueRel(prior="two") @ 5)
    assert of_two.loc[["one", "two"]].isna().all(axis=None)
    assert of_two.loc[["three", "four"]].notna().all(axis=None)
    with pytest.warns(RelativeWarning, match=DIFFERENT):
        earlier = CAMPAIGN.relative(measures, baseline="one", priors="earlier")
    assert comparisons(earlier, NRG @ 5).isna().all(axis=None)
    with warnings.catch_warnings(action="error", category=RelativeWarning):
        CAMPAIGN.relative([NRG @ 5], baseline="one", priors=["one"], dataframe=False)
        CAMPAIGN.relative([NRG @ 5], priors=["one"])


@pytest.mark.parametrize("reference", ["one", "two"])
def test_the_distance_of_the_reference_from_itself_is_compared_with_nothing(reference) -> None:
    with pytest.warns(
        RelativeWarning, match=f"'{reference}' is the reference.* a third system as the reference"
    ):
        table = CAMPAIGN.relative([MED @ 5, rrLP], baseline="one", reference=reference)
    of_med = comparisons(table, MED @ 5)
    assert of_med.loc[reference].isna().all()
    assert of_med.loc[["three", "four"]].notna().all(axis=None) == (reference == "two")
    assert comparisons(table, rrLP).drop("one").notna().all(axis=None)  # a preference over the baseline


def test_what_is_valid_is_corrected_for_its_own_number() -> None:
    multipletests = pytest.importorskip("statsmodels.stats.multitest").multipletests
    priors = {"one": ["four"], "two": ["four"], "three": ["four"], "four": []}
    options = {"baseline": "one", "test": "t", "correction": "holm", "correction_alpha": 0.6}
    with pytest.warns(RelativeWarning, match="'four' is a prior of 'one'"):
        table = CAMPAIGN.relative([NRG @ 5], priors=priors, **options).set_index("name")
    rows = CAMPAIGN.relative([NRG @ 5], priors=priors, perquery=True).dropna()
    of_run = {name: of["value"].to_numpy() for name, of in rows.groupby("name")}
    p = [ttest_rel(of_run[name], of_run["one"]).pvalue for name in ("two", "three")]
    reject, corrected = multipletests(p, alpha=0.6, method="holm")[:2]
    of_two = table.loc[["two", "three"]]
    assert of_two["NRG@5 p-value corrected"].tolist() == pytest.approx(corrected.tolist())
    assert of_two["NRG@5 reject"].tolist() == reject.tolist()
    assert np.isnan(table.loc["four", "NRG@5 p-value corrected"]) and not table.loc["four", "NRG@5 reject"]


@pytest.mark.parametrize("highlight", ["bold", "color"])
def test_a_styled_table_of_comparisons(highlight) -> None:
    with pytest.warns(RelativeWarning, match=DIFFERENT):
        styled = CAMPAIGN.relative([NRG @ 5, "nDCG@5"], baseline="one", priors=["one"], highlight=highlight)
    assert comparisons(styled.data, NRG @ 5).isna().all(axis=None)
    assert "nan" in styled.to_html()


@pytest.mark.parametrize(
    ("of_topics", "of_qrels", "message"),
    [
        (
            [1, 2],
            ["1", "2"],
            r"topics have \[1, 2\] \(type int\), the qrels have \['1', '2'\] \(type str\); give strings",
        ),
        ([1.0, 2.0], ["1", "2"], r"\[1.0, 2.0\] \(type float\).*; give strings"),
        (["t1", "t2"], ["1", "2"], r"\['t1', 't2'\] \(type str\).*numbered differently\?"),
    ],
)
@pytest.mark.parametrize("measure", [NRG @ 3, nDCG @ 3])
def test_topics_that_no_judgment_is_of_are_named_with_their_types(
    of_topics: list[object], of_qrels: list[str], message: str, measure: ir_measures.Measure
) -> None:
    """Before a pipeline runs."""
    topics = pd.DataFrame({"qid": of_topics, "query": ["x", "y"]})
    qrels = pd.DataFrame({"qid": of_qrels, "docno": ["a", "b"], "label": [1, 1]})
    results = pd.DataFrame({"qid": of_qrels, "docno": ["a", "b"], "score": [1.0, 1.0]})
    never = pt.apply.generic(lambda _: pytest.fail("it runs"))
    with pytest.raises(ValueError, match=message):
        pt.relative.Experiment([never, results], topics, qrels, [measure], ["A", "B"])
    options = {"filter_by_topics": False, "filter_by_qrels": False}
    assert (
        len(pt.relative.Experiment([results, results], topics, qrels, [measure], ["A", "B"], **options)) == 2
    )
