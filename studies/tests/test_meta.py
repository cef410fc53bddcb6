"""Statistics of measures: against scipy, statsmodels and plain loops; what they are invariant under; bad input."""

from __future__ import annotations

import itertools
import math
import random
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, P
from studies import meta
from studies.meta import testing
from studies.meta.table import all_pairs, tau_ap
from studies.meta.testing import TESTS_OF_ALL_RUNS, TESTS_OF_PAIRS, run_test
from studies.tests import meta_oracle as oracle

from drawn import examples
from ir_measures_relative import RunContext, compare
from ir_measures_relative.stats import PairedTestOptions, Pairs, paired_test
from random_campaigns import graded_campaign

seeds = st.integers(0, 2**32 - 1)


def long(values: dict[str, Any]) -> pd.DataFrame:
    """A long table of runs × topics of each measure."""
    return pd.DataFrame(
        [
            (f"run{i}", f"q{j}", measure, float(v))
            for measure, of_runs in values.items()
            for i, of_run in enumerate(of_runs)
            for j, v in enumerate(of_run)
        ],
        columns=["name", "query_id", "measure", "value"],
    )


def random_values(seed: int, runs: int | None = None, topics: int | None = None) -> Any:
    """Values with ties or without, of runs that differ or do not."""
    rng = np.random.default_rng(seed)
    shape = runs or rng.integers(2, 6), topics or rng.integers(2, 20)
    values = rng.random(shape) + rng.choice([0, 0.3]) * rng.random((shape[0], 1))
    return np.round(values, rng.choice([1, 2, 15]))


# --- the tests


def p_values(values: Any, test: str, **kwargs: Any) -> dict[tuple[str, str], float]:
    table = meta.asl_curve(long({"M": values}), test, **kwargs)
    assert list(table["rank"]) == list(range(1, len(table) + 1))
    known = table["p"].dropna()
    assert (known.diff().dropna() <= 0).all() and table["p"].iloc[: len(known)].notna().all()
    return {(a, b): p for a, b, p in zip(table["name"], table["other"], table["p"], strict=True)}


@pytest.mark.filterwarnings("ignore:Precision loss")  # scipy's, of runs that are nearly constant
@given(seed=seeds)
def test_unpaired_t(seed: int) -> None:
    values = random_values(seed)
    found = p_values(values, "unpaired_t")
    for i, j in itertools.combinations(range(len(values)), 2):
        if np.ptp(values[i]) + np.ptp(values[j]) > 0:
            expected = scipy.stats.ttest_ind(values[i], values[j]).pvalue
            assert found[f"run{i}", f"run{j}"] == pytest.approx(expected, rel=1e-6)


@given(seed=seeds)
def test_hsd_is_near_every_permutation(seed: int) -> None:
    """All of them, one by one, on tables that are small enough."""
    values = random_values(seed, runs=3, topics=3)
    orders = list(itertools.permutations(range(3)))
    ranges = [
        np.ptp(np.mean([values[list(o), t] for t, o in enumerate(chosen)], axis=0))
        for chosen in itertools.product(orders, repeat=3)
    ]
    means, found = values.mean(axis=1), p_values(values, "hsd", resamples=2000, seed=1)
    for i, j in itertools.combinations(range(3), 2):
        exact = np.mean(np.array(ranges) >= abs(means[i] - means[j]) - 1e-9)
        assert found[f"run{i}", f"run{j}"] == pytest.approx(exact, abs=0.06)  # more than five deviations


def test_tukey_is_that_of_a_linear_model() -> None:
    smf = pytest.importorskip("statsmodels.formula.api", reason="statsmodels is not installed")

    values = random_values(4, runs=5, topics=12)
    table = long({"M": values})
    model = smf.ols("value ~ C(name) + C(query_id)", table).fit()
    means, found = values.mean(axis=1), p_values(values, "tukey")
    for i, j in itertools.combinations(range(5), 2):
        q = abs(means[i] - means[j]) / math.sqrt(model.mse_resid / 12)
        expected = scipy.stats.studentized_range.sf(q, 5, model.df_resid)
        assert found[f"run{i}", f"run{j}"] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("test", TESTS_OF_PAIRS)
