"""How many examples a test tries that says how many, of hypothesis's or of its own."""

from hypothesis import settings

#: Tests say how many they try where the profile draws this many of a test that says nothing.
USUAL = 30


def times(count: int) -> int:
    """This many; where the profile asks for more examples than usual, as ``thorough`` does, in proportion."""
    return count * max(settings().max_examples, USUAL) // USUAL


def examples(count: int) -> settings:
    """This many, in proportion to what the profile draws: about half in a run of every day, and many in ``thorough``.

    Without this a test says nothing and draws what the profile says, 14 or 1,000. One whose examples are costly, and
    draws 4 instead of 20, draws 200 of the 1,000; one that draws 40 draws all 1,000, and no more.
    """
    now = settings().max_examples
    drawn = max(1, count * now // USUAL)
    return settings(max_examples=drawn if now <= USUAL else min(drawn, max(count, now)))
