"""Figures and axes, and what is written beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..messages import warn
from .text import title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Names of systems along an axis, in points.
_LARGEST, _SMALLEST = 9.0, 4.5
# The part of a figure that matplotlib gives to axes before the layout is made.
_OF_A_FIGURE = 0.77


def new_figure(width: float = 9.0, height: float = 6.5) -> Figure:
    """An empty figure that pyplot does not know of: no window opens, and no backend is chosen.

    Raises:
        ImportError: matplotlib is missing; says how to install it.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)  # type: ignore[union-attr]
    return figure


def require_matplotlib() -> None:
    """Raises ImportError, which says what to install, where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("the pictures need matplotlib: pip install 'ir-measures-relative[plot]'") from None


def given_or_new_axes(ax: Axes | None, width: float = 9.0, height: float = 6.5) -> Axes:
    """``ax``, or that of a new figure of pyplot's of this size, in inches."""
    require_matplotlib()
    if ax is not None:
        return ax
    import matplotlib.pyplot

    return matplotlib.pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def size_of(ax: Axes) -> tuple[float, float]:
    """Width and height of the axes in points, before the layout is made."""
    point = ax.figure.dpi / 72.0
    return ax.bbox.width / point, ax.bbox.height / point


def size_with_margins(ax: Axes) -> tuple[float, float]:
    """Width and height, in points, that the axes have together with what is written beside them."""
    width, height = size_of(ax)
    return width / _OF_A_FIGURE, height / _OF_A_FIGURE


def write_title(ax: Axes, text: str) -> None:
    """Writes a title above the axes."""
    ax.set_title(title(text, 1.15 * size_of(ax)[0], 12.0))


def write_axis_titles(ax: Axes, x: str | None, y: str | None, **style: Any) -> None:
    """Writes titles beside the axes."""
    width, height = size_with_margins(ax)
    if x is not None:
        ax.set_xlabel(title(x, width, 10.0), **style)
    if y is not None:
        ax.set_ylabel(title(y, height, 10.0), **style)


def names_that_fit(room: float, n: int) -> tuple[float, range]:
    """The size of the names of ``n`` systems along an axis, and which have room there.

    Args:
        room: the points that each has.
    """
    size = max(_SMALLEST, min(_LARGEST, 0.8 * room))
    fitting = range(0, n, max(1, -int(-size // max(room, 1e-3))))
    if len(fitting) < n:
        warn_of_names_left_out(len(fitting), n)
    return size, fitting


def warn_of_names_left_out(shown: int, n: int) -> None:
    """Warns that only some systems are named on a picture."""
    warn(
        f"all {n} systems are drawn, but only {shown} have their names beside them, since there is no room for more: "
        "a larger figure has room (ax=plots.new_figure(24, 18).subplots()), or draw fewer systems"
    )
