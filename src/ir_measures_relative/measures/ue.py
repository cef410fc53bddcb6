"""Upper and expected value normalization: where a ranking stands between a random and a perfect one.

Feng and Karmaker Santu, "Joint upper & expected value normalization for evaluation of retrieval systems: A
case study with Learning-to-Rank methods", Information Processing & Management 2023.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import FloatArray, IntArray, ratio, row_sums, sum_by_query, table
from . import parameters
from .declaration import RelativeMeasure, register
from .gains import discount, gain_of, ideal_dcg
from .parameters import Param

if TYPE_CHECKING:
    from ..comparison import Comparison
    from ..judgments import Judgments


class Normalizers(NamedTuple):
    """What a ranking is measured against, one value a query."""

    upper: FloatArray  #: IUB: the value of a perfect ranking of the pool
    expected: FloatArray  #: REB: the mean over all rankings of the pool


def normalize(actual: FloatArray, normalizers: Normalizers, version: int) -> FloatArray:
    """A@k normalized by IUB and REB: version 1 (Eq. 5) or 2 (Eq. 6); 0/0 is 0.

    Args:
        actual: A@k of each query, at least 0; above IUB by rounding alone, which is taken off.
    """
    upper, expected = normalizers
    actual = np.minimum(actual, upper)
    if version == 1:
        return ratio(actual, upper) * ratio(actual, actual + expected)
    above = actual - expected
    return ratio(above, np.where(above >= 0, upper - expected, expected))


def expected_dcg(mean_gain: FloatArray, depth: IntArray) -> FloatArray:
    """E[DCG@k] of a random ranking of the pool (Eq. 7): every position holds the pool's mean gain.

    Args:
        mean_gain: of the pool of each query.
        depth: min(k, n), n the size of the pool.
    """
    return mean_gain * _partial_sums(discount(np.arange(1, _longest(depth) + 1)))[depth]


def expected_sum_of_precisions(
    relevant: IntArray, pool: IntArray, depth: IntArray, exact: bool
) -> FloatArray:
    """E[SP@k] of a random ranking of the pool.

    With p = N_p/n, a document is relevant with probability p, and given that, each one above it with
    probability (N_p - 1)/(n - 1). So, exactly, ``E[SP@k] = Σ_{i≤min(k,n)} (1/i)(p + (i - 1)·p·(N_p - 1)/(n
    - 1))``. The paper takes a document's relevance for independent of those above it (§6.4.1): ``min(k,
    n)·p²``.

    Args:
        relevant: N_p, the number of relevant documents in the pool of each query.
        pool: n, the number of documents in it.
        depth: min(k, n).
    """
    p = ratio(relevant.astype(np.float64), pool.astype(np.float64))
    if not exact:
        return depth * p**2
    harmonic = _partial_sums(1.0 / np.arange(1, _longest(depth) + 1))[
        depth
    ]  # Σ 1/i; so Σ (i - 1)/i is depth - it
    given_relevant = ratio((relevant - 1).astype(np.float64), (pool - 1).astype(np.float64))
    return p * (harmonic + given_relevant * (depth - harmonic))


def sum_of_precisions(position: IntArray, query: IntArray, n_queries: int) -> FloatArray:
    """``SP@k = Σ_{i≤k} Prec(i)·R_i`` (Eq. 4) of each query.

    Args:
        position: of every relevant document in the ranking, 0 if it is not in the top k.
        query: its query, ascending, of ``n_queries``.
    """
    found = np.flatnonzero(position > 0)
    order = found[np.lexsort((position[found], query[found]))]
    positions = table(position[order].astype(np.float64), query[order], n_queries, np.inf)
    total: FloatArray = row_sums(np.arange(1, positions.shape[1] + 1) / positions)
    return total


def _longest(depth: IntArray) -> int:
    return int(depth.max(initial=0))


def _partial_sums(values: FloatArray) -> FloatArray:
    """Entry m is the sum of the first m values."""
    return np.concatenate([[0.0], np.cumsum(values)])


def _version() -> Param:
    return Param(
        int,
        "1: the upper-bound normalized value times A/(A + REB); 2: 0 at the random level, from -1 to 1",
        default=2,
        choices=(1, 2),
    )


def _pool() -> Param:
    return Param(
        str,
        "what the perfect and the random ranking rank: the query's judged documents, or the whole collection "
        "('corpus': the context's num_docs documents, the unjudged ones non-relevant)",
        default="judged",
        choices=("judged", "corpus"),
    )


class _UE(RelativeMeasure):
    """What the two measures share: the pool, and the normalization."""

    RELATIVE_TO = "chance"

    def check_together(self) -> None:
        if self.get("pool") != "corpus":
            return
        if self.get("cutoff") is None:
            raise ValueError(
                f"{self!r}: pool='corpus' needs a cutoff, since no run ranks the whole collection: write "
                f"{self!r}@10"
            )
        if self.get("judged_only"):
            raise ValueError(
                f"{self!r}: judged_only leaves the unjudged documents out, and pool='corpus' counts them in; "
                "use pool='judged'"
            )

    def score(self, comparison: Comparison) -> FloatArray:
        judged = comparison.judged
        normalizers = judged.cached(("UE", self(version=2)), lambda: self.normalizers(comparison))
        return normalize(self.actual(comparison), normalizers, self.get("version"))

    def actual(self, comparison: Comparison) -> FloatArray:
        """A@k of the evaluated run."""
        raise NotImplementedError

    def normalizers(self, comparison: Comparison) -> Normalizers:
        """IUB and REB, which depend on the judgments and the pool alone."""
        raise NotImplementedError

    def pool(self, comparison: Comparison) -> tuple[Judgments, IntArray, IntArray]:
        """The judged documents of the pool, its size n, and min(k, n)."""
        docs = comparison.judgments
        if self.get("judged_only"):
            docs = docs.select(
                docs.grade >= 0
            )  # a negative label counts as unjudged there, as in trec_eval -J
        size = np.bincount(docs.query, minlength=docs.n_queries)
        if self.get("pool") == "corpus":
            size = self._corpus(comparison, size)
        cutoff = self.get("cutoff")
        return docs, size, size if cutoff is None else np.minimum(size, cutoff)

    def _corpus(self, comparison: Comparison, judged: IntArray) -> IntArray:
        num_docs = comparison.context.num_docs
        if num_docs is None:
            raise ValueError(
                f"{self!r} needs the number of documents in the collection; write\n"
                "    with RunContext({}, num_docs=528155):\n"
                "        …  # evaluate here"
            )
        most = int(np.argmax(judged)) if len(judged) else 0
        if len(judged) and judged[most] > num_docs:
            raise ValueError(
                f"{self!r}: query {comparison.judgments.query_ids[most]!r} has {judged[most]} judged "
                f"documents, and the context says that the collection has {num_docs}: correct "
                "RunContext(…, num_docs=…)"
            )
        return np.full(len(judged), num_docs, dtype=np.int64)


class _nDCG_UE(_UE):
    """nDCG between the DCG of a random and that of a perfect ranking of the query's pool of documents.

    A query whose documents are nearly all relevant rewards any ranking; this measure says how much better
    than chance a ranking is. With A = DCG@k, IUB the DCG@k of a perfect ranking of the pool, and REB the
    mean over all its rankings, ``E[DCG@k] = E[gain]·Σ_{i≤min(k,n)} 1/log2(i + 1)``, n the size of the pool:

    - version 1: ``(A/IUB) · (A/(A + REB))``, range [0, 1). A perfect ranking scores IUB/(IUB + REB), below 1.
    - version 2: ``(A - REB)/(IUB - REB)`` if A ≥ REB, else ``(A - REB)/REB``, range [-1, 1]: 1 for a perfect
      ranking, 0 for the random level, -1 for a ranking without a relevant document.

    0/0 is 0: queries without relevant documents, and version 2 of a perfect ranking of a pool in which all
    are equally relevant, where there is nothing to rank.

    The pool is the query's judged documents, those with a negative label too. A run also ranks unjudged
    ones, which earn nothing: it may well score below a random ranking of the pool. ``judged_only=True``
    takes them out first (and, as trec_eval -J, the negative labels, from the pool too), so that like is
    compared with like; with ``pool='corpus'`` the random ranking is one of the whole collection, of
    ``RunContext(…, num_docs=…)`` documents. Without a cutoff the perfect and the random ranking are those
    of the whole pool, however short the run is.

    When not to use it: the values of one query are a function of its DCG, so within a query it orders runs
    as nDCG does; it matters where values are averaged or compared over queries. Rankings scored at random
    do not average to 0 in version 2, only the numerators do: the two sides are scaled differently.

    Source: Feng and Karmaker Santu, "Joint upper & expected value normalization for evaluation of retrieval
    systems", Information Processing & Management 2023, Eqs. 5-7.

    Example:
        >>> import ir_measures
        >>> from ir_measures_relative import nDCG_UE
        >>> qrels = {"q": {"A": 1, "B": 0}}
        >>> (nDCG_UE @ 2).calc_aggregate(qrels, {"q": {"A": 2.0, "B": 1.0}})
        1.0
        >>> value = nDCG_UE(version=1) @ 2  # REB = (1/2) · (1 + 0.6309) = 0.8155, so 1 · 1/1.8155
        >>> round(value.calc_aggregate(qrels, {"q": {"A": 2.0, "B": 1.0}}), 4)
        0.5508
    """

    __name__ = "nDCG_UE"
    NAME = __name__
    PRETTY_NAME = "Upper and Expected Value Normalized Discounted Cumulative Gain"
    SHORT_DESC = (
        "How far the DCG of a ranking is from that of a random ranking towards that of a perfect one."
    )
    FORMULA = (
        r"\mathrm{UE}_1 = \frac{A}{\mathrm{IUB}} \cdot \frac{A}{A + \mathrm{REB}}, \qquad "
        r"\mathrm{UE}_2 = \begin{cases} (A - \mathrm{REB}) / (\mathrm{IUB} - \mathrm{REB}) & A \ge \mathrm{REB} \\ "
        r"(A - \mathrm{REB}) / \mathrm{REB} & A < \mathrm{REB} \end{cases}"
    )
    SEE_ALSO = ("AP_UE",)
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(),
        "version": _version(),
        "dcg": parameters.dcg("exp-log2"),
        "gains": parameters.gains(),
        "pool": _pool(),
        "judged_only": parameters.judged_only(),
    }

    def actual(self, comparison: Comparison) -> FloatArray:
        gains = self.get("gains")
        docs = comparison.judgments if gains and min(gains) <= 0 else comparison.relevant
        position = comparison.positions(docs, self.get("cutoff"), self.get("judged_only"))
        gain = gain_of(docs.grade, self.get("dcg"), gains)
        return sum_by_query(gain * discount(position), docs.query, docs.n_queries)

    def normalizers(self, comparison: Comparison) -> Normalizers:
        docs, size, depth = self.pool(comparison)
        gain = gain_of(docs.grade, self.get("dcg"), self.get("gains"))
        n_queries = docs.n_queries
        upper = ideal_dcg(gain, docs.query, n_queries, self.get("cutoff"))
        total = sum_by_query(gain, docs.query, n_queries)
        expected = expected_dcg(ratio(total, size.astype(np.float64)), depth)
        # Where all of the pool has one gain, any ranking is perfect: IUB and REB differ by rounding alone.
        highest = table(gain, docs.query, n_queries, 0.0).max(axis=1, initial=0.0)
        return Normalizers(upper, np.where(highest * size == total, upper, expected))


class _AP_UE(_UE):
    """AP between the sum of precisions of a random and that of a perfect ranking of the query's documents.

    As :class:`nDCG_UE`, with ``A = SP@k = Σ_{i≤k} Prec(i)·R_i``, R_i whether the document at i is relevant,
    ``IUB = min(k, N_p)``, N_p the number of relevant documents of the pool, and REB the mean over all
    rankings of it.

    **Two expectations.** The paper takes Prec(i) and R_i to be independent, which gives ``E[SP@k] = min(k,
    n)·(N_p/n)²``: ``expected='independent'``, the published measure and the default. They are
    not: a relevant document at i is one of those that Prec(i) counts. Exactly, ``E[SP@k] = Σ_{i≤min(k,n)}
    (1/i)(p + (i - 1)·p·(N_p - 1)/(n - 1))`` with p = N_p/n: ``expected='exact'``. With n = 20, N_p = 5, k =
    10 the published value is 0.625 and the true one 1.1044, so that the published version 2 places the
    random level well above 0; the exact one is the measure that version 2 promises.

    Range: version 1 [0, 1), version 2 [-1, 1], and 0/0 is 0, as for :class:`nDCG_UE`, where pools, cutoffs
    and ``judged_only`` are explained.

    Source: Feng and Karmaker Santu, "Joint upper & expected value normalization for evaluation of retrieval
    systems", Information Processing & Management 2023, Eqs. 4-6 and 9.

    Example:
        >>> import ir_measures
        >>> from ir_measures_relative import AP_UE
        >>> qrels, run = {"q": {"A": 1, "B": 0}}, {"q": {"B": 2.0, "A": 1.0}}
        >>> (AP_UE @ 2).calc_aggregate(qrels, run)  # SP 1/2; published random level: 2/4
        0.0
        >>> value = AP_UE(expected="exact") @ 2  # the mean of 1 and 1/2 is 3/4
        >>> round(value.calc_aggregate(qrels, run), 4)
        -0.3333
    """

    __name__ = "AP_UE"
    NAME = __name__
    PRETTY_NAME = "Upper and Expected Value Normalized Average Precision"
    SHORT_DESC = (
        "How far the precision sum of a ranking is from that of a random one towards that of a perfect one."
    )
    FORMULA = (
        r"A = \sum_{i=1}^{k} \mathrm{P}@i \cdot \mathrm{rel}(d_i), \qquad \mathrm{IUB} = \min(k, N_p), \qquad "
        r"\mathrm{REB} = \mathrm{E}[A]"
    )
    SEE_ALSO = ("nDCG_UE",)
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(),
        "version": _version(),
        "expected": Param(
            str,
            "the random level: as published, which takes precision and relevance at a position to be "
            "independent, or exact",
            default="independent",
            choices=("independent", "exact"),
        ),
        "pool": _pool(),
        "rel": parameters.rel(),
        "judged_only": parameters.judged_only(),
    }

    def actual(self, comparison: Comparison) -> FloatArray:
        docs = comparison.relevant
        position = comparison.positions(docs, self.get("cutoff"), self.get("judged_only"))
        return sum_of_precisions(position * (docs.grade >= self.get("rel")), docs.query, docs.n_queries)

    def normalizers(self, comparison: Comparison) -> Normalizers:
        docs, size, depth = self.pool(comparison)
        relevant = np.bincount(docs.query[docs.grade >= self.get("rel")], minlength=docs.n_queries)
        upper = np.minimum(depth, relevant).astype(np.float64)
        expected = expected_sum_of_precisions(relevant, size, depth, self.get("expected") == "exact")
        # Where all of the pool is relevant, any ranking is perfect: IUB and REB differ by rounding alone.
        return Normalizers(upper, np.where(relevant == size, upper, expected))


nDCG_UE = _nDCG_UE()
AP_UE = _AP_UE()
register(nDCG_UE)
register(AP_UE)
