"""Which context is active: the one that was entered last, in each thread and task."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple

from ..messages import warn


class ActiveContext(NamedTuple):
    """An entered context, and the run that ``evaluating()`` named, or the group of a new run."""

    context: Any  #: the RunContext
    name: str | None
    block: object = None  #: which ``evaluating()`` block it is; None for a plain ``with context``
    group: str | None = None


_active: ContextVar[tuple[ActiveContext, ...]] = ContextVar("ir_measures_relative_active", default=())


def enter(entry: ActiveContext) -> None:
    """Make a context the active one, in this thread or task."""
    _active.set((*_active.get(), entry))


def active() -> ActiveContext | None:
    """Return the innermost context that is entered here, in this thread or task."""
    stack = _active.get()
    return stack[-1] if stack else None


def leave(context: object, block: object) -> None:
    """Take back the last entry of its own, with a warning where another was entered since, or it is not there."""
    stack = _active.get()
    own = [i for i, entry in enumerate(stack) if entry.context is context and entry.block is block]
    after = stack[own[-1] + 1 :] if own else ()
    if own:
        _active.set(stack[: own[-1]] + after)
    if after or not own:
        later = (
            f"while {after[-1].context!r}, entered later, is active" if after else "in another thread or task"
        )
        warn(
            f"the block of {context!r} is left {later}, so values since may be relative to the wrong runs: do not "
            "yield inside the block, or use the method evaluate",
            context,
        )
