"""Which of several set-ups is best at the same cost: one verdict, its reason, and the evidence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, TypeAlias

import ir_measures
import numpy as np
import pandas as pd

from ..arrays import FloatArray
from ..context import RunContext
from ..io.qrels import Qrels
from ..io.runs import Run, read_run
from ..io.tokens import DocumentLengths, Tokens
from ..jobs import Work
from ..measures.fusion import cutoff_of
from ..measures.strings import absolute_measure, is_relative, parse_measure, value_range
from ..messages import few_quoted
from ..options import LABELED_ALIKE, check_amount, check_choice, check_count
from ..scoring import check_campaign, warn_of_last_labels
from ..stats.bootstrap import FEWEST_DIFFERING
from ..stats.intervals import mean_and_error
from ..stats.paired_tests import PairedTestOptions
from ..stats.power import TopicsNeeded, topics_for_power
from ..view import View, check_is_context, view_of
from . import decision_text, evidence
from .decision_rule import OPEN, UNSETTLED, Ends, Intervals, Rivals, intervals, possible, verdict_of
from .option_rankings import ALL_METHODS, Combination, Option, OptionLists
from .option_values import Differences, OptionValues

#: What an option may be: a run, several runs, or from query id to the run that a router picks.
OptionLike: TypeAlias = "str | Sequence[str] | Mapping[str, str]"

# Measures of which more is not better, or which do not look at relevance.
_NO_QUALITY = ("Judged", "NumQ", "NumRel", "NumRet")
# How many judgments are drawn for the probability that a verdict stands.
_SAMPLES = 400


@dataclass(frozen=True, eq=False)
class Decision:
    """What :func:`decide`, :func:`worth` and :func:`drop` answer. ``print`` shows the text and the table."""

    options: tuple[str, ...]  #: what is compared; the first is in use
    #: Allowing for unjudged documents: the name of an option, ``"open"``, or several options joined by "or"; None where
    #: it is not known how far they move the measure.
    verdict: str | None
    as_judged: str  #: the verdict by the judgments as they are
    may_be_best: tuple[str, ...]  #: the options that are not ruled out
    missing: str | None  #: what an open verdict needs: topics, judgments, or both
    text: str  #: the verdict and its reason, what to do, the evidence: a paragraph each
    table: pd.DataFrame  #: a row an option; :func:`decide` names the columns
    judge: pd.DataFrame  #: ``query_id`` and ``doc_id`` of what to judge next, in that order
    #: Tables beside the verdict, by name: ``why``, ``groups``, ``routers``, ``pools``, ``fewer``, those that there are.
    evidence: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)  #: by what, and how, the options are compared
    topics_needed: TopicsNeeded | None = None  #: how many would settle an open verdict with 80 % power
    #: The probability that ``as_judged`` stays the verdict once all documents are judged; None where it is not known.
    stands: float | None = None

    def __bool__(self) -> bool:
        raise TypeError(
            "a Decision is neither true nor false; compare its verdict, such as decision.verdict == 'add'"
        )

    def __str__(self) -> str:
        tables = [self.table, *self.evidence.values()]
        shown = (one.to_string(index=False, float_format="%.3f", na_rep="") for one in tables if len(one))
        return "\n\n".join([self.text, *shown])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        parts = [f"<p>{_bold(escape(line))}</p>" for line in self.text.split("\n\n")]
        for one in [self.table, *self.evidence.values()]:
            parts.append(one.to_html(index=False, float_format="%.3f", na_rep="", border=0))
        return "".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; what is not a number, or infinite, is None."""

        def rows(table: pd.DataFrame) -> Any:
            return json.loads(table.to_json(orient="records", double_precision=15))

        needed = self.topics_needed
        return {
            "options": list(self.options),
            **self.settings,
            "verdict": self.verdict,
            "as_judged": self.as_judged,
            "may_be_best": list(self.may_be_best),
            "missing": self.missing,
            "stands": self.stands,
            "topics_needed": None if needed is None else needed._asdict(),
            "text": self.text,
            "table": rows(self.table),
            "judge": rows(self.judge),
            "evidence": {name: rows(one) for name, one in self.evidence.items()},
        }

    def to_json(self) -> str:
        """:meth:`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=2)

    def to_markdown(self) -> str:
        """The text and the tables, such as for a pull request."""
        tables = {"": self.table, **self.evidence}
        if len(self.judge):
            tables["documents to judge"] = self.judge
        parts = [self.text]
        for name, one in tables.items():
            lines = "\n".join(decision_text.markdown_table(one))
            folded = f"<details>\n<summary>{name}</summary>\n\n{lines}\n\n</details>"
            parts.append(folded if name else lines)
        return "\n\n".join(parts)

    def to_junit(self, name: str = "decision", as_judged: bool = False) -> str:
        """One test case: it fails where the option in use stays, and is skipped where the verdict is open.

        Args:
            name: of the test case.
            as_judged: whether it depends on the verdict by the judgments as they are.
        """
        verdict = self.as_judged if as_judged else self.verdict
        kind = {"open": "skipped", None: "skipped", self.options[0]: "failure"}.get(verdict)
        return decision_text.junit(name, str(verdict), kind, self.text)


def _bold(text: str) -> str:
    """``**…**`` at the start of a paragraph, as HTML."""
    if text.startswith("**") and "**" in text[2:]:
        head, _, rest = text[2:].partition("**")
        return f"<b>{head}</b>{rest}"
    return text


@dataclass(frozen=True, kw_only=True, eq=False)
class Settings:
    """By what options are compared, and how; :func:`decide` says what each is. Checked by :func:`settings_of`."""

    by: ir_measures.Measure
    margin: float
    how: Combination
    test: PairedTestOptions
    unretrieved_relevant: int
    n: int
    work: Work
    groups: Mapping[str, str] | None

    @property
    def ends(self) -> tuple[float, float]:
        """Between which a difference lies."""
        low, high = value_range(self.by)
        return low - high, high - low

    def shown(self) -> dict[str, Any]:
        """What a decision says of it."""
        method = "rerank" if self.how.rerank is not None else self.how.method
        shown = {"by": str(self.by), "method": method, "margin": self.margin}
        return shown | {"confidence": self.test.confidence}


def decide(
    context: RunContext,
    qrels: Qrels | None,
    options: Mapping[str, OptionLike],
    by: ir_measures.Measure | str = "nDCG@10",
    method: str = "rrf",
    margin: float = 0.0,
    *,
    k: int = 60,
    depth: int = 1000,
    rerank: Run | str | None = None,
    pool: int = 100,
    tokens: Tokens | None = None,
    budget: int | None = None,
    groups: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    unretrieved_relevant: int = 0,
    n: int = 20,
    resamples: int = 9999,
    seed: int = 0,
    time_limit: float | None = 10.0,
) -> Decision:
    """Which of several set-ups is best at the same cost? One verdict, its reason, and the evidence.

    Each option becomes one list of the same length, and ``by`` scores these lists. I(o) is the interval of option o
    less the first option, simultaneous over the options, and the widest over all judgments of the unjudged documents.
    The verdict is the first of these that holds:

    - the name of the first option, which is in use: no upper end is above ``margin``;
    - ``"open"``: no lower end is above ``margin``;
    - the name of another option, where its lower end is above ``margin`` and it is settled against each other option:
      it is above one with fewer runs by more than ``margin`` (lower end), and one with more runs is above it by at most
      ``margin`` (upper end), as is one with as many. Of several such options it is that with the highest mean;
    - several names, joined by " or ": the options that are not ruled out.

    One topic is open. A difference that is 0 on every topic has the interval [0, 0].

    Args:
        context: the runs.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        options: from name to the runs of an option; the first is in use. An option can be a rule, from query id to the
            name of the run that it picks for this topic.
        by: an absolute measure of which more is better.
        method: how the runs of an option become one list: "rrf", "isr", "combsum", "combmnz" as in FusionGain, or
            "interleave": one document of each run in turn, in the order of the option. A document that was taken is
            skipped, and the same run gives its next one; a run that has ended is skipped.
        margin: the smallest difference that matters, in the unit of ``by``.
        k, depth: of the methods, as for FusionGain. A single run is its own list.
        rerank: a run with the scores of a reranker, or its name in the context. The list of an option is then the
            first ``pool`` documents of interleaving its runs, ordered by these scores. On a topic where some option has
            fewer, the pools of all options have as many as the smallest.
        pool: how many documents the reranker gets.
        tokens, budget: the lengths of documents, by default the context's, and how many tokens a list may have: it
            ends before the first document that does not fit.
        groups: from query id to a group of topics.
        confidence: of the intervals.
        unretrieved_relevant: as for :func:`bounds`.
        n: how many documents to name that should be judged next.
        resamples, seed: of the bootstrap.
        time_limit: seconds for the bounds; what is not finished has wider bounds.

    Returns:
        a :class:`Decision`. Its table has a row an option, and the columns

        - ``option``, ``runs``, ``mean``;
        - ``difference``: from the first option, with ``ci_lower``, ``ci_upper``: its interval over topics, by the
          judgments as they are;
        - ``worst``, ``best``: the difference on these topics under the worst and the best judgments of the unjudged
          documents; ``lower``, ``upper``: the interval allowing for both;
        - ``settled``: whether no judgments of the unjudged documents can change its sign on these topics;
        - ``won``, ``lost``: on how many topics the option is above and below the first;
        - ``unjudged``: the share of its list that is not judged.

    Raises:
        ValueError: a run that the context does not hold, fewer than two options, a measure that is relative to other
            runs, a document of a pool without a score (how many, and which), a rule without a run for a judged topic.

    Example:
        >>> from ir_measures_relative import RunContext
        >>> from ir_measures_relative.questions.decide import decide
        >>> qrels = {f"q{i}": {"A": 1, "B": 1, "X": 0, "Y": 0} for i in range(12)}
        >>> old, new = ({q: {d: -i for i, d in enumerate(docs)} for q in qrels} for docs in ("XYAB", "ABXY"))
        >>> context = RunContext({"old": old, "new": new})
        >>> decision = decide(context, qrels, {"keep": ["old"], "both": ["old", "new"], "new": ["new"]}, by="nDCG@2")
        >>> decision.verdict
        'new'
    """
    settings = settings_of(
        context,
        by,
        method,
        margin,
        k=k,
        depth=depth,
        rerank=rerank,
        pool=pool,
        tokens=tokens,
        budget=budget,
        groups=groups,
        confidence=confidence,
        unretrieved_relevant=unretrieved_relevant,
        n=n,
        resamples=resamples,
        seed=seed,
        time_limit=time_limit,
    )
    whole = view_of(context, qrels)
    check_campaign(whole)
    chosen = _options_of(options, whole)
    needed = dict.fromkeys(run for option in chosen for run in option.runs)
    rivals = [
        Rivals(1 + more, 1 + less, equal)
        for more, less, equal in _all_rivals([len(option.runs) for option in chosen[1:]])
    ]
    compared = Compared(whole.of_runs(list(needed)), chosen, rivals, settings, whole)
    return compared.decision(decision_text.of_options)


def _all_rivals(sizes: Sequence[int]) -> list[tuple[int, int, bool]]:
    """Each two options, the one with more runs first."""
    pairs = [(i, j) for j in range(len(sizes)) for i in range(len(sizes)) if i != j]
    larger = [(i, j, False) for i, j in pairs if sizes[i] > sizes[j]]
    return larger + [(i, j, True) for i, j in pairs if i < j and sizes[i] == sizes[j]]


class Compared:
    """Some options, compared: what a :class:`Decision` is made of.

    Args:
        view: the runs of the options.
        options: the first is in use.
        rivals: which of the others are compared with each other.
        whole: all runs of the context, which tell how probable it is that a document is relevant.
    """

    def __init__(
        self,
        view: View,
        options: Sequence[Option],
        rivals: Sequence[Rivals],
        settings: Settings,
        whole: View,
    ) -> None:
        self.view, self.options, self.rivals, self.settings = view, list(options), rivals, settings
        self.names = [option.name for option in options]
        warn_of_last_labels(view, [settings.by])
        self.lists = OptionLists(view, options, settings.how)
        self.values = OptionValues(
            view,
            self.lists.rankings(),
            settings.by,
            settings.unretrieved_relevant,
            settings.work,
            whole,
        )
        self.topics = view.n_queries
        others = np.arange(1, len(options))
        self.gains = self.values.differences(others, np.zeros_like(others))
        self.gain = intervals(self.gains, settings.ends, settings.test)
        self._pairs = np.array([(pair.more, pair.less) for pair in rivals], dtype=np.int64).reshape(-1, 2).T
        self.rival_differences = self.values.differences(*self._pairs)
        self.between = intervals(self.rival_differences, settings.ends, settings.test)

    # ---- the verdict

    def _verdict(self, gain: Ends, between: Ends, means: FloatArray) -> int:
        if self.topics < 2:
            return OPEN
        return verdict_of(gain, means, self.rivals, between, self.settings.margin)

    @cached_property
    def overall(self) -> int:
        """The verdict, allowing for unjudged documents."""
        return self._verdict(self.gain.overall(), self.between.overall(), self.gain.difference)

    @cached_property
    def as_judged(self) -> int:
        """The verdict by the judgments as they are."""
        return self._verdict(self.gain.as_judged(), self.between.as_judged(), self.gain.difference)

    def may_be_best(self, verdict: int) -> list[int]:
        """The options that a verdict does not rule out."""
        gain, between = self.gain.overall(), self.between.overall()
        return possible(verdict, gain, self.rivals, between, self.settings.margin)

    def word(self, verdict: int) -> str:
        """The name of a verdict."""
        if verdict == OPEN:
            return "open"
        if verdict == UNSETTLED:
            return self.unsettled()
        return self.names[verdict]

    def as_judged_word(self) -> str:
        """The verdict by the judgments as they are."""
        return self.word(self.as_judged)

    def unsettled(self) -> str:
        """The name of the verdict that some option is better, and which one is not settled."""
        return " or ".join(self.names[i] for i in self.may_be_best(UNSETTLED))

    @cached_property
    def run_values(self) -> FloatArray:
        """The value of each run by itself, as a list of the same length."""
        lists = self.lists.single_runs()
        return np.array([self.view.absolute([self.settings.by], one)[0] for one in lists])

    # ---- what an open verdict lacks

    @cached_property
    def missing(self) -> str | None:
        """Topics, judgments, or both; None where the verdict is not open."""
        if self.overall not in (OPEN, UNSETTLED):
            return None
        if self.overall != self.as_judged:
            return "judgments"
        row, _, found = self._decisive
        if found.worst[row] <= self.settings.margin < found.best[row] and found.worst[row] < found.best[row]:
            return "topics and judgments"
        return "topics"

    @property
    def _decisive(self) -> tuple[int, Differences, Intervals]:
        """The difference that an open verdict depends on most: a row of those, and these with their intervals."""
        best = int(self.gain.difference.argmax())
        if self.overall != UNSETTLED:
            return best, self.gains, self.gain
        margin, (lower, upper) = self.settings.margin, self.between.overall()
        open_rows = [
            i
            for i, pair in enumerate(self.rivals)
            if 1 + best in (pair.more, pair.less) and lower[i] <= margin < upper[i]
        ]
        row = open_rows[0] if open_rows else int(np.argmax(upper - lower))
        return row, self.rival_differences, self.between

    @cached_property
    def topics_needed(self) -> TopicsNeeded | None:
        """How many topics would settle an open verdict; None where it is not open, or no number is known to."""
        if self.missing not in ("topics", "topics and judgments") or self.topics < FEWEST_DIFFERING:
            return None
        row, of, found = self._decisive
        margin = self.settings.margin
        if found.worst[row] > margin:
            return self._needed(of.worst[row], found.worst[row] - found.lower[row])
        rows = [row] if self.overall == UNSETTLED else np.flatnonzero(found.upper > margin).tolist()
        if not all(found.best[i] < margin for i in rows):
            return None
        needed = [self._needed(of.best[i], found.upper[i] - found.best[i]) for i in rows]
        known = [one for one in needed if one is not None]
        return max(known, default=None) if len(known) == len(rows) else None

    def _needed(self, values: FloatArray, reach: float) -> TopicsNeeded | None:
        return needed_topics(values, reach, self.settings.margin, self.settings.test.confidence)

    @cached_property
    def judge(self) -> pd.DataFrame:
        """The documents whose judgments an open verdict depends on."""
        if not self.missing or "judgments" not in self.missing:
            return pd.DataFrame({name: pd.Series([], dtype=str) for name in ("query_id", "doc_id")})
        margin = self.settings.margin
        gain = np.flatnonzero((self.gain.lower <= margin) & (margin < self.gain.upper))
        between = np.flatnonzero((self.between.lower <= margin) & (margin < self.between.upper))
        a = np.concatenate([1 + gain, self._pairs[0][between]])
        b = np.concatenate([np.zeros_like(gain), self._pairs[1][between]])
        parts = zip(self.gains.take(gain), self.rival_differences.take(between), strict=True)
        moved = Differences(*map(np.concatenate, parts))
        return self.values.to_judge(a, b, moved)

    @cached_property
    def stands(self) -> float | None:
        """How probable it is that the verdict as judged stays once all documents are judged.

        Judgments are drawn, and the intervals reach as many standard errors as they do now.
        """
        if self.overall == self.as_judged or not self.values.bounded:
            return None
        drawn = self.values.sampled(_SAMPLES, self.settings.test.seed)
        if drawn is None:
            return None
        reaches = [_reach(of.judged, found) for of, found in self._both()]
        stays = 0
        for batch in drawn:
            for values in batch.swapaxes(0, 1):
                sides = (values[1:] - values[:1], values[self._pairs[0]] - values[self._pairs[1]])
                ends = [_moved_ends(d, *reach) for d, reach in zip(sides, reaches, strict=True)]
                stays += self._verdict(*ends, sides[0].mean(axis=1)) == self.as_judged
        return (stays + 0.5) / (_SAMPLES + 1)

    def _both(self) -> list[tuple[Differences, Intervals]]:
        return [(self.gains, self.gain), (self.rival_differences, self.between)]

    # ---- the answer

    @cached_property
    def table(self) -> pd.DataFrame:
        """The row of each option."""
        rows = []
        means, unjudged = self.values.values.mean(axis=1), self.values.unjudged()
        for i, option in enumerate(self.options):
            row: dict[str, Any] = {"option": option.name, "runs": ", ".join(option.runs), "mean": means[i]}
            row |= dict.fromkeys(Intervals._fields, 0.0)
            row |= {"settled": True, "won": 0, "lost": 0, "unjudged": unjudged[i]}
            if i:
                row |= {name: float(values[i - 1]) for name, values in self.gain._asdict().items()}
                difference = self.gains.judged[i - 1]
                row["settled"] = bool(row["worst"] > 0 or row["best"] < 0 or row["worst"] == row["best"] == 0)
                row["won"] = int((difference > LABELED_ALIKE).sum())
                row["lost"] = int((difference < -LABELED_ALIKE).sum())
            rows.append(row)
        table = pd.DataFrame(rows)
        if not self.values.bounded:
            unknown = ["worst", "best", "lower", "upper", "settled"]
            table[unknown] = np.nan
        return table

    def evidence(self) -> dict[str, pd.DataFrame]:
        """The tables beside the verdict that every decision has, where they apply."""
        tables = {
            "groups": evidence.by_group(self),
            "routers": evidence.routers(self),
            "pools": evidence.pools(self),
        }
        return {name: one for name, one in tables.items() if one is not None}

    def decision(self, text: Any, more: Mapping[str, pd.DataFrame] | None = None) -> Decision:
        """The answer.

        Args:
            text: from this, and the tables of evidence, to the sentences.
            more: further tables of evidence.
        """
        tables = {**(more or {}), **self.evidence()}
        n = self.settings.n
        return Decision(
            tuple(self.names),
            self.word(self.overall) if self.values.bounded else None,
            self.word(self.as_judged),
            tuple(self.names[i] for i in self.may_be_best(self.overall)),
            self.missing,
            text(self, tables),
            self.table,
            self.judge[:n],
            tables,
            self.settings.shown(),
            self.topics_needed,
            self.stands,
        )


def needed_topics(
    values: FloatArray, reach: float, threshold: float, confidence: float
) -> TopicsNeeded | None:
    """How many topics would settle on which side of a threshold a mean is.

    Args:
        reach: how far the interval of these values reaches to the side of the threshold.
    """
    from scipy.special import stdtrit

    n, differing = len(values), int(np.count_nonzero(np.abs(values) > LABELED_ALIKE))
    _, error, _ = mean_and_error(values)
    if not error > 0:
        return None
    widening = max(float(reach / (error * stdtrit(n - 1, (1 + confidence) / 2))), 1.0)
    if differing >= FEWEST_DIFFERING:
        return topics_for_power(values, threshold, confidence, widening)
    found = topics_for_power(values, threshold, confidence)
    least = -(-FEWEST_DIFFERING * n // differing)  # so many hold enough topics that differ
    return found and TopicsNeeded(*(max(one, least) for one in found))


def _reach(values: FloatArray, found: Intervals) -> tuple[FloatArray, FloatArray]:
    """How many standard errors the intervals as judged reach to each side."""
    mean, error, _ = mean_and_error(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        sides = (mean - found.ci_lower) / error, (found.ci_upper - mean) / error
    return np.nan_to_num(sides[0], nan=2.0), np.nan_to_num(sides[1], nan=2.0)


def _moved_ends(values: FloatArray, down: FloatArray, up: FloatArray) -> Ends:
    mean, error, _ = mean_and_error(values)
    error = np.nan_to_num(error)
    return Ends(mean - down * error, mean + up * error)


# ---- what is given


def settings_of(
    context: RunContext,
    by: ir_measures.Measure | str,
    method: str,
    margin: float,
    *,
    k: int,
    depth: int,
    rerank: Run | str | None,
    pool: int,
    tokens: Tokens | None,
    budget: int | None,
    groups: Mapping[str, str] | None,
    confidence: float,
    unretrieved_relevant: int,
    n: int,
    resamples: int,
    seed: int,
    time_limit: float | None,
) -> Settings:
    """The arguments of :func:`decide`, checked."""
    check_is_context(context)
    measure = _measure(by)
    check_choice("method", method, ALL_METHODS)
    check_amount("margin", margin)
    low, high = value_range(measure)
    if margin >= high - low:
        raise ValueError(f"margin={margin!r} is not allowed; {measure} lies between {low:g} and {high:g}")
    if k != 60 and method != "rrf":
        raise ValueError(f"k={k!r} goes with method='rrf', not {method!r}; leave it out")
    for name, value, least in (("k", k, 0), ("depth", depth, 1), ("pool", pool, 1), ("n", n, 1)):
        check_count(name, value, least)
    check_count("unretrieved_relevant", unretrieved_relevant, 0)
    lengths = context.lengths if tokens is None else DocumentLengths(tokens)
    if budget is not None:
        check_count("budget", budget, 1)
        if lengths is None:
            raise ValueError(
                f"budget={budget} needs the lengths of the documents: set tokens=, such as a dict from document id to "
                "its number of tokens"
            )
    scores = None
    if rerank is not None:
        named = isinstance(rerank, str) and rerank in context.runs
        scores = context.runs[str(rerank)] if named else read_run(rerank, "the reranker")
    how = Combination(method, k, depth, cutoff_of(measure), scores, pool, lengths, budget)
    test = PairedTestOptions(confidence=confidence, resamples=resamples, seed=seed)
    return Settings(
        by=measure,
        margin=float(margin),
        how=how,
        test=test,
        unretrieved_relevant=unretrieved_relevant,
        n=n,
        work=Work(time_limit=time_limit),
        groups=groups,
    )


def _measure(by: ir_measures.Measure | str) -> ir_measures.Measure:
    """The measure that decides; ValueError for one that does not say how good a list is."""
    if is_relative(parse_measure(by)):
        raise ValueError(
            f"by={str(by)!r} counts what a run adds to others, and ten more documents nearly always add something; set "
            "an absolute measure of what the user sees, such as 'nDCG@10'"
        )
    measure = absolute_measure(by, "by")
    if measure.NAME in _NO_QUALITY and measure.params.get("rel") is None:
        raise ValueError(
            f"by={str(by)!r} does not say how good a list is; set a measure of which more is better, such as 'nDCG@10'"
        )
    return measure


def _options_of(options: Any, whole: View) -> list[Option]:
    """The options; ValueError for what is none."""
    if not isinstance(options, Mapping) or len(options) < 2:
        raise ValueError(
            "options= must hold at least two options by name, the one in use first, such as "
            "{'keep': ['BM25'], 'add': ['BM25', 'dense']}"
        )
    found = []
    for name, given in options.items():
        if not isinstance(name, str) or not name or name == "open":
            raise ValueError(f"options: {name!r} cannot be the name of an option; use other text")
        if isinstance(given, Mapping):
            found.append(_rule(name, given, whole))
            continue
        runs = (given,) if isinstance(given, str) else tuple(given)
        if not runs or len(set(runs)) < len(runs):
            raise ValueError(f"options[{name!r}]={given!r} must hold one run or more, each once")
        _check_known(name, runs, whole)
        found.append(Option(name, runs))
    return found


def _rule(name: str, given: Mapping[str, str], whole: View) -> Option:
    lacking = [q for q in whole.query_ids if q not in given]
    if lacking:
        raise ValueError(
            f"options[{name!r}] names no run for {len(lacking)} judged queries, such as {few_quoted(lacking[:3])}"
        )
    runs = tuple(dict.fromkeys(given[q] for q in whole.query_ids))
    _check_known(name, runs, whole)
    return Option(name, runs, given)


def _check_known(name: str, runs: Sequence[Any], whole: View) -> None:
    unknown = [run for run in runs if run not in whole.members.index]
    if unknown:
        raise ValueError(
            f"options[{name!r}] names {few_quoted(unknown)}, which the context does not hold; its runs are "
            f"{few_quoted(whole.names)}"
        )
