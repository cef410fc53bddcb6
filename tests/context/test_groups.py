"""BestOfOtherGroups, and new runs whose group is said or cannot be read; and the fingerprint of a context."""

import copy
import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import P, nDCG

from drawn import examples
from ir_measures_relative import NRG, RelativeWarning, RunContext, Shapley, UniqueRel, explain
from ir_measures_relative.context.priors import BestOfOtherGroups, PriorPolicy
from random_campaigns import Labels, Run, contexts, qrels, runs
from scored import assume_common

QRELS = {"q": {d: 1 for d in "ABCDEF"}}


def as_run(docs: str) -> Run:
    return {"q": {d: -float(i) for i, d in enumerate(docs)}}


# The best of g is g1, of h h1, of i i1.
RUNS = {n: as_run(d) for n, d in {"g1": "ABX", "g2": "CXY", "h1": "BDX", "h2": "EXY", "i1": "DXF"}.items()}
GROUPS = {n: n[0] for n in RUNS}
CONTEXT = RunContext(RUNS, priors=BestOfOtherGroups(by=P @ 3), groups=GROUPS)
NEW = as_run("ABCDE")
U = UniqueRel @ 5


def value(group: str | None, run: Any = NEW, measure: Any = U, context: RunContext = CONTEXT) -> float:
    if group is None:
        with context:
            return float(measure.calc_aggregate(QRELS, run))
    with context.evaluating(group=group):
        return float(measure.calc_aggregate(QRELS, run))


def test_its_priors_are_the_best_runs_of_the_other_groups() -> None:
    assert value(None) == 0  # every run
    assert value("g") == len("ACE")
    assert value("h") == len("CE")
    assert value("i") == len("CE")
    assert value("new") == len("CE")


@examples(20)
@given(context=contexts.filter(lambda runs: len(runs) > 1), run=runs, labels=qrels, data=st.data())
def test_as_if_it_were_a_member_that_is_not_the_best_of_its_group(
    context: dict[str, Run], run: Run, labels: Labels, data: st.DataObject
) -> None:
    """A member's own group does not count either, so joining the context changes no prior of its own."""
    for other in (run, *context.values()):
        assume_common(other, labels)
    groups = {name: data.draw(st.sampled_from("gh")) for name in context}
    group = data.draw(st.sampled_from(["g", "h", "other"]))
    policy = BestOfOtherGroups(by=P @ 2)
    measures = [NRG @ 3, NRG(base="ERR") @ 3, U]
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        joined = RunContext({**context, "new": run}, priors=policy, groups={**groups, "new": group})
        table = joined.evaluate(labels, measures, perquery=True)
        expected = {(r.query_id, r.measure): r.value for r in table.itertuples() if r.name == "new"}
        with RunContext(context, priors=policy, groups=groups).evaluating(group=group):
            found = {
                (m.query_id, str(m.measure)): m.value for m in ir_measures.iter_calc(measures, labels, run)
            }
    assert found == pytest.approx(expected, abs=1e-15)


def frame(**columns: Any) -> pd.DataFrame:
    docs = pd.DataFrame({"qid": "q", "docno": list("ABCDE"), "score": [5.0, 4, 3, 2, 1]})
    return docs.assign(**columns)


def test_a_group_column_says_the_same() -> None:
    for group in ("g", "h", "new"):
        assert value(None, frame(group=group)) == value(group)
    assert value("h", frame(group="g")) == value("h")  # what is said goes first


@pytest.mark.parametrize("two", [["a", "b"], ["a", None], [None, None], [1, 1], ["", ""]])
def test_a_column_that_names_no_group(two: list[object]) -> None:
    named = frame(group=[two[0], *[two[1]] * 4])
    with pytest.warns(RelativeWarning, match="column 'group' does not hold one name in all rows"):
        assert value(None, named) == value(None)
    assert value(None, named, context=RunContext(RUNS, groups=GROUPS)) == 0  # the policy asks no group


def test_priors_chosen_before_know_the_groups() -> None:
    means = {name: 0.5 - i / 10 for i, name in enumerate(RUNS)}
    context = RunContext(RUNS, priors=BestOfOtherGroups.choose(means, GROUPS), groups=GROUPS)
    for group in ("g", "h", "new", None):
        assert value(group, context=context) == value(group)


@pytest.mark.parametrize("group", [1, None, ""])
def test_groups_have_names(group: object) -> None:
    with pytest.raises(ValueError, match=r"groups\['h1'\]=.* must be the name of a group"):
        RunContext(RUNS, groups={**GROUPS, "h1": group})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="must be a dict from run name to group name"):
        RunContext(RUNS, groups=group or 7)  # type: ignore[arg-type]


