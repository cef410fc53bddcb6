"""RunContext: the runs that a run is scored relative to."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Never

import ir_measures
import numpy as np

from ..data.rankings import Rankings
from ..data.registry import Registry
from ..io import datasets
from ..io.qrels import Qrels, dataset_of_judgments
from ..io.readers import run_pipelines
from ..io.runs import Run, RunPaths, groups_of, judgments_beside, read_run, read_runs, run_files
from ..messages import few_quoted, kind_of, warn
from .evaluate import score_runs
from .lengths import DocumentLengths, Tokens
from .measure_strings import nearest_name, parse_measures
from .priors import (
    Members,
    Policy,
    check_group,
    check_names,
    check_run_names,
    fields_of,
    group_of,
    policy_of,
)
from .view import view_of

if TYPE_CHECKING:
    import pandas as pd  # which the command line does without

#: What a wing makes of a context: ``"fingerprint"``, of it and qrels; ``"html"``, what a notebook shows.
DESCRIPTIONS: Registry[str, Callable[..., Any]] = Registry("descriptions of contexts")


class ActiveContext(NamedTuple):
    """An entered context, and the member that ``evaluating()`` named, or the group of a new run."""

    context: RunContext
    member: str | None
    block: object = None  #: which ``evaluating()`` block it is; None for a plain ``with context``
    group: str | None = None


_active: ContextVar[tuple[ActiveContext, ...]] = ContextVar("ir_measures_relative_active", default=())


def active() -> ActiveContext | None:
    """The innermost context that is entered here, in this thread or task."""
    stack = _active.get()
    return stack[-1] if stack else None


def evaluated_run(entered: ActiveContext, rankings: Rankings) -> tuple[str | None, str | None]:
    """Who is evaluated: the name of the member that a run is, None for a new run; and the group of a new run.

    What :meth:`RunContext.evaluating` says goes first, then the name that the run itself bears: its ``name`` column.

    Args:
        entered: the context that the evaluator was made in; what is active now counts where it is the same context.
    """
    context, now = entered.context, active()
    is_said = now is not None and now.context is context and (now.member or now.group)
    said = now if now is not None and is_said else entered
    member, group = said.member, said.group
    if member is None and rankings.tag in context.runs:
        member = rankings.tag
    if member is None:
        return None, group_of(rankings, context, group)
    if group is not None and context.groups.get(member) != group:
        raise ValueError(
            f"the evaluated run is named {member!r}, which is a run of the context and of the group "
            f"{context.groups.get(member)!r}, but is said to be a new run of {group!r}: give it another name, or "
            "leave group out"
        )
    return member, None


def _leave(context: RunContext, block: object) -> None:
    """Takes back the last entry of its own, with a warning where another was entered since, or it is not there."""
    stack = _active.get()
    own = [i for i, entry in enumerate(stack) if entry.context is context and entry.block is block]
    after = stack[own[-1] + 1 :] if own else ()
    if own:
        _active.set(stack[: own[-1]] + after)
    if after or not own:
        other = (
            f"while {after[-1].context!r}, entered later, is active" if after else "in another thread or task"
        )
        warn(
            f"the block of {context!r} is left {other}: did a generator enter it, and yield inside? What was "
            "evaluated since may be relative to the wrong runs: enter a context where nothing is yielded, or use its "
            "method evaluate",
            context,
        )


_DOES_NOT_CHANGE = (
    "a RunContext does not change once it is made, since what was computed with it would be wrong then; make a new "
    "one"
)


class _Fixed(dict[str, Any]):
    """A dict that refuses to change, in words."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{_DOES_NOT_CHANGE}, such as RunContext({{**context.runs, 'BM25': bm25_run}})")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)


