"""Which of the papers' campaigns a folder is: a printed number belongs beside that campaign alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Known(NamedTuple):
    """A campaign that the papers print numbers of."""

    name: str
    runs: int | None  #: how many runs are known to give the printed numbers; None where that is not known


#: By the number of the judged topics, and five of them.
_CAMPAIGNS = {
    (43, ("19335", "47923", "87181", "87452", "104861")): Known("deep-pass (2019)", 37),
    (54, ("23849", "42255", "47210", "67316", "118440")): Known("deep-pass (2020)", None),
    (53, ("2082", "23287", "30611", "112700", "168329")): Known("deep-pass (2021)", 63),
    (100, ("303", "307", "310", "314", "320")): Known("robust (2003)", 17),
}


def known(topics: Iterable[str]) -> Known | None:
    """The campaign that these judged topics are of; None of any other."""
    given = set(topics)
    found = (c for (n, some), c in _CAMPAIGNS.items() if len(given) == n and given.issuperset(some))
    return next(found, None)
