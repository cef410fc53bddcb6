"""Preferences between two rankings: lexiprecision (best case), lexirecall (worst case), RPP (average case)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..data.arrays import FloatArray, IntArray, ratio, row_sums, table
from . import parameters
from .bases.browsing import BrowsingModel, LogDiscount, Reciprocal, TopK
from .measure import RelativeMeasure, register
from .parameters import Param

if TYPE_CHECKING:
    from ..context.collection import Collection
    from ..context.evaluated import Evaluated
    from ..context.memo import Memo
    from ..data.rankings import Rankings

#: What the recall levels of RPP weigh.
LEVEL_WEIGHTS: dict[str, BrowsingModel] = {"uniform": TopK(), "inverse": Reciprocal(), "dcg": LogDiscount()}


def reciprocal_ranks(position: IntArray, query: IntArray, n_queries: int) -> FloatArray:
    """Return RR_1 ≥ RR_2 ≥ … of each query in a row: 1 / position of its relevant documents, 0 if not retrieved."""
    value = ratio(np.ones(len(position)), position.astype(np.float64))
    order = np.lexsort((-value, query))
    return table(value[order], query[order], n_queries, 0.0)


def first_difference(run: FloatArray, reference: FloatArray) -> FloatArray:
    """``RR_i*(run) - RR_i*(reference)`` of each query at the first level i* at which they differ, or 0."""
    difference = run - reference
    if not difference.shape[1]:  # no query has a relevant document
        return np.zeros(len(difference))
    level = (difference != 0).argmax(axis=1)
    return difference[np.arange(len(difference)), level]


class RecallLevels(RelativeMeasure):
    """A preference between the recall levels RR_1 ≥ RR_2 ≥ … of the run and of the reference."""

    FROM_THE_WORST = False  #: whether the last level decides, and not the first

    RELATIVE_TO = "reference"
    SIGNED = True

    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(),
        "ref": parameters.ref(),
        "rel": parameters.rel(),
        "judged_only": parameters.judged_only(),
    }

    def score(self, run: Evaluated) -> FloatArray:
        collection, reference = run.collection, run.reference(self.get("ref"))
        reference_levels = self.levels(collection, reference, collection.memo)
        return self.preference(self.levels(collection, run.run, run.memo), reference_levels, collection)

    @property
    def value_range(self) -> tuple[float, float]:
        return -1.0, 1.0

    def preference(self, run: FloatArray, reference: FloatArray, collection: Collection) -> FloatArray:
        """Return the sign of each query's first difference of recall levels; of the last, if ``FROM_THE_WORST``."""
        step = -1 if self.FROM_THE_WORST else 1
        return np.sign(first_difference(run[:, ::step], reference[:, ::step]))

    def levels(self, collection: Collection, run: Rankings, memo: Memo) -> FloatArray:
        """Return the recall levels of a run by :func:`reciprocal_ranks`; computed once for a run of the context."""
        docs, rel = collection.documents.relevant, self.get("rel")

        def compute() -> FloatArray:
            position = collection.positions_in_run(run, docs, self.look, memo)
            keep = docs.grade >= rel
            return reciprocal_ranks(position[keep], docs.query[keep], docs.n_queries)

        return memo.get(("reciprocal ranks", run, docs, self.look, rel), compute)


class _rrLP(RecallLevels):
    """Lexiprecision: the difference in reciprocal rank at the best recall level at which two rankings differ.

    ``rrLP = RR_i*(run) - RR_i*(ref)``. RR_i = 1/p_i, p_i the position of the i-th highest-ranked relevant document, or
    0 if it is not retrieved; i* is the first i ≤ m at which the two differ, m the number of relevant documents. Range
    [-1, 1]: positive if the run is better, 0 if they never differ; antisymmetric. **Not for** users who want more than
    the first relevant documents: see ``sgnLR`` (worst case), ``RPP`` (average case).

    Source: Diaz, EVIA 2023, Eq. 2.

    Example:
        >>> from ir_measures_relative import RunContext, rrLP
        >>> qrels = {"q": {"A": 1, "B": 1}}
        >>> with RunContext({"old": {"q": {"A": 3.0, "X": 2.0, "Y": 1.5, "B": 1.0}}}):
        ...     rrLP.calc_aggregate(qrels, {"q": {"B": 3.0, "A": 2.0}})  # 1/1 each, then 1/2 against 1/4
        0.25
    """

    __name__ = "rrLP"
    PAPERS = {"diaz2023lexiprecision": ""}
    PRETTY_NAME = "Lexicographic Precision, Reciprocal Rank Difference"
    SHORT_DESC = (
        "The difference in reciprocal rank at the best recall level at which run and reference differ."
    )
    FORMULA = r"\mathrm{rrLP} = \frac{1}{p_{i^*}} - \frac{1}{p'_{i^*}}, \qquad i^* = \min\{i \le m : p_i \neq p'_i\}"
    SEE_ALSO = ("sgnLP", "sgnLR", "RPP")

    def preference(self, run: FloatArray, reference: FloatArray, collection: Collection) -> FloatArray:
        return first_difference(run, reference)


