"""select_complementary(): groups of runs, exact and greedy, against oracles; and what runs add to sets of priors."""

from __future__ import annotations

import itertools

import ir_measures
import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import long_campaigns
from drawn import examples
from ir_measures_relative import NRG, P_Rareness, RelativeWarning, RunContext, UniqueRel, select_complementary
from ir_measures_relative.context.view import view_of
from ir_measures_relative.decisions import added_value_curve
from ir_measures_relative.decisions.select import coverage_function
from ir_measures_relative.stats.intervals import crossed_interval, student_interval
from oracles.nrg import nrg_oracle, nrg_residual
from oracles.shapley import set_value_oracle
from random_campaigns import contexts, qrels
from scored import assume_common, ranking
from work import instructions

SUMS = [
    "NRG(norm='ideal')@5",
    "NRG@5",
    "NRG(norm=None)@5",
    "NRG(base='P')@5",
    "NRG(base='RBP')",
    "UniqueRel@5",
    "TaSC(base='nDCG@5')",
]


def campaign(seed: int, n_runs: int = 12, n_queries: int = 4) -> tuple[RunContext, dict[str, dict[str, int]]]:
    """Runs over thirty documents that hold eight each."""
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(30)]
    queries = [f"q{i}" for i in range(n_queries)]
    runs = {
        f"r{i}": {
            q: {d: float(-j) for j, d in enumerate(rng.choice(docs, 8, replace=False).tolist())}
            for q in queries
        }
        for i in range(n_runs)
    }
    labels = {q: {d: int(g) for d, g in zip(docs, rng.integers(0, 4, 30), strict=True)} for q in queries}
    return RunContext(runs), labels


def value_of(measure: str, context: RunContext, labels, names) -> float:
    """The value of a group, by the oracle."""
    parsed = ir_measures.parse_measure(measure)
    runs = {name: context.runs[name].to_dict() for name in names}
    total = 0.0
    for query, docs in labels.items():
        rankings = [ranking(run, query) for run in runs.values()]
        if parsed.NAME == "TaSC":
            total += max(nrg_oracle(r, [], docs, k=5) for r in rankings)
            continue
        k = parsed.params.get("cutoff")
        if parsed.NAME == "UniqueRel":
            total += set_value_oracle(rankings, docs, "P", k, norm=False)
        else:
            total += set_value_oracle(rankings, docs, parsed["base"], k, norm=parsed["norm"] is not None)
    return total / len(labels)


@pytest.mark.parametrize("measure", SUMS)
@pytest.mark.parametrize("seed", [0, 1])
def test_exact_equals_enumeration(measure, seed) -> None:
    """All groups of up to 6 of 12; the coverage itself is compared with the oracle."""
    context, labels = campaign(seed)
    coverage = coverage_function(ir_measures.parse_measure(measure), view_of(context, labels))
    for n in range(1, 7):
        groups = {g: coverage.value(coverage.covered(g)) for g in itertools.combinations(range(12), n)}
        best = max(groups.values())
        found = select_complementary(context, labels, n, measure, method="exact")
        chosen = tuple(sorted(context.names.index(name) for name in found["name"]))
        assert groups[chosen] == pytest.approx(best, rel=1e-12)
        assert found["cumulative"].iloc[-1] == pytest.approx(best, rel=1e-12)
        assert found["bound"].iloc[-1] == pytest.approx(best, rel=1e-12)
        assert value_of(measure, context, labels, found["name"]) == pytest.approx(best, abs=1e-12)
        greedy = select_complementary(context, labels, n, measure)
        assert greedy["bound"].iloc[-1] >= best - 1e-12
        if measure not in ("NRG@5", "TaSC(base='nDCG@5')"):  # what a run adds is what the measure says
            assert greedy["cumulative"].iloc[-1] >= (1 - 1 / np.e) * best - 1e-12
            assert greedy["marginal"].cumsum().to_numpy() == pytest.approx(greedy["cumulative"].to_numpy())


