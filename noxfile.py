"""What is run beside `.ci/run`: other Pythons and versions, and the steps of a release. ``nox --list`` shows all.

``nox -s tests-3.12 -- tests/measures`` runs a part; what follows ``--`` goes to the command of the session.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree import ElementTree

import nox

nox.options.default_venv_backend = "uv"
nox.options.sessions = ["lint", "types", "imports", "docs", "tests-3.12"]

OLDEST = "3.11"  # there are no wheels of the lowest versions for newer ones

TESTED = ("-e", ".[all,examples,dask]", "--group", "test")
#: Of the notebooks on Google Colab.
COLAB = ("numpy==2.0.2", "pandas==2.2.2", "matplotlib==3.10.0", "scipy==1.16.3")
#: Whose next versions may break the package.
UPSTREAM = ("ir-measures", "ir-datasets", "pyterrier", "numpy", "pandas", "scipy", "matplotlib")


def _pytest(session: nox.Session, *options: str) -> None:
    session.run("python", "-m", "pytest", "-q", "-n", "auto", *options, *session.posargs)


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """All tests, with the newest versions of what the package needs."""
    session.install(*TESTED)
    _pytest(session)


@nox.session(python=OLDEST)
def lowest(session: nox.Session) -> None:
    """All tests, with each requirement of users at its lower bound, extras and examples included."""
    session.install("-c", _lower_bounds(session, "all", "examples", "dask"), *TESTED)
    _pytest(session)


@nox.session(python=OLDEST)
def without_extras(session: nox.Session) -> None:
    """The tests that run with the package's own requirements alone, at their lower bounds."""
    session.install("-c", _lower_bounds(session), "-e", ".", "pytest", "pytest-xdist", "hypothesis")
    _pytest(session, *(() if session.posargs else ("tests",)))


@nox.session(python="3.12")
def studies(session: nox.Session) -> None:
    """The tests of the papers' experiments, which are no part of the package."""
    session.install(*TESTED)
    _pytest(session, "studies/tests")


@nox.session(python="3.12")
def colab(session: nox.Session) -> None:
    """All tests, with the versions of Google's notebooks."""
    session.install(*TESTED, *COLAB)
    _pytest(session)


@nox.session(python="3.13")
def newest(session: nox.Session) -> None:
    """All tests, with what has not been released yet of the hosts and of what computes."""
    session.install(*TESTED)
    session.install("--upgrade", "--prerelease=allow", *UPSTREAM)
    _pytest(session)


def _lower_bounds(session: nox.Session, *extras: str) -> str:
    constraints = str(Path(session.create_tmp()) / "lowest.txt")
    asked = [part for extra in extras for part in ("--extra", extra)]
    command = ("uv", "pip", "compile", "-q", "--resolution=lowest-direct", f"--python={session.python}")
    session.run(*command, *asked, "pyproject.toml", "-o", constraints, external=True)
    return constraints


