"""One small campaign as other tools write it: three runs with ties, of which one lacks a query, and graded judgments."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any, NamedTuple

QUERIES = ["q-1", "2", "tópico-3"]
DOCS = ["d-1", "1017759", "clueweb09-en-42", "文書-4", "Zürich_6", "0007"]
#: The ties are in this order, which is neither that of the ids nor its reverse.
RUNS: dict[str, dict[str, dict[str, float]]] = {
    name: {
        query: {
            DOCS[(i * step + shift + j) % 6]: score for i, score in enumerate([9.5, 4.25, 4.25, 4.25, -1.5])
        }
        for j, query in enumerate(QUERIES)
        if (name, query) != ("dense_ü", "2")
    }
    for name, step, shift in (("bm25-base", 1, 0), ("dense_ü", 5, 3), ("rerank.v2", 1, 4))
}
QRELS = {query: {doc: (i + j) % 4 for i, doc in enumerate(DOCS[:5])} for j, query in enumerate(QUERIES)}
BY_TEXT = {query: f"query {query}" for query in QUERIES}


class Kind(NamedTuple):
    """What writes a run or the judgments as a file of a kind, and what is to be read of it."""

    format: str  #: the name that the registry has for it
    write: Callable[[str], bytes]  #: given the name of a run, or '' for judgments
    ordered: bool = False  #: whether the order of the list counts, and not the score
    part: str = ""  #: what has to be said behind the path
    depth: int | None = None  #: how many documents of a ranking it holds


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _lines(values: Any) -> bytes:
    return b"".join(_json(value) + b"\n" for value in values)


def _csv(rows: Any, delimiter: str = ",") -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode()


def _rows(name: str) -> Any:
    return [
        (query, doc, rank, score)
        for query, docs in RUNS[name].items()
        for rank, (doc, score) in enumerate(docs.items(), start=1)
    ]


def _labels() -> Any:
    return [(query, doc, label) for query, docs in QRELS.items() for doc, label in docs.items()]


def _dict(name: str) -> bytes:
    return _json(RUNS[name] if name else QRELS)


def _mteb(name: str) -> bytes:
    run = RUNS[name]
    first = {QUERIES[0]: run[QUERIES[0]]}
    meta = {"model_name": f"x/{name}", "revision": "1"}
    return _json(
        {"mteb_model_meta": meta, "deu": {"dev": first, "test": first}, "eng": {"dev": first, "test": run}}
    )


def _mteb_of_one_subset(name: str) -> bytes:
    return _json({"mteb_model_meta": {"model_name": name, "revision": None}, "default": {"test": RUNS[name]}})


def _references(*names: str) -> bytes:
    return _lines(
        {"run_id": name, "topic_id": q, "topic": BY_TEXT[q], "references": list(docs)[:3], "answer": []}
        for name in names
        for q, docs in RUNS[name].items()
    )


def _of_metadata(name: str) -> bytes:
    return _lines(
        {"metadata": {"run_id": name, "topic_id": q}, "responses": [], "references": list(docs)}
        for q, docs in RUNS[name].items()
    )


def _candidates(name: str) -> bytes:
    return _lines(
        {
            "query": {"text": BY_TEXT[q], "qid": q},
            "candidates": [{"docid": d, "score": s} for d, s in docs.items()],
        }
        for q, docs in RUNS[name].items()
    )


def _kilt(name: str) -> bytes:
    return _lines(
        {"id": q, "input": BY_TEXT[q], "output": [{"provenance": [{"wikipedia_id": d} for d in docs]}]}
        for q, docs in RUNS[name].items()
    )


def _ms_marco(name: str) -> bytes:
    return "".join(f"{q}\t{d}\t{rank}\n" for q, d, rank, _ in reversed(_rows(name))).encode()


def _beir(_: str) -> bytes:
    return _csv([("query-id", "corpus-id", "score"), *_labels()], "\t")


def _headed(name: str) -> bytes:
    rows = [(q, d, s) for q, d, _, s in _rows(name)]
    return _csv([("query_id", "doc_id", "score"), *rows])


def _json_rows(name: str) -> bytes:
    rows = [(q, d, s) for q, d, _, s in _rows(name)] if name else _labels()
    return _lines(dict(zip(("qid", "docno", "score" if name else "label"), row, strict=True)) for row in rows)


def _parquet(frame: Any) -> bytes:
    data = io.BytesIO()
    frame.to_parquet(data)
    return data.getvalue()


def _ranx_parquet(name: str) -> bytes:
    import pandas as pd

    rows = [(q, d, s) for q, d, _, s in _rows(name)] if name else _labels()
    return _parquet(pd.DataFrame(rows, columns=["q_id", "doc_id", "score"]))


def _lenskit_flat(name: str) -> bytes:
    import pandas as pd

    return _parquet(
        pd.DataFrame(_rows(name), columns=["user_id", "item_id", "rank", "score"])
        if name
        else pd.DataFrame(_labels(), columns=["user_id", "item_id", "rating"]).astype({"rating": float})
    )


def _lenskit_native(name: str) -> bytes:
    import pandas as pd

    lists = RUNS[name] | {"nothing": {}} if name else QRELS
    items = [
        [
            {"item_id": d, "rank": rank, "score": s} if name else {"item_id": d, "rating": float(s)}
            for rank, (d, s) in enumerate(docs.items(), start=1)
        ]
        for docs in lists.values()
    ]
    return _parquet(pd.DataFrame({"user_id": list(lists), "items": items}))


TABLE, ROWS = "a table with a header", "rows in JSON"
DICT = "a JSON dict {query_id: {doc_id: score}}"
ANSWERS = "answers with references (ragnarok, TREC RAG, RAGTIME)"

#: Files of runs, by what the tests call them.
OF_RUNS = {
    "dict": Kind(DICT, _dict),
    "MTEB, one subset": Kind("MTEB's predictions", _mteb_of_one_subset),
    "MTEB": Kind("MTEB's predictions", _mteb, part="eng:test"),
    "references": Kind(ANSWERS, _references, True, depth=3),
    "references of three": Kind(ANSWERS, lambda _: _references(*RUNS), True, "NAME", depth=3),
    "references, topic in metadata": Kind(ANSWERS, _of_metadata, ordered=True),
    "candidates": Kind("candidates (rank_llm)", _candidates, ordered=True),
    "KILT": Kind("KILT (pyserini)", _kilt, ordered=True),
    "MS MARCO": Kind("an MS MARCO run", _ms_marco, ordered=True),
    "CSV": Kind(TABLE, _headed),
    "JSON rows": Kind(ROWS, _json_rows),
    "ranx Parquet": Kind("Parquet", _ranx_parquet),
    "LensKit flat": Kind("Parquet", _lenskit_flat, ordered=True),
    "LensKit native": Kind("Parquet", _lenskit_native, ordered=True),
}
#: Files of judgments.
OF_JUDGMENTS = {
    "dict": Kind(DICT, _dict),
    "BEIR": Kind(TABLE, _beir),
    "JSON rows": Kind(ROWS, _json_rows),
    "ranx Parquet": Kind("Parquet", _ranx_parquet),
    "LensKit flat": Kind("Parquet", _lenskit_flat),
    "LensKit native": Kind("Parquet", _lenskit_native),
}
#: Files that hold neither, by the name of their format.
OF_NEITHER = {
    "a DataFrame by columns (the default of to_json)": _json(
        {c: {"0": "1"} for c in ("qid", "docno", "score")}
    ),
    "a JSON file of measures": _json({q: {"map": 0.5, "ndcg_cut_10": 0.25} for q in QUERIES}),
    "a table of measures (trec_eval, ir_measures)": b"num_ret \t1\t5\nmap     \t1\t0.5\nnum_ret \tall\t5\n",
    "a pickle": b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94.",
}


def trec_run(name: str) -> bytes:
    """A run in TREC's format."""
    return "".join(f"{q} Q0 {d} {rank} {s} {name}\n" for q, d, rank, s in _rows(name)).encode()


def trec_qrels() -> bytes:
    """The judgments in TREC's format."""
    return "".join(f"{q} 0 {d} {r}\n" for q, d, r in _labels()).encode()
