"""Rareness: measures in which a relevant document counts more if fewer systems retrieve it."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..arguments import match_patterns
from ..data.arrays import FloatArray, IntArray
from . import parameters
from .bases.base import BASES as ALL_BASES
from .form import Form, Rule
from .measure import RelativeMeasure, register
from .parameters import Param

if TYPE_CHECKING:
    from ..context.evaluated import Evaluated
    from ..context.tops import Look
    from ..data.documents import Documents

#: The bases that rareness extends.
BASES = {name: ALL_BASES[name] for name in ("nDCG", "P", "AP", "RBP", "ERR")}


def rarity(retrieving: IntArray, systems: int, kind: str = "linear", bounded: bool = False) -> FloatArray:
    """Return the rarity of documents: R(d) (Eq. 2), R'(d) if ``bounded`` (§5.2), or by ``kind="log"``, in [0, 1].

    ``retrieving`` is S_d, how many of the S ``systems`` retrieve each document. With one system rareness is 0.
    """
    if kind == "log":
        by_count = [math.log(systems / max(count, 1)) for count in range(systems + 1)]
        return np.array(by_count)[retrieving] / (math.log(systems) or 1.0)
    if not bounded:
        return 1.0 - retrieving / systems
    if systems == 1:
        return np.zeros(retrieving.shape)
    return 1.0 - (retrieving.astype(np.float64) - 1.0) / (systems - 1.0)


def n_retrieving(
    run: Evaluated, docs: Documents, look: Look, systems: str | None = None
) -> tuple[IntArray, int]:
    """Return for each document how many systems have it in their top, and how many systems there are.

    Systems are all runs, the evaluated one too; with ``systems`` those of these names or globs, or the groups.
    """
    collection = run.collection
    retrieved, n = run.positions(docs, look) > 0, len(collection.runs)
    index = n if run.index is None else run.index
    if systems is not None:
        by_run = collection.positions(docs, look) > 0
        by_run = np.vstack([by_run[:index], retrieved, by_run[index + 1 :]])
        system = _number_systems(run, systems, index)
        by_system = np.array([by_run[system == s].any(axis=0) for s in np.unique(system[system >= 0])])
        return by_system.sum(axis=0), len(by_system)
    count = collection.memoize(
        ("retrieving", docs, look), lambda: (collection.positions(docs, look) > 0).sum(axis=0)
    )
    if run.index is None:
        return count + retrieved, n + 1
    replaced = collection.positions_in_run(collection.rankings[index], docs, look) > 0
    return count - replaced + retrieved, n


def _number_systems(run: Evaluated, systems: str, index: int) -> IntArray:
    """Return the number of each run's system, -1 for none; the evaluated run is at its index."""
    names, groups = run.collection.names, run.collection.groups
    rows = range(max(len(names), index + 1))  # each run is a system of its own
    if systems != "groups":
        selected = {*match_patterns(systems, names, "systems")}
        return np.array([i if i == index or names[i] in selected else -1 for i in rows])
    if not groups:
        raise ValueError("systems='groups' needs groups; set RunContext(…, groups={'run': 'group'})")
    group = run.group or run.run.group  # a policy that uses no groups does not ask for the column
    run_groups = [*map(groups.get, names), group or None][: len(rows)]
    return np.array([run_groups.index(name) if name is not None else i for i, name in enumerate(run_groups)])


