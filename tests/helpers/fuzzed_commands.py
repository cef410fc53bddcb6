"""Commands with arguments and files at random: answered with a documented exit code, or refused in words."""

from __future__ import annotations

import functools
import json
import os
import random
import re
import shutil
from argparse import Action
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from command_line import here
from fuzzed_formats import mutated
from ir_measures_relative.cli import COMMANDS, command_of
from ir_measures_relative.cli.arguments import parser_of
from small_campaign import write_campaign

Refusal = Callable[[Exception, str], str]

#: Values of an argument that are right, or nearly so, as a rule; by its name in the parser.
_GOOD: dict[str, list[str]] = {
    "qrels": ["qrels.txt"] * 9 + ["model.txt", "none"],
    "run": ["runs", "runs", "runs/run0.txt", "runs/run[01].txt"],
    "to": ["runs", "runs/run1.txt", "runs/run2.txt"],
    "names": ["names.csv"],
    "groups": ["groups.csv"],
    "reference": ["run0", "runs/run1.txt", "A"],
    "baseline": ["run0", "runs/run1.txt", "A"],
    "between": ["run0", "run1", "runs/run2.txt"],
    "measures": [
        "NRG@5",
        "UniqueRel@5",
        "nDCG@5",
        "P@3",
        "nDCG@5 NRG@3",
        "RBO",
        "FusionGain(base='P@3')@5",
        "TaSC",
    ],
    "num_docs": ["100", "30"],
    "grades": ["0", "2", "3"],
    "places": ["2", "-1", "0"],
    "sort": ["name", "measure", "value", "p"],
    "margin": ["0.1", "0"],
    "confidence": ["0.9"],
    "by": ["nDCG@5", "P@3", "R@5", "UniqueRel@5"],
    "rerank": ["runs/run1.txt"],
    "judge": ["3"],
    "budget": ["9", "20"],
    "pool": ["pool.txt", "new.txt"],
    "labels": ["labels.txt"],
    "topics": ["0", "2"],
    "seed": ["0", "7"],
    "test": ["t", "sign", "wilcoxon", "bootstrap"],
    "number": ["2", "1"],
    "method": ["rrf", "isr", "combsum", "greedy", "exact"],
    "depth": ["10"],
    "strategies": ["single,top", "greedy"],
    "over": ["size", "subset", "run1,run2", "run*"],
    "samples": ["5"],
    "query": ["t0", "t1"],
    "output": ["out.html", "out.svg", "out.png"],
    "jobs": ["1"],
    "provider": ["pytrec_eval", "judged"],  # ranx compiles for minutes
}
#: The same for some commands.
_OWN: dict[str, dict[str, list[str]]] = {
    "similar": {"measures": ["RBO", "MED@5", "RBA", "rrLP@5"]},
    "audit": {
        "qrels": ["model.txt"],
        "run": ["runs"],
        "measures": ["P@3"],
        "budget": ["20"],
        "pool": ["pool.txt", "pool.txt", "new.txt"],
    },
    "worth": {"run": ["runs", "runs/run0.txt"], "to": ["runs"]},
    "drop": {"run": ["runs"]},
    "decide": {"run": ["runs"], "options": ["now=run0", "new=run1", "both=run0,run1"]},
    "select": {"run": ["runs"], "number": ["2", "3"], "method": ["greedy", "exact"]},
    "fuse": {"run": ["runs"], "measures": ["nDCG@5", "P@3", "NRG@5"]},
    "explain": {"measures": ["NRG@5", "UniqueRel@5", "MED@5"]},
    "unjudged": {"measures": ["P@3", "UniqueRel@5", "NRG@5", "nDCG@5 ERR@5"]},
    "plot": {"measures": ["nDCG@5 NRG@3", "P@3 UniqueRel@5"], "output": ["out.svg", "out.png", "out.x"]},
    "report": {"output": ["out.html"]},
    "compare": {"run": ["runs"], "measures": ["nDCG@5", "P@3", "NRG@5"]},
    "score": {"measures": ["nDCG@5", "NRG@5", "UniqueRel@5", "P@3 AP_Rareness@5"]},
}
#: Options that commands have nearly always.
_USUAL = {
    "report": ("output",),
    "worth": ("to", "gate"),
    "decide": ("options",),
    "audit": ("budget", "labels"),
    "explain": ("to",),
}
#: Values that few arguments may have.
_ODD = [
    *("", " ", "-", "--", "-1", "0", "1", "-2", "1.5", "nan", "inf", "-inf", "1e400", "1e-400", "1_0", "٣"),
    *("9" * 19, "9" * 40, "-" + "9" * 40, "0x1", "x", "é", "😀", "\udcff", "%s", "{0}", "'", '"', "\\", "\n", "\t"),
    *("\x1b[2J", "a b", "a,b", ",", "*", "[", "**", "runs/*", "~", ".", "..", "/", "no/such", "runs", "runs/run0.txt"),
    *("qrels.txt", "groups.csv", "names.csv", "pool.txt", "qrels.txt#x", "runs/run0.txt#run1", "#", "/dev/null"),
    *("x" * 300, "x" * 5000, "d/" * 3000, "run0", "name", "none", "None", "t0", "all", "random", "nDCG", "NRG(", "@"),
    *("NRG@0", "P@99999999999", "NRG(prior='run0')@5", "nDCG@5 " * 50, "AP_Rareness", "ERR@5", "MED@5", "SetP"),
]  # fmt: skip
_OTHER_OPTIONS = [
    "--no-such",
    "--help",
    "-h",
    "--version",
    "-x",
    "--to=",
    "--output=",
    "---",
    "--judge=-1",
    "-qn",
]
_FILES = [
    "qrels.txt",
    "model.txt",
    "labels.txt",
    "groups.csv",
    "names.csv",
    "pool.txt.plan.csv",
    "runs/run0.txt",
]
# What the messages of argparse, Python and its libraries have that ours do not.
_PYTHONS_OWN = (
    *("Traceback", "codec can't", "invalid literal", "could not convert", "unpack", "object is not", "NoneType"),
    *("out of bounds", "embedded null", "Errno", "not supported between", "positional argument", "KeyError", "dtype"),
    *("Expecting value", "Extra data", "list index", "broadcast", "too large to convert", "nan to integer"),
)  # fmt: skip


