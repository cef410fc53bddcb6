"""Judgments by a language model in decisions: what they change, what becomes of them, and what an answer says."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.judged_pools import collection
from ir_measures_relative import decide, drop, worth
from ir_measures_relative.cli import main
from ir_measures_relative.decisions import RegretTest
from ir_measures_relative.decisions.text import describe_needs

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
    for name, run in context.runs.items():
        lines = [f"{q} Q0 {d} 1 {s} {name}" for q, docs in run.to_dict().items() for d, s in docs.items()]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    for name, judgments in (("human", qrels), ("llm", llm)):
        lines = [f"{q} 0 {d} {g}" for q, docs in judgments.items() for d, g in docs.items()]
        (tmp_path / f"{name}.qrels").write_text("\n".join(lines) + "\n")
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
