"""Any run -> :class:`Rankings`; and the runs of files and folders."""

from __future__ import annotations

import glob
import itertools
import numbers
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..data.arrays import FloatArray, IntArray, ObjectArray, object_array
from ..data.ids import Ids, repeated
from ..data.rankings import NOT_FINITE, TOO_LARGE, Rankings
from ..messages import brief, counted, few, kind_of, one_warning_of_a_kind, progress, warn
from .files import located, read_bytes
from .folders import files_below, files_in, folders_in, has_runs_below, is_in_loop, may_hold_run
from .frames import columns_of, is_frame, names_in, rows_by_run, single_value, text_of
from .readers import Described, FolderContent, Given, RunColumns, read_folder, read_foreign_file, read_object
from .trec_columns import Columns, header_for, is_number, parsed, shown, starts_as_trec, without_comments

if TYPE_CHECKING:
    import pandas as pd

#: What a run may be; see :func:`read_run`.
Run: TypeAlias = (
    "Rankings | Mapping[str, Mapping[str, float]] | Iterable[Any] | pd.DataFrame | str | os.PathLike[str]"
)

_FORMATS = (
    "a dict {query_id: {doc_id: score}}, an iterable of ir_measures.ScoredDoc, a DataFrame with columns "
    "query_id, doc_id, score (or qid, docno, score), or the path of a run file"
)


def read_run(run: Run, name: str = "the run", *, kept: bool = True) -> Rankings:
    """Any run as :class:`Rankings`.

    Args:
        run: a dict of dict, an iterable of ``ScoredDoc``, a DataFrame (ir_measures' or PyTerrier's columns), the path
            of a file (TREC's format or one of the page "Formats"), or the object of another library.
        name: what messages call it.
        kept: whether the rankings outlast what the caller may do to a frame.

    Raises:
        ValueError: content that is not a run; the message names run, query and document, or file and line.
        TypeError: an object of another kind.
        OSError: a file that cannot be read.
    """
    if isinstance(run, Rankings):
        return run
    if isinstance(run, (str, os.PathLike)):
        return _from_file(run, name)
    if isinstance(run, dict) and isinstance(next(iter(run.values()), None), Mapping):
        return _from_dict(run, name)
    if is_frame(run):
        return _from_frame(Given(run), name, kept=kept)
    # To look for the readers of other libraries takes time, and none of these libraries' objects is an iterator.
    given = None if isinstance(run, Iterator) else read_object(run, name, as_run=True)
    if given is not None:
        return _from_given(given, name)
    if isinstance(run, Mapping):
        return _from_dict(run, name)
    if isinstance(run, Iterable):
        return _from_scored_docs(run, name)
    raise TypeError(f"{name}: {kind_of(run)} is not a run; give {_FORMATS}")


def _from_file(path: str | os.PathLike[str], name: str) -> Rankings:
    source = name if name == os.fspath(path) else f"{name} ({path})"
    found, _ = _runs_of(path, source)
    _check_rows(found, source, "pass {} for a run that is meant to be empty")
    if len(found) > 1:
        tags = [str(run.tag) for run in found]
        raise ValueError(
            f"{source}: the file holds the runs {', '.join(map(repr, tags))}; say which behind the path, such as "
            f"'{path}#{tags[0]}', or read them all by RunContext.from_files"
        )
    return found[0].named(name)


def _runs_of(path: str | os.PathLike[str], source: str) -> tuple[list[Rankings], bool]:
    """The runs that a file holds, or the one that a part of it is; and whether it may as well be judgments."""
    file, part = located(path)
    if os.path.isdir(file):
        raise IsADirectoryError(f"{source} is a folder; give a file, or use RunContext.from_files")
    data = read_bytes(file, source)
    is_trec = starts_as_trec(data, columns=6, number=4)
    content = None if is_trec else read_foreign_file(data, source, part, as_run=True)
    if content is None:
        runs = read_trec_runs(data, source)
        chosen = [run for run in runs if part in (None, run.tag)]
        if not chosen:
            raise ValueError(f"{source}: no run in the file has the tag {part!r}; leave out '#{part}'")
        return chosen, False
    found = [_from_given(given, source) for given in content.parts]
    for rankings in found:
        rankings.check_documents()
    return found, content.may_be_judgments