@pytest.mark.parametrize("measure", [*SUMS, "NRG(base='RR')@5"])
@examples(20)
@given(context=contexts.filter(lambda runs: len(runs) > 1), labels=qrels)
def test_cumulative_is_the_value_of_the_group(measure, context, labels) -> None:
    for run in context.values():
        assume_common(run, labels)
    if measure.startswith("TaSC"):
        labels = {q: {d: max(label, 0) for d, label in docs.items()} for q, docs in labels.items()}
    members = RunContext(context)
    table = select_complementary(members, labels, len(context), measure)
    for i, row in enumerate(table.itertuples(), start=1):
        names = table["name"][:i]
        if "RR" in measure:
            tops = {q: [ranking(context[n], q) for n in names] for q in labels}
            expected = np.mean(
                [
                    max(
                        1 - nrg_residual(d, 1.0, tops[q], "RR", 5, 0.8) if label >= 1 else 0.0
                        for d, label in docs.items()
                    )
                    for q, docs in labels.items()
                ]
            )
            assert np.isnan(row.bound)
        else:
            expected = value_of(measure, members, labels, names)
            assert row.bound >= row.cumulative
        assert row.cumulative == pytest.approx(expected, abs=1e-12)


@examples(30)
@given(context=contexts.filter(lambda runs: len(runs) > 1), labels=qrels, data=st.data())
def test_exact_on_ties_and_empty_runs(context, labels, data) -> None:
    for run in context.values():
        assume_common(run, labels)
    n = data.draw(st.integers(1, len(context)))
    found = select_complementary(RunContext(context), labels, n, UniqueRel @ 2, method="exact")
    best = max(
        value_of("UniqueRel@2", RunContext(context), labels, group)
        for group in itertools.combinations(context, n)
    )
    assert found["cumulative"].iloc[-1] == pytest.approx(best, abs=1e-12)
    assert found["name"].is_unique and len(found) == n


def test_out_of_time_says_so() -> None:
    context, labels = campaign(3)
    with pytest.warns(RelativeWarning, match="stopped after time_limit=0: .*, at most"):
        found = select_complementary(context, labels, 5, "UniqueRel@5", method="exact", time_limit=0)
    best = select_complementary(context, labels, 5, "UniqueRel@5", method="exact")
    assert np.isfinite(found["bound"].iloc[-1])
    assert found["bound"].iloc[-1] >= best["cumulative"].iloc[-1] - 1e-12
    assert found["cumulative"].iloc[-1] <= best["cumulative"].iloc[-1] + 1e-12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(({"n": n}, "from 1 to 3") for n in (0, 4, 1.0, True)),
        ({"method": "best"}, "method='best'"),
        ({"measure": "NRG(base='RR')@5", "method": "exact"}, "method='exact' needs a measure"),
        ({"measure": "P_Rareness@10"}, "P_Rareness@10.*priors are free"),
        ({"measure": "NRG(prior='r0')@10"}, "priors are free"),
    ],
)
def test_what_selecting_rejects(arguments, message) -> None:
    context, labels = campaign(0, n_runs=3)
    with pytest.raises(ValueError, match=message):
        select_complementary(context, labels, **{"n": 1} | arguments)


# ---- the greedy choice


def plainly(runs, qrels: pd.DataFrame, n: int, measure: str) -> pd.DataFrame:
    """Greedily, with a new context for every step."""
    chosen, marginal = [], []
    for _ in range(n):
        values = RunContext(runs, priors=chosen).evaluate(qrels, [measure], perquery=True)
        means = {name: float(np.mean(rows["value"])) for name, rows in values.groupby("name", sort=False)}
        left = {name: mean for name, mean in means.items() if name not in chosen}
        chosen.append(max(left, key=left.__getitem__))
        marginal.append(left[chosen[-1]])
    return pd.DataFrame({"name": chosen, "marginal": marginal})


