"""Builds wheel and sdist, checks them, and tries the wheel where there is no source: ``python -m tools.release``.

Needs ``build`` and ``twine``. The smoke test runs in an environment of its own, in an empty folder, with the wheel
alone.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from .address import citation, repository

ROOT = Path(__file__).resolve().parents[1]
SMOKE = """
import ir_measures, ir_measures_relative as relative
from ir_measures import nDCG
from ir_measures_relative import NRG, RunContext
assert "site-packages" in relative.__file__, relative.__file__
qrels = {"q1": {"A": 1, "E": 1, "F": 1, "J": 1}}
run = lambda ranking: {"q1": {doc: -position for position, doc in enumerate(ranking)}}
with RunContext({"R2": run("EDCBAFGHIJ")}):
    values = ir_measures.calc_aggregate([nDCG @ 10, ir_measures.parse_measure("NRG@10")], qrels, run("ABCDEFGHIJ"))
assert sorted(round(value, 4) for value in values.values()) == [0.7361, 0.7933], values
"""


def version() -> str:
    """Return the version that the package states."""
    text = (ROOT / "src" / "ir_measures_relative" / "__init__.py").read_text(encoding="utf-8")
    return re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)[0]


def check_texts(tag: str | None) -> None:
    """Check that all places that name the version name this one.

    Raises:
        SystemExit: with the place that does not.
    """
    now = version()
    if tag is not None and tag != f"v{now}":
        raise SystemExit(f"the tag is {tag} and the package's version {now}")
    short = now.rpartition(".")[0]
    for name, line in (
        ("CHANGELOG.md", f"## {now} - "),
        ("CITATION.cff", f"version: {now}\n"),
        ("codemeta.json", f'  "version": "{now}"'),
        ("packaging/conda-recipe.yaml", f'  version: "{now}"'),
        ("docs/valid-statistics.md", f"  version = {{{now}}}"),
        ("README.md", f"Version {short}."),
        ("docs/getting-started.md", f"- Version {short} was tested"),
    ):
        if f"\n{line}" not in (ROOT / name).read_text(encoding="utf-8"):
            raise SystemExit(f"{name} does not know version {now}")
    quoted = re.findall(
        r"^repository-code: .*\n", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE
    )
    if "".join(quoted) != citation(repository()):
        raise SystemExit(
            "CITATION.cff names another repository than pyproject.toml: python -m tools.address ADDRESS"
        )


def check_contents(wheel: Path, sdist: Path) -> None:
    """Check that both hold the package, its data and its licence, and the wheel nothing else."""
    inside = zipfile.ZipFile(wheel).namelist()
    with tarfile.open(sdist) as archive:
        source = [name.partition("/")[2] for name in archive.getnames()]
    for name in (
        "py.typed",
        "demo/collection.json.gz",
        "measures/CITATIONS.bib",
        "reporting/templates/report.html",
        "pt_docs/index.rst",
    ):
        if f"ir_measures_relative/{name}" not in inside or f"src/ir_measures_relative/{name}" not in source:
            raise SystemExit(f"{name} is missing from {wheel.name} or {sdist.name}")
    tops = {name.partition("/")[0] for name in inside}
    strangers = {name for name in tops if not name.startswith("ir_measures_relative")}
    if strangers:
        raise SystemExit(f"{wheel.name} installs {sorted(strangers)} as well")


def check_readme(wheel: Path) -> None:
    """Check that no link or picture of the description is relative: a package index has no such folder."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("METADATA"))
        text = archive.read(name).decode()
    relative = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith(("http", "#"))]
    if relative:
        raise SystemExit(f"links of the README that an index page cannot follow: {relative}")


def smoke_test(wheel: Path) -> None:
    """Installs the wheel in an environment of its own, and runs a measure and the command line there."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", "env"], cwd=folder, check=True)
        scripts = Path(folder, "env", "Scripts" if os.name == "nt" else "bin")
        python = scripts / ("python.exe" if os.name == "nt" else "python")
        subprocess.run([python, "-m", "pip", "install", "-q", wheel], cwd=folder, check=True)
        subprocess.run([python, "-c", SMOKE], cwd=folder, check=True)
        demo = [python, "-m", "ir_measures_relative.demo", "campaign"]
        subprocess.run(demo, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        asked = ["-m", "ir_measures_relative", "campaign/qrels.txt", "campaign/runs/", "nDCG@10 NRG@10"]
        done = subprocess.run([python, *asked], cwd=folder, check=True, capture_output=True, text=True)
        print(done.stdout)


def build(tag: str | None) -> None:
    """The wheel and the sdist, into ``dist/``, checked and tried."""
    check_texts(tag)
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", dist, ROOT], check=True)
    wheel, sdist = next(dist.glob("*.whl")), next(dist.glob("*.tar.gz"))
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", wheel, sdist], check=True)
    check_contents(wheel, sdist)
    check_readme(wheel)
    smoke_test(wheel)
    print(f"{wheel.name} and {sdist.name}: good")


def main() -> None:
    """The build."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    parser.add_argument("--tag", help="what the release is tagged, v<version>")
    build(parser.parse_args().tag)


if __name__ == "__main__":
    main()
