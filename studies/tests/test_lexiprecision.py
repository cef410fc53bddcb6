"""Lexiprecision's tables and figures: against the package's measures, and the paper's numbers."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from studies.reproduce import incomplete, lexiprecision, lexiprecision_figures, lexiprecision_ties
from studies.reproduce.__main__ import main
from studies.reproduce.data import Campaign
from studies.reproduce.lexiprecision import Masked
from studies.reproduce.lexiprecision_power import table_3
from studies.reproduce.lexiprecision_study import Study
from studies.reproduce.recall_levels import Found, largest_by_chance, level_difference, told_apart
from studies.reproduce.recall_levels import lexiprecision as of_levels

from ir_measures_relative import rrLP
from small_campaign import write_campaign


@pytest.mark.parametrize("seed", range(5))
def test_preferences_of_all_pairs_are_the_measures(tmp_path: Path, seed: int) -> None:
    campaign = Campaign(write_campaign(tmp_path / "c", seed=seed))
    found = Found.of(campaign, rel=2)
    values, level = of_levels(found.rr)
    measures = [rrLP(ref=name, rel=2) for name in found.names]
    table = campaign.context.evaluate(campaign.qrels, measures, perquery=True)
    expected = table.assign(measure=table["measure"].astype(str)).set_index(["name", "measure", "query_id"])[
        "value"
    ]
    for pair, (a, b) in enumerate(zip(*found.pairs, strict=True)):
        wanted = [expected[found.names[a], str(measures[b]), topic] for topic in found.topics]
        assert values[pair] == pytest.approx(wanted, abs=1e-12)
    assert ((level == 0) == (values == 0)).all()
    first = level_difference(found.rr, 1)
    assert (values[level == 1] == first[level == 1]).all() and (first[level != 1] == 0).all()


def test_largest_by_chance_is_that_of_all_permutations() -> None:
    """Two topics, three runs: each of the 36 ways to permute the names is as likely."""
    values = np.array([[0.5, -0.25], [1.0, 0.5], [0.25, 0.125]])
    squares = np.zeros((2, 3, 3))
    for (i, j), value in zip([(0, 1), (0, 2), (1, 2)], values, strict=True):
        squares[:, i, j], squares[:, j, i] = value, -value
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    every = [
        np.abs(squares[0][np.ix_(one, one)] + squares[1][np.ix_(two, two)]).max() / 2
        for one in orders
        for two in orders
    ]
    chance = largest_by_chance(values, 3, 20_000, seed=1)
    for at in np.unique(every):
        assert (chance <= at + 1e-9).mean() == pytest.approx((np.array(every) <= at + 1e-9).mean(), abs=0.02)
    observed = np.abs(values.mean(axis=1))
    p = [(1 + (chance >= o - 1e-12).sum()) / 20_001 for o in observed]
    for level in (0.2, 0.5, 0.9, 0.99):
        assert told_apart(values, chance, strictly=False, level=level) == np.mean(np.array(p) < level)


def test_a_part_of_the_labels_keeps_at_least_one_of_each_topic(tmp_path: Path) -> None:
    found = Found.of(Campaign(write_campaign(tmp_path / "c")), rel=1)
    for fraction in (0.01, 0.5, 0.9):
        keep = incomplete._kept(found, fraction, np.random.default_rng(0))
        left = np.bincount(found.topic[keep], minlength=len(found.topics))
        assert list(left) == [max(1, int(fraction * n + 1e-9)) for n in found.relevant]
    everything = incomplete._kept(found, 1.0, np.random.default_rng(0))
    assert (found.rr_of(everything) == found.rr).all()


def test_ties_with_a_random_ranking_are_counted_from_all_of_them() -> None:
    """Figure 2: of all ways to place m relevant documents, how many have the first at p."""
    for documents, relevant in ((7, 1), (7, 3), (9, 9)):
        firsts = [min(places) for places in itertools.combinations(range(1, documents + 1), relevant)]
        wanted = [firsts.count(p) / len(firsts) for p in range(1, documents + 1)]
        found = lexiprecision_ties.tie_at_random(relevant, documents, documents)
        assert found == pytest.approx(wanted, abs=1e-15) and found.sum() == pytest.approx(1.0)


def test_ties_with_other_runs_are_counted_one_by_one(tmp_path: Path) -> None:
    """Figure 3: each ranking with its first relevant document in a range, against each other run on the topic."""
    positions = lexiprecision_ties.first_positions(Found.of(Campaign(write_campaign(tmp_path / "c")), rel=1))
    runs, topics = positions.shape
    for low, high in ((1, 1), (2, 4), (1, 1000)):
        same, others = lexiprecision_ties.tied(positions, low, high)
        for topic in range(topics):
            chosen = [r for r in range(runs) if low <= positions[r, topic] <= high]
            pairs = [(r, o) for r in chosen for o in range(runs) if o != r]
            ties = sum(positions[r, topic] == positions[o, topic] for r, o in pairs)
            assert (same[topic], others[topic]) == (ties, len(pairs))
    assert (positions == 0).any() and (
        positions == 1
    ).any()  # a run that lacks a topic is no tie at position 1


def test_regressions_are_of_the_pairs_that_they_name(tmp_path: Path) -> None:
    """Figure 7 (b) and its variants, against a fit of cases that are picked one by one."""
    rr = Found.of(Campaign(write_campaign(tmp_path / "c", runs=6, topics=12)), rel=1).rr
    cases = [
        rr[a, t, :8] - rr[b, t, :8]
        for a in range(len(rr))
        for b in range(len(rr))
        for t in range(rr.shape[1])
        if a != b
    ]
    for earlier_tied, signs in ((False, False), (True, False), (False, True)):
        found = lexiprecision_figures._regressions(rr, earlier_tied, signs)
        for i in range(2):
            kept = np.array([c for c in cases if not (earlier_tied and c[:i].any())])
            target = np.sign(kept[:, i]) if signs else kept[:, i]
            next_four = np.column_stack([np.ones(len(kept)), kept[:, i + 1 : i + 5]])
            wanted = np.linalg.solve(next_four.T @ next_four, next_four.T @ target)[1:]
            assert found[i] == pytest.approx(wanted, abs=1e-6)
    assert np.isnan(lexiprecision_figures._regressions(rr[:1].repeat(2, axis=0), False, False)).all()


def test_command_on_a_small_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another year's folder, without groups: every line is there, with no printed number, and every picture."""
    folder = write_campaign(tmp_path / "another-year")
    arguments = ["lexiprecision", "--dl19", str(folder), "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", ["reproduce", *arguments])
    main()
    printed = capsys.readouterr().out
    assert "Table 3 (b), another-year" in printed
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        f"lexiprecision-figure-{i}.png" for i in (2, 3, 5, 6, "7a", "7b", 8, 9)
    }
    assert "89.5" not in printed and "56.89" not in printed


