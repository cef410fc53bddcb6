"""RunContext: the runs that a run is scored relative to."""

from __future__ import annotations

import copy
import glob
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import ir_measures
import numpy as np
from numpy.typing import NDArray

from . import sources
from .comparison import Comparison, JudgedContext
from .judgments import Qrels, judge, qrels_columns
from .priors import Policy, check_policy
from .rankings import ObjectArray, Rankings, Run, read_run

if TYPE_CHECKING:
    import pandas as pd

# How many sets of judgments a context keeps its arrays for: pt.Experiment with a batch_size makes one a batch.
_KEPT = 8


class Active(NamedTuple):
    """An entered context, and the member that ``evaluating()`` named."""

    context: RunContext
    member: str | None
    block: object = None  #: which ``evaluating()`` block it is; None for a plain ``with context``


_active: ContextVar[tuple[Active, ...]] = ContextVar("ir_measures_relative_active", default=())


def active() -> Active | None:
    """The innermost context that is entered here, in this thread or task."""
    stack = _active.get()
    return stack[-1] if stack else None


def _leave(context: RunContext, block: object) -> None:
    """Takes back the last entry of its own: a generator may be closed inside a block that it did not open."""
    stack = _active.get()
    for i in reversed(range(len(stack))):
        if stack[i].context is context and stack[i].block is block:
            _active.set(stack[:i] + stack[i + 1 :])
            return


