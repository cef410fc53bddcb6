"""The data of a report are what the analyses say."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import Qrel
from scipy import stats

pytest.importorskip("matplotlib", reason="the report needs matplotlib, of the extra [report]")

from drawn import examples
from hostile import NAMES
from ir_measures_relative import (
    NRG,
    RunContext,
    bounds,
    compare,
    fuse,
    select_complementary,
    similarity,
    verdicts,
)
from ir_measures_relative.context.measure_strings import parse_measures
from ir_measures_relative.decisions import new_aspects
from ir_measures_relative.io.qrels import qrels_columns
from ir_measures_relative.reporting.contents import collect_contents, json_number, make_slugs, read_queries
from ir_measures_relative.reporting.sections import Section, combinations, unjudged
from ir_measures_relative.reporting.sections.contributions import aspects
from ir_measures_relative.reporting.sections.relative_to import _split_code, describe_measure
from ir_measures_relative.reporting.sections.runs import runs as table_of_runs
from random_campaigns import Labels, Run, contexts, qrels

pytestmark = pytest.mark.filterwarnings("ignore::ir_measures_relative.RelativeWarning")

LABELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"d": 1}, "q3": {"a": 0}}
RUNS: dict[str, Run] = {  # {} is an empty ranking that is meant, not a topic that is missing
    "one": {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"d": 1.0}, "q3": {}},
    "two": {"q1": {"b": 3.0, "a": 2.0}, "q2": {}, "q3": {"a": 1.0}},
    "three": {"q1": {"x": 3.0, "c": 2.0}, "q2": {"e": 2.0, "d": 1.0}, "q3": {}},
}
EVERY = ["nDCG@3", "AP", "P@2", "NRG@3", "NRG(base='RR')", "UniqueRel@2", "TaSC(base='P@2')", "P_Rareness@2"]
EVERY += ["AP_Rareness", "Shapley@3", "nDCG_UE@3", "AP_UE(pool='corpus')@3", "MED@2", "rrLP", "RPP"]
EVERY += ["UE(base='RR',version='z')@3"]


def data(context: RunContext, labels: Any, measures: list[Any]) -> dict[str, Any]:
    """What the page gets: the numbers that all of it knows, and the figures by name."""
    pytest.importorskip("jinja2", reason="the report needs Jinja2, of the extra [report]")
    pytest.importorskip("vl_convert", reason="the report needs vl-convert, of the extra [report]")
    from ir_measures_relative.reporting.page import collect_figures, make_sections, script_json

    contents = collect_contents(context, qrels_columns(labels), parse_measures(measures))
    return dict(json.loads(script_json(contents.data | collect_figures(make_sections(contents)[0]))))


def test_numbers_are_those_of_the_analyses() -> None:
    context = RunContext(RUNS, groups={"one": "B", "two": "A"})
    page = data(context, LABELS, ["nDCG@2", "NRG@2", "UniqueRel@2"])
    table = context.evaluate(LABELS, ["nDCG@2", "NRG@2", "UniqueRel@2"])
    perquery = context.evaluate(LABELS, ["nDCG@2", "NRG@2", "UniqueRel@2"], perquery=True)
    assert [r["name"] for r in page["runs"]] == list(RUNS)
    assert page["groups"] == ["A", "B"] and [r.get("group") for r in page["runs"]] == [1, 0, None]
    for i, measure in enumerate(page["measures"]):
        assert page["means"][i] == pytest.approx(table[measure["name"]].tolist(), abs=1e-9)
        of_measure = perquery[perquery["measure"] == measure["name"]]
        for r, run in enumerate(RUNS):
            expected = of_measure[of_measure["name"] == run]["value"].tolist()
            assert page["values"][i][r] == pytest.approx(expected, abs=1e-9)
            low = high = table[measure["name"]][r]
            if len(set(expected)) > 1:
                mean, error = low, stats.sem(expected)
                student = stats.t.interval(0.95, 2, 0, error)
                low, high = (mean * math.exp(t / mean) for t in student)
                high = min(
                    high, max(mean + student[1], *expected), 2.0 if "Unique" in measure["name"] else 1.0
                )
            elif not any(expected):
                high = None  # of zeros alone it is not known
            assert [page["ci_lower"][i][r], page["ci_upper"][i][r]] == pytest.approx([low, high], abs=1e-9)
    chosen = select_complementary(context, LABELS, 3, NRG @ 2)
    place = list(RUNS).index
    for rows in (page["selection"]["rows"], page["selection"]["table"]["rows"]):
        assert [row[:2] for row in rows] == [[i, place(name)] for i, name in enumerate(chosen["name"], 1)]
        for column, name in ((2, "marginal"), (4, "cumulative"), (5, "bound")):
            assert [row[column] for row in rows] == pytest.approx(chosen[name].tolist(), abs=1e-9)
        first, second = (RUNS[name] for name in chosen["name"][:2])
        copied = RunContext({"first": first, "copy": first}, priors="earlier").evaluate(LABELS, [NRG @ 2])
        assert rows[0][3] is None and rows[1][3] == pytest.approx(copied["NRG@2"][1]) and second != first
    for i, measure in enumerate(["nDCG@2", "UniqueRel@2"]):
        expected = verdicts(context, LABELS, [measure])
        rows = page[f"verdicts-{i}"]["rows"]
        assert [row[:3] for row in rows] == [
            [place(a), place(b), word] for a, b, word in expected[["name", "other", "settled"]].to_numpy()
        ]
        ends = expected[["worst", "value", "best"]].to_numpy()
        assert [row[3:6] for row in rows] == [pytest.approx(row.tolist(), abs=1e-9) for row in ends]
        options = {} if i else {"names": context.names, "priors": "others"}
        tested = compare(context, LABELS, [measure], family="measure", **options)["p_corrected"]
        told = [row[6] for row in rows]  # "–" where too few topics differ for an interval
        assert all(word in ("–", "yes" if p > 0.05 else "no") for word, p in zip(told, tested, strict=True))
        assert i or told == ["–" if p != p else "yes" if p > 0.05 else "no" for p in tested]
        for run, *counts in page[f"verdicts-{i}"]["table"]["rows"]:
            words = [w for a, _, w, *_ in rows if a == run]
            words += [{"above": "below", "below": "above"}.get(w, w) for _, b, w, *_ in rows if b == run]
            assert counts == [words.count(word) for word in ("above", "below", "equal", "undecided")]
        expected = bounds(context, LABELS, [measure]).set_index("name")
        for run, *cells in page[f"bounds-{i}"]["rows"]:
            ends = expected.loc[list(RUNS)[run], ["worst", "value", "best"]].tolist()
            assert cells == pytest.approx(ends, abs=1e-9)
    assert "bounds-2" not in page
    credit = context.evaluate(LABELS, ["Shapley@2"])["Shapley@2"]
    assert dict(page["shapley"]["rows"]) == pytest.approx(dict(enumerate(credit)), abs=1e-9)
    alike = page["likeness"]
    assert sorted(alike["names"]) == [0, 1, 2]
    assert [row[:2] for row in alike["rows"]] == [[1, 0], [2, 0], [2, 1]]
    distance = similarity(context, LABELS, ["MED@2"]).set_index(["name", "other"])["distance"]
    for a, b, x in alike["rows"]:
        assert x == pytest.approx(distance[list(RUNS)[b], list(RUNS)[a]], abs=1e-9)


def test_fusion_is_what_fuse_says() -> None:
    context = RunContext(RUNS)
    page = data(context, LABELS, ["nDCG@2", "NRG@2"])
    expected = fuse(context, LABELS, 3, "nDCG@2", depth=100, strategies=("single", "top", "greedy", "all"))
    rows = page["fusion"]["table"]["rows"]
    names = ["the best run", "the 3 best runs", "3 runs, added one by one", "all runs"]
    assert [row[0] for row in rows] == names
    for (_, runs, *numbers), row in zip(rows, expected.to_dict("records"), strict=True):
        assert [list(RUNS)[run] for run in runs] == list(row["names"])
        columns = ("in_sample", "held_out", "difference", "ci_lower", "ci_upper")
        assert numbers == pytest.approx([row[column] for column in columns])
    assert "fusion" not in data(context, LABELS, ["NRG@2"])


def test_what_takes_long_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts by one measure, the next one in its place, and fusion."""
    pytest.importorskip("vl_convert", reason="the report needs vl-convert, of the extra [report]")
    from ir_measures_relative.reporting.page import make_sections

    monkeypatch.setattr(unjudged, "_PAIRS", 10)
    monkeypatch.setattr(combinations, "_MOST_WORK", 8)
    measures = parse_measures(["nDCG@2", "NRG(norm='ideal')@20", "UniqueRel@2"])
    contents = collect_contents(RunContext(RUNS), qrels_columns(LABELS), measures)
    found, left_out = make_sections(contents)
    facts = next(one for one in found if one.anchor == "unjudged").facts
    assert facts["left_out"] == [("NRG(norm='ideal')@20", 9)]
    assert facts["measures"] == ["nDCG@2", "UniqueRel@2"]
    assert [why for why in left_out if why.startswith("Fusion: 3 runs and 3 topics would take too long.")]