def _check_rows(runs: Sequence[Rankings], source: str, otherwise: str) -> None:
    """Raises ValueError for a file without a ranking: a job that failed may have written it."""
    if not any(map(len, runs)):
        raise ValueError(f"{source} holds no ranking; check the job that wrote it, or {otherwise}")


def _from_dict(run: Mapping[str, Any], name: str, tag: str | None = None) -> Rankings:
    for query_id, docs in run.items():
        if not isinstance(docs, Mapping):
            raise ValueError(
                f"{name}: query {brief(query_id)} holds {kind_of(docs)}; a run given as a dict is "
                "{query_id: {doc_id: score}}, or has the columns query_id, doc_id and score"
            )
    joined = itertools.chain.from_iterable
    query_ids = joined(map(itertools.repeat, run, map(len, run.values())))
    scores = joined(map(methodcaller("values"), run.values()))
    unanswered = [q for q, docs in run.items() if not docs]  # which are empty rankings on purpose
    return _from_columns(query_ids, joined(run.values()), scores, name, tag, unanswered)


def _from_scored_docs(run: Iterable[Any], name: str) -> Rankings:
    rows = list(run)
    given = read_object(rows, name, as_run=True)  # rows that are dicts
    if given is not None:
        return _from_given(given, name)
    try:
        query_ids, doc_ids, scores = (
            [getattr(r, column) for r in rows] for column in ("query_id", "doc_id", "score")
        )
    except AttributeError:
        place, bad = next(
            (i, r)
            for i, r in enumerate(rows)
            if not all(hasattr(r, c) for c in ("query_id", "doc_id", "score"))
        )
        raise ValueError(
            f"{name}: an iterable whose item {place} is {kind_of(bad)} is not a run; give {_FORMATS}"
        ) from None
    return _from_columns(query_ids, doc_ids, scores, name)


def _from_columns(
    query_ids: Iterable[Any],
    doc_ids: Iterable[Any],
    scores: Iterable[Any],
    name: str,
    tag: str | None = None,
    asked: Collection[str] = (),
) -> Rankings:
    queries, docs = object_array(query_ids), object_array(doc_ids)
    values = _as_floats(object_array(scores), queries, docs, name)
    return Rankings(queries, docs, values, name=name, tag=tag, asked=asked)


def _from_given(given: Given, name: str) -> Rankings:
    if is_frame(given.content):
        return _from_frame(given, name)
    if isinstance(given.content, RunColumns):
        queries, docs, scores = given.content
        return Rankings(queries, docs, scores.astype(np.float64), name=name, tag=given.tag)
    return _from_dict(given.content, name, given.tag)


def _from_frame(given: Given, name: str, *, kept: bool = True) -> Rankings:
    frame = given.content
    wanted = ("query_id", "doc_id", "score")
    query_column, doc_column, score_column = columns_of(frame, wanted, name, given.kind, given.columns)
    several = None if given.is_one_run else rows_by_run(frame, name)
    if several is not None:
        column, rows = several
        raise ValueError(
            f"{name}: the {given.kind} holds {len(rows)} runs, by its column {column!r}: {few(rows)}; choose one, such "
            f"as frame[frame[{column!r}] == {next(iter(rows))!r}]"
        )
    queries = text_of(query_column, kept=False)
    docs = text_of(doc_column, kept=kept)
    rankings = Rankings(
        queries,
        docs,
        scores_of(score_column, queries, docs, name),
        name=name,
        tag=given.tag
        or next((single_value(frame, column) for column in names_in(frame.columns, "name")), None),
        group=(single_value(frame, "group") or "") if "group" in frame.columns and len(frame) else None,
    )
    if rankings.has_many_ties and "rank" in frame.columns and frame["rank"].ndim == 1:
        ranks = frame["rank"]
        if ranks.dtype.kind in "iuf" and ranks.notna().all():
            rankings.ranks = ranks.to_numpy(dtype=np.float64)
    return rankings


