"""The fingerprint of a context, by which its values can be cited."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from ..context.collection import judged_collection
from ..context.run_context import DESCRIPTIONS, RunContext, cite_tracks
from ..data.documents import Judgments
from ..data.ids import Ids
from ..data.rankings import Rankings
from ..io.datasets import dataset_id
from ..io.qrels import Qrels
from ..writing import to_json

# The packages whose versions may change a number.
_PACKAGES = ("ir-measures-relative", "ir-measures", "pytrec-eval-terrier", "numpy", "scipy")
_ROWS = 1 << 13  # rows whose ids are joined at a time


@DESCRIPTIONS.register("fingerprint")
def fingerprint(context: RunContext, qrels: Qrels | None = None) -> dict[str, Any]:
    """:meth:`RunContext.fingerprint`."""
    judgments = None
    if qrels is not None or (context.dataset is not None and context.dataset.has_qrels()):
        judgments = judged_collection(context, qrels).judgments
    track = context.track
    description: dict[str, Any] = {
        "runs": [{"name": name} | _describe_run(run) for name, run in context.runs.items()],
        **({} if track is None else {"track": {**track._asdict(), "about": dict(track.about)}}),
        **({"tracks": tracks} if (tracks := cite_tracks(context.runs.values())) else {}),
        "priors": _describe_priors(context.priors),
        "reference": context.reference,
        "groups": dict(context.groups),
        "num_docs": context.num_docs,
        "grades": None if context.grades is None else list(context.grades),
        "dataset": dataset_id(context.dataset),
        "qrels": None if judgments is None else _describe_judgments(judgments),
        **({"drop_self": True} if context.drop_self else {}),
    }
    text = to_json(description, sort_keys=True, separators=(",", ":"))
    return description | {"versions": _versions(), "sha256": hashlib.sha256(text.encode()).hexdigest()}


def _describe_run(run: Rankings) -> dict[str, Any]:
    """Describe the rankings of a run: its scores count by the order that they make."""
    is_cut = run.cut is not None
    top = run.by_score() if is_cut else run.top()
    docs, ends = _join_ids(top.ids)
    positions = top.position.tolist() if is_cut else []
    digest, lengths = hashlib.sha256(), run.lengths.tolist()
    queries, starts = _encode(run.query_ids), run.starts.tolist()
    for i in sorted(range(len(queries)), key=queries.__getitem__):
        rows = slice(starts[i], starts[i + 1])
        digest.update(queries[i] + b"\0\0")
        digest.update(docs[ends[rows.start] : ends[rows.stop]])
        digest.update(b"\0" if rows.start < rows.stop else b"\0\0")
        if is_cut:  # where each document is, and where the ranking ends
            digest.update(b"%d\0" * (len(positions[rows]) + 1) % (*positions[rows], lengths[i]))
    return {"queries": len(queries), "rows": int(run.lengths.sum()), "sha256": digest.hexdigest()}


def _describe_judgments(judgments: Judgments) -> dict[str, Any]:
    queries, docs = _encode(judgments.query_ids), _encode(judgments.doc_ids)
    codes = judgments.query.tolist()
    rows = sorted(
        (queries[code], doc, grade)
        for code, doc, grade in zip(codes, docs, judgments.grade.tolist(), strict=True)
    )
    digest = hashlib.sha256()
    for query, doc, grade in rows:
        digest.update(b"%b\0%b\0%d\0\0" % (query, doc, grade))
    judged = set(codes)
    for query in sorted(query for code, query in enumerate(queries) if code not in judged):
        digest.update(b"%b\0\0" % query)
    labels = judgments.labels
    if labels is not None:
        label_queries = (queries[code] for code in labels.query.tolist())
        columns = (
            _encode(labels.ids.strings()),
            _encode(labels.aspect_ids().strings()),
            labels.grade.tolist(),
        )
        for row in sorted(zip(label_queries, *columns, strict=True)):
            digest.update(b"%b\0%b\0%b\0%d\0\0" % row)
    return {"queries": len(queries), "judgments": len(rows), "sha256": digest.hexdigest()}


def _join_ids(ids: Ids) -> tuple[bytes, list[int]]:
    """Return the ids, each followed by a NUL; and where each starts, and the last ends."""
    pieces = []
    for at in range(0, len(ids), _ROWS):
        rows = ids.take(slice(at, at + _ROWS))
        words = [rows.word(i) for i in range(rows.n_words + 1)]  # 0 beyond the end of an id
        letters = np.stack(words, axis=1).astype("<u8").view(np.uint8)
        pieces.append(letters[np.arange(letters.shape[1]) <= rows.lengths[:, None]].tobytes())
    return b"".join(pieces), np.append(0, np.cumsum(ids.lengths + 1)).tolist()


def _encode(ids: Any) -> list[bytes]:
    """Return ids as bytes, none of which is the NUL that separates them."""
    return [text.encode() for text in ids.tolist()]


def _describe_priors(priors: Any) -> Any:
    """Return the ``priors`` of a context for JSON; an object by its representation, but never by its address."""
    if isinstance(priors, str):
        return priors
    if isinstance(priors, Mapping):
        return {name: list(names) for name, names in priors.items()}
    if hasattr(priors, "priors_of"):
        kind: Any = type(priors)
        return f"{kind.__module__}.{kind.__qualname__}" if kind.__repr__ is object.__repr__ else repr(priors)
    return list(priors)


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):  # an optional package, or a vendored one
            versions[package] = version(package)
    return versions
