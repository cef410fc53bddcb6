"""Names and measures as they stand on a picture: any string at all, as text."""

from __future__ import annotations

import textwrap
import unicodedata
from collections import Counter
from collections.abc import Sequence

# Names longer than the first are shortened where they stay different, and those longer than the second in any case.
_LONG, _LONGEST = 36, 72
# Titles: the characters of a line, at least and at most, and how many lines.
_NARROWEST, _WIDEST, _LINES = 24, 72, 3


def as_text(name: str) -> str:
    """The name in one line of characters that can be drawn.

    matplotlib reads what stands between dollars as mathematics, so they are escaped. Characters that only steer
    others (such as the direction of writing) are left out, others that have no shape become "�", and a name without
    anything to see is shown between quotes.
    """
    line = "".join(map(_drawn, " ".join(name.split())))
    return (line.strip() or repr(name)).replace("$", r"\$")


def _drawn(character: str) -> str:
    if character.isprintable():
        return character
    return "" if unicodedata.category(character) == "Cf" else "�"


def short_names(names: Sequence[str]) -> list[str]:
    """The names as text, with the middle of long ones left out where that leaves them different.

    Very long ones that differ in their middle alone are numbered.
    """
    short = {name: _without_middle(name, _LONG) for name in names}
    count = Counter(short.values())
    shown: dict[str, str] = {}
    for i, (name, shortened) in enumerate(short.items(), start=1):
        if count[shortened] == 1:
            shown[name] = as_text(shortened)
        else:
            shown[name] = as_text(name if len(name) <= _LONGEST else f"{shortened} ({i})")
    return [shown[name] for name in names]


def title(text: str, room: float, size: float) -> str:
    """What stands above or beside the axes, in lines; the middle of very long text is left out.

    Args:
        room: how long a line may be, in points.
        size: of the letters, in points.
    """
    width = max(_NARROWEST, min(_WIDEST, int(room / width_of("x", size))))
    text = _without_middle(" ".join(text.split()), width * _LINES)
    lines = textwrap.wrap(text, width)
    # Lines of about the same length, and no single word in the last: as narrow as their number allows.
    for narrower in range(_NARROWEST, width):
        if len(even := textwrap.wrap(text, narrower)) == len(lines):
            lines = even
            break
    return "\n".join(map(as_text, lines))


def width_of(text: str, size: float) -> float:
    """About how wide text is in letters of this size."""
    return 0.57 * size * len(text)


def legend_label(label: str, longest: int = 48) -> str:
    """The label of an entry in a legend."""
    text = as_text(_without_middle(label, longest))
    # matplotlib leaves a label that starts with "_" out of the legend; behind a space of no width it does not.
    return f"\u200b{text}" if text.startswith("_") else text


def _without_middle(text: str, longest: int) -> str:
    half = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"
