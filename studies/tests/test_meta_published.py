"""What is known of the Robust and the Deep Learning runs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from ir_measures import AP, RR, P, nDCG
from studies import meta

from ir_measures_relative import NRG, AP_Rareness, P_Rareness, RunContext, rrLP, sgnLP

MEASURES = [P @ 100, P_Rareness @ 100, AP @ 100, AP_Rareness @ 100]


@pytest.fixture(scope="module")
def robust03_table(robust03_path: Path) -> pd.DataFrame:
    context = RunContext.from_files(robust03_path / "runs")
    return context.evaluate(robust03_path / "qrels.txt.gz", MEASURES, perquery=True)


def test_stability_of_robust03(robust03_table: pd.DataFrame) -> None:
    """With the threshold on absolute differences, doubling P@100 does as much for it as rareness does."""
    absolute = meta.stability(robust03_table, "absolute")["stability"]
    doubled = meta.stability(robust03_table.assign(value=2 * robust03_table["value"]), "absolute")[
        "stability"
    ]
    assert [*absolute, doubled[0], doubled[2]] == pytest.approx(
        [0.301, 0.516, 0.494, 0.591, 0.559, 0.740], abs=0.004
    )
    none = meta.stability(robust03_table)["stability"]
    assert list(none[:2]) == pytest.approx([0.959, 0.955], abs=0.002)


@pytest.mark.parametrize(
    ("test", "significant"),
    [
        ("unpaired_t", [66, 76, 61, 69]),
        ("t", [105, 106, 108, 107]),
    ],
)
def test_pairs_told_apart_on_robust03(
    robust03_table: pd.DataFrame, test: str, significant: list[int]
) -> None:
    found = meta.discriminative_power(robust03_table, test, swaps=0)
    assert list(found["pairs"]) == [136] * 4 and list(found["significant"]) == significant


@pytest.fixture(scope="module")
def dl19(dl19_path: Path) -> tuple[RunContext, pd.DataFrame]:
    """The 37 official runs, and the qrels."""
    columns = ["query_id", "iteration", "doc_id", "relevance"]
    qrels = pd.read_csv(
        dl19_path / "qrels.txt.gz", sep=r"\s+", names=columns, dtype=dict.fromkeys(columns[:3], str)
    )
    return RunContext.from_files(dl19_path / "runs"), qrels


@pytest.fixture(scope="module")
def dl19_tables(dl19: tuple[RunContext, pd.DataFrame]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The values of RR on these runs, and those of rrLP and sgnLP of each two."""
    context, qrels = dl19
    pairs = []
    for name in context.names:
        measures = [rrLP(ref=name, rel=2), sgnLP(ref=name, rel=2)]
        table = context.evaluate(qrels, measures, perquery=True)
        pairs.append(table.assign(other=name, measure=table["measure"].astype(str).str[:4]))
    both = pd.concat(pairs)
    return context.evaluate(qrels, [RR(rel=2)], perquery=True), both[both["name"] < both["other"]]


def test_lexiprecisions_tables_on_dl19(dl19_tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    """Tables 2 and 3 (b) of the paper, deep-pass (2019): to every printed digit, with Holm's correction."""
    pytest.importorskip("statsmodels", reason="statsmodels is not installed")
    rr, pairs = dl19_tables
    assert 100 * meta.ties(rr)["share"][0] == pytest.approx(56.89, abs=0.005)
    assert 100 * meta.ties(pairs)["share"][0] == pytest.approx(2.63, abs=0.005)
    rrlp, sgnlp = (pairs[pairs["measure"] == m] for m in ("rrLP", "sgnL"))
    for table, test, share in ((rr, "t", 10.36), (rrlp, "t", 15.02), (sgnlp, "sign", 17.42)):
        found = meta.discriminative_power(table, test, "holm", swaps=0)
        assert 100 * found["share"][0] == pytest.approx(share, abs=0.005)


def test_ties_by_level_on_dl19(dl19: tuple[RunContext, pd.DataFrame]) -> None:
    """Table 2 again: level 1 is RR, and what never separates is tied by rrLP."""
    ties = meta.ties_by_level(*dl19, rrLP(rel=2))
    assert 100 * ties["share"][0] == pytest.approx(56.89, abs=0.005)
    separation = meta.separation(*dl19, rrLP(rel=2))
    assert 100 * (1 - separation["share"].sum()) == pytest.approx(2.63, abs=0.005)
    assert separation["share"][0] == pytest.approx(1 - ties["share"][0])


def test_reliability_on_dl19(dl19: tuple[RunContext, pd.DataFrame], dl19_path: Path) -> None:
    """With 60 priors, one topic with nothing left supplies two fifths of a run's NRG@10."""
    files = [f for folder in ("runs", "later") for f in sorted((dl19_path / folder).iterdir()) if f.is_file()]
    context = RunContext.from_files(files)
    measures = [NRG @ 10, NRG(norm="ideal") @ 10, nDCG @ 10]
    table = context.evaluate(dl19[1], measures, perquery=True)
    found = meta.reliability(table)
    assert list(found["runs"]) == [61] * 3 and list(found["of_topics"]) == [43] * 3
    assert list(found["split_half"].round(2)) == [0.37, 0.45, 0.69]
    assert list(found["topics"].round()) == [5, 9, 39]
    assert list(found["largest"].round(2)) == [0.39, 0.21, 0.03] and round(found["maximum"][0], 2) == 0.66


def test_fewer_systems_on_robust03(robust03_path: Path) -> None:
    """Rareness hardly moves with the systems, as Table 3 of its paper has it; what is relative to the others does."""
    context, qrels = RunContext.from_files(robust03_path / "runs"), robust03_path / "qrels.txt.gz"
    found = meta.system_subsets(context, qrels, [P_Rareness @ 100, NRG @ 10], sizes=[8], samples=40)
    rareness, nrg = found["mean"]
    assert rareness > 0.95 and 0.6 < nrg < 0.9