@nox.session
def lint(session: nox.Session) -> None:
    """Style and format."""
    session.install("--group", "lint")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Types."""
    session.install("-e", ".", "--group", "lint")
    session.run("mypy")


@nox.session
def imports(session: nox.Session) -> None:
    """The contracts of `pyproject.toml`: which room may import which."""
    session.install("-e", ".", "--group", "lint")
    session.run("lint-imports")


@nox.session
def docs(session: nox.Session) -> None:
    """The site, with warnings as errors."""
    session.install("-e", ".[pyterrier,plot,dask]", "--group", "docs")
    session.run("sphinx-build", "-q", "-W", "--keep-going", "-E", "-b", "html", "docs", "docs/_build/html")
    session.run("python", "docs/_ext/site_search.py", "docs/_build/html")


@nox.session(python="3.12")
def pictures(session: nox.Session) -> None:
    """Draws the pictures of pages and notebooks whose words have changed; after ``--``: ``--all``, or names.

    ``ROBUST03`` names the runs of three of them, and Chromium photographs the report; without them, these stay.
    """
    session.install(*TESTED, "nbclient")
    session.run("python", "-m", "tools.pictures", *session.posargs)


# The steps of a release, in the order of CONTRIBUTING.md


@nox.session
def stress(session: nox.Session) -> None:
    """All tests with three seeds, in random order with every warning an error, and with many examples."""
    session.install(*TESTED, "--group", "release")
    for seed in (1, 2, 3):
        _pytest(session, f"--hypothesis-seed={seed}")
    _pytest(session, "--random-order", "--random-order-bucket=global", "--strict-warnings")
    _pytest(session, "--hypothesis-profile=thorough")


@nox.session
def hosts(session: nox.Session) -> None:
    """The tests of ir_measures and PyTerrier, test by test the same without the package and with it.

    After ``--``: checkouts of both, in folders ``ir_measures`` and ``pyterrier``. Only their tests are used.
    """
    if not session.posargs:
        session.skip("give checkouts: nox -s hosts -- FOLDER/ir_measures FOLDER/pyterrier")
    session.install(".[pyterrier]", "pytest", "matplotlib", "pyndeval")
    outcomes: dict[str, dict[str, str]] = {"without": {}, "with": {}}
    for how, found in outcomes.items():
        plugin = ("-p", "ir_measures_relative") if how == "with" else ()
        session.run("uv", "pip", "uninstall", "ir-measures-relative", external=True)
        if plugin:
            session.install("--no-deps", ".")
        for folder in map(Path, session.posargs):
            copy = Path(session.create_tmp()).resolve() / how / folder.name
            shutil.copytree(folder / "tests", copy / "tests", dirs_exist_ok=True)
            with session.chdir(copy):
                options = (
                    *plugin,
                    "--rootdir=.",
                    "--junitxml=outcomes.xml",
                    "--continue-on-collection-errors",
                )
                session.run("pytest", "-q", *options, "tests", success_codes=[0, 1, 2])
            for case in ElementTree.parse(copy / "outcomes.xml").iter("testcase"):
                what = next((e.tag for e in case if e.tag in ("failure", "error", "skipped")), "passed")
                found[f"{folder.name} {case.get('classname')} {case.get('name')}"] = what
    without, with_ours = outcomes.values()
    other = [n for n in without | with_ours if without.get(n) != with_ours.get(n)]
    if other or not without:
        session.error(*(f"\n{n}: {without.get(n)} without, {with_ours.get(n)} with" for n in sorted(other)))


@nox.session
def values(session: nox.Session) -> None:
    """Whether the values are those of the last version; ``ROBUST03``, ``DL19``, ``DL21`` name the runs."""
    session.install(*TESTED)
    files = Path("tools/anchored").glob("*.json.gz")
    last = max(files, key=lambda path: [int(part) for part in path.name.removesuffix(".json.gz").split(".")])
    session.run("python", "-m", "tools.anchored", "compare", str(last), *session.posargs)


@nox.session(python="3.14")
def coverage(session: nox.Session) -> None:
    """The share of lines and branches that tests run."""
    session.install(*TESTED, "--group", "release", "--group", "interop", "playwright")
    session.env["COVERAGE_CORE"] = "sysmon"
    session.run("coverage", "run", "-m", "pytest", "-q", "-n", "0", *session.posargs)
    session.run("coverage", "combine")
    session.run("coverage", "report", "--fail-under=98")


@nox.session
def mutants(session: nox.Session) -> None:
    """What no test notices: `[tool.mutmut]` in `pyproject.toml`; after ``--`` a pattern of functions."""
    session.install(*TESTED, "--group", "release")
    session.run("mutmut", "run", *session.posargs)
    session.run("mutmut", "results")


@nox.session
def audit(session: nox.Session) -> None:
    """Known vulnerabilities of what a fresh installation takes."""
    session.install("pip-audit")
    session.run("pip-audit", "--strict", ".")  # what it cannot look up fails as well


@nox.session
def wheel(session: nox.Session) -> None:
    """Builds wheel and sdist, checks them, and tries the wheel where there is no source."""
    session.install("build", "twine")
    session.run("python", "-m", "tools.release", *session.posargs)
