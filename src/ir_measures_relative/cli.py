"""The command ``ir_measures_relative``: ir_measures' own command line, and the runs to compare with."""

from __future__ import annotations

import argparse
import csv
import difflib
import glob
import io
import json
import logging
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import ir_measures

from . import __version__
from .comparison import Comparison
from .context import RunContext, parse_measures, run_files
from .judgments import qrels_columns
from .measures.base import RelativeMeasure
from .priors import BestOfOtherGroups, Policy
from .provider import check_queries, is_relative
from .rankings import read_bytes

PROG = "ir_measures_relative"
ALL_QUERIES = "all"  #: what ir_measures calls the aggregate over queries
DEFAULT_PLACES = 4

_POLICIES = ("others", "earlier", "best-of-other-groups")

# What the messages of the package call an argument, and what it is called here.
_FLAGS = {"num_docs=": "--num_docs", "reference=": "--reference"}

# What wrong input raises, here and in ir_measures and its providers; anything else is a mistake of this package.
_BAD_INPUT = (ValueError, OSError, EOFError, ImportError, RuntimeError, subprocess.SubprocessError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit code.

    0 if all went well, 2 for input that is wrong, with one line on stderr; 130 and 141, as usual, where the
    user interrupts or whoever reads the output stops reading.
    """
    try:
        with _tidy_warnings():
            _run(_parse(arguments))
        sys.stdout.flush()
        return 0
    except BrokenPipeError:
        _drop_output()
        return 141
    except KeyboardInterrupt:
        return 130
    except _BAD_INPUT as error:
        _say("error", _explain(error))
        _drop_output()
        return 2


# ---- what is asked for -----------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line instead of the whole usage."""
        _say("error", f"{message}; see {PROG} --help")
        sys.exit(2)


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=100)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = _Parser(
        prog=PROG,
        usage=f"{PROG} QRELS RUN MEASURE… --prior RUN [--prior RUN …] [--reference RUN] [options]\n"
        f"       {PROG} QRELS FOLDER MEASURE… [--priors POLICY] [--groups CSV] [--plot FILE] [options]",
        description="Scores a run relative to other runs, or every run of a folder relative to the others.",
        epilog=_epilog(),
        formatter_class=_Help,
    )
    parser.add_argument("qrels", metavar="QRELS", help="a TREC qrels file, plain or .gz, or an ir_datasets id")
    parser.add_argument(
        "run",
        metavar="RUN",
        help="a TREC run file, plain or .gz; or a folder of run files (or a glob in quotes), each of which is "
        "scored, one row a run",
    )
    parser.add_argument(
        "measures",
        metavar="MEASURE",
        nargs="+",
        help="measures of this package and of ir_measures, such as nDCG@10 or \"NRG(base='RBP')@10\"; one "
        "argument may hold several, separated by spaces",
    )
    parser.add_argument(
        "--places", "-p", type=int, default=DEFAULT_PLACES, help="decimal places; -1 for all (default: 4)"
    )
    parser.add_argument("--by_query", "-q", action="store_true", help="a row for every query, then the summary")
    parser.add_argument("--no_summary", "-n", action="store_true", help="with -q: without the summary")
    parser.add_argument("--output_format", "-o", choices=("tsv", "jsonl"), default="tsv", help="default: tsv")
    parser.add_argument(
        "--provider",
        choices=ir_measures.providers.registry,
        metavar="NAME",
        help="the ir_measures provider of the measures that are not relative: " + ", ".join(_providers()),
    )
    parser.add_argument("--num_docs", type=int, metavar="N", help="the number of documents in the collection")
    parser.add_argument(
        "--reference",
        metavar="RUN",
        help="the run that MED and lexiprecision compare with: a file, or the name of a run in the folder",
    )
    single = parser.add_argument_group("where RUN is a file")
    single.add_argument(
        "--prior",
        action="append",
        default=[],
        metavar="RUN",
        help="a run that the searcher has seen before; may be given several times, and may be a folder",
    )
    folder = parser.add_argument_group("where RUN is a folder")
    folder.add_argument(
        "--priors",
        choices=_POLICIES,
        metavar="POLICY",
        help="the priors of a run: others (default), earlier (those before it, in the order of the file names), "
        "or best-of-other-groups (the best run of every other group by nDCG@10; needs --groups)",
    )
    folder.add_argument("--groups", metavar="CSV", help="a file of two columns, run,group, a line for every run")
    folder.add_argument(
        "--plot",
        metavar="FILE",
        help="draws the first relative against the first absolute measure, a point a run; .png, .pdf, .svg …",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    args = parser.parse_intermixed_args(arguments)
    args.is_folder = os.path.isdir(args.run) or (not os.path.exists(args.run) and glob.has_magic(args.run))
    _check(args)
    return args


def _epilog() -> str:
    ours = [m for n, m in ir_measures.measures.registry.items() if isinstance(m, RelativeMeasure) and n == m.NAME]
    width = max(len(m.NAME) for m in ours)
    return "\n".join(
        [
            "examples:",
            f"  {PROG} qrels.txt candidate.run nDCG@10 NRG@10 --prior production.run",
            f"  {PROG} qrels.txt candidate.run 'rrLP MED@10' --reference production.run -q",
            f"  {PROG} qrels.txt runs/ nDCG@10 NRG@10 UniqueRel@10 --plot campaign.png",
            f"  {PROG} vaswani runs/ nDCG@10 NRG@10 --priors earlier -o jsonl",
            "",
            "relative measures:",
            *(f"  {m.NAME:{width}}  {m.SHORT_DESC}" for m in sorted(ours, key=lambda m: m.NAME.lower())),
        ]
    )


def _providers() -> list[str]:
    return [name for name in ir_measures.providers.registry if name != "relative"]


def _check(args: argparse.Namespace) -> None:
    """Raises ValueError for arguments that do not go together, before anything is read."""
    if args.no_summary and not args.by_query:
        raise ValueError("--no_summary (-n) leaves out the summary of --by_query (-q): give -q as well, or no -n")
    if args.places < -1:
        raise ValueError(f"--places {args.places}: give 0 or more, or -1 for all places")
    if args.output_format == "jsonl" and args.places != DEFAULT_PLACES:
        warnings.warn("--places is ignored with --output_format jsonl, which has all places", stacklevel=2)
    if args.is_folder:
        if args.prior:
            raise ValueError(
                "--prior goes with one run file; in a folder the runs are each other's priors: choose with --priors"
            )
        if args.priors == "best-of-other-groups" and not args.groups:
            raise ValueError("--priors best-of-other-groups needs the groups: give --groups CSV")
        return
    for flag in ("priors", "groups", "plot"):
        if getattr(args, flag):
            raise ValueError(f"--{flag} goes with a folder of runs, and {args.run} is none; give the folder as RUN")


# ---- what is read ----------------------------------------------------------------------------------------


class _Judged(NamedTuple):
    """The judgments as ir_measures takes them, and the size of the collection where it is known."""

    qrels: list[Any]
    num_docs: int | None


def _run(args: argparse.Namespace) -> None:
    measures = _read_measures(args.measures)
    provider = _provider(args.provider, [m for m in measures if not is_relative(m)])
    axes = _check_plot(args.plot, measures) if args.plot else None
    files = _run_files(args)
    judged = _read_qrels(args.qrels)
    context, scored = _read_context(args, files, judged.num_docs if args.num_docs is None else args.num_docs)
    _check_context(context, measures, args)
    if not args.is_folder:
        _check_newcomer(context, judged.qrels, scored[0])
    results = list(_score(context, scored, measures, judged.qrels, provider))
    for line in _lines(results, measures, args):
        print(line)
    if axes is not None:
        _plot(args.plot, _table(results, measures), *axes, context.groups)


def _read_measures(arguments: Iterable[str]) -> list[ir_measures.Measure]:
    found: dict[ir_measures.Measure, None] = {}
    for text in (t for argument in arguments for t in split_measures(argument)):
        found[_read_measure(text)] = None
    if not found:
        raise ValueError("no measure is given; name one, such as NRG@10")
    return list(found)


def split_measures(text: str) -> list[str]:
    """The measures of an argument, which spaces separate outside of brackets and quotes.

    >>> split_measures("nDCG@10 NRG(base='RBP', p=0.9)@10")
    ['nDCG@10', "NRG(base='RBP', p=0.9)@10"]
    """
    parts, depth, quote = [""], 0, ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        else:
            depth += (char in "([{") - (char in ")]}")
        if char.isspace() and not quote and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return [p for p in parts if p]


def _read_measure(text: str) -> ir_measures.Measure:
    if os.path.exists(text):
        raise ValueError(
            f"{text!r} is a file, not a measure: give QRELS, one RUN (or a folder of runs), then measures; a run "
            f"to compare with goes behind --prior"
        )
    try:
        measure = parse_measures([text])[0]
        if isinstance(cutoff := measure.params.get("cutoff", 1), int) and not 1 <= cutoff < 2**31:
            raise ValueError(f"{text}: the cutoff must be from 1 to 2^31 - 1")  # trec_eval aborts the whole process
        return measure
    except ValueError as error:
        message = str(error)
    name = re.match(r"\w*", text)
    registry = ir_measures.measures.registry
    if name and name[0] and name[0] not in registry:
        nearest = nearest_name(name[0], registry)
        instead = f", that is {nearest + text[name.end() :]}" if name[0] != text else ""
        raise ValueError(f"{text!r}: no measure is called {name[0]!r}; the nearest is {nearest!r}{instead}")
    # What ir_measures says of a required parameter that is not given.
    message = re.sub(r"invalid param (\w+)=<object.*", r"it needs the parameter \1", message)
    if message.endswith(" cutoff"):
        message += f": write {text}@10"
    raise ValueError(message if text in message else f"{text!r}: {message}")


def nearest_name(name: str, names: Iterable[str]) -> str:
    """The one of the names that looks most like this one, whatever the case of the letters.

    >>> nearest_name("ndgc", ["AP", "nDCG", "NRG"])
    'nDCG'
    """
    names = list(names)
    lower = [n.lower() for n in names]
    return names[lower.index(difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.0)[0])]


