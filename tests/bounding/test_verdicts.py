"""Verdicts, what to judge next, odds, and what a new system would suffer."""

import itertools
import math
import random
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from ir_measures import SDCG, Qrel, nDCG

from ir_measures_relative import RelativeWarning, RunContext, UniqueRel, bounds, verdicts
from ir_measures_relative.bounding import judge_next
from ir_measures_relative.bounding.relevance import shift_sd
from ir_measures_relative.bounding.verdicts import check_pool, write_pool
from ir_measures_relative.context.evaluated import Evaluated
from ir_measures_relative.context.priors import BestOfOtherGroups
from ir_measures_relative.measures.bases.browsing import TopK
from ir_measures_relative.measures.bases.gains import Relevant
from ir_measures_relative.measures.form import Form, Ideal, Rule

RUNS = {
    "a": {"q1": {"A": 3.0, "B": 2.0, "C": 1.0}, "q2": {"A": 1.0}},
    "b": {"q1": {"B": 3.0, "X": 2.0, "Y": 1.0}, "q2": {"Z": 1.0}},
    "c": {"q1": {"X": 3.0, "Y": 2.0, "B": 1.0}, "q2": {"A": 1.0}},
}
FOUR = RUNS | {"d": {"q1": {"C": 2.0, "A": 1.0}, "q2": {"A": 1.0}}}
QRELS = {"q1": {"A": 1, "C": 1, "X": 0}, "q2": {"A": 1}}


class OwnIdeal(type(UniqueRel)):  # type: ignore[misc]
    """A measure without ``norm``, over an ideal ranking of what the priors leave."""

    __name__ = "OwnIdeal"
    rule = Rule(Relevant(), TopK(), over=Ideal(TopK()))

    def form(self, run: Evaluated) -> Form:
        return replace(super().form(run), residual=True)


def test_reference_limits_the_pairs() -> None:
    found = verdicts(RunContext(RUNS, reference="a"), QRELS, ["P@3"])
    assert list(zip(found["name"], found["other"], strict=True)) == [("b", "a"), ("c", "a")]


def test_full_judgments_leave_nothing_open() -> None:
    qrels = {q: {d: int(d in "AC") for d in "ABCXYZ"} for q in ("q1", "q2")}
    measures = ["P@3", "nDCG@3", "NRG@3", "AP@3", "TaSC(base='nDCG@3')", "nDCG_UE@3", "RPP(ref='a')@3"]
    one, two = (f(RunContext(RUNS), qrels, measures) for f in (bounds, verdicts))
    for table in (one, two):
        assert (table["worst"] == table["value"]).all() and (table["best"] == table["value"]).all()
        assert table["exact"].all()
    assert (two["n_deciding"] == 0).all() and not (two["settled"] == "undecided").any()
    assert judge_next(RunContext(RUNS), qrels, "nDCG@3", 5).empty


def test_no_document_is_open_where_two_runs_cannot_differ() -> None:
    """X is only in c, which is no prior: it moves c, and neither a nor b."""
    runs = {"old": {"q": {"A": 1.0}}, "a": {"q": {"B": 1.0}}, "b": {"q": {"A": 1.0}}, "c": {"q": {"X": 1.0}}}
    context = RunContext(runs, priors=["old"], grades=(0, 1))
    found = verdicts(context, {"q": {"A": 1, "B": 0}}, ["UniqueRel@1"]).set_index(["name", "other"])
    assert found.loc[("a", "b"), ["worst", "best", "n_deciding"]].tolist() == [0, 0, 0]
    assert found.loc[("a", "c"), "n_deciding"] == 1


def test_values_are_those_of_evaluate() -> None:
    context = RunContext(RUNS, grades=(0, 1))
    measures = ["P@3", "nDCG@3", "NRG(norm='ideal')@3", "AP@3", "AP_Rareness@3"]
    table = bounds(context, QRELS, measures).pivot(index="name", columns="measure", values="value")
    assert table[measures].equals(
        context.evaluate(QRELS, measures).set_index("name").rename_axis(columns="measure")
    )


