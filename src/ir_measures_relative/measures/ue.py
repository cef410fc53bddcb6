"""Upper and expected value normalization: where a ranking stands between a random and a perfect one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..context.measure_strings import value_of
from ..data.arrays import BoolArray, FloatArray, IntArray
from ..messages import warn
from . import parameters
from .bases.gains import chance_to_satisfy, check_grades, gain_of
from .bases.random_ranking import (
    BASES,
    BaseSettings,
    NormalizedBase,
    Normalizers,
    RandomRanking,
    RankedGains,
    normalize,
)
from .measure import RelativeMeasure, register
from .parameters import Param

if TYPE_CHECKING:
    from ..context.view import View
    from ..data.documents import Documents

#: A topic is told of where fewer of its judged documents are not relevant. In TREC's pools at least 7 % are not.
_FEW_NON_RELEVANT = 0.05
#: On how many topics at most it is looked at how much of the judged documents a run ranks.
_TOPICS_LOOKED_AT = 10
#: A run is told of that ranks a smaller share of the judged documents.
_HALF = 0.5


class _UE(RelativeMeasure):
    """For reranking and learning to rank: where a ranking stands between a random and a perfect one of its pool.

    A first-stage run ranks few of the judged documents. A random ranking of all of them is then better than it can
    be, so its values are too low. A warning says so where it ranks less than half. ``pool='run'`` compares with
    random rankings of the judged documents that the run itself ranks.

    With A the value of the base measure for the ranking, IUB that of a perfect ranking of the query's pool of
    documents, and REB and σ the mean and the standard deviation over all rankings of the pool:

    - version 1: ``(A/IUB) · (A/(A + REB))``, range [0, 1);
    - version 2: ``(A - REB)/(IUB - REB)`` if A ≥ REB, else ``(A - REB)/REB``, range [-1, 1]: 1 for a perfect
      ranking, 0 for the random level, -1 for a ranking with the value 0;
    - version 'z': ``(A - REB)/σ``, range from -REB/σ to (IUB - REB)/σ, which differ from query to query.

    The mean and the deviation are exact, except AP's published mean. With n documents in the pool, m of them
    relevant, and d = min(k, n):

    - P, ``REB = (m/n)·d/k``, and R, ``d/n``. σ of the number found is
      ``√(d·(m/n)·(1 - m/n)·(n - d)/(n - 1))``. The two differ by a factor, which the normalization removes: P
      and R have the same values.
    - Success: ``1 - C(n - m, d)/C(n, d)``. No version 'z': a miss lies ``√(REB/(1 - REB))`` deviations below
      chance. On a topic where hardly any ranking misses, this outweighs all other topics.
    - RR: ``Σ_{i≤d} f_i/i`` with ``f_i = C(n - i, m - 1)/C(n, m)`` the chance that the first relevant document is at i;
      σ from the same f_i.
    - RBP, with persistence p: ``(m/n)·(1 - p^d)``; nDCG, for which A is DCG@k: the mean gain times ``Σ_{i≤d} 1/log2(i
      + 1)``. Both are sums Σ w_i·g(d_i), for which ``σ² = Σ_i (w_i - w̄)²·Σ_d (g_d - ḡ)²/(n - 1)``, over n positions and
      n documents.
    - AP, for which A is SP@k, the sum of the precisions at the relevant documents: the published mean, or with
      ``expected='exact'`` the true one; see :class:`AP_UE`. No σ here.
    - ERR, with ``θ = (2^grade - 1)/2^max_grade`` the chance that a document satisfies: ``Σ_{i≤d} (h_{i-1} - h_i)/i``,
      where ``h_i = e_i/C(n, i)``, e_i the elementary symmetric polynomial of all 1 - θ. ``max_grade=4`` is gdeval's. No
      σ here.

    IUB is always what the pool allows: with m < k relevant documents m/k for P, 1 for R, RR and Success, 1 - p^m for
    RBP, SP@k = m for AP.

    **What a mean says.** In version 'z' the values of random rankings have mean 0 and variance 1 on every
    query. So for any queries, a mean of 0 is chance, and 1 is one standard deviation above chance. For a
    random run, the mean over Q queries has the deviation 1/√Q. In version 2 the two sides are divided by
    different numbers: 0 is the random level of a query, but random rankings do not average to it. Where
    nothing can be told from chance (σ = 0), version 'z' is 0: no relevant document, all relevant, or for P
    and R so small a pool that all rankings have the same value. Such queries pull a mean towards 0.

    **A random ranking of what?** Of the query's judged documents, by default; with ``pool='run'`` of those that the
    run ranks, at any depth, so that two runs with other documents have other scales. If nearly all of these are
    relevant, a random ranking of them is nearly perfect. (MS MARCO's dev topics and Vaswani have no others.)
    With one judged document, a ranking with it at the top has nDCG_UE 0, and one with it at position 2 has
    -0.37. A warning comes where fewer than 5 % are not relevant. Use ``pool='corpus'`` then: a random ranking
    of the whole collection.

    The pool, the cutoff and unjudged documents are as in :class:`nDCG_UE`, in all versions. An unjudged
    document in the run takes a position and earns nothing. The rankings behind REB, σ and IUB have no
    unjudged documents. 0/0 is 0.

    When not to use it: within one query. With one pool for all runs, it ranks them exactly like the base there
    (but for version 'z' with σ = 0, where all have the value 0). In version 'z', a query weighs more, the
    smaller its σ is. With few relevant documents in a large pool, a single one found is worth many deviations.
    Where nearly all are relevant, so is one missed. It says how surely a ranking is not random, not how good
    it is.

    Source: Feng and Karmaker Santu, "Joint upper & expected value normalization for evaluation of retrieval
    systems", Information Processing & Management 2023, Eqs. 5-7, for nDCG and AP; the other bases, and
    version 'z', are not in the paper.

    Example:
        >>> from ir_measures_relative import UE
        >>> qrels, run = {"q": {"A": 1, "B": 0, "C": 0, "D": 0}}, {"q": {"B": 2.0, "A": 1.0}}
        >>> value = UE(base="RR") @ 4  # RR 1/2; the mean of 1, 1/2, 1/3 and 1/4 is 0.5208
        >>> round(value.calc_aggregate(qrels, run), 4)
        -0.04
        >>> value = UE(base="RR", version="z") @ 4  # σ = 0.2909
        >>> round(value.calc_aggregate(qrels, run), 4)
        -0.0716

        A reranker got B and A from the first stage, and put A first: the best that it could do.

        >>> value = UE(base="RR", pool="run") @ 4
        >>> value.calc_aggregate(qrels, {"q": {"A": 2.0, "B": 1.0}})
        1.0
        >>> round(value.calc_aggregate(qrels, run), 4)  # the first stage: RR 1/2, and the mean of 1 and 1/2 is 3/4
        -0.3333
    """

    __name__ = "UE"
    RELATIVE_TO = "chance"
    PRETTY_NAME = "Upper and Expected Value Normalization"
    SHORT_DESC = (
        "For reranking: where a ranking stands between a random (0) and a perfect one (1), by a base measure."
    )
    FORMULA = (
        r"\mathrm{UE}_1 = \frac{A}{\mathrm{IUB}} \cdot \frac{A}{A + \mathrm{REB}}, \qquad "
        r"\mathrm{UE}_2 = \begin{cases} (A - \mathrm{REB}) / (\mathrm{IUB} - \mathrm{REB}) & A \ge \mathrm{REB} \\ "
        r"(A - \mathrm{REB}) / \mathrm{REB} & A < \mathrm{REB} \end{cases}, \qquad "
        r"\mathrm{UE}_z = \frac{A - \mathrm{REB}}{\sigma}"
    )
    BASES = BASES
    SEE_ALSO = ("nDCG_UE", "AP_UE")
    SUPPORTED_PARAMS = {
        "cutoff": parameters.count("ranking cutoff threshold"),
        "base": Param(str, "the measure that is normalized", default="nDCG", choices=tuple(BASES)),
        "version": Param(
            object,
            "1: the upper-bound normalized value times A/(A + REB); 2: 0 at the random level, from -1 to 1; 'z': "
            "standard deviations above the random level",
            default=2,
            choices=(1, 2, "z"),
        ),
        "pool": Param(
            str,
            "what the perfect and the random ranking rank: the query's judged documents, those that the run ranks "
            "('run'), or the whole collection ('corpus': the context's num_docs documents, the unjudged non-relevant)",
            default="judged",
            choices=("judged", "run", "corpus"),
        ),
        "dcg": parameters.dcg("exp-log2"),
        "gains": parameters.gains(),
        "rel": parameters.rel(),
        "p": parameters.persistence(),
        "expected": Param(
            str,
            "the random level: as published, which takes precision and relevance at a position to be independent, or "
            "exact",
            default="independent",
            choices=("independent", "exact"),
        ),
        "max_grade": parameters.max_grade_of_err(),
        "judged_only": parameters.judged_only(),
    }

    @property
    def base_name(self) -> str:
        """Which base it is, a key of :data:`BASES`."""
        return str(self.get("base"))

    @property
    def base(self) -> NormalizedBase:
        """The measure that is normalized."""
        return BASES[self.base_name]

    @property
    def value_range(self) -> tuple[float, float]:
        return {1: (0.0, 1.0), 2: (-1.0, 1.0)}.get(self.get("version"), (-math.inf, math.inf))

    def check_together(self) -> None:
        if self.get("version") == "z" and self.base.deviation is None:
            known = ", ".join(repr(n) for n, b in BASES.items() if b.deviation is not None)
            raise ValueError(
                f"{self!r}: version='z' needs the standard deviation over all rankings, which is not computed for "
                f"{self.base_name}; use version=2, or one of the bases {known}"
            )
        corpus = self.get("pool") == "corpus"
        if corpus and self.get("cutoff") is None:
            raise ValueError(
                f"{self!r}: pool='corpus' needs a cutoff, since no run ranks the whole collection: write {self!r}@10"
            )
        if corpus and self.get("judged_only"):
            raise ValueError(
                f"{self!r}: judged_only leaves the unjudged documents out, and pool='corpus' counts them in; "
                "use pool='judged'"
            )

    def score(self, view: View) -> FloatArray:
        """UE of each query."""
        z = self.get("version") == "z"
        if self.get("pool") == "run":
            return normalize(self.actual(view), self.normalizers(view), self.get("version"))
        if self.get("pool") == "judged":
            self._warn_of_pools(view)
            self._warn_of_few(view)
        normalizers = view.cached(("UE", z, self(version=2)), lambda: self.normalizers(view))
        return normalize(self.actual(view), normalizers, self.get("version"))

    def _warn_of_few(self, view: View) -> None:
        """Warns of a run that ranks less than half of the judged documents of its topics."""
        docs, run = view.judgments, view.evaluated
        held = np.unique(docs.queries_of(run))
        held = held[held >= 0]
        # Whole rankings take their time, so a warning is content with a few of them.
        topics = docs.query_ids[held[:: len(held) // _TOPICS_LOOKED_AT + 1]]
        found = [docs.of_query(q).positions_in(run.of_query(q)) > 0 for q in topics]
        share = sum(int(one.sum()) for one in found) / max(sum(map(len, found)), 1)
        if 0 < share < _HALF:
            warn(
                f"the run ranks {share:.0%} of the judged documents, and UE is relative to random rankings of all of "
                "them, which is for reranking and learning to rank; give pool='run' (random rankings of those that it "
                "ranks), or pool='corpus' with num_docs=",
                view.members,
                "UE, few ranked",
            )

    def _ranked(self, view: View, docs: Documents) -> BoolArray:
        """Whether the run ranks each document, at any depth."""
        found: BoolArray = view.at(None, self.get("judged_only")).positions(docs) > 0
        return found

    def _warn_of_pools(self, view: View) -> None:
        """Warns of pools of which hardly a document is not relevant: a random ranking of these is as good as any."""
        docs, rel = view.documents, max(int(value_of(self, "rel", 1)), 1)

        def found() -> tuple[int, float]:
            relevant = np.bincount(docs.query, weights=docs.grade >= rel, minlength=docs.n_queries)
            size = np.bincount(docs.query, minlength=docs.n_queries)
            few = (relevant > 0) & (size - relevant < _FEW_NON_RELEVANT * size)
            return int(few.sum()), float(1 - relevant[few].sum() / max(int(size[few].sum()), 1))

        count, share = view.cached(("UE, pools", rel), found)
        if count:
            warn(
                f"UE is relative to a random ranking of the documents that are judged, and on {count} of "
                f"{docs.n_queries} topics nearly all of these are relevant ({share:.1%} are not): a random ranking is "
                "then nearly perfect, and a perfect one can have the value 0; give pool='corpus', by which it is a "
                "random ranking of the whole collection, and the size of that (num_docs=, or --num_docs)",
                view.members,
                "UE, pools",
            )

    def actual(self, view: View) -> FloatArray:
        """A@k of the evaluated run."""
        gains = value_of(self, "gains")
        docs = view.documents if gains and min(gains) <= 0 else view.relevant
        position = view.at(self.get("cutoff"), self.get("judged_only")).positions(docs)
        ranking = RankedGains(self._gain(docs), position, docs.query, docs.n_queries)
        return self.base.actual(ranking, self._settings)

    @property
    def _settings(self) -> BaseSettings:
        return BaseSettings(
            self.get("cutoff"), value_of(self, "p", 0.0), value_of(self, "expected") == "exact"
        )

    def normalizers(self, view: View) -> Normalizers:
        """IUB and REB, which depend on the judgments and the pool alone; and σ, in version 'z'."""
        base, pool, z = self.base, self._pool(view), self.get("version") == "z"
        upper = base.actual(pool.perfect, pool.settings)
        # Where all of the pool has one gain, any ranking is perfect: IUB and REB differ by rounding alone.
        expected = np.where(pool.alike, upper, base.expected(pool))
        room = base.room(pool) if base.room else None
        return Normalizers(upper, expected, room, base.deviation(pool) if base.deviation and z else None)

    def _gain(self, docs: Documents) -> FloatArray:
        """What each document gains."""
        if self.base.gain == "label":
            return gain_of(docs.grade, self.get("dcg"), self.get("gains"))
        if self.base.gain == "relevant":
            return (docs.grade >= int(self.get("rel"))).astype(np.float64)
        max_grade = int(self.get("max_grade"))
        check_grades(self, docs, max_grade)
        return chance_to_satisfy(docs.grade, max_grade)

    def _pool(self, view: View) -> RandomRanking:
        """The pool of each query, its size n, and min(k, n)."""
        docs = view.documents
        if self.get("judged_only"):  # a negative label counts as unjudged there, as in trec_eval -J
            docs = docs.select(docs.grade >= 0)
        if self.get("pool") == "run":
            docs = docs.select(self._ranked(view, docs))
        size = np.bincount(docs.query, minlength=docs.n_queries)
        if self.get("pool") == "corpus":
            size = self._corpus(view, size)
        cutoff = self.get("cutoff")
        depth = size if cutoff is None else np.minimum(size, cutoff)
        return RandomRanking(self._gain(docs), docs.query, size, depth, self._settings)

    def _corpus(self, view: View, judged: IntArray) -> IntArray:
        num_docs = view.members.num_docs
        if num_docs is None:
            raise ValueError(
                f"{self!r} needs the number of documents in the collection; write\n"
                "    with RunContext({}, num_docs=528155):\n"
                "        …  # evaluate here"
            )
        most = int(np.argmax(judged)) if len(judged) else 0
        if len(judged) and judged[most] > num_docs:
            raise ValueError(
                f"{self!r}: query {view.query_ids[most]!r} has {judged[most]} judged "
                f"documents, and the context says that the collection has {num_docs}: correct "
                "RunContext(…, num_docs=…)"
            )
        return np.full(len(judged), num_docs, dtype=np.int64)


def _some_of(*names: str) -> dict[str, Param]:
    return {name: _UE.SUPPORTED_PARAMS[name] for name in names}


class _nDCG_UE(_UE):
    """For reranking and learning to rank: DCG on a scale from a random to a perfect ranking of the query's pool.

    If nearly all documents of a query are relevant, any ranking gets a high nDCG. This measure says how much
    better than chance a ranking is. It is :class:`UE` of A = DCG@k, in the same versions: range [0, 1) by
    version 1, where a perfect ranking scores IUB/(IUB + REB), and [-1, 1] by version 2. IUB is the DCG@k of a
    perfect ranking of the pool. REB is the mean over all its rankings,
    ``E[DCG@k] = E[gain]·Σ_{i≤min(k,n)} 1/log2(i + 1)``, n the size of the pool.

    0/0 is 0. This happens for queries without relevant documents, and in version 2 for a perfect ranking of a
    pool in which all documents are equally relevant.

    The pool is the query's judged documents, also those with a negative label. A run also ranks unjudged
    ones, which earn nothing. So it may well score below a random ranking of the pool. ``judged_only=True``
    removes them first (and, as trec_eval -J, the negative labels, also from the pool), so that like is
    compared with like. With ``pool='corpus'`` the random ranking is one of the whole collection, of
    ``RunContext(…, num_docs=…)`` documents. Without a cutoff the perfect and the random ranking are those of
    the whole pool, however short the run is.

    When not to use it: for first-stage runs (see :class:`UE`), or within one topic. There it ranks runs exactly
    like nDCG with the same ``dcg``: the default here is 'exp-log2', that of nDCG 'log2'. It matters where values are
    averaged or compared over queries. Rankings scored at random do not average to 0 in version 2, because its
    two sides are scaled differently. Only the numerators do.

    Source: Feng and Karmaker Santu, "Joint upper & expected value normalization for evaluation of retrieval
    systems", Information Processing & Management 2023, Eqs. 5-7.

    Example:
        >>> from ir_measures_relative import nDCG_UE
        >>> qrels = {"q": {"A": 1, "B": 0}}
        >>> (nDCG_UE @ 2).calc_aggregate(qrels, {"q": {"A": 2.0, "B": 1.0}})
        1.0
        >>> value = nDCG_UE(version=1) @ 2  # REB = (1/2) · (1 + 0.6309) = 0.8155, so 1 · 1/1.8155
        >>> round(value.calc_aggregate(qrels, {"q": {"A": 2.0, "B": 1.0}}), 4)
        0.5508
    """

    __name__ = "nDCG_UE"
    PRETTY_NAME = "Upper and Expected Value Normalized Discounted Cumulative Gain"
    SHORT_DESC = (
        "For reranking: where the DCG (exp-log2 by default) of a ranking stands between that of a random one (0) and "
        "of a perfect one (1)."
    )
    SEE_ALSO = ("UE", "AP_UE")
    SUPPORTED_PARAMS = {
        name: _UE.SUPPORTED_PARAMS[name]
        for name in ("cutoff", "version", "dcg", "gains", "pool", "judged_only")
    }
    base_name = "nDCG"


class _AP_UE(_UE):
    """For reranking and learning to rank: AP on a scale from a random to a perfect ranking of the query's pool.

    As :class:`nDCG_UE`, with ``A = SP@k = Σ_{i≤k} Prec(i)·R_i``, R_i whether the document at i is relevant,
    ``IUB = min(k, N_p)``, N_p the number of relevant documents of the pool, and REB the mean over all
    rankings of it.

    **Two expectations.** The paper assumes that Prec(i) and R_i are independent. This gives
    ``E[SP@k] = min(k, n)·(N_p/n)²``: ``expected='independent'``, the published measure and the default. They
    are not independent: a relevant document at i is one of those that Prec(i) counts. The exact expectation
    is ``E[SP@k] = Σ_{i≤min(k,n)} (1/i)(p + (i - 1)·p·(N_p - 1)/(n - 1))`` with p = N_p/n:
    ``expected='exact'``. With n = 20, N_p = 5, k = 10 the published value is 0.625 and the true one 1.1044.
    So a random ranking scores well above 0 by the published version 2. By the exact one, 0 is the true random
    level.

    Range: version 1 [0, 1), version 2 [-1, 1], and 0/0 is 0, as for :class:`nDCG_UE`, where pools, cutoffs
    and ``judged_only`` are explained. Version 'z' is refused: the standard deviation of SP@k is not computed.

    Source: Feng and Karmaker Santu, "Joint upper & expected value normalization for evaluation of retrieval
    systems", Information Processing & Management 2023, Eqs. 4-6 and 9.

    Example:
        >>> from ir_measures_relative import AP_UE
        >>> qrels, run = {"q": {"A": 1, "B": 0}}, {"q": {"B": 2.0, "A": 1.0}}
        >>> (AP_UE @ 2).calc_aggregate(qrels, run)  # SP 1/2; published random level: 2/4
        0.0
        >>> value = AP_UE(expected="exact") @ 2  # the mean of 1 and 1/2 is 3/4
        >>> round(value.calc_aggregate(qrels, run), 4)
        -0.3333
    """

    __name__ = "AP_UE"
    PRETTY_NAME = "Upper and Expected Value Normalized Average Precision"
    SHORT_DESC = "For reranking: where a ranking's sum of precisions stands between a random (0) and a perfect one (1)."
    FORMULA = (
        r"A = \sum_{i=1}^{k} \mathrm{P}@i \cdot \mathrm{rel}(d_i), \qquad \mathrm{IUB} = \min(k, N_p), \qquad "
        r"\mathrm{REB} = \mathrm{E}[A]"
    )
    SEE_ALSO = ("UE", "nDCG_UE")
    SUPPORTED_PARAMS = {
        name: _UE.SUPPORTED_PARAMS[name]
        for name in ("cutoff", "version", "expected", "pool", "rel", "judged_only")
    }
    base_name = "AP"


UE = register(_UE())
nDCG_UE = register(_nDCG_UE(), ["NDCG_UE"])
NDCG_UE = nDCG_UE
AP_UE = register(_AP_UE(), ["MAP_UE"])
MAP_UE = AP_UE
