"""Upper and expected value normalization: where a ranking stands between a random and a perfect one.

Feng and Karmaker Santu, "Joint upper & expected value normalization for evaluation of retrieval systems: A
case study with Learning-to-Rank methods", Information Processing & Management 2023.
"""

from __future__ import annotations

from .. import parameters
from ..declaration import register
from .measure import Normalized, expected, pool, version


class _nDCG_UE(Normalized):
    """nDCG between the DCG of a random and that of a perfect ranking of the query's pool of documents.

    A query whose documents are nearly all relevant rewards any ranking; this measure says how much better
    than chance a ranking is. With A = DCG@k, IUB the DCG@k of a perfect ranking of the pool, and REB the
    mean over all its rankings, ``E[DCG@k] = E[gain]·Σ_{i≤min(k,n)} 1/log2(i + 1)``, n the size of the pool:

    - version 1: ``(A/IUB) · (A/(A + REB))``, range [0, 1). A perfect ranking scores IUB/(IUB + REB), below 1.
    - version 2: ``(A - REB)/(IUB - REB)`` if A ≥ REB, else ``(A - REB)/REB``, range [-1, 1]: 1 for a perfect
      ranking, 0 for the random level, -1 for a ranking without a relevant document.
    - version 'z': ``(A - REB)/σ``, how many standard deviations above the random level: see :class:`UE`.

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
    BASE = "nDCG"
    PRETTY_NAME = "Upper and Expected Value Normalized Discounted Cumulative Gain"
    SHORT_DESC = (
        "How far the DCG of a ranking is from that of a random ranking towards that of a perfect one."
    )
    FORMULA = (
        r"\mathrm{UE}_1 = \frac{A}{\mathrm{IUB}} \cdot \frac{A}{A + \mathrm{REB}}, \qquad "
        r"\mathrm{UE}_2 = \begin{cases} (A - \mathrm{REB}) / (\mathrm{IUB} - \mathrm{REB}) & A \ge \mathrm{REB} \\ "
        r"(A - \mathrm{REB}) / \mathrm{REB} & A < \mathrm{REB} \end{cases}"
    )
    SEE_ALSO = ("UE", "AP_UE")
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(),
        "version": version(),
        "dcg": parameters.dcg("exp-log2"),
        "gains": parameters.gains(),
        "pool": pool(),
        "judged_only": parameters.judged_only(),
    }


class _AP_UE(Normalized):
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
    and ``judged_only`` are explained. Version 'z' is refused: the standard deviation of SP@k is not computed.

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
    BASE = "AP"
    PRETTY_NAME = "Upper and Expected Value Normalized Average Precision"
    SHORT_DESC = (
        "How far the precision sum of a ranking is from that of a random one towards that of a perfect one."
    )
    FORMULA = (
        r"A = \sum_{i=1}^{k} \mathrm{P}@i \cdot \mathrm{rel}(d_i), \qquad \mathrm{IUB} = \min(k, N_p), \qquad "
        r"\mathrm{REB} = \mathrm{E}[A]"
    )
    SEE_ALSO = ("UE", "nDCG_UE")
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(),
        "version": version(),
        "expected": expected(),
        "pool": pool(),
        "rel": parameters.rel(),
        "judged_only": parameters.judged_only(),
    }


nDCG_UE = _nDCG_UE()
AP_UE = _AP_UE()
register(nDCG_UE)
register(AP_UE)
