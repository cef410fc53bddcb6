"""Random trees of run files, and the doors that take them: all runs are read, or words say what was not."""

import bz2
import glob
import gzip
import json
import lzma
import random
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from command_line import here
from ir_measures_relative import RelativeWarning, RunContext

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "c": 2}}
FOLDERS = ["a", "b", "sys B", "dev[1]", "tot-dev", "ü", ".hidden", "x#y", "run.txt", "qrels"]
STEMS = ["run", "bm25", "run2", "x.y", "ü", "a b", "[1]", "input.z"]
PACKED = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
PAGES = {
    "README.md": b"# Runs\nof mine\n",
    "retrieval-ir-metadata.yml": b"platform: x\n",
    "ir-metadata.yml": b"tag: T\nactor:\n  team: t\n",
    "about.html": b"<html></html>",
    "plot.png": b"\x89PNG\r\n\x1a\n\0",
    "plot.svg": b"<svg></svg>",
    ".DS_Store": b"\0\0\0\1Bud1",
}


class Tree(NamedTuple):
    runs: dict[Path, str]  #: of each run file the document that it alone has
    judgments: list[Path]
    broken: list[Path]  #: links to nothing
    loops: list[Path]  #: links to a folder that they lie in


def _run(rng: random.Random, doc: str) -> tuple[str, str]:
    """The content of a run file, and its ending."""
    rows = [("q1", "a", 3.5), ("q1", doc, 2.5), ("q1", "b", 1.5), ("q2", "c", 2.5), ("q2", doc, 1.5)]
    if rng.random() < 0.6:
        tag = rng.choice(["same", "same", doc])
        text = "".join(f"{query} Q0 {d} 1 {score} {tag}\n" for query, d, score in rows)
        return text, rng.choice([".run", ".txt", ".trec", "", ".tsv", ".md"])
    kind = rng.choice(["json", "whole", "table", "ranks"])
    if kind in ("json", "whole"):
        nested: dict[str, dict[str, float]] = {}
        for query, d, score in rows:
            nested.setdefault(query, {})[d] = score if kind == "json" else int(score * 2)
        return json.dumps(nested), ".json"
    if kind == "table":
        return "query_id,doc_id,score\n" + "".join(f"{q},{d},{s}\n" for q, d, s in rows), ".csv"
    return "".join(f"{q}\t{d}\t{1 + i % 3}\n" for i, (q, d, _) in enumerate(rows)), ".tsv"


def _judgments(rng: random.Random) -> tuple[str, str]:
    rows = [(q, d, label) for q, docs in QRELS.items() for d, label in docs.items()]
    kind = rng.choice(["trec", "json", "columns", "beir"])
    if kind == "trec":
        return "".join(f"{q} 0 {d} {label}\n" for q, d, label in rows), "qrels.txt"
    if kind == "json":
        return json.dumps(QRELS | {"q3": {"a": 1, "c": 1}}), "labels.json"
    if kind == "columns":
        return "q1\ta\t1\nq2\tc\t1\n", "judged.tsv"
    return "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tc\t1\nq2\tc\t1\n", "test.tsv"


def make_tree(rng: random.Random, root: Path) -> Tree:
    tree = Tree({}, [], [], [])
    folders = [root]
    for _ in range(rng.randrange(5)):
        folder = rng.choice(folders) / rng.choice(FOLDERS)
        if not folder.exists():
            folder.mkdir()
            folders.append(folder)
    flat = rng.random() < 0.3
    for i in range(rng.randrange(1, 8)):
        folder = rng.choice(folders[1:] or folders) if flat else rng.choice(folders)
        text, ending = _run(rng, f"only{i}")
        packed = rng.choice(["", "", *PACKED])
        file = folder / f"{rng.choice(STEMS)}{ending}{packed}"
        if not file.exists():
            file.write_bytes(PACKED[packed](text.encode()))
            tree.runs[file] = f"only{i}"
    for _ in range(rng.choice([0, 0, 1, 3])):
        file = rng.choice(folders) / rng.choice([*PAGES])
        if not file.exists():
            file.write_bytes(PAGES[file.name])
    if rng.random() < 0.2:
        text, name = _judgments(rng)
        file = rng.choice(folders) / name
        if not file.exists():
            file.write_text(text)
            tree.judgments.append(file)
    for chance, target, links in ((0.08, "nowhere", tree.broken), (0.15, "..", tree.loops)):
        link = rng.choice(folders[1:] or folders) / f"link {target}"
        if rng.random() < chance and (target == "nowhere" or link.parent != root):
            link.symlink_to(target)
            links.append(link)
    return tree


def _is_hidden(file: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(root).parts)