class _Rareness(RelativeMeasure):
    """A measure in which a relevant document counts more if fewer systems retrieve it.

    The gain of each document of the base is multiplied by ``1 + αR(d)``, or by ``(1 - α) + αR'(d)`` with
    ``bounded=True``. S is the number of systems (the context's runs and the evaluated one), S_d of those with d in
    their top k:

    - ``rarity="linear"``: ``R(d) = 1 - S_d/S``, ``R'(d) = 1 - (S_d - 1)/(S - 1)``; with one system rareness is 0;
    - ``rarity="log"``: ``R(d) = R'(d) = log(S/S_d)/log S``, as IDF.

    AP has P_Rareness(i) in the place of the precision at i; nDCG divides by the ideal DCG@k without rareness; in ERR,
    rareness does not change who is satisfied. Range [0, 1 + α], [0, 1] if ``bounded``; ``alpha=0`` is the base.
    ``systems='groups'`` counts each group once. **Not for** copies of one system that are in no group.

    Source: Türkmen, Lease and Kutlu, ECIR 2023, Eqs. 1-4; other bases than P and AP, ``systems`` and 'log': new here.

    Example:
        >>> from ir_measures_relative import Rareness, RunContext
        >>> qrels = {"q": {"A": 1, "B": 1}}
        >>> with RunContext({"old": {"q": {"A": 2.0, "C": 1.0}}}):
        ...     value = (Rareness @ 2).calc_aggregate(qrels, {"q": {"A": 2.0, "B": 1.0}})
        >>> round(value, 4)  # (1 + 1.5 / log2(3)) / (1 + 1 / log2(3))
        1.1934
    """

    __name__ = "Rareness"
    PAPERS = {"turkmen2023innovation": ""}
    PRETTY_NAME = "Rareness-based Effectiveness"
    SHORT_DESC = "A measure in which a relevant document counts more if fewer systems retrieve it."
    FORMULA = r"G(d)\,\bigl(1 + \alpha R(d)\bigr), \qquad R(d) = 1 - \frac{S_d}{S}"
    SEE_ALSO: tuple[str, ...] = ("P_Rareness", "AP_Rareness", "NRG", "Shapley")
    RELATIVE_TO = "systems"
    BASES = BASES
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(),
        "base": Param(str, "the measure that is extended", default="nDCG", choices=tuple(BASES)),
        "alpha": Param(
            float,
            "the weight of rareness; 0 is the plain measure",
            default=1.0,
            test=lambda a: 0 <= a < float("inf"),
            allowed="a number of at least 0, and at most 1 with bounded=True",
        ),
        "rarity": Param(
            str,
            "how rareness falls with the number of systems: 'linear', or 'log' as IDF",
            default="linear",
            choices=("linear", "log"),
        ),
        "systems": Param(
            str,
            "the systems beside the evaluated run, by name or glob, or 'groups' for each group once; all if not given",
            test=lambda s: any(part.strip() for part in s.split(",")),
            allowed="names or globs separated by commas, such as 'ANCE,SPLADE*', or 'groups'",
        ),
        "rel": parameters.rel(),
        "bounded": Param(bool, "the revision of the paper's §5.2, with range [0, 1]", default=False),
        "dcg": parameters.dcg(),
        "gains": parameters.gains(),
        "p": parameters.persistence(),
        "max_grade": parameters.err_max_grade(),
        "judged_only": parameters.judged_only(),
    }

    @property
    def base_name(self) -> str:
        return str(self.get("base"))

    @property
    def value_range(self) -> tuple[float, float]:
        return 0.0, 1.0 if self.get("bounded") else 1.0 + self.get("alpha")

    def check_together(self) -> None:
        bounded, alpha = self.get("bounded"), self.get("alpha")
        if bounded and alpha > 1:
            raise ValueError(
                f"{self.NAME}: {alpha=} is not allowed with bounded=True; it must be a number from 0 to 1"
            )

    @cached_property
    def rule(self) -> Rule:
        return BASES[self.base_name].rule(self.get)

    def form(self, run: Evaluated) -> Form:
        docs = run.documents_for(self.rule.gain)
        counts = n_retrieving(run, docs, self.look, self.get("systems"))
        return Form(docs, run.positions(docs, self.look), self.rule, left=self.weights(*counts))

    def weights(self, retrieving: IntArray, systems: int) -> FloatArray:
        """Return the weights of relevant documents: 1 + αR(d) (Eqs. 1-2), or (1 - α) + αR'(d) (Eq. 4)."""
        alpha, bounded = self.get("alpha"), self.get("bounded")
        rare = rarity(retrieving, systems, self.get("rarity"), bounded)
        return (1.0 - alpha) + alpha * rare if bounded else 1.0 + alpha * rare


