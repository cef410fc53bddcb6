"""Shapley values: each system's fair share of what a group of systems retrieves."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..data.arrays import FloatArray, row_sums
from ..measures import parameters
from ..measures.bases.base import BASES
from ..measures.form import Form, Rule
from ..measures.measure import RelativeMeasure, register
from ..measures.parameters import Param

if TYPE_CHECKING:
    from ..context.evaluated import Evaluated
    from ..data.documents import Documents

#: The bases whose values are sums over documents.
ADDITIVE = {name: BASES[name] for name in ("nDCG", "P", "RBP", "SDCG")}


@lru_cache(maxsize=64)
def quadrature(players: int) -> tuple[FloatArray, FloatArray]:
    """Return the nodes and weights of the Gauss-Legendre rule on [0, 1], exact for products over the other players."""
    nodes, weights = np.polynomial.legendre.leggauss((players + 1) // 2)
    return (nodes + 1.0) / 2.0, weights / 2.0


def unseen_by_all(seen: Iterable[FloatArray], n_docs: int, players: int) -> FloatArray:
    """``Π_j (1 - t·a_jd)`` at each node t, from the a_j of each player; shape (documents, nodes)."""
    nodes, _ = quadrature(players)
    product = np.ones((n_docs, len(nodes)))
    for row in seen:
        retrieved = np.flatnonzero(row)
        product[retrieved] *= 1.0 - row[retrieved, None] * nodes
    return product


class _Shapley(RelativeMeasure):
    """The Shapley value of a system: its share of what all systems retrieve together.

    A user reads the rankings of a group S of systems and gains ``v(S) = (1/N)·Σ_d G(d)·(1 - Π_{j∈S} (1 -
    seen(pos_j(d))))``. The Shapley value is the mean of what the system adds over all orders in which the systems may
    come: ``(1/N)·Σ_d G(d)·a_id·∫₀¹ Π_{j≠i} (1 - t·a_jd) dt``, a_jd = seen(pos_j(d)), 0 outside the top k of j. seen, G
    and N are those of ``NRG(norm='ideal')``. Range [0, 1]; the values of all systems sum to v of all. **Not for**
    asking what you lose without a system: use NRG.

    Source: Shapley, "A Value for n-Person Games", 1953; the browsing models of Bigdeli et al., SIGIR-AP 2024, Eq. 1.

    Example:
        >>> from ir_measures_relative import RunContext, Shapley
        >>> qrels = {"q": {"A": 1, "B": 1}}
        >>> with RunContext({"old": {"q": {"A": 2.0, "C": 1.0}}}):
        ...     (Shapley @ 2).calc_aggregate(qrels, {"q": {"A": 2.0, "B": 1.0}})  # (1/2 + 1) / 2
        0.75
    """

    __name__ = "Shapley"
    PAPERS = {"nrg2024": "", "shapley1953value": ""}
    RELATIVE_TO = "systems"
    PRETTY_NAME = "Shapley Value"
    SHORT_DESC = "A system's fair share of what all systems retrieve together."
    FORMULA = (
        r"\varphi_i = \frac{1}{N} \sum_{d} G(d)\, a_{id} \int_0^1 \prod_{j \neq i} (1 - t\, a_{jd})\, dt, \qquad "
        r"a_{jd} = \mathrm{seen}(\mathrm{pos}_j(d))"
    )
    BASES = ADDITIVE
    SEE_ALSO = ("NRG", "UniqueRel")
    SUPPORTED_PARAMS = {
        "cutoff": parameters.cutoff(),
        "base": Param(
            str, "the measure whose browsing model is shared out", default="P", choices=tuple(ADDITIVE)
        ),
        "dcg": parameters.dcg(),
        "gains": parameters.gains(),
        "rel": parameters.rel(),
        "p": parameters.persistence(),
        "judged_only": parameters.judged_only(),
    }

    @cached_property
    def rule(self) -> Rule:
        return ADDITIVE[self.get("base")].rule(self.get)

    def form(self, run: Evaluated) -> Form:
        docs = run.documents_for(self.rule.gain)
        return Form(docs, run.positions(docs, self.look), self.rule, left=self.chance_to_be_new(run, docs))

    def chance_to_be_new(self, run: Evaluated, docs: Documents) -> FloatArray:
        """Return the mean probability over all orders that a document is new when the system comes."""
        browsing, collection, index = self.rule.seen, run.collection, run.index
        retrieved, new = np.flatnonzero(browsing.seen(run.positions(docs, self.look))), np.zeros(len(docs))
        players = len(collection.runs) + (index is None)

        def unseen_by_runs() -> FloatArray:
            positions = collection.positions(docs, self.look)
            return unseen_by_all(map(browsing.seen, positions), len(docs), players)

        unseen = collection.memoize(("Shapley", browsing, docs, self.look, players), unseen_by_runs)[
            retrieved
        ]
        if index is not None:  # is one of those; no factor is 0, since no node is 1
            replaced = collection.positions_in_run(collection.rankings[index], docs, self.look)
            seen_by_member = browsing.seen(replaced[retrieved])
            unseen = unseen / (1.0 - seen_by_member[:, None] * quadrature(players)[0])
        # The mean over all orders, ∫₀¹ Π_{j≠i} (1 - t·a_jd) dt.
        new[retrieved] = row_sums(unseen * quadrature(players)[1])
        return new


Shapley = register(_Shapley())
