"""The active context of each thread and task: the one that was entered last."""

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
    """Remove the last entry of a block; warn where another was entered since, or the entry is missing."""
    stack = _active.get()
    entries = [i for i, entry in enumerate(stack) if entry.context is context and entry.block is block]
    after = stack[entries[-1] + 1 :] if entries else ()
    if entries:
        _active.set(stack[: entries[-1]] + after)
    if after or not entries:
        later = (
            f"while {after[-1].context!r}, entered later, is active" if after else "in another thread or task"
        )
        warn(
            f"the block of {context!r} is left {later}, so values since may be relative to the wrong runs: do not "
            "yield inside the block, or use the method evaluate",
            context,
        )
