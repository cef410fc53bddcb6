"""Half-written runs at random, over verbs and commands: rows, topics and parts of ids are missing.

:func:`outcome` makes a campaign from a seed, asks one verb or command, and compares what comes of it with the rows of the
files, read plainly: an error or a sentence where a run misses topics, and the value of the rows.
"""

import csv
import json
import random
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import ir_measures_relative as package
from command_line import run as command
from ir_measures_relative import RelativeWarning, RunContext

Rankings = dict[str, dict[str, float]]
DOCS, BY, SINGLE = [f"d{i}" for i in range(6)], {"by": "P@2"}, {"strategies": ["single"], "repeats": 2}
VERBS: dict[str, Any] = {
    "evaluate": lambda context, qrels, **_: context.evaluate(qrels, ["P@2"]),
    "worth": lambda *given, **how: package.worth(*given, "r0", **BY, **how),
    "decide": lambda *given, **how: package.decide(*given, {n: n for n in given[0].names}, **BY, **how),
    "drop": lambda *given, **how: package.drop(*given, margin=0.1, **BY, **how),
    "compare": lambda *given, **how: package.compare(*given, ["P@2"], test="sign", **how),
    "fuse": lambda *given, **how: package.fuse(*given, 1, "P@2", **SINGLE, **how),
    "select": lambda *given, **how: package.select_complementary(*given, 2, **how),
    "verdicts": lambda *given, **how: package.verdicts(*given, ["P@2"], **how),
}
COMMANDS = {
    "score": "{r0} P@2 --to {r1} --to {r2}",
    "worth": "{r0} --to {r1} --to {r2} --by P@2",
    "decide": "{all} --option r0={r0} --option r1={r1} --option r2={r2} --by P@2",
    "drop": "{all} --margin 0.1 --by P@2",
    "compare": "{all} P@2 --test sign",
    "fuse": "{all} P@2 --number 1 --strategies single",
    "select": "{all} --number 2",
    "unjudged": "{all} P@2",
}


def written(run: Rankings, form: str) -> str:
    rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    if form == "json":
        return json.dumps(run)
    if form == "csv":
        return "".join(f"{q},{d},{s}\n" for q, d, s in [("query_id", "doc_id", "score"), *rows])
    return "".join(f"{q} Q0 {d} 0 {s} mine\n" for q, d, s in rows)


