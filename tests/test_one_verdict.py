"""Every output of the package says the same of one pair of runs: the same values, and one verdict of each kind.

``settled`` is about judgments, an interval or p about topics, and better and worse are about both. The runs are those
of the demo, and one that holds BM25's documents 6 to 10 alone, so that some differences are significant.
"""

import io
import itertools
import json
import re
from pathlib import Path
from typing import Any

import ir_datasets
import pandas as pd
import pytest

from command_line import output
from ir_measures_relative import (
    RunContext,
    bounds,
    compare,
    decide,
    demo,
    drop,
    fuse,
    report,
    verdicts,
    worth,
)
from ir_measures_relative.decisions.answer import junit_report
from ir_measures_relative.demo.__main__ import main as write_campaign

ABSOLUTE, RELATIVE = "nDCG@10", "NRG(norm='ideal')@10"
pytestmark = pytest.mark.filterwarnings("ignore:the options are not at the same cost")
TURNED = {"above": "below", "below": "above"}
CLAIMS = re.compile(r"\b(better|worse|proved|proof|winner)\b")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo")
    write_campaign([str(path)])
    rows = pd.read_csv(path / "runs/BM25.run", sep=" ", header=None)
    rows["rank"] = rows.groupby(0)[4].rank(method="first", ascending=False)
    rows[rows["rank"].between(6, 10)].assign(**{"5": "few"}).drop(columns=["rank", 5]).to_csv(
        path / "runs/few.run", sep=" ", header=False, index=False
    )
    return path


@pytest.fixture(scope="module")
def said(folder: Path) -> dict[str, Any]:
    """What is asked once of all runs."""
    context = RunContext.from_files(folder / "runs")
    qrels = list(ir_datasets.load(demo.register()).qrels_iter())
    asked = context, qrels, [ABSOLUTE, RELATIVE]
    return {
        "context": context,
        "qrels": qrels,
        "means": context.evaluate(*asked[1:]).set_index("name"),
        "bounds": bounds(*asked).set_index(["measure", "name"]),
        "verdicts": verdicts(*asked).set_index(["measure", "name", "other"]),
        "compare": compare(*asked, family="measure").set_index(["measure", "name", "other"]),
    }


def printed(folder: Path, command: str, *options: object) -> pd.DataFrame:
    given = folder / "qrels.txt", folder / "runs"
    text = output(command, *given, *options, "-p", "-1", "-o", "tsv")
    assert not CLAIMS.search(text)
    return pd.read_csv(io.StringIO(text), sep="\t")


def test_of_the_judgments(said: dict[str, Any], folder: Path) -> None:
    """``settled``, and the values at both ends: of verdicts, bounds, unjudged, decide, and as two runs are compared."""
    of_cli = printed(folder, "unjudged", ABSOLUTE, RELATIVE).set_index(["measure", "name", "other"])
    assert of_cli["settled"].equals(said["verdicts"]["settled"])
    words = set()
    for (measure, a, b), row in said["verdicts"].iterrows():
        own, other = said["bounds"].loc[measure, a], said["bounds"].loc[measure, b]
        difference = said["means"].loc[a, measure] - said["means"].loc[b, measure]
        assert row["value"] == pytest.approx(difference, abs=1e-12)
        assert own["worst"] - other["best"] <= row["worst"] + 1e-12
        assert row["best"] <= own["best"] - other["worst"] + 1e-12
        words.add(row["settled"])
        if measure == ABSOLUTE:
            answer = decide(said["context"], said["qrels"], {b: [b], a: [a]}, by=measure, labels="judged")
            assert answer.table.loc[1, "difference"] == pytest.approx(row["value"], abs=1e-12)
            if answer.strict == a:  # what gains allowing for unjudged documents is above, whatever they are
                assert row["settled"] == "above"
            if answer.judge.empty and answer.strict != "open":
                assert answer.strict == answer.verdict
    assert words >= {"above", "below"}


