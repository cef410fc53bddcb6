"""``pt.Experiment`` and ``pt.relative.Experiment`` of one campaign; what imports this is skipped without PyTerrier."""

import time
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from ir_measures import nDCG

from ir_measures_relative import NRG, P_Rareness, RunContext, UniqueRel

pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")

MEASURES = [nDCG @ 10, NRG @ 10, P_Rareness @ 10, UniqueRel @ 5]
NAMES = ["one", "two", "three", "four"]
TREE = {"plan": "tree", "verbose": False}


class Given(pt.Transformer):
    """A pipeline that notes its queries, and answers with rows of a frame in their order there."""

    def __init__(self, frame: pd.DataFrame, seconds: float = 0.0) -> None:
        self.frame, self.seconds = frame, seconds
        self.queries: list[str] = []

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        time.sleep(self.seconds)
        self.queries += inp["qid"].tolist()
        return self.frame[self.frame["qid"].isin(inp["qid"])].reset_index(drop=True)

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        return list(self.frame.columns)


def ranked(runs: dict[str, dict[str, dict[str, float]]]) -> dict[str, pd.DataFrame]:
    """Runs as PyTerrier has results."""
    rows = {
        n: [(q, "x", d, s) for q, docs in run.items() for d, s in docs.items()] for n, run in runs.items()
    }
    frames = {n: pd.DataFrame(of, columns=["qid", "query", "docno", "score"]) for n, of in rows.items()}
    return {name: pt.model.add_ranks(frame) for name, frame in frames.items()}


def judged(labels: dict[str, dict[str, int]]) -> pd.DataFrame:
    """Judgments as PyTerrier has them."""
    rows = [(q, d, grade) for q, docs in labels.items() for d, grade in docs.items()]
    return pd.DataFrame(rows, columns=["qid", "docno", "label"])


def topics_of(*queries: str) -> pd.DataFrame:
    return pd.DataFrame({"qid": list(queries), "query": "x"})


class Campaign(NamedTuple):
    topics: pd.DataFrame
    qrels: pd.DataFrame
    frames: dict[str, pd.DataFrame]

    def pipelines(self, seconds: float = 0.0) -> dict[str, Given]:
        return {name: Given(frame, seconds) for name, frame in self.frames.items()}

    def relative(self, measures: Any = MEASURES, systems: Any = None, **options: Any) -> Any:
        """``pt.relative.Experiment``, of pipelines where no systems are given."""
        arguments = {"topics": self.topics, "qrels": self.qrels, "eval_metrics": measures} | options
        return pt.relative.Experiment(self.pipelines() if systems is None else systems, **arguments)

    def plain(self, measures: Any = MEASURES, systems: Any = None, **options: Any) -> Any:
        """``pt.Experiment``."""
        given = self.pipelines() if systems is None else systems
        return pt.Experiment(given, self.topics, self.qrels, measures, **options)

    def by_hand(
        self, options: dict[str, Any], measures: Any = MEASURES, systems: Any = None, **context: Any
    ) -> Any:
        """``pt.Experiment`` of named systems, inside a context of the same runs."""
        given = [
            system.assign(name=name)
            if isinstance(system, pd.DataFrame)
            else system >> pt.apply.generic(lambda found, n=name: found.assign(name=n))
            for name, system in (self.pipelines() if systems is None else systems).items()
        ]
        with RunContext(self.frames, **context):
            return self.plain(measures, given, names=NAMES, **{"validate": "ignore"} | options)


@cache
def campaign() -> Campaign:
    """Topics with and without judgments, judgments without topics, and four runs that lack some queries."""
    rng = np.random.default_rng(11)
    docs = [f"d{i}" for i in range(60)]
    topics = topics_of(*(f"q{i}" for i in range(11)))

    def some(n: int) -> list[str]:
        return rng.choice(docs, n, replace=False).tolist()

    labels = {f"q{i}": {d: int(rng.integers(-1, 3)) for d in some(25)} for i in range(2, 13)}
    runs = {
        name: {
            q: {d: float(np.round(rng.normal(), 1)) for d in some(30)}
            for q in topics["qid"]
            if q not in lacking
        }
        for name, lacking in zip(NAMES, (["q4"], [], ["q8", "q9"], []), strict=True)
    }
    return Campaign(topics, judged(labels), ranked(runs))
