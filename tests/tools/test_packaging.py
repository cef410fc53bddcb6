"""What the package says of itself: its extras and groups, the address of its repository, and the steps of a release."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tools import address

ROOT = Path(__file__).resolve().parents[2]
OURS = "https://github.com/somebody/Some-name"


def settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_page_names_every_extra_and_what_it_installs() -> None:
    extras = settings()["project"]["optional-dependencies"]
    page = (
        (ROOT / "docs" / "getting-started.md")
        .read_text(encoding="utf-8")
        .split("## Extras")[1]
        .split("##")[0]
    )
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| (.*) \|$", page, re.MULTILINE))
    assert rows.keys() == extras.keys()
    for name, requirements in extras.items():
        packages = re.findall(r"[\w-]+", rows[name].replace("`", ""))
        own = [part for r in requirements for part in re.findall(r"^ir-measures-relative\[(.*)\]", r)]
        needed = [re.match(r"[\w-]+", r)[0] for r in requirements if not r.startswith("ir-measures-relative")]
        assert sorted(packages) == sorted(needed + ",".join(own).split(",") if own else needed), name


def test_what_only_work_on_the_package_needs_is_no_extra() -> None:
    """And no group names this package, which pip would look for on an index."""
    found = settings()
    groups = found["dependency-groups"]
    assert groups.keys() == {"test", "lint", "docs", "interop", "rerank", "release", "dev"}
    assert not groups.keys() & found["project"]["optional-dependencies"].keys()
    assert "ir-measures-relative" not in repr(groups)
    assert [part["include-group"] for part in groups["dev"]] == ["docs", "test", "lint"]


def test_all_that_install_the_groups_use_the_same_extras() -> None:
    """README, CI, contributing, workflows, the site and the tools; and a pip that knows groups comes first."""
    whole, site = ("-e '.[all,examples,dask]' --group dev", "-e '.[pyterrier,plot,dask]' --group docs")
    places = {
        "README.md": (whole, site),
        ".ci/run": (whole,),
        "CONTRIBUTING.md": (whole,),
        ".github/workflows/tests.yml": (whole,),
        ".github/workflows/docs.yml": (site,),
        ".readthedocs.yaml": (site,),
    }
    for place, commands in places.items():
        text = (ROOT / place).read_text(encoding="utf-8")
        for command in commands:
            assert "pip install -q 'pip>=25.1'" in text or "pip install 'pip>=25.1'" in text, place
            assert command in text, place
    assert '".[all,examples,dask]", "--group", "test"' in (ROOT / "noxfile.py").read_text("utf-8")


def test_no_file_names_an_address_but_the_setting() -> None:
    """What is published under it is ours only once somebody owns it."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no clone, whose files git lists")
    ours = re.compile(
        r"(github\.com|githubusercontent\.com|github\.io|gitlab\.com|readthedocs\.io)/[\w.-]*ir.measures.relative"
    )
    texts = {name: (ROOT / name).read_bytes().decode(errors="ignore") for name in listed.stdout.split()}
    assert [name for name, text in texts.items() if ours.search(text)] == [] or address.repository()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that the address is written into, and those that a build reads."""
    for name in (
        *("pyproject.toml", "CITATION.cff", "README.md", "LICENSE", "docs/valid-statistics.md"),
        *("tools/address.py", "src/ir_measures_relative/__init__.py"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    address.write("", tmp_path)
    return tmp_path


def test_the_address_is_set_in_one_go_and_taken_back(copy: Path) -> None:
    texts = {path: path.read_bytes() for path in copy.rglob("*.*") if path.is_file()}
    address.write(OURS, copy)
    changed = {
        path.relative_to(copy).as_posix(): path.read_text("utf-8")
        for path in texts
        if path.read_bytes() != texts[path]
    }
    assert changed.keys() == {"pyproject.toml", "CITATION.cff", "docs/valid-statistics.md"}
    assert f'repository-code: "{OURS}"\nkeywords:' in changed["CITATION.cff"]
    assert f"  year = {{2026}},\n  url = {{{OURS}}}\n}}" in changed["docs/valid-statistics.md"]
    assert address.repository(copy) == OURS
    address.write("", copy)
    assert {path: path.read_bytes() for path in texts} == texts


def test_the_texts_name_the_address_of_the_setting(copy: Path) -> None:
    address.write(address.repository(), copy)
    for name in ("pyproject.toml", "CITATION.cff", "docs/valid-statistics.md"):
        assert (copy / name).read_text("utf-8") == (ROOT / name).read_text("utf-8"), name


@pytest.mark.parametrize("wrong", ["github.com/somebody/name", "https://github.com", 'https://x.org/a"b'])
def test_what_is_no_address(copy: Path, wrong: str) -> None:
    with pytest.raises(SystemExit, match=r"is not the address of a repository, such as https"):
        address.write(wrong, copy)


@pytest.mark.parametrize("given", ["", OURS])
def test_what_an_index_shows(copy: Path, given: str) -> None:
    """By hatchling itself: no relative link, and no page where there is no address."""
    metadata = pytest.importorskip(
        "hatchling.metadata.core", reason="hatchling builds the package: the group test"
    )
    manager = pytest.importorskip("hatchling.plugin.manager")
    address.write(given, copy)
    core = metadata.ProjectMetadata(str(copy), manager.PluginManager()).core
    links = re.findall(r"\]\(([^)]+)\)", core.readme)
    assert links and all(link.startswith("https://") for link in links)
    if given:
        assert core.urls["Documentation"] == "https://somebody.github.io/Some-name/"
        assert set(core.urls) == {"Source", "Documentation", "Changelog", "Issues"}
        assert f"]({OURS}/raw/v{core.version}/docs/pictures/robust03.png)" in core.readme
    else:
        assert core.urls == {} and "![" not in core.readme
        assert "Keep, add, replace or drop? explains verdicts" in " ".join(core.readme.split())


def test_the_site_of_a_repository_elsewhere_is_its_folder() -> None:
    assert address.site("https://codeberg.org/a/b") == "https://codeberg.org/a/b/blob/main/docs/index.md"


def test_the_sessions_that_contributing_names_are_there() -> None:
    sessions = re.findall(
        r"^@nox\.session.*\ndef (\w+)", (ROOT / "noxfile.py").read_text(encoding="utf-8"), re.MULTILINE
    )
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = {name for names in re.findall(r"`nox -s ([a-z_ ]+?)(?: --.*)?`", text) for name in names.split()}
    assert named and named <= set(sessions)
    assert set(sessions) - named == {"lint", "types", "imports", "docs"}  # which `.ci/run` runs