def test_judging_what_is_named_settles_the_verdict(tmp_path: Path) -> None:
    """A loop of judge_next and labels: verdicts become certain, none is taken back, and those left need no label."""
    truth = {"q1": {"A": 1, "B": 1, "C": 1, "X": 0, "Y": 1}, "q2": {"A": 1, "Z": 0}}
    qrels = {q: dict(docs) for q, docs in QRELS.items()}
    context, certain = RunContext(RUNS, grades=(0, 1)), {}
    for _ in range(10):
        rows = verdicts(context, qrels, ["nDCG@3"])
        now = {(r.name_, r.other): r.settled for r in rows.rename(columns={"name": "name_"}).itertuples()}
        assert all(now[pair] == verdict for pair, verdict in certain.items() if verdict != "undecided")
        certain = now
        path = tmp_path / "pool.txt"
        asked = judge_next(context, qrels, "nDCG@3", 1)
        write_pool(asked, path)
        assert path.read_text() == "".join(f"{r.query_id} {r.doc_id}\n" for r in asked.itertuples())
        if asked.empty:
            break
        for row in asked.itertuples():
            qrels[row.query_id][row.doc_id] = truth[row.query_id][row.doc_id]
    assert "undecided" not in certain.values()


def test_the_weight_is_how_far_a_label_moves_the_difference() -> None:
    """In units of what it lacks to 0; by nDCG with what it adds to the ideal, of a range from -(1 - d) to 1 - 1/(1 + d)."""
    runs = {"a": {"q": {"u": 2.0, "r": 1.0}}, "b": {"q": {"r": 2.0, "x": 1.0}}}
    qrels, d = {"q": {"r": 1, "x": 0}}, 1 / math.log2(3)
    by_ideal = (1 + (1 - 1 / (1 + d)) * d) / (1 + d)
    for measure, highest, weight in (("nDCG@2", 1, by_ideal / (1 - d)), ("ERR@2", 2, 3 / 16 / (1 / 32))):
        context = RunContext(runs, grades=(0, highest))
        asked = judge_next(context, qrels, measure, 5, unretrieved_relevant=0)
        assert asked["weight"].tolist() == [pytest.approx(weight)], measure


def test_judge_next_does_not_depend_on_the_order_of_the_runs() -> None:
    """Documents that tie come by query and document id, also where rounding tells their weights apart."""
    docs = {name: [f"{name}{i}" for i in range(3)] for name in "dcba"}
    runs = {n: {q: {d: -float(i) for i, d in enumerate(docs[n])} for q in ("q2", "q10", "q1")} for n in docs}
    qrels = {q: {"a0": 1} for q in ("q2", "q10", "q1")}
    found = []
    for names in itertools.permutations(runs):
        asked = judge_next(RunContext({n: runs[n] for n in names}), qrels, "P@3", 40)
        found.append(asked[["query_id", "doc_id"]].to_numpy().tolist())
    assert all(rows == found[0] for rows in found)
    for _, same in asked.groupby(asked["weight"].round(9), sort=False):
        rows = list(zip(same["query_id"], same["doc_id"], strict=True))
        assert rows == sorted(rows)


@pytest.mark.parametrize(
    ("query", "doc"), [("q", "X Y"), ("q\n", "X"), ("q", "X\u2028"), ("q\t1", "X"), ("q", "X\x1b[2J")]
)
def test_a_pool_file_holds_no_id_with_a_blank(query: str, doc: str, tmp_path: Path) -> None:
    """It is refused, and the file that was there stays as it was."""
    context = RunContext({"a": {query: {doc: 1.0}}, "b": {query: {"A": 1.0}}})
    path = tmp_path / "pool.txt"
    path.write_text("q before\n")
    asked = judge_next(context, {query: {"A": 0}}, "P@1", 5)
    with pytest.raises(ValueError, match="ids without blanks"):
        write_pool(asked, path)
    assert path.read_text() == "q before\n" and list(tmp_path.iterdir()) == [path]
    assert asked["doc_id"].tolist() == [doc]
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        check_pool(tmp_path / "none" / "pool.txt")


def test_odds() -> None:
    first, again = (verdicts(RunContext(FOUR), QRELS, ["P@3"], relevance_model="pool") for _ in range(2))
    assert first.set_index(["name", "other"]).loc[("a", "b"), "probability"] == 1.0
    pd.testing.assert_frame_equal(first, again)


