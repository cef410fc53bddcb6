"""README and documentation: their examples run; tables, links and pictures are up to date; and the page for PyTerrier."""

import ast
import importlib.metadata
import importlib.resources
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from ir_measures_relative.context.measure_strings import MISSING, registered
from page_examples import run_examples
from tools import pictures

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
DOCS = [README, *sorted((ROOT / "docs").glob("*.md"))]
PAGES = [*DOCS, *sorted((ROOT / "studies").glob("*.md"))]


#: What a page needs of the extras; without it the page is skipped.
NEEDS = {
    "README": ("pyterrier",),
    "aspects": ("pyterrier",),
    "command-line": ("matplotlib", "statsmodels"),
    "getting-started": ("pyterrier",),
    "past-one-machine": ("dask.dataframe", "pyarrow"),
    "pipelines": ("pyterrier",),
    "report": ("matplotlib",),
    "fusing": ("matplotlib",),
}


@pytest.mark.parametrize("page", DOCS, ids=lambda p: p.name)
@pytest.mark.filterwarnings(
    "error::UserWarning",
    "ignore:UE is relative to a random ranking of the documents",
    "ignore:the run ranks .* of the judged documents",
    "ignore:UniqueRel.* counts each label from rel=1",
)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for needed in NEEDS.get(page.stem, ()):
        pytest.importorskip(needed, reason=f"the page needs {needed}, of the extras")
    run_examples(page, tmp_path, monkeypatch)


def test_the_real_case_of_a_decision(
    dl19_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first py block of the page, where TREC 2019's runs are, and the answer below it."""
    if not (dl19_path / "later").exists():
        pytest.skip(f"the runs of later years are not in {dl19_path / 'later'}")
    (tmp_path / "dl19").symlink_to(dl19_path.resolve())
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "keep-add-replace-drop.md").read_text(encoding="utf-8")
    code, shown = text.split("## A real case")[1].split("```py\n")[1].split("```\n\n```text\n")
    names: dict[str, Any] = {}
    exec(compile(code, "keep-add-replace-drop.md", "exec"), names)
    assert names["answer"].answer.split() == shown.split("```")[0].split()


#: What the table of measures calls each thing that a measure may be relative to.
WORDS = {
    "priors": "prior runs",
    "systems": "all systems",
    "reference": "a reference run",
    "chance": "a random ranking",
}


def test_table_of_measures() -> None:
    """A row for every measure: with parameters that it has, their defaults, every base, and what it is relative to."""
    page = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    table = page.split("## The table")[1].split("\n## ")[0]
    rows = [row.strip("| ").split(" | ") for row in table.splitlines() if row.startswith("| `")]
    listed = []
    for written, _, relative_to in rows:
        for code in re.findall(r"`(.*?)`", written):
            name = re.split(r"[(@]", code)[0]
            measure = registered()[name]
            params = measure.SUPPORTED_PARAMS
            listed.append(name)
            assert relative_to == WORDS[measure.RELATIVE_TO], code
            assert "cutoff" in params or "@k" not in code, code
            assert "@k" in code or not ("cutoff" in params and params["cutoff"].required), code
            for parameter, value in re.findall(r"(\w+)=([^,)]+)", code):
                default = params[parameter].default
                assert value == ("…" if default is MISSING else repr(default)), code
            if ", base " in written:
                bases = written.split(", base ")[1].replace(" or ", ", ").split(", ")
                assert sorted(bases) == sorted(params["base"].choices), code
    assert sorted(listed) == sorted(registered())


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("[C-S]*.md"))], ids=lambda p: p.name)
def test_links_exist_in_the_repository(page: Path) -> None:
    """Not only on the site, for which notebooks are copied into its folder."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", text)
    assert links or page not in (README, ROOT / "docs" / "pipelines.md")
    copied = ROOT / "docs" / "notebooks"
    targets = [(page.parent / link).resolve() for link in links]
    assert [t for t in targets if not t.exists() or t.is_relative_to(copied)] == []


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("[C-S]*.md"))], ids=lambda p: p.name)
def test_links_to_headings_exist_in_the_repository(page: Path) -> None:
    """Headings have the anchors that GitHub gives them; the site has the same."""
    links = re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)", page.read_text(encoding="utf-8"))
    for path, anchor in links:
        target = (page.parent / path).resolve() if path else page
        headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
        anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert anchor in anchors, (path, anchor)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_no_line_starts_with_a_per_cent_sign(page: Path) -> None:
    """The site takes such a line for a comment, and leaves it out."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^ *%.*", text, flags=re.MULTILINE) == []


