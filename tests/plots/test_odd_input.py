"""Pictures of odd names, measures and values: they are drawn, and say what they cannot show."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib", reason="the pictures need matplotlib: the extra plot")


from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg

from ir_measures_relative import RelativeWarning, RunContext, plots
from ir_measures_relative.plots.figures import as_text, break_title, legend_label, short_names

IDEAL = "NRG(norm='ideal')@10"

pytestmark = pytest.mark.filterwarnings("ignore:Glyph .* missing from:UserWarning")  # of the font

ODD = [
    *("$\\frac{$", "$x_1$", "a$b", "a\\$b", "$$", "_hidden", "back\\slash^{2}_"),
    *("two\nlines\r\n\tand a tab", "bell\x07 and \x00", "\ud800", "😀 👩‍🔬", "שלום", "مرحبا", "\u202eleft"),
    *("检索", "", "   ", "\u200b", "%d {} & # ~", "x" * 10_000, "x" * 5_000 + "y" + "x" * 4_999),
]


def axes() -> Axes:
    figure = plots.new_figure()
    FigureCanvasAgg(figure)
    return figure.subplots()


def draw(ax: Axes) -> Axes:
    ax.figure.canvas.draw()
    return ax


def table(names, relative=IDEAL, absolute="nDCG@10", values=None) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    random = rng.random((2, len(names)))
    columns = {"name": pd.Series(names, dtype=object), absolute: random[0]}
    return pd.DataFrame(columns | {relative: random[1] if values is None else values})


def test_odd_names_and_groups_are_drawn() -> None:
    frame = table(ODD)
    groups = dict(zip(ODD, reversed(ODD), strict=True))
    ax = draw(plots.relative_against_absolute(frame, groups=groups, ax=axes()))
    assert len(ax.get_legend().get_texts()) == len(set(ODD))  # those that start with "_" as well
    draw(plots.chronological(frame, ax=axes()))
    runs = {name: {"q": {"A": 1.0, "B": 2.0 * (i % 2)}} for i, name in enumerate(ODD) if name}
    draw(plots.similarity(RunContext(runs), {"q": {"A": 1}}, ax=axes()))


@pytest.mark.parametrize("name", ODD)
def test_every_name_is_seen_in_one_line(name) -> None:
    text = as_text(name)
    assert text.strip() and "\n" not in text and text.isprintable()
    assert text.count("$") == text.count(r"\$")  # matplotlib takes none for the start of mathematics


def test_names_are_written_as_they_are() -> None:
    assert as_text("BM25 >> monoT5_3b^2 שלום 😀") == "BM25 >> monoT5_3b^2 שלום 😀"
    assert as_text("a\n b") == "a b" and as_text("a\x00b") == "a�b" and as_text(" ") == "' '"
    assert legend_label("_a") == "\u200b_a" and len(legend_label("x" * 1_000)) < 80


def test_the_longest_names_are_numbered_where_only_their_middle_differs() -> None:
    names = ["x" * 100 + letter + "x" * 100 for letter in "abc"]
    short = short_names([*names, names[0], "BM25"])
    assert len(set(short[:3])) == 3 and short[3] == short[0] and short[4] == "BM25"
    assert max(map(len, short)) < 50 and all("…" in s for s in short[:4])


@pytest.mark.parametrize("measure", ["NRG(prior='$\\\\frac{$')@10", "x" * 10_000])
def test_any_column_is_drawn(measure) -> None:
    frame = table(list("abc"), relative=measure)
    ax = draw(plots.relative_against_absolute(frame, relative=measure, ax=axes()))
    assert ax.get_ylabel().startswith("relative to other runs (") and len(ax.get_ylabel()) < 250
    frame[measure] *= 100  # so that each measure has a y-axis
    ax = draw(plots.chronological(frame, relative=measure, ax=axes()))
    assert len(ax.figure.axes[1].get_legend().get_texts()) == 2 and ax.get_ylabel()


def test_the_title_shows_the_measure_as_it_is() -> None:
    measure = "NRG(prior='$a$')@10"
    ax = plots.relative_against_absolute(table(list("ab"), measure), measure, ax=axes())
    assert ax.get_ylabel() == r"relative to other runs (NRG(prior='\$a\$')@10)"  # an escaped $ is shown as $


def test_titles_have_few_lines() -> None:
    long = break_title("x" * 10_000, 500.0, 10.0)
    assert long.count("\n") == 2 and "…" in long
    assert break_title("", 500.0, 10.0) == ""


VALUES = [[], [0.3, 0.3, 0.3], [-np.inf, np.inf], [np.nan, 0.2, np.inf, None, pd.NA]]
VALUES += [[1e-300, 2e-300], [1e300, -1e300], [True, False]]


@pytest.mark.parametrize("values", VALUES, ids=repr)
def test_any_values_are_drawn(values) -> None:
    frame = table([f"run{i}" for i in range(len(values))], values=pd.Series(values, dtype=object))
    frame["nDCG@10"] = frame[IDEAL]
    numbers = pd.to_numeric(frame[IDEAL], errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    finite = int(np.isfinite(numbers).sum())
    with warnings.catch_warnings(record=True, action="always") as caught:
        ax = draw(plots.relative_against_absolute(frame, ax=axes()))
    assert len(ax.texts) == finite == sum(len(line.get_xdata()) for line in ax.lines)
    assert [str(w.message).startswith("not drawn") for w in caught] == [True] * (finite < len(values))
    ax = draw(plots.chronological(frame, ax=axes()))
    assert [t.get_text() for t in ax.get_xticklabels()] == list(frame["name"])


def test_a_column_that_is_not_numbers() -> None:
    with pytest.raises(ValueError, match="column .*NRG.* of the table is not all numbers .*'high'"):
        plots.relative_against_absolute(table(["a", "b"], values=["high", 0.2]), ax=axes())


@pytest.mark.parametrize(("measure", "n"), [("MED@10", 1), ("rrLP", 4), ("MED(base='RBP')@10", 2)])
def test_few_and_equal_systems_are_compared(measure, n) -> None:
    equal = RunContext({f"run{i}": {"q": {"A": 1.0}} for i in range(n)})
    apart = RunContext({f"run{i}": {"q": {str(i): 1.0}} for i in range(n)})
    signed = "MED" not in measure
    for context, qrels in ((equal, {"q": {"A": 1}}), (apart, {"q": {"0": 1}, "r": {"A": 1}})):
        draw(plots.similarity(context, qrels, measure, signed=signed, ax=axes()))


def test_one_and_no_system_in_order() -> None:
    with pytest.warns(RelativeWarning, match="holds no run but 'a'"):
        ax = plots.chronological(RunContext({"a": {"q": {"A": 1.0}}}), {"q": {"A": 1}}, ax=axes())
    draw(ax)
    draw(plots.chronological(RunContext({}), {"q": {"A": 1}}, ax=axes()))


def test_one_broken_system_does_not_take_all_colours() -> None:
    rng = np.random.default_rng(0)
    qrels = {f"q{i}": {str(d): d % 2 for d in range(20)} for i in range(3)}
    runs = {
        f"run{i}": {
            q: {d: rng.random() + 0.7 * relevant for d, relevant in docs.items()} for q, docs in qrels.items()
        }
        for i in range(8)
    }
    for signed, measure, extend in ((False, "MED@10", "max"), (True, "rrLP", "both")):
        image = plots.similarity(RunContext(runs), qrels, measure, signed=signed, ax=axes()).images[0]
        assert image.colorbar.extend == "neither"
        with_broken = RunContext(runs | {"broken": {"q0": {"Z": 1.0}}})
        image = draw(plots.similarity(with_broken, qrels, measure, signed=signed, ax=axes())).images[0]
        assert image.colorbar.extend == extend and image.get_clim()[1] < image.get_array().max()


def test_names_along_an_axis_are_left_out_rather_than_on_top_of_each_other() -> None:
    with pytest.warns(RelativeWarning, match=r"all 400 systems are drawn, but only \d+ have their names"):
        ax = draw(plots.chronological(table([f"run{i}" for i in range(400)]), ax=axes()))
    boxes = [t.get_window_extent() for t in ax.get_xticklabels()]
    assert all(a.x1 <= b.x0 + 1 for a, b in itertools.pairwise(boxes))