def scores_of(column: Any, queries: Ids | ObjectArray, docs: Ids | ObjectArray, name: str) -> FloatArray:
    """The scores in a column of a DataFrame; raises ValueError for one that is not a number."""
    if column.dtype.kind in "fiu":
        scores: FloatArray = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return scores
    return _as_floats(column.to_numpy(dtype=object), queries, docs, name)


def _as_floats(
    scores: ObjectArray, queries: Ids | ObjectArray, docs: Ids | ObjectArray, name: str
) -> FloatArray:
    if set(map(type, scores)) <= {float}:  # as JSON has them: there is nothing to look at
        return scores.astype(np.float64)
    values = np.empty(len(scores))
    for row, score in enumerate(scores):
        # numpy's and torch's scalars are not numbers.Real, but turn into one; a string would too, and must not.
        wrong = None
        if isinstance(score, str) or not (isinstance(score, numbers.Real) or hasattr(score, "__float__")):
            convert = not isinstance(score, str) or is_number(score)
            remedy = "convert them with float()" if convert else "write them as 1234.5, without commas"
            wrong = f"has the score {brief(score)}, {kind_of(score)}; scores must be numbers: {remedy}"
        else:
            try:
                values[row] = float(score)
            except (TypeError, ValueError, OverflowError) as error:
                wrong = f"has a score that is not a float ({error})"
        if wrong:
            query, doc = (c.string(row) if isinstance(c, Ids) else c[row] for c in (queries, docs))
            raise ValueError(f"{name}: query {brief(query)}, document {brief(doc)} {wrong}")
    return values


def read_trec_runs(data: bytes, source: str) -> list[Rankings]:
    """The run in the content of a TREC run file, or the runs, where rankings have rows of several tags."""
    data = without_comments(data, columns=6, number=4)
    columns, scores = parsed(data, source, _trec_columns, _mistake)
    queries, docs, tags = (columns.ids(i) for i in (0, 2, 5))
    blocks = tags.changes()
    names = list(dict.fromkeys(tags.take(blocks).strings()))
    cut = len(blocks) == 2 and blocks[1] == len(tags) - 1 and names[0].startswith(names[1])
    if cut := cut and not data.endswith(b"\n"):  # in the middle of the last row
        names = names[:1]
    rows: dict[Any, Any] = {names[0] if len(names) == 1 else None: slice(None)}
    if len(names) > 1:
        import pandas as pd

        frame = pd.DataFrame(
            {n: columns.ids(i).strings() for n, i in (("query_id", 0), ("rank", 3), ("tag", 5))}
        )
        several = rows_by_run(frame, source)
        rows = rows if several is None else several[1]
    runs, message = list[Rankings](), ""
    for tag, of_run in rows.items():
        runs.append(Rankings(queries.take(of_run), docs.take(of_run), scores[of_run], name=source, tag=tag))
        if runs[-1].has_many_ties:
            with suppress(ValueError):  # what no program reads may be no number
                runs[-1].ranks = columns.floats(3)[of_run]
        try:
            runs[-1].check_documents()
        except ValueError as error:
            message = message or _repeated(columns, source, of_run) or str(error)
    runs[-1].ends_within_row = cut
    if not message:
        return runs
    del columns, scores, queries, docs, tags, blocks, rows, runs  # which the traceback would keep
    raise ValueError(message)


def _trec_columns(data: bytes) -> tuple[Columns, FloatArray]:
    columns = Columns(data, 6)
    scores = columns.floats(4)
    if np.abs(scores).max(initial=0) >= TOO_LARGE:
        raise ValueError
    return columns, scores


_SWAPPED = "; it looks like judgments: the qrels come first, then the run"


