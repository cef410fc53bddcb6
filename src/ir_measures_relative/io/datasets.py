"""What a dataset of ir_datasets has: runs, judgments, the size of its collection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..messages import kind_of, warn

#: What a dataset may have, in the order in which messages list it.
_PARTS = ("docs", "queries", "qrels", "scoreddocs")


def dataset_of(dataset: Any) -> Any:
    """The ``ir_datasets.Dataset`` that an id, such an object, or a PyTerrier ``irds:`` dataset stands for."""
    import ir_datasets

    if isinstance(dataset, str):
        dataset_id = dataset.removeprefix("irds:")
        try:
            return ir_datasets.load(dataset_id)
        except KeyError:
            import difflib

            similar = difflib.get_close_matches(dataset_id, list(ir_datasets.registry), n=3)
            hint = f"did you mean {' or '.join(map(repr, similar))}? The" if similar else "the"
            raise ValueError(
                f"ir_datasets knows no dataset {dataset_id!r}; {hint} ids are listed at https://ir-datasets.com"
            ) from None
    if hasattr(dataset, "irds_ref"):
        return dataset.irds_ref()
    if isinstance(dataset, ir_datasets.Dataset):
        return dataset
    raise TypeError(f"{kind_of(dataset)} is not a dataset; give an ir_datasets id, or a Dataset")


def scoreddocs_of(dataset: Any) -> list[Any]:
    """The run that comes with a dataset; raises as :func:`qrels_of` does."""
    from tqdm import tqdm

    if not dataset.has_scoreddocs():
        raise ValueError(
            f"{describe(dataset)}; give runs to RunContext(…), or name=None for a context without runs"
        )
    with fetching(dataset):
        rows = tqdm(
            dataset.scoreddocs_iter(), desc="reading scoreddocs", unit="row", disable=None, leave=False
        )
        found = list(rows)
    if len(found) > 1 and len({row.score for row in found}) == 1:
        warn(
            f"the scoreddocs of {name_of(dataset)!r} all have the same score: they say which documents to re-rank, and "
            "not in which order. They are taken in the order of their ids, from the last; re-rank them first, or leave "
            "them out by name=None"
        )
    return found


def is_dataset(given: Any) -> bool:
    """Whether something stands for a dataset of ir_datasets: PyTerrier's or its own, or an id with ``irds:``."""
    if isinstance(given, str):
        return given.startswith("irds:")
    return hasattr(given, "irds_ref") or (hasattr(given, "dataset_id") and hasattr(given, "has_qrels"))


def num_docs_of(dataset: Any, fetch: bool = True) -> int | None:
    """The number of documents; None where there are none, or where it is unknown and may not be fetched."""
    if not dataset.has_docs():
        return None
    known = dataset.docs_metadata().get("count") if hasattr(dataset, "docs_metadata") else None
    if known is None and fetch:
        with fetching(dataset):
            known = dataset.docs_count()
    return None if known is None else int(known)


def grades_of(dataset: Any) -> tuple[int, int] | None:
    """The lowest and the highest label that the dataset's judgments are documented to have; None if it has none."""
    known = list(dataset.qrels_defs()) if dataset.has_qrels() else []
    return (min(known), max(known)) if known and all(isinstance(grade, int) for grade in known) else None


def qrels_of(dataset: Any) -> Any:
    """The judgments of a dataset, in a form that the reader of qrels takes."""
    if dataset is None:
        raise ValueError(
            "qrels=None stands for those of the dataset, folder or track of the context, which has none; give qrels"
        )
    if not dataset.has_qrels():
        raise ValueError(f"{describe(dataset)}; give the qrels yourself")
    if hasattr(dataset, "qrels_columns"):  # of a file, which may name queries without a judgment
        return dataset.qrels_columns()
    with fetching(dataset):
        return list(dataset.qrels_iter())


@contextmanager
def fetching(dataset: Any) -> Iterator[None]:
    """Turns what ir_datasets raises where a download fails into a ConnectionError that says what to do."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        cause = str(error.args[0]) if error.args else type(error).__name__
        raise ConnectionError(
            f"the files of the dataset {name_of(dataset)!r} could not be fetched ({cause}); is there a network? "
            "Without one, ir_datasets finds them where IR_DATASETS_HOME (~/.ir_datasets) holds a copy"
        ) from error


def name_of(dataset: Any) -> str:
    """The id of a dataset, or what stands for one."""
    return id_of(dataset) or repr(dataset)


def id_of(dataset: Any) -> str | None:
    """The id of a dataset; None where it has none."""
    return str(dataset.dataset_id()) if hasattr(dataset, "dataset_id") else None


def describe(dataset: Any) -> str:
    """What a dataset has and what it lacks, in words."""
    has = [part for part in _PARTS if dataset.has(part)]
    lacks = [part for part in _PARTS if part not in has]
    return (
        f"the dataset {name_of(dataset)!r} has {', '.join(has) or 'nothing'}, but no {' and no '.join(lacks)}"
    )
