"""RunContext: the runs that a run is scored relative to."""

from __future__ import annotations

import copy
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np

from ..arguments import check_count, check_names, check_run_names
from ..data.rankings import Rankings
from ..data.registry import Registry
from ..io import datasets
from ..io.frames import is_frame
from ..io.qrels import Qrels, QrelsColumns
from ..io.readers import run_pipelines
from ..io.runs import Run, RunPaths, read_run
from ..messages import brief, counted, few_quoted, kind_of
from .active import ActiveContext, active, enter, leave
from .checks import check_group
from .collection import Collection, judged_collection
from .measure_strings import parse_measures
from .priors import Policy, PriorPolicy, resolve_policy

if TYPE_CHECKING:
    import pandas as pd  # not at run time: `--help` answers before pandas is loaded

#: Functions outside the core that describe or make a context: ``"fingerprint"``, ``"read files"``, ``"save track"``,
#: ``"read track"``.
DESCRIPTIONS: Registry[str, Callable[..., Any]] = Registry("descriptions of contexts")

_DOES_NOT_CHANGE = "a RunContext does not change once it is made; make a new one"


class _Fixed(dict[str, Any]):
    """An immutable dict; its error says what to do instead."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{_DOES_NOT_CHANGE}, such as RunContext({{**context.runs, 'BM25': bm25_run}})")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)


class RunContext:
    """The runs that relative measures compare a run with; immutable.

    Inside ``with RunContext(…):`` ir_measures and PyTerrier compute the measures of this package. Each thread uses its
    innermost context, and an evaluator keeps the one it was created in. Do not yield inside the block. A run of the
    context is recognized by a ``name`` column of one value, or by :meth:`evaluating`; any other is a new run.

    Args:
        runs: from name to run: anything that ir_measures or PyTerrier takes, a path, or an object of another library.
        priors: the runs that a user has seen before each: ``"others"``, ``"earlier"`` (given before it), a list of
            names, a dict from name to list, :class:`BestOfOtherGroups`, or another policy. For a new run, all runs, or
            that list.
        reference: the name of the run that MED, RBO and lexiprecision compare with.
        groups: from run name to group name, for :class:`BestOfOtherGroups` and the plots.
        num_docs: the number of documents in the collection.
        grades: the lowest and the highest grade of the collection; by default those of the qrels.
        drop_self: remove the document whose id is the query's from every run before scoring, as BEIR does. Judgments
            are unchanged, and so are the values that ir_measures itself computes of a new run.

    Example:
        >>> import ir_measures
        >>> from ir_measures_relative import RunContext
        >>> qrels = {"q1": {"A": 1, "B": 1}}
        >>> with RunContext({"BM25": {"q1": {"A": 2.0, "C": 1.0}}}):
        ...     measure = ir_measures.parse_measure("UniqueRel@2")
        ...     ir_measures.calc_aggregate([measure], qrels, {"q1": {"A": 2.0, "B": 1.0}})
        {UniqueRel@2: 1.0}
    """

    runs: Mapping[str, Rankings]  #: the runs, by name
    priors: Policy  #: a word, a list, a dict, or a policy, as given
    policy: PriorPolicy  #: the policy of ``priors``
    reference: str | None  #: the name of the reference run
    groups: Mapping[str, str]  #: from run name to group name
    num_docs: int | None  #: the number of documents in the collection
    grades: tuple[int, int] | None  #: the lowest and the highest grade
    drop_self: bool  #: whether the document whose id is the query's is removed from every run
    dataset: Any  #: the ``ir_datasets.Dataset`` that the context was made from
    track: Any  #: the citation data of the track that the context was made from; None for other contexts
    #: A cache: the judgments that were used last, each with its collection.
    _collections: list[tuple[QrelsColumns, Collection]]

    def __init__(
        self,
        runs: Mapping[str, Run],
        *,
        priors: Policy = "others",
        reference: str | None = None,
        groups: Mapping[str, str] | None = None,
        num_docs: int | None = None,
        grades: tuple[int, int] | None = None,
        drop_self: bool = False,
    ) -> None:
        if not isinstance(runs, Mapping):
            raise TypeError(f"runs is {kind_of(runs)}; give a dict from run name to run")
        check_run_names(runs)
        if not isinstance(drop_self, bool):
            raise ValueError(f"drop_self={drop_self!r} is not allowed; it must be True or False")
        read = {name: read_run(run, f"run {name!r}") for name, run in runs.items()}
        if drop_self:
            read = {name: run.without_self() for name, run in read.items()}
        names = list(read)
        if groups is not None and not isinstance(groups, Mapping):
            raise ValueError(f"groups={groups!r} must be a dict from run name to group name")
        groups = dict(groups or {})
        for name, group in groups.items():
            if not isinstance(group, str) or not group:
                raise ValueError(f"groups[{name!r}]={group!r} must be the name of a group, such as 'CMU'")
        check_names("groups", groups, names)
        if reference is not None and (not isinstance(reference, str) or reference not in names):
            raise ValueError(
                f"reference={brief(reference)} is not a run of the context; its runs are {few_quoted(names)}"
            )
        if num_docs is not None:
            check_count("num_docs", num_docs, 1)
            if num_docs >= 2**53:  # a double cannot hold all larger whole numbers
                raise ValueError(f"num_docs={num_docs!r} is not allowed; it must be below 2^53")
        # __setattr__ raises. The priors are copied, so that the caller cannot change them later.
        self.__dict__.update(
            runs=_Fixed(read),
            priors=copy.deepcopy(priors),
            policy=resolve_policy(priors, names, groups),
            reference=reference,
            groups=_Fixed(groups),
            num_docs=None if num_docs is None else int(num_docs),
            grades=None if grades is None else _checked_grades(grades),
            drop_self=drop_self,
            dataset=None,
            track=None,
            _collections=[],
        )

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{_DOES_NOT_CHANGE}: RunContext(…, {name}=…)")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle: no collections, and a dataset as its id, since its loaders do not pickle."""
        dataset = datasets.dataset_id(self.dataset) or self.dataset
        return self.__dict__ | {"_collections": [], "dataset": dataset}

    def __setstate__(self, state: dict[str, Any]) -> None:
        dataset = state["dataset"]
        if isinstance(dataset, str):
            state = state | {"dataset": None}
            with suppress(ValueError):  # an id that only the other process has registered
                state["dataset"] = datasets.load_dataset(dataset)
        self.__dict__.update(state)

    def __repr__(self) -> str:
        return f"RunContext({self.names}, priors={self.priors!r}, reference={self.reference!r})"

    @property
    def names(self) -> list[str]:
        """The names of the runs, in their order."""
        return list(self.runs)

    def read_run(self, run: Run, name: str = "the run") -> Rankings:
        """Return a run as the context reads its own: with ``drop_self``, without the query itself."""
        rankings = read_run(run, name)
        return rankings.without_self() if self.drop_self else rankings

    @classmethod
    def from_files(
        cls,
        *paths: RunPaths,
        task: str | None = None,
        judgments: Any = None,
        allow_empty: bool = False,
        **options: Any,
    ) -> RunContext:
        """Return a context of run files in TREC's format, JSON, Parquet and others, also compressed (.gz, .bz2, .xz).

        The format is recognized by the content; the page "Files and libraries" lists all. In a folder downloaded from
        TREC's archive, the pages ``runs.md`` and ``participants.md`` name the group and the task of each run, and a
        file with ``qrels`` in its name holds the judgments.

        Args:
            paths: a folder (each file is a run, also in folders below if it holds nothing else), a glob, a path, or
                several paths. A path given by itself is read as a run, even if all scores are whole numbers. Runs are
                named by their tags, or by their file names if tags are not unique. If a file holds several runs,
                splits or subsets, name one behind the path: ``"predictions.json#test"``.
            task: the task whose runs to read, if the pages of a folder name several.
            allow_empty: whether a file may hold no ranking; an error otherwise, as failed jobs leave such files.
            judgments: a file of judgments, or an id of ir_datasets, for :meth:`evaluate`; by default those of a
                downloaded folder.
            options: as for :class:`RunContext`. If the files name the group of every run, these are the ``groups``.
        """
        runs, groups, dataset = DESCRIPTIONS["read files"](paths, task, judgments, allow_empty)
        return cls._with_dataset(runs, dataset, {"groups": groups} | options)

    @classmethod
    def _with_dataset(cls, runs: Mapping[str, Run], dataset: Any, options: Mapping[str, Any]) -> RunContext:
        """Return a context whose default judgments are those of a dataset."""
        context = cls(runs, **options)
        context.__dict__["dataset"] = dataset
        return context

    @classmethod
    def from_pipelines(cls, pipelines: Mapping[str, Any], topics: Any, **options: Any) -> RunContext:
        """Return a context of the results of PyTerrier pipelines. Each pipeline runs once.

        Inside it, pass the pipelines to ``pt.Experiment`` as ``pt.relative.named(pipelines)``.

        Args:
            pipelines: from name to transformer, or to a DataFrame of results.
            topics: a DataFrame with ``qid`` and ``query``, or the path of a TREC topics file.
            options: as for :class:`RunContext`.
        """
        results, topic_ids = run_pipelines(pipelines, topics)
        runs = {name: read_run(frame, f"run {name!r}") for name, frame in results.items()}
        for name in [name for name in runs if not is_frame(pipelines[name])]:
            runs[name] = runs[name].with_attributes(asked=topic_ids)
        return cls(runs, **options)

    @classmethod
    def from_irds(cls, dataset: Any, *, name: str | None = "scoreddocs", **options: Any) -> RunContext:
        """Return a context of the run that comes with a dataset of ir_datasets: its ``scoreddocs``.

        The dataset also provides ``num_docs`` and ``grades``, unless set, and the judgments of :meth:`evaluate`.

        Args:
            dataset: an id such as ``"msmarco-passage/trec-dl-2019/judged"``, an ``ir_datasets.Dataset``, or a
                PyTerrier dataset (``pt.get_dataset("irds:…")``).
            name: the name of the run; None for a context without runs.
            options: as for :class:`RunContext`.
        """
        dataset = datasets.load_dataset(dataset)
        runs = {} if name is None else {name: datasets.fetch_scoreddocs(dataset)}
        if "num_docs" not in options:
            options["num_docs"] = datasets.count_docs(dataset)
        if "grades" not in options:
            options["grades"] = datasets.documented_grades(dataset)
        if not runs and options["num_docs"] is None:
            raise ValueError(f"{datasets.describe(dataset)}, so there is nothing to make a context of")
        return cls._with_dataset(runs, dataset, options)

    @classmethod
    def from_track(cls, track: str | os.PathLike[str], **options: Any) -> RunContext:
        """Return a context of the runs of a track: a file that keeps only the part of each run that measures need.

        That is its first ``depth`` documents (100 in most tracks), and the positions of the judged documents below. To
        this cutoff, values are identical to those of the runs. Whatever needs more is rejected.

        Args:
            track: a path, a name of the catalogue (``"demo"``, ``"vaswani"``), or a URL followed by
                ``#sha256=`` and the hash of the track.
            options: as for :class:`RunContext`, in place of those in the track.

        Raises:
            ValueError: the file is not a track, or is damaged.
        """
        runs, options_of_track, dataset, described = DESCRIPTIONS["read track"](track)
        context = cls._with_dataset(runs, dataset, options_of_track | options)
        context.__dict__["track"] = described
        return context

    def save_track(
        self, path: str | os.PathLike[str], qrels: Qrels | None = None, depth: int | None = None, **about: str
    ) -> str:
        """Write the runs of the context as a track, for :meth:`from_track`.

        Args:
            path: the file; by convention it ends in ``.track``.
            qrels: the judgments to keep, as for :meth:`evaluate`; by default the context's own, if any.
            depth: how many documents of each ranking to keep, beside the positions of the judged ones: by default 100,
                or the depth of a track that the runs are from.
            about: texts for citations: ``name``, ``version``, ``source``, ``licence``, ``citation``; with ``dataset``,
                an id of ir_datasets, the track takes the judgments from there and holds no grades.

        Returns:
            the sha256 of the track's content.
        """
        return DESCRIPTIONS["save track"](self, path, qrels, depth, about)

    def __enter__(self) -> RunContext:
        """Make the context active until the end of the block."""
        outer = active()
        entry = ActiveContext(self, None)
        if outer is not None and outer.context is self:  # keep the run that evaluating() named
            entry = outer._replace(block=None)
        enter(entry)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        leave(self, None)

    @contextmanager
    def evaluating(self, name: str | None = None, *, group: str | None = None) -> Iterator[RunContext]:
        """Activate the context, and name the run evaluated inside: ``name``, or a new run of ``group``.

        With :class:`BestOfOtherGroups` the priors of a new run of a group are the best runs of the other groups. A
        column ``group`` of one value in the run has the same effect. The group may be a new one.
        """
        if (name is None) == (group is None):
            raise ValueError("evaluating() takes the name of a run of the context, or group= for a new run")
        if group is not None:
            check_group(group, self.policy, self.groups, self)
        elif name not in self.runs:
            raise ValueError(
                f"evaluating({name!r}): the context holds no such run; its runs are {few_quoted(self.names)}"
            )
        entry = ActiveContext(self, name, object(), group)
        enter(entry)
        try:
            yield self
        finally:
            leave(self, entry.block)

    def evaluate(
        self, qrels: Qrels | None, measures: Sequence[ir_measures.Measure | str], perquery: bool = False
    ) -> pd.DataFrame:
        """Score every run on every measure, in one pass.

        Args:
            qrels: the judgments, as ir_measures or PyTerrier take them, the path of a file, a dataset of ir_datasets or
                PyTerrier, or the id of one; None for those of the dataset, folder or track of the context.
            measures: measures of this package and of ir_measures, or measure strings.
            perquery: return a row per run, query and measure, instead of a row per run.

        Returns:
            a DataFrame: ``name`` and a column per measure; with ``perquery`` the columns ``name``, ``query_id``,
            ``measure``, ``value``.
        """
        from .evaluate import score_runs  # not needed by the hosts' evaluators

        parsed = parse_measures(measures)
        scores = score_runs(judged_collection(self, qrels), self.names, parsed)
        table = scores.long_table() if perquery else scores.table()
        if tracks := cite_tracks(self.runs.values(), count_others=True):
            table.attrs["beside"] = tracks  # to be cited with the values
        return table

    def fingerprint(self, qrels: Qrels | None = None) -> dict[str, Any]:
        """Return hashes of the rankings and judgments to cite beside a relative value; they do not depend on files.

        Returns:
            a dict that ``json.dumps`` takes: ``runs``, in their order, each with ``name``, ``queries``, ``rows`` and
            ``sha256``; the options of the context; ``qrels`` with ``queries``, ``judgments`` and ``sha256``, or
            None; the ``versions`` of the packages; and ``sha256`` of all but the versions.
        """
        return DESCRIPTIONS["fingerprint"](self, qrels)