class _sgnLP(_rrLP):
    """The sign of lexiprecision: 1 if the run wins in the best case, -1 if the reference does, else 0.

    ``sgnLP = sign(rrLP)``, range {-1, 0, 1}. Its mean is the share of queries won minus the share lost; test it by
    ``compare(…, test="sign")``.

    Source: Diaz, EVIA 2023, Eq. 3.

    Example:
        >>> from ir_measures_relative import RunContext, sgnLP
        >>> qrels = {"q": {"A": 1, "B": 1}}
        >>> with RunContext({"old": {"q": {"A": 3.0, "X": 2.0, "Y": 1.5, "B": 1.0}}}):
        ...     sgnLP.calc_aggregate(qrels, {"q": {"B": 3.0, "A": 2.0}})
        1.0
    """

    __name__ = "sgnLP"
    PRETTY_NAME = "Lexicographic Precision, Sign"
    SHORT_DESC = "Which of the run (1) and the reference (-1) has its best relevant documents higher."
    FORMULA = r"\mathrm{sgnLP} = \mathrm{sign}(\mathrm{rrLP})"
    SEE_ALSO = ("rrLP", "sgnLR", "RPP")
    preference = RecallLevels.preference


class _sgnLR(RecallLevels):
    """The sign of lexirecall: 1 if the run wins in the worst case, -1 if the reference does, else 0.

    The sign of RR_i(run) - RR_i(ref) at the *last* level i ≤ m at which they differ: the run that retrieves more
    relevant documents wins; if both retrieve equally many, the one whose worst is higher, then the second worst, and so
    on. Range {-1, 0, 1}; antisymmetric. It needs deep rankings, and deep judgments.

    Source: Diaz, Ekstrand and Mitra, "Recall, Robustness, and Lexicographic Evaluation", 2025 (first 2023).

    Example:
        >>> from ir_measures_relative import RunContext, sgnLR
        >>> qrels = {"q": {"A": 1, "B": 1}}
        >>> with RunContext({"old": {"q": {"A": 4.0, "X": 3.0, "Y": 2.0, "B": 1.0}}}):
        ...     sgnLR.calc_aggregate(qrels, {"q": {"X": 4.0, "B": 3.0, "A": 2.0}})  # worst: 3 against 4
        1.0
    """

    __name__ = "sgnLR"
    PAPERS = {"diaz2023recall": ""}
    PRETTY_NAME = "Lexicographic Recall, Sign"
    SHORT_DESC = "Which of the run (1) and the reference (-1) has its worst relevant documents higher."
    FORMULA = (
        r"\mathrm{sgnLR} = \mathrm{sign}\left(\frac{1}{p_{i^*}} - \frac{1}{p'_{i^*}}\right), \qquad "
        r"i^* = \max\{\, i \le m : p_i \neq p'_i \,\}"
    )
    SEE_ALSO = ("sgnLP", "rrLP", "RPP")
    FROM_THE_WORST = True


class _RPP(RecallLevels):
    """Recall-paired preference: the share of recall levels that the run wins, minus the share that it loses.

    ``RPP = Σ_{i≤m} w_i · sign(p'_i - p_i)``, p_i and p'_i the positions of the i-th highest-ranked relevant document in
    the run and in the reference, infinite if it is not retrieved (two infinities are tied), m the number of relevant
    documents, w_i = 1 (``uniform``), 1/i (``inverse``) or 1/log2(i + 1) (``dcg``) over their sum. Range [-1, 1];
    antisymmetric, not transitive.

    Source: Diaz and Ferraro, SIGIR 2022.

    Example:
        >>> from ir_measures_relative import RPP, RunContext
        >>> qrels = {"q": {"A": 1, "B": 1, "C": 1, "D": 1}}
        >>> with RunContext({"old": {"q": {"A": 4.0, "X": 3.0, "B": 2.0}}}):
        ...     value = RPP(weight="inverse").calc_aggregate(qrels, {"q": {"X": 4.0, "A": 3.0, "B": 2.0, "C": 1.0}})
        >>> round(value, 4)  # lost, tied, won, tied: (-1 + 1/3) / (1 + 1/2 + 1/3 + 1/4)
        -0.32
    """

    __name__ = "RPP"
    PAPERS = {"diaz2022offline": ""}
    PRETTY_NAME = "Recall-Paired Preference"
    SHORT_DESC = "The weighted share of recall levels that the run wins, minus those that it loses."
    FORMULA = r"\mathrm{RPP} = \sum_{i=1}^{m} w_i\, \mathrm{sign}(p'_i - p_i)"
    SEE_ALSO = ("rrLP", "sgnLR")
    SUPPORTED_PARAMS = {
        **RecallLevels.SUPPORTED_PARAMS,
        "weight": Param(
            str,
            "the weight of recall level i: 'uniform' 1, 'inverse' 1/i, 'dcg' 1/log2(i + 1)",
            default="uniform",
            choices=tuple(LEVEL_WEIGHTS),
        ),
    }

    def preference(self, run: FloatArray, reference: FloatArray, collection: Collection) -> FloatArray:
        docs = collection.documents.relevant
        n_relevant = np.bincount(docs.query[docs.grade >= self.get("rel")], minlength=docs.n_queries)
        weights = LEVEL_WEIGHTS[self.get("weight")].seen(np.arange(1, run.shape[1] + 1))
        total = np.concatenate([[0.0], np.cumsum(weights)])[n_relevant]
        return ratio(row_sums(np.sign(run - reference) * weights), total)


rrLP = register(_rrLP())
sgnLP = register(_sgnLP())
sgnLR = register(_sgnLR())
RPP = register(_RPP())
