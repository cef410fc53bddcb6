"""What an experiment knows of missing topics: which were asked, of pipelines; of results that are given, nothing."""

import warnings
from typing import Any

import pytest
from ir_measures import P

from experiments import TREE, Given, judged, pt, ranked, topics_of
from ir_measures_relative import NRG, RelativeWarning, RunContext, compare

TOPICS = [f"{q}" for q in range(1, 13)]
QRELS = judged({q: {"a": 1, "b": 0} for q in TOPICS})
FRAMES = ranked(
    {
        "all": {q: {"a": 2.0, "b": 1.0} for q in TOPICS},
        "half": {q: {"b": 2.0, "a": 1.0} for q in TOPICS[::2]},
    }
)
PIPELINES = {name: Given(frame) for name, frame in FRAMES.items()}


@pytest.mark.parametrize(
    ("options", "measure"),
    [({}, P @ 2), *((o, NRG @ 2) for o in ({"batch_size": 5}, TREE, {"filter_by_topics": False}))],
)
def test_no_result_for_a_topic_is_an_answer(options: dict[str, Any], measure: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RelativeWarning)
        pt.relative.Experiment(PIPELINES, topics_of(*TOPICS), QRELS, [measure], **options)
        context = RunContext.from_pipelines(PIPELINES, topics_of(*TOPICS))
        compare(context, QRELS, [measure], test="sign")
        with context:
            pt.Experiment(pt.relative.named(PIPELINES), topics_of(*TOPICS), QRELS, [measure], **options)


@pytest.mark.parametrize("measure", [NRG @ 2, P @ 2])
def test_given_results_may_be_cut(measure: Any) -> None:
    with pytest.warns(
        RelativeWarning, match="run 'half' has no ranking for 6 of the 12 judged topics"
    ) as said:
        table = pt.relative.Experiment(FRAMES, topics_of(*TOPICS), QRELS, [measure])
    assert len(said) == 1 and table["name"].tolist() == list(FRAMES)
    with pytest.raises(ValueError, match="'half' has no ranking for 6 of the 12"):
        compare(RunContext(FRAMES), QRELS, [measure])


def test_topics_whose_ids_agree_in_part() -> None:
    topics = topics_of("1", "2", *(f"0{q}" for q in TOPICS[2:]))
    with pytest.warns(
        RelativeWarning, match="2 of the 12 topics are judged; 10 of these ids .* the topics have '010'"
    ):
        pt.relative.Experiment(PIPELINES, topics, QRELS, [NRG @ 2])
