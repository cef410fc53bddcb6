"""What is read of a file, as plain dicts."""

from typing import Any

from ir_measures_relative.io.qrels import make_judgments, read_qrels_file
from ir_measures_relative.io.runs import read_run


def rankings(run: Any) -> dict[str, list[str]]:
    """The documents of each query, in their order."""
    return {query: list(docs) for query, docs in read_run(run).to_dict().items()}


def scores(path: Any) -> dict[str, dict[str, float]]:
    run = read_run(path)
    query, docs, values = run.rows()
    return _nested(run.query_ids[query].tolist(), docs.strings().tolist(), values.tolist())


def labels(path: Any) -> dict[str, dict[str, int]]:
    judged = make_judgments(read_qrels_file(path))
    return _nested(
        judged.query_ids[judged.query].tolist(), judged.ids.strings().tolist(), judged.grade.tolist()
    )


def _nested(queries: list[str], docs: list[str], values: list[Any]) -> dict[str, dict[str, Any]]:
    result: dict[str, dict[str, Any]] = {}
    for query, doc, value in zip(queries, docs, values, strict=True):
        result.setdefault(query, {})[doc] = value
    return result
