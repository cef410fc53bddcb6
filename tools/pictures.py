"""The pictures of the pages, and those in the notebooks.

python -m tools.pictures            # draws those whose words have changed since they were drawn
python -m tools.pictures --all      # draws all of them

Some pictures show runs of TREC 2003 Robust, whose folder ROBUST03 names, and Chromium photographs the report. Where the
runs or the browser are absent, a picture is left as it is, and the command says so at its end.

``docs/pictures/words.json`` has a hash of the words of each picture as it was drawn, the texts in the code that draws
it. A test compares these hashes with the code, so that no title changes without its picture.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
WORDS = PICTURES / "words.json"
NOTEBOOKS = ROOT / "examples" / "notebooks"
PLOTS, REPORTING = "src/ir_measures_relative/plots", "src/ir_measures_relative/reporting"


class CannotDrawError(Exception):
    """The data of a picture are not on this machine."""


class Picture(NamedTuple):
    """How a picture is drawn into a file, and the files of the repository whose texts are in it."""

    draw: Callable[[Path], None]
    sources: tuple[str, ...]


def texts(path: Path) -> Iterator[str]:
    """Yield the strings of a Python file, without docstrings and messages of errors; the whole text of another file."""
    if path.suffix != ".py":
        yield path.read_text(encoding="utf-8")
        return
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom):
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        waiting += [] if is_docstring else reversed([*ast.iter_child_nodes(node)])


def hash_of(picture: Picture) -> str:
    """Return the hash of the words of a picture."""
    words = [text for source in picture.sources for text in texts(ROOT / source)]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:16]


def command(*arguments: str | Path, cwd: Path = ROOT) -> None:
    """Run a command, with the package of this checkout."""
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH"))))
    subprocess.run([*map(str, arguments)], check=True, cwd=cwd, env=os.environ | {"PYTHONPATH": path})


def robust03() -> Path:
    """Return the folder of the runs of TREC 2003 Robust."""
    folder = os.environ.get("ROBUST03", "")
    if not (Path(folder) / "runs").is_dir() or not folder:
        raise CannotDrawError("ROBUST03 names no folder with runs/ and qrels.txt.gz")
    return Path(folder).resolve()


def five_families(path: Path) -> None:
    """Draw the runs of Robust 2003 by one measure of each family."""
    names = ("THUIRr0301", "pircRBa1", "NLPR03vb10")
    command(sys.executable, "studies/five_families.py", robust03(), *names, "--output", path)


def fusion_robust03(path: Path) -> None:
    """Draw what each strategy of fusion is worth on Robust 2003."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "robust03").symlink_to(robust03())
        command(sys.executable, "studies/which_to_fuse.py", Path(folder) / "robust03", "--pictures", folder)
        shutil.copy(Path(folder) / "fusion-robust03.png", path)


def robust03_scatter(path: Path) -> None:
    """Draw what each run of Robust 2003 adds, and how good it is."""
    from ir_measures_relative import RunContext, plots

    folder = robust03()
    context = RunContext.from_files(folder / "runs")
    table = context.evaluate(str(folder / "qrels.txt.gz"), ["nDCG@10", "NRG(norm='ideal')@10"])
    figure = plots.new_figure()
    plots.relative_against_absolute(table, ax=figure.subplots())
    figure.savefig(path, dpi=150)


def of_the_demo(name: str) -> Callable[[Path], None]:
    """Return what draws the picture of a function of ``plots``, of the generated collection."""

    def draw(path: Path) -> None:
        from ir_measures_relative import RunContext, demo, plots

        context, qrels = RunContext(demo.runs(), groups=demo.GROUPS), demo.generate().qrels
        figure = plots.new_figure(7.5, 6.5) if name == "similarity" else plots.new_figure()
        ax = figure.subplots()
        if name == "relative_against_absolute":
            table = context.evaluate(qrels, ["nDCG@10", "NRG(norm='ideal')@10"])
            plots.relative_against_absolute(table, groups=context.groups, ax=ax)
        elif name == "chronological":
            plots.chronological(context, qrels, ax=ax)
        else:
            plots.similarity(context, qrels, ax=ax)
        figure.savefig(path, dpi=90)

    return draw


def agent_trajectory(path: Path) -> None:
    """Draw what each search of an agent brought."""
    command(sys.executable, "examples/agent_trajectory.py", "--picture", path)