def _mistake(line: bytes) -> str:
    fields = line.split()
    if len(fields) != 6:
        hint = "; no id may hold a blank, and no word may follow the tag"
        if len(fields) < 6:
            hint = _SWAPPED if len(fields) == 4 else header_for(line, "score")
        return (
            f"{len(fields)} column{'s' * (len(fields) != 1)} where a TREC run has six "
            f"(query_id Q0 doc_id rank score tag): {shown(line)}{hint}"
        )
    query_id, doc_id, score = (shown(fields[i]) for i in (0, 2, 4))
    if is_number(fields[4]) and not abs(float(fields[4])) < TOO_LARGE:  # nan, inf, or 1e39
        return f"query {query_id}, document {doc_id} has the score {score[1:-1]}; {NOT_FINITE}"
    return f"the score {score} is not a number; write numbers with the digits 0 to 9, such as 12.5 or 1.25e1"


def _repeated(columns: Columns, source: str, of_run: IntArray | slice) -> str | None:
    """Where a document stands a second time in a ranking of the run that has these rows; None where none does."""
    queries, docs = columns.ids(0), columns.ids(2)
    own = queries.take(of_run)
    rows = repeated(own.hashes().view(np.int64), docs.take(of_run), docs.take(of_run).hashes())
    if rows is None:
        return None
    a, b = np.arange(len(columns))[of_run][list(rows)].tolist()
    return (
        f"{source}, line {columns.line(b)}: query {brief(queries.string(b))} lists document {brief(docs.string(b))} "
        f"more than once, before in line {columns.line(a)}; a ranking holds a document once: drop the duplicates"
    )


#: What stands for files of runs.
RunPaths: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"


def run_files(paths: RunPaths, task: str | None = None) -> list[Path]:
    """Return the run files that a path, folder, glob or list of these stands for; behind a ``#`` the part of each file.

    Of a folder with run files these are read, else all files in the folders below it. Hidden files, pictures and pages
    about runs are left out, and judgments that a reader of folders knows.
    """
    if not isinstance(paths, (str, os.PathLike, Iterable)):
        raise TypeError(f"the runs are {kind_of(paths)}; give a path, a glob, or a list of these")
    if not isinstance(paths, (str, os.PathLike)):
        with one_warning_of_a_kind():
            found = [file for path in paths for file in run_files(path, task)]
        if found:
            return found
        raise FileNotFoundError("no run file is given; give a folder, a glob, or a list of paths")
    if not os.fspath(paths):  # which would be the folder that the program runs in
        raise FileNotFoundError("the path of a run is an empty string; give a file, folder or glob")
    path = Path(paths)
    if path.is_dir():
        if runs := _files_of_folder(path, task):
            return runs
        raise FileNotFoundError(f"{path}: the folder holds no file of a run; put the run files into it")
    if path.exists():
        return [path]
    globbed = glob.glob(os.fspath(paths), recursive=True) if glob.has_magic(os.fspath(paths)) else []
    matches = [match for match in sorted(map(Path, globbed)) if not is_in_loop(match)]
    folders = [match for match in matches if match.is_dir()]
    if runs := _without_pages(match for match in matches if not match.is_dir()):
        unread = [folder for folder in folders if not any(file.is_relative_to(folder) for file in runs)]
        _warn_of_unread(os.fspath(paths), unread, f"{os.fspath(paths).rstrip('/*')}/**")
        return runs
    with one_warning_of_a_kind():
        runs = [file for folder in folders for file in _files_of_folder(folder, task)]
    if runs:
        return runs
    if folders:
        raise FileNotFoundError(f"{paths}: the folders hold no file of a run; put the run files into them")
    file, mark, part = os.fspath(paths).rpartition("#")
    if mark and file:
        return [Path(f"{f}#{part}") for f in run_files(file, task)]
    shown = repr(str(path)) if str(path).isspace() else path
    raise FileNotFoundError(f"{shown}: no such file or folder, and no file matches it as a glob")


def _files_of_folder(folder: Path, task: str | None) -> list[Path]:
    content = read_folder(folder) or FolderContent({})
    if runs := _without_pages(file for file in files_in(folder) if file not in content.judgments):
        _warn_of_unread(str(folder), folders_in(folder), f"{glob.escape(str(folder))}/**")
    else:
        runs = _without_pages(file for below in folders_in(folder) for file in files_below(below))
    in_order = [file for file in dict.fromkeys([*content.runs, *runs]) if file in runs]
    return _of_task({file: content.runs.get(file, Described()) for file in in_order}, task, folder)


