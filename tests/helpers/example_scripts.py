"""The scripts in ``examples``, run in this process, which has their libraries already."""

from __future__ import annotations

import contextlib
import io
import runpy
import subprocess
import sys
import warnings
from pathlib import Path
from unittest.mock import patch

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run_example(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What ``python -W error::UserWarning:ir_measures_relative examples/SCRIPT ARGUMENTS`` writes and returns."""
    path = str(EXAMPLES / script)
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
        patch.object(sys, "argv", [path, *arguments]),
        patch.object(sys, "path", [str(EXAMPLES), *sys.path]),
    ):
        warnings.filterwarnings("error", category=UserWarning, module=r"ir_measures_relative\Z")
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as leave:
            code = leave.code if isinstance(leave.code, int) else int(leave.code is not None)
    return subprocess.CompletedProcess(sys.argv, code, out.getvalue(), err.getvalue())