def test_near_copies_and_runs_of_one_topic() -> None:
    run = {f"q{q}": {f"d{i}": 30.0 - i for i in range(30)} for q in range(12)}
    swapped = {q: docs | {"d20": 0.0} for q, docs in run.items()}
    other = {q: {f"e{i}": 30.0 - i for i in range(30)} for q in run}
    labels = {q: {"d0": 1, "d9": 1} for q in run} | {"q0": {"e0": 1, "e1": 1, "d0": 1}}
    context = RunContext({"one": run, "like it": swapped, "other": other})
    contents = collect_contents(context, qrels_columns(labels), parse_measures(["nDCG@10", "UniqueRel@10"]))
    facts = table_of_runs(contents).facts
    value = similarity(context, labels, ["RBO@50"])["value"][0]
    assert {run: [one for one, _ in near] for run, near in facts["near"].items()} == {0: [1], 1: [0]}
    assert facts["near"][0][0][1] == pytest.approx(value) and value >= 0.95
    assert facts["topic_of"] == [[None] * 3, [None, None, (1.0, "q0")]]


def test_what_is_added_to_the_measures() -> None:
    def shown(runs: dict[str, Run], measures: list[str]) -> list[str]:
        return [m["name"] for m in data(RunContext(runs), LABELS, measures)["measures"]]

    assert shown(RUNS, ["nDCG@2"]) == ["nDCG@2", "NRG(norm='ideal')@10"]
    assert shown(RUNS, ["nDCG@2", "P_Rareness@3"]) == ["nDCG@2", "P_Rareness@3"]
    assert shown(RUNS, ["nDCG@2", "P_Rareness@3", "NRG@2"]) == ["nDCG@2", "P_Rareness@3", "NRG@2"]
    assert shown({"one": RUNS["one"]}, ["nDCG@2"]) == ["nDCG@2"]


