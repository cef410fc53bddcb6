"""Formulas as pictures of letters in the page itself: no script, no font and no network is needed to see them.

``sphinx.ext.mathjax`` loads its program from elsewhere, and browsers' own MathML depends on the fonts of the reader.
ziamath typesets LaTeX as SVG, whose paths have the colour of the text around them, in the dark as in the light.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html import escape
from typing import Any

import ziamath
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

ziamath.config.svg2 = False  # paths, and no symbols: their ids would stand on a page more than once

_SIZE = 17.0  # pixels, beside letters of 16
_PIXELS_TO_EM = 1 / 16.0


def svg(latex: str, inline: bool) -> str:
    """A formula as an SVG element, with its LaTeX for those who do not see it."""
    formula = ziamath.Latex(latex, size=_SIZE, inline=inline)
    drawn = formula.svgxml()
    width, height = (float(drawn.get(side)) * _PIXELS_TO_EM for side in ("width", "height"))
    drawn.set("width", f"{width:.3f}em")
    drawn.set("height", f"{height:.3f}em")
    drawn.set("role", "img")
    drawn.set("aria-label", latex)
    drawn.set("fill", "currentColor")
    if inline:
        drawn.set("style", f"vertical-align:{formula.getyofst() * _PIXELS_TO_EM:.3f}em")
    text = ET.tostring(drawn, encoding="unicode")
    return re.sub(r'(fill|stroke)="(black|#000000|#000)"', r'\1="currentColor"', text)


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(svg(node.astext(), inline=True))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    lines = [line for line in re.split(r"\n\s*\n", node.astext()) if line.strip()]
    drawn = "".join(f"<div>{svg(' '.join(line.split()), inline=False)}</div>" for line in lines)
    self.body.append(f'<div class="formula" tabindex="0" title="{escape(node.astext())}">{drawn}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("svg", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
