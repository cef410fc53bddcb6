"""Every two runs of a context: the table, its values, several processes."""

import zlib
from typing import Any

import numpy as np
import pytest
from ir_measures import nDCG

from ir_measures_relative import MED, RBO, RunContext, UniqueRel, rrLP, similarity
from ir_measures_relative.decisions.similarity import inner_range
from random_campaigns import graded_campaign

RUNS, QRELS = graded_campaign(20, runs=5, topics=6)
CONTEXT = RunContext(RUNS)


def hash_of(*key: object) -> int:
    return zlib.crc32(repr(key).encode()) % 1000


APART = RunContext(
    {name: {query: {"A": 1.0}} for name, query in (("a", "q"), ("b", "other"), ("c", "third"))}
)


def test_values_are_those_of_evaluate_with_each_run_for_reference() -> None:
    measures = [MED @ 10, rrLP]
    found = similarity(CONTEXT, QRELS, measures, perquery=True)
    assert len(found) == 10 * 6 * 2
    for other in CONTEXT.names:
        expected = CONTEXT.evaluate(QRELS, [m(ref=other) for m in measures], perquery=True)
        bare = {str(m(ref=other)): str(m) for m in measures}
        expected["measure"] = expected["measure"].map(bare)
        both = found[found["other"] == other].merge(expected, on=["name", "query_id", "measure"])
        assert len(both) == (found["other"] == other).sum()
        assert (both["value_x"] == both["value_y"]).all()


def test_means_and_distances() -> None:
    table = similarity(CONTEXT, QRELS, ["rrLP"])
    long = similarity(CONTEXT, QRELS, ["rrLP"], perquery=True)
    for row in table.itertuples():
        values = long[(long["name"] == row.name) & (long["other"] == row.other)]["value"]
        assert row.value == pytest.approx(values.mean(), abs=1e-15)
        assert row.distance == pytest.approx(values.abs().mean(), abs=1e-15)
    assert (table["distance"] > table["value"].abs() + 0.01).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"measures": [nDCG @ 10]}, "nDCG@10 does not compare two runs; use one of"),
        ({"measures": [UniqueRel @ 10]}, "UniqueRel@10 does not compare two runs"),
        ({"measures": [rrLP(ref="r0")]}, "leave ref= out"),
        ({"measures": [rrLP], "qrels": None}, "rrLP needs judgments"),
        ({"context": RunContext({"r0": RUNS["r0"]})}, "two runs or more"),
        (
            {"context": RunContext({"a": {}, "b": {}}), "qrels": None, "measures": [RBO]},
            "the runs hold no ranking",
        ),
        ({"context": APART, "qrels": None, "measures": [RBO]}, r"no query is in two.*'a' has \['q'\]"),
    ],
)
def test_what_it_rejects(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        similarity(**{"context": CONTEXT, "qrels": QRELS} | arguments)


def test_a_scale_of_colours() -> None:
    """All where all but one are equal, and both sides of 0 where values are signed."""
    assert inner_range(np.array([0.4] * 9 + [0.9])) == (0.0, 0.9, "neither")
    assert inner_range(np.array([0.4, 0.5, 0.6, 0.5, 0.4, 9.0])) == (0.4, 0.6, "max")
    assert inner_range(np.array([0.4, 0.5, 0.6, 0.5, 0.4, -9.0, 9.0])) == (0.4, 0.6, "both")
    assert inner_range(np.array([0.4, 0.5, 0.6, 0.5, 0.4, 0.95])) == (0.4, 0.95, "neither")
    values = np.array([-0.5, -0.3, 0.1, 0.2])
    assert inner_range(values) == (-0.5, 0.2, "neither")
    assert inner_range(values, signed=True) == (-0.5, 0.5, "neither")
