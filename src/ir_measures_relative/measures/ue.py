"""Upper and expected value normalization: where a ranking stands between a random and a perfect one."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..data.arrays import FloatArray, IntArray, ratio
from . import parameters
from .bases.base import BASES as ALL_BASES
from .bases.base import Base, Chance, RandomRanking, RankedGains
from .form import Rule
from .measure import RelativeMeasure, register
from .parameters import Param

if TYPE_CHECKING:
    from ..context.collection import Collection
    from ..context.evaluated import Evaluated

#: The bases that UE normalizes.
BASES = {name: base for name, base in ALL_BASES.items() if base.chance}


class Normalizers(NamedTuple):
    """The upper bound and the expected value of each query, against which rankings are normalized."""

    upper: FloatArray  #: IUB: the value of a perfect ranking of the pool
    expected: FloatArray  #: REB: the mean over all rankings of the pool
    room: FloatArray | None = None  #: IUB - REB, where rounding would not leave it
    deviation: FloatArray | None = None  #: σ: the standard deviation over all rankings of the pool


def normalize(actual: FloatArray, normalizers: Normalizers, version: int | str) -> FloatArray:
    """A@k normalized by IUB and REB: version 1 (Eq. 5), 2 (Eq. 6), or (A - REB)/σ ('z'); 0/0 is 0."""
    upper, expected, room, deviation = normalizers
    actual = np.minimum(actual, upper)  # above IUB by rounding alone
    if version == 1:
        return ratio(actual, upper) * ratio(actual, actual + expected)
    above = actual - expected
    if room is None:
        room = upper - expected
    else:
        above = np.where(above >= 0, room - (upper - actual), above)
    if version == "z":
        assert deviation is not None  # UE requires a base that has one
        return ratio(above, deviation)
    return ratio(above, np.where(above >= 0, room, expected))


class _UE(RelativeMeasure):
    """For reranking and learning to rank: where a ranking is between a random and a perfect one of its pool.

    With A the value of the base, IUB that of a perfect ranking of the query's pool of documents, REB and σ the mean and
    the standard deviation over all rankings of the pool (0/0 is 0):

    - version 1: ``(A/IUB)·(A/(A + REB))``, range [0, 1);
    - version 2: ``(A - REB)/(IUB - REB)`` if A ≥ REB, else ``(A - REB)/REB``, range [-1, 1], 0 the random level;
    - version 'z': ``(A - REB)/σ``, range from -REB/σ to (IUB - REB)/σ; for nDCG, P, R, RR and RBP.

    A of nDCG is DCG@k, of AP the sum of precisions. REB and σ are exact, except AP's published mean. The pool is the
    query's judged documents (an unjudged document in the run takes a position and gains nothing), or with ``pool``
    those that the run ranks ('run'), or the whole collection ('corpus'). **Not for** one topic, where it orders runs
    like its base; nor for first-stage runs, which rank few of the judged documents, without ``pool='run'``.

    Source: Feng and Karmaker Santu, IPM 2023, Eqs. 5-7, for nDCG and AP; the other bases and 'z' are new here.

    Example:
        >>> from ir_measures_relative import UE
        >>> qrels, run = {"q": {"A": 1, "B": 0, "C": 0, "D": 0}}, {"q": {"B": 2.0, "A": 1.0}}
        >>> value = UE(base="RR") @ 4  # RR 1/2; the mean of 1, 1/2, 1/3 and 1/4 is 0.5208
        >>> round(value.calc_aggregate(qrels, run), 4)
        -0.04
    """

    __name__ = "UE"
    PAPERS = {"feng2023joint": ""}
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
            "1: A/IUB times A/(A + REB); 2: 0 at the random level, from -1 to 1; 'z': standard deviations above it",
            default=2,
            choices=(1, 2, "z"),
        ),
        "pool": Param(
            str,
            "what the perfect and the random ranking rank: the judged documents, those of them that the run ranks "
            "('run'), or the collection ('corpus': the context's num_docs documents, the unjudged not relevant)",
            default="judged",
            choices=("judged", "run", "corpus"),
        ),
        "dcg": parameters.dcg("exp-log2"),
        "gains": parameters.gains(),
        "rel": parameters.rel(),
        "p": parameters.persistence(),
        "expected": Param(
            str,
            "the random level: as published, or exact",
            default="independent",
            choices=("independent", "exact"),
        ),
        "max_grade": parameters.err_max_grade(),
        "judged_only": parameters.judged_only(),
    }

    @property
    def base_name(self) -> str:
        return str(self.get("base"))

    @property
    def base(self) -> Base:
        return BASES[self.base_name]

    @property
    def chance(self) -> Chance:
        """The expectations of the base over random rankings."""
        assert self.base.chance is not None  # or it is none of BASES
        return self.base.chance

    @property
    def value_range(self) -> tuple[float, float]:
        return {1: (0.0, 1.0), 2: (-1.0, 1.0)}.get(self.get("version"), (-math.inf, math.inf))

    def check_together(self) -> None:
        if self.get("version") == "z" and self.chance.deviation is None:
            bases = ", ".join(repr(n) for n, b in BASES.items() if b.chance and b.chance.deviation)
            raise ValueError(
                f"{self!r}: version='z' needs the standard deviation over all rankings, which is not computed for "
                f"{self.base_name}; use version=2, or one of the bases {bases}"
            )
        corpus = self.get("pool") == "corpus"
        if corpus and self.get("cutoff") is None:
            raise ValueError(f"{self!r}: pool='corpus' needs a cutoff: write {self!r}@10")
        if corpus and self.get("judged_only"):
            raise ValueError(
                f"{self!r}: pool='corpus' counts unjudged documents, judged_only does not; give only one"
            )

    @cached_property
    def rule(self) -> Rule:
        return self.base.chance_rule(self.get)

    def score(self, run: Evaluated) -> FloatArray:
        version = self.get("version")
        if self.get("pool") == "run":
            normalizers = self.normalizers(run)  # first, since it looks for all of the judged documents
            return normalize(self.actual(run), normalizers, version)
        key = "UE", version == "z", self(version=2)
        normalizers = run.collection.memoize(key, lambda: self.normalizers(run))
        return normalize(self.actual(run), normalizers, version)

    def actual(self, run: Evaluated) -> FloatArray:
        """Return A@k of the evaluated run, among the relevant documents of its pool."""
        docs = run.documents_for(self.rule.gain)
        gain, position, query = self.rule.gain(docs.grade), run.positions(docs, self.look), docs.query
        if self.get("pool") == "run":  # R is divided by the relevant documents of the pool
            in_pool = run.positions(docs, self.look._replace(depth=None)) > 0
            gain, position, query = gain[in_pool], position[in_pool], query[in_pool]
        return RankedGains(gain, position, query, docs.n_queries).value(self.rule)

    def normalizers(self, run: Evaluated) -> Normalizers:
        """Return IUB, REB and, in version 'z', σ, which depend on the judgments and the pool alone."""
        chance, pool, z = self.chance, self._pool(run), self.get("version") == "z"
        upper = pool.perfect.value(self.rule)
        # Where all of the pool has one gain, any ranking is perfect: IUB and REB differ by rounding alone.
        expected = np.where(pool.alike, upper, chance.expected(pool))
        room = chance.room(pool) if chance.room else None
        return Normalizers(upper, expected, room, chance.deviation(pool) if chance.deviation and z else None)

    def _pool(self, run: Evaluated) -> RandomRanking:
        """Return the pool of each query, its size n, and min(k, n)."""
        docs = run.collection.documents
        if self.get("judged_only"):  # a negative label counts as unjudged there, as in trec_eval -J
            docs = docs.select(docs.grade >= 0)
        if self.get("pool") == "run":
            docs = docs.select(run.positions(docs, self.look._replace(depth=None)) > 0)
        size = np.bincount(docs.query, minlength=docs.n_queries)
        if self.get("pool") == "corpus":
            size = self._corpus(run.collection, size)
        cutoff = self.get("cutoff")
        depth = size if cutoff is None else np.minimum(size, cutoff)
        return RandomRanking(self.rule.gain(docs.grade), docs.query, size, depth, self.get)

    def _corpus(self, collection: Collection, judged: IntArray) -> IntArray:
        num_docs = collection.num_docs
        if num_docs is None:
            example = f"with RunContext({'{…}' if collection.runs else '{}'}, num_docs=528155): …"
            raise ValueError(f"{self!r} needs the number of documents in the collection: write {example}")
        most = int(np.argmax(judged)) if len(judged) else 0
        if len(judged) and judged[most] > num_docs:
            raise ValueError(
                f"{self!r}: query {collection.documents.query_ids[most]!r} has {judged[most]} judged documents, and "
                f"the collection {num_docs}: correct RunContext(…, num_docs=…)"
            )
        return np.full(len(judged), num_docs, dtype=np.int64)


class _nDCG_UE(_UE):
    """For reranking and learning to rank: DCG on a scale from a random to a perfect ranking of the query's pool.

    :class:`UE` of A = DCG@k, range [0, 1) by version 1 and [-1, 1] by version 2. IUB is the DCG@k of a perfect ranking
    of the pool, and ``REB = E[gain]·Σ_{i≤min(k,n)} 1/log2(i + 1)``, n the size of the pool: the query's judged
    documents. ``judged_only=True`` removes unjudged documents from the run, and negative labels (as trec_eval -J) from
    run and pool. **Not for** first-stage runs (see :class:`UE`), nor for one topic.

    Source: Feng and Karmaker Santu, IPM 2023, Eqs. 5-7.

    Example:
        >>> from ir_measures_relative import nDCG_UE
        >>> value = nDCG_UE(version=1) @ 2  # REB = (1/2) · (1 + 0.6309) = 0.8155, so 1 · 1/1.8155
        >>> round(value.calc_aggregate({"q": {"A": 1, "B": 0}}, {"q": {"A": 2.0, "B": 1.0}}), 4)
        0.5508
    """

    __name__ = "nDCG_UE"
    PRETTY_NAME = "Upper and Expected Value Normalized Discounted Cumulative Gain"
    SHORT_DESC = (
        "For reranking: where a ranking's DCG stands between that of a random (0) and a perfect one (1)."
    )
    SEE_ALSO = ("UE", "AP_UE")
    SUPPORTED_PARAMS = parameters.pick(
        _UE.SUPPORTED_PARAMS, "cutoff", "version", "dcg", "gains", "pool", "judged_only"
    )
    base_name = "nDCG"


class _AP_UE(_UE):
    """For reranking and learning to rank: AP on a scale from a random to a perfect ranking of the query's pool.

    :class:`UE` of ``A = SP@k = Σ_{i≤k} Prec(i)·R_i``, R_i whether the document at i is relevant; ``IUB = min(k, N_p)``,
    N_p the number of relevant ones of the pool's n documents. Range [0, 1) by version 1, [-1, 1] by version 2.

    ``expected='independent'`` is the published REB, ``min(k, n)·(N_p/n)²``, which assumes that Prec(i) and R_i are
    independent. They are not. ``expected='exact'`` is ``Σ_{i≤min(k,n)} (1/i)(p + (i - 1)·p·(N_p - 1)/(n - 1))``, p =
    N_p/n. With version 2, only 'exact' puts random rankings near 0.

    Source: Feng and Karmaker Santu, IPM 2023, Eqs. 4-6 and 9.

    Example:
        >>> from ir_measures_relative import AP_UE
        >>> qrels, run = {"q": {"A": 1, "B": 0}}, {"q": {"B": 2.0, "A": 1.0}}
        >>> (AP_UE @ 2).calc_aggregate(qrels, run)  # SP 1/2; published random level: 2/4
        0.0
        >>> round((AP_UE(expected="exact") @ 2).calc_aggregate(qrels, run), 4)  # the mean of 1 and 1/2 is 3/4
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
    SUPPORTED_PARAMS = parameters.pick(
        _UE.SUPPORTED_PARAMS, "cutoff", "version", "expected", "pool", "rel", "judged_only"
    )
    base_name = "AP"


UE = register(_UE())
nDCG_UE = register(_nDCG_UE(), ["NDCG_UE"])
NDCG_UE = nDCG_UE
AP_UE = register(_AP_UE(), ["MAP_UE"])
MAP_UE = AP_UE
