"""How the pictures are drawn: specifications of Vega-Lite, whose data the page fills in.

Vega-Lite, since a picture is then data, the same to the byte for the same input, and needs no code of its own for axes,
hover and zoom; since its program is embedded without a network by vl-convert (0.9 MB, where Plotly's takes 4.8); and
since it draws SVG, which takes its colours from the style sheet: light, dark and paper without drawing again. Bokeh
draws on a canvas, and Plotly refuses colours that are variables of CSS.

Fields have names of their own, and runs are numbers in them: no name from outside is ever part of an expression.
"""

from __future__ import annotations

from typing import Any

#: As many colours as the style sheet has for groups; shapes go on where they begin anew.
COLOURS = 7
_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")

#: Of all pictures: colours are variables of the style sheet.
CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": "var(--line)"},
    "axis": {
        "labelColor": "var(--soft)",
        "titleColor": "var(--ink)",
        "gridColor": "var(--line)",
        "domainColor": "var(--soft)",
        "tickColor": "var(--soft)",
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 150,
    },
    "legend": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--ink)",
        "labelFontSize": 11,
        "titleFontSize": 11,
        "labelLimit": 140,
    },
    "text": {"color": "var(--ink)"},
}


def charts(groups: int) -> dict[str, Any]:
    """Every picture, by name.

    Args:
        groups: how many groups the runs are in.
    """
    found = {
        "scatter": scatter(groups),
        "strip": strip(),
        "likeness": likeness(),
        "selection": selection(),
        "shapley": shapley(),
        "bounds": bounds(),
        "verdicts": verdicts(),
    }
    return {name: {"config": CONFIG} | spec for name, spec in found.items()}


def _number(field: str, **more: Any) -> dict[str, Any]:
    return {"field": field, "type": "quantitative"} | more


def _said(*fields: tuple[str, str]) -> list[dict[str, str]]:
    """What hovering says: fields and their titles."""
    return [{"field": field, "title": title, "type": "nominal"} for field, title in fields]


def _point(size: int) -> dict[str, Any]:
    """The mark of one run."""
    return {
        "type": "point",
        "filled": True,
        "size": size,
        "color": "var(--accent)",
        "opacity": 1,
        "cursor": "pointer",
    }


