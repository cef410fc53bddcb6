"""The experiments on MED: the paper's printed numbers, and distances that are those of the measure."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pandas as pd
import pytest
from studies.reproduce import med, med_distances
from studies.reproduce.data import Campaign, Data

from ir_measures_relative import MED
from small_campaign import write_campaign


def test_the_papers_examples_come_out() -> None:
    found = list(med._examples())
    assert [f.where for f in found] == ["Table 1", "Table 2", "Table 3", "Table 3", "Table 3"]
    assert {f.holds for f in found} == {"yes"}


def test_distances_are_the_measures_pair_by_pair(tmp_path: Path) -> None:
    campaign = Campaign(write_campaign(tmp_path / "c"))
    context = med_distances._some_runs(campaign)
    found = med_distances._distances(context, campaign, judged=True)
    assert len(found) == 4 and {len(values) for values in found} == {6 * 6}
    first, second = context.names[:2]
    measure = MED(base="nDCG", rel=1, ref=second) @ 10
    table = context.evaluate(campaign.qrels, [measure], perquery=True)
    wanted = table.loc[table["name"] == first, "value"]
    assert list(found[1][:6]) == pytest.approx(list(wanted))


def test_on_a_small_campaign(tmp_path: Path) -> None:
    small = Data(robust=Campaign(write_campaign(tmp_path / "small", runs=3, topics=3)))
    (tmp_path / "out").mkdir()
    found = list(med.findings(small, tmp_path / "out"))
    assert {"Figure 1, small", "Figure 2, small", "§§2-4, small", "§1, small"} <= {f.where for f in found}
    pictures = {f.picture for f in found} - {None}
    assert pictures == {p.name for p in (tmp_path / "out").iterdir()} and len(pictures) == 3


def test_figures_count_the_judged_documents(tmp_path: Path) -> None:
    """Of two topics: one has 20 documents of the highest grade, the other one of it, and 119 in all."""
    qrels = pd.DataFrame(
        [("1", f"d{i}", 3) for i in range(20)]
        + [("2", "a", 3)]
        + [("2", f"d{i}", 1 + i % 2) for i in range(118)]
        + [("2", "n", 0)],
        columns=["query_id", "doc_id", "relevance"],
    )
    made = {"made": cast(Campaign, SimpleNamespace(qrels=qrels))}
    under, by_grade = med._figure_1(made, tmp_path)
    assert (under.ours, by_grade.ours, by_grade.holds) == ("1 of 2", "2 of 2; 1 of 2", "no")
    (ideal,) = med._figure_2(made, tmp_path)
    # The second topic's ideal is one document of grade 3 and 19 of grade 2: the second line itself.
    assert ideal.ours == "50; 0" and ideal.holds == "in part"
    assert "the same on 1 of 2 topics" in ideal.note
    assert {under.picture, ideal.picture} == {p.name for p in tmp_path.iterdir()}


@pytest.mark.slow
def test_figures_of_robust03(robust03_campaign: Campaign, tmp_path: Path) -> None:
    """81 of the 100 topics have fewer than 100 relevant documents; 28 have 20 at most."""
    found, by_grade = med._figure_1({"robust": robust03_campaign}, tmp_path)
    assert found.ours == "81 of 100" and "on 28 of them" in found.note
    assert by_grade.ours == "7 of 100"