def _provider(name: str | None, absolute: Sequence[ir_measures.Measure]) -> Any:
    """What computes the absolute measures: ir_measures, or the one of its providers that is named."""
    if name is None:
        return ir_measures
    provider = ir_measures.providers.registry[name]
    other = [str(m) for m in absolute if not provider.supports(m)]
    if other:
        raise ValueError(f"--provider {name} does not compute {', '.join(other)}; leave --provider out")
    return provider


def _run_files(args: argparse.Namespace) -> list[Path]:
    """The run files; where RUN is a file it comes first, and the others without repetition."""
    if args.is_folder:
        return run_files(args.run)
    own = run_files(args.run)
    priors = [file for path in args.prior for file in run_files(path)]
    reference = run_files(args.reference) if args.reference else []
    if len(reference) > 1:
        raise ValueError(f"--reference {args.reference} stands for {len(reference)} files; name one run file")
    for flag, files in (("--prior", priors), ("--reference", reference)):
        same = [file for file in files if file.resolve() == own[0].resolve()]
        if same:
            raise ValueError(
                f"{flag} {same[0]} is the evaluated run itself; a run is not compared with itself: leave it out"
            )
    return [*own, *{file.resolve(): file for file in [*reference, *priors]}.values()]


def _read_context(
    args: argparse.Namespace, files: list[Path], num_docs: int | None
) -> tuple[RunContext, list[str]]:
    """The runs, and the names of those to score."""
    try:
        runs = RunContext.from_trec(files).runs
    except ValueError as error:
        if args.is_folder:
            raise ValueError(f"{error}; a file that is no run does not belong in the folder of runs") from None
        raise
    names = list(runs)
    reference = args.reference
    if reference is not None and (not args.is_folder or reference not in runs):
        at = [i for i, file in enumerate(files) if file.resolve() == Path(reference).resolve()]
        if not at:
            raise ValueError(f"--reference {reference} is no run of {args.run}; its runs are {', '.join(names)}")
        reference = names[at[0]]
    groups = _read_groups(args.groups, names) if args.groups else None
    priors: Policy = BestOfOtherGroups() if args.priors == "best-of-other-groups" else args.priors or "others"
    context = RunContext(runs, priors=priors, reference=reference, groups=groups, num_docs=num_docs)
    return context, names if args.is_folder else names[:1]


