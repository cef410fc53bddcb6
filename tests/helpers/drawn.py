"""How many examples a test tries that says how many, of hypothesis's or of its own."""

from __future__ import annotations

from hypothesis import settings


def times(everyday: int) -> int:
    """This many on every day; where the profile asks for more examples than then, as ``thorough`` does, in proportion."""
    usual, now = settings.get_profile("default").max_examples, settings().max_examples
    return everyday * max(now, usual) // usual


def examples(everyday: int) -> settings:
    """This many in a run of every day; where the profile asks for more, as ``thorough`` does, more in proportion.

    Without this a test says nothing and draws what the profile says, 30 or 1,000. One whose examples are costly, and
    draws 6 instead of 30, draws 200 of the 1,000; one that draws 60 draws all 1,000, and no more.
    """
    usual, now = settings.get_profile("default").max_examples, settings().max_examples
    if now <= usual:
        return settings(max_examples=everyday)
    return settings(max_examples=min(everyday * now // usual, max(everyday, now)))