@functools.cache
def _actions(command: str) -> list[Action]:
    return parser_of(command, COMMANDS[command], command_of(command))._actions


def _campaign(folder: Path) -> Path:
    """The files that commands are given, and a plan of an audit with its labels."""
    place = folder / "campaign"
    if not place.exists():
        write_campaign(place, runs=3, topics=4, grades=2)
        lines = [line.split() for line in (place / "qrels.txt").read_text().splitlines()]
        flipped = [f"{q} 0 {d} {int(g == '0' or d == 'd3')}\n" for q, _, d, g in lines]
        (place / "model.txt").write_text("".join(flipped))
        (place / "groups.csv").write_text("run,group\nrun0,x\nrun1,y\nrun2.txt,y\n")
        (place / "names.csv").write_text("run,name\nrun0,A\nruns/run2.txt,B\n")
        done = here(
            *["audit", "plan", "model.txt", "runs", "P@3", "--budget", "20", "--pool", "pool.txt"], cwd=place
        )
        assert done.returncode == 0, done.stderr
        asked = {tuple(line.split()) for line in (place / "pool.txt").read_text().splitlines()}
        human = [f"{q} 0 {d} {g}\n" for q, _, d, g in lines if (q, d) in asked]
        (place / "labels.txt").write_text("".join(human))
    return place


def _value(rng: random.Random, command: str, action: Action, odd: bool) -> str:
    if odd:
        return rng.choice(_ODD)
    if action.choices is not None and action.dest != "provider":
        return str(rng.choice([*action.choices]))
    return rng.choice((_GOOD | _OWN.get(command, {}))[action.dest])


