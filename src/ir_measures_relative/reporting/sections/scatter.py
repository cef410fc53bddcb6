"""One measure over another. ``templates/scatter.js`` draws the two that the reader chooses."""

from __future__ import annotations

from typing import Any

from ..campaign import ReportedCampaign
from . import COLOURS, Section, Spec, quantity, said

WORDS = """
<p>Each run by one measure over another. With a measure of what runs add on one axis, look for runs that lie high for
their place on the x-axis: they find documents that the others miss. A click opens a run.</p>
<div class="controls">
<label>up <select id="scatter-y"></select></label> <label>across <select id="scatter-x"></select></label>
<label><input type="checkbox" id="scatter-names"> names</label>
<label><input type="checkbox" id="scatter-bars"> intervals</label>
<span class="buttons" role="group" aria-label="Zoom">
<button type="button" data-zoom="0.67" aria-label="Zoom in">+</button>
<button type="button" data-zoom="1.5" aria-label="Zoom out">−</button>
<button type="button" data-zoom="0">all</button></span>
<small>drag to move; pinch, or turn the wheel with Ctrl held, to zoom</small>
</div>
{{ picture("scatter", "A point a run, one measure over another") }}
"""

_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")


def section(campaign: ReportedCampaign) -> Section | None:
    """A point a run, relative over absolute; of one measure there is no such picture."""
    if len(campaign.measures) < 2:
        return None
    all_grouped = all("group" in run for run in campaign.data["runs"])
    spec, title = scatter(len(campaign.data["groups"]), all_grouped), "Relative and absolute"
    return Section("scatter", title, title, WORDS, specs={"scatter": spec})


def scatter(groups: int, all_grouped: bool) -> Spec:
    """A point a run, of so many groups; it can be zoomed and moved."""
    colour: Spec = {"color": {"value": "var(--g0)"}}
    shape: Spec = {}
    if groups:
        # As in the pictures of ``plots``: every seven groups the shapes move on by one.
        colours = [f"var(--g{i % COLOURS})" for i in range(groups)]
        shapes = [_SHAPES[(i + i // COLOURS) % len(_SHAPES)] for i in range(groups)]
        if not all_grouped:
            colours, shapes = [*colours, "var(--soft)"], [*shapes, "circle"]
        numbers = list(range(len(colours)))  # the page gives those in no group the last
        legend = {"title": None, "orient": "bottom", "labelExpr": "groups[datum.value]"}
        group = {"field": "group", "type": "nominal"}
        colour = {"color": group | {"scale": {"domain": numbers, "range": colours}, "legend": legend}}
        shape = {"shape": group | {"scale": {"domain": numbers, "range": shapes}, "legend": legend}}
    x, y = (quantity(axis, scale={"zero": False, "padding": 12}) for axis in "xy")
    tooltip = said(name="run", sx="x", sy="y", **({"groupName": "group"} if groups else {}))
    bar = {"type": "rule", "strokeWidth": 1, "opacity": 0.45}
    # The wheel alone scrolls the page; a pinch comes as a wheel with Ctrl.
    zoom: dict[str, Any] = {"type": "interval", "zoom": "wheel![event.ctrlKey]"}
    return {
        "width": "container",
        "height": 420,
        "params": [{"name": "groups", "value": []}],
        "encoding": colour,
        "layer": [
            {"mark": bar, "encoding": {"x": x | {"field": "xl"}, "x2": {"field": "xu"}, "y": y}},
            {"mark": bar, "encoding": {"x": x, "y": y | {"field": "yl"}, "y2": {"field": "yu"}}},
            {
                "params": [{"name": "zoom", "select": zoom, "bind": "scales"}],
                "mark": {"type": "point", "filled": True, "size": 90, "opacity": 0.9, "cursor": "pointer"},
                "encoding": {"x": x, "y": y, "tooltip": tooltip} | shape,
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 8, "fontSize": 10, "fill": "var(--soft)"},
                "encoding": {"x": x, "y": y, "text": {"field": "label"}, "color": {"value": "var(--soft)"}},
            },
        ],
    }