def test_rounding_does_not_choose() -> None:
    """Means that differ by the order of a sum are equal, and the run given first is the best of its group."""
    groups = {"a1": "a", "a2": "a", "b1": "b"}
    for means in ({"a1": 0.3, "a2": 0.1 + 0.2, "b1": 0.1}, {"a1": 0.1 + 0.2, "a2": 0.3, "b1": 0.1}):
        assert BestOfOtherGroups.choose(means, groups) == {"a1": ["b1"], "a2": ["b1"], "b1": ["a1"]}


def test_pipelines_of_new_runs_in_pt_experiment() -> None:
    pt = pytest.importorskip("pyterrier", reason="PyTerrier is not installed")
    labels = pd.DataFrame({"qid": "q", "docno": list("ABCDEF"), "label": 1})
    given = pd.DataFrame({"qid": ["q"], "query": ["x"]}), labels, [U, nDCG @ 5]
    pipelines = [pt.Transformer.from_df(frame()) >> pt.apply.group(lambda row, g=g: g) for g in "gh"]
    with CONTEXT:
        assert pt.Experiment([*pipelines, frame()], *given)[str(U)].tolist() == [3, 2, 0]
    with CONTEXT.evaluating(group="g"):
        assert pt.Experiment([frame()], *given)[str(U)].tolist() == [3]


def test_explain_takes_a_group() -> None:
    table = explain(CONTEXT, NEW, QRELS, U, "q", group="g")
    assert list(table.filter(like="position in")) == ["position in h1", "position in i1"]
    assert table["contribution"].sum() == 3
    with pytest.raises(ValueError, match="group='g' goes with a new run; 'g1' is a run of the context"):
        explain(CONTEXT, "g1", QRELS, U, group="g")
    with pytest.raises(ValueError, match="priors of this context do not go by groups"):
        explain(RunContext(RUNS, groups=GROUPS), NEW, QRELS, U, group="g")


def test_it_counts_when_scoring_and_when_creating_and_is_not_forgotten() -> None:
    with CONTEXT.evaluating(group="g"):
        evaluator = ir_measures.evaluator([U], QRELS)
        with CONTEXT:
            assert U.calc_aggregate(QRELS, NEW) == 3
    for one in (evaluator, pickle.loads(pickle.dumps(evaluator)), copy.deepcopy(evaluator)):
        assert one.calc_aggregate(NEW)[U] == 3
    with CONTEXT:
        evaluator = ir_measures.evaluator([U], QRELS)
        with CONTEXT.evaluating(group="h"):
            assert evaluator.calc_aggregate(NEW)[U] == 2
        with CONTEXT.evaluating("g1"):
            assert evaluator.calc_aggregate(RUNS["g1"])[U] == 1
        assert evaluator.calc_aggregate(NEW)[U] == 0


def test_what_is_relative_to_all_systems_or_to_chosen_priors_does_not_ask() -> None:
    for measure in (Shapley @ 5, UniqueRel(prior="h2") @ 5):
        assert value("g", measure=measure) == value(None, measure=measure)


@pytest.mark.parametrize("priors", ["others", "earlier", ["g1"], {n: [] for n in RUNS}], ids=str)
def test_a_policy_without_groups_refuses_one(priors: Any) -> None:
    context = RunContext(RUNS, priors=priors, groups=GROUPS)
    with (
        pytest.raises(ValueError, match=r"group='g': the priors of this context do not go by groups"),
        context.evaluating(group="g"),
    ):
        pass


def test_what_else_is_refused() -> None:
    for arguments in ({}, {"name": "g1", "group": "g"}):
        with (
            pytest.raises(ValueError, match=r"takes the name of a run of the context"),
            CONTEXT.evaluating(**arguments),
        ):
            pass
    for group in ("", 3):
        with pytest.raises(ValueError, match="must be the name of a group"), CONTEXT.evaluating(group=group):  # type: ignore[arg-type]
            pass
    named = pd.DataFrame({"query_id": "q", "doc_id": list("ABX"), "score": [3.0, 2, 1], "name": "g1"})
    assert value("g", named) == value(None, named) == 1
    with pytest.raises(ValueError, match="named 'g1', which is a run of the context and of the group 'g'"):
        value("h", named)


def test_a_group_that_looks_like_a_known_one_draws_a_warning() -> None:
    context = RunContext(
        RUNS, priors=BestOfOtherGroups(by=P @ 3), groups={n: f"Lab {g}1" for n, g in GROUPS.items()}
    )
    with pytest.warns(UserWarning, match="no run of the context is of this group.*if 'Lab g1' is meant"):
        assert value("lab g1", context=context) == 2
    with warnings.catch_warnings(action="error"):
        assert value("Somebody", context=context) == 2
        assert value("Lab g1", context=context) == 3


def test_a_copy_of_a_run_of_its_own_group_is_no_prior() -> None:
    with warnings.catch_warnings(action="error"):
        assert value("g", as_run("ABX")) == 1
    with pytest.warns(UserWarning, match="ranks exactly as the context's run 'g1'"):
        value("h", as_run("ABX"))