def test_the_report_says_both(said: dict[str, Any], tmp_path: Path) -> None:
    """How many orders unjudged documents and chance leave open is what compare and verdicts say."""
    pytest.importorskip("vl_convert", reason="the report needs vl-convert, of the extra [report]")
    path = report(said["context"], said["qrels"], [ABSOLUTE, RELATIVE], tmp_path / "r.html")
    html = path.read_text("utf-8")
    text = re.sub(r'<(script|style|footer).*?</\1>|<section id="relative-to".*', "", html, flags=re.DOTALL)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", text))
    settled, p = said["verdicts"].loc[ABSOLUTE]["settled"], said["compare"].loc[ABSOLUTE]["p_corrected"]
    undecided = (settled == "undecided").sum()
    can = f"could reverse {undecided}" if undecided else "cannot reverse any"
    assert f"Unjudged documents {can} of {len(settled)} orders" in text
    assert f"chance could explain {(p >= 0.05).sum()} of {len(p)} differences" in text
    assert not CLAIMS.search(text), "words that no verdict of the report is about"


def test_what_decides_contradicts_nothing(said: dict[str, Any], folder: Path) -> None:
    """No two of decide, worth, drop, compare, verdicts, JSON, JUnit and the gate make opposite claims of a pair."""
    context, qrels = said["context"], said["qrels"]
    verdicts_seen, changes = set(), {}
    for a, b in itertools.permutations(["BM25", "few", "4-grams"], 2):
        answer = decide(context, qrels, {b: [b], a: [a]})
        row = answer.table.iloc[1]
        key = (ABSOLUTE, a, b) if (ABSOLUTE, a, b) in said["verdicts"].index else (ABSOLUTE, b, a)
        sign = 1 if key[1] == a else -1
        settled = said["verdicts"].loc[key, "settled"]
        settled = settled if sign > 0 else TURNED.get(settled, settled)
        alone = compare(context, qrels, [ABSOLUTE], names=[a, b], correction=None).iloc[0]
        changes[a, b] = answer.verdict == a
        verdicts_seen.add("open" if answer.verdict == "open" else answer.verdict == a)
        significant = alone["p"] < 0.05
        if answer.verdict == a:  # it gains: by no output is it below
            assert row["lower"] > 0 and settled != "below" and not (significant and alone["difference"] < 0)
        if answer.strict == a:
            assert settled == "above"
        if answer.verdict == b and settled == "above" and significant:  # a real gain, below the margin
            assert row["difference"] <= 0.02
        pair = RunContext({name: context.runs[name] for name in (b, a)})
        lost = drop(pair, qrels, labels="judged").table.set_index("option").loc[f"drop {b}"]
        if lost["verdict"] == "needed":
            both = decide(pair, qrels, {"both": [b, a], a: [a]}, labels="judged")
            assert both.verdict in ("both", "open")
        # A fusion that gains more than the margin on held-out topics is not ruled out, and one that loses not advised.
        ways = [worth(context, qrels, *two).verdict for two in ((a, [b]), (b, [a]))]
        fused = fuse(pair, qrels, 2, ABSOLUTE, strategies=["all"]).iloc[0]
        assert not (fused["ci_lower"] > 0.02 and ways[0] in ("keep", f"replace {b}"))
        assert not (fused["ci_upper"] < 0 and ways == ["add", "add"])
        # And the same verdict in every form.
        whole = worth(context, qrels, a, [b])
        assert json.loads(whole.to_json())["verdict"] == whole.verdict
        junit = junit_report({"decision": whole})
        assert ('failures="1"' in junit) == (whole.outcome == "keep")
        assert ('skipped="1"' in junit) == (whole.outcome == "open")
    assert verdicts_seen == {"open", True, False}
    assert not any(changes[a, b] and changes[b, a] for a, b in changes)
    files = (str(folder / f"runs/{name}.run") for name in ("3-grams", "BM25"))
    asked = "worth", folder / "qrels.txt", next(files), "--to", next(files)
    for labels in ((), ("--labels", "judged")):
        found = json.loads(output(*asked, *labels, "-o", "json"))["candidates"][0]
        pair = RunContext.from_files([folder / f"runs/{name}.run" for name in ("BM25", "3-grams")])
        expected = worth(pair, qrels, "3-grams", labels=labels[1] if labels else None)
        assert (found["verdict"], found["choice"]) == (expected.verdict, expected.choice)
