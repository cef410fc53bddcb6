"""``pt.relative.record``: a retriever that records every search of an agent."""

from __future__ import annotations

import os
import threading
from typing import NoReturn

import pandas as pd
import pyterrier as pt

_COLUMNS = ["qid", "search", "query", "docno", "rank", "score"]


class Recorder(pt.Transformer):  # type: ignore[misc]
    """A transformer that passes results through unchanged, and records them for ``pt.relative.trajectory``.

    Search numbers of a topic continue if an experiment runs twice; ``clear()`` starts again. Threads may share it.

    Args:
        retriever: what the agent searches with, such as ``bm25 % 10``. An agent that calls ``search(text)`` must set
            ``qid=``, which is "1" by default.
        topic: the column of the queries that names the trajectory; set one where the agent changes ``qid``.

    Example:
        >>> recorded = pt.relative.record(bm25 % 10)               # doctest: +SKIP
        >>> agent(recorded)(topics)                                # doctest: +SKIP
        >>> pt.relative.trajectory(recorded.searches, qrels)       # doctest: +SKIP
    """

    def __init__(self, retriever: pt.Transformer, topic: str = "qid") -> None:
        self.retriever, self.topic = retriever, topic
        self._lock, self._process = threading.Lock(), os.getpid()
        self.clear()

    def clear(self) -> None:
        """Forget all searches."""
        self._searches: list[pd.DataFrame] = []
        self._numbers: dict[str, int] = {}

    @property
    def searches(self) -> pd.DataFrame:
        """Columns: ``qid`` (the trajectory), ``search``, ``query``, ``docno`` ("" if empty), ``rank``, ``score``."""
        with self._lock:
            return pd.concat(self._searches or [pd.DataFrame(columns=_COLUMNS)], ignore_index=True)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return what the retriever returns.

        Raises:
            ValueError: queries without the column that names their trajectory.
            RuntimeError: in another process, whose searches would be lost.
        """
        if os.getpid() != self._process:
            self._refuse()
        results = self.retriever(inp)
        if len(inp):
            self._remember(inp, results)
        return results

    def _remember(self, queries: pd.DataFrame, results: pd.DataFrame) -> None:
        if missing := {"qid", self.topic} - set(queries.columns):
            raise ValueError(
                f"record: the queries have no column {', '.join(sorted(missing))}; set topic= to the column "
                "that names the trajectory"
            )
        with self._lock:
            rankings = dict(iter(results.groupby("qid"))) if len(results) else {}
            queries = queries.drop_duplicates("qid")
            texts = queries["query"] if "query" in queries.columns else [""] * len(queries)
            for qid, trajectory, text in zip(queries["qid"], queries[self.topic], texts, strict=True):
                number = self._numbers[trajectory] = self._numbers.get(trajectory, 0) + 1
                ranking = rankings.get(qid, pd.DataFrame({"docno": [""], "score": [0.0]}))
                ranking = ranking.sort_values("rank" if "rank" in ranking.columns else "score", kind="stable")
                if "rank" not in ranking.columns:
                    ranking = ranking[::-1]
                row = {"qid": trajectory, "search": number, "query": text, "rank": range(len(ranking))}
                self._searches.append(ranking[["docno", "score"]].assign(**row)[_COLUMNS])

    def __getstate__(self) -> NoReturn:
        self._refuse()

    @staticmethod
    def _refuse() -> NoReturn:
        raise RuntimeError(
            "pt.relative.record remembers the searches of one process, and those of another would be lost: run the "
            "experiment without jobs, or record in each process and join the tables"
        )


record = Recorder