@pytest.mark.filterwarnings("ignore::ir_measures_relative.RelativeWarning")
def test_p_values_are_those_of_compare(test: str) -> None:
    runs, qrels = graded_campaign(3, runs=4, topics=12)
    context = RunContext(runs)
    compared = compare(context, qrels, [RR, P @ 3], test=test, correction=None, resamples=999, missing="zero")
    found = meta.asl_curve(context.evaluate(qrels, [RR, P @ 3], perquery=True), test, resamples=999)
    keys = ["measure", "name", "other"]
    for a, b in zip(*(t.sort_values(keys)[[*keys, "p"]].to_numpy() for t in (compared, found)), strict=True):
        assert list(a[:3]) == list(b[:3]) and a[3] == pytest.approx(b[3], rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("test", TESTS_OF_ALL_RUNS)
def test_tests_of_all_runs_warn_of_nothing_where_no_run_differs(test: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(p_values(np.ones((3, 5)), test, resamples=99).values()) == {1.0}


@pytest.mark.parametrize("test", TESTS_OF_PAIRS)
def test_p_values_of_tables_without_differences_are_those_of_swapped_pairs(test: str) -> None:
    pairs = all_pairs(random_values(3, runs=3, topics=9))
    options = PairedTestOptions(resamples=99)
    found = run_test(pairs, None, test, options).null(4, 2)
    signs = np.random.default_rng(2).choice([-1.0, 1.0], size=(4, 9))
    for row, sign in zip(found, signs, strict=True):
        expected = paired_test(Pairs(pairs.differences * sign, pairs.limit), test, options).p
        assert row == pytest.approx(expected, nan_ok=True)


def test_permutations_in_parts_are_those_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).random((5, 7))
    at_once = testing._permuted_means(values, 50, 3)
    monkeypatch.setattr(testing, "_BATCH", 5 * 7 * 8)
    assert np.array_equal(at_once, testing._permuted_means(values, 50, 3))


@pytest.mark.parametrize("test", ["unpaired_t", "sign"])
def test_false_positives_are_those_of_swapped_tables(test: str) -> None:
    """Two runs: the rate is that of tables which are swapped one by one."""
    values, swaps = random_values(7, runs=2, topics=15), 50
    found = meta.discriminative_power(long({"M": values}), test, level=0.2, swaps=swaps, seed=5)
    rng, rejected = np.random.default_rng(6), 0
    for signs in rng.choice([-1.0, 1.0], size=(swaps, 15)):
        table = np.where(signs > 0, values, values[::-1])
        rejected += p_values(table, test)["run0", "run1"] <= 0.2
    assert found["false_positive_rate_per_pair"][0] == pytest.approx(rejected / swaps)


@pytest.mark.parametrize("correction", [None, "holm", "bonferroni"])
def test_power_counts_p_values(correction: str | None) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest", reason="statsmodels is not installed")
    table = long({"A": random_values(1, 5, 12), "B": random_values(2, 5, 12)})
    found = meta.discriminative_power(table, correction=correction, swaps=5)
    for measure, of_measure in meta.asl_curve(table, "t").groupby("measure"):
        p = of_measure["p"].to_numpy()
        told = int(
            ((p if correction is None else multitest.multipletests(p, method=correction)[1]) <= 0.05).sum()
        )
        row = found[found["measure"] == measure].iloc[0]
        assert (row["pairs"], row["significant"], row["share"]) == (10, told, told / 10)


# --- verdicts, and differences in per cent


@pytest.mark.parametrize("test", ["t", "sign", "wilcoxon"])
@examples(5)
@given(seed=seeds)
def test_conflicts_are_counted_pair_by_pair(test: str, seed: int) -> None:
    values = {m: random_values(seed + i, 5, 12) for i, m in enumerate("ABC")}
    found = meta.conflicts(long(values), test, level=0.3).set_index(["measure", "other"])
    verdicts: dict[str, list[int]] = {}
    for m, of_runs in values.items():
        verdicts[m] = []
        curve = meta.asl_curve(long({m: of_runs}), test).set_index(["name", "other"])["p"]
        for i, j in itertools.combinations(range(5), 2):
            d = np.round(of_runs[i] - of_runs[j], 12)
            d = d[d != 0] if test in ("sign", "wilcoxon") else d
            size = {"sign": np.sign(d), "wilcoxon": np.sign(d) * scipy.stats.rankdata(abs(d))}.get(test, d)
            better = int(np.sign(np.round(size.sum(), 9)))
            verdicts[m].append(better if curve[f"run{i}", f"run{j}"] <= 0.3 else 0)
    for a, b in itertools.combinations("ABC", 2):
        row, both = found.loc[(a, b)], list(zip(verdicts[a], verdicts[b], strict=True))
        expected = [
            sum(x * y == 1 for x, y in both),
            sum(x * y == -1 for x, y in both),
            sum(x != 0 and y == 0 for x, y in both),
            sum(x == 0 and y != 0 for x, y in both),
            both.count((0, 0)),
        ]
        assert list(row[["agree", "contradict", "only_measure", "only_other", "neither"]]) == expected
        assert row["conflicts"] == sum(expected[1:4]) and row["share"] == row["conflicts"] / 10
        assert sum(expected) == row["pairs"] == 10


@examples(20)
@given(seed=seeds)
def test_percentage_absolute_difference(seed: int) -> None:
    values = {"A": random_values(seed, 4, 6), "B": random_values(seed + 1, 4, 6) - 0.4}
    found = meta.percentage_absolute_difference(long(values)).set_index("measure")
    for m, of_runs in values.items():
        percent = []
        for x, y in itertools.combinations(np.round(of_runs.mean(axis=1), 12), 2):
            if x == y:
                percent.append(0.0)
            elif max(x, y) > 0:
                percent.append(abs(x - y) / max(x, y) * 100)
        row = found.loc[m]
        assert row["pairs"] == len(percent)
        assert row["difference"] == pytest.approx(np.mean(percent) if percent else np.nan, nan_ok=True)


# --- correlation


def tau_ap_of_orders(x: Sequence[float], y: Sequence[float]) -> float:
    """From the formula, the mean over every way to break ties."""

    def orders(values: Sequence[float]) -> list[tuple[int, ...]]:
        every = itertools.permutations(range(len(values)))
        return [o for o in every if all(values[a] >= values[b] for a, b in itertools.pairwise(o))]

    found = []
    for one, other in itertools.product(orders(x), orders(y)):
        place = {run: i for i, run in enumerate(other)}
        right = [sum(place[a] < place[run] for a in one[:i]) / i for i, run in enumerate(one) if i]
        found.append(2 * sum(right) / (len(x) - 1) - 1)
    return sum(found) / len(found)


@given(seed=seeds)
def test_tau_ap(seed: int) -> None:
    rng = random.Random(seed)
    n = rng.randint(2, 4)
    x, y = ([float(rng.randint(0, 4)) for _ in range(n)] for _ in range(2))
    assert tau_ap(np.array(x), np.array(y)) == pytest.approx(tau_ap_of_orders(x, y), abs=1e-12)


@pytest.mark.parametrize(("kind", "oracle"), [("tau", "kendalltau"), ("weighted", "weightedtau")])
@given(seed=seeds)
def test_tau(kind: str, oracle: str, seed: int) -> None:
    values = {"A": random_values(seed, 6, 5), "B": random_values(seed + 1, 6, 5)}
    x, y = (np.round(v.mean(axis=1), 9) for v in values.values())
    expected = getattr(scipy.stats, oracle)(x, y).statistic
    found = meta.correlation(long(values), kind)
    assert list(found["correlation"]) == pytest.approx([expected, expected])


# --- samples of topics


@pytest.mark.parametrize("threshold", ["none", "relative", "absolute"])
@given(seed=seeds)
def test_stability_is_that_of_loops(threshold: str, seed: int) -> None:
    values, samples = random_values(seed), 7
    runs, n = values.shape
    found = meta.stability(long({"M": values}), threshold, samples=samples, seed=1).iloc[0]
    places = np.random.default_rng(1).permuted(np.tile(np.arange(n), (samples, 1)), axis=1)
    parts = []
    for a, b in itertools.combinations(range(runs), 2):
        wins = [0, 0, 0]
        for place in places:
            x, y = (values[r][place < n // 2].mean() for r in (a, b))
            limit = {"none": 0, "relative": 0.05 * max(abs(x), abs(y)), "absolute": 0.05}[threshold]
            wins[2 if abs(x - y) <= limit + 1e-9 else int(x < y)] += 1
        parts.append((max(wins[:2]), min(wins[:2]), wins[2]))
    expected = np.mean(parts, axis=0) / samples
    assert list(found[["stability", "error_rate", "ties"]]) == pytest.approx(list(expected))
    assert sum(expected) == pytest.approx(1)


@given(seed=seeds)
def test_swap_rate_is_that_of_loops(seed: int) -> None:
    values, samples = random_values(seed), 7
    runs, n = values.shape
    table, half = long({"M": values}), n // 2
    found = meta.swap_rate(table, samples=samples, seed=1).iloc[0]
    swaps = 0
    for place in np.random.default_rng(1).permuted(np.tile(np.arange(n), (samples, 1)), axis=1):
        one = values[:, place < half].mean(axis=1)
        two = values[:, (place >= half) & (place < 2 * half)].mean(axis=1)
        for a, b in itertools.combinations(range(runs), 2):
            swaps += np.round(one[a] - one[b], 9) * np.round(two[a] - two[b], 9) < 0
    assert found["swaps"] == swaps and found["comparisons"] == samples * math.comb(runs, 2)
    classes = meta.swap_rate(table, samples=samples, seed=1, width=0.1)
    assert classes["swaps"].sum() == swaps and classes["comparisons"].sum() == found["comparisons"]


# --- halves of the topics, and what one topic supplies


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@examples(20)
@given(seed=seeds)
def test_reliability_is_that_of_loops(seed: int) -> None:
    values = random_values(seed)
    n = values.shape[1]
    found = meta.reliability(long({"M": values}), samples=7, seed=1).iloc[0]
    assert (found["runs"], found["of_topics"]) == values.shape
    expected = oracle.split_half(values, oracle.halves(7, n, 1))
    assert found["split_half"] == pytest.approx(expected, nan_ok=True)
    without = [oracle.split_half(values, oracle.halves(7, n, 1, t)) for t in range(n)] if n > 2 else [np.nan]
    error = math.sqrt((n - 1) / n * sum((x - np.mean(without)) ** 2 for x in without))
    assert found["standard_error"] == pytest.approx(error if error > 1e-12 else np.nan, nan_ok=True, abs=1e-9)
    positive = [of_run for of_run in values if of_run.sum()]
    effective = [sum(v) ** 2 / sum(v * v) for v in positive]
    shares = [max(v) / sum(v) for v in positive]
    expected = [np.median(effective), np.median(shares), max(shares)]
    assert list(found[["topics", "largest", "maximum"]]) == pytest.approx(expected)


def test_reliability_of_values_below_0_and_of_nothing() -> None:
    """No shares of a mean where a value is negative; a run without any value above 0 is left out; rounding is not."""
    values = np.array([[0.5, 0.5, 0, 0], [0.1, 0.1, 0.1, 0.1], [0, 0, 0, 0]])
    table = long({"M": values, "rounded": values - 1e-17, "below": values - 0.2, "nothing": 0 * values})
    found = meta.reliability(table, samples=9).set_index("measure")
    columns = ["topics", "largest", "maximum"]
    for measure in ("M", "rounded"):
        assert list(found.loc[measure, columns]) == pytest.approx([3.0, 0.375, 0.5])
    assert found.loc[["below", "nothing"], columns].isna().all(axis=None)
    assert found.loc["below", "split_half"] == found.loc["M", "split_half"]
    assert np.isnan(found.loc["nothing", "split_half"])
    for values in (
        [[1, 2], [2, 3]],
        np.array([[0.5] * 6, [0.1] * 6]),
    ):  # two topics; none that moves the order
        alone = meta.reliability(long({"M": values}), samples=9).iloc[0]
        assert alone["split_half"] == 1 and np.isnan(alone["standard_error"])


# --- ties, and pairs


@given(seed=seeds)
def test_ties_are_counted(seed: int) -> None:
    values = random_values(seed)
    pairs = list(itertools.combinations(range(len(values)), 2))
    tied = sum(int((np.abs(values[a] - values[b]) < 1e-12).sum()) for a, b in pairs)
    assert meta.ties(long({"M": values}))["tied"][0] == tied


@given(seed=seeds, both=st.booleans())
def test_values_of_pairs_are_their_differences(seed: int, both: bool) -> None:
    """A table of pairs, given one way or both, says what the values do that it was made from."""
    table = long({"M": random_values(seed)})
    pairs = table.merge(
        table.rename(columns={"name": "other", "value": "of_other"}), on=["query_id", "measure"]
    )
    pairs = pairs[pairs["name"] != pairs["other"] if both else pairs["name"] > pairs["other"]]
    pairs = pairs.assign(value=pairs["value"] - pairs["of_other"]).drop(columns="of_other")
    assert meta.ties(pairs).equals(meta.ties(table))
    for test in ("t", "sign"):
        a, b = (meta.discriminative_power(x, test, swaps=20) for x in (table, pairs))
        pd.testing.assert_frame_equal(a, b)


# --- invariance


_halves = partial(meta.reliability, samples=50)
INVARIANT: dict[str, tuple[Callable[[Any], Any], bool, bool]] = {  # under factors, under added constants
    "tau": (meta.correlation, True, True),
    "tau_ap": (partial(meta.correlation, statistic="tau_ap"), True, True),
    "weighted": (partial(meta.correlation, statistic="weighted"), True, True),
    **{
        test: (partial(meta.discriminative_power, test=test, resamples=99, swaps=20), True, True)
        for test in ("t", "unpaired_t", "wilcoxon", "sign", "bootstrap", "hsd")
    },
    "asl_curve": (partial(meta.asl_curve, resamples=99), True, True),
    "stability": (partial(meta.stability, samples=50), True, True),
    "relative": (partial(meta.stability, threshold="relative", samples=50), True, False),
    "absolute": (partial(meta.stability, threshold="absolute", samples=50), False, True),
    "swap_rate": (partial(meta.swap_rate, samples=50), True, True),
    "width": (partial(meta.swap_rate, samples=50, width=0.01), False, True),
    "halves": (lambda t: _halves(t)[["measure", "split_half", "standard_error"]], True, True),
    "one topic": (lambda t: _halves(t)[["measure", "topics", "largest", "maximum"]], True, False),
    "ties": (meta.ties, True, True),
    "conflicts": (partial(meta.conflicts, level=0.3), True, True),
    "percentage": (meta.percentage_absolute_difference, True, False),
}


@pytest.mark.parametrize("name", INVARIANT)
def test_invariance(name: str) -> None:
    """Each statistic moves where it says so, and nowhere else."""
    statistic, scaled, shifted = INVARIANT[name]
    moved = {"×": False, "+": False}
    for seed in range(3):
        table = long({"A": random_values(seed, 4, 12), "B": random_values(seed + 9, 4, 12)})
        found = meta.rescaling_test(table, {name: statistic}, factors=(3, 0.125), shifts=(2, -0.5))
        for change, moves in zip(found["change"], found["moves"], strict=True):
            moved[change[0]] |= moves
    assert moved == {"×": not scaled, "+": not shifted}


# --- what goes in


def test_pyterriers_columns_and_order_of_rows() -> None:
    table = long({"A": random_values(1, 4, 8), "B": random_values(2, 4, 8)})
    shuffled = table.rename(columns={"query_id": "qid"}).sort_values(["qid", "measure"])
    pd.testing.assert_frame_equal(meta.ties(table), meta.ties(shuffled))
    pd.testing.assert_frame_equal(meta.correlation(table), meta.correlation(shuffled))


FUNCTIONS = [
    meta.ties,
    meta.correlation,
    meta.discriminative_power,
    meta.asl_curve,
    meta.stability,
    meta.swap_rate,
]
FUNCTIONS += [meta.reliability, meta.conflicts, meta.percentage_absolute_difference, meta.rescaling_test]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_bad_tables(function: Callable[[Any], Any]) -> None:
    table = long({"A": random_values(1, 3, 4)})
    tables = {
        "no column measure": table.drop(columns="measure"),
        "A of run 'run1' on query 'q1' is missing": table.assign(
            value=table["value"].where(table.index != 5)
        ),
        "run 'run1' on query 'q1' is missing": table.drop(index=5),
        "run 'run1' on query 'q1' is duplicated": pd.concat([table, table.iloc[[5]]]),
        "1 run; give two": table[table["name"] == "run0"],
        "row 5 of the table has no name": table.assign(name=table["name"].where(table.index != 5)),
    }
    for message, wrong in tables.items():
        with pytest.raises(ValueError, match=message):
            function(wrong)
    with pytest.raises(TypeError, match="table is a dict"):
        function({})
    one_topic = table[table["query_id"] == "q0"]
    if function in (meta.ties, meta.correlation, meta.percentage_absolute_difference):
        assert len(function(one_topic)) == (function is not meta.correlation)
    else:
        with pytest.raises(ValueError, match="table has 1 topic"):
            function(one_topic)


def test_a_statistic_of_ones_own_returns_a_table() -> None:
    with pytest.raises(TypeError, match=r"statistics\['mine'\] returned a int"):
        meta.rescaling_test(long({"A": random_values(1, 3, 4)}), {"mine": lambda t: 3})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (partial(meta.correlation, statistic="rho"), r"statistic='rho' is not allowed"),
        (partial(meta.discriminative_power, test="z"), r"test='z' is not allowed"),
        (partial(meta.discriminative_power, correction="x"), r"correction='x' is not one"),
        (partial(meta.discriminative_power, test="hsd", correction="holm"), r"allows for the number of"),
        (partial(meta.discriminative_power, level=5), r"level=5 is not allowed"),
        (partial(meta.discriminative_power, swaps=-1), r"swaps=-1 is not allowed"),
        (partial(meta.conflicts, test="z"), r"test='z' is not allowed"),
        (partial(meta.conflicts, level=2), r"level=2 is not allowed"),
        (partial(meta.rescaling_test, shifts=["a"]), r"shifts=\['a'\] holds 'a'; give finite numbers"),
        (partial(meta.stability, threshold="some"), r"threshold='some' is not allowed"),
        (partial(meta.stability, samples=0), r"samples=0 is not allowed"),
        (partial(meta.stability, topics=9), r"has 4, and a sample holds at most 4"),
        (partial(meta.swap_rate, topics=3), r"has 4, and a sample holds at most 2"),
        (partial(meta.swap_rate, width=0), r"width=0 is not allowed"),
        (partial(meta.rescaling_test, factors=[0]), r"holds 0; give finite numbers, and factors above 0"),
    ],
)
def test_bad_arguments(call: partial[Any], message: str) -> None:
    if "correction" in call.keywords:
        pytest.importorskip("statsmodels", reason="statsmodels is not installed")
    with pytest.raises(ValueError, match=message):
        call(long({"A": random_values(1, 3, 4)}))


def test_pairs_are_refused_where_runs_are_needed() -> None:
    rows = [("a", "b", "q1", "rrLP", 0.5), ("a", "b", "q2", "rrLP", -0.5)]
    table = pd.DataFrame(rows, columns=["name", "other", "query_id", "measure", "value"])
    for function in (
        meta.correlation,
        meta.percentage_absolute_difference,
        meta.stability,
        meta.swap_rate,
        meta.reliability,
        partial(meta.discriminative_power, test="hsd"),
    ):
        with pytest.raises(ValueError, match=r"rrLP has values of pairs"):
            function(table)
    with pytest.raises(ValueError, match=r"not the negative of that of the two the other way round"):
        meta.ties(pd.concat([table, table.rename(columns={"name": "other", "other": "name"})]))
    with pytest.raises(ValueError, match=r"rrLP of runs 'a' and 'c' on query 'q2' is missing"):
        meta.ties(pd.concat([table, table.assign(other="c").head(1)]))