def _read_groups(path: str, names: Sequence[str]) -> dict[str, str]:
    """The group of every run; lines about other runs, and a header, are passed over."""
    try:
        text = read_bytes(path, path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"--groups {path} is no text in UTF-8; give a CSV file of two columns, run,group") from None
    groups: dict[str, str] = {}
    try:
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise ValueError(f"--groups {path}: {error}; give a CSV file of two columns, run,group") from None
    for number, row in enumerate(rows, start=1):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(cells) != 2 or not all(cells):
            raise ValueError(f"--groups {path}, line {number}: a line is 'run,group', not {','.join(row)[:80]!r}")
        run, group = cells
        if number == 1 and (run.lower(), group.lower()) == ("run", "group"):
            continue
        if groups.setdefault(run, group) != group:
            raise ValueError(
                f"--groups {path}, line {number}: {run!r} is in {groups[run]!r} already; give it one group"
            )
    lacking = [n for n in names if n not in groups]
    if lacking:
        raise ValueError(
            f"--groups {path} lacks {', '.join(lacking)}; add a line such as '{lacking[0]},its group' for each"
        )
    return {n: groups[n] for n in names}


def _read_qrels(qrels: str) -> _Judged:
    """The judgments of a file, else of an ir_datasets id."""
    if os.path.isdir(qrels):
        raise ValueError(f"{qrels} is a folder; give a TREC qrels file, or an ir_datasets id, as QRELS")
    if not os.path.exists(qrels):
        return _read_dataset(qrels)
    try:
        data = read_bytes(qrels, f"the qrels {qrels}").decode("utf-8")
        return _Judged(list(ir_measures.read_trec_qrels(io.StringIO(data))), None)
    except UnicodeDecodeError:
        raise ValueError(f"the qrels {qrels}: not a TREC qrels file in UTF-8") from None
    except ValueError:
        qrels_columns(qrels)  # says which line is wrong
        raise


