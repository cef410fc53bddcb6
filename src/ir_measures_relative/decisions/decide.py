"""Choose the best of several set-ups at the same cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import ir_measures
import numpy as np
import pandas as pd

from ..context.checks import check_runs
from ..context.collection import Collection, judged_collection
from ..context.missing_topics import check_topics
from ..context.run_context import RunContext
from ..data.arrays import FloatArray
from ..io.qrels import Qrels
from ..stats.regret import OptionBounds, TopicsNeeded, topics_needed, upper_ends
from ..writing import escaped
from .answer import Decision, ScoredOptions
from .fusion import list_cutoff
from .options import INTERLEAVE, Combination, Option, OptionLike, OptionLists, read_options
from .rule import OPEN, Conclusion, RegretTest, Terms, decide_by, nearest_verdict, read_terms
from .text import Basis, State, Words, capital, describe, describe_needs
from .values import OptionValues, check_relevant

T = TypeVar("T")


def decide(
    context: RunContext,
    qrels: Qrels | None,
    options: Mapping[str, OptionLike],
    by: ir_measures.Measure | str = "nDCG@10",
    margin: float | None = None,
    *,
    labels: str | None = None,
    llm_judgments: Qrels | None = None,
    combine: Combination | None = None,
    test: RegretTest | None = None,
    groups: Mapping[str, str] | None = None,
    missing: str | None = None,
) -> Decision:
    """Choose the best of several set-ups at the same cost: one verdict, what it may cost, and the evidence.

    Each option becomes one list, which ends at the cutoff of ``by``. The *regret* of an option is by how much the best
    option is above it, over all topics of this kind and with all documents judged; the table has its upper bound. An
    option *gains* if the lower end of its difference from the first option is above 0. Each of these two statements
    holds for all options at once with the confidence. The verdict is the first of these that is true:

    - the first option, which is in use: its regret is at most ``margin``;
    - another option: its regret is at most ``margin``, and it gains. Of several, the one of the fewest runs, then of
      the least regret;
    - ``"open"``. Then ``choice`` is the option of the least regret.

    Args:
        context: the runs.
        qrels: the judgments.
        options: from name to a run or several runs; the first is in use.
        by: an absolute measure for which higher is better.
        margin: the smallest difference that matters, in the unit of ``by``. Default: 0.02, for a measure from 0 to 1.
        labels: what unjudged documents are. ``"imputed"``: a relevance model draws them, from the other documents of
            all runs of the context. ``"judged"``: not relevant. ``"strict"``: whatever is worst for each statement.
            Default: ``"imputed"`` if there is a model, which needs four runs and judgments of documents that are not
            relevant. Else ``"strict"``; if that leaves it open, the verdict is None, and ``choice`` is as judged.
        llm_judgments: judgments by a language model, in any form that qrels take. They help the relevance model to
            estimate unjudged documents, if they are right often enough where people judged too; the answer says if not.
        combine: how several runs become one list; default: reciprocal rank fusion.
        test: the confidence, how often labels are imputed, and the seed.
        groups: from query id to a group of topics.
        missing: what to do with topics that a run has no ranking for and another run has. ``"zero"`` counts them as
            empty rankings, ``"drop"`` leaves them out for all runs, ``"raise"`` is an error. Default: as ``"zero"`` if
            every run misses at most one topic in twenty, else an error.

    Returns:
        a :class:`Decision`. Its table has a row per option: ``option``, ``runs``, ``mean``; ``difference`` from the
        first, and ``lower``, the least that it gains; ``regret``, the most that it is below the best; ``judged``: the
        mean by the judgments as they are; ``won``, ``lost``: topics above and below the first; ``unjudged``: the
        unjudged share of its list.

    Raises:
        ValueError: fewer than two options, an unknown run, a relative measure, labels that there are none of, a
            document of a pool without a score, a run that misses too many topics.
    """
    terms = read_terms(context, by, margin, labels, combine, test, groups, llm_judgments)
    collection = judged_collection(context, qrels)
    check_runs(collection, missing_topics=False)
    chosen = read_options(options, collection.names, terms.combine)
    runs = dict.fromkeys(run for option in chosen for run in option.runs)
    collection, note = check_topics(collection, list(runs), missing)
    compared = compare_options(collection, chosen, terms)
    first, *further = (escaped(option.name) for option in chosen)
    keep = Words("keep", "keeping it") if first == "keep" else Words(f"keep {first}", f"keeping {first}")
    words = [keep, *(Words(f"choose {name}", f"choosing {name}") for name in further)]
    no_gain = "No other option gains" if len(further) > 1 else f"{capital(further[0])} does not gain"
    answer = describe(compared.state(words, no_gain))
    return compared.decision(*answer, missing_topics=escaped(note))


# ---- scoring, and a rule by each of the labels


def score_options(
    collection: Collection,
    options: Sequence[Option],
    terms: Terms,
    further: Sequence[Option] = (),
    candidate: str | None = None,
) -> ScoredOptions:
    """Return the options with their lists, and their values by the judgments as they are.

    Args:
        collection: all runs of the context.
        options: the first of which is in use.
        terms: of the decision.
        further: options that are scored beside them.
        candidate: the run that a language model may favour.

    Raises:
        ValueError: no document is judged relevant.
    """
    check_relevant(collection, terms.by)
    combine, reranker, every = terms.combine, terms.reranker, [*options, *further]
    lists = OptionLists(collection, every, combine, list_cutoff(terms.by), reranker)
    in_turn = reranker is not None or combine.method == INTERLEAVE  # the order of the runs matters
    scores = OptionValues(
        collection,
        lists.rankings(),
        terms.by,
        terms.test.unretrieved_relevant,
        terms.limit,
        terms.llm_judgments,
        candidate,
        [option.runs if in_turn else tuple(sorted(option.runs)) for option in every],
        None if reranker is not None else (combine.method, combine.k, combine.depth, terms.test.time_limit),
    )
    return ScoredOptions(collection, options, terms, lists, scores, scores.judged)


class Rulings(NamedTuple, Generic[T]):
    """The results of a rule by each kind of labels: those of the verdict, as judged, and the extremes."""

    scored: ScoredOptions  #: with the values under the labels of the verdict
    labels: str  #: of the verdict
    why_no_model: str  #: why there is no verdict (None); empty where there is one
    ruling: T  #: by these labels
    as_judged: T
    strict: T | None  #: None where there are no strict bounds

    @property
    def basis(self) -> Basis:
        """The basis of the sentences."""
        terms, labels = self.scored.terms, self.labels
        if labels == "judged" and self.scored.scores.all_judged:
            labels = "all"
        return Basis(str(terms.by), terms.margin, terms.test.confidence, labels, self.why_no_model)


def rule_by_labels(
    scored: ScoredOptions,
    rule: Callable[[FloatArray], T],
    strict: T | None,
    strict_decides: bool,
) -> Rulings[T]:
    """Apply a rule to the values by the judgments as they are, and by the labels of the verdict.

    ``strict`` is the result at the extremes, and ``strict_decides`` says whether that is a verdict.

    Raises:
        ValueError: labels that there are none of.
    """
    scores, terms = scored.scores, scored.terms
    as_judged = rule(scores.judged)
    labels, why_no_model = _choose_labels(scores, terms.labels, strict_decides)
    ruling = strict if labels == "strict" and strict is not None else as_judged
    if labels == "imputed":
        scored = replace(scored, values=scores.imputed(terms.test.samples, terms.test.seed))
        ruling = rule(scored.values)
    return Rulings(scored, labels, why_no_model, ruling, as_judged, strict)


def _choose_labels(scores: OptionValues, labels: str | None, strict_decides: bool) -> tuple[str, str]:
    """Return the labels that a verdict is based on, and why there is no verdict if there is none."""
    if labels == "strict" and scores.why_not_bounded is not None:
        raise ValueError(f"labels='strict': {scores.why_not_bounded}; set labels='judged', or leave it out")
    if labels == "imputed" and scores.why_no_model:
        raise ValueError(
            f"labels='imputed': {scores.why_no_model}; without a model, set labels='judged', or leave it out"
        )
    if labels == "strict":
        return "strict", ""
    if labels == "judged" or scores.all_judged:
        return "judged", ""
    if not scores.why_no_model:
        return "imputed", ""
    return ("strict", "") if strict_decides else ("judged", scores.why_no_model)


# ---- the comparison of options


class Ruling(NamedTuple):
    """The bounds of options by some labels, and the conclusion of the rule."""

    bounds: OptionBounds | None
    outcome: Conclusion


@dataclass(frozen=True, eq=False)
class Comparison:
    """Options that are compared by the rule on regret."""

    scored: ScoredOptions
    rulings: Rulings[Ruling]
    largest: FloatArray  #: the largest difference of each two options over all judgments; empty if not known

    @property
    def choice(self) -> int:
        """The index of the option to choose."""
        return self.rulings.ruling.outcome.choice

    def state(self, words: Sequence[Words], no_gain: str, **further: Any) -> State:
        """Return the state from which the sentences are made."""
        rulings, n_topics, needs = self.rulings, self.scored.collection.documents.n_queries, ""
        if self.topics_needed is not None:
            needs = describe_needs(self.topics_needed, n_topics, self.unjudged_variance_share)
        strict = None if self.scored.scores.all_judged or rulings.strict is None else rulings.strict.outcome
        bounds, outcome = rulings.ruling
        return State(
            rulings.basis, words, n_topics, outcome, bounds, no_gain, strict=strict, needs=needs, **further
        )

    @cached_property
    def topics_needed(self) -> TopicsNeeded | None:
        """How many topics an open verdict needs; None where it is not open, or not known."""
        bounds, outcome = self.rulings.ruling
        if outcome.verdict != OPEN or self.rulings.why_no_model or bounds is None:
            return None
        values, terms = self.scored.values[: len(self.scored.options)], self.scored.terms
        return topics_needed(values, terms.margin, confidence=terms.test.confidence, seed=terms.test.seed)

    @property
    def unjudged_variance_share(self) -> float:
        """The share of unjudged documents in the variance of the mean difference whose variance is largest."""
        values = self.scored.values[: len(self.scored.options)]
        if values.ndim == 2:
            return 0.0
        differences = np.delete(values - values[self.choice], self.choice, axis=0)
        between = differences.mean(axis=2).var(axis=1, ddof=1)
        over_topics = differences.mean(axis=1).var(axis=1, ddof=1) / values.shape[2]
        largest = int((between + over_topics).argmax())
        total = float(between[largest] + over_topics[largest])
        return float(between[largest]) / total if total else 0.0

    def decision(
        self,
        headline: str,
        reason: str,
        *,
        as_well: tuple[str, ...] | None = None,
        notes: Sequence[str] = (),
        evidence: Mapping[str, pd.DataFrame] | None = None,
        settings: Mapping[str, Any] | None = None,
        missing_topics: str = "",
    ) -> Decision:
        """Return the answer."""
        scored, rulings = self.scored, self.rulings
        tables, sentences = scored.describe(self.choice)
        bounds = rulings.ruling.bounds or OptionBounds(*np.full((2, len(scored.options)), np.nan))
        return Decision(
            options={option.name: option.runs for option in scored.options},
            verdict=None if rulings.why_no_model else self._verdict(rulings.ruling),
            choice=scored.options[self.choice].name,
            strict=None if rulings.strict is None else self._verdict(rulings.strict),
            as_judged=self._verdict(rulings.as_judged),
            as_well=as_well,
            labels=rulings.labels,
            headline=headline,
            reason=reason,
            notes=(*filter(None, [scored.scores.about_judge]), *notes, *sentences),
            table=scored.tabulate({"lower": bounds.gain, "regret": bounds.regret}),
            topics=scored.tabulate_topics(),
            judge=self.documents_to_judge(),
            evidence={**(evidence or {}), **tables},
            settings={**(settings or {}), **scored.terms.settings},
            topics_needed=self.topics_needed,
            missing_topics=missing_topics,
        )

    def _verdict(self, ruling: Ruling) -> str:
        verdict = ruling.outcome.verdict
        return "open" if verdict == OPEN else self.scored.options[verdict].name

    def documents_to_judge(self) -> pd.DataFrame:
        """Return the unjudged documents that could change the verdict, in the order in which to judge them."""
        rulings, scores, terms = self.rulings, self.scored.scores, self.scored.terms
        option, rivals = self.choice, [i for i in range(len(self.scored.options)) if i != self.choice]
        if rulings.strict is None or rulings.strict.outcome.verdict != OPEN or scores.all_judged:
            return scores.to_judge(option, [], self.largest, None)
        labels = None if rulings.why_no_model else rulings.labels
        if self.scored.collection.documents.n_queries > 1:
            if labels in (None, "strict"):
                ends = upper_ends(self.largest, terms.test.confidence, strictly=True)
                option, rivals = nearest_verdict(ends, terms.margin)
            elif rulings.ruling.outcome.verdict == OPEN:
                values = self.scored.values[: len(self.scored.options)]
                option, rivals = nearest_verdict(upper_ends(values, terms.test.confidence), terms.margin)
        reach = np.maximum(np.abs(self.largest[option]), np.abs(self.largest[:, option]))[rivals]
        return scores.to_judge(option, rivals, reach, labels)


def compare_options(
    collection: Collection,
    options: Sequence[Option],
    terms: Terms,
    further: Sequence[Option] = (),
    candidate: str | None = None,
) -> Comparison:
    """Compare options by the rule on regret, and score further lists beside them, as :func:`score_options` does."""
    scored = score_options(collection, options, terms, further, candidate)
    n, sizes, scores = len(options), [len(option.runs) for option in options], scored.scores

    def rule(values: FloatArray, strictly: bool = False) -> Ruling:
        bounds = terms.bound(values[:n], strictly)
        return Ruling(bounds, decide_by(bounds, sizes, terms.margin))

    strict, largest = None, np.empty((0, 0, collection.documents.n_queries))
    if scores.why_not_bounded is None:
        largest = scores.largest_differences(n)
        strict = rule(largest, strictly=True)
    rulings = rule_by_labels(scored, rule, strict, strict is not None and strict.outcome.verdict != OPEN)
    return Comparison(rulings.scored, rulings, largest)
