"""Parquet with the columns of a DataFrame, or LensKit's: a list of items a user, with its order."""

from __future__ import annotations

from typing import Any

from ..content import Content, Format, Parts
from ..neighbours import Given, items_as_columns, labelled_items


def _flat(frame: Any) -> Any:
    """A row an item, where LensKit keeps a list of items a row."""
    import pandas as pd

    if "items" not in frame.columns:
        return frame
    keys = [c for c in frame.columns if c != "items"]
    rows = [
        (*row[:-1], item)
        for row in frame[[*keys, "items"]].itertuples(index=False)
        for item in (row[-1] if row[-1] is not None else ())
    ]
    items = pd.DataFrame([item for *_, item in rows])
    return pd.concat([pd.DataFrame([row[:-1] for row in rows], columns=keys), items], axis=1)


def _is_of_lenskit(frame: Any) -> bool:
    return "items" in frame.columns or "item_id" in frame.columns


def _runs(content: Content) -> Parts:
    if not _is_of_lenskit(content.frame):
        return {"": Given(content.frame)}
    frame = items_as_columns(_flat(content.frame), content.source)
    return {"": Given(frame, kind="table of items")}


def _judgments(content: Content) -> Parts:
    if not _is_of_lenskit(content.frame):
        return {"": Given(content.frame)}
    frame = _flat(content.frame)
    return {"": Given(labelled_items(frame, content.source), kind="table of items")}


FORMATS = (
    Format(
        name="Parquet",
        told_by="its first bytes",
        holds=lambda content: content.is_parquet,
        runs=_runs,
        judgments=_judgments,
        note="Columns as of a DataFrame. LensKit's lists keep their order.",
        may_be_either=True,
    ),
)