def drawn_campaign(seed: int, n_runs: int) -> tuple[dict[str, Any], dict[str, dict[str, int]]]:
    """Runs of 30 queries that find relevant documents more or less often, and labels of two thirds of the documents."""
    rng = random.Random(seed)
    runs: dict[str, Any] = {f"r{i}": {} for i in range(n_runs)}
    qrels: dict[str, dict[str, int]] = {}
    for query in (f"q{i}" for i in range(30)):
        relevant = {f"d{i}": rng.random() < 0.4 for i in range(25)}
        for i, run in enumerate(runs.values()):
            run[query] = {d: rng.gauss(0, 1) + (i % 4) * relevant[d] for d in relevant}
        qrels[query] = {d: int(label) for d, label in relevant.items() if rng.random() < 0.67}
    return runs, qrels


@pytest.mark.parametrize("samples", [1, 100])
def test_no_open_verdict_is_certain_by_its_odds(samples: int) -> None:
    runs, qrels = drawn_campaign(3, 8)
    found = verdicts(RunContext(runs), qrels, ["P@5", "nDCG@5"], relevance_model="pool", samples=samples)
    still = found.loc[found["settled"] == "undecided", "probability"]
    assert len(still) > 20
    assert still.between(0.5 / (samples + 1), 1 - 0.5 / (samples + 1)).all()
    assert samples == 1 or still.max() == 1 - 0.5 / 101


def test_fewer_runs_have_more_spread() -> None:
    assert [shift_sd(n_runs) for n_runs in (4, 5, 6)] == [0.85, 0.85, 0.6]


def test_odds_where_nothing_is_open() -> None:
    nothing = {q: dict.fromkeys("ABCXYZ", 0) for q in QRELS}
    four = RunContext(FOUR, grades=(0, 1))
    settled = verdicts(four, nothing, ["NRG@3", "P@3", "nDCG@3"], relevance_model="pool", samples=50)
    assert (settled["probability"] == 0.5).all() and (settled["settled"] == "equal").all()


GRADED = {"context": RunContext(RUNS, grades=(0, 5))}
POOL = {"context": RunContext(FOUR), "relevance_model": "pool"}


@pytest.mark.parametrize(
    ("function", "measure", "options", "words"),
    [
        (verdicts, "P@3", {"context": RunContext({"a": RUNS["a"]})}, "holds \\['a'\\]; add the runs"),
        (verdicts, "P@3", {"relevance_model": lambda q, d: 0.5}, "is not allowed; give 'pool'"),
        (verdicts, "P@3", {"relevance_model": "pool"}, "at least 4 runs to"),
        (verdicts, "P@3", POOL | {"relevance_model": "pooled"}, "relevance_model='pooled'"),
        (verdicts, "P@3", POOL | {"perquery": True}, "leave perquery"),
        (verdicts, "P@3", POOL | {"seed": -1}, "seed=-1"),
        (verdicts, "nDCG(gains={0: 1, 1: 2})@3", POOL, r"gains reward grade 0, which is not relevant"),
        (judge_next, "P@3", {"n": 5, "context": RunContext({"a": RUNS["a"]})}, "add the runs"),
        (judge_next, "P@3", {"n": 5, "between": ("a", "n")}, r"between names \['n'\]"),
        (judge_next, "P@3", {"n": 5, "between": ("a", "a")}, "two runs"),
        (judge_next, "P@3", {"n": 5, "between": 7}, "between=7 must be the names"),
        (judge_next, "P@3", {"n": 0}, "n=0"),
        (bounds, "P@3", {"context": RunContext({})}, "holds no run"),
        (bounds, "P@3", {"unretrieved_relevant": -1}, "unretrieved_relevant=-1"),
        (bounds, "P@3", {"unretrieved_relevant": 10**9}, "is too many for 2 topics; give fewer"),
        (bounds, "infAP", {}, "infAP has no strict bounds"),
        (bounds, "RBO(ref='a')@3", {}, "looks at no judgment"),
        (bounds, "MED(base='AP',ref='a')@3", {}, "has no strict bounds"),
        (bounds, OwnIdeal(cutoff=3), {}, "OwnIdeal@3 has no strict bounds$"),
        (bounds, "NRG@3", {}, r"NRG@3 has no strict bounds; NRG\(norm='ideal'\)@3 has"),
        (verdicts, "rrLP(ref='a')@3", {}, "has no strict bounds; .*give relevance_model="),
        (bounds, "Rareness(base='ERR')@3", {}, "has no strict bounds; the bases P, AP, RBP and nDCG have"),
        (bounds, "nDCG(gains={0:1})@3", GRADED | {"unretrieved_relevant": 1}, "give unretrieved_relevant=0"),
        (bounds, nDCG(gains={-1: 5}, judged_only=True) @ 3, {}, "judged_only and gains disagree"),
        (bounds, nDCG(gains={1: -1}, judged_only=True) @ 3, {}, "judged_only and gains disagree"),
        (bounds, "ERR@3", GRADED, "for grades up to 4, not 5"),
        (bounds, "NRG(base='ERR',max_grade=2)@3", GRADED, "may have the grade 5; max_grade must be"),
        (bounds, "nDCG_UE(version='z')@3", GRADED, "has no strict bounds"),
    ],
)
def test_what_is_wrong_is_said(function: Any, measure: Any, options: dict[str, Any], words: str) -> None:
    options = {"context": RunContext(RUNS)} | options
    with pytest.raises(ValueError, match=words):
        function(options.pop("context"), QRELS, measure if function is judge_next else [measure], **options)