def _arguments(rng: random.Random, command: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The words behind the command, and which arguments have which odd values."""
    words, odds = [], []
    wrong = rng.choice([0, 0, 0.05, 0.1, 0.3])
    actions = [action for action in _actions(command) if action.dest not in ("help", "version")]
    for action in actions:
        least = 1 if action.required or not action.option_strings else 0
        if action.dest in _USUAL.get(command, ()):
            least = rng.random() < 0.95
        for _ in range(max(least, rng.random() < 0.1) + (rng.random() < 0.02)):
            if action.required and rng.random() < 0.02:
                continue  # it is lacking
            number = {None: 1, 0: 0, "?": 1}.get(action.nargs, action.nargs)  # type: ignore[arg-type]
            number = rng.randrange(1, 3) if isinstance(number, str) else int(number or 0)
            values = []
            for _ in range(number):
                odd = rng.random() < wrong
                values.append(_value(rng, command, action, odd))
                if odd:
                    odds.append((action.dest, values[-1]))
            flag = rng.choice(action.option_strings) if action.option_strings else ""
            if flag.startswith("--") and len(values) == 1 and rng.random() < 0.5:
                words.append([f"{flag}={values[0]}"])
            else:
                words.append([*filter(None, [flag]), *values])
    if rng.random() < 0.05:
        words.insert(rng.randrange(len(words) + 1), [rng.choice(_OTHER_OPTIONS)])
        odds.append(("", ""))
    return [word for part in words for word in part], odds


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _check_output(text: str, words: list[str]) -> None:
    """What is printed is what the format says."""
    asked = [
        w.partition("=")[2] or words[i + 1 : i + 2]
        for i, w in enumerate(words)
        if re.match("-o|--output_f", w)
    ]
    name = asked[-1] if asked else ""
    name = name if isinstance(name, str) else "".join(name)
    if name == "json":
        json.loads(text)
    elif name == "junit":
        ElementTree.fromstring(text)
    elif name == "jsonl":
        for line in text.splitlines():
            json.loads(line)


def _named(said: str, words: list[str], odds: list[tuple[str, str]], changed: list[str]) -> bool:
    """Whether a message names something that it is about: an argument, a value, a file or a run of it."""
    flat = re.sub(r"[\s\W_]+", "", said).lower()
    pieces = [name.replace("_", "") for name, _ in odds] + changed
    pieces += [part for w in words for part in (w.split("=", 1) if w.startswith("--") else [w])]
    if any((piece := re.sub(r"[\s\W_]+", "", p).lower()) and piece[:20] in flat for p in pieces):
        return True
    return any(piece in said for w in words for piece in w.split()) or bool(
        re.search("quer|measure|argument|candidate|run|column|plan", said, re.IGNORECASE)
    )


def command(name: str, rng: random.Random, folder: Path) -> str:
    """A command: the exit code, the streams and the files are as documented."""
    base = _campaign(folder)
    place = folder / "work"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(base, place)
    words, odds = _arguments(rng, name)
    changed = []
    if rng.random() < 0.25:
        changed = rng.sample(_FILES, rng.choice([1, 1, 2]))
        for file in changed:
            (place / file).write_bytes(mutated(rng, (place / file).read_bytes()))
    before = _contents(place)
    done = here(name, *words, cwd=place)
    about = (name, words, changed, done)
    allowed = {0, 2} | ({1, 3} if "--gate" in words else set())
    assert done.returncode in allowed, about
    lines = done.stderr.splitlines()
    errors = [line for line in lines if line.startswith("ir_measures_relative: error: ")]
    warned = [line for line in lines if line.startswith("ir_measures_relative: warning: ")]
    assert len(errors) + len(warned) == len(lines), about
    assert not any(own in done.stderr for own in _PYTHONS_OWN), about
    assert max(map(len, lines), default=0) < 5000, about
    after = _contents(place)
    lost = [file for file, content in before.items() if after.get(file) != content]
    mine = [w.partition("=")[2] if w.startswith("--") else w for w in words]
    mine = [os.path.normpath(path) for path in mine if path]
    plans = name == "audit"
    assert not [f for f in lost if not (plans and f in ("pool.txt", "pool.txt.plan.csv"))], (lost, about)
    new = [f for f in after if f not in before]
    stems = {f.removesuffix(".plan.csv").split(os.sep)[0] for f in new} - {m.split(os.sep)[0] for m in mine}
    assert not stems, (new, about)
    if done.returncode == 2:
        assert len(errors) == 1 and lines[-1] == errors[0] and not done.stdout, about
        said = errors[0].removeprefix("ir_measures_relative: error: ")
        assert len(said) > 20 and not new, (new, about)
        assert _named(said, words, odds, changed), about
        return "refused"
    assert not errors, about
    if not {"--help", "-h", "--version"} & {*words}:
        _check_output(done.stdout, words)
    return "read"


def targets() -> dict[str, Callable[[random.Random, Any], str]]:
    """A target for each command."""
    return {f"command: {name}": functools.partial(command, name) for name in COMMANDS}
