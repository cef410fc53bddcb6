"""How much work something is, as a number that does not depend on the machine or what else runs on it."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def instructions(function: Callable[[], Any], package: str = "ir_measures_relative") -> int:
    """The number of Python's instructions that a package runs in a call; what numpy does in one is one."""
    count = 0

    def in_frame(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "opcode"
        return in_frame

    def of_call(frame: FrameType, event: str, _: Any) -> Any:
        if not str(frame.f_globals.get("__name__")).startswith(package):
            return None
        frame.f_trace_opcodes = True
        return in_frame

    before = sys.gettrace()
    sys.settrace(of_call)
    try:
        function()
    finally:
        sys.settrace(before)
    return count