def test_no_cutoff_on_large_runs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ir_measures_relative.bounding.labelings._MOST_ROWS", 5)
    with pytest.raises(ValueError, match="without a cutoff"):
        bounds(RunContext(RUNS, grades=(0, 1)), QRELS, ["nDCG"])
    assert len(bounds(RunContext(RUNS, grades=(0, 1)), QRELS, ["nDCG@3"])) == 3


def test_priors_that_judgments_choose_are_said_to_stay() -> None:
    groups = {"a": "g", "b": "h", "c": "h"}
    context = RunContext(RUNS, priors=BestOfOtherGroups(), groups=groups, grades=(0, 1))
    with pytest.warns(RelativeWarning, match="the judgments choose the priors"):
        bounds(context, QRELS, ["NRG(norm='ideal')@3"])


def test_grades_that_few_relevant_documents_show() -> None:
    """A warning, where the scale of a graded measure may well go on; none for a binary one, or with enough judged."""
    with pytest.warns(RelativeWarning, match=r"only 3 .* taken to have no higher grade than 1: .*\(0, 1\)"):
        bounds(RunContext(RUNS), QRELS, ["nDCG@3", "NRG(norm='ideal')@3", "ERR@3"])
    none = {query: dict.fromkeys(labels, 0) for query, labels in QRELS.items()}
    with pytest.warns(RelativeWarning, match="no documents are judged relevant"):
        bounds(RunContext(RUNS), none, ["nDCG@3"])
    with warnings.catch_warnings(action="error", category=RelativeWarning):
        bounds(RunContext(RUNS), QRELS, ["P@3", "AP@3", "SDCG(max_rel=2)@3"])
        bounds(RunContext(RUNS, grades=(0, 3)), QRELS, ["nDCG@3"])
        enough = {q: docs | {f"n{i}": 1 for i in range(30)} for q, docs in QRELS.items()}
        bounds(RunContext(RUNS), enough, ["nDCG@3"])


def test_a_tie_that_rounding_hides_is_a_tie() -> None:
    """The differences of the topics add up to 0, and to 8e-18 by doubles."""
    found = [2, 3, 0, 0, 0, 0, 1], [0, 0, 1, 0, 0, 2, 3]
    docs = [f"d{i}" for i in range(10)]
    runs = {}
    for name, order, counts in (("one", docs, found[0]), ("two", docs[::-1], found[1])):
        runs[name] = {f"q{q}": {d: -float(i) for i, d in enumerate(order[:5])} for q in range(len(counts))}
    qrels = {
        f"q{q}": {d: int(i < a) for i, d in enumerate(docs[:5])}
        | {d: int(i < b) for i, d in enumerate(docs[:4:-1])}
        for q, (a, b) in enumerate(zip(*found, strict=True))
    }
    row = verdicts(RunContext(runs, grades=(0, 1)), qrels, ["P@5"]).iloc[0]
    assert row[["worst", "value", "best", "settled", "n_deciding"]].tolist() == [0, 0, 0, "equal", 0]
    per_topic = verdicts(RunContext(runs, grades=(0, 1)), qrels, ["P@5"], perquery=True)
    assert 0 < abs(per_topic["value"].to_numpy().mean()) < 1e-16


