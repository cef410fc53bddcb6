"""Which of the papers' campaigns a folder is: a printed number belongs beside that campaign alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

#: The number of runs, and the start of the SHA-256 of the judged topics' ids, sorted, one a line.
_CAMPAIGNS = {(37, "45639e6c88dd5a21"): "deep-pass (2019)", (17, "66805cf00f8f1b65"): "robust (2003)"}


def known_name(runs: int, topics: Iterable[str]) -> str | None:
    """``"deep-pass (2019)"`` or ``"robust (2003)"`` by these runs and topics; None of any other campaign."""
    return _CAMPAIGNS.get((runs, hashlib.sha256("\n".join(sorted(topics)).encode()).hexdigest()[:16]))
