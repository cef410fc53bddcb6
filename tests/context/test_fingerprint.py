"""``RunContext.fingerprint``: of the rankings, whatever form they come in; and what a notebook shows."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from drawn import examples
from ir_measures_relative import RunContext
from ir_measures_relative.context.priors import BestOfOtherGroups, PriorPolicy
from random_campaigns import Labels, Run, qrels, runs

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
