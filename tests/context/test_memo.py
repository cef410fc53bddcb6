"""What a memo keeps: under a key, what was asked for last, within a limit, for several threads."""

import pickle
import random
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ir_measures_relative.context.memo import Memo
from ir_measures_relative.data.arrays import FloatArray


def array(value: float, size: int = 100) -> FloatArray:
    return np.full(size, value)


def small(numbers: int) -> Memo:
    memo = Memo()
    memo.limit = 8 * numbers
    return memo


def test_what_was_asked_for_last_stays_longest() -> None:
    memo, computed = small(350), list[str]()

    def get(key: str) -> None:
        memo.get(key, lambda: computed.append(key) or array(0.0))

    for key in "abcabdacd":  # c is the one that nobody asked for longest when d comes
        get(key)
    assert "".join(computed) == "abcdc"
    assert memo.nbytes == 8 * 300


class _Holder:
    def __init__(self, values):
        self.values = values


def test_a_value_is_measured_with_what_is_in_it() -> None:
    memo = small(1000)
    memo.keep("tuple", (array(1.0), [array(2.0)], "text"))
    memo.keep("dict", {"a": array(1.0), "b": array(2.0)})
    text = sys.getsizeof("text")
    assert memo.nbytes == 8 * 400 + text
    memo.keep("other", _Holder(array(4.0)))
    assert memo.nbytes == 8 * 500 + text
    memo.keep("other", object())
    assert memo.nbytes == 8 * 400 + text + sys.getsizeof(object())
    memo.keep("tuple", array(3.0))  # in place of the earlier one
    assert memo.nbytes == 8 * 300 + sys.getsizeof(object()) and memo.find("tuple")[0] == 3.0
    memo.keep("large", array(0.0, 5000))  # more than there is room for: it is kept alone
    assert memo.find("large") is not None and memo.find("dict") is None


def test_there_is_room_for_some_tables_of_all_runs() -> None:
    memo = Memo(1000, 100_000)
    assert memo.limit == 16 * 8 * 1000 * 100_000
    memo.make_room(1, 1)
    assert memo.limit == 16 * 8 * 1000 * 100_000


def test_it_pickles_without_its_values() -> None:
    memo = small(100)
    memo.keep("a", lambda: None)
    again = pickle.loads(pickle.dumps(memo))
    assert again.limit == memo.limit and again.find("a") is None and again.nbytes == 0


def test_what_is_in_a_parent_is_found_and_what_is_computed_stays_below() -> None:
    """Of grades that are drawn by the thousand nothing is left."""
    parent = small(1000)
    parent.keep("above", array(1.0))
    child = Memo(parent=parent)
    assert child.get("above", lambda: array(2.0))[0] == 1.0
    assert child.get("below", lambda: array(3.0))[0] == 3.0
    assert parent.find("below") is None and child.nbytes == 8 * 100


def test_threads_share_it_while_it_evicts() -> None:
    memo, before = small(350), sys.getswitchinterval()

    def ask(seed: int) -> bool:
        dice = random.Random(seed)
        keys = [dice.randrange(8) for _ in range(3000)]
        return all(memo.get(key, lambda key=key: array(key))[0] == key for key in keys)

    sys.setswitchinterval(1e-6)  # threads take turns as often as they can
    try:
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(ask, range(4)))
    finally:
        sys.setswitchinterval(before)
    assert memo.nbytes == 8 * 100 * len(memo._values) <= 8 * 350