def _read_dataset(name: str) -> _Judged:
    from . import demo
    from .sources import dataset_of, qrels_of

    demo.register()
    if not sys.stderr.isatty():
        os.environ.setdefault("IR_DATASETS_DL_DISABLE_PBAR", "true")
    try:
        dataset = dataset_of(name)
    except ValueError as error:
        raise ValueError(f"there is no qrels file {name!r}, and {error}") from None
    with _held_back(logging.getLogger("ir_datasets")):
        qrels = qrels_of(dataset)
    return _Judged(qrels, dataset.docs_metadata().get("count") if dataset.has_docs() else None)


@contextmanager
def _held_back(logger: logging.Logger) -> Iterator[None]:
    """Holds back what is logged, and says it afterwards if there was no error."""
    records: list[logging.LogRecord] = []

    def hold(record: logging.LogRecord) -> bool:
        records.append(record)
        return False

    logger.addFilter(hold)
    try:
        yield
    finally:
        logger.removeFilter(hold)
    for record in records:
        logger.handle(record)


def _check_context(context: RunContext, measures: Iterable[ir_measures.Measure], args: argparse.Namespace) -> None:
    """Raises ValueError where a measure needs a run to compare with that is not there."""
    relative = [m for m in measures if is_relative(m)]
    alone = [str(m) for m in relative if m.NEEDS_CONTEXT]
    if len(context.names) == 1 and alone and not args.is_folder:
        raise ValueError(f"{', '.join(alone)} needs runs to compare with: give them with --prior or --reference")
    if context.reference is None and len(context.names) > 2:
        without = [str(m) for m in relative if "ref" in m.SUPPORTED_PARAMS and m.get("ref") is None]
        if without:
            raise ValueError(
                f"{', '.join(without)} compares with one run: say with --reference which of "
                f"{', '.join(n for n in context.names if args.is_folder or n != context.names[0])}"
            )


