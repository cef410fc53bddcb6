"""The experiments of the paper on Rareness-based measures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from . import rareness_pictures, rareness_tables
from .data import Data
from .finding import Finding
from .rareness_study import ALPHAS, K, Study, first_place, ranks
from .resampling import over_topics, tau

TITLE = "Rareness-based measures"

#: Figure 1: how many relevant documents S_rare needs to rank first, by α; of one topic of the Deep Learning track 2020.
_TOPIC, _NEEDED = "1127540", {0.0: 44, 0.5: 33, 1.0: 28}

_OF_DOCUMENTS = (
    "(That P@100 falls below 0.9 for every α > 0 is printed of the runs that rank documents for the Deep Learning "
    "track 2020, and of no others.) "
)


def findings(data: Data, out: Path) -> Iterator[Finding]:
    """Every table and figure that can be run on these runs."""
    fewer: dict[tuple[str, str], pd.Series] = {}
    for campaign in data.given:
        campaign.check()
        study, first = Study(campaign), campaign is data.given[0]  # what holds of the paper is said once
        yield from _synthetic(study, out, first)
        yield from _correlations(study, out)
        yield from rareness_tables.discriminative_power(study, first)
        yield from rareness_tables.stability(study, out, first)
        yield from rareness_tables.fewer_systems(study, first, fewer)
    if fewer:
        rareness_pictures.fewer_systems(fewer, rareness_tables.TABLE_3, out / rareness_tables.TABLE_3_PICTURE)
    yield Finding(
        "Table 4, TREC-8",
        "documents that are rarely retrieved are less to the point",
        note="Five documents of one topic, read by the authors: it needs the texts.",
    )


def _synthetic(study: Study, out: Path, first: bool) -> Iterator[Finding]:
    """§3: one more run, whose relevant documents no other has, or the ones that most have."""
    where = f"Figure 1, {study.campaign.name}"
    of_query = study.relevant["query_id"].to_numpy()
    held = {q: study.positions[:, of_query == q] > 0 for q in study.campaign.queries}
    held = {q: h for q, h in held.items() if h.any()}
    if not held:
        yield Finding(where, "S_rare and S_common", note="No run has a relevant document.")
        return
    needed = {q: [first_place(h, a) for a in _NEEDED] for q, h in held.items()}
    released = {q: [first_place(h, a, as_released=True) for a in _NEEDED] for q, h in held.items()}
    # The paper's topic, or the one that is most like it: where S_rare needs most nearly as many without rareness.
    topic = _TOPIC if _TOPIC in held else min(needed, key=lambda q: abs(needed[q][0] - _NEEDED[0.0]))
    picture = f"rareness-figure-1-{study.campaign.file_name}.png"
    rareness_pictures.synthetic(held[topic], topic, list(_NEEDED), out / picture)
    yield Finding(
        where,
        "relevant documents that S_rare needs to rank first, α = 0, ½, 1",
        ", ".join(map(str, _NEEDED.values())),
        ", ".join(map(str, released[topic])),
        ", ".join(map(str, needed[topic])),
        "yes" if needed[topic][0] > needed[topic][1] > needed[topic][2] else "no",
        note=f"Topic {topic}, whose best run has {needed[topic][0] - 1} relevant documents in its top 100; the paper's "
        f"topic is {_TOPIC} of the Deep Learning track 2020, with {_NEEDED[0.0] - 1}."
        + " The released script does not count S_rare among the systems, but does count S_common."
        * first,
        picture=picture,
        caption="On the left, with rareness a run of rare documents gets to the first rank with fewer of them. On the "
        "right, a run of common documents hardly moves.",
        claim="With rareness, a run of rare documents needs fewer of them to rank first.",
    )
    shares = np.array([[n / v[0] for n in v] for v in needed.values()]).mean(axis=0)
    yield Finding(
        where,
        "the same as a share of α = 0, mean of all topics",
        ", ".join(f"{n / _NEEDED[0.0]:.2f}" for n in _NEEDED.values()),
        None,
        ", ".join(f"{s:.2f}" for s in shares),
        "yes" if shares[0] > shares[1] > shares[2] else "no",
        note="It must fall: each document of S_rare counts 1 + αS/(S + 1), S the other runs, and none counts more."
        * first,
        claim="With rareness, a run of rare documents needs fewer of them to rank first, on the mean of all topics.",
    )
    moved = np.array([_moved(h) for h in held.values()]).mean(axis=0)
    yield Finding(
        where,
        "ranks that α = 1 moves S_rare; S_common: mean over topics and documents",
        "“noticeably”; “largely unaffected”",
        None,
        f"{moved[0]:.1f}; {moved[1]:.1f} of {len(study.runs) + 1}",
        "yes" if moved[0] > 2 * moved[1] else "no",
        claim="Rareness moves a run of rare documents far, and a run of common documents hardly.",
    )


def _moved(held: np.ndarray) -> list[float]:
    """How far α = 1 moves the ranks of S_rare and of S_common, on the mean over their numbers of documents."""
    most = min(K, int(held.sum(axis=1).max()) + 1)
    without, with_rareness = (ranks(held, alpha, most) for alpha in (0.0, 1.0))
    return [float(np.nanmean(np.abs(a - b))) for a, b in zip(without, with_rareness, strict=True)]


def _correlations(study: Study, out: Path) -> Iterator[Finding]:
    """§4.2: the rankings of runs move away from those without rareness, α by α."""
    picture = f"rareness-figure-2-{study.campaign.file_name}.png"
    taus = {
        (base, k): [_tau(study.values[base, 0.0, k], study.values[base, a, k]) for a in ALPHAS]
        for base in ("P", "AP")
        for k in (10, K, 1000)
    }
    rareness_pictures.correlations(taus, study.campaign.name, out / picture)
    for base in ("P", "AP"):
        found = taus[base, K]
        where, what = (
            f"Figure 2, {study.campaign.name}",
            f"τ of {base}@100 with {base}_Rareness@100, α = 0, ¼, ½, ¾, 1",
        )
        if np.isnan(found).any():
            yield Finding(where, what, note="All runs have the same value.")
            continue
        both = np.stack([study.values[base, 0.0, K], study.values[base, 1.0, K]])
        low, high = over_topics(both, lambda m: tau(*m))
        steady = all(b <= a + 1e-9 for a, b in pairwise(found)) and found[-1] < 1
        pairs = len(study.runs) * (len(study.runs) - 1) // 2
        others = "; ".join(f"at {k}: " + ", ".join(f"{t:.2f}" for t in taus[base, k]) for k in (10, 1000))
        yield Finding(
            where,
            what,
            "1, “steady decrease”",
            None,
            ", ".join(f"{t:.2f}" for t in found),
            "yes" if steady else "in part" if found[-1] < 1 else "no",
            note="Whether it holds is said by the decrease alone. "
            + _OF_DOCUMENTS * (base == "P")
            + f"At α = 1, 95 % of resamples of the topics have {low:.2f} to {high:.2f}. One of {pairs} pairs the "
            f"other way round is {2 / pairs:.3f}. The same {others}.",
            picture=picture if base == "P" else None,
            caption="The more rareness weighs, the further the order of the runs is from that without it. Above "
            "the grey line, two rankings count as the same.",
            claim=f"The more {base}_Rareness@100 weighs rareness, the less its order is that of {base}@100.",
        )


def _tau(x: np.ndarray, y: np.ndarray) -> float:
    return tau(x.mean(axis=1), y.mean(axis=1))
