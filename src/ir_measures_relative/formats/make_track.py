"""Making a track of the runs of a context."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import check_count
from ..context.collection import judged_collection
from ..context.run_context import DESCRIPTIONS, RunContext
from ..data.arrays import IntArray, object_array
from ..data.documents import Documents, Judgments
from ..data.ids import Ids
from ..data.rankings import Rankings, known_depth
from ..io.qrels import Qrels
from ..messages import brief, few_quoted
from ..writing import write_whole
from .track_file import ABOUT, ARRAYS, FORMAT, VERSION, hash_track, npy_header

_COMPRESSION, _DEPTH = 5, 100
_NOTHING = np.empty(0, dtype=np.int64)


@DESCRIPTIONS.register("save track")
def save_track(
    context: RunContext,
    path: str | os.PathLike[str],
    qrels: Qrels,
    depth: int | None,
    about: Mapping[str, str],
) -> str:
    """:meth:`RunContext.save_track`."""
    if depth is None:
        depth = known_depth(context.runs.values(), _DEPTH) if context.track is None else context.track.depth
    meta, arrays = _pack(context, qrels, depth, about)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        _add_member(file, "track.json", json.dumps(meta, ensure_ascii=False, indent=1).encode())
        for name, array in arrays.items():
            _add_member(file, f"{name}.npy", npy_header(ARRAYS[name][0], len(array)) + array.tobytes())
    write_whole(path, lambda temporary: Path(temporary).write_bytes(data.getvalue()))
    return hash_track(meta, arrays)


def track_sha256(context: RunContext, qrels: Qrels, depth: int, about: Mapping[str, str]) -> str:
    """Return the sha256 of the track that would be saved."""
    return hash_track(*_pack(context, qrels, depth, about))


def _add_member(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name)  # dated 1980, so that the same track is the same file
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    file.writestr(info, content, compresslevel=_COMPRESSION)


def _pack(
    context: RunContext, qrels: Qrels, depth: int | None, about: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the content of ``track.json``, and the arrays."""
    check_count("depth", depth, 1)
    assert depth is not None
    for key, text in about.items():
        if key not in ABOUT or not isinstance(text, str) or not text:
            raise ValueError(f"{key}={brief(text)} is not allowed; a track says by texts {few_quoted(ABOUT)}")
    docs = _listed_documents(context, qrels)
    runs = dict(context.runs)
    unranked = [name for name, run in runs.items() if not (docs.match_queries(run) >= 0).any()]
    if unranked or not runs:
        problem = f"run {unranked[0]!r} has no ranking for a topic of the track" if runs else "it has no run"
        raise ValueError(
            f"the context cannot become a track: {problem}; leave it out, or give other judgments"
        )
    aspects, labels = _pack_labels(docs, has_dataset="dataset" in about)
    arrays = _pack_rankings(list(runs.values()), docs, int(depth)) | labels
    arrays = {name: _cast(name, arrays[name], kind) for name, (kind, _) in ARRAYS.items()}
    unanswered = {name: set(run.asked).difference(run.query_ids) for name, run in runs.items()}
    empty = {name: [q for q in docs.query_ids if q in queries] for name, queries in unanswered.items()}
    return {
        "format": FORMAT,
        "version": VERSION,
        "depth": int(depth),
        "runs": list(runs),
        "topics": docs.query_ids.tolist(),
        "groups": dict(context.groups),
        "grades": None if context.grades is None else list(context.grades),
        "num_docs": context.num_docs,
        "drop_self": context.drop_self,
        "empty": {name: queries for name, queries in empty.items() if queries},
        "aspects": aspects,
        "about": dict(about),
        "counts": {count: len(arrays[name]) for name, (_, count) in ARRAYS.items()},
    }, arrays


def _listed_documents(context: RunContext, qrels: Qrels) -> Judgments:
    """Return the judgments; if there are none, the topics of the runs without judged documents."""
    if qrels is not None or (context.dataset is not None and context.dataset.has_qrels()):
        return judged_collection(context, qrels).judgments
    topics = dict.fromkeys(query for run in context.runs.values() for query in run.query_ids)
    return Judgments.empty(object_array(topics))


