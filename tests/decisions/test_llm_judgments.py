"""Judgments by a language model in decisions, and the order of the documents to judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir_measures import nDCG
from scipy import stats

from command_line import write_qrels, write_runs
from helpers.judged_pools import collection
from ir_measures_relative import RunContext, decide, drop, worth
from ir_measures_relative.bounding.bounds import make_labelings
from ir_measures_relative.bounding.imputation import Imputation
from ir_measures_relative.cli import main
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.context.evaluated import Evaluated
from ir_measures_relative.decisions import RegretTest
from ir_measures_relative.decisions.rule import nearest_verdict
from ir_measures_relative.decisions.text import describe_needs
from ir_measures_relative.stats.regret import upper_ends

BY: Any = {"by": "nDCG@5", "test": RegretTest(samples=40)}


def test_a_judge_that_helps_narrows_the_answer() -> None:
    context, qrels, llm = collection(6, seed=2)
    plain = worth(context, qrels, "r5", ["r1"], **BY)
    helped = worth(context, qrels, "r5", ["r1"], llm_judgments=llm, **BY)
    assert plain.labels == helped.labels == "imputed"
    reach, before = (one.table["difference"] - one.table["lower"] for one in (helped, plain))
    assert (reach[1:] < before[1:]).all()
    assert helped.notes[0].endswith(
        "they help to estimate unjudged grades. Too few runs or documents show whether they favour the candidate."
    )
    assert "LLM" not in str(plain)


def test_two_runs_have_a_model_with_a_judge() -> None:
    context, qrels, llm = collection(2)
    options = {"keep": "r0", "new": "r1"}
    plain, helped = (decide(context, qrels, options, llm_judgments=of, **BY) for of in (None, llm))
    assert (plain.labels, plain.verdict) == ("judged", None)
    assert helped.labels == "imputed" and helped.verdict is not None
    useless = {query: dict.fromkeys(docs, 1) for query, docs in llm.items()}
    refused = decide(context, qrels, options, llm_judgments=useless, **BY)
    assert refused.verdict is None and "by 0 %, less than 20 %; they are not used" in refused.notes[0]
    known = {query: {d: g for d, g in docs.items() if d in qrels[query]} for query, docs in llm.items()}
    refused = decide(context, qrels, options, llm_judgments=known, **BY)
    assert refused.verdict is None and "too few for a relevance model of these runs" in refused.notes[0]


def test_a_judge_that_favours_the_candidate_is_left_out() -> None:
    """Where the judgments are those of the other runs, and the judge likes what the candidate alone retrieves."""
    context, _, llm = collection(10, seed=1, n_docs=150, n_topics=40)
    tops = {name: run.to_dict(5) for name, run in context.runs.items()}
    pooled = {
        q: {d: g for d, g in docs.items() if any(d in top[q] for name, top in tops.items() if name != "r9")}
        for q, docs in llm.items()
    }
    lifted = {
        q: {d: min(g + 1, 3) if d in tops["r9"][q] and d not in pooled[q] else g for d, g in docs.items()}
        for q, docs in llm.items()
    }
    honest = worth(context, pooled, "r9", ["r1"], llm_judgments=llm, **BY)
    favouring = worth(context, pooled, "r9", ["r1"], llm_judgments=lifted, **BY)
    assert honest.notes[0].endswith("they help to estimate unjudged grades.")
    assert "better than expected" in favouring.notes[0]
    plain = worth(context, pooled, "r9", ["r1"], **BY)
    assert favouring.table.equals(plain.table)
    others = worth(context, pooled, "r1", ["r2"], llm_judgments=lifted, **BY)
    assert "better than expected" not in others.notes[0]


def test_drop_uses_a_judge_too() -> None:
    context, qrels, llm = collection(6, seed=2)
    plain, helped = (drop(context, qrels, ["r1", "r5"], llm_judgments=of, **BY) for of in (None, llm))
    assert helped.notes[0].endswith("they help to estimate unjudged grades.")
    assert not plain.table.equals(helped.table)


def test_an_open_verdict_says_how_many_topics_would_settle_it() -> None:
    context, qrels, _ = collection(6, seed=2)
    few = {query: qrels[query] for query in list(qrels)[:8]}
    answer = worth(context, few, "r3", ["r2"], labels="judged", **BY)
    assert answer.verdict == "open" and answer.topics_needed is not None
    low, high = answer.topics_needed
    assert 0 < low <= high
    assert "there are 8" in answer.answer and "would settle it" in answer.answer
    shown = json.loads(answer.to_json())["topics_needed"]
    assert shown == [None if np.isinf(n) else n for n in answer.topics_needed]
    settled = worth(context, qrels, "r5", ["r0"], labels="judged", margin=0.3, **BY)
    assert settled.verdict != "open" and settled.topics_needed is None


@pytest.mark.parametrize(
    ("topics", "share", "text"),
    [
        ((60.0, 152.0), 0.2, "Some 60 to 160 topics would settle it; there are 36."),
        ((60.0, np.inf), 0.2, "60 topics or more would settle it; there are 36."),
        ((np.inf, np.inf), 0.2, "More than 10,000 topics would settle it; there are 36."),
        ((5.0, 9.0), 0.2, "Some 37 topics would settle it; there are 36."),
        ((1234.0, 1240.0), 0.5, "Some 1,300 topics would settle it; there are 36."),
        ((60.0, 152.0), 0.6, "Judging unjudged documents would settle more than further topics."),
    ],
)
def test_what_would_settle_it(topics: tuple[float, float], share: float, text: str) -> None:
    assert describe_needs(topics, 36, share) == text


def test_the_command_line_has_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    context, qrels, llm = collection(5)
    write_runs(tmp_path, {name: run.to_dict() for name, run in context.runs.items()})
    write_qrels(tmp_path / "human.qrels", qrels)
    write_qrels(tmp_path / "llm.qrels", llm)
    run, llm_file = (str(tmp_path / name) for name in ("r1.run", "llm.qrels"))
    others = [part for i in (2, 3, 4) for part in ("--others", str(tmp_path / f"r{i}.run"))]
    given = [str(tmp_path / "human.qrels"), run, "--to", str(tmp_path / "r0.run"), "--by", "nDCG@5", *others]
    assert main(["worth", *given, "--llm-judgments", llm_file]) == 0
    assert "they help to estimate unjudged grades" in " ".join(capsys.readouterr().out.split())
    assert main(["worth", *given, "--llm-judgments", str(tmp_path / "none.qrels")]) == 2


def test_judgments_that_are_not_used_are_told_of_first() -> None:
    """As ``verdicts`` tells of them, whose tests have every kind."""
    context, qrels, llm = collection(6, seed=2)
    plain = worth(context, qrels, "r5", ["r1"], **BY)
    few = {query: dict(list(docs.items())[:1]) for query, docs in llm.items()}
    answer = worth(context, qrels, "r5", ["r1"], llm_judgments=few, **BY)
    assert answer.notes[0].endswith("50 are needed to check it, so its judgments are not used.")
    assert answer.table.equals(plain.table)
    scaled = {query: {doc: 10 * grade + 5 for doc, grade in docs.items()} for query, docs in llm.items()}
    said = worth(context, qrels, "r5", ["r1"], llm_judgments=scaled, **BY).notes[0]
    assert "are not on the scale of the human ones, 0 to 3: only their order counts." in said
    strange = {f"x{query}": docs for query, docs in llm.items()}
    with pytest.raises(ValueError, match="llm_judgments: no topic is one of the qrels'"):
        worth(context, qrels, "r1", ["r0"], llm_judgments=strange, **BY)


def test_documents_to_judge_are_those_that_move_uncertain_gains() -> None:
    """Of P@5, every document in one of two lists moves their difference as far: what is nearly certain comes last."""
    context, qrels, llm = collection(6, seed=2)
    answer = worth(context, qrels, "r5", ["r1"], by="P@5", margin=0.0, llm_judgments=llm)
    surely = np.array([llm[q][d] >= 2 for q, d in answer.judge.to_numpy()])
    third = len(surely) // 3
    assert answer.verdict == "open" and surely[:third].mean() < 0.3 < 0.7 < surely[-third:].mean()


Qrels = dict[str, dict[str, int]]


@pytest.mark.parametrize("labelings", [1, 12])
def test_upper_ends_are_those_of_each_two_options(labelings: int) -> None:
    values = np.random.default_rng(3).normal(size=(3, labelings, 20))
    ends = upper_ends(values if labelings > 1 else values[:, 0], 0.9)
    for i in range(3):
        for j in range(3):
            difference = values[i] - values[j]
            variance = difference.mean(axis=0).var(ddof=1) / 20
            degrees = 19
            if labelings > 1:
                variance += (1 + 1 / labelings) * difference.mean(axis=1).var(ddof=1)
                degrees = labelings - 1
            expected = difference.mean() + stats.t.ppf(0.9, degrees) * np.sqrt(variance)
            assert ends[i, j] == pytest.approx(expected, abs=1e-12)
    if labelings == 1:
        assert upper_ends(values - values[:, 0], 0.9, strictly=True) == pytest.approx(ends, abs=1e-12)


@pytest.mark.parametrize(
    ("n_runs", "candidate", "deployed", "labels"),
    [(3, "r1", ["r0"], "judged"), (6, "r2", ["r0", "r1"], "imputed")],
)
def test_the_nearest_verdict_is_by_the_given_confidence(
    n_runs: int, candidate: str, deployed: list[str], labels: str
) -> None:
    context, qrels, _ = collection(n_runs)
    few = {query: qrels[query] for query in list(qrels)[:10]}
    tests = (RegretTest(samples=40, confidence=confidence) for confidence in (0.95, 0.6))
    high, low = (worth(context, few, candidate, deployed, by="nDCG@5", test=test) for test in tests)
    assert (high.choice, high.labels) == (low.choice, low.labels) == ("add", labels)
    assert not high.judge.equals(low.judge)


def test_the_nearest_verdict_is_the_one_that_lacks_least() -> None:
    random, margin = np.random.default_rng(5), 0.02
    for _ in range(200):
        n = int(random.integers(2, 5))
        upper = random.normal(0, 0.05, size=(n, n))
        lacking = {}
        for option in range(n):
            rivals = [i for i in range(n) if i != option]
            allowed = {i: 0.0 if i == 0 else margin for i in rivals}
            if option == 0:
                allowed = dict.fromkeys(rivals, margin)
            lacking[option] = {i: upper[i, option] - allowed[i] for i in rivals}
        nearest = min(lacking, key=lambda option: max(lacking[option].values()))
        rivals = [i for i, much in lacking[nearest].items() if much > 0]
        assert nearest_verdict(upper, margin) == (nearest, rivals or list(lacking[nearest]))


def half_judged(qrels: Qrels) -> Qrels:
    return {q: {d: g for i, (d, g) in enumerate(docs.items()) if i % 2} for q, docs in qrels.items()}


def test_gains_grow_with_the_shift_as_their_expectation_does() -> None:
    """Against the expectations of gains under a shift, summed over the grades one by one."""
    context, qrels, _ = collection(6, seed=2)
    runs = Evaluated.each(judged_collection(context, half_judged(qrels)))
    labelings = make_labelings(nDCG @ 5, runs, None)
    imputation = Imputation(labelings.runs, labelings.cutoff)
    levels, rows = imputation.model.levels, np.flatnonzero(labelings.open)
    docs = labelings.docs.select(labelings.open)
    logits = imputation.model.logits(imputation._pool(docs), None)
    gain = labelings.gain(levels).tolist()

    def expect(logit: list[float], values: list[float]) -> float:
        total, reached = 0.0, 1.0
        for i, value in enumerate(values):
            climbs = 1 / (1 + np.exp(-logit[i])) if i < len(logit) else 0.0
            total += value * reached * (1 - climbs)
            reached *= climbs
        return total

    slope, probability = imputation.gain_slope(labelings), imputation.probability_of_gain(labelings)
    assert len(levels) > 2 and len(rows) > 50 and not slope[~labelings.open].any()
    for row, logit in zip(rows.tolist(), logits.T.tolist(), strict=True):
        above, below = (expect([x + shift for x in logit], gain) for shift in (1e-5, -1e-5))
        assert slope[row] == pytest.approx((above - below) / 2e-5, abs=1e-8)
        assert probability[row] == pytest.approx(expect(logit, [float(g > 0) for g in gain]), abs=1e-12)


def test_without_a_model_those_come_first_from_which_it_is_learned() -> None:
    """All judged documents are relevant on most topics: judging in this order brings a model sooner than backwards."""
    context, qrels, _ = collection(6, seed=2)
    judged = half_judged(qrels)
    for query in list(judged)[:-2]:
        relevant = {d: g for d, g in judged[query].items() if g}
        judged[query] = relevant | dict(sorted(judged[query].items() - relevant.items())[:1])
    counts = []
    for step in (1, -1):
        known, n = {q: dict(docs) for q, docs in judged.items()}, 0
        while (answer := worth(context, known, "r5", ["r1"], **BY)).verdict is None:
            assert len(answer.judge)
            for query, doc in answer.judge.to_numpy()[::step][:10]:
                known[query][doc] = qrels[query].get(doc, 0)
                n += 1
        counts.append(n)
    assert 0 < counts[0] < counts[1]


def test_a_track_that_is_too_shallow_for_a_model_lists_documents(tmp_path: Any) -> None:
    context, qrels, _ = collection(6, seed=2)
    relevant = {q: {d: g for d, g in docs.items() if g} for q, docs in half_judged(qrels).items()}
    context.save_track(tmp_path / "shallow.track", relevant, depth=10)
    track = RunContext.from_track(tmp_path / "shallow.track")
    answer = worth(track, relevant, "r5", ["r1"], **BY)
    assert answer.verdict is None and len(answer.judge)
