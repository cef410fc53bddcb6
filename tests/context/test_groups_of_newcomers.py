"""What a new run's group does where the priors were chosen before, or the group cannot be read."""

from __future__ import annotations

import pandas as pd
import pytest

from ir_measures_relative import RelativeWarning, RunContext, UniqueRel
from ir_measures_relative.context.priors import BestOfOtherGroups

RUNS = {
    "a1": {"q": {"A": 2.0, "B": 1.0}},
    "a2": {"q": {"C": 2.0, "B": 1.0}},
    "b1": {"q": {"D": 2.0, "E": 1.0}},
}
GROUPS = {"a1": "a", "a2": "a", "b1": "b"}
LABELS = {"q": dict.fromkeys("ACDE", 1)}
NEW = pd.DataFrame({"query_id": "q", "doc_id": ["A", "C"], "score": [2.0, 1.0]})
MEANS = {"a1": 0.5, "a2": 0.4, "b1": 0.3}


def unique(context: RunContext, run: pd.DataFrame) -> float:
    with context:
        return (UniqueRel @ 2).calc_aggregate(LABELS, run)


def test_priors_chosen_before_know_the_groups() -> None:
    context = RunContext(RUNS, priors=BestOfOtherGroups.choose(MEANS, GROUPS), groups=GROUPS)
    assert unique(context, NEW.assign(group="a")) == 2  # of b1 alone
    assert unique(context, NEW.assign(group="b")) == 1  # of a1
    assert unique(context, NEW) == 0  # every run
    with context.evaluating(group="b"):
        assert (UniqueRel @ 2).calc_aggregate(LABELS, NEW) == 1


@pytest.mark.parametrize("column", [["a", "b"], ["a", None], [None, None], [1, 1], ["", ""]])
def test_a_column_that_names_no_group(column: list[object]) -> None:
    context = RunContext(RUNS, priors=BestOfOtherGroups(), groups=GROUPS)
    with pytest.warns(RelativeWarning, match="column 'group' does not hold one name in all rows"):
        assert unique(context, NEW.assign(group=column)) == 0
    assert unique(RunContext(RUNS), NEW.assign(group=column)) == 0  # where no group is asked for it is data


@pytest.mark.parametrize("group", [1, None, ""])
def test_groups_have_names(group: object) -> None:
    with pytest.raises(ValueError, match=r"groups\['b1'\]=.* must be the name of a group"):
        RunContext(RUNS, groups={**GROUPS, "b1": group})  # type: ignore[dict-item]


def test_rounding_does_not_choose() -> None:
    """Means that differ by the order of a sum are equal, and the run given first is the best of its group."""
    for means in ({"a1": 0.3, "a2": 0.1 + 0.2, "b1": 0.1}, {"a1": 0.1 + 0.2, "a2": 0.3, "b1": 0.1}):
        assert BestOfOtherGroups.choose(means, GROUPS) == {"a1": ["b1"], "a2": ["b1"], "b1": ["a1"]}