def _doors(rng: random.Random, root: Path, tree: Tree) -> Iterator[tuple[list[str], set[Path]]]:
    """What is given, and the files that it stands for."""
    visible = {file for file in tree.runs if not _is_hidden(file, root)}
    escaped = glob.escape(str(root))
    yield [str(root)], visible
    yield [f"{escaped}/**"], visible
    yield [f"{escaped}/**/*{rng.choice(['.run', '.gz', '.json'])}"], set()
    yield [f"{escaped}/*"], visible
    some = rng.sample(sorted(tree.runs), rng.randrange(1, len(tree.runs) + 1))
    yield [str(file) for file in some], set(some)


def check(seed: int, root: Path) -> list[str]:
    """What comes of a random tree at each door; AssertionError where a run is lost without a word."""
    rng = random.Random(seed)
    tree = make_tree(rng, root)
    outcomes = []
    for given, expected in _doors(rng, root, tree) if tree.runs else ():
        if "/**/*." in given[0]:
            ending = given[0].rpartition("*")[2]
            expected = {f for f in tree.runs if f.name.endswith(ending) and not _is_hidden(f, root)}
        outcomes.append(_check_door(given, expected, root, tree))
    if tree.runs:
        outcomes.append(_check_command(rng, root, tree))
    return outcomes


def _check_door(given: list[str], expected: set[Path], root: Path, tree: Tree) -> str:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            context = RunContext.from_files(given[0] if len(given) == 1 else given)
        except (ValueError, OSError) as error:
            return _refused(str(error), expected, root, tree)
    said = [str(w.message) for w in caught]
    assert all(w.category is RelativeWarning for w in caught), said
    read = {doc for run in context.runs.values() for docs in run.to_dict().values() for doc in docs}
    lost = [file for file in expected if tree.runs[file] not in read]
    assert len({*context.names}) == len(context.runs)
    runs = [file for file, doc in tree.runs.items() if doc in read]
    doubtful = [m for m in said if "may be judgments" in m]
    assert len(context.runs) == len(runs) or doubtful, (given, context.names)
    if lost:
        unread = [m for m in said if "not those of" in m]
        assert len(unread) == 1, (given, lost, said)
        folders = {file.relative_to(root).parts[0] for file in lost}
        said_of = re.search(r"not those of (\d+) folders? .*?(?:\(and (\d+) more such\))?$", unread[0])
        assert said_of and sum(map(int, said_of.groups(default="0"))) >= len(folders), (unread, folders)
    return "counted" if lost else "read"


def _refused(message: str, expected: set[Path], root: Path, tree: Tree) -> str:
    """What kind of refusal this is, which names what is wrong."""
    if "no file matches it as a glob" in message or re.search("folders? holds? no file of a run", message):
        assert not expected, message
        return "nothing there"
    named = [file for file in [*tree.judgments, *tree.broken] if str(file) in message]
    if named:
        return "refused: judgments or a broken link"
    whole = [file for file in tree.runs if str(file) in message and "may be judgments" in message]
    assert whole, message
    return "refused: a run that may be judgments"


def _check_command(rng: random.Random, root: Path, tree: Tree) -> str:
    """A command line answers, or one line says what is wrong with it; no warning of a kind is said twice."""
    judged, (one, other) = root.parent / "judged", (rng.choice(sorted(tree.runs)) for _ in range(2))
    judged.write_text("".join(f"{q} 0 {d} {v}\n" for q, docs in QRELS.items() for d, v in docs.items()))
    command = rng.choice(["score", "score", "compare", "unjudged", "worth", "explain"])
    given = rng.choice([root, root, f"{glob.escape(str(root))}/**", one])
    flags = rng.choice([[], ["--to", root], ["--to", other], ["--to", other, "--to", root]])
    if command == "compare":
        flags += rng.choice([[], ["--baseline", other]])
    measures = [] if command == "worth" else ["P@2"] if command != "explain" else ["UniqueRel(rel=1)@2"]
    if command == "score" and rng.random() < 0.5:
        measures, flags = ["rrLP"], [*flags, "--reference", other]
    done = here(command, judged, given, *measures, *flags, "-o", "jsonl")
    assert done.returncode in (0, 2) and "Traceback" not in done.stderr, (flags, done.stderr)
    lines = [line for line in done.stderr.splitlines() if ": warning: " in line]
    kinds = [re.sub(r"'[^']*'|/\S*|\d+", "", line) for line in lines]
    assert len(kinds) == len({*kinds}), lines
    if done.returncode == 2:
        assert done.stderr.count(": error: ") == 1 and done.stdout == "", done.stderr
        return "command: refused"
    names = {json.loads(line).get("name") for line in done.stdout.splitlines()}
    is_plain = command == "score" and given == root and not flags
    if is_plain and "not those of" not in done.stderr and "may be judgments" not in done.stderr:
        assert len(names) == sum(not _is_hidden(file, root) for file in tree.runs), (names, tree.runs)
    return "command: answered"