def _pack_labels(docs: Judgments, has_dataset: bool) -> tuple[list[str], dict[str, IntArray]]:
    """Return the aspects, and the arrays of grades; empty ones where a dataset has the judgments."""
    names = ("grades", "labels", "label_document", "label_aspect", "label_grade")
    arrays = dict.fromkeys(names, _NOTHING)
    if has_dataset:
        return [], arrays
    arrays["grades"] = docs.grade
    labels = docs.labels
    if labels is None:
        return [], arrays
    texts = labels.aspect_ids().strings().tolist()
    number_of_aspect = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    arrays["labels"] = np.bincount(labels.query, minlength=docs.n_queries)
    arrays["label_document"] = docs.find_rows(labels.query, labels.ids) - docs.starts[labels.query]
    arrays["label_aspect"] = np.array([number_of_aspect[text] for text in texts], dtype=np.int64)
    arrays["label_grade"] = labels.grade
    return list(number_of_aspect), arrays


def _cast(name: str, array: IntArray, kind: str) -> Any:
    cast = array.astype(kind)
    if (cast != array).any():
        many = "more than 65,536 documents of a topic; set a smaller depth="
        problem = {"id_lengths": "an id of more than 65,535 bytes", "heads": many}.get(
            name, f"too large {name}"
        )
        raise ValueError(f"the context cannot become a track: it has {problem}")
    return cast


def _pack_rankings(runs: Sequence[Rankings], docs: Documents, depth: int) -> dict[str, IntArray]:
    """Return the arrays of rankings and ids; each topic has the listed documents, then others in the heads."""
    tops = [run.top(depth) for run in runs]
    topics = [docs.match_queries(run) for run in runs]  # of each ranking; -1 for one that is left out
    lengths = np.zeros((len(runs), docs.n_queries), dtype=np.int64)
    for length, topic, run in zip(lengths, topics, runs, strict=True):
        length[topic[topic >= 0]] = run.lengths[topic >= 0]
    queries = [topic[top.query] for topic, top in zip(topics, tops, strict=True)]
    # The rows of the heads, run by run, in the order of the track's topics.
    rows = [np.flatnonzero(query >= 0) for query in queries]
    rows = [row[np.argsort(query[row], kind="stable")] for row, query in zip(rows, queries, strict=True)]
    query = np.concatenate([query[row] for query, row in zip(queries, rows, strict=True)])
    ids = Ids.joined([top.ids.take(row) for top, row in zip(tops, rows, strict=True)])
    listed_row = docs.find_rows(query, ids)
    is_other = listed_row < 0
    other_query, other_ids = query[is_other], ids.take(is_other)
    others = _without_repeats(docs, other_query, other_ids)
    n_listed, n_others = (np.bincount(part.query, minlength=docs.n_queries) for part in (docs, others))
    # The number of each document in its topic: the listed ones come first.
    number = listed_row - docs.starts[query]
    other_row = others.find_rows(other_query, other_ids)
    number[is_other] = n_listed[other_query] + other_row - others.starts[other_query]
    all_ids = Ids.joined([docs.followed_by(others).ids])
    return {
        "id_bytes": all_ids.data[: int(all_ids.lengths.sum())],
        "id_lengths": all_ids.lengths,
        "listed": n_listed,
        "others": n_others,
        "lengths": lengths.ravel(),
        "heads": number,
    } | _pack_below_heads(runs, docs, depth)


def _without_repeats(docs: Documents, query: IntArray, ids: Ids) -> Documents:
    """Return the documents without repeats, sorted by topic, then by id."""
    order = ids.descending(query)[::-1] if len(ids) else _NOTHING
    order = order[np.argsort(query[order], kind="stable")]
    rows = Documents(docs.query_ids, query[order], ids.take(order), np.zeros(len(order), dtype=np.int64))
    is_first = np.ones(len(rows), dtype=bool)
    is_first[rows.repeats()[0]] = False
    return rows.select(is_first)


def _pack_below_heads(runs: Sequence[Rankings], docs: Documents, depth: int) -> dict[str, IntArray]:
    """Return the arrays of the listed documents below the heads, ranking by ranking."""
    counts, document, position = [_NOTHING], [_NOTHING], [_NOTHING]
    for run in runs:
        positions = docs.positions_in(run)
        rows = np.flatnonzero(positions > depth)
        rows = rows[np.lexsort((positions[rows], docs.query[rows]))]
        counts.append(np.bincount(docs.query[rows], minlength=docs.n_queries))
        document.append(rows - docs.starts[docs.query[rows]])
        position.append(positions[rows])
    return {
        "below": np.concatenate(counts),
        "below_document": np.concatenate(document),
        "below_position": np.concatenate(position),
    }