def _check_newcomer(context: RunContext, qrels: list[Any], name: str) -> None:
    """Raises ValueError where the evaluated run is one of those to compare it with, under another name."""
    judged, rankings = context.judged(qrels), context.runs[name]
    if not (judged.judgments.queries_of(rankings) >= 0).any():
        return
    for other in context.names:
        if other != name and judged.same_rankings(rankings, other):
            raise ValueError(
                f"the prior or reference {other!r} ranks exactly as the evaluated run; a run is not compared with "
                "itself: leave it out"
            )


# ---- what is computed ------------------------------------------------------------------------------------

#: A run's name, and for every measure the value of every query.
Scores = tuple[str, dict[ir_measures.Measure, dict[str, float]]]


def _score(
    context: RunContext,
    names: Sequence[str],
    measures: Sequence[ir_measures.Measure],
    qrels: list[Any],
    provider: Any,
) -> Iterator[Scores]:
    from tqdm import tqdm

    judged = context.judged(qrels)
    query_ids = judged.judgments.query_ids.tolist()
    if not query_ids:
        raise ValueError("the qrels hold no judgment, so there is no query to score; give other qrels")
    for run in context.runs.values():
        check_queries(judged, run, may_be_batch=False)
        if not len(run):
            warnings.warn(f"{run.name} holds no ranking; all of its rankings count as empty", stacklevel=2)
    absolute = [m for m in measures if not is_relative(m)]
    evaluator = _evaluator(provider, absolute, qrels) if absolute else None
    for name in tqdm(names, desc="scoring runs", unit="run", disable=None, leave=False):
        rankings = context.runs[name]
        comparison = Comparison(judged, rankings, name)
        values: dict[ir_measures.Measure, dict[str, float]] = {m: {} for m in measures}
        if evaluator is not None:
            for metric in _absolute_scores(evaluator, rankings):
                values[metric.measure][metric.query_id] = metric.value
        for measure in measures:
            if is_relative(measure):
                values[measure] = dict(zip(query_ids, measure.score(comparison).tolist(), strict=True))
        yield name, values


# What the providers of ir_measures raise for a measure that they cannot compute after all.
_FAILURES = (TypeError, LookupError, ArithmeticError, AssertionError)


def _absolute_scores(evaluator: Any, rankings: Any) -> list[ir_measures.Metric]:
    try:
        return list(evaluator.iter_calc(rankings.to_dict()))
    except _FAILURES as error:
        names = ", ".join(map(str, evaluator.measures))
        raise ValueError(f"ir_measures cannot compute {names} here ({error!r}); leave the measure out") from error


def _evaluator(provider: Any, measures: Sequence[ir_measures.Measure], qrels: list[Any]) -> Any:
    try:
        return provider.evaluator(measures, qrels)
    except ValueError as error:
        if not str(error).startswith("Unsupported measures"):
            raise
        raise ValueError(f"{error} Leave the measure out, or install a provider that computes it") from None
    except _FAILURES as error:
        names = ", ".join(map(str, measures))
        raise ValueError(f"ir_measures cannot compute {names} ({error!r}); leave the measure out") from error


def _aggregate(measure: ir_measures.Measure, values: dict[str, float]) -> float:
    aggregator = measure.aggregator()
    for value in values.values():
        aggregator.add(value)
    result: float = aggregator.result()
    return result


def _table(results: Sequence[Scores], measures: Sequence[ir_measures.Measure]) -> Any:
    import pandas as pd

    rows = [[name, *(_aggregate(m, values[m]) for m in measures)] for name, values in results]
    return pd.DataFrame(rows, columns=["name", *map(str, measures)])


# ---- what is written -------------------------------------------------------------------------------------