def scatter(groups: int) -> dict[str, Any]:
    """A point a run, relative over absolute; it can be zoomed and moved."""
    # As in the pictures of ``plots``: every seven groups the shapes move on by one.
    colour: dict[str, Any] = {"color": {"value": "var(--g0)"}}
    shape: dict[str, Any] = {}
    if groups:
        numbers = list(range(groups + 1))  # the last: in no group
        colours = [f"var(--g{i % COLOURS})" for i in range(groups)] + ["var(--soft)"]
        shapes = [_SHAPES[(i + i // COLOURS) % len(_SHAPES)] for i in range(groups)] + ["circle"]
        legend = {"title": None, "orient": "bottom", "labelExpr": "groups[datum.value]"}
        group = {"field": "group", "type": "nominal"}
        colour = {"color": group | {"scale": {"domain": numbers, "range": colours}, "legend": legend}}
        shape = {"shape": group | {"scale": {"domain": numbers, "range": shapes}, "legend": legend}}
    x, y = (
        _number("x", scale={"zero": False, "padding": 12}),
        _number("y", scale={"zero": False, "padding": 12}),
    )
    said = _said(("name", "run"), ("sx", "x"), ("sy", "y"), ("groupName", "group"))
    bar = {"type": "rule", "strokeWidth": 1, "opacity": 0.45}
    return {
        "width": "container",
        "height": 420,
        "params": [{"name": "groups", "value": []}],
        "encoding": colour,
        "layer": [
            {"mark": bar, "encoding": {"x": x | {"field": "xl"}, "x2": {"field": "xu"}, "y": y}},
            {"mark": bar, "encoding": {"x": x, "y": y | {"field": "yl"}, "y2": {"field": "yu"}}},
            {
                # The wheel alone scrolls the page; a pinch comes as a wheel with Ctrl.
                "params": [
                    {
                        "name": "zoom",
                        "select": {"type": "interval", "zoom": "wheel![event.ctrlKey]"},
                        "bind": "scales",
                    }
                ],
                "mark": {"type": "point", "filled": True, "size": 90, "opacity": 0.9, "cursor": "pointer"},
                "encoding": {"x": x, "y": y, "tooltip": said} | shape,
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 8, "fontSize": 10, "fill": "var(--soft)"},
                "encoding": {"x": x, "y": y, "text": {"field": "label"}, "color": {"value": "var(--soft)"}},
            },
        ],
    }


def strip() -> dict[str, Any]:
    """A run's value on every topic, over those of all other runs."""
    axis = {
        "labelExpr": "topics[datum.value]",
        "labelAngle": -90,
        "labelOverlap": True,
        "labelLimit": 70,
        "title": "topic, in the order of the run's values",
        "ticks": False,
    }
    x = {"field": "place", "type": "ordinal", "axis": axis}
    y = _number("value", title=None)
    said = _said(("topic", "topic"), ("shown", "value"), ("others", "runs above"))
    other = _said(("topic", "topic"), ("name", "run"), ("shown", "value"))
    return {
        "width": "container",
        "height": 300,
        "params": [{"name": "topics", "value": []}],
        "layer": [
            {
                "transform": [{"filter": "!datum.own"}],
                "mark": {
                    "type": "tick",
                    "orient": "horizontal",
                    "color": "var(--soft)",
                    "opacity": 0.4,
                    "thickness": 1.5,
                },
                "encoding": {"x": x, "y": y, "tooltip": other},
            },
            {
                "transform": [{"filter": "datum.own"}],
                "mark": _point(50),
                "encoding": {"x": x, "y": y, "tooltip": said},
            },
        ],
    }


def _square(field: str, title: str) -> dict[str, Any]:
    """An axis of runs, which the page names."""
    axis = {
        "labelExpr": "names[datum.value]",
        "title": None,
        "ticks": False,
        "domain": False,
        "labelOverlap": False,
    }
    return {"field": field, "type": "ordinal", "axis": axis | ({"labelAngle": -90} if title == "x" else {})}


def likeness() -> dict[str, Any]:
    """How far apart each two runs are, alike ones side by side."""
    return {
        "width": {"step": 16},
        "height": {"step": 16},
        "params": [{"name": "names", "value": []}],
        "mark": {"type": "rect", "cursor": "pointer"},
        "encoding": {
            "x": _square("x", "x"),
            "y": _square("y", "y"),
            "color": _number(
                "value",
                scale={"scheme": "viridis", "clamp": True},
                legend={"title": "distance", "orient": "top", "gradientLength": 160},
            ),
            "tooltip": _said(("name", "run"), ("other", "and"), ("shown", "distance")),
        },
    }


def selection() -> dict[str, Any]:
    """What the runs chosen so far find, and what no group of so many can exceed."""
    x = _number("place", title="runs chosen", axis={"tickMinStep": 1, "format": "d", "grid": False})
    said = _said(("name", "run"), ("marginal", "adds"), ("total", "together"), ("limit", "at most"))
    return {
        "width": "container",
        "height": 280,
        "layer": [
            {
                "mark": {"type": "line", "color": "var(--soft)", "strokeDash": [4, 3]},
                "encoding": {"x": x, "y": _number("bound")},
            },
            {
                "mark": {"type": "line", "color": "var(--accent)", "strokeWidth": 2},
                "encoding": {"x": x, "y": _number("value", title=None, scale={"zero": False})},
            },
            {
                "mark": _point(70),
                "encoding": {"x": x, "y": _number("value"), "tooltip": said},
            },
        ],
    }


def _runs_down() -> dict[str, Any]:
    axis = {
        "labelExpr": "names[datum.value]",
        "title": None,
        "ticks": False,
        "domain": False,
        "labelLimit": 130,
    }
    return {"field": "place", "type": "ordinal", "axis": axis}


def shapley() -> dict[str, Any]:
    """The credit of each run, the largest first."""
    return {
        "width": "container",
        "params": [{"name": "names", "value": []}],
        "mark": {"type": "bar", "color": "var(--accent)", "cursor": "pointer", "height": {"band": 0.7}},
        "encoding": {
            "y": _runs_down(),
            "x": _number("value", title=None),
            "tooltip": _said(("name", "run"), ("shown", "credit")),
        },
    }


def bounds() -> dict[str, Any]:
    """Runs as intervals of what their values could become, the best on top."""
    said = _said(("name", "run"), ("low", "at least"), ("shown", "as judged"), ("high", "at most"))
    lower = _number("lower", title=None, scale={"zero": False})
    return {
        "width": "container",
        "params": [{"name": "names", "value": []}],
        "layer": [
            {
                "mark": {
                    "type": "rule",
                    "color": "var(--accent)",
                    "opacity": 0.5,
                    "strokeWidth": 4,
                    "cursor": "pointer",
                },
                "encoding": {"y": _runs_down(), "x": lower, "x2": {"field": "upper"}, "tooltip": said},
            },
            {
                "mark": _point(45),
                "encoding": {"y": _runs_down(), "x": _number("value"), "tooltip": said},
            },
        ],
    }


def verdicts() -> dict[str, Any]:
    """Which run is proved better than which: the row than the column."""
    words = ["better", "worse", "equal", "open"]
    return {
        "width": {"step": 16},
        "height": {"step": 16},
        "params": [{"name": "names", "value": []}],
        "mark": {"type": "rect", "cursor": "pointer", "stroke": "var(--paper)", "strokeWidth": 0.5},
        "encoding": {
            "x": _square("x", "x"),
            "y": _square("y", "y"),
            "color": {
                "field": "verdict",
                "type": "nominal",
                "scale": {"domain": words, "range": [f"var(--{word})" for word in words]},
                "legend": {"title": "row than column", "orient": "top"},
            },
            "tooltip": _said(
                ("name", "run"),
                ("verdict", "is"),
                ("other", "than"),
                ("shown", "difference"),
                ("range", "between"),
            ),
        },
    }
