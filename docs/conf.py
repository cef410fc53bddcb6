"""Sphinx configuration."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import ir_measures_relative

project = "ir-measures-relative"
author = "The ir-measures-relative maintainers"
project_copyright = author
release = ir_measures_relative.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "formulas",
    "reference",
]
exclude_patterns = ["_build", "_ext", "which-measure.md"]  # the last stands in two pages

smartquotes_action = "D"  # dashes alone: 'nDCG' is a value

html_theme = "furo"
html_title = "ir-measures-relative"
html_math_renderer = "svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True  # MISSING, not <object object at 0x…>
autodoc_type_aliases = {name: name for name in ("FloatArray", "IntArray", "BoolArray", "ObjectArray")}
napoleon_use_ivar = True
napoleon_use_rtype = False