def test_runs_without_a_mean_come_last() -> None:
    contents = collect_contents(RunContext(RUNS), qrels_columns(LABELS), parse_measures(["nDCG@2"]))
    less = replace(contents, data={"means": [[None, -0.5, 0.25, -0.5]]})
    assert less.rank_runs(0) == [2, 1, 3, 0]


def test_the_reference() -> None:
    pytest.importorskip("statsmodels", reason="statsmodels is not installed")
    page = data(RunContext(RUNS, reference="two"), LABELS, ["nDCG@2", "rrLP"])
    assert [r[0] for r in page["comparison"]["table"]["rows"]] == [0, 2]
    rows = page["verdicts-0"]["table"]["rows"]  # the differences from it
    expected = verdicts(RunContext(RUNS, reference="two"), LABELS, ["nDCG@2"]).set_index("name")
    assert sorted(run for run, *_ in rows) == [0, 2]
    for run, word, *ends, n in rows:
        found = expected.loc[list(RUNS)[run]]
        assert [word, n] == [found["settled"], found["n_deciding"]]
        assert ends == pytest.approx(found[["value", "worst", "best"]].tolist(), abs=1e-9)
    assert "comparison" not in data(RunContext(RUNS), LABELS, ["nDCG@2"])


def test_nothing_is_open_where_all_is_judged() -> None:
    judged = {q: {d: len(d) - 1 for d in "abcdex"} for q in LABELS}
    page = data(RunContext(RUNS), judged | {"q1": {**judged["q1"], "a": 1}}, ["P@2", "NRG@2"])
    assert not {"bounds-0", "verdicts-0"} & set(page) and {"likeness", "selection"} <= set(page)


def test_a_reference_among_fixed_priors() -> None:
    pytest.importorskip("statsmodels", reason="statsmodels is not installed")
    page = data(RunContext(RUNS, reference="two", priors=["two"]), LABELS, ["nDCG@2"])
    assert [r[0] for r in page["comparison"]["table"]["rows"]] == [0, 2]


def test_the_first_measures_that_can_be_bounded() -> None:
    page = data(RunContext(RUNS), LABELS, ["Judged@2", "AP", "P@2", "nDCG@2", "NRG@2", "UniqueRel@2"])
    for i, measure in enumerate(["P@2", "UniqueRel@2"]):
        assert page[f"bounds-{i}"]["table"]["columns"][2] == [measure, "value"]
        assert page[f"verdicts-{i}"]["table"]["caption"].endswith(f" by {measure}")
    assert "bounds-2" not in page


@examples(25)
@given(
    runs=contexts,
    labels=qrels,
    names=st.sets(st.sampled_from(EVERY), min_size=1, max_size=4),
    choice=st.integers(0, 9),
)
def test_any_campaign(runs: dict[str, Run], labels: Labels, names: set[str], choice: int) -> None:
    """Ties, empty rankings, topics that no run has, no relevant document, a group or a reference or none."""
    if not runs:
        return
    some = list(runs)[choice % len(runs)]
    context = RunContext(runs, reference=some, groups={some: "G"} if choice % 2 else None, num_docs=50)
    try:
        expected = context.evaluate(labels, sorted(names))
    except ValueError:  # a run that shares no query with the qrels
        return
    page = data(context, labels, sorted(names))
    shown = [m["name"] for m in page["measures"]]
    for name in expected.columns[1:]:
        found = np.array(page["means"][shown.index(name)], dtype=float)
        assert np.allclose(found, expected[name], rtol=0, atol=1e-12, equal_nan=True), name


