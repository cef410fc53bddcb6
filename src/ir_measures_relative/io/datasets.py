"""Datasets of ir_datasets: their runs, their judgments, the size of their collections."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..messages import kind_of, warn


def load_dataset(dataset: Any) -> Any:
    """Return the ``ir_datasets.Dataset`` of an id, of such an object, or of a PyTerrier ``irds:`` dataset."""
    import ir_datasets

    if isinstance(dataset, str):
        irds_id = dataset.removeprefix("irds:")
        try:
            return ir_datasets.load(irds_id)
        except KeyError:
            import difflib

            similar = difflib.get_close_matches(irds_id, list(ir_datasets.registry), n=3)
            hint = f"did you mean {' or '.join(map(repr, similar))}? The" if similar else "the"
            raise ValueError(
                f"ir_datasets knows no dataset {irds_id!r}; {hint} ids are listed at https://ir-datasets.com"
            ) from None
    if hasattr(dataset, "irds_ref"):
        return dataset.irds_ref()
    if isinstance(dataset, ir_datasets.Dataset):
        return dataset
    raise TypeError(f"{kind_of(dataset)} is not a dataset; give an ir_datasets id, or a Dataset")


def fetch_scoreddocs(dataset: Any) -> list[Any]:
    """Return the rows of the run that comes with a dataset; raise ValueError where there is none."""
    from tqdm import tqdm

    if not dataset.has_scoreddocs():
        raise ValueError(
            f"{describe(dataset)}; give runs to RunContext(…), or name=None for a context without runs"
        )
    with fetching(dataset):
        docs = dataset.scoreddocs_iter()
        rows = list(tqdm(docs, desc="reading scoreddocs", unit="row", disable=None, leave=False))
    if len(rows) > 1 and len({row.score for row in rows}) == 1:
        warn(
            f"the scoreddocs of {dataset_name(dataset)!r} all have the same score: they say which documents to "
            "re-rank, and not in which order. They are taken in the order of their ids, from the last; re-rank them "
            "first, or leave them out by name=None"
        )
    return rows


def is_dataset(given: Any) -> bool:
    """Whether a value is a dataset of ir_datasets or of PyTerrier, or an id with ``irds:``."""
    if isinstance(given, str):
        return given.startswith("irds:")
    return hasattr(given, "irds_ref") or (hasattr(given, "dataset_id") and hasattr(given, "has_qrels"))


def count_docs(dataset: Any, fetch: bool = True) -> int | None:
    """Return the number of documents; None without documents, or where it is unknown and may not be fetched."""
    if not dataset.has_docs():
        return None
    count = dataset.docs_metadata().get("count") if hasattr(dataset, "docs_metadata") else None
    if count is None and fetch:
        with fetching(dataset):
            count = dataset.docs_count()
    return None if count is None else int(count)


def documented_grades(dataset: Any) -> tuple[int, int] | None:
    """Return the lowest and the highest grade in the documentation of a dataset; None where it documents none."""
    grades = list(dataset.qrels_defs()) if dataset.has_qrels() else []
    return (min(grades), max(grades)) if grades and all(isinstance(grade, int) for grade in grades) else None


def fetch_qrels(dataset: Any) -> Any:
    """Return the judgments of a dataset, in a form that :func:`.qrels.qrels_columns` reads."""
    if dataset is None:
        raise ValueError(
            "qrels=None stands for those of the dataset, folder or track of the context, which has none; give qrels"
        )
    if not dataset.has_qrels():
        raise ValueError(f"{describe(dataset)}; give the qrels yourself")
    if hasattr(dataset, "qrels_columns"):  # a file, which may name queries without a judgment
        return dataset.qrels_columns()
    with fetching(dataset):
        return list(dataset.qrels_iter())


@contextmanager
def fetching(dataset: Any) -> Iterator[None]:
    """Turn the errors of a failed download into a ConnectionError that says what to do."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        cause = str(error.args[0]) if error.args else type(error).__name__
        raise ConnectionError(
            f"the files of the dataset {dataset_name(dataset)!r} could not be fetched ({cause}); is there a network? "
            "Without one, ir_datasets finds them where IR_DATASETS_HOME (~/.ir_datasets) holds a copy"
        ) from error


def dataset_name(dataset: Any) -> str:
    """Return the id of a dataset, or its representation where it has none."""
    return dataset_id(dataset) or repr(dataset)


def dataset_id(dataset: Any) -> str | None:
    """Return the id of a dataset; None where it has none."""
    return str(dataset.dataset_id()) if hasattr(dataset, "dataset_id") else None


def describe(dataset: Any) -> str:
    """Describe which parts a dataset has, and which it lacks."""
    parts = ("docs", "queries", "qrels", "scoreddocs")
    has = [part for part in parts if dataset.has(part)]
    lacks = [part for part in parts if part not in has]
    has_some = f"{', '.join(has)}, but " if has else ""
    return f"the dataset {dataset_name(dataset)!r} has {has_some}no {' and no '.join(lacks)}"
