"""sweep(): the mean over sets of priors is that of their contexts; and its picture."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats

from ir_measures_relative import NRG, P_Rareness, RelativeWarning, RunContext
from ir_measures_relative.decisions import added_value_curve
from ir_measures_relative.stats.intervals import crossed_interval, student_interval
from long_campaigns import campaign

RUNS, QRELS = campaign(0, n_runs=5)
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


def test_every_subset_and_families() -> None:
    table = added_value_curve(CONTEXT, QRELS, NRG @ 5, over="subset", names=["run1"])
    assert len(table) == 16 and table["size"].is_monotonic_increasing
    for row in table.itertuples():
        check(row, values("run1", row.priors))
    table = added_value_curve(
        CONTEXT, QRELS, NRG @ 5, over={"first": ["run0", "run1"], "all": ["run*"]}, names=["run1"]
    )
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


def test_what_is_not_reached_in_time_is_not_said() -> None:
    with pytest.warns(
        RelativeWarning, match=r"added_value_curve: (\d+) of \1 rows were not reached within time_limit=0"
    ):
        found = added_value_curve(RunContext(RUNS), QRELS, time_limit=0)
    assert found[["mean", "ci_lower", "ci_upper"]].isna().all(axis=None)
    assert found["size"].tolist() == added_value_curve(RunContext(RUNS), QRELS)["size"].tolist()
    with pytest.raises(ValueError, match="time_limit=-1"):
        added_value_curve(RunContext(RUNS), QRELS, time_limit=-1)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="whose priors are free"):
        added_value_curve(CONTEXT, QRELS, P_Rareness @ 5)
    with pytest.raises(ValueError, match="over='family' is not allowed"):
        added_value_curve(CONTEXT, QRELS, NRG @ 5, over="family")
    with pytest.raises(ValueError, match="'x\\*' fits no run of the context"):
        added_value_curve(CONTEXT, QRELS, NRG @ 5, over=["x*"])
    with pytest.raises(ValueError, match=r"names=\['x'\]: give a list of runs of the context"):
        added_value_curve(CONTEXT, QRELS, NRG @ 5, names=["x"])
    with pytest.raises(ValueError, match="names='run1': give a list"):
        added_value_curve(CONTEXT, QRELS, NRG @ 5, names="run1")
    with pytest.raises(ValueError, match="samples=0 is not allowed"):
        added_value_curve(CONTEXT, QRELS, NRG @ 5, samples=0)
    with pytest.raises(ValueError, match="confidence=95 is not allowed"):
        added_value_curve(CONTEXT, QRELS, NRG @ 5, confidence=95)
    with pytest.raises(ValueError, match=r"over\['b'\]='run1' must be a list of names or globs"):
        added_value_curve(CONTEXT, QRELS, NRG @ 5, over={"b": "run1"})
    with pytest.raises(ValueError, match="over is empty; give families of priors, 'size' or 'subset'"):
        added_value_curve(CONTEXT, QRELS, NRG @ 5, over=[])
    with pytest.raises(ValueError, match="names is empty; give the names of some runs, or leave it out"):
        added_value_curve(CONTEXT, QRELS, NRG @ 5, names=[])
    many = RunContext(campaign(0, n_runs=14)[0])
    with pytest.raises(ValueError, match=r"over='subset' would score 2\^13 sets"):
        added_value_curve(many, QRELS, NRG @ 5, over="subset")


def test_pictures() -> None:
    pytest.importorskip("matplotlib")
    plots = pytest.importorskip("ir_measures_relative.plots")
    ax = plots.new_figure().subplots()
    table = added_value_curve(CONTEXT, QRELS, NRG @ 5)
    assert plots.sweep(table, NRG @ 5, ax=ax) is ax
    assert [line.get_ydata().tolist() for line in ax.get_lines()] == [
        rows["mean"].tolist() for _, rows in table.groupby("name")
    ]
    assert len(ax.collections) == 5  # bands
    families = added_value_curve(CONTEXT, QRELS, NRG @ 5, over=["run0", "run1"], names=["run2"])
    ax = plots.sweep(families, NRG @ 5, ax=plots.new_figure().subplots())
    assert [t.get_text() for t in ax.get_xticklabels()] == ["run0", "run1"]
    ax.figure.canvas.draw()
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
