"""The page "Adding a measure" is followed to the letter, on a copy of the package."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "adding-a-measure.md").read_text(encoding="utf-8")


def block(start: str, section: str = "") -> str:
    """The one block of code of the page, or of a section of it, that starts with these characters."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0] if section else PAGE
    blocks = re.findall(r"^```(?:python|py)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (found,) = (b for b in blocks if b.lstrip().startswith(start))
    return found


ORIGINAL = ROOT / "src" / "ir_measures_relative"


def insert(path: Path, after: str, text: str) -> None:
    """Puts text behind some that stands once in a file."""
    before = path.read_text(encoding="utf-8")
    assert before.count(after) == 1
    path.write_text(before.replace(after, after + text), encoding="utf-8")


def touched(package: Path) -> set[str]:
    """The files of a copy that are not as in the package."""
    texts = {str(p.relative_to(package)): p.read_bytes() for p in package.rglob("*.py")}
    originals = {str(p.relative_to(ORIGINAL)): p.read_bytes() for p in ORIGINAL.rglob("*.py")}
    return {name for name in texts | originals if texts.get(name) != originals.get(name)}


# What a process with the copy does: each program by itself, then the tests; what comes of it is one line of JSON.
IN_THE_COPY = """
import contextlib, io, json, sys, traceback
import ir_measures_relative
bounds_are_there = [m for m in sys.modules if "extremes" in m]
import pytest
from command_line import here
programs, commands, tests, results = json.loads(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3:], sys.argv[3]
found = {"bounds": bounds_are_there, "from": ir_measures_relative.__file__}
for name, program in programs.items():
    written = io.StringIO()
    with contextlib.redirect_stdout(written):
        try:
            exec(compile(program, name, "exec"), {"__name__": name})
        except BaseException:
            traceback.print_exc(file=written)
    found[name] = written.getvalue()
for name, arguments in commands.items():
    done = here(*arguments)
    found[name] = done.stdout + done.stderr

class Passed:
    ids = []
    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            self.ids.append(report.nodeid)

written = io.StringIO()
with contextlib.redirect_stdout(written):
    code = pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests[1:]], plugins=[Passed()])
found["tests"] = [int(code), Passed.ids, written.getvalue()]
with open(results, "w") as file:
    json.dump(found, file)
"""


class Followed(NamedTuple):
    """What the page has one write into a copy of the package, and what a process with that copy makes of it."""

    touched: dict[str, set[str]]  #: by section, all the files that are changed by then
    found: dict[str, Any]  #: what each program and command printed

    def tests(self, *words: str) -> None:
        """What every measure must pass was run on some measures with these words in their names."""
        code, passed, shown = self.found["tests"]
        assert code == 0, shown
        assert any(all(word in name for word in words) for name in passed), shown


def follow(folder: Path) -> Followed:
    """One copy with all that the page adds, and one process, whose start would take longer than all the rest."""
    package, changed = folder / "src" / "ir_measures_relative", {}
    # What is compiled already is copied as well: it is known by the time of its source, which a copy keeps.
    shutil.copytree(ORIGINAL, package)
    (package / "measures" / "echo.py").write_text(block('"""Echo'), encoding="utf-8")
    after = "from .measures.lexiprecision import RPP, rrLP, sgnLP, sgnLR\n"
    insert(package / "__init__.py", after, block("from .measures.echo"))
    insert(package / "__init__.py", '    "AP_UE",\n', '    "Echo",\n')
    changed["a measure"] = touched(package)
    written = block('"""RBP', "A base")
    (package / "measures" / "bases" / "halves.py").write_text(written, encoding="utf-8")
    insert(package / "measures" / "bases" / "base.py", 'fill({"bases": [', '".halves", ')
    changed["a base"] = touched(package)
    whole = block("from collections.abc", "A prior policy")
    policy = whole[whole.index("class Previous") :]  # its imports are those of context/priors.py
    priors, after = package / "context" / "priors.py", 'POLICIES.register("earlier")(Earlier())\n'
    insert(priors, "return [name for name in means if best[groups[name]] == name]\n", f"\n\n{policy}")
    insert(priors, after, block("POLICIES.register", "A prior policy"))
    changed["a policy"] = touched(package)
    written = block('"""Lines with a query', "A run format")
    (package / "formats" / "arrows.py").write_text(written, encoding="utf-8")
    insert(package / "__init__.py", '"file formats": [', '".formats.arrows", ')
    changed["a run format"] = touched(package)

    programs = {
        "doctest": "import doctest, ir_measures_relative.measures.echo as e; print(doctest.testmod(e).failed)",
        "a measure": MEASURE,
        "a base": BASE,
        "a policy": POLICY,
        "a run format": RUN_FORMAT.replace("FOLDER", repr(str(folder / "arrows"))),
    }
    commands = {"help": ["score", "--help"]}
    tests = ["tests/measures/test_all_measures.py", "-k", "Echo or Halves"]
    given = [json.dumps({name: RUNS + program for name, program in programs.items()}), json.dumps(commands)]
    path = [str(package.parent), str(ROOT / "tests" / "helpers")]
    done = subprocess.run(
        [sys.executable, "-c", IN_THE_COPY, *given, str(folder / "results"), *tests],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((folder / "results").read_text(encoding="utf-8"))
    assert Path(found["from"]).is_relative_to(package)
    return Followed(changed, found)


RUNS = """
runs = {
    "v1": {"q1": {"A": 3.0, "B": 2.0}, "q2": {"X": 1.0}},
    "v2": {"q1": {"B": 3.0, "C": 2.0}, "q2": {"D": 1.0}},
    "v3": {"q1": {"A": 3.0, "C": 2.0}, "q2": {"D": 1.0}},
}
qrels = {"q1": {"A": 1, "B": 1, "C": 2, "E": 1}, "q2": {"D": 1, "X": 0}}
"""


MEASURE = "import ir_measures_relative as r; print(r.RunContext(runs).evaluate(qrels, [r.Echo @ 2]).to_csv())"


@pytest.mark.host_strings
def test_its_bounds(tmp_path: Path) -> None:
    """In a package of somebody's own: no labeling of small campaigns is outside, and what is exact is attained."""
    (tmp_path / "own_measures.py").write_text(block('"""Echo'), encoding="utf-8")
    folders = [str(tmp_path), str(ROOT / "tests"), str(ROOT / "tests" / "helpers")]
    code = """
import random, sys
sys.path[:0] = FOLDERS
from all_labelings import check, random_campaign
from own_measures import Echo
from ir_measures import parse_measure
from ir_measures_relative import RunContext, bounds, verdicts
from ir_measures_relative.bounding import judge_next
for seed in range(3):
    CHECK
    for tallies in found.values():
        assert all(exact == n for n, exact, _ in tallies.values())
    campaign = random_campaign(random.Random(100 + seed), 2, 3)
    for params in ("rel=2", "prior='r0'"):
        check(campaign, [parse_measure(f"Echo({params})@{campaign.cutoff or 10}")], unretrieved_relevant=seed % 2)
context = RunContext(campaign.runs, **campaign.options)
more = RunContext({f"{name}{i}": run for name, run in campaign.runs.items() for i in range(4)})
table = verdicts(more, campaign.qrels, [Echo @ 2], relevance_model="pool", samples=20, missing="zero")
assert table["probability"].between(0, 1).all()
assert list(judge_next(context, campaign.qrels, Echo @ 2, 3)) == ["query_id", "doc_id", "weight", "pairs"]
try:
    bounds(context, campaign.qrels, ["infAP"])
except ValueError as error:
    print(error)
"""
    code = code.replace("FOLDERS", repr(folders)).replace(
        "CHECK", block("campaign = random_campaign(").strip().replace("\n", "\n    ")
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "infAP has no strict bounds\n"


BASE = """
from ir_measures_relative import NRG, UE, RunContext, bounds
new = [NRG(base="Halves") @ 2, UE(base="Halves") @ 2]
rbp = [m(base="RBP", p=0.5) for m in new]
tables = [RunContext(runs).evaluate(qrels, measures)[list(map(str, measures))].round(12) for measures in (new, rbp)]
print((tables[0].to_numpy() == tables[1].to_numpy()).all(), tables[0].to_numpy().sum() > 0)
print(bounds(RunContext(runs), qrels, new[:1])["exact"].tolist())
try:
    NRG(base="Halves", p=0.5).validate_params()
except ValueError as error:
    print(error)
"""


POLICY = """
from ir_measures_relative import RunContext
from ir_measures_relative.context.priors import Previous
by_hand = {"v1": [], "v2": ["v1"], "v3": ["v2"]}
tables = [RunContext(runs, priors=p).evaluate(qrels, ["UniqueRel(rel=1)@2", "NRG@2"]) for p in (by_hand, "previous", Previous())]
assert all(table.equals(tables[0]) for table in tables)
print(tables[0]["UniqueRel@2"].tolist())
"""


RUN_FORMAT = """
import ir_measures, pathlib
from ir_measures_relative import RunContext, UniqueRel, explain
folder = pathlib.Path(FOLDER)
folder.mkdir()
paths = {name: folder / (name + ".txt") for name in runs}
for name, run in runs.items():
    paths[name].write_text("".join(f"{query} -> {' '.join(docs)}\\n" for query, docs in run.items()))
measures = ["UniqueRel(rel=1)@2", "NRG@2"]
known = RunContext(runs)
assert RunContext(paths).evaluate(qrels, measures).equals(known.evaluate(qrels, measures))
assert RunContext.from_files(folder).names == ["v1", "v2", "v3"]
with RunContext({"v1": paths["v1"]}):
    print((UniqueRel(rel=1) @ 2).calc_aggregate(qrels, paths["v2"]))
"""


def test_the_page(tmp_path: Path) -> None:
    """A measure, a base, a policy and a format, each in the files that the page names."""
    followed = follow(tmp_path)
    assert followed.touched["a measure"] == {"measures/echo.py", "__init__.py"}
    followed.tests("Echo")
    assert followed.found["doctest"] == "0\n"
    assert "Echo" in followed.found["help"]
    assert followed.found["a measure"].splitlines()[0] == ",name,Echo@2"
    assert followed.found["bounds"] == []  # what finds the bounds is not imported with the measure

    assert followed.touched["a base"] - followed.touched["a measure"] == {
        "measures/bases/base.py",
        "measures/bases/halves.py",
    }
    followed.tests("NRG", "Halves")
    followed.tests("UE", "Halves")
    assert followed.found["a base"].splitlines() == [
        "True True",
        "[True, True, True]",
        "NRG(base='Halves',p=0.5): p goes with base 'RBP', not 'Halves'",
    ]

    assert followed.touched["a policy"] - followed.touched["a base"] == {"context/priors.py"}
    assert followed.found["a policy"] == "[1.0, 1.0, 0.5]\n"
    assert followed.touched["a run format"] - followed.touched["a policy"] == {"formats/arrows.py"}
    assert followed.found["a run format"] == "1.0\n"
