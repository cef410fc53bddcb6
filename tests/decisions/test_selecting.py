"""select_complementary(), similarity() and explain(): the greedy choice, every two runs, and sums over documents."""

import itertools
import warnings
import zlib
from functools import reduce
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ir_measures import nDCG

import long_campaigns
from drawn import examples
from ir_measures_relative import (
    MED,
    NRG,
    RBO,
    RunContext,
    UniqueRel,
    explain,
    rrLP,
    select_complementary,
    similarity,
)
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.context.priors import BestOfOtherGroups
from ir_measures_relative.decisions.select import coverage_function
from ir_measures_relative.decisions.similarity import inner_range
from ir_measures_relative.stats.intervals import mean_interval
from oracles.nrg import nrg_oracle, nrg_residual
from oracles.rankings import only_judged
from oracles.shapley import set_value_oracle
from random_campaigns import Labels, Run, contexts, full_campaign, graded_campaign, qrels
from scored import assume_common, ranking
from work import instructions

SUMS = [
    *("NRG(norm='ideal')@5", "NRG@5", "NRG(norm=None)@5", "NRG(base='P')@5", "NRG(base='RBP')"),
    *("UniqueRel@5", "TaSC(base='nDCG@5')"),
]


def campaign(seed: int, n_runs: int = 12, n_queries: int = 4) -> tuple[RunContext, dict[str, dict[str, int]]]:
    runs, labels = full_campaign(seed, n_runs, n_queries, n_docs=30, depth=8, grades=4)
    return RunContext(runs), labels


def value_of(measure: str, context: RunContext, labels, names) -> float:
    """The value of a group, by the oracle."""
    parsed = ir_measures.parse_measure(measure)
    runs = {name: context.runs[name].to_dict() for name in names}
    total = 0.0
    for query, docs in labels.items():
        rankings = [ranking(run, query) for run in runs.values()]
        if parsed.NAME == "TaSC":
            total += max(nrg_oracle(r, [], docs, k=5) for r in rankings)
            continue
        k = parsed.params.get("cutoff")
        if parsed.NAME == "UniqueRel":
            total += set_value_oracle(rankings, docs, "P", k, norm=False)
        else:
            total += set_value_oracle(rankings, docs, parsed["base"], k, norm=parsed["norm"] is not None)
    return total / len(labels)


@pytest.mark.parametrize(("seed", "measure"), [*enumerate(SUMS)])
def test_bounds_hold_for_all_groups(seed, measure) -> None:
    """All groups of up to 6 of 12; the value of the best one is compared with the oracle."""
    context, labels = campaign(seed)
    coverage = coverage_function(ir_measures.parse_measure(measure), judged_collection(context, labels))
    for n in range(1, 7):
        groups = {
            g: coverage.value(reduce(coverage.extend, g, np.zeros(len(coverage.weight))))
            for g in itertools.combinations(range(12), n)
        }
        best = max(groups.values())
        names = [context.names[i] for i in max(groups, key=groups.__getitem__)]
        assert value_of(measure, context, labels, names) == pytest.approx(best, abs=1e-12)
        greedy = select_complementary(context, labels, n, measure)
        assert greedy["bound"].iloc[-1] >= best - 1e-12
        if measure not in ("NRG@5", "TaSC(base='nDCG@5')"):  # what a run adds is what the measure says
            assert greedy["cumulative"].iloc[-1] >= (1 - 1 / np.e) * best - 1e-12
            assert greedy["marginal"].cumsum().to_numpy() == pytest.approx(greedy["cumulative"].to_numpy())