def test_no_label_is_beyond_the_range_of_the_context() -> None:
    """SDCG's own highest grade counts where the context says nothing."""
    run = {"q": {"A": 2.0, "B": 1.0}}
    qrels = {"q": {"B": 0}}
    found = [
        bounds(RunContext({"a": run}, grades=grades), qrels, [SDCG(cutoff=1, max_rel=4)]).iloc[0]["best"]
        for grades in ((0, 2), (0, 4))
    ]
    assert found == [0.5, 1.0]
    assert bounds(RunContext({"a": run}), qrels, [SDCG(cutoff=1, max_rel=4)]).iloc[0]["best"] == 1.0


def test_no_label_tells_a_run_from_its_copy() -> None:
    """With more open documents in their tops than labelings are tried of, which left NRG open; nobody is sent to judge."""
    rng = random.Random(8)
    runs = {name: {"q": {f"d{i}": -i for i in rng.sample(range(40), 12)}} for name in "abc"}
    context = RunContext({**runs, "copy": runs["a"]}, grades=(0, 3))
    qrels = {"q": {f"d{i}": rng.randint(0, 3) for i in range(0, 40, 4)}}
    found = verdicts(context, qrels, ["NRG(norm='ideal')@10", "UniqueRel@10"], unretrieved_relevant=3)
    of_copy = found[found["name"].eq("a") & found["other"].eq("copy")]
    assert (of_copy["settled"] == "equal").all()
    assert of_copy["exact"].all() and not of_copy["n_deciding"].any()
    assert judge_next(context, qrels, "NRG(norm='ideal')@10", 5, between=("a", "copy")).empty


def test_a_measure_without_strict_bounds_never_stops_the_others() -> None:
    """Its ends are not known, and a relevance model says how probable an order is."""
    context = RunContext(FOUR, grades=(0, 1))
    measures = ["P@3", "NRG@3", "rrLP(ref='a')@3", "TaSC(base='P@3')"]
    words = r"NRG@3 has no strict bounds; NRG\(norm='ideal'\)@3 has\..*left out"
    with pytest.warns(RelativeWarning, match=words):
        ends = bounds(context, QRELS, measures).set_index("measure")
    with pytest.warns(RelativeWarning):
        alone = verdicts(context, QRELS, measures).set_index("measure")
    with_model = verdicts(context, QRELS, measures, relevance_model="pool", samples=50).set_index("measure")
    for measure in measures:
        bounded = measure == "P@3"
        for table in (ends.loc[measure], alone.loc[measure]):
            assert table[["worst", "best"]].notna().all(axis=None) == bounded
            assert table["value"].notna().all()
        assert alone.loc[measure, "n_deciding"].notna().all() == bounded
        assert with_model.loc[measure, "probability"].between(0, 1).all()
    assert (alone.drop(index="P@3")["settled"] == "undecided").all()
    assert bounds(context, QRELS, ["P@3"]).equals(
        ends.loc[["P@3"]].reset_index()[["name", "measure", *ends.columns[1:]]]
    )


def test_a_measure_of_aspects_has_no_drawn_labelings() -> None:
    pytest.importorskip("pyndeval")
    aspects = {("q", "a"): "x", ("q", "c"): "y", ("p", "a"): "x", ("p", "d"): "y"}
    qrels = [Qrel(q, d, 1, aspect) for (q, d), aspect in aspects.items()]
    runs = {"one": {"q": {"a": 3.0, "u": 2.0}, "p": {"v": 3.0, "a": 2.0}}}
    runs |= {"two": {"q": {"a": 3.0, "c": 2.0}, "p": {"d": 3.0, "w": 2.0}}}
    with pytest.raises(ValueError, match="StRecall@2 looks at aspects, which no drawn label names"):
        verdicts(
            RunContext(runs | dict(zip("ab", runs.values(), strict=True))),
            qrels,
            ["StRecall@2"],
            relevance_model="pool",
        )