class OfOwnGroup(PriorPolicy):
    """The runs of its own group, of a policy that says nothing of new runs' groups."""

    needs_groups = True

    def priors_of(self, campaign: Any, name: str | None) -> list[str]:
        return [n for n in campaign.names if name is None or campaign.groups[n] == campaign.groups[name]]


def test_a_policy_of_groups_that_says_nothing_of_new_runs() -> None:
    context = RunContext(RUNS, priors=OfOwnGroup(), groups=GROUPS)
    assert value(None, frame(group="g"), context=context) == 0
    with pytest.raises(ValueError, match="do not go by groups"):
        value("g", context=context)


RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}}
LABELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}


def hash_of(run: object) -> str:
    return str(RunContext({"r": run}).fingerprint()["runs"][0]["sha256"])


def test_of_any_form_and_order(tmp_path: Path) -> None:
    rows = [(q, d, s) for q, docs in RUN.items() for d, s in docs.items()]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    twice = frame.assign(doc_id="a")
    with pytest.raises(ValueError, match="lists document 'a' more than once"):
        RunContext({"r": twice}).fingerprint()
    file = tmp_path / "run.txt"
    file.write_text("".join(f"{q} Q0 {d} 7 {s} tag\n" for q, d, s in reversed(rows)))
    forms = [RUN, frame, frame[::-1], frame.rename(columns={"query_id": "qid", "doc_id": "docno"}), file]
    assert len({hash_of(form) for form in forms}) == 1


def ranked(run: Run) -> dict[str, list[str]]:
    """trec_eval's order."""

    def key(item: tuple[str, float]) -> tuple[np.float32, bytes]:
        return np.float32(item[1]), item[0].encode()

    return {q: [d for d, _ in sorted(of.items(), key=key, reverse=True)] for q, of in run.items() if of}


@examples(20)
@given(one=runs, other=runs)
def test_rankings_count_and_nothing_else(one: Run, other: Run) -> None:
    assert (hash_of(one) == hash_of(other)) == (ranked(one) == ranked(other))
    turned = {q: dict(reversed(docs.items())) for q, docs in reversed(one.items())}
    rescored = {q: {d: -float(i) for i, d in enumerate(docs)} for q, docs in ranked(one).items()}
    assert hash_of(one) == hash_of(turned) == hash_of(rescored)


@examples(20)
@given(one=qrels, other=qrels)
def test_judgments(one: Labels, other: Labels) -> None:
    def mark(labels: Labels) -> object:
        return RunContext({}).fingerprint(labels)["qrels"]

    assert mark(dict(reversed(one.items()))) == mark(one)
    assert (mark(one) == mark(other)) == (one == other)


def test_everything_that_numbers_depend_on_is_in_the_hash() -> None:
    two = {"a": RUN, "b": {"q1": {"b": 1.0}}}
    options: list[dict[str, object]] = [
        {},
        {"priors": "earlier"},
        {"priors": ["a"]},
        {"priors": {"a": [], "b": ["a"]}},
        {"reference": "a"},
        {"groups": {"a": "x"}},
        {"num_docs": 9},
        {"grades": (0, 3)},
        {"groups": {"a": "x", "b": "y"}, "priors": BestOfOtherGroups()},
        {"groups": {"a": "x", "b": "y"}, "priors": BestOfOtherGroups(by="P@5")},
    ]
    marks = [RunContext(two, **given).fingerprint() for given in options]  # type: ignore[arg-type]
    marks += [RunContext(two).fingerprint(LABELS), RunContext(dict(reversed(two.items()))).fingerprint()]
    assert len({mark["sha256"] for mark in marks}) == len(options) + 2
    assert json.loads(json.dumps(marks)) == marks
    assert marks[8]["priors"] == "BestOfOtherGroups(by=nDCG@10)"
    assert marks[3]["priors"] == {"a": [], "b": ["a"]}


def test_a_policy_goes_by_its_name_not_by_its_address() -> None:
    class Own(PriorPolicy):
        def priors_of(self, campaign: object, name: str | None) -> list[str]:
            return []

    first, second = (RunContext({"r": RUN}, priors=Own()).fingerprint() for _ in range(2))
    assert first == second and first["priors"].endswith("Own")


def test_versions_are_not_in_the_hash_and_qrels_of_a_dataset_are() -> None:
    from ir_measures_relative import demo

    mark = RunContext({"r": RUN}).fingerprint()
    assert set(mark["versions"]) >= {"ir-measures-relative", "ir-measures", "numpy", "python"}
    demo.register()
    of_dataset = RunContext.from_irds(demo.DATASET_ID, name=None).fingerprint()
    assert of_dataset["dataset"] == demo.DATASET_ID and of_dataset["qrels"]["queries"] > 0
