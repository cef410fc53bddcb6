"""pt.relative.Experiment(baseline=…): a p-value only where one quantity is compared."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from ir_measures_relative import MED, NRG, P_Rareness, RelativeWarning, RunContext, UniqueRel, compare, rrLP

multipletests = pytest.importorskip(
    "statsmodels.stats.multitest", reason="statsmodels is not installed"
).multipletests

pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")

MEASURES = [NRG @ 5, "nDCG@5", UniqueRel(prior="two") @ 5, P_Rareness @ 5, rrLP]
ADDED = ("+", "-", "p-value")
DIFFERENT = "the baseline 'one' on NRG@5 are different quantities"


@pytest.fixture(scope="module")
def campaign():
    rng = np.random.default_rng(5)
    docs = [f"d{i}" for i in range(15)]
    qids = [f"q{i}" for i in range(12)]
    topics = pd.DataFrame({"qid": qids, "query": "x"})
    rows = [(q, d, int(rng.integers(0, 3))) for q in qids for d in docs]
    qrels = pd.DataFrame(rows, columns=["qid", "docno", "label"])
    frames = {}
    for name in ("one", "two", "three", "four"):
        found = [(q, d, -float(i)) for q in qids for i, d in enumerate(rng.choice(docs, 6, replace=False))]
        frames[name] = pd.DataFrame(found, columns=["qid", "docno", "score"])
        frames[name]["rank"] = -frames[name]["score"]
    return frames, topics, qrels


def comparisons(table: pd.DataFrame, measure) -> pd.DataFrame:
    return table.set_index("name")[[f"{measure} {what}" for what in ADDED]]


def test_symmetric_priors_are_compared_as_before(campaign) -> None:
    frames, topics, qrels = campaign
    with warnings.catch_warnings():
        warnings.simplefilter("error", RelativeWarning)
        table = pt.relative.Experiment(frames, topics, qrels, [NRG @ 5, "nDCG@5"], baseline="one")
    valid = compare(RunContext(frames), qrels, [NRG @ 5], baseline="one", test="t", correction=None)
    ours = comparisons(table, NRG @ 5).drop("one")
    assert ours["NRG@5 p-value"].astype(float).to_numpy() == pytest.approx(valid["p"].to_numpy())
    assert ours["NRG@5 +"].astype(int).tolist() == valid["wins"].tolist()
    assert ours["NRG@5 -"].astype(int).tolist() == valid["losses"].tolist()


def test_by_name_or_by_place(campaign) -> None:
    """A list with names takes the name as a dict does; the reference is the baseline in each."""
    frames, topics, qrels = campaign
    asked, names = [NRG @ 5, rrLP], list(frames)
    by_name, by_place = (
        pt.relative.Experiment(
            list(frames.values()), topics, qrels, asked, names=names, baseline=each, test="t"
        )
        for each in ("two", 1)
    )
    of_dict = pt.relative.Experiment(frames, topics, qrels, asked, baseline="two", test="t")
    assert by_name["rrLP"][1] == 0 and by_name["rrLP"].abs().sum() > 0
    pd.testing.assert_frame_equal(by_name, by_place)
    pd.testing.assert_frame_equal(by_name, of_dict)


def test_the_misleading_call(campaign) -> None:
    """The baseline is the only prior, so its NRG is its nDCG: NaN, and one warning that says what to call."""
    frames, topics, qrels = campaign
    with pytest.warns(RelativeWarning, match=DIFFERENT) as said:
        table = pt.relative.Experiment(frames, topics, qrels, MEASURES, baseline="one", priors=["one"])
    (warning,) = (w for w in said if re.search(DIFFERENT, str(w.message)))
    assert warning.filename == __file__
    message = str(warning.message)
    assert "since 'one' is a prior of 'two', and 'two' is not a prior of 'one'" in message
    assert "pt.relative.compare(RunContext(" in message and "priors='others'" in message
    assert comparisons(table, NRG @ 5).isna().all(axis=None)
    for measure in ("nDCG@5", P_Rareness @ 5, rrLP):
        assert comparisons(table, measure).drop("one").notna().all(axis=None)
    of_two = comparisons(table, UniqueRel(prior="two") @ 5)
    assert of_two.loc[["one", "two"]].isna().all(axis=None)
    assert of_two.loc[["three", "four"]].notna().all(axis=None)
    with pytest.warns(RelativeWarning, match=DIFFERENT):
        earlier = pt.relative.Experiment(frames, topics, qrels, MEASURES, baseline="one", priors="earlier")
    assert comparisons(earlier, NRG @ 5).isna().all(axis=None)
    assert table["NRG@5"].notna().all()


def test_the_distance_of_the_reference_from_itself_is_compared_with_nothing(campaign) -> None:
    frames, topics, qrels = campaign
    measures = [MED @ 5, rrLP]
    with pytest.warns(RelativeWarning, match="'one' is the reference") as said:
        table = pt.relative.Experiment(frames, topics, qrels, measures, baseline="one", reference="one")
    assert len(said) == 1 and "a third system as the reference" in str(said[0].message)
    assert comparisons(table, MED @ 5).isna().all(axis=None)
    assert (
        comparisons(table, rrLP).drop("one").notna().all(axis=None)
    )  # a preference over the baseline, against 0
    with pytest.warns(RelativeWarning, match="'two' is the reference"):
        table = pt.relative.Experiment(frames, topics, qrels, measures, baseline="one", reference="two")
    of_med = comparisons(table, MED @ 5)
    assert of_med.loc["two"].isna().all() and of_med.loc[["three", "four"]].notna().all(axis=None)


def test_what_is_valid_is_corrected_for_its_own_number(campaign) -> None:
    frames, topics, qrels = campaign
    priors = {"one": ["four"], "two": ["four"], "three": ["four"], "four": []}
    with pytest.warns(RelativeWarning, match="'four' is a prior of 'one'"):
        table = pt.relative.Experiment(
            frames,
            topics,
            qrels,
            [NRG @ 5],
            baseline="one",
            priors=priors,
            test="t",
            correction="holm",
            correction_alpha=0.6,
        ).set_index("name")
    values = RunContext(frames, priors=priors).evaluate(qrels, [NRG @ 5], perquery=True)
    of_run = {name: rows["value"].to_numpy() for name, rows in values.groupby("name")}
    p = [ttest_rel(of_run[name], of_run["one"]).pvalue for name in ("two", "three")]
    reject, corrected = multipletests(p, alpha=0.6, method="holm")[:2]
    assert table.loc[["two", "three"], "NRG@5 p-value corrected"].tolist() == pytest.approx(
        corrected.tolist()
    )
    assert table.loc[["two", "three"], "NRG@5 reject"].tolist() == reject.tolist()
    assert np.isnan(table.loc["four", "NRG@5 p-value corrected"]) and not table.loc["four", "NRG@5 reject"]


@pytest.mark.parametrize("highlight", ["bold", "color"])
def test_styled(campaign, highlight) -> None:
    frames, topics, qrels = campaign
    with pytest.warns(RelativeWarning, match=DIFFERENT):
        styled = pt.relative.Experiment(
            frames, topics, qrels, [NRG @ 5, "nDCG@5"], baseline="one", priors=["one"], highlight=highlight
        )
    assert comparisons(styled.data, NRG @ 5).isna().all(axis=None)
    assert "nan" in styled.to_html()


def test_without_a_table_of_comparisons(campaign) -> None:
    frames, topics, qrels = campaign
    with warnings.catch_warnings():
        warnings.simplefilter("error", RelativeWarning)
        assert isinstance(
            pt.relative.Experiment(
                frames, topics, qrels, [NRG @ 5], baseline="one", priors=["one"], dataframe=False
            ),
            dict,
        )
        pt.relative.Experiment(frames, topics, qrels, [NRG @ 5], priors=["one"])