def test_too_few_topics_are_refused(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "c", topics=1)
    for path in (folder / "runs").iterdir():  # none is empty
        path.write_text(path.read_text() or "t0 Q0 d0 1 1 run")
    with pytest.raises(SystemExit, match="runs: 4, topics with .* more: 1; .* need two of each"):
        _ = Study(Campaign(folder)).found


@pytest.mark.slow
def test_tables_1_and_2_on_dl19(dl19_campaign: Campaign) -> None:
    """Table 1 with every grade above 0 and ties as disagreements, Table 2 with grades from 2: to every digit."""
    masked = Masked.of(Found.of(dl19_campaign, 1).rr)
    for part, share in ((masked.by_suffix, 90.45), (masked.by_second, 88.87)):
        assert 100 * part[0].sum() / masked.cases.sum() == pytest.approx(share, abs=0.005)
    found = list(lexiprecision._table_2(Study(dl19_campaign)))
    assert [f.ours for f in found] == pytest.approx([2.63, 56.89], abs=0.005)
    assert [f.printed for f in found] == [2.63, 56.89] and {f.holds for f in found} == {"yes"}


@pytest.mark.slow
def test_table_3_on_dl19(dl19_campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studies.reproduce.lexiprecision_power._PERMUTATIONS", 2000)
    monkeypatch.setattr("studies.reproduce.lexiprecision_power._HALVES", 5)
    found = {f.what.split(",")[0] + f.where: f for f in table_3(Study(dl19_campaign))}
    for measure, a, b in (("rrLP", 16.52, 15.02), ("sgnLP", 18.47, 17.42), ("RR", 13.21, 10.36)):
        by_hsd, by_holm = (
            found[f"pairs told apart by {measure}Table 3 ({p}), deep-pass (2019)"] for p in "ab"
        )
        assert by_holm.ours == pytest.approx(b, abs=0.005) and by_holm.printed == b
        assert by_hsd.printed == a and by_hsd.holds == "yes"  # among those of sets of 1,000 permutations
        assert by_hsd.ours == pytest.approx(a, abs=1.3)


@pytest.mark.slow
def test_table_1_on_dl21(dl21_campaign: Campaign) -> None:
    """To every digit, so these are the paper's runs; the ties of Table 2 do not come out, and the table says so."""
    found = list(lexiprecision._table_1(Study(dl21_campaign)))[:2]
    assert [f.released for f in found] == pytest.approx([91.97, 90.14], abs=0.005)
    assert [f.printed for f in found] == [91.97, 90.14]
    assert all("does not come out" in f.note for f in lexiprecision._table_2(Study(dl21_campaign)))