class _P_Rareness(_Rareness):
    """Precision at k in which a relevant document counts more if fewer systems retrieve it.

    ``P_Rareness@k = (1/k) Σ_{i≤k} Rel(d_i)·(1 + αR(d_i))``, ``R(d) = 1 - S_d/S``; S is the number of systems (the
    context's runs and the evaluated one), S_d of those with d in their top k. All systems count, not only priors. Range
    [0, 1 + α). ``bounded=True`` is the revision of §5.2, range [0, 1]: weight ``(1 - α) + αR'(d)`` with ``R'(d) = 1 -
    (S_d - 1)/(S - 1)``.

    Source: Türkmen, Lease and Kutlu, ECIR 2023, Eqs. 1, 2 and 4.

    Example:
        >>> from ir_measures_relative import P_Rareness, RunContext
        >>> qrels = {"q": {"A": 1, "B": 1}}
        >>> with RunContext({"old": {"q": {"A": 2.0, "C": 1.0}}}):
        ...     (P_Rareness @ 2).calc_aggregate(qrels, {"q": {"A": 2.0, "B": 1.0}})  # (1 + 0) / 2 + (1 + 1/2) / 2
        1.25
    """

    __name__ = "P_Rareness"
    PRETTY_NAME = "Rareness-based Precision at k"
    SHORT_DESC = "Precision in which a relevant document counts more if fewer systems retrieve it."
    FORMULA = (
        r"\mathrm{P\_Rareness}@k = \frac{1}{k} \sum_{i=1}^{k} \mathrm{rel}(d_i) \bigl(1 + \alpha R(d_i)\bigr), \qquad "
        r"R(d) = 1 - \frac{S_d}{S}"
    )
    SEE_ALSO = ("AP_Rareness", "Rareness", "UniqueRel", "NRG")
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(required=True),
        **parameters.pick(
            _Rareness.SUPPORTED_PARAMS, "alpha", "rarity", "systems", "rel", "bounded", "judged_only"
        ),
    }
    base_name = "P"


class _AP_Rareness(_Rareness):
    """Average precision over rareness-based precision instead of precision.

    ``AP_Rareness@k = (1/N_R) Σ_{i≤k} Rel(d_i) · P_Rareness(i)``, N_R all relevant documents of the query. S_d counts
    the systems with d in their top k, not in their top i. Range [0, 1 + α), [0, 1] with ``bounded=True``.

    Source: Türkmen, Lease and Kutlu, ECIR 2023, Eq. 3.

    Example:
        >>> from ir_measures_relative import AP_Rareness, RunContext
        >>> qrels = {"q": {"A": 1, "B": 1}}
        >>> with RunContext({"old": {"q": {"A": 2.0, "C": 1.0}}}):
        ...     (AP_Rareness @ 2).calc_aggregate(qrels, {"q": {"A": 2.0, "B": 1.0}})  # (1/1 + 2.5/2) / 2
        1.125
    """

    __name__ = "AP_Rareness"
    PRETTY_NAME = "Rareness-based Average Precision"
    SHORT_DESC = "Average precision in which a relevant document counts more if fewer systems retrieve it."
    FORMULA = (
        r"\mathrm{AP\_Rareness}@k = \frac{1}{N_R} \sum_{i=1}^{k} \mathrm{rel}(d_i)\,\mathrm{P\_Rareness}(i)"
    )
    SEE_ALSO = ("P_Rareness", "Rareness", "NRG")

    SUPPORTED_PARAMS = parameters.pick(
        _Rareness.SUPPORTED_PARAMS, "cutoff", "alpha", "rarity", "systems", "rel", "bounded", "judged_only"
    )
    base_name = "AP"


Rareness = register(_Rareness())
P_Rareness = register(_P_Rareness())
AP_Rareness = register(_AP_Rareness(), ["MAP_Rareness"])
MAP_Rareness = AP_Rareness