class RunContext(Members):
    """The runs that relative measures compare a run with.

    A re-entrant context manager; inside ``with RunContext(…):`` ir_measures and PyTerrier compute the measures of this
    package. The innermost context counts, and every thread has its own; an evaluator keeps the one that is active when
    it is created. A generator that yields inside the block leaves it active in its caller; see the page "Concepts". A
    context is immutable. A run that is in it is not its own prior: it is known by a ``name`` column that holds one
    value, or by :meth:`evaluating`; any other run is a new run.

    Args:
        runs: the members, from name to run: what ir_measures takes, a PyTerrier result frame, the path of a
            run file, a table of polars or pyarrow, an object of ranx, trectools or LensKit.
        priors: whose documents a searcher has seen before a member's: ``"others"`` (all other runs),
            ``"earlier"`` (those given before it), a list of names, a dict from name to list,
            :class:`BestOfOtherGroups`, or another :class:`~ir_measures_relative.context.priors.PriorPolicy`. For a
            new run every run (or the list, where it is one), unless :meth:`evaluating` says its group.
        reference: the name of the run that MED, RBO, RBA and lexiprecision compare with.
        groups: from run name to group name, for :class:`BestOfOtherGroups` and the plots.
        num_docs: the number of documents in the collection.
        grades: the lowest and the highest grade of the collection; graded MED needs them. Default: those of the qrels.
            Set them if the qrels come in parts, such as PyTerrier's batches of topics.
        tokens: the number of tokens of each document, for cutoffs by a budget of tokens, such as
            ``NewAspects(budget=4000)``: a mapping or Series from document id to number, a function such as
            :class:`TokenCounts`, or a DataFrame with the columns ``doc_id`` and ``tokens``.
        absolute: inside the context, this package computes nDCG, AP, P, R, RR, Rprec and Success instead of
            pytrec_eval: the same values in a fraction of the time.

    Raises:
        ValueError: a run that cannot be read, a name that is not a member; the message says which.

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
        grades: tuple[int, int] | None = None,
        tokens: Tokens | None = None,
        absolute: bool = False,
        **unknown: Never,
    ) -> None:
        for name in unknown:
            known = ["priors", "reference", "groups", "num_docs", "grades", "tokens", "absolute"]
            nearest = nearest_name(name, known)
            hint = (
                f"; did you mean {nearest!r}?" if nearest else f"; its arguments are runs, {', '.join(known)}"
            )
            raise TypeError(f"RunContext has no argument {name!r}{hint}")
        if not isinstance(runs, Mapping):
            raise TypeError(f"runs is {kind_of(runs)}; give a dict from run name to run")
        check_run_names(runs)
        read = {name: read_run(run, f"run {name!r}") for name, run in runs.items()}
        names = list(read)
        if groups is not None and not isinstance(groups, Mapping):
            raise ValueError(f"groups={groups!r} must be a dict from run name to group name")
        groups = dict(groups or {})
        for name, group in groups.items():
            if not isinstance(group, str) or not group:
                raise ValueError(f"groups[{name!r}]={group!r} must be the name of a group, such as 'CMU'")
        check_names("groups", groups, names)
        if not isinstance(reference, str | None):
            raise ValueError(f"reference is {kind_of(reference)}; give the name of a run of the context")
        if reference is not None and reference not in names:
            raise ValueError(
                f"reference={reference!r} is not a run of the context; its runs are {few_quoted(names)}"
            )
        super().__init__(
            runs=_Fixed(read),
            groups=_Fixed(groups),
            priors=copy.deepcopy(priors),  # what the caller does to it later does not count
            policy=policy_of(priors, names, groups),
            reference=reference,
            num_docs=_checked_num_docs(num_docs),
            grades=None if grades is None else _checked_grades(grades),
            lengths=tokens if isinstance(tokens, DocumentLengths | None) else DocumentLengths(tokens),
            absolute=absolute,
        )

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{_DOES_NOT_CHANGE}: RunContext(…, {name}=…)")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __repr__(self) -> str:
        return f"RunContext({self.names}, priors={self.priors!r}, reference={self.reference!r})"

    @classmethod
    def from_files(
        cls, *paths: RunPaths, task: str | None = None, judgments: Any = None, **options: Any
    ) -> RunContext:
        """A context of run files: TREC's format, JSON, Parquet and others, plain or packed (.gz, .bz2, .xz).

        The content of a file tells its format; the page "Formats" lists them. A folder may be as downloaded from an
        archive such as TREC's: its pages ``runs.md`` and ``participants.md`` say who sent a run, which becomes its
        group, and for which task, and a file with ``qrels`` in its name holds the judgments.

        Args:
            paths: a folder (every file in it is a run), a glob, a path, or several paths. A run is named by its
                tag; where two files share a tag, or one has none or several, all are named by their file names. Where
                a file holds several runs, splits or subsets, name one behind the path: ``"predictions.json#test"``.
            task: the task whose runs are meant, where the pages of a folder tell of several.
            judgments: a file of judgments, or an id of ir_datasets, which :meth:`evaluate` uses where no others are
                given; those of a downloaded folder if not given.
            options: as for :class:`RunContext`. Where the files say the group of every run, these are the ``groups``.

        Raises:
            FileNotFoundError: nothing there.
            ValueError: a file that is not a run, which names file and line; several tasks, or several files of
                judgments, which names them.
        """
        given: Any = paths[0] if len(paths) == 1 else paths
        files = run_files(given, task)
        judgments = judgments_beside(given) if judgments is None else judgments
        dataset = None if judgments is None else dataset_of_judgments(judgments)
        runs = read_runs(files)
        return cls._of_dataset(runs, dataset, {"groups": groups_of(runs)} | options)

    @classmethod
    def _of_dataset(cls, runs: Mapping[str, Run], dataset: Any, options: Mapping[str, Any]) -> RunContext:
        """A context that takes its judgments, if no others are given, from a dataset."""
        context = cls.__new__(cls)
        Members.__init__(context, **fields_of(cls(runs, **options)) | {"dataset": dataset})
        return context

    @classmethod
    def from_pipelines(cls, pipelines: Mapping[str, Any], topics: Any, **options: Any) -> RunContext:
        """A context of the results of PyTerrier pipelines. Each pipeline runs once.

        Inside it, ``pt.Experiment`` knows the pipelines of ``pt.relative.named(pipelines)`` for members.
        (``pt.relative.Experiment`` sees to that itself.)

        Args:
            pipelines: from name to transformer, or to a DataFrame of results.
            topics: a DataFrame with ``qid`` and ``query``, or the path of a TREC topics file.
            options: as for :class:`RunContext`.

        Raises:
            TypeError: what is not a transformer.
        """
        return cls(run_pipelines(pipelines, topics), **options)

    @classmethod
    def from_irds(cls, dataset: Any, *, name: str | None = "scoreddocs", **options: Any) -> RunContext:
        """A context of the run that comes with a dataset of ir_datasets: its ``scoreddocs``, a first-stage ranking.

        The number of the dataset's documents becomes ``num_docs`` and the range of the grades that its qrels are
        documented to have ``grades``, unless these are given. The dataset becomes :attr:`dataset`, whose judgments
        :meth:`evaluate` uses where no others are given.

        Args:
            dataset: an id such as ``"msmarco-passage/trec-dl-2019/judged"``, an ``ir_datasets.Dataset``, or a
                PyTerrier dataset (``pt.get_dataset("irds:…")``).
            name: what the run is called here; None leaves it out, for a context without runs.
            options: as for :class:`RunContext`.

        Raises:
            ValueError: an unknown id; a dataset without what the context is to hold. Says which parts it has.
            ConnectionError: files that cannot be fetched.
        """
        dataset = datasets.dataset_of(dataset)
        runs = {} if name is None else {name: datasets.scoreddocs_of(dataset)}
        if "num_docs" not in options:
            options["num_docs"] = datasets.num_docs_of(dataset)
        if "grades" not in options:
            options["grades"] = datasets.grades_of(dataset)
        if not runs and options["num_docs"] is None:
            raise ValueError(f"{datasets.describe(dataset)}, so there is nothing to make a context of")
        return cls._of_dataset(runs, dataset, options)

    def __enter__(self) -> RunContext:
        """Makes the context the active one, up to the end of the block.

        Do not yield inside the block: while a generator is suspended, it silently imposes its context on its caller. A
        block that is left while a later one is active, or in another thread or task, draws a warning.
        :meth:`evaluate`, and an evaluator made before the first ``yield``, do not depend on what is active.
        """
        outer = active()
        again = outer is not None and outer.context is self  # which does not forget who is being evaluated
        entry = outer._replace(block=None) if outer is not None and again else ActiveContext(self, None)
        _active.set((*_active.get(), entry))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _leave(self, None)

    @contextmanager
    def evaluating(self, name: str | None = None, *, group: str | None = None) -> Iterator[RunContext]:
        """Activates the context, and says who is evaluated inside: the member ``name``, or a new run of ``group``.

        With :class:`BestOfOtherGroups` the priors of a new run of a group are the best runs of the other groups; a
        column ``group`` in the run itself, which holds one value, says the same. A group that no run of the context
        is of is a new one, and the best run of every group a prior; it draws a warning if it looks like one of theirs.

        Raises:
            ValueError: no such member; a group where the context's priors do not go by groups; both or neither.
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
        _active.set((*_active.get(), entry))
        try:
            yield self
        finally:
            _leave(self, entry.block)

    def evaluate(
        self, qrels: Qrels | None, measures: Sequence[ir_measures.Measure | str], perquery: bool = False
    ) -> pd.DataFrame:
        """Scores every member on every measure, in one pass.

        Args:
            qrels: the judgments, as ir_measures or PyTerrier take them, or the path of a file, TREC's or of the page
                "Formats"; None for those of the dataset or the folder that the context was made from.
            measures: measures of this package and of ir_measures, or measure strings.
            perquery: one row a run, query and measure, instead of one row a run.

        Returns:
            a DataFrame like ``pt.Experiment``'s: ``name`` and a column a measure; with ``perquery`` the columns
            ``name``, ``query_id``, ``measure``, ``value``.

        Raises:
            ValueError: no or an unknown measure, qrels without a judgment, a run that shares no query with them.
        """
        parsed = parse_measures(measures)
        scores = score_runs(view_of(self, qrels), self.names, parsed)
        return scores.long_table() if perquery else scores.table()

    def fingerprint(self, qrels: Qrels | None = None) -> dict[str, Any]:
        """What a relative value is relative to, for citing it: a value without this cannot be compared.

        The hashes are of the rankings and the judgments, and not of the files: the format, the order of the rows and
        scores that make the same ranking make no difference.

        Args:
            qrels: the judgments, to be in it as well; those of the dataset that the context was made from where it
                has one.

        Returns:
            a dict that ``json.dumps`` takes: ``runs``, in their order, each with ``name``, ``queries``, ``rows`` and
            ``sha256``; what the context knows of them; ``qrels`` with ``queries``, ``judgments`` and ``sha256``, or
            None; the ``versions`` of the packages; and ``sha256`` of all but the versions.

        Example:
            >>> from ir_measures_relative import RunContext
            >>> one = RunContext({"BM25": {"q": {"A": 2.0, "B": 1.0}}}).fingerprint()
            >>> other = RunContext({"BM25": {"q": {"B": 0.5, "A": 7.5}}}).fingerprint()
            >>> one["runs"] == other["runs"], one["sha256"] == other["sha256"]
            (True, True)
        """
        found: dict[str, Any] = DESCRIPTIONS["fingerprint"](self, qrels)
        return found


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _checked_num_docs(num_docs: Any) -> int | None:
    if num_docs is None:
        return None
    if not _is_whole(num_docs) or not 1 <= num_docs < 2**53:
        raise ValueError(f"num_docs={num_docs!r} is not allowed; it must be a whole number of at least 1")
    return int(num_docs)


def _checked_grades(grades: Any) -> tuple[int, int]:
    try:
        low, high = (int(g) if _is_whole(g) else None for g in grades)
    except (TypeError, ValueError):
        low = high = None
    if low is None or high is None or not -(2**31) < low <= high < 2**31:
        raise ValueError(f"grades={grades!r} is not allowed; give the lowest and the highest, such as (0, 3)")
    return low, high