def _warn_of_unread(path: str, folders: Iterable[Path], instead: str) -> None:
    """Warn of folders with runs that are not read, beside files that are; ``instead`` is a glob of all files."""
    unread = list(filter(has_runs_below, folders))
    if unread:
        warn(
            f"{path}: its files are read, and not those of {counted(len(unread), 'folder')} beside them "
            f"({few(unread, 3)}); to read these too, pass them as well, or the glob '{instead}'"
        )


def judgments_beside(paths: RunPaths) -> Path | None:
    """The file of judgments in a folder of runs, where a reader of folders knows one; None for anything else."""
    if not isinstance(paths, (str, os.PathLike)) or not os.path.isdir(paths):
        return None
    content = read_folder(Path(paths))
    files = content.judgments if content is not None else ()
    if len(files) > 1:
        names = ", ".join(file.name for file in files)
        raise ValueError(f"{paths} holds several files of judgments, {names}; name one in judgments=")
    return files[0] if files else None


def _of_task(runs: Mapping[Path, Described], task: str | None, folder: Path) -> list[Path]:
    """The files of the runs of a task; of all runs where none is named and there is one task at most."""
    tasks = Counter(about.task for about in runs.values() if about.task)
    shown = ", ".join(f"{name!r} ({counted(count, 'run')})" for name, count in sorted(tasks.items()))
    if task is None and len(tasks) > 1:
        raise ValueError(
            f"{folder} holds runs of several tasks: {shown}; name one in task=, or pass its run files"
        )
    if task is not None and task not in tasks:
        raise ValueError(f"{folder} has no run of the task {task!r}; there are {shown or 'no tasks'}")
    return [file for file, about in runs.items() if task is None or about.task == task]


def _without_pages(files: Iterable[Path]) -> list[Path]:
    """Return the files that may hold a run; raises FileNotFoundError for a link to nothing, and what is no file."""
    found = list(files)
    if odd := [file for file in found if not file.is_file()]:
        raise FileNotFoundError(
            f"{odd[0]} is no file, or a link to none; remove it from the folder of runs, or mend the link"
        )
    return [file for file in found if may_hold_run(file)]


#: The endings of packed files, and those of files of runs, which are no part of a run's name.
PACKED = (".gz", ".bz2", ".xz")
_RUNS = (".run", ".txt", ".trec", ".res", ".msmarco", ".kilt")
_ENDINGS = (*_RUNS, ".json", ".jsonl", ".ndjson", ".parquet", ".csv", ".tsv")


def read_runs(
    files: Sequence[Path],
    named: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    *,
    allow_empty: bool = False,
) -> dict[str, Rankings]:
    """Return the runs of some files, by name; a file may hold several.

    The ``named`` files are given one by one, and so hold runs whatever they look like. Others are of a folder, which
    may hold judgments as well.
    """
    if again := [f for f, count in Counter(files).items() if count > 1]:
        raise ValueError(f"{again[0]} is given twice; give each file once")
    of_file, runs, doubtful = list[Path](), list[Rankings](), list[int]()
    visible = dict.fromkeys(f.parent for f in files if f.is_file() and not f.name.startswith("."))
    folders = {folder: read_folder(folder) for folder in visible if os.access(folder, os.R_OK)}
    sure = {Path(path).resolve() for path in ([named] if isinstance(named, (str, os.PathLike)) else named)}
    with one_warning_of_a_kind():
        for layout in folders.values():
            if layout is not None and layout.doubt:
                warn(layout.doubt)
        for file in progress(files, "reading runs", "run"):
            found, may_be_judgments = _runs_of(file, str(file))
            if not allow_empty:
                _check_rows(found, str(file), "set allow_empty=True")
            layout = folders.get(file.parent)
            about = Described() if layout is None else layout.runs.get(file, Described())
            known = {"tag": about.tag, "group": about.group}
            if may_be_judgments and file.resolve() not in sure:
                doubtful += range(len(runs), len(runs) + len(found))
            runs += [run.described(**{k: v for k, v in known.items() if v is not None}) for run in found]
            of_file += [file] * len(found)
    _check_doubtful(of_file, runs, doubtful)
    return {
        name: run.named(f"run {name!r}") for name, run in zip(name_runs(of_file, runs), runs, strict=True)
    }