def test_a_word_that_readers_search_for_finds_one_page() -> None:
    """The search of the site compares in lower case."""
    conf = ast.parse((ROOT / "docs" / "conf.py").read_text(encoding="utf-8"))
    (answers,) = (
        ast.literal_eval(node.value)
        for node in conf.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ANSWERS"
    )
    words = [word for page in answers.values() for word in page]
    assert len(set(words)) == len(words) and all(word == word.lower() for word in words)
    assert [page for page in answers if not (ROOT / "docs" / f"{page}.md").exists()] == []


def test_ci_runs_the_command_of_the_readme() -> None:
    commands = re.findall(r"^```bash\n(.*?)\n```$", README.read_text(encoding="utf-8"), re.MULTILINE)
    tests = [c for c in commands if "pytest" in c]
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert len(tests) == 1 and tests[0] in map(str.strip, run.splitlines())


def test_the_readme_quotes_the_open_answer_of_the_page_on_decisions() -> None:
    """Whose example is run."""
    quoted = re.findall(r"^```text\n(Open\. .*?)```$", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    page = (ROOT / "docs" / "keep-add-replace-drop.md").read_text(encoding="utf-8")
    assert len(quoted) == 1 and " ".join(quoted[0].split()) in page


def test_each_picture_is_drawn_by_the_command() -> None:
    """All that the pages show, and nothing that no page shows."""
    drawn = {path.name for path in map(pictures.ROOT.joinpath, pictures.DRAWN) if path.suffix == ".png"}
    pages = [pictures.ROOT / "README.md", *(pictures.ROOT / "docs").glob("*.md")]
    shown = {
        name
        for page in pages
        for name in re.findall(r"\]\((?:docs/)?pictures/(.+?)\)", page.read_text("utf-8"))
    }
    assert drawn == shown == {path.name for path in pictures.PICTURES.glob("*.png")}
    notebooks = {path.name for path in pictures.NOTEBOOKS.glob("*.ipynb")}
    assert notebooks == {name.rpartition("/")[2] for name in pictures.DRAWN if name.endswith(".ipynb")}


def test_no_picture_is_older_than_its_words() -> None:
    """Titles, axes and legends are in the code; `nox -s pictures` draws what is out of date, and keeps its hash."""
    assert pictures.older_than_their_words() == []


#: A line of PyTerrier's ``docs/extensions.txt`` starts with one name, for the distribution and for the package alike.
EXTENSION = "ir_measures_relative"


def page() -> Path:
    """Where ``docs/extras/generate_extensions.py`` of PyTerrier looks."""
    assert importlib.metadata.metadata(EXTENSION)["Name"] == "ir-measures-relative"
    folder = importlib.resources.files(EXTENSION).joinpath("pt_docs")
    return Path(str(folder)) / "index.rst"


def test_its_code_runs() -> None:
    pytest.importorskip("pyterrier", reason="the page is about PyTerrier, the extra [pyterrier]")
    names: dict[str, object] = {}
    text = page().read_text(encoding="utf-8")
    blocks = re.findall(r"^\.\. code-block:: python\n   :caption:.*\n\n((?:   .*\n|\n)+)", text, re.MULTILINE)
    assert len(blocks) == 3
    for block in blocks:
        exec(textwrap.dedent(block), names)


def test_it_has_every_measure() -> None:
    table = page().read_text(encoding="utf-8").split("\nMeasures\n")[1].split("\nAPI")[0]
    assert set(re.findall(r"``(\w+)(?:@k)?``", table)) == set(registered())
