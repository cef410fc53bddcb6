"""Maximizing a quadratic function of 0/1 variables: roof duality inside branch and bound.

The function is ``f(x) = constant + linear·x + ½ xᵀ pairs x``, `pairs` symmetric with a zero diagonal.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .solution import TOLERANCE, FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]

# scipy's maximum flow computes in 32-bit integers. This keeps every capacity inside them, and the sum of a
# capacity and an opposite flow too.
LARGEST_FLOW = 2**29


@dataclass(frozen=True)
class Node:
    """A subproblem: some variables are decided in `x`; `free` indexes the others, which f is now about."""

    bound: float
    constant: float
    linear: FloatArray
    pairs: FloatArray
    free: IntArray
    x: FloatArray

    def decide(self, ones: BoolArray, zeros: BoolArray) -> Node:
        """The subproblem with more variables decided (masks over the free ones)."""
        x = self.x.copy()
        x[self.free[ones]] = 1.0
        keep = ~(ones | zeros)
        return Node(
            self.bound,
            self.constant + self.linear[ones].sum() + self.pairs[np.ix_(ones, ones)].sum() / 2,
            self.linear[keep] + self.pairs[np.ix_(keep, ones)].sum(axis=1),
            self.pairs[np.ix_(keep, keep)],
            self.free[keep],
            x,
        )


def improve(
    constant: float, linear: FloatArray, pairs: FloatArray, *, deadline: float
) -> tuple[FloatArray | None, float]:
    """Find an x with f(x) > TOLERANCE, or a bound that shows how far f can exceed it at most.

    Args:
        constant: f at zero.
        linear: shape (n,).
        pairs: shape (n, n), symmetric, zero diagonal.
        deadline: `time.monotonic()` moment to give up at.

    Returns:
        ``(x, inf)`` if one was found; else ``(None, bound)`` with f ≤ bound everywhere, where bound is TOLERANCE
        unless the deadline passed first.
    """
    # A pair with a positive weight adds at most half of it to each member's account.
    bound = constant + np.maximum(linear + np.maximum(pairs, 0).sum(axis=1) / 2, 0).sum()
    stack = [Node(bound, constant, linear, pairs, np.arange(len(linear)), np.zeros(len(linear)))]
    while stack:
        if time.monotonic() >= deadline:
            return None, max(node.bound for node in stack)
        node = _decide_one_sided(stack.pop())
        bound, rounded = roof_dual(node.linear, node.pairs, goal=TOLERANCE - node.constant)
        bound += node.constant
        if bound <= TOLERANCE:
            continue
        for x in (rounded > 0, rounded == 1):
            x, value = _ascend(node.linear, node.pairs, x.astype(float))
            if node.constant + value > TOLERANCE:
                solution = node.x.copy()
                solution[node.free] = x
                return solution, math.inf
        # Deciding the variable that interacts most moves most into the linear part, where bounds are tight.
        branch = np.arange(len(node.free)) == np.abs(node.pairs).sum(axis=1).argmax()
        node = Node(bound, node.constant, node.linear, node.pairs, node.free, node.x)
        neither = np.zeros_like(branch)
        stack += [node.decide(neither, branch), node.decide(branch, neither)]
    return None, TOLERANCE


def _decide_one_sided(node: Node) -> Node:
    """Decide the variables whose effect on f has the same sign whatever the others are."""
    while True:
        zeros = node.linear + np.maximum(node.pairs, 0).sum(axis=1) <= 0
        ones = ~zeros & (node.linear + np.minimum(node.pairs, 0).sum(axis=1) >= 0)
        if not (ones | zeros).any():
            return node
        node = node.decide(ones, zeros)


def _ascend(linear: FloatArray, pairs: FloatArray, x: FloatArray) -> tuple[FloatArray, float]:
    """Flip the most profitable variable until none is: a local maximum, and its value."""
    slope = linear + pairs @ x
    while len(x):
        gains = slope * (1 - 2 * x)
        best = gains.argmax()
        if gains[best] <= TOLERANCE:
            break
        slope += pairs[best] * (1 - 2 * x[best])
        x[best] = 1 - x[best]
    return x, float((linear + slope) @ x / 2)


def roof_dual(linear: FloatArray, pairs: FloatArray, *, goal: float) -> tuple[float, FloatArray]:
    """An upper bound on ``linear·x + ½ xᵀ pairs x``: the roof dual, or any bound ≤ goal.

    Write x' for 1 - x. A positive pair is c·x·y = c/2·(x + y) - c/2·(x·y' + x'·y), so the function is a
    constant minus a sum of non-negative losses, each a weight times one literal (x or x') or a product of
    two. In a network over all literals the loss a·u·v becomes the edges u → v' and v → u' of capacity a/2;
    the loss a·u, the edges u → sink and source → u'. Every flow from source to sink is a lower bound on the
    loss (weak duality), and the maximum flow gives the bound of the linear relaxation (Hammer, Hansen and
    Simeone, "Roof duality, complementation and persistency in quadratic 0-1 optimization", 1984; Boros and
    Hammer, "Pseudo-Boolean optimization", 2002, §5).

    Returns:
        The bound, and a rounding of the variables: 1 or 0 where the minimum cut decides them (in some maximum
        they have these values), ½ where it does not.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    n = len(linear)
    gains = np.maximum(pairs, 0)
    linear = linear + gains.sum(axis=1) / 2
    bound = float(np.maximum(linear, 0).sum())
    rounded = (linear > 0).astype(float)

    source, sink, true, false = 0, 1, slice(2, n + 2), slice(n + 2, 2 * n + 2)
    capacity = np.zeros((2 * n + 2, 2 * n + 2))
    capacity[source, true] = capacity[false, sink] = np.maximum(linear, 0) / 2
    capacity[source, false] = capacity[true, sink] = np.maximum(-linear, 0) / 2
    capacity[true, true] = capacity[false, false] = gains / 4
    capacity[true, false] = np.maximum(-pairs, 0) / 2

    # The flow is an integer one. Capacities are rounded down, so that it is a flow in the true network too
    # and the bound valid; what rounding loses is then sent through the residual network at a finer scale.
    room = capacity[source].sum()
    while bound > goal and room > 1e-14:
        scale = LARGEST_FLOW / room
        whole = np.minimum(capacity * scale, LARGEST_FLOW).astype(np.int32)
        result = maximum_flow(csr_array(whole), source, sink)
        bound -= result.flow_value / scale
        residual = whole - result.flow.toarray()
        reached = np.zeros(len(capacity), dtype=bool)
        reached[breadth_first_order(csr_array(residual > 0), source, return_predecessors=False)] = True
        rounded = (1 + reached[true] - reached[false].astype(float)) / 2
        capacity = np.maximum(capacity - result.flow.toarray() / scale, 0)
        # No flow can add more than the true capacity left across this cut.
        room = capacity[np.ix_(reached, ~reached)].sum()
        if bound - room > goal:
            break
    return bound, rounded