def _lines(
    results: Sequence[Scores], measures: Sequence[ir_measures.Measure], args: argparse.Namespace
) -> Iterator[str]:
    """The output, line by line: ir_measures' own where RUN is a file, else tables that start with the name."""
    tsv = args.output_format == "tsv"
    if args.is_folder and not args.by_query:
        if tsv:
            yield "\t".join(["name", *map(str, measures)])
        for name, values in results:
            row: dict[str, Any] = {"name": name} | {str(m): _aggregate(m, values[m]) for m in measures}
            yield _tsv(row, args.places) if tsv else json.dumps(row)
        return
    if args.is_folder and tsv:
        yield "name\tquery_id\tmeasure\tvalue"
    for name, values in results:
        head: dict[str, Any] = {"name": name} if args.is_folder else {}
        for query_id, measure, value in _long(values, measures, args):
            of_query = {"query_id": query_id} if args.by_query else {}
            line = head | of_query | {"measure": str(measure), "value": value}
            yield _tsv(line, args.places) if tsv else json.dumps(line)


def _long(
    values: dict[ir_measures.Measure, dict[str, float]],
    measures: Sequence[ir_measures.Measure],
    args: argparse.Namespace,
) -> Iterator[tuple[str, ir_measures.Measure, float]]:
    if args.by_query:
        for query_id in dict.fromkeys(q for m in measures for q in values[m]):
            yield from ((query_id, m, values[m][query_id]) for m in measures if query_id in values[m])
    if not args.no_summary:
        yield from ((ALL_QUERIES, m, _aggregate(m, values[m])) for m in measures)


def _tsv(row: dict[str, Any], places: int) -> str:
    spec = "" if places == -1 else f".{places}f"
    return "\t".join(cell if isinstance(cell, str) else format(cell, spec) for cell in row.values())


# ---- the picture -----------------------------------------------------------------------------------------


def _check_plot(path: str, measures: Sequence[ir_measures.Measure]) -> tuple[str, str]:
    """The relative and the absolute measure to draw.

    Raises:
        ValueError: there are not both, or the picture cannot be written there.
    """
    relative = [str(m) for m in measures if is_relative(m)]
    absolute = [str(m) for m in measures if not is_relative(m)]
    if not relative or not absolute:
        lacking = "a relative one, such as NRG@10" if not relative else "an absolute one, such as nDCG@10"
        raise ValueError(f"--plot draws a relative measure against an absolute one: add {lacking}")
    from .plots import new_figure

    formats = new_figure().canvas.get_supported_filetypes()
    if Path(path).suffix[1:].lower() not in formats:
        raise ValueError(f"--plot {path}: the ending of the name says the format; give one of .{', .'.join(formats)}")
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise ValueError(f"--plot {path}: there is no folder {folder}; make it first")
    if os.path.isdir(path) or not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise ValueError(f"--plot {path}: cannot be written; give another path")
    return relative[0], absolute[0]


def _plot(path: str, table: Any, relative: str, absolute: str, groups: dict[str, str]) -> None:
    from .plots import new_figure, relative_against_absolute

    figure = new_figure()
    relative_against_absolute(table, relative, absolute, groups=groups or None, ax=figure.subplots())
    figure.savefig(path, dpi=150)


# ---- stderr ----------------------------------------------------------------------------------------------


def _explain(error: BaseException) -> str:
    """What an error says, in the terms of the command line."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}; check the path and its permissions"
    message = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
    flags = [flag for argument, flag in _FLAGS.items() if argument in message and flag not in message]
    if not flags:
        return message
    return f"{message.split('; write')[0]} (on the command line: {', '.join(flags)})"  # without the Python to write


@contextmanager
def _tidy_warnings() -> Iterator[None]:
    """Says every warning once, in one line."""
    said: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            _say("warning", str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", category)
        warnings.showwarning = show
        yield


def _say(kind: str, message: str) -> None:
    from tqdm import tqdm

    tqdm.write(f"{PROG}: {kind}: {' '.join(message.split())}", file=sys.stderr)


def _drop_output() -> None:
    """Keeps the interpreter from writing, on its way out, what could not be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