def _check_doubtful(files: Sequence[Path], runs: Sequence[Rankings], doubtful: Sequence[int]) -> None:
    """Raises ValueError for whole numbers in a folder of runs that are judgments; warns of those that may be."""
    unclear = list[Path]()
    for i in doubtful:
        order, why = _orders(runs[i]), "most rankings have ties or one document"
        others = [run for j, run in enumerate(runs) if j != i]
        if order is None and others and not _shares_documents(runs[i], others):
            order, why = False, "no other run retrieves its documents"
        if order is False:
            raise ValueError(
                f"{files[i]} may be judgments: all its scores are whole numbers, and {why}; take it out of the folder, "
                "or, if it is a run, pass the path of this file itself"
            )
        if order is None and others:
            unclear.append(files[i])
    if unclear:
        warn(
            f"{few(unclear, 3)} may be judgments: all scores are whole numbers; they are read as runs, so take out of "
            "the folder what holds judgments"
        )


#: A scale of relevance has no more grades; most have two to five.
_MOST_GRADES = 7


def _orders(run: Rankings) -> bool | None:
    """Return whether scores order documents as those of a run do, and grades do not; None where both are possible."""
    differs = (np.diff(run.given_scores, prepend=0) != 0).astype(np.int64)
    differs[run.starts[:-1]] = 0  # from the last document of one query to the first of the next
    different, sizes = np.add.reduceat(differs, run.starts[:-1]), np.diff(run.starts)
    if different.max() >= _MOST_GRADES:
        return bool(2 * different.sum() > (sizes - 1).sum())
    has_ties = different.sum() < (sizes - 1).sum()
    return False if has_ties or 2 * np.count_nonzero(sizes == 1) > len(sizes) else None


def _shares_documents(run: Rankings, others: Sequence[Rankings]) -> bool:
    """Return whether another run ranks one of the documents of a run for the same query."""
    return any(
        not docs.keys().isdisjoint(other.of_query(query).rows()[1].strings())
        for query, docs in run.as_given().items()
        for other in others
    )


def groups_of(runs: Mapping[str, Rankings]) -> dict[str, str] | None:
    """The group of every run, where the files say one of each; else None."""
    groups = {name: run.group for name, run in runs.items() if run.group}
    return groups if len(groups) == len(runs) else None


def name_runs(files: Sequence[Path], runs: Sequence[Rankings]) -> list[str]:
    """Return the tags where every run has its own, else the names of the files, with as many folders as it takes."""
    tags = [run.tag for run in runs]
    if None not in tags and _all_differ(tags):
        return [str(tag) for tag in tags]
    of_several = [count > 1 for count in map(Counter(files).__getitem__, files)]
    parts = [f"#{run.tag}" if several else "" for run, several in zip(runs, of_several, strict=True)]
    places = [Path(os.path.abspath(located(file)[0])).parts[1:] for file in files]
    for last in ([_stem(file) for file in files], [place[-1] for place in places]):
        for depth in range(max(map(len, places), default=1)):
            folders = ["".join(f"{name}/" for name in place[-1 - depth : -1]) for place in places]
            names = ["".join(name) for name in zip(folders, last, parts, strict=True)]
            if _all_differ(names):
                return names
    twice = next(n for n, count in Counter(names).items() if count > 1)
    raise ValueError(f"two runs are called {twice!r}, as are their tags; rename one")


def _all_differ(names: Sequence[Any]) -> bool:
    return len({*names}) == len(names)


def _stem(file: Path) -> str:
    """The name of a file without the endings of packed files and of formats, and without the part of it."""
    name = Path(located(file)[0]).name
    for endings in (PACKED, _ENDINGS):
        name = next((name.removesuffix(e) for e in endings if name.endswith(e) and name != e), name)
    return name
