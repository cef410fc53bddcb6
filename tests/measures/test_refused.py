"""Measures of ir_measures that its providers cannot compute: told in words, wherever a measure comes in.

trec_eval ends the whole process for a cutoff of 0, so these are tried in a process of their own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from ir_measures_relative import RunContext
from ir_measures_relative.context.evaluate import aggregate
from ir_measures_relative.context.priors import BestOfOtherGroups
from ir_measures_relative.measures.measure import RelativeMeasure

CUTOFFS = [
    f"{name}@{k}" for name in ("nDCG", "P", "R", "AP", "Success", "RR", "Judged") for k in (0, 2**31, 10**20)
]
CUTOFFS += ["nDCG(judged_only=True)@0", "nDCG(cutoff=0)", "ERR@0", "nDCG(dcg='exp-log2')@0"]
LEVELS = [
    f"{name}(rel={rel}){at}"
    for name, at in [("AP", ""), ("RR", ""), ("P", "@5"), ("Success", "@3")]
    for rel in (0, 2**31)
]
LEVELS += ["Rprec(rel=0)", "Bpref(rel=0)", "SetP(rel=0)", "infAP(rel=0)", "nDCG(gains={1:99999999999})@3"]
REFUSED = [*CUTOFFS, *LEVELS]

PROGRAM = """
import json, sys
import pandas as pd
from ir_measures_relative import RunContext
from ir_measures_relative.context.priors import BestOfOtherGroups
from ir_measures_relative.distributed import evaluate_part

runs = {"r": {"1": {"a": 2.0, "b": 1.0}}, "s": {"1": {"b": 1.0}}}
groups = {"r": "g", "s": "h"}
rows = pd.DataFrame([(n, q, d, s) for n, r in runs.items() for q, docs in r.items() for d, s in docs.items()])
rows.columns = ["name", "query_id", "doc_id", "score"]

def qrels(labels):
    return pd.DataFrame({"query_id": "1", "doc_id": list(labels), "relevance": list(labels.values())})

doors = {
    "evaluate": lambda m, q: RunContext(runs).evaluate(q, [m]),
    "TaSC": lambda m, q: RunContext(runs).evaluate(q, [f"TaSC(base={m!r})"]),
    "by": lambda m, q: RunContext(runs, priors=BestOfOtherGroups(by=m), groups=groups).evaluate(q, ["NRG@3"]),
    "part": lambda m, q: evaluate_part(rows, q, [m], names=list(runs), grades=(0, 9)),
}
for door, measure, labels in json.loads(sys.stdin.read()):
    try:
        doors[door](measure, qrels(labels))
        result = "a value"
    except ValueError as error:
        result = f"words: {error}"
    except BaseException as error:
        result = type(error).__name__
    print(json.dumps([door, measure, result]), flush=True)
