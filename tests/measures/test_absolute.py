"""Absolute measures in a table of this package: the values are those of ir_measures, whatever a measure looks at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures import AP, Accuracy, Compat, Judged, P, nDCG

from ir_measures_relative import NRG, RunContext
from ir_measures_relative.cli import main

LABELS = {"q": {"a": 1, "z1": 1, "z2": 1, "z3": 1}}
OWN = ir_measures.define_byquery(lambda _, run: run.score.max(), name="Highest")
LAST = ir_measures.define_byquery(
    lambda _, run: run.score.to_numpy()[-1] + run.doc_id.iloc[0].count("a"), name="P"
)
LOWEST_LABEL = ir_measures.define_byquery(lambda qrels, _: qrels.relevance.min(), name="Lowest")


def both(measures: list[Any], labels: Any, run: Any) -> tuple[dict[Any, float], dict[Any, float]]:
    """The values by this package, and by ir_measures."""
    row = RunContext({"r": run, "s": run}).evaluate(labels, [NRG @ 2, *measures]).iloc[0]
    return {m: row[str(m)] for m in measures}, ir_measures.calc_aggregate(measures, labels, run)


@pytest.mark.parametrize(
    "run",
    [
        {"a": 12.0, "b": 11.0},
        {"a": 0.1, "b": -0.3, "z1": -2.0},
        {"a": 1 + 1e-12, "z3": 1.0, "b": 1 + 1e-13},  # one 32-bit float
        {"b": 5.0, "z1": 5.0, "a": 5.0, "z2": 7.0},  # tied
        {"a": 1e200, "z2": 2e200},
    ],
)
def test_a_measure_that_looks_at_scores_gets_those_of_the_run(run: dict[str, float]) -> None:
    ours, theirs = both([Compat(p=0.95), OWN(), OWN @ 1, LAST()], LABELS, {"q": run})
    assert ours == theirs


def test_it_changes_nothing_for_those_beside_it() -> None:
    """What looks at places alone has trec_eval's order, in which the last id of those tied comes first."""
    run = {"q": {"b": 5.0, "z1": 5.0, "a": 5.0, "c": 4.0}}
    beside = [Accuracy(), Judged @ 1, P @ 1, AP(), nDCG @ 2]
    alone = RunContext({"r": run}).evaluate(LABELS, beside)
    together = RunContext({"r": run}).evaluate(LABELS, [*beside, Compat(), OWN()])
    for measure in map(str, beside):
        assert together[measure].item() == alone[measure].item()


def test_a_measure_of_ones_own_sees_the_labels() -> None:
    ours, theirs = both([LOWEST_LABEL()], {"q": {"a": -2, "b": -1}}, {"q": {"a": 1.0}})
    assert ours == theirs and list(ours.values()) == [-2]


def test_the_scores_are_those_when_the_context_was_made() -> None:
    import pandas as pd

    frame = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [0.7, 0.3]})
    context = RunContext({"r": frame})
    frame["score"] = 9.0
    assert context.evaluate(LABELS, [OWN()])["Highest"].item() == 0.7


def test_gains_of_a_query_with_negative_labels_only() -> None:
    labels = {"q": {"a": -1, "b": -1}, "p": {"a": 1, "b": -1}}
    run = {q: {"x": 3.0, "a": 2.0, "b": 1.0} for q in labels}
    measures = [nDCG(gains={-1: 1}), nDCG(gains={-1: 1}) @ 2, nDCG(gains={-1: 2, 1: 5}), nDCG()]
    ours = RunContext({"r": run}).evaluate(labels, measures, perquery=True)
    for measure in measures[:3]:
        theirs = {m.query_id: m.value for m in ir_measures.iter_calc([measure], labels, run)}
        mine = ours[ours["measure"] == str(measure)].set_index("query_id")["value"]
        assert mine.to_dict() == theirs, measure


@pytest.mark.parametrize("gains", [{0: 1, 1: 2}, {0: 1, -1: -3}, {2: 1}, {1: -1, 0: 5}])
@pytest.mark.parametrize("judged_only", [False, True])
def test_where_gains_reward_no_label_the_value_is_0(gains: dict[int, int], judged_only: bool) -> None:
    """ir_measures lets pytrec_eval write outside its arrays."""
    measure = nDCG(gains=gains, judged_only=judged_only)
    run = {"q": {"a": 2.0, "b": 1.0}}
    assert RunContext({"r": run}).evaluate({"q": {"a": -1, "b": -1}}, [measure])[str(measure)].item() == 0.0


def broken(*_: Any) -> float:
    raise KeyError("no such column")


@pytest.mark.parametrize("place", [0, 3])
def test_a_message_names_the_measure_that_fails_and_not_those_beside_it(place: int) -> None:
    measures = [OWN(), Compat(), nDCG()]
    measures.insert(place, ir_measures.define_byquery(broken, name="Broken")())
    with pytest.raises(ValueError, match=r"cannot compute Broken here \('no such column'\)"):
        RunContext({"r": {"q": {"a": 1.0}}}).evaluate(LABELS, measures)


@pytest.mark.parametrize("text", ["Bpref", "SetP"])
def test_a_message_names_the_one_that_has_no_evaluator(text: str, monkeypatch: Any) -> None:
    provider = ir_measures.providers.registry["pytrec_eval"]
    made = provider.evaluator

    def evaluator(measures: Any, qrels: Any) -> Any:
        if text in map(str, measures):
            raise TypeError("not this one")
        return made(measures, qrels)

    monkeypatch.setattr(provider, "evaluator", evaluator)
    with pytest.raises(ValueError, match=f"cannot compute {text} here"):
        RunContext({"r": {"q": {"a": 1.0}}}).evaluate(LABELS, ["AP", "Bpref", "SetP", "Accuracy", "Judged@3"])


def test_so_does_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_text("".join(f"q 0 {d} {g}\n" for d, g in LABELS["q"].items()))
    (tmp_path / "runs").mkdir()
    for name in "rs":
        (tmp_path / "runs" / name).write_text("q Q0 a 1 12 t\nq Q0 b 2 11 t\n")
    main([str(tmp_path / "qrels"), str(tmp_path / "runs"), "nDCG@2 Compat(p=0.95) Accuracy NRG@2"])
    assert "r\t0.6131\t0.5365\t1.0000\t" in capsys.readouterr().out


def test_aspects_to_a_cutoff_and_of_the_whole_ranking_at_once() -> None:
    pytest.importorskip("pyndeval")
    qrels = [ir_measures.Qrel("q", "a", 1, "1"), ir_measures.Qrel("q", "b", 1, "2")]
    run = {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}
    measures = [ir_measures.parse_measure(name) for name in ("P_IA@2", "MAP_IA")]
    found = RunContext({"r": run}).evaluate(qrels, measures).set_index("name").loc["r"]
    expected = ir_measures.calc_aggregate(measures, qrels, run)
    assert [found[str(m)] for m in measures] == pytest.approx([expected[m] for m in measures])
