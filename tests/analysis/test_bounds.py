"""Intervals against the values of every labeling."""

from __future__ import annotations

import math
import os
import random

import pytest

from all_labelings import check, random_campaign
from ir_measures_relative import RunContext, bounds

# How many random campaigns; each has two queries, and every pair of its runs.
CAMPAIGNS = int(os.environ.get("LABELING_CAMPAIGNS", "40"))


def measures_at(cutoff: int | None, graded: bool, judged_only: bool) -> list[str]:
    """Every measure that can be bounded, at a depth."""
    at = "" if cutoff is None else f"@{cutoff}"
    rel = 2 if graded else 1
    flag = "judged_only=True" if judged_only else ""
    found = [
        f"nDCG({flag}){at}",
        f"NRG({flag}){at}",
        f"NRG(base='RR',rel={rel},{flag}){at}",
        f"NRG(base='RBP',p=0.6,rel={rel},{flag}){at}",
        f"NRG(norm='ideal',{flag}){at}",
        f"NRG(norm=None,{flag}){at}",
        f"NRG(base='RBP',norm=None,{flag}){at}",
        f"Shapley(base='nDCG',{flag}){at}",
        f"Shapley(base='RBP',rel={rel},{flag}){at}",
    ]
    found += [f"AP(rel={rel},{flag}){at}", f"AP_Rareness(rel={rel},{flag}){at}"]
    comma = f",{flag}" if flag else ""
    found += [f"nDCG_UE(version={v}{comma}){at}" for v in (1, 2)] + [f"AP_UE(version=1,rel={rel}{comma}){at}"]
    found += [f"AP_UE(rel={rel}{comma}){at}", f"AP_UE(expected='exact',rel={rel}{comma}){at}"]
    found += [f"TaSC(base='nDCG{at}')", f"TaSC(base='AP{at}')"]
    found += [f"{name}(ref='r0',rel={rel}{comma}){at}" for name in ("rrLP", "sgnLP", "sgnLR", "RPP")]
    found += [f"RPP(weight='dcg',ref='r0',rel={rel}{comma}){at}"]
    if cutoff is None:
        found += [f"RR(rel={rel},{flag})"]
    else:
        found += [
            f"P(rel={rel},{flag}){at}",
            f"UniqueRel(rel={rel},{flag}){at}",
            f"NRG(base='P',rel={rel},{flag}){at}",
            f"NRG(base='P',norm=None,{flag}){at}",
            f"Shapley(rel={rel},{flag}){at}",
        ]
        found += [] if judged_only else [f"ERR{at}"]
        found += [
            f"P_Rareness(rel={rel},{flag}){at}",
            f"P_Rareness(bounded=True,alpha=0.5,rel={rel},{flag}){at}",
        ]
    if graded:
        found += [f"nDCG(gains={{1:3,2:1}},{flag}){at}", f"NRG(gains={{1:3,2:1}},{flag}){at}"]
        found += [f"NRG(gains={{0:1}},{flag}){at}"]
        found += [f"{name}gains={{0:1,2:3}},{flag}){at}" for name in ("Shapley(base='nDCG',", "NRG(norm='ideal',")]
    return [m.replace(",)", ")").replace("()", "") for m in found]


@pytest.mark.parametrize("seed", range(CAMPAIGNS))
def test_binary_labelings(seed: int) -> None:
    rng = random.Random(seed)
    campaign = random_campaign(rng, 1, 6)
    check(campaign, measures_at(campaign.cutoff, False, rng.random() < 0.3))


@pytest.mark.parametrize("seed", range(CAMPAIGNS))
def test_graded_labelings(seed: int) -> None:
    rng = random.Random(1000 + seed)
    campaign = random_campaign(rng, rng.choice([2, 3]), 4)
    check(campaign, measures_at(campaign.cutoff, True, rng.random() < 0.3))


@pytest.mark.parametrize("seed", range(CAMPAIGNS // 4))
def test_relevant_documents_elsewhere(seed: int) -> None:
    rng = random.Random(2000 + seed)
    campaign = random_campaign(rng, 1, 4)
    check(campaign, measures_at(campaign.cutoff, False, False), elsewhere=2)


def test_measures_that_only_cwl_eval_computes() -> None:
    """RBP and SDCG by hand: judged A and the open X, in a ranking of A, X, N."""
    context = RunContext({"a": {"q": {"A": 3.0, "X": 2.0, "N": 1.0}}})
    found = bounds(context, {"q": {"A": 1, "N": 0}}, ["RBP(rel=1,p=0.5)", "SDCG(max_rel=2)@2"])
    full = 1.0 + math.log(2) / math.log(3)
    assert found["lower"].tolist() == pytest.approx([0.5, 0.5 / full])
    assert found["upper"].tolist() == pytest.approx([0.75, (0.5 + math.log(2) / math.log(3)) / full])
    with pytest.raises(ValueError, match=r"give rel, as in RBP\(rel=1\)@10"):
        bounds(context, {"q": {"A": 1}}, ["RBP@10"])
