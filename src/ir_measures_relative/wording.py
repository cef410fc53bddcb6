"""Words that several messages need."""

from __future__ import annotations


def kind_of(value: object) -> str:
    """The type of a value, with its article.

    >>> kind_of(7), kind_of({}), kind_of(None)
    ('an int', 'a dict', 'a NoneType')
    """
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOaeio' or name == 'ndarray' else 'a'} {name}"


def kind_of_id(value: object) -> str:
    """What a value is that stands where an id should, and is not a string that a file can hold.

    >>> kind_of_id(7), kind_of_id("\\ud800")
    ('an int', 'half of a surrogate pair')
    """
    return "half of a surrogate pair" if isinstance(value, str) else kind_of(value)