def _checked_grades(grades: Any) -> tuple[int, int]:
    try:
        low, high = (
            int(g) if isinstance(g, (int, np.integer)) and not isinstance(g, bool) else None for g in grades
        )
    except (TypeError, ValueError, LookupError):
        low = high = None
    if low is None or high is None or not -(2**31) < low <= high < 2**31:
        raise ValueError(f"grades={grades!r} is not allowed; give the lowest and the highest, such as (0, 3)")
    return low, high


def check_is_context(context: object) -> None:
    """Raise TypeError unless this is a :class:`RunContext`."""
    if not isinstance(context, RunContext):
        remedy = "RunContext(runs)" if isinstance(context, Mapping) else "a RunContext"
        raise TypeError(f"the context is {kind_of(context)}; give {remedy}")


def cite_tracks(runs: Iterable[Rankings], *, count_others: bool = False) -> list[str]:
    """Return the citations of the tracks that the runs come from, each once; part of a track is cited as such.

    With ``count_others``, the runs that are from no track are counted behind the tracks.
    """
    n_runs = Counter(run.cut for run in runs)
    n_others = n_runs.pop(None, 0)
    citations = [
        cut.citation if n == cut.n_runs else f"{counted(n, 'run')} of {cut.citation}"
        for cut, n in n_runs.items()
        if cut is not None
    ]
    return (
        [*citations, counted(n_others, "other run")] if citations and n_others and count_others else citations
    )
