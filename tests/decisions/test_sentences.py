"""The sentence of each verb's table: its numbers, its names and its claims, counted again from the table."""

import re
from pathlib import Path
from typing import Any

import ir_datasets
import numpy as np
import pandas as pd
import pytest

from ir_measures_relative import (
    RunContext,
    bounds,
    compare,
    demo,
    explain,
    fuse,
    select_complementary,
    similarity,
    verdicts,
)
from ir_measures_relative.decisions import sentence

MEASURE, IDEAL = "nDCG@10", "NRG(norm='ideal')@10"
pytestmark = pytest.mark.filterwarnings("ignore::ir_measures_relative.RelativeWarning")


@pytest.fixture(scope="module", params=["demo", "robust03"])
def given(request: pytest.FixtureRequest) -> tuple[RunContext, Any]:
    if request.param == "demo":
        return RunContext(demo.runs()), list(ir_datasets.load(demo.register()).qrels_iter())
    path: Path = request.getfixturevalue("robust03_path")
    return RunContext.from_files(sorted((path / "runs").iterdir())[::2]), str(path / "qrels.txt.gz")


def numbers(text: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?", text.replace("−", "-"))]


def parts(pattern: str, table: pd.DataFrame) -> tuple[str, ...]:
    text = sentence(table).partition(" Unjudged documents (up to ")[0]
    match = re.fullmatch(pattern, text)
    assert match, text
    return match.groups()


def near(*expected: float) -> Any:
    """As printed: two decimals, or one digit that is not 0."""
    return pytest.approx([*map(float, expected)], abs=0.00501)


def around(worst: float, best: float) -> Any:
    """Ends as printed: rounded outwards."""
    return pytest.approx([worst - 0.005, best + 0.005], abs=0.00501)


def listed(names: str) -> tuple[list[str], int]:
    """The names of a list, and how many there are in all."""
    shown, _, more = names.partition(" and ") if re.search(r" and \d+ more$", names) else (names, "", "")
    named = re.split(", | and ", shown)
    return named, len(named) + (int(more.split()[0]) if more else 0)


def test_compare_all_pairs(given: tuple[RunContext, Any]) -> None:
    table = compare(*given, [MEASURE])
    best, value, beaten, others, open_ = parts(
        r"(\S+) has the highest nDCG@10 \((.*?)\) and leads (\w+) of (\d+) other runs significantly; "
        r"its lead over (.*) may be chance\.",
        table,
    )
    means = given[0].evaluate(given[1], [MEASURE]).set_index("name")[MEASURE].sort_values(ascending=False)
    assert best == means.index[0] and numbers(value) == near(means.iloc[0]) and int(others) == len(means) - 1
    p = {
        frozenset(row[:2]): row[2] for row in table[["name", "other", "p_corrected"]].itertuples(index=False)
    }
    not_beaten = [name for name in means.index[1:] if p[frozenset((best, name))] >= 0.05]
    named, number = listed(open_)
    assert named == not_beaten[: len(named)] and number == len(not_beaten)
    assert int(beaten.replace("none", "0")) == len(means) - 1 - len(not_beaten)


def test_compare_with_a_baseline(given: tuple[RunContext, Any]) -> None:
    baseline = given[0].names[0]
    table = compare(*given, [MEASURE, IDEAL], baseline=baseline)
    for said, (measure, rows) in zip(
        re.split(r"(?<=\.) (?=By)", sentence(table).partition(" Unjudged")[0]),
        table.groupby("measure", sort=False),
        strict=True,
    ):
        start, *rest = said.rstrip(".").split("; ")
        above, below = start.removeprefix(f"By {measure}, ").split(", and ")
        assert f" significantly above {baseline}" in above
        signs = np.sign(rows["difference"]) * (rows["p_corrected"] < 0.05)
        for text, sign in ((above, 1), (below, -1)):
            count = 0 if text.startswith("no run is") else int(text.split()[0])
            assert count == (signs == sign).sum()
            if count:
                assert set(listed(re.search(r"\((.*)\)", text)[1])[0]) <= set(rows["name"][signs == sign])
        assert sum(int(part.split()[0]) for part in rest) == (signs == 0).sum()


def test_compare_one_pair(given: tuple[RunContext, Any]) -> None:
    for test in ("t", "sign", "bootstrap"):
        pairs = compare(*given, [MEASURE], test=test)
        for row in range(0, 21, 4):
            table, values = pairs.iloc[[row]], pairs.iloc[row]
            names = [values["name"], values["other"]][:: 1 if values["difference"] > 0 else -1]
            sign = 1 if values["difference"] > 0 else -1
            first, second, gap, claim, in_brackets = parts(
                r"(\S+) leads (\S+) by (\S+) nDCG@10, and that (is significant|may be chance) \((.*)\)\.",
                table,
            )
            assert [first, second] == names and numbers(gap) == near(abs(values["difference"]))
            assert (claim == "is significant") == (values["p_corrected"] < 0.05)
            p, _, interval = in_brackets.partition("; ")
            assert (p == "p < 0.001") == (values["p_corrected"] < 0.001)
            assert p == "p < 0.001" or numbers(p) == near(values["p_corrected"])
            low, high = sorted(sign * values[end] for end in ("ci_lower", "ci_upper"))
            assert numbers(interval.split("interval")[1]) == near(low, high)
            assert interval.startswith("95 % ") or test == "sign"
            assert (low > 0) == (claim == "is significant") or test == "sign"


def test_verdicts_and_bounds(given: tuple[RunContext, Any]) -> None:
    table = verdicts(*given, ["UniqueRel(rel=1)@10"])
    undecided = table[table["settled"] == "undecided"]
    settled, n, left, a, b = parts(
        r"By UniqueRel@10, the order of (\d+) of (\d+) pairs of runs is settled, allowing for unjudged documents; (\d+) (?:is|are) "
        r"undecided(?:, such as|:) (\S+) and (\S+)\.",
        table,
    )
    assert [int(n), int(left), int(settled)] == [len(table), len(undecided), len(table) - len(undecided)]
    assert ((undecided["name"] == a) & (undecided["other"] == b)).any()
    for word, rows in table.groupby("settled"):
        row = rows.iloc[[0]]
        said, values = sentence(row), row.iloc[0]
        assert (word == "undecided") == said.startswith("Unjudged documents leave it undecided whether ")
        if "between" in said:
            assert numbers(said.split("between")[1]) == around(values["worst"], values["best"])
        if word in ("above", "below"):
            assert said.startswith(
                f"{values['name']} is {word} {values['other']} by UniqueRel@10 on these topics"
            )
    table = bounds(*given, [MEASURE])
    name, value, worst, best = parts(
        r"Widest range: nDCG@10 of (\S+) is (\S+) as judged, and between (\S+) and (\S+) allowing for .*\.",
        table,
    )
    row = table.set_index("name").loc[name]
    assert row["best"] - row["worst"] == (table["best"] - table["worst"]).max()
    assert numbers(value) == near(row["value"]) and numbers(f"{worst} {best}") == around(
        row["worst"], row["best"]
    )


def test_similarity(given: tuple[RunContext, Any]) -> None:
    for by_query in (False, True):
        table = similarity(*given, ["RBO@20"], perquery=by_query)
        a, b, n, low, c, d, high = parts(
            r"By RBO@20, (\S+) and (\S+) are the most similar of (\d+) pairs \(distance (\S+)\), and (\S+) and (\S+) the "
            r"least \((\S+)\)\.",
            table,
        )
        apart = (1 - table["value"]).groupby([table["name"], table["other"]]).mean()
        assert [apart[a, b], apart[c, d], len(apart)] == pytest.approx([apart.min(), apart.max(), int(n)])
        assert numbers(f"{low} {high}") == near(apart.min(), apart.max())


def test_fuse(given: tuple[RunContext, Any]) -> None:
    table = fuse(*given, 2, strategies=["single", "top", "greedy"], depth=100, repeats=5)
    row = table.set_index("strategy").loc["greedy"]
    text = sentence(table)
    sign = 1 if row["difference"] > 0 else -1
    low, high = sorted(sign * row[end] for end in ("ci_lower", "ci_upper"))
    runs = " and ".join(row["names"])
    single = f"Keep {table['names'][0][0]} instead of fusing {runs}"
    start = single if sign < 0 else f"Fuse {runs}" if low > 0 else f"Whether to fuse {runs} is undecided"
    assert text.startswith(f"{start}: on held-out topics") and text.endswith("; greedy).")
    assert numbers(text.split("fusion has ")[1].split()[0]) == near(abs(row["difference"]))
    assert (" more than" if sign > 0 else " less than") in text
    assert numbers(re.search(r"interval (\S+ to [^;]+)", text)[1]) == near(low, high)
    assert sentence(table.head(1)).startswith(
        f"Keep {table['names'][0][0]}: of the single runs it has the highest"
    )


def test_select(given: tuple[RunContext, Any]) -> None:
    for n in (1, 3):
        table = select_complementary(*given, n)
        last = table.iloc[-1]
        if n == 1:
            assert parts(r"(\S+) has the highest \S+ \(.*\)\.", table) == (last["name"],)
            continue
        names, value, bound = parts(
            r"Choose (.*): together they have (\S+) NRG\(norm='ideal'\)@10, and no 3 runs can have more than (\S+)\.",
            table,
        )
        assert listed(names)[0] == list(table["name"])
        assert numbers(value) == near(last["cumulative"])
        assert last["bound"] <= numbers(bound)[0] < last["bound"] + 0.01
    assert "the last one adds" in sentence(select_complementary(*given, 2, "NRG(base='ERR')@10"))


def test_explain(given: tuple[RunContext, Any]) -> None:
    context, qrels = given
    table = explain(context, context.names[1], qrels, IDEAL)
    adding, n, name, topics, all_topics, doc, topic, most, unjudged = parts(
        r"(\d+) of (\d+) documents of (\S+) contribute to \S+, on (\d+) of (\d+) topics, none more than (\S+) of topic (\S+) "
        r"\((\S+)\)(?:; (\d+) of the \d+ (?:is|are) unjudged)?\.",
        table,
    )
    adds = table[table["contribution"] > 0]
    assert name == context.names[1] and [int(adding), int(n)] == [len(adds), len(table)]
    assert [int(topics), int(all_topics)] == [adds["query_id"].nunique(), table["query_id"].nunique()]
    row = table[(table["doc_id"] == doc) & (table["query_id"] == topic)].iloc[0]
    assert row["contribution"] == table["contribution"].max() and numbers(most) == near(row["contribution"])
    assert int(unjudged or 0) == table["relevance"].isna().sum()
    renamed = table.rename(columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"})
    assert sentence(renamed) == sentence(table)


def run(*rankings: str) -> dict[str, dict[str, float]]:
    return {str(q): {d: -float(i) for i, d in enumerate(ranking)} for q, ranking in enumerate(rankings)}


QRELS = {str(q): {"A": 1, "B": 0, "C": 1} for q in range(4)}
A, B, C = run("ABC", "ABC", "BAC", "ABC"), run("BAC", "BAC", "ABC", "ABC"), run("BC", "CB", "BC", "CX")


def test_equal_runs() -> None:
    two, three = RunContext({"a": A, "b": A}), RunContext({"a": A, "b": A, "c": A})
    unlike = RunContext({"a": A, "b": A, "c": C})
    alike = "a and b have the same P@1 on these topics, and no unjudged document can change that."
    nothing = "Unjudged documents cannot reverse the order of any of 3 pairs of runs by P@1: none counts."
    fused = (
        "Keep the best single run instead of fusing a and b: on held-out topics, their fusion has the same "
    )
    for table, start in (
        (compare(unlike, QRELS, ["P@1"], ["a", "b"]), "a and b have the same P@1 on each of 4 topics."),
        (compare(unlike, QRELS, ["P@1"], test="sign"), "a and b have the highest P@1 (0.75) and lead "),
        (compare(three, QRELS, ["P@1"], test="sign"), "All 3 runs have the same P@1 (0.75)."),
        (similarity(two, None, ["RBO"]), "a and b have a distance of 0 by RBO (0: no difference)."),
        (similarity(three, None, ["RBO"]), "By RBO, all 3 pairs have the same distance (0)."),
        (verdicts(two, QRELS, ["P@1"]), alike),
        (verdicts(three, QRELS, ["P@1"]), nothing),
        (bounds(two, QRELS, ["P@1"]), "No unjudged document can change P@1 of 2 runs."),
        (fuse(two, QRELS, 2, strategies=["all"]), fused),
        (bounds(two, QRELS, ["NRG@3", "P@1"]), "NRG@3 has no strict bounds."),
    ):
        assert sentence(table).startswith(start)


def test_no_p_and_no_comparison() -> None:
    context = RunContext({"a": A, "b": B, "c": C})
    one_topic = compare(context, {"0": QRELS["0"]}, ["P@1"], names=["a", "b"])
    assert sentence(one_topic) == "a leads b by 1.00 P@1, which could not be tested (1 topic)."
    constant = compare(RunContext({"a": run(*["A"] * 4), "b": run(*["B"] * 4)}), QRELS, ["P@1"], test="t")
    assert sentence(constant) == "a leads b by 1.00 P@1, which could not be tested (4 topics)."
    earlier = compare(context, QRELS, ["NRG@2"], names=["a", "b"], priors="earlier", test="sign")
    assert "are different quantities, so they are not compared" in sentence(earlier)
    table = compare(context, QRELS, ["P@1"], test="sign")
    table.loc[0, "p_corrected"] = np.nan
    assert sentence(table).endswith("; 1 pair could not be tested.")
    crossed = compare(RunContext({"a": run(*"ABAB"), "b": run(*"BABA")}), QRELS, ["P@1"], test="sign")
    assert sentence(crossed).startswith(
        "a and b have the same mean P@1 over 4 topics, and that may be chance (p = 1.00"
    )
    assert sentence(compare(context, QRELS, ["rrLP"], test="sign")).startswith(
        "By rrLP, 0 of 3 pairs differ sig"
    )
    beside = compare(context, QRELS, ["MED(ref='c')@2"], names=["a", "b"], test="sign")
    assert re.match(r"[ab] exceeds [ab] by|a and b have the same", sentence(beside))


def test_compare_says_that_unjudged_documents_count_as_not_relevant() -> None:
    context = RunContext({"a": A, "b": B, "unjudged": run("AX", "ABXY", "ABXY", "AXYZ")})
    for names, measure, remark in (
        (None, "P@4", " Unjudged documents (up to 56 % of a list) count as not relevant."),
        (["a", "b"], "P@4", ""),  # nothing of theirs is unjudged
        (None, "P(judged_only=True)@2", ""),
        (None, "UniqueRel@1", ""),
    ):
        text = sentence(compare(context, QRELS, [measure], names=names, test="sign"))
        assert text.endswith(remark) and ("Unjudged" in text) == bool(remark), text


def test_several_measures_and_other_tables() -> None:
    context = RunContext({"a": A, "b": B, "c": C})
    two, three = (
        sentence(compare(context, QRELS, m, test="sign")) for m in (["P@1", "P@2"], ["P@1", "P@2", "RR"])
    )
    assert "the highest P@1" in two and " P@2" in two and " The table has 2 more measures." in three
    table = compare(context, QRELS, ["P@1"], test="sign")
    stripped = table.copy()
    stripped.attrs.clear()
    for other in (table.head(0), stripped, pd.DataFrame({"a": [1]}), [], None):
        with pytest.raises(ValueError, match="takes the unchanged table of compare, verdicts, bounds"):
            sentence(other)


def test_unjudged_documents_of_one_pair() -> None:
    table = verdicts(RunContext({"a": run("AX"), "b": run("AB")}), {"0": {"A": 1, "B": 1}}, ["P@2"])
    assert sentence(table) == (
        "Unjudged documents leave it undecided whether a or b has the higher P@2 on these topics: the difference is "
        "−0.50 as judged, and between −0.50 and 0 allowing for unjudged documents."
    )
