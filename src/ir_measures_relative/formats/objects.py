"""Objects of other libraries that hold runs or judgments; known by what they can do, and their libraries not imported.

ranx's ``Run`` and ``Qrels``, trectools' ``TrecRun`` and ``TrecQrel``, LensKit's ``ItemListCollection``.
"""

from __future__ import annotations

from typing import Any

from ..io.frames import is_frame
from ..io.readers import OBJECTS, Given
from ..messages import warn
from .content import codes_of, keeping_order


@OBJECTS.register("ranx")
def _ranx(value: Any, source: str, *, as_run: bool) -> Given | None:
    if not (hasattr(value, "get_doc_ids_and_scores") and hasattr(value, "to_dict")):
        return None
    if hasattr(value, "qrels") == as_run:
        name = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
        remedy = "judgments; give a ranx.Run as a run" if as_run else "a run; give a ranx.Qrels as judgments"
        raise ValueError(f"{source}: a {name} holds {remedy}")
    return Given(value.to_dict(), tag=value.name if as_run and isinstance(value.name, str) else None)


@OBJECTS.register("trectools")
def _trectools(value: Any, source: str, *, as_run: bool) -> Given | None:
    """From trectools, which reads topics such as 401 as numbers: they count as their digits."""
    held = "run_data" if as_run else "qrels_data"
    if not hasattr(value, held):
        return None
    frame, kind = getattr(value, held), type(value).__name__
    if not is_frame(frame):
        raise ValueError(f"{source}: the {kind} holds no data; let it read a file first")
    if "query" in frame.columns and frame["query"].dtype.kind in "iu":
        frame = frame.assign(query=frame["query"].astype(str))
    return Given(frame, kind=kind, columns=tuple(map(str, frame.columns)))


@OBJECTS.register("LensKit")
def _lenskit(value: Any, source: str, *, as_run: bool) -> Given | None:
    """From LensKit, whose users and items often are numbers, as in MovieLens: they count as their digits."""
    if not (hasattr(value, "key_fields") and hasattr(value, "to_df")):
        return None
    fields = list(value.key_fields)
    if len(fields) != 1:
        raise ValueError(
            f"{source}: the lists of the ItemListCollection have the keys {fields}; a query has one id: give a "
            "collection with one key"
        )
    frame = value.to_df().rename(columns={fields[0]: "query_id"})
    frame = items_as_columns(frame, source, _are_ordered(value)) if as_run else labelled_items(frame, source)
    return Given(frame, kind="ItemListCollection", columns=tuple(frame.columns))


def _are_ordered(collection: Any) -> bool:
    """Whether all lists of an ItemListCollection have an order of their own, which LensKit's metrics go by."""
    return all(items.ordered for items in collection.lists())


def items_as_columns(frame: Any, source: str, ordered: bool = True) -> Any:
    """A run of LensKit's rows under our names: its order is kept, ties included, where it has ranks."""
    frame = _with_ids(frame, source)
    if "rank" not in frame.columns or not ordered:
        return frame
    scores = frame["score"].tolist() if "score" in frame.columns else None
    kept = keeping_order(codes_of(frame["query_id"]), frame["rank"].to_numpy(dtype=float), scores)
    return frame.assign(score=kept)


def labelled_items(frame: Any, source: str) -> Any:
    """Judgments of LensKit's rows under our names: ratings are labels; without any, what is listed is relevant."""
    frame = _with_ids(frame, source)
    if {"relevance", "label"} & set(frame.columns):
        return frame
    if "rating" in frame.columns:
        make = "make labels of them, such as frame['relevance'] = (frame['rating'] >= 4).astype(int)"
        if (frame["rating"] % 1 != 0).any():
            raise ValueError(
                f"{source}: the lists hold ratings that are no whole numbers, and no labels; {make}"
            )
        warn(
            f"{source}: ratings count as relevance labels, and any above 0 is relevant; if low ratings are not, {make}"
        )
        return frame.assign(relevance=frame["rating"])
    if "score" in frame.columns:
        raise ValueError(
            f"{source}: the lists hold scores and no labels, as a run does; give the lists of what is relevant"
        )
    return frame.assign(relevance=1)  # as LensKit's metrics have it


def _with_ids(frame: Any, source: str) -> Any:
    """LensKit's rows with the columns query_id and doc_id; ids that are numbers count as their digits."""
    keys = [c for c in ("query_id", "user_id", "qid", "user") if c in frame.columns]
    if not keys or "item_id" not in frame.columns:
        raise ValueError(f"{source}: a table of items needs user_id (or query_id) and item_id")
    frame = frame.rename(columns={keys[0]: "query_id", "item_id": "doc_id"})
    numbers = [c for c in ("query_id", "doc_id") if frame[c].dtype.kind in "iu"]
    return frame.assign(**{c: frame[c].astype(str) for c in numbers})