@examples(30)
@given(st.lists(st.text(min_size=1, max_size=100) | st.sampled_from([*NAMES, "\udcff half"]), unique=True))
def test_addresses_are_unique_and_plain(ids: list[str]) -> None:
    found = make_slugs(ids)
    assert len(set(found)) == len(ids)
    assert all(slug.isascii() and not set(slug) & set("&#<>\"' \n") and len(slug) < 100 for slug in found)


@given(st.text())
def test_json_ends_no_script(text: str) -> None:
    pytest.importorskip("jinja2", reason="the report needs Jinja2, of the extra [report]")
    pytest.importorskip("vl_convert", reason="the report needs vl-convert, of the extra [report]")
    from ir_measures_relative.reporting.page import script_json

    written = script_json({"a": text + "</script><!--\u2028"})
    assert not set(written) & set("<>&\u2028\u2029") and json.loads(written)["a"].startswith(text)
    written.encode()  # no half of a surrogate pair


def test_numbers_that_json_does_not_have() -> None:
    assert [json_number(x) for x in (math.nan, math.inf, -0.0, 0.123456789)] == [None, None, 0.0, 0.123456789]
    assert str(json_number(-1e-12)) == "0.0"


def test_texts_of_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    from ir_measures_relative import RelativeWarning, demo

    demo.register()
    dataset = RunContext.from_irds(demo.DATASET_ID, name=None).dataset
    assert set(read_queries(dataset, None)) == {q.query_id for q in dataset.queries_iter()}
    shortened = read_queries(None, {"q": "word\n" * 200})["q"]
    assert len(shortened) <= 300 and shortened.startswith("word word") and shortened.endswith("…")
    with pytest.raises(TypeError, match="queries is a list"):
        read_queries(None, ["q"])  # type: ignore[arg-type]

    class Offline:
        def queries_iter(self) -> Any:
            raise OSError("no network")

        def __getattr__(self, name: str) -> Any:
            return getattr(dataset, name)

    with pytest.warns(RelativeWarning, match="the report has no texts of topics"):
        assert read_queries(Offline(), None) == {}


def test_formulas() -> None:
    said = describe_measure(NRG @ 10)
    assert (said["measure"], said["title"]) == ("NRG@10", "Normalized Residual Gain") and said["short"]
    everything = "".join(text for _, parts in said["paragraphs"] for _, text in parts)
    assert ">>>" not in everything and ":class:" not in everything and "``" not in everything
    assert any(code and "Σ" in text for _, parts in said["paragraphs"] for code, text in parts)
    assert any(item for item, _ in said["paragraphs"])
    host = describe_measure(parse_measures(["nDCG@10"])[0])
    assert "journals/tois/JarvelinK02" in str(host["paragraphs"])


def test_marks_of_emphasis_are_not_shown() -> None:
    found = [piece for _, piece in _split_code("not *p-values*, **never** so; ``a*b*c`` and k * 2 * n stay")]
    assert found == ["not p-values, never so; ", "a*b*c", " and k * 2 * n stay"]


NUGGETS = [
    Qrel(q, doc, 1, aspect) for q in ("q1", "q2") for doc, aspect in (("a", "x"), ("b", "x"), ("b", "y"))
]


def test_new_aspects_are_those_of_the_function() -> None:
    context = RunContext(RUNS)
    contents = collect_contents(context, qrels_columns(NUGGETS), parse_measures(["P@2"]))
    found = aspects(contents)
    assert isinstance(found, Section)
    expected = new_aspects(context, NUGGETS, "NewAspects@2")
    table = found.tables["aspects"]
    assert [title for title, _ in table.columns] == ["run", *expected.columns[1:]]
    assert [context.names[row[0]] for row in table.rows] == expected["name"].tolist()
    for place, column in enumerate(expected.columns[1:], start=1):
        assert [row[place] for row in table.rows] == pytest.approx(expected[column].tolist())


def test_new_aspects_are_left_out_in_words() -> None:
    plain = collect_contents(RunContext(RUNS), qrels_columns(LABELS), parse_measures(["P@2"]))
    assert aspects(plain) == "New aspects: the judgments name no aspects."
    nameless = qrels_columns([*NUGGETS, Qrel("q1", "c", 1, "")])
    said = aspects(collect_contents(RunContext(RUNS), nameless, parse_measures(["P@2"])))
    assert isinstance(said, str) and said.startswith("New aspects: ")