def report(path: Path) -> None:
    """Photograph the first screen of the report of the generated collection."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        raise CannotDrawError("there is no chromium")
    with tempfile.TemporaryDirectory() as folder:
        here, program = Path(folder), (sys.executable, "-m", "ir_measures_relative")
        command(*program[:2], "ir_measures_relative.demo", "campaign", cwd=here)
        given = ("report", "campaign/qrels.txt", "campaign/runs/", "--groups", "campaign/groups.csv")
        command(*program, *given, "--output", "report.html", cwd=here)
        look = ("--headless", "--no-sandbox", "--hide-scrollbars", "--virtual-time-budget=8000")
        size, to = "--window-size=1280,1100", f"--screenshot={path}"
        command(browser, *look, size, to, (here / "report.html").as_uri(), cwd=here)


def notebook(path: Path) -> None:
    """Run a notebook, and keep what it shows."""
    import nbformat
    from nbclient import NotebookClient

    content = nbformat.read(path, as_version=4)
    inherited = {name: os.environ.pop(name) for name in ("ROBUST03",) if name in os.environ}
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(content, record_timing=False, resources={"metadata": {"path": folder}}).execute()
    os.environ.update(inherited)
    content.metadata["language_info"] = {"name": "python"}
    for cell in content.cells:
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    path.write_text(nbformat.writes(content) + "\n", encoding="utf-8")


SCATTER, FIGURES = f"{PLOTS}/scatter.py", f"{PLOTS}/figures.py"
CURVES, MATRICES = f"{PLOTS}/curves.py", f"{PLOTS}/matrices.py"
FIRST_SCREEN = ("sections/__init__.py", "sections/scatter.py", "sections/runs.py", "sections/unjudged.py",
                "templates/report.html", "templates/scatter.html", "templates/runs.html",
                "templates/runs-headline.html")  # fmt: skip

#: From the path of a picture, or of a notebook with pictures, to how it is drawn.
DRAWN = {
    "docs/pictures/agent-trajectory.png": Picture(agent_trajectory, ("examples/agent_trajectory.py",)),
    "docs/pictures/chronological.png": Picture(of_the_demo("chronological"), (CURVES, FIGURES)),
    "docs/pictures/five-families.png": Picture(five_families, ("studies/five_families.py",)),
    "docs/pictures/fusion-robust03.png": Picture(
        fusion_robust03, ("studies/which_to_fuse.py", "studies/drawn_tables.py", FIGURES)
    ),
    "docs/pictures/relative-against-absolute.png": Picture(
        of_the_demo("relative_against_absolute"), (SCATTER, FIGURES)
    ),
    "docs/pictures/report.png": Picture(report, tuple(f"{REPORTING}/{name}" for name in FIRST_SCREEN)),
    "docs/pictures/robust03.png": Picture(robust03_scatter, (SCATTER, FIGURES)),
    "docs/pictures/similarity.png": Picture(of_the_demo("similarity"), (MATRICES, FIGURES)),
    "examples/notebooks/a-campaign-from-a-folder.ipynb": Picture(notebook, (SCATTER, MATRICES, FIGURES)),
    "examples/notebooks/from-pipelines-to-a-decision.ipynb": Picture(notebook, (SCATTER, FIGURES)),
    "examples/notebooks/without-judgments.ipynb": Picture(notebook, (MATRICES, FIGURES)),
}


def older_than_their_words() -> list[str]:
    """Return the pictures that were drawn with other words than the code has now."""
    known = json.loads(WORDS.read_text(encoding="utf-8")) if WORDS.exists() else {}
    return [path for path, picture in DRAWN.items() if known.get(path) != hash_of(picture)]


def main() -> None:
    """Draw the pictures, and write the hashes of their words."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.pictures",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these, such as similarity.png")
    parser.add_argument("--all", action="store_true", help="also those whose words are the same")
    arguments = parser.parse_args()
    chosen = [path for path in DRAWN if arguments.all or Path(path).name in arguments.names]
    if not chosen and not arguments.names:
        chosen = older_than_their_words()
    known = json.loads(WORDS.read_text(encoding="utf-8")) if WORDS.exists() else {}
    left = []
    for path in chosen:
        try:
            DRAWN[path].draw(ROOT / path)
        except CannotDrawError as reason:
            left.append(f"{path} is as it was: {reason}")
            continue
        known[path] = hash_of(DRAWN[path])
        print(path, flush=True)
    WORDS.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")
    if left:
        raise SystemExit("\n".join(left))


if __name__ == "__main__":
    main()
