"""Count what one value passes through: the calls, files and switches between files of a warm ``NRG@10``.

From the checkout: ``python -m tools.trace``. Standard library and host are not counted, the package is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, NamedTuple

import ir_measures

import ir_measures_relative
from ir_measures_relative import NRG, RunContext

QRELS = {"q": {"A": 1, "E": 2, "F": 1, "J": 1}}


class Trace(NamedTuple):
    """The calls within the package, in their order."""

    calls: list[tuple[str, str]]  #: the file and the function of each

    @property
    def files(self) -> list[str]:
        """The files, each once."""
        return list(dict.fromkeys(file for file, _ in self.calls))

    @property
    def switches(self) -> int:
        """How often a call is in another file than the one before it."""
        return sum(a != b for (a, _), (b, _) in zip(self.calls, self.calls[1:], strict=False))


def trace(work: Callable[[], Any]) -> Trace:
    """Return the calls of the package's functions while ``work`` runs."""
    folder = str(ir_measures_relative.__path__[0])
    calls: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(folder):
            calls.append((file[len(folder) + 1 :], frame.f_code.co_name))

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return Trace(calls)


def second_value() -> Trace:
    """Return the trace of ``NRG@10`` of a second run, by an evaluator in a context of one prior run."""
    with RunContext({"old": {"q": dict(zip("EDCBA", range(10, 5, -1), strict=True))}}):
        evaluator = ir_measures.evaluator([NRG @ 10], QRELS)
    first, second = ({"q": dict(zip(docs, range(10, 5, -1), strict=True))} for docs in ("ABCDE", "FABJC"))
    list(evaluator.iter_calc(first))
    return trace(lambda: list(evaluator.iter_calc(second)))


def main(arguments: Iterable[str] = ()) -> None:
    """Print the numbers; with ``--list`` every call."""
    found = second_value()
    if "--list" in arguments:
        print("\n".join(f"{file}: {function}" for file, function in found.calls))
    print(f"{len(found.calls)} calls, {len(found.files)} files, {found.switches} switches between files")


if __name__ == "__main__":
    main(sys.argv[1:])