@pytest.mark.parametrize("measure", [*SUMS, "NRG(base='RR')@5"])
@examples(20)
@given(context=contexts.filter(lambda runs: len(runs) > 1), labels=qrels)
def test_cumulative_is_the_value_of_the_group(measure, context, labels) -> None:
    for run in context.values():
        assume_common(run, labels)
    if measure.startswith("TaSC"):
        labels = {q: {d: max(label, 0) for d, label in docs.items()} for q, docs in labels.items()}
    members = RunContext(context)
    table = select_complementary(members, labels, len(context), measure, missing="zero")
    for i, row in enumerate(table.itertuples(), start=1):
        names = table["name"][:i]
        if "RR" in measure:
            tops = {q: [ranking(context[n], q) for n in names] for q in labels}
            expected = np.mean(
                [
                    max(
                        1 - nrg_residual(d, 1.0, tops[q], "RR", 5, 0.8) if label >= 1 else 0.0
                        for d, label in docs.items()
                    )
                    for q, docs in labels.items()
                ]
            )
            assert np.isnan(row.bound)
        else:
            expected = value_of(measure, members, labels, names)
            assert row.bound >= row.cumulative
        assert row.cumulative == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(({"n": n}, "from 1 to 3") for n in (0, 4, 1.0, True)),
        ({"measure": "P_Rareness@10"}, "P_Rareness@10.*priors are free"),
        ({"measure": "NRG(prior='r0')@10"}, "priors are free"),
    ],
)
def test_what_selecting_rejects(arguments, message) -> None:
    context, labels = campaign(0, n_runs=3)
    with pytest.raises(ValueError, match=message):
        select_complementary(context, labels, **{"n": 1} | arguments)


def plainly(runs, qrels: pd.DataFrame, n: int, measure: str) -> pd.DataFrame:
    """Greedily, with a new context for every step."""
    chosen, marginal = [], []
    for _ in range(n):
        values = RunContext(runs, priors=chosen).evaluate(qrels, [measure], perquery=True)
        means = {name: float(np.mean(rows["value"])) for name, rows in values.groupby("name", sort=False)}
        left = {name: mean for name, mean in means.items() if name not in chosen}
        chosen.append(max(left, key=left.__getitem__))
        marginal.append(left[chosen[-1]])
    return pd.DataFrame({"name": chosen, "marginal": marginal})


@pytest.mark.parametrize("measure", ["NRG@10", "NRG(base='RBP')", "NRG(base='RR')@10", "TaSC(base='nDCG@5')"])
def test_it_is_the_plain_greedy_choice(measure: str) -> None:
    """To the last bit."""
    runs, qrels = long_campaigns.campaign(0, n_runs=10)
    runs = {**runs, "run7": runs["run3"]}  # equals go in the order of the context
    found = select_complementary(RunContext(runs, priors="earlier"), qrels, 10, measure, missing="zero")
    expected = plainly(runs, qrels, 10, measure)
    pd.testing.assert_frame_equal(found[["name", "marginal"]], expected, check_exact=True)


def test_work_grows_with_the_pairs_of_runs() -> None:
    """A step looks at every run that is left, and at no prior again."""
    _, qrels = long_campaigns.campaign(0)

    def work(n: int) -> int:
        context = RunContext(long_campaigns.campaign(0, n_runs=n)[0])
        return instructions(lambda: select_complementary(context, qrels, n, "NRG@10", missing="zero"))

    work(2)
    small, large = work(6), work(18)
    assert large < 1.1 * 9 * small


RUNS, QRELS = long_campaigns.campaign(0, n_runs=5)
CONTEXT = RunContext(RUNS)


def test_bars_of_relative_against_absolute() -> None:
    pytest.importorskip("matplotlib")
    plots = pytest.importorskip("ir_measures_relative.plots")
    queries = CONTEXT.evaluate(QRELS, ["nDCG@5", NRG @ 5], perquery=True)
    ax = plots.relative_against_absolute(
        queries, NRG @ 5, "nDCG@5", ci=True, ax=plots.new_figure().subplots()
    )
    bars = [segment for c in ax.collections for segment in c.get_segments()]
    across = sorted(tuple(s[:, 0]) for s in bars if s[0][1] == s[1][1])
    expected = []
    for _, rows in queries[queries["measure"] == "nDCG@5"].groupby("name"):
        low, high = mean_interval(rows["value"].to_numpy(), 0.95)
        expected.append((float(low), min(float(high), 1.0)))
    assert np.array(across) == pytest.approx(np.array(sorted(expected)))
    ax.figure.canvas.draw()
    with pytest.raises(ValueError, match="ci=True needs the values of every query"):
        plots.relative_against_absolute(
            CONTEXT.evaluate(QRELS, ["nDCG@5", NRG @ 5]), NRG @ 5, "nDCG@5", ci=True
        )
    with pytest.raises(ValueError, match="the table has no values of NRG@10; its measures are"):
        plots.relative_against_absolute(queries, "NRG@10", "nDCG@5", ci=True)


