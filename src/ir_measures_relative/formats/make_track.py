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
from ..work import write_whole
from .track_file import ABOUT, ARRAYS, FORMAT, VERSION, header_of, sha256_of

_LEVEL, _DEPTH = 6, 100


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
    meta, arrays = pack(context, _judgments_for(context, qrels), depth, about)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        _put(file, "track.json", json.dumps(meta, ensure_ascii=False, indent=1).encode())
        for name, array in arrays.items():
            _put(file, f"{name}.npy", header_of(ARRAYS[name][0], len(array)) + array.tobytes())
    write_whole(path, lambda beside: Path(beside).write_bytes(data.getvalue()))
    return sha256_of(meta, arrays)


def track_sha256(context: RunContext, qrels: Qrels, depth: int, about: Mapping[str, str]) -> str:
    """Return the sha256 of the track that would be saved."""
    return sha256_of(*pack(context, _judgments_for(context, qrels), depth, about))


def _put(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name)  # of 1980, so that the same track is the same file
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    file.writestr(info, content, compresslevel=_LEVEL)


def _judgments_for(context: RunContext, qrels: Qrels) -> Judgments:
    """The judgments, or all topics of the runs without any."""
    if qrels is not None or (context.dataset is not None and context.dataset.has_qrels()):
        return judged_collection(context, qrels).judgments
    topics = dict.fromkeys(query for run in context.runs.values() for query in run.query_ids)
    return Judgments.empty(object_array(topics))


def pack(
    context: RunContext, docs: Judgments, depth: int | None, about: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What ``track.json`` says of the runs of a context on judgments, and the arrays."""
    check_count("depth", depth, 1)
    assert depth is not None
    for key, text in about.items():
        if key not in ABOUT or not isinstance(text, str) or not text:
            raise ValueError(f"{key}={brief(text)} is not allowed; a track says by texts {few_quoted(ABOUT)}")
    runs = dict(context.runs)
    ranked = {name: bool((docs.match_queries(run) >= 0).any()) for name, run in runs.items()}
    if not runs or not all(ranked.values()):
        without = [name for name, has in ranked.items() if not has]
        which = f"run {without[0]!r} has no ranking for a topic of the track" if without else "it has no run"
        raise ValueError(f"the context cannot become a track: {which}; leave it out, or give other judgments")
    arrays = _arrays_of(list(runs.values()), docs, int(depth))
    by_aspect = None if "dataset" in about else docs.labels
    texts = [] if by_aspect is None else by_aspect.aspect_ids().strings().tolist()
    aspects = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    has_grades = len(docs) > 0 and "dataset" not in about  # those of the dataset are the dataset's
    arrays["grades"] = docs.grade if has_grades else np.empty(0, dtype=np.int64)
    none = np.empty(0, dtype=np.int64)
    arrays |= dict.fromkeys(("labels", "label_document", "label_aspect", "label_grade"), none)
    if by_aspect is not None:
        row = docs.find_rows(by_aspect.query, by_aspect.ids)
        arrays["labels"] = np.bincount(by_aspect.query, minlength=docs.n_queries)
        arrays["label_document"] = row - docs.starts[by_aspect.query]
        arrays["label_aspect"] = np.array([aspects[text] for text in texts], dtype=np.int64)
        arrays["label_grade"] = by_aspect.grade
    arrays = {name: _narrowed(name, arrays[name], kind) for name, (kind, _) in ARRAYS.items()}
    lengths = {count: len(arrays[name]) for name, (_, count) in ARRAYS.items()}
    silent = {name: set(run.asked).difference(run.query_ids) for name, run in runs.items()}
    empty = {name: [q for q in docs.query_ids if q in queries] for name, queries in silent.items()}
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
        "aspects": list(aspects),
        "about": dict(about),
        "counts": lengths,
    }, arrays


def _narrowed(name: str, array: IntArray, kind: str) -> Any:
    cast = array.astype(kind)
    if (cast != array).any():
        many = "more than 65,536 documents of a topic; set a smaller depth="
        what = {"id_lengths": "an id of more than 65,535 bytes", "heads": many}.get(name, f"too large {name}")
        raise ValueError(f"the context cannot become a track: it has {what}")
    return cast


def _arrays_of(runs: Sequence[Rankings], docs: Documents, depth: int) -> dict[str, IntArray]:
    """The documents and rankings; the documents of each topic are the listed ones, then the others of the heads."""
    n_topics = docs.n_queries
    tops = [run.top(depth) for run in runs]
    codes = [docs.match_queries(run) for run in runs]
    lengths = np.zeros((len(runs), n_topics), dtype=np.int64)
    for length, code, run in zip(lengths, codes, runs, strict=True):
        length[code[code >= 0]] = run.lengths[code >= 0]
    queries = [code[top.query] for code, top in zip(codes, tops, strict=True)]
    rows = [np.flatnonzero(q >= 0) for q in queries]
    rows = [r[np.argsort(q[r], kind="stable")] for r, q in zip(rows, queries, strict=True)]
    query = np.concatenate([q[r] for q, r in zip(queries, rows, strict=True)])
    ids = Ids.joined([top.ids.take(r) for top, r in zip(tops, rows, strict=True)])
    row = docs.find_rows(query, ids)
    others = _each_once(docs, query[row < 0], ids.take(row < 0))
    n_listed, n_others = (np.bincount(d.query, minlength=n_topics) for d in (docs, others))
    number = row - docs.starts[query]
    new = np.flatnonzero(row < 0)
    row_of_new = others.find_rows(query[new], ids.take(new))
    number[new] = n_listed[query[new]] + row_of_new - others.starts[query[new]]
    packed = Ids.joined([docs.followed_by(others).ids])
    below, document, position = _below_heads(runs, docs, depth)
    return {
        "id_bytes": packed.data[: int(packed.lengths.sum())],
        "id_lengths": packed.lengths,
        "listed": n_listed,
        "others": n_others,
        "lengths": lengths.ravel(),
        "heads": number,
        "below": below.ravel(),
        "below_document": document,
        "below_position": position,
    }


def _each_once(docs: Documents, query: IntArray, ids: Ids) -> Documents:
    """Documents of these topics by topic, then by id, each once."""
    order = ids.descending(query)[::-1] if len(ids) else np.empty(0, dtype=np.int64)
    order = order[np.argsort(query[order], kind="stable")]
    every = Documents(docs.query_ids, query[order], ids.take(order), np.zeros(len(order), dtype=np.int64))
    keep = np.ones(len(every), dtype=bool)
    keep[every.repeats()[0]] = False
    return every.select(keep)


def _below_heads(
    runs: Sequence[Rankings], docs: Documents, depth: int
) -> tuple[IntArray, IntArray, IntArray]:
    """How many listed documents each ranking has below its head, shape (runs, topics); which, and where."""
    nothing = np.empty(0, dtype=np.int64)
    below, document, position = np.zeros((len(runs), docs.n_queries), dtype=np.int64), [nothing], [nothing]
    for i, run in enumerate(runs):
        at = docs.positions_in(run)
        deep = np.flatnonzero(at > depth)
        deep = deep[np.lexsort((at[deep], docs.query[deep]))]
        below[i] = np.bincount(docs.query[deep], minlength=docs.n_queries)
        document.append(deep - docs.starts[docs.query[deep]])
        position.append(at[deep])
    return below, np.concatenate(document), np.concatenate(position)
