"""Options, compared: a candidate beside deployed runs or in the place of one; deployed runs without each of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import pandas as pd

from ..context.view import View
from ..data.arrays import FloatArray
from ..stats.power import TopicsNeeded
from .compared import Compared
from .decision_rule import Rivals
from .option_rankings import Option
from .option_settings import Settings

#: The verdicts on a run.
SAFE, NEEDED, OPEN, NOT_GRADED = "safe", "needed", "open", "not graded"


def candidate_options(deployed: Sequence[str], candidate: str) -> tuple[list[Option], list[Rivals]]:
    """Keep, add, and replace each deployed run; and adding against each replacement."""
    replaced_by = {
        f"replace {name}": (*(other for other in deployed if other != name), candidate) for name in deployed
    }
    sets = {"keep": tuple(deployed), "add": (*deployed, candidate), **replaced_by}
    options = [Option(name, runs) for name, runs in sets.items()]
    return options, [Rivals(1, i) for i in range(2, len(options))]


class CandidateCompared(Compared):
    """The options with a candidate, compared."""

    def __init__(
        self,
        view: View,
        deployed: Sequence[str],
        candidate: str,
        settings: Settings,
        whole: View,
    ) -> None:
        self.deployed, self.candidate = tuple(deployed), candidate
        self.copy_of = copy_of(view, self.deployed, candidate)
        options, rivals = candidate_options(deployed, candidate)
        if self.copy_of is not None:
            options = [Option(one.name, self.deployed) for one in options]
        super().__init__(view, options, rivals, settings, whole)

    def unsettled(self, as_judged: bool) -> str:
        return "add or replace"

    def best(self) -> int:
        """The option that the answer is about: the one that the verdict names, else the best one with the candidate."""
        return self.overall if self.overall > 0 else 1 + int(self.gain.difference.argmax())

    def about(self) -> dict[str, Any]:
        return {"candidate": self.candidate, "deployed": list(self.deployed)}


def copy_of(view: View, deployed: Iterable[str], candidate: str) -> str | None:
    """The first deployed run that ranks every judged topic as the candidate does."""

    def same(name: str, other: str) -> bool:
        return view.with_run(view.runs[name]).ranks_as(other)

    return next((name for name in deployed if same(candidate, name) and same(name, candidate)), None)


class RunsDropped(Compared):
    """The options without each run, compared with all of them."""

    def __init__(
        self,
        view: View,
        options: Sequence[Option],
        settings: Settings,
        whole: View,
        graded: bool,
    ) -> None:
        super().__init__(view, options, [], settings, whole)
        self.graded = graded
        self.dropped = [name.removeprefix("drop ") for name in self.names[1:]]

    def _grades(self, lower: FloatArray, upper: FloatArray) -> list[str]:
        """The verdict on each run, by the ends of its loss."""
        margin = self.settings.margin
        if not self.graded:
            return [NOT_GRADED] * len(lower)
        ends = zip(lower, upper, strict=True)
        words = [SAFE if up <= margin else NEEDED if low > margin else OPEN for low, up in ends]
        return words if self.topics > 1 else [OPEN] * len(words)

    @cached_property
    def grades(self) -> list[str]:
        """The verdict on each run, allowing for unjudged documents."""
        return self._grades(-self.gain.upper, -self.gain.lower)

    @cached_property
    def grades_as_judged(self) -> list[str]:
        """The verdict on each run by the judgments as they are."""
        return self._grades(-self.gain.ci_upper, -self.gain.ci_lower)

    @cached_property
    def missing(self) -> str | None:
        open_rows = [i for i, grade in enumerate(self.grades) if grade == OPEN]
        if not open_rows:
            return None
        lacks = {"judgments" if self.grades_as_judged[i] != OPEN else "topics" for i in open_rows}
        return "topics and judgments" if len(lacks) > 1 else lacks.pop()

    @cached_property
    def topics_needed(self) -> TopicsNeeded | None:
        """How many topics would settle the first open verdict to be settled."""
        margin, asked, gain = self.settings.margin, list[tuple[FloatArray, float]](), self.gain
        for i, grade in enumerate(self.grades):
            if grade != OPEN or self.grades_as_judged[i] != OPEN:
                continue
            if -gain.best[i] > margin:  # it is needed, whatever the judgments
                asked.append((-self.gains.best[i], gain.upper[i] - gain.best[i]))
            elif -gain.worst[i] < margin:
                asked.append((-self.gains.worst[i], gain.worst[i] - gain.lower[i]))
        return self.choose_needed(min, asked, self.gains)

    @cached_property
    def table(self) -> pd.DataFrame:
        table = super().table.rename(columns={"difference": "loss", "runs": "run"})
        table["run"] = ["", *self.dropped]
        table["loss"] = 0.0 - table["loss"]
        for low, high in (("ci_lower", "ci_upper"), ("worst", "best"), ("lower", "upper")):
            # The loss is the other way round; its worst end is the largest loss, so the ends keep their order.
            table[low], table[high] = 0.0 - table[high], 0.0 - table[low]
        table["settled"] = table["settled"].replace({"above": "below", "below": "above"})
        table["verdict"] = ["", *(self.grades if self.values.bounded else [None] * len(self.grades))]
        table["as_judged"] = ["", *self.grades_as_judged]
        return table