GRADED_RUNS, GRADED = graded_campaign(20, runs=5, topics=6)
OF_GRADED = RunContext(GRADED_RUNS)


def hash_of(*key: object) -> int:
    return zlib.crc32(repr(key).encode()) % 1000


APART = RunContext(
    {name: {query: {"A": 1.0}} for name, query in (("a", "q"), ("b", "other"), ("c", "third"))}
)


def test_values_are_those_of_evaluate_with_each_run_for_reference() -> None:
    measures = [MED @ 10, rrLP]
    found = similarity(OF_GRADED, GRADED, measures, perquery=True)
    assert len(found) == 10 * 6 * 2
    for other in OF_GRADED.names:
        expected = OF_GRADED.evaluate(GRADED, [m(ref=other) for m in measures], perquery=True)
        bare = {str(m(ref=other)): str(m) for m in measures}
        expected["measure"] = expected["measure"].map(bare)
        both = found[found["other"] == other].merge(expected, on=["name", "query_id", "measure"])
        assert len(both) == (found["other"] == other).sum()
        assert (both["value_x"] == both["value_y"]).all()


def test_means_and_distances() -> None:
    table = similarity(OF_GRADED, GRADED, ["rrLP"])
    long = similarity(OF_GRADED, GRADED, ["rrLP"], perquery=True)
    for row in table.itertuples():
        values = long[(long["name"] == row.name) & (long["other"] == row.other)]["value"]
        assert row.value == pytest.approx(values.mean(), abs=1e-15)
        assert row.distance == pytest.approx(values.abs().mean(), abs=1e-15)
    assert (table["distance"] > table["value"].abs() + 0.01).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"measures": [nDCG @ 10]}, "nDCG@10 does not compare two runs; use one of"),
        ({"measures": [UniqueRel @ 10]}, "UniqueRel@10 does not compare two runs"),
        ({"measures": [rrLP(ref="r0")]}, "leave ref= out"),
        ({"measures": [rrLP], "qrels": None}, "rrLP needs judgments"),
        ({"context": RunContext({"r0": GRADED_RUNS["r0"]})}, "two runs or more"),
        (
            {"context": RunContext({"a": {}, "b": {}}), "qrels": None, "measures": [RBO]},
            "the runs hold no ranking",
        ),
        ({"context": APART, "qrels": None, "measures": [RBO]}, r"no query is in two.*'a' has \['q'\]"),
    ],
)
def test_what_it_rejects(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        similarity(**{"context": OF_GRADED, "qrels": GRADED} | arguments)


def test_a_scale_of_colours() -> None:
    """All where all but one are equal, and both sides of 0 where values are signed."""
    assert inner_range(np.array([0.4] * 9 + [0.9])) == (0.0, 0.9, "neither")
    assert inner_range(np.array([0.4, 0.5, 0.6, 0.5, 0.4, 9.0])) == (0.4, 0.6, "max")
    assert inner_range(np.array([0.4, 0.5, 0.6, 0.5, 0.4, -9.0, 9.0])) == (0.4, 0.6, "both")
    assert inner_range(np.array([0.4, 0.5, 0.6, 0.5, 0.4, 0.95])) == (0.4, 0.95, "neither")
    values = np.array([-0.5, -0.3, 0.1, 0.2])
    assert inner_range(values) == (-0.5, 0.2, "neither")
    assert inner_range(values, signed=True) == (-0.5, 0.5, "neither")


EXPLAINED = [
    *("NRG@3", "NRG", "NRG(gains={0:1,1:2})@3", "NRG(base='P')@3", "NRG(base='RR')@5", "NRG(base='RBP')"),
    *("NRG(judged_only=True)@3", "UniqueRel@3", "UniqueRel(rel=2,judged_only=True)@3", "P_Rareness@3"),
    *(
        "AP_Rareness(bounded=True,alpha=0.5)@5",
        "AP_Rareness(judged_only=True)",
        "Shapley@3",
        "NRG(base='ERR')@3",
    ),
    *("Shapley(base='nDCG',judged_only=True)", "Shapley(base='RBP')@5"),
]


@pytest.mark.slow
@pytest.mark.parametrize("measure", EXPLAINED)
@examples(8)
@given(context=contexts, labels=qrels, data=st.data())
def test_contributions_sum_to_the_score(
    measure: Any, context: dict[str, Run], labels: Labels, data: st.DataObject
) -> None:
    """And a topic alone has the rows that it has among all, whatever the priors are."""
    assume(context)
    for run in context.values():
        assume_common(run, labels)
    names = list(context)
    policies = ["others", "earlier", names[:2], BestOfOtherGroups("nDCG@3")]
    groups = {name: name[:1] + str(i % 2) for i, name in enumerate(names)}
    chosen, name = data.draw(st.sampled_from(policies)), data.draw(st.sampled_from(names))
    members, with_policy = RunContext(context), RunContext(context, priors=chosen, groups=groups)
    run = data.draw(st.sampled_from([name, context[name]]))  # a member, or a new run that ranks as it does
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        table, whole = explain(members, name, labels, measure), explain(with_policy, run, labels, measure)
        scores = members.evaluate(labels, [measure], perquery=True)
        parts = {query: explain(with_policy, run, labels, measure, query_id=query) for query in labels}
    scores = scores[scores["name"] == name].set_index("query_id")["value"]
    parsed = ir_measures.parse_measure(measure)
    for query in labels:
        expected = whole[whole["query_id"] == query].reset_index(drop=True)
        pd.testing.assert_frame_equal(parts[query], expected, check_exact=True)
        rows = table[table["query_id"] == query]
        assert rows["contribution"].sum() == pytest.approx(scores[query], abs=1e-12)
        docs = ranking(context[name], query)
        if parsed.get("judged_only"):
            docs = only_judged(docs, labels[query])
        assert rows["doc_id"].tolist() == docs[: parsed.get("cutoff")]
        assert rows["position"].tolist() == list(range(1, len(rows) + 1))
        assert known(rows["relevance"]) == [labels[query].get(doc) for doc in docs[: len(rows)]]
        for other in set(context) - {name}:
            prior = ranking(context[other], query)
            if parsed.get("judged_only"):
                prior = only_judged(prior, labels[query])
            top = prior[: parsed.get("cutoff")]
            positions = [top.index(d) + 1 if d in top else None for d in rows["doc_id"]]
            assert known(rows[f"position in {other}"]) == positions


def known(column: pd.Series) -> list[Any]:
    """The values, and None for NA."""
    return column.astype(object).where(column.notna(), None).tolist()


def test_explain_one_query_of_table_1() -> None:
    runs = {
        n: {"q": {d: -i for i, d in enumerate(r)}}
        for n, r in {"R1": "ABCDEFGHIJ", "R2": "EDCBAFGHIJ"}.items()
    }
    table = explain(
        RunContext(runs), "R1", {"q": dict.fromkeys("AEFJ", 1), "p": {"A": 1}}, NRG @ 10, query_id="q"
    )
    columns = ["query_id", "doc_id", "relevance", "position", "position in R2", "gain", "contribution"]
    assert list(table.columns) == columns
    row = table.set_index("doc_id").loc["A"]
    assert (row["position"], row["position in R2"]) == (1, 5)
    assert row["gain"] == pytest.approx(1 - 1 / np.log2(6))
    assert table["contribution"].sum() == pytest.approx(0.7361, abs=5e-5)


def test_explain_bad_input() -> None:
    context = RunContext({"a": {"q": {"A": 1.0}}, "b": {"q": {"B": 1.0}}})
    labels = {"q": {"A": 1}}
    with pytest.raises(ValueError, match=r"explain\('c'\): the context holds no such run"):
        explain(context, "c", labels)
    with pytest.raises(ValueError, match="query_id='z' is not in the qrels"):
        explain(context, "a", labels, query_id="z")
    with pytest.raises(ValueError, match="is not relative to other runs"):
        explain(context, "a", labels, "nDCG@10")
    with pytest.raises(ValueError, match="is not a sum over documents"):
        explain(context, "a", labels, "rrLP(ref='b')")
    other = RunContext({"a": {"q": {"A": 1.0}}, "b": {"z": {"A": 1.0}}})
    with pytest.raises(ValueError, match="run 'b' has no query in common with the qrels"):
        explain(other, "a", labels)