def half_written(rng: random.Random, run: Rankings, form: str) -> str:
    """The file of a run without some topics, with ids in another form, or cut anywhere; or as it is."""
    how = rng.choice(["whole", "cut", "cut", "topics", "topics", "ids", "ids"])
    some = rng.sample(list(run), rng.choice([1, 1, 2, len(run) // 2]) if how in ("topics", "ids") else 0)
    change = rng.choice(["0{}", "{}.0"])
    kept = {
        change.format(q) if q in some else q: docs for q, docs in run.items() if how == "ids" or q not in some
    }
    text = written(kept, form)
    end = rng.randrange(60, len(text)) if how == "cut" else len(text)
    return text[: text.rindex("\n", 0, end) + 1 if form != "json" and rng.random() < 0.5 else end]


def read_plainly(text: str, form: str) -> Rankings | None:
    """The rows as json, csv or str.split have them; None where a row is cut."""
    run: Rankings = {}
    try:
        if form == "json":
            return dict(json.loads(text))
        rows: Any = [line.split() for line in text.splitlines()]
        if form == "csv":
            rows = [(q, "", d, "", s, "") for q, d, s in list(csv.reader(text.splitlines()))[1:]]
        for q, _, d, _, s, _ in rows:
            run.setdefault(q, {})[d] = float(s)
    except ValueError:
        return None
    return run


def precision(run: Rankings, qrels: dict[str, dict[str, int]]) -> float:
    """P@2, which is 0 on a topic that is missing."""
    of_topics = []
    for q, judged in qrels.items():
        docs = run.get(q, {})
        top = sorted(docs, key=lambda d: (np.float32(docs[d]), d), reverse=True)[:2]
        of_topics.append(sum(judged[d] for d in top) / 2)
    return float(np.mean(of_topics))


def outcome(seed: int, folder: Path) -> str:
    """What came of the case, "value", "told" or "refused"; AssertionError for anything else."""
    rng = random.Random(seed)
    first = rng.choice([1, 8, 95])
    topics = [str(q) for q in range(first, first + rng.choice([3, 12, 24]))]
    qrels = {q: {d: rng.randrange(2) for d in DOCS} | {"d0": 1} for q in topics}
    (folder / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q in qrels for d, g in qrels[q].items()))
    runs, paths = dict[str, Rankings | None](), dict[str, Path]()
    for name in ("r0", "r1", "r2"):
        form = rng.choice(["trec", "trec", "csv", "json"])
        run = {q: {d: rng.uniform(0.1, 9) + qrels[q][d] for d in rng.sample(DOCS, 5)} for q in topics}
        text = half_written(rng, run, form) if name == "r0" or rng.random() < 0.2 else written(run, form)
        paths[name] = folder / f"{name}.{form}"
        paths[name].write_text(text)
        runs[name] = read_plainly(text, form)
    missing = rng.choice([None, None, None, "zero", "drop"])
    asked = rng.choice([*VERBS, *(("command", name) for name in COMMANDS)])
    means: dict[str, float] = {}
    if isinstance(asked, tuple):
        words = COMMANDS[asked := asked[1]].format(all=folder / "r*.*", **paths).split()
        words += ["--missing", missing] if missing and asked != "score" else []
        done = command(asked, folder / "qrels", *words)
        assert done.returncode in (0, 2), done.stderr
        said, refused = re.sub(r"\s+", " ", done.stderr + done.stdout), done.returncode == 2
        if asked == "score" and not refused:
            means = {"r0": float(done.stdout.split()[1])}
    else:
        said, refused, means = by_verb(asked, paths, qrels, {"missing": missing} if missing else {})
    return checked(asked not in ("evaluate", "score"), said, refused, means, runs, qrels, missing)


def by_verb(verb: str, paths: Any, qrels: Any, how: Any) -> tuple[str, bool, dict[str, float]]:
    """What a verb says first, whether it refuses, and the means of runs in its answer."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", RelativeWarning)
        try:
            answer = VERBS[verb](RunContext(paths), qrels, **how)
        except ValueError as error:
            return str(error), True, {}
    told = answer.text.split("\n\n")[0] if hasattr(answer, "text") else str(answer.attrs)
    means: dict[str, float] = {}
    if verb in ("evaluate", "decide", "compare"):
        table = getattr(answer, "table", answer)
        means = dict(zip(table.iloc[:, 0], table["P@2" if verb == "evaluate" else "mean"], strict=True))
    return "\n".join([*(str(one.message) for one in said), told]), False, means


def checked(
    decides: bool,
    said: str,
    refused: bool,
    means: dict[str, float],
    runs: Any,
    qrels: Any,
    missing: str | None,
) -> str:
    if None in runs.values() or not all(set(run) & set(qrels) for run in runs.values()):
        assert refused, said
        return "refused"
    topics = {name: {q for q in run if q in qrels} for name, run in runs.items()}
    others = {name: set().union(*(topics[n] for n in topics if n != name)) for name in topics}
    lacking = {name: others[name] - topics[name] for name in topics if others[name] - topics[name]}
    too_many = [name for name in lacking if 20 * len(lacking[name]) > len(others[name])]
    if refused:
        left = set(qrels).difference(*lacking.values()) if lacking and missing == "drop" else qrels
        apart = "no judged topic in common" in said  # of two runs to fuse
        assert (decides and missing is None and too_many) or len(left) < 3 or apart, said
    else:
        assert not (decides and missing is None and too_many), said
    for name in lacking if not refused else too_many if missing is None else ():
        assert f"no ranking for {len(lacking[name])} of the {len(others[name])} judged topics" in said, said
    gone = set().union(*lacking.values()) if decides and missing == "drop" else set()
    if gone:  # a topic that no run has, but under an id that agrees in part, is told of and left out as well
        gone |= {q for q in qrels if q not in set().union(*topics.values()) and f"'{q}'" in said}
    for name, mean in means.items():
        assert abs(mean - precision(runs[name], {q: qrels[q] for q in qrels if q not in gone})) < 1e-4, name
    return "refused" if refused else "told" if lacking else "value"