class RunContext:
    """The rankings that exist already: what the relative measures score a run against.

    A re-entrant context manager; inside ``with RunContext(…):`` ir_measures and PyTerrier compute the measures of
    this package. The innermost context counts, and every thread has its own. An evaluator takes the context that
    is active when it is created, and keeps it.

    A run that is itself a member is not its own prior. It is recognised by a ``name`` column that holds one value
    and names a member, or by :meth:`evaluating`; any other run is a newcomer.

    Args:
        runs: the members, from name to run: whatever ir_measures takes, a PyTerrier result frame, or the path of
            a TREC run file.
        priors: whose documents a searcher has seen before a member's: ``"others"`` (all other runs),
            ``"earlier"`` (those given before it), a list of names, a dict from name to list, or
            :class:`BestOfOtherGroups`. For a newcomer, every run (or the list, where it is one).
        reference: the name of the run that MED and lexiprecision compare with.
        groups: from run name to group name, for :class:`BestOfOtherGroups` and the plots.
        num_docs: the number of documents in the collection.

    Raises:
        ValueError: a run that cannot be read, a name that is no member; the message says which.

    Example:
        >>> import ir_measures
        >>> from ir_measures_relative import RunContext
        >>> qrels = {"q1": {"A": 1, "B": 1}}
        >>> with RunContext({"BM25": {"q1": {"A": 2.0, "C": 1.0}}}):
        ...     measure = ir_measures.parse_measure("UniqueRel@2")
        ...     ir_measures.calc_aggregate([measure], qrels, {"q1": {"A": 2.0, "B": 1.0}})
        {UniqueRel@2: 1.0}
    """

    def __init__(
        self,
        runs: Mapping[str, Run],
        *,
        priors: Policy = "others",
        reference: str | None = None,
        groups: Mapping[str, str] | None = None,
        num_docs: int | None = None,
    ) -> None:
        if not isinstance(runs, Mapping):
            raise TypeError(f"runs is a {type(runs).__name__}; give a dict from run name to run")
        for name in runs:
            if not isinstance(name, str) or not name:
                raise ValueError(f"the run name {name!r} is not a string; name every run with one")
        self.runs: dict[str, Rankings] = {name: read_run(run, f"run {name!r}") for name, run in runs.items()}
        self.names: list[str] = list(self.runs)
        if groups is not None and not isinstance(groups, Mapping):
            raise ValueError(f"groups={groups!r} must be a dict from run name to group name")
        self.groups: dict[str, str] = dict(groups or {})
        unknown = [n for n in self.groups if n not in self.runs]
        if unknown:
            raise ValueError(f"groups names {unknown}, which the context does not hold; its runs are {self.names}")
        check_policy(priors, self.names, self.groups)
        self.priors: Policy = copy.deepcopy(priors)  # what the caller does to it later was not checked
        if reference is not None and reference not in self.runs:
            raise ValueError(f"reference={reference!r} is no run of the context; its runs are {self.names}")
        self.reference = reference
        if isinstance(num_docs, np.integer):
            num_docs = int(num_docs)
        whole = isinstance(num_docs, int) and not isinstance(num_docs, bool)
        if num_docs is not None and not (whole and 1 <= num_docs < 2**53):
            raise ValueError(f"num_docs={num_docs!r} is not allowed; it must be a whole number of at least 1")
        self.num_docs = num_docs
        self.dataset: Any = None  #: the ir_datasets.Dataset of a context that was made :meth:`from_irds`
        #: the highest grades of the judgments that the context was used with; see MED
        self.highest_grades: set[int] = set()
        self._judged: list[tuple[tuple[Any, ...], JudgedContext]] = []

    def __repr__(self) -> str:
        return f"RunContext({self.names}, priors={self.priors!r}, reference={self.reference!r})"

    @classmethod
    def from_trec(
        cls, paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], **options: Any
    ) -> RunContext:
        """A context of TREC run files, plain or .gz.

        Args:
            paths: a folder (every file in it is a run), a glob, a path, or several paths. A run is named by its
                tag; where two files share a tag, or a file has several, all are named by their file names.
            options: as for :class:`RunContext`.

        Raises:
            FileNotFoundError: nothing there.
            ValueError: a file that is no TREC run; names file and line.
        """
        from tqdm import tqdm

        files = run_files(paths)
        runs = [read_run(f, str(f)) for f in tqdm(files, desc="reading runs", unit="run", disable=None, leave=False)]
        names = name_runs(files, runs)
        for name, run in zip(names, runs, strict=True):
            run.name = f"run {name!r}"
        return cls(dict(zip(names, runs, strict=True)), **options)

    @classmethod
    def from_pipelines(cls, pipelines: Mapping[str, Any], topics: Any, **options: Any) -> RunContext:
        """A context of the results of PyTerrier pipelines, each of which runs once.

        Inside it, ``pt.Experiment`` knows a pipeline for a member by its ``name`` column:
        ``pipeline >> pt.apply.name(lambda row: "BM25")``. (``pt.relative.Experiment`` sees to that itself.)

        Args:
            pipelines: from name to transformer, or to a DataFrame of results.
            topics: a DataFrame with ``qid`` and ``query``, or the path of a TREC topics file.
            options: as for :class:`RunContext`.

        Raises:
            TypeError: what is no transformer.
        """
        return cls(sources.run_pipelines(pipelines, topics), **options)

    @classmethod
    def from_irds(cls, dataset: Any, *, name: str | None = "scoreddocs", **options: Any) -> RunContext:
        """A context of the run that comes with a dataset of ir_datasets: its ``scoreddocs``, a first-stage ranking.

        The number of the dataset's documents becomes ``num_docs``, unless that is given, and the dataset becomes
        :attr:`dataset`, whose judgments :meth:`evaluate` uses where no others are given, and whose
        ``qrels_defs()`` say what the grades mean.

        Args:
            dataset: an id such as ``"msmarco-passage/trec-dl-2019/judged"``, an ``ir_datasets.Dataset``, or a
                PyTerrier dataset (``pt.get_dataset("irds:…")``).
            name: what the run is called here; None leaves it out, for a context without runs.
            options: as for :class:`RunContext`.

        Raises:
            ValueError: an unknown id; a dataset without what the context is to hold. Says which parts it has.
            ConnectionError: files that cannot be fetched.
        """
        dataset = sources.dataset_of(dataset)
        runs = {} if name is None else {name: sources.scoreddocs_of(dataset)}
        if "num_docs" not in options:
            options["num_docs"] = sources.num_docs_of(dataset)
        if not runs and options["num_docs"] is None:
            raise ValueError(f"{sources.describe(dataset)}, so there is nothing to make a context of")
        context = cls(runs, **options)
        context.dataset = dataset
        return context

    def __enter__(self) -> RunContext:
        outer = active()  # entering once more does not forget who is being evaluated
        _active.set((*_active.get(), Active(self, outer.member if outer and outer.context is self else None)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _leave(self, None)

    @contextmanager
    def evaluating(self, name: str) -> Iterator[RunContext]:
        """Activates the context, and says that the run evaluated inside is the member ``name``.

        Raises:
            ValueError: no such member.
        """
        if name not in self.runs:
            raise ValueError(f"evaluating({name!r}): the context holds no such run; its runs are {self.names}")
        block = object()
        _active.set((*_active.get(), Active(self, name, block)))
        try:
            yield self
        finally:
            _leave(self, block)

    def judged(self, qrels: Qrels | None) -> JudgedContext:
        """The context seen through these judgments (None: its dataset's); kept for when the same ones come again."""
        if qrels is None:
            qrels = sources.qrels_of(self.dataset)
        return self.judged_columns(qrels_columns(qrels))

    def judged_columns(self, columns: tuple[ObjectArray, ObjectArray, NDArray[Any]]) -> JudgedContext:
        """:meth:`judged`, from the query ids, document ids and labels of the qrels."""
        for i, (known, judged) in enumerate(self._judged):
            if all(len(a) == len(b) and np.array_equal(a, b) for a, b in zip(columns, known, strict=True)):
                self._judged.insert(0, self._judged.pop(i))
                return judged
        judged = JudgedContext(self, judge(*columns))
        self._judged.insert(0, (tuple(c.copy() for c in columns), judged))
        del self._judged[_KEPT:]
        return judged

    def evaluate(
        self, qrels: Qrels | None, measures: Sequence[ir_measures.Measure | str], perquery: bool = False
    ) -> pd.DataFrame:
        """Scores every member on every measure, in one pass.

        Args:
            qrels: the judgments, as ir_measures or PyTerrier take them, or the path of a TREC qrels file; None for
                those of the dataset that the context was made from.
            measures: measures of this package and of ir_measures, or measure strings.
            perquery: one row a run, query and measure, instead of one row a run.

        Returns:
            a DataFrame like ``pt.Experiment``'s: ``name`` and a column a measure; with ``perquery`` the columns
            ``name``, ``qid``, ``measure``, ``value``.

        Raises:
            ValueError: an unknown measure, qrels without a judgment, a run that shares no query with them.
        """
        import pandas as pd
        from tqdm import tqdm

        from .provider import check_queries, is_relative

        parsed = parse_measures(measures)
        judged = self.judged(qrels)
        query_ids = judged.judgments.query_ids
        if not len(query_ids):
            raise ValueError("the qrels hold no judgment, so there is no query to score")
        rows: list[dict[str, Any]] = []
        for name in tqdm(self.names, desc="scoring runs", unit="run", disable=None, leave=False):
            rankings = self.runs[name]
            check_queries(judged, rankings, may_be_batch=False)
            comparison = Comparison(judged, rankings, name)
            row: dict[str, Any] = {"name": name}
            for measure in parsed:
                values = measure.score(comparison) if is_relative(measure) else judged.per_query(measure, rankings)
                if perquery:
                    rows += [
                        {"name": name, "qid": q, "measure": str(measure), "value": v}
                        for q, v in zip(query_ids, values.tolist(), strict=True)
                    ]
                else:
                    aggregator = measure.aggregator()
                    for value in values.tolist():
                        aggregator.add(value)
                    row[str(measure)] = aggregator.result()
            if not perquery:
                rows.append(row)
        columns = ["name", "qid", "measure", "value"] if perquery else ["name", *map(str, parsed)]
        return pd.DataFrame(rows, columns=columns)

    def explain(
        self,
        name: str,
        qrels: Qrels,
        measure: ir_measures.Measure | str = "NRG@10",
        query_id: str | None = None,
    ) -> pd.DataFrame:
        """The documents behind a member's score.

        Args:
            name: the member.
            qrels: the judgments, as for :meth:`evaluate`.
            measure: NRG, UniqueRel, P_Rareness or AP_Rareness.
            query_id: one query; all if not given.

        Returns:
            a DataFrame with one row a document of the member's top k, in the order of its rankings:
            ``query_id``, ``doc_id``, ``grade`` (NA where not judged), ``position``, ``position in P`` for each
            prior P (NA outside its top k), ``gain`` (the residual gain G(d|R) of NRG, the weight of rareness),
            and ``contribution``. The contributions of a query sum to its score.

        Raises:
            ValueError: no such member or query, or a measure that is no sum over documents.
        """
        from .complement import explain

        return explain(self, name, qrels, measure, query_id)


def parse_measures(measures: Sequence[ir_measures.Measure | str]) -> list[ir_measures.Measure]:
    """The measures, each once, with their parameters checked.

    Raises:
        ValueError: a string that is no measure, or a parameter that is not allowed.
    """
    if isinstance(measures, (str, ir_measures.Measure)):
        raise ValueError(f"measures={measures!r} must be a list of measures, such as [{measures!s}]")
    parsed: list[ir_measures.Measure] = []
    for measure in measures:
        if not isinstance(measure, (str, ir_measures.Measure)):
            raise ValueError(f"{measure!r} is no measure; give one such as NRG@10, or a measure string")
        try:
            one = ir_measures.parse_measure(measure)
            one.validate_params()
        except (NameError, AssertionError, TypeError) as error:
            raise ValueError(f"{measure!s}: {error}") from None
        if one not in parsed:
            parsed.append(one)
    return parsed


def run_files(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[Path]:
    """The run files that a path, folder, glob or list of these stands for, hidden files left out."""
    if not isinstance(paths, (str, os.PathLike)):
        return [f for p in paths for f in run_files(p)]
    path = Path(paths)
    if path.is_dir():
        found = sorted(f for f in path.iterdir() if f.is_file() and not f.name.startswith("."))
        if not found:
            raise FileNotFoundError(f"{path}: the folder holds no file; put the TREC run files into it")
        return found
    if path.exists():
        return [path]
    found = sorted(Path(f) for f in glob.glob(os.fspath(paths)) if os.path.isfile(f))
    if not found:
        raise FileNotFoundError(f"{path}: no such file or folder, and no file that fits it as a glob")
    return found


def name_runs(files: Sequence[Path], runs: Sequence[Rankings]) -> list[str]:
    """The tags of the runs where every one has its own, else the names of the files without .gz."""
    tags = [run.tag for run in runs]
    if None not in tags and max(Counter(tags).values(), default=1) == 1:
        return [str(t) for t in tags]
    names = [f.name.removesuffix(".gz") for f in files]
    if len(set(names)) < len(names):
        twice = next(n for n, count in Counter(names).items() if count > 1)
        raise ValueError(f"two run files are called {twice!r}, and their tags do not tell them apart; rename one")
    return names
