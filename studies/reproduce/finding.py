"""What an experiment of a paper found, and what came of it here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

#: What became of it: ``"open"`` where it cannot be run on the runs that were given, or these are too few to tell.
Holds: TypeAlias = Literal["yes", "in part", "no", "open"]
Value: TypeAlias = float | int | str | None


@dataclass(frozen=True)
class Finding:
    """One line of the page.

    Attributes:
        where: the table, figure or section of the paper, and the campaign: ``"Table 2, deep-pass (2019)"``.
        what: the quantity or the claim, in a few words.
        printed: as the paper prints it; None where it is not printed (a bar of a figure).
        released: as the authors' released code has it on these runs, by its definition computed here; None where
            no code was released or it does the same as the paper says.
        ours: as this package has it, by the paper's definition.
        holds: whether the paper's claim stands on these runs.
        note: why not, by which definition, and with what power it could have been seen; Markdown.
        picture: the file name of its picture in the output folder.
        about: what is said of all lines of the table or figure; the page has it once.
        claim: the paper's claim in a sentence, the same on every campaign; the page compares the campaigns by it.
        caption: what one sees in the picture; the page has it beneath.
    """

    where: str
    what: str
    printed: Value = None
    released: Value = None
    ours: Value = None
    holds: Holds = "open"
    note: str = ""
    picture: str | None = None
    about: str = ""
    claim: str = ""
    caption: str = ""
