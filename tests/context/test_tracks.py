"""A track answers as the runs that it was made of, to the last bit, or says what it does not know."""

from __future__ import annotations

import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

from ir_measures_relative import RunContext

REFUSED = re.compile(
    r"needs (whole rankings|the first \d+ documents)|does not know where|knows nothing of topic|has positions and no"
)
OF_HOST = [
    *(
        "nDCG@3",
        "nDCG",
        "AP",
        "AP@2",
        "P@3",
        "R@2",
        "RR",
        "Rprec",
        "Success@2",
        "Bpref",
        "Judged@3",
        "infAP",
        "NumRet",
    ),
    *(
        "NumRel",
        "IPrec@0.1",
        "ERR@3",
        "RBP(rel=1)@3",
        "nDCG(judged_only=True)@3",
        "SetP",
        "SetF",
        "Compat(p=0.8)",
    ),
]


def tracked(context: RunContext, labels: Any, depth: int = 100, **options: Any) -> RunContext:
    """The context as a track, written and read."""
    with tempfile.TemporaryDirectory() as folder:
        context.save_track(Path(folder, "a.track"), labels, depth)
        return RunContext.from_track(Path(folder, "a.track"), **options)


def values(context: RunContext, labels: Any, measure: Any) -> Any:
    """The values of every run, or the message of the refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return context.evaluate(labels, [measure], perquery=True)
        except ValueError as error:
            return str(error)


def is_exact_to(measure: Any, depth: int) -> bool:
    """Whether a measure looks no deeper than a cutoff of at most this depth."""
    params = measure.params
    reads_all = params.get("judged_only") or params.get("pool") == "run" or params.get("base") == "RBP"
    return params.get("cutoff") is not None and params["cutoff"] <= depth and not reads_all


def agree(runs: RunContext, track: RunContext, labels: Any, measure: Any, depth: int) -> bool:
    """Compare the values; whether there are any, rather than a refusal."""
    expected, found = values(runs, labels, measure), values(track, labels, measure)
    if isinstance(expected, str) or isinstance(found, str):
        is_same = isinstance(expected, str) and isinstance(
            found, str
        )  # which runs of the topic's others may differ
        refused = isinstance(found, str) and REFUSED.search(found)
        refused = refused and ("knows nothing" in found or not is_exact_to(measure, depth))
        assert is_same or refused, (measure, expected, found)
        return False
    assert found["value"].to_numpy().tobytes() == expected["value"].to_numpy().tobytes(), (
        measure,
        expected,
        found,
    )
    assert found.drop(columns="value").equals(expected.drop(columns="value"))
    return True
