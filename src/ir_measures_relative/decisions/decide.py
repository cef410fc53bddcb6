"""Choose the best of several set-ups at the same cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd

from ..context.checks import check_runs
from ..context.collection import Collection, judged_collection
from ..context.missing_topics import check_topics
from ..context.run_context import RunContext
from ..data.arrays import FloatArray
from ..io.qrels import Qrels
from ..messages import escaped
from ..stats.regret import OptionBounds
from ..stats.topics_needed import TopicsNeeded, topics_needed
from .answer import Decision
from .evidence import describe_lists, tabulate_options, tabulate_topics
from .fusion import cutoff_of
from .options import INTERLEAVE, Combination, Option, OptionLike, OptionLists, read_options
from .rule import OPEN, Conclusion, decide_by
from .terms import RegretTest, Terms, read_terms
from .text import State, Words, capital, describe, describe_needs
from .values import OptionValues, check_relevant


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
    whole = judged_collection(context, qrels)
    check_runs(whole, missing_topics=False)
    chosen = read_options(options, whole.names, terms.combine)
    runs = dict.fromkeys(run for option in chosen for run in option.runs)
    whole, note = check_topics(whole, list(runs), missing)
    compared = compare_options(whole, chosen, terms)
    first = escaped(chosen[0].name)
    words = [Words(f"choose {escaped(name)}", f"choosing {escaped(name)}") for name, _ in chosen]
    words[0] = Words("keep", "keeping it") if first == "keep" else Words(f"keep {first}", f"keeping {first}")
    no_gain = (
        "No other option gains" if len(chosen) > 2 else f"{capital(escaped(chosen[1].name))} does not gain"
    )
    headline, reason = describe(compared.state(words, no_gain))
    return compared.decision(headline, reason, missing_topics=escaped(note))


# ---- a comparison


class Ruling(NamedTuple):
    """The conclusion of the rule by some labels."""

    bounds: OptionBounds | None
    outcome: Conclusion


@dataclass(frozen=True, eq=False)
class Comparison:
    """Some options, compared: their values, bounds, and what the rule says."""

    collection: Collection
    options: Sequence[Option]
    terms: Terms
    lists: OptionLists
    scores: OptionValues  #: of the options, and then of further lists
    labels: str  #: that the verdict is by
    why_no_model: str  #: why the verdict is None; empty where it is not
    values: FloatArray  #: under these labels, of the options and of the further lists
    ruling: Ruling  #: under these labels
    as_judged: Ruling
    strict: Ruling | None  #: None where there are no strict bounds
    most: FloatArray  #: the largest difference of each two options over all judgments; empty where it is not known

    def state(self, words: Sequence[Words], no_gain: str, **further: Any) -> State:
        """Return what the sentences depend on."""
        terms, all_judged, needs = self.terms, self.scores.all_judged, ""
        if self.topics_needed is not None:
            n_topics = self.collection.documents.n_queries
            needs = describe_needs(self.topics_needed, n_topics, self.unjudged_variance_share)
        return State(
            words,
            str(terms.by),
            terms.margin,
            terms.test.confidence,
            "all" if all_judged and self.labels == "judged" else self.labels,
            self.collection.documents.n_queries,
            self.ruling.outcome,
            self.ruling.bounds,
            no_gain,
            conditional=self.labels == "judged" and not all_judged,
            why_no_model=self.why_no_model,
            strict=None if all_judged or self.strict is None else self.strict.outcome,
            needs=needs,
            **further,
        )

    @cached_property
    def topics_needed(self) -> TopicsNeeded | None:
        """How many topics an open verdict needs; None where it is not open, or not known."""
        if self.ruling.outcome.verdict != OPEN or self.why_no_model or self.ruling.bounds is None:
            return None
        values, test = self.values[: len(self.options)], self.terms.test
        return topics_needed(values, self.terms.margin, confidence=test.confidence, seed=test.seed)

    @property
    def unjudged_variance_share(self) -> float:
        """The share of the variance of a mean that unjudged documents make, on the difference where it is largest."""
        values, choice = self.values[: len(self.options)], self.ruling.outcome.choice
        if values.ndim == 2:
            return 0.0
        differences = np.delete(values - values[choice], choice, axis=0)
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
        options, scores, values, choice = self.options, self.scores, self.values, self.ruling.outcome.choice
        tables, sentences = describe_lists(
            self.collection, options, self.lists, scores, values, choice, self.terms
        )
        bounds = self.ruling.bounds or OptionBounds(*np.full((2, len(options)), np.nan))
        return Decision(
            {option.name: option.runs for option in options},
            None if self.why_no_model else self._name(self.ruling),
            options[choice].name,
            None if self.strict is None else self._name(self.strict),
            self._name(self.as_judged),
            as_well,
            self.labels,
            headline,
            reason,
            (*filter(None, [scores.about_judge]), *notes, *sentences),
            tabulate_options(options, scores, values, {"lower": bounds.gain, "regret": bounds.regret}),
            tabulate_topics(self.collection, options, values),
            self.judge,
            {**(evidence or {}), **tables},
            {**(settings or {}), **self.terms.settings},
            topics_needed=self.topics_needed,
            missing_topics=missing_topics,
        )

    def _name(self, ruling: Ruling) -> str:
        verdict = ruling.outcome.verdict
        return "open" if verdict == OPEN else self.options[verdict].name

    @cached_property
    def judge(self) -> pd.DataFrame:
        """The unjudged documents that could change the verdict, in the order in which to judge them."""
        choice = self.ruling.outcome.choice
        changes = (
            self.strict is not None and self.strict.outcome.verdict == OPEN and not self.scores.all_judged
        )
        others = [i for i in range(len(self.options)) if i != choice] if changes else []
        reach = np.maximum(np.abs(self.most[choice]), np.abs(self.most[:, choice])) if changes else self.most
        return self.scores.to_judge(choice, others, reach[others], self.labels == "imputed")


def compare_options(
    collection: Collection,
    options: Sequence[Option],
    terms: Terms,
    further: Sequence[Option] = (),
    candidate: str | None = None,
) -> Comparison:
    """Compare options, the first of which is in use, by the rule on regret; score further lists beside them.

    Args:
        collection: all runs of the context.
        further: options that the verdict does not depend on.
        candidate: the run that a language model may favour.
    """
    lists, scores = score_options(collection, [*options, *further], terms, candidate)
    n, sizes = len(options), [len(option.runs) for option in options]

    def rule(bounds: OptionBounds | None) -> Ruling:
        return Ruling(bounds, decide_by(bounds, sizes, terms.margin))

    as_judged, strict = rule(terms.bound(scores.judged[:n])), None
    most: FloatArray = np.empty((0, 0, collection.documents.n_queries))
    if scores.why_not_bounded is None:
        most = scores.largest_differences(n)
        strict = rule(terms.bound_strictly(most))
    decides = strict is not None and strict.outcome.verdict != OPEN
    labels, why_no_model = choose_labels(scores, terms.labels, decides)
    values, ruling = scores.judged, strict if labels == "strict" and strict is not None else as_judged
    if labels == "imputed":
        values = scores.imputed(terms.test.samples, terms.test.seed)
        ruling = rule(terms.bound(values[:n]))
    given = collection, options, terms, lists, scores, labels, why_no_model
    return Comparison(*given, values, ruling, as_judged, strict, most)


def score_options(
    collection: Collection, options: Sequence[Option], terms: Terms, candidate: str | None = None
) -> tuple[OptionLists, OptionValues]:
    """Return the lists of options, and what they score.

    Raises:
        ValueError: no document is judged relevant.
    """
    check_relevant(collection, terms.by)
    lists = OptionLists(collection, options, terms.combine, cutoff_of(terms.by), terms.reranker)
    how, reranker = terms.combine, terms.reranker
    in_turn = reranker is not None or how.method == INTERLEAVE  # the order of the runs matters
    runs = [option.runs if in_turn else tuple(sorted(option.runs)) for option in options]
    key = None if reranker is not None else (how.method, how.k, how.depth, terms.test.time_limit)
    given = terms.by, terms.test.unretrieved_relevant, terms.work, terms.llm_judgments, candidate
    return lists, OptionValues(collection, lists.rankings(), *given, runs, key)


def choose_labels(scores: OptionValues, labels: str | None, strict_decides: bool) -> tuple[str, str]:
    """Return the labels that a verdict is by, and why it is not known, where it is not.

    Raises:
        ValueError: labels that there are none of.
    """
    if labels == "strict" and scores.why_not_bounded is not None:
        raise ValueError(f"labels='strict': {scores.why_not_bounded}; set labels='judged', or leave it out")
    if labels == "imputed" and scores.why_no_model:
        raise ValueError(
            f"labels='imputed': {scores.why_no_model}; add further runs of the collection to the context, or set "
            "labels='judged'"
        )
    if labels == "strict":
        return "strict", ""
    if labels == "judged" or scores.all_judged:
        return "judged", ""
    if not scores.why_no_model:
        return "imputed", ""
    return ("strict", "") if strict_decides else ("judged", scores.why_no_model)