@pytest.mark.parametrize(
    "measure", ["NRG@10", "NRG", "NRG(base='RBP')", "NRG(base='RR')@10", "TaSC(base='nDCG@5')"]
)
def test_it_is_the_plain_greedy_choice(measure: str) -> None:
    """To the last bit."""
    runs, qrels = long_campaigns.campaign(0, n_runs=10)
    runs = {**runs, "run7": runs["run3"]}  # equals go in the order of the context
    found = select_complementary(RunContext(runs, priors="earlier"), qrels, 10, measure)
    expected = plainly(runs, qrels, 10, measure)
    pd.testing.assert_frame_equal(found[["name", "marginal"]], expected, check_exact=True)


def test_work_grows_with_the_pairs_of_runs() -> None:
    """A step looks at every run that is left, and at no prior again."""
    _, qrels = long_campaigns.campaign(0)

    def work(n: int) -> int:
        context = RunContext(long_campaigns.campaign(0, n_runs=n)[0])
        return instructions(lambda: select_complementary(context, qrels, n, "NRG@10"))

    work(2)
    small, large = work(6), work(18)
    assert large < 1.1 * 9 * small


# ---- what runs add to sets of priors

RUNS, QRELS = long_campaigns.campaign(0, n_runs=5)
CONTEXT = RunContext(RUNS)
NAMES = list(RUNS)


def values(name: str, priors) -> np.ndarray:
    table = RunContext(RUNS, priors=list(priors)).evaluate(QRELS, [NRG @ 5], perquery=True)
    return table[table["name"] == name]["value"].to_numpy()


def check(row, expected: np.ndarray) -> None:
    low, high = scipy.stats.ttest_1samp(expected, 0).confidence_interval(0.95)
    low, high = max(low, 0.0), min(high, 1.0)
    assert (row.mean, row.ci_lower, row.ci_upper) == pytest.approx((expected.mean(), low, high), abs=1e-12)
    assert row.topics == len(expected)


def test_every_size() -> None:
    table = added_value_curve(CONTEXT, QRELS, NRG @ 5)
    assert len(table) == 25
    for row in table.itertuples():
        others = [n for n in NAMES if n != row.name]
        sets = itertools.combinations(others, row.size)
        check(row, np.mean([values(row.name, priors) for priors in sets], axis=0))


def test_families() -> None:
    over = {"first": ["run0", "run1"], "all": ["run*"]}
    table = added_value_curve(CONTEXT, QRELS, NRG @ 5, over=over, names=["run1"])
    check(next(table.itertuples()), values("run1", ["run0"]))
    assert table["size"].tolist() == [1, 4] and table["priors"].tolist() == ["first", "all"]
    globs = added_value_curve(CONTEXT, QRELS, NRG @ 5, over=["run*"], names=["run1"])
    assert globs["mean"].tolist() == table["mean"].tolist()[1:]


def test_samples_are_seeded() -> None:
    first, again, other = (
        added_value_curve(CONTEXT, QRELS, NRG @ 5, names=["run1"], samples=2, seed=seed)["mean"].tolist()
        for seed in (0, 0, 1)
    )
    assert first == again != other
    assert first[0] == other[0] and first[-1] == other[-1]  # there is one set of these sizes


def test_the_interval_covers_topics_and_sampled_sets() -> None:
    """Of topics and sets that both matter; over topics alone it holds far less than it says."""
    rng = np.random.default_rng(0)
    held, of_topics = [], []
    for _ in range(400):
        values = rng.normal(0, 0.2, (1, 40)) + rng.normal(0, 0.2, (20, 1)) + rng.normal(0, 0.1, (20, 40))
        low, high = crossed_interval(values, 10**6, 0.95)
        held.append(low <= 0 <= high)
        low, high = student_interval(values.mean(axis=0), 0.95)
        of_topics.append(low <= 0 <= high)
    assert 0.93 <= np.mean(held) <= 0.99 and np.mean(of_topics) < 0.8
    assert np.isnan(crossed_interval(values[:1], 5, 0.95)).all()
    assert np.isfinite(crossed_interval(values[:2], 5, 0.95)).all()
    assert crossed_interval(values, 20, 0.95) == (low, high)  # all sets that there are
    row = added_value_curve(CONTEXT, QRELS, NRG @ 5, names=["run1"], samples=3).iloc[2]
    narrow = added_value_curve(CONTEXT, QRELS, NRG @ 5, names=["run1"], samples=6).iloc[2]
    assert row["size"] == narrow["size"] == 2 and 0 < row["ci_lower"] < row["mean"] < row["ci_upper"] < 1


