"""Parquet with the columns of a DataFrame, or LensKit's: a list of items a user, with its order."""

from __future__ import annotations

import io
from typing import Any

from ..io.files import max_unpacked, too_large
from ..io.readers import Given
from .content import Content, Format, Parts
from .objects import items_as_columns, labelled_items


def _read(data: bytes, source: str) -> Any:
    """The DataFrame in the content of a Parquet file."""
    import pandas as pd

    limit = max_unpacked(len(data))
    try:
        from pyarrow.parquet import read_metadata

        if _stated_size(read_metadata(io.BytesIO(data))) <= limit:
            # In one thread: those of a process that ends at once may take it down with them.
            frame = pd.read_parquet(io.BytesIO(data), engine="pyarrow", use_threads=False, pre_buffer=False)
            for _, column in frame.items():
                of_arrow = isinstance(column.dtype, (pd.StringDtype, pd.ArrowDtype))
                if of_arrow and hasattr(column.array, "__arrow_array__"):
                    column.array.__arrow_array__().validate(full=True)  # UTF-8, which nobody has looked at
            return frame
    except ImportError:
        raise ImportError(f"{source} is a Parquet file, which needs pyarrow: pip install pyarrow") from None
    except Exception as error:  # pyarrow's own errors, of which some are of no other kind
        from pyarrow.lib import ArrowException

        of_pandas = "what pandas wrote beside the columns does not fit them"
        why = error if isinstance(error, (ArrowException, OSError)) else of_pandas
        raise ValueError(
            f"{source}: the Parquet file is truncated or damaged ({why}); fetch it again"
        ) from None
    raise ValueError(too_large(source, "the Parquet file", len(data), limit))


def _stated_size(metadata: Any) -> int:
    """How many bytes a Parquet file says it unpacks to, 8 for every cell: pyarrow has no limit of its own."""
    pages = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    return int(pages + 8 * metadata.num_rows * metadata.num_columns)


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
    frame = _read(content.data, content.source)
    if not _is_of_lenskit(frame):
        return {"": Given(frame)}
    return {"": Given(items_as_columns(_flat(frame), content.source), kind="table of items")}


def _judgments(content: Content) -> Parts:
    frame = _read(content.data, content.source)
    if not _is_of_lenskit(frame):
        return {"": Given(frame)}
    return {"": Given(labelled_items(_flat(frame), content.source), kind="table of items")}


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
