"""Sphinx configuration."""

import os
import re
import shutil
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent / "_ext"), str(Path(__file__).parents[1])]

from tools.address import repository, site  # noqa: E402

import ir_measures_relative  # noqa: E402

project = "ir-measures-relative"
author = "The ir-measures-relative maintainers"
project_copyright = author
release = ir_measures_relative.__version__

extensions = [
    "myst_nb",  # with myst_parser
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "formulas",
    "reference",
]
exclude_patterns = ["_build", "_ext"]

# Sphinx reads what lies below its own folder; on the pages links lead to where the notebooks are, as in the repository.
docs = Path(__file__).parent
shutil.rmtree(docs / "notebooks", ignore_errors=True)
shutil.copytree(docs.parent / "examples" / "notebooks", docs / "notebooks", dirs_exist_ok=True)

nitpicky = True  # every reference leads somewhere, but for types in signatures that have no page
nitpick_ignore_regex = [
    (
        "py:class",
        r"(collections\.abc|os|pd|pandas|np|numpy|matplotlib|ir_measures|ir_datasets|pyterrier)\..+",
    ),
    (
        "py:class",
        r"\w*Array|Axes|Figure|Qrels|Run|Policy|Ids|Metric|Evaluator|CalcResults|Rankings|Path|OptionLike|RunPaths",
    ),
    (
        "py:class",
        r"ir_measures_relative\.(context\.((collection|memo)\.T|evaluated\.HasGains)|context\.tops\.\w+)",
    ),
    ("py:class", r"ir_measures_relative\.(measures\.measure\._M|data\.registry\._[KV])"),
    (
        "py:class",
        r"ir_measures_relative\.measures\.bases\.base\.(RandomRanking|RankedGains)",
    ),
    ("py:class", r"ir_measures_relative\.data\.(ids\.Ids|documents\.(Labels|Aspects))"),
    ("py:class", r"ir_measures_relative\.demo\.DemoCollection"),
    ("py:class", r"pathlib\.Path"),
]

smartquotes_action = "D"  # dashes alone: 'nDCG' is a value

html_theme = "furo"
html_title = "ir-measures-relative"
html_math_renderer = "svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
if address := repository():  # else no page is linked to
    html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL") or site(address)
    html_theme_options = {"source_repository": address, "source_branch": "main", "source_directory": "docs/"}

nb_execution_mode = "off"  # the tests run them; the site shows what they showed

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True  # MISSING, not <object object at 0x…>
autodoc_type_aliases = {name: name for name in ("FloatArray", "IntArray", "BoolArray", "ObjectArray")}
napoleon_use_ivar = True
napoleon_use_rtype = False


#: What readers search for, and the page that answers it: as entries of the index the words find it first.
ANSWERS = {
    "aspects": ("nugget", "nuggets", "aspects", "rag", "context window"),
    "formats": (
        "beir",
        "mteb",
        "ms marco",
        "pyserini",
        "opensearch",
        "file format",
        "ranx",
        "lenskit",
        "pytrec_eval",
        "polars",
    ),
    "fusing": ("fusion", "fuse", "hybrid", "hybrid search", "rrf", "reciprocal rank fusion"),
    "getting-started": ("install", "installation", "extras", "stability", "stable", "deprecation"),
    "in-ci": ("ci", "continuous integration", "gate", "pytest", "github actions"),
    "keep-add-replace-drop": (
        "worth",
        "worth adding",
        "keep",
        "add",
        "replace",
        "drop",
        "remove",
        "how many topics",
        "rerank",
        "reranker",
        "re-ranker",
        "reranking",
    ),
    "measures": ("which measure", "choose a measure"),
    "past-one-machine": ("dask", "spark", "larger than memory", "speed", "fast"),
    "pipelines": ("pyterrier",),
    "report": ("plot", "plots", "figure", "figures", "html report"),
    "tracks": ("track", "tracks"),
    "trajectories": ("agent", "agents", "session", "sessions"),
    "unjudged": (
        "unjudged",
        "unjudged documents",
        "holes",
        "missing judgments",
        "no labels",
        "no judgments",
        "no qrels",
        "without judgments",
        "llm judge",
        "llm judges",
        "llm labels",
    ),
    "valid-statistics": (
        "significance",
        "significant",
        "p-value",
        "confidence interval",
        "t-test",
        "cite",
        "citation",
        "bibtex",
        "paper",
        "fingerprint",
    ),
}


def setup(app):
    """Has links lead to what the site has, and the words of ANSWERS find their pages."""

    def prepare(app, name, source):
        text = source[0].replace("](../examples/notebooks/", "](notebooks/")
        text = text.replace("](../CHANGELOG.md)", "](reference/generated/changelog.rst)")
        if address:
            text = text.replace("](../studies/", f"]({address}/blob/main/studies/")
        else:  # the studies are no part of the site, so it names the file
            text = re.sub(r"\[([^][]+)\]\(\.\./(studies/[\w-]+\.md)[\w#-]*\)", r"\1 (`\2`)", text)
        if words := ", ".join(f"! {word}" for word in ANSWERS.get(name, ())):
            title, rest = text.split("\n", 1)
            text = f"{title}\n\n```{{index}} {words}\n```\n{rest}"
        source[0] = text

    app.connect("source-read", prepare)