@pytest.mark.parametrize(
    ("measure", "arguments", "message"),
    [
        (P_Rareness @ 5, {}, "priors are free"),
        (NRG @ 5, {"over": "family"}, "over='family'"),
        (NRG @ 5, {"over": []}, r"over=\[\]"),
        (NRG @ 5, {"over": 3}, "over=3"),
        (NRG @ 5, {"over": ["x*"]}, r"over='x\*': 'x\*' fits no run"),
        (NRG @ 5, {"over": {"b": "run1"}}, r"over\['b'\]='run1'"),
        (NRG @ 5, {"names": ["x"]}, r"names=\['x'\]"),
        (NRG @ 5, {"names": "run1"}, "names='run1'"),
        (NRG @ 5, {"names": []}, r"names=\[\]"),
        (NRG @ 5, {"samples": 0}, "samples=0"),
        (NRG @ 5, {"confidence": 95}, "confidence=95"),
    ],
)
def test_what_the_curve_rejects(measure, arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        added_value_curve(CONTEXT, QRELS, measure, **arguments)


def test_pictures() -> None:
    pytest.importorskip("matplotlib")
    plots = pytest.importorskip("ir_measures_relative.plots")
    table = added_value_curve(CONTEXT, QRELS, NRG @ 5)
    ax = plots.sweep(table, NRG @ 5, ax=plots.new_figure().subplots())
    lines = [line.get_ydata().tolist() for line in ax.get_lines()]
    assert lines == [rows["mean"].tolist() for _, rows in table.groupby("name")] and len(ax.collections) == 5
    families = added_value_curve(CONTEXT, QRELS, NRG @ 5, over=["run0", "run1"], names=["run2"])
    ax = plots.sweep(families, NRG @ 5, ax=plots.new_figure().subplots())
    assert [t.get_text() for t in ax.get_xticklabels()] == ["run0", "run1"]
    with pytest.raises(ValueError, match="the table lacks priors, size"):
        plots.sweep(CONTEXT.evaluate(QRELS, [NRG @ 5]))


def test_bars_of_relative_against_absolute() -> None:
    pytest.importorskip("matplotlib")
    plots = pytest.importorskip("ir_measures_relative.plots")
    queries = CONTEXT.evaluate(QRELS, ["nDCG@5", NRG @ 5], perquery=True)
    ax = plots.relative_against_absolute(
        queries, NRG @ 5, "nDCG@5", ci=True, ax=plots.new_figure().subplots()
    )
    bars = [segment for c in ax.collections for segment in c.get_segments()]
    across = sorted(tuple(s[:, 0]) for s in bars if s[0][1] == s[1][1])
    expected = []
    for _, rows in queries[queries["measure"] == "nDCG@5"].groupby("name"):
        values = rows["value"].to_numpy()
        student = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
        mean = values.mean()
        factor = np.exp((student.high - mean) / mean)  # Student's, of the logarithm of the mean
        expected.append((mean / factor, min(mean * factor, max(student.high, values.max()))))
    assert np.array(across) == pytest.approx(np.array(sorted(expected)))
    ax.figure.canvas.draw()
    with pytest.raises(ValueError, match="ci=True needs the values of every query"):
        plots.relative_against_absolute(
            CONTEXT.evaluate(QRELS, ["nDCG@5", NRG @ 5]), NRG @ 5, "nDCG@5", ci=True
        )
    with pytest.raises(ValueError, match="the table has no values of NRG@10; its measures are"):
        plots.relative_against_absolute(queries, "NRG@10", "nDCG@5", ci=True)