"""


def said(cases: list[tuple[str, str, dict[str, int]]]) -> list[tuple[str, str, str]]:
    """What becomes of each (door, measure, labels)."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
    )
    found = [tuple(json.loads(line)) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(found) == len(cases), (cases[len(found)], done.stderr)
    return found


DOORS = ["evaluate", "TaSC", "by", "part"]


def test_what_takes_the_process_down_is_refused() -> None:
    for door, measure, result in said([(d, m, {"a": 1, "b": 2}) for d in DOORS for m in REFUSED]):
        assert "is not allowed; " in result and ("from 1 to 2^31 - 1" in result or "2^31" in result), (
            door,
            measure,
            result,
        )


def test_labels_that_make_a_script_fail() -> None:
    """gdeval takes grades up to 4; it names the measure, and not those beside it."""
    measures = ("ERR@10", "nDCG(dcg='exp-log2')@10")
    cases = [(door, measure, {"a": g, "b": 2}) for door in DOORS for measure in measures for g in (4, 5)]
    for (door, measure, labels), (*_, result) in zip(cases, said(cases), strict=True):
        if labels["a"] == 4:
            assert result == "a value", (door, measure)
        else:
            why = "here (its script failed, which takes grades up to 4"
            assert f"words: ir_measures cannot compute {measure} {why}" in result, (door, result)
            assert result.endswith("; leave the measure out"), (door, result)


def test_it_names_the_measure_that_fails_and_not_those_beside_it() -> None:
    context = RunContext({"r": {"1": {"a": 1.0}}})
    with pytest.raises(ValueError, match=r"cannot compute ERR@10 here \(its script failed"):
        context.evaluate({"1": {"a": 5}}, ["P@5", "ERR@10", "nDCG@10"])
    with pytest.raises(ValueError, match="numbers as query ids"):
        context = RunContext({"r": {"q": {"a": 1.0}}})
        context.evaluate({"q": {"a": 1}}, ["ERR@10"])


@pytest.mark.parametrize("text", ["nDCG@2147483647", "P@2147483647", "AP(rel=2147483647)", "RR@1"])
def test_the_largest_and_smallest_that_are_allowed(text: str) -> None:
    assert RunContext({"r": {"1": {"a": 1.0}}}).evaluate({"1": {"a": 1}}, [text])[text].notna().all()


@pytest.mark.parametrize(
    "text",
    [
        "NRG@0",
        "NRG@2147483648",
        "MED@0",
        "UniqueRel@0",
        "rrLP@0",
        "nDCG_UE@0",
        "P_Rareness@0",
        "UniqueRel(rel=0)@3",
    ],
)
def test_our_own(text: str) -> None:
    with pytest.raises(ValueError, match="is not allowed"):
        RunContext({"r": {"1": {"a": 1.0}}}).evaluate({"1": {"a": 1}}, [text])


def test_a_relative_measure_does_not_say_which_run_of_a_group_is_best() -> None:
    groups = {"r": "g"}
    with pytest.raises(ValueError, match=r"by='NRG@10' is itself relative to other runs"):
        RunContext({"r": {"1": {"a": 1.0}}}, priors=BestOfOtherGroups(by="NRG@10"), groups=groups)


# ---- no value, NaN ------------------------------------------------------------------------------------


class Sometimes(RelativeMeasure):
    """1 for a query whose first judged document is relevant, and no value for others."""

    __name__ = NAME = "Sometimes"
    PRETTY_NAME = "Sometimes"
    SHORT_DESC = "For tests."
    RELATIVE_TO = "chance"
    SUPPORTED_PARAMS: dict[str, Any] = {}

    def score(self, view: Any) -> Any:
        docs = view.documents
        return [1.0 if docs.grade[row] > 0 else float("nan") for row in docs.starts[:-1]]


def test_a_mean_leaves_out_what_has_no_value() -> None:
    runs = {"r": {"1": {"a": 1.0}, "2": {"a": 1.0}}}
    measure = Sometimes()
    context = RunContext(runs)
    assert context.evaluate({"1": {"a": 1}, "2": {"a": 0}}, [measure])["Sometimes"].tolist() == [1.0]
    assert context.evaluate({"1": {"a": 0}}, [measure])["Sometimes"].isna().all()
    values = context.evaluate({"1": {"a": 1}, "2": {"a": 0}}, [measure], perquery=True)["value"]
    assert values.isna().tolist() == [False, True]
    assert aggregate(measure, values.to_numpy()) == 1.0


def test_a_mean_that_is_no_number_is_never_the_best() -> None:
    nan = float("nan")
    groups = {"a": "g", "b": "g", "c": "h", "d": "h", "e": "i", "f": "i"}
    means = {"a": nan, "b": 0.1, "c": 0.2, "d": nan, "e": nan, "f": nan}
    chosen = BestOfOtherGroups.choose(means, groups)
    assert chosen["a"] == ["c", "e"] and chosen["c"] == ["b", "e"] and chosen["f"] == ["b", "c"]
