"""What the NRG paper says in words of its Figures 2-5, a line each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .finding import Finding, Holds
from .nrg_campaign import LEFT_OUT, TRADITIONAL, TRADITIONAL_2021, Figures, Values, points_read
from .nrg_pictures import few_are_named
from .resampling import from_chance, least_tau, over_topics, tau

_RELATIVE = {2: ("NRG", "NRG@10"), 3: ("UniqueRel@10",) * 2, 4: ("P_Rareness@10",) * 2, 5: ("TaSC",) * 2}
#: What one sees in each figure.
_CAPTIONS = {
    2: "On the left as the released code computes it, on the right by the paper. The dashed line joins the runs that "
    "no other run beats by both measures.",
    3: "Runs at the top have relevant documents, of grade 1 or better, that no other group's best run has. Many of "
    "them are not at the right, where nDCG@10 is high.",
    4: "The points rise to the right: P_Rareness@10 says little that nDCG@10 does not say.",
    5: "The points rise to the right: TaSC says little that nDCG@10 does not say.",
}
#: Of a picture with many runs.
_FEW_NAMES = (
    " Only the runs furthest from the straight line through the points, and the highest and the lowest by each "
    "measure, have their names."
)


def findings(figures: Figures) -> Iterator[Finding]:
    """The claims that these runs can speak to; in words what cannot be run."""
    if figures.is_printed:
        yield _size(figures)
    traditional = figures.traditional
    enough = len(traditional) >= 3
    for number in _RELATIVE:
        yield _correlation(figures, number)
        if enough:
            yield _split(figures, number, traditional)
        if number == 2 and enough:
            yield _within(figures, traditional)
            yield from _named(figures, traditional) if figures.is_printed else ()
        if number == 3 and enough:
            yield _unique(figures, traditional)
    if not enough:
        yield Finding(
            figures.where("§4 and Appendices"),
            "traditional runs against neural runs",
            note="There is no groups.csv, so which run is whose is not known: each counts as a group of its own."
            if figures.campaign.groups is None
            else f"groups.csv has no group {TRADITIONAL} of three runs or more, the only one that the paper takes for "
            "traditional as a whole.",
        )


def _size(figures: Figures) -> Finding:
    judged = figures.campaign.qrels.groupby("query_id").size()
    ours = f"{len(judged)} queries, {judged.sum():,} judgments, {judged.min()} to {judged.max()} a query"
    told = "43 queries, 9,260 judgments, 132 to 582 a query"
    return Finding("§4", "the collection", told, None, ours, "yes" if ours == told else "no")


def _correlation(figures: Figures, number: int) -> Finding:
    """τ with nDCG@10; the paper's claim differs from figure to figure."""
    as_released, as_paper = _RELATIVE[number]
    paper, released = figures.paper.means(), figures.released.means()
    ours = tau(paper["nDCG@10"], paper[as_paper])
    what = f"τ of {as_paper} with nDCG@10"
    if np.isnan(ours):
        return Finding(figures.where(f"Figure {number}"), what, note="All runs have the same value.")
    theirs = tau(released["nDCG@10"], released[as_released])
    values = np.stack([figures.paper.by["nDCG@10"], figures.paper.by[as_paper]])
    low, high = over_topics(values, lambda m: tau(*m))
    needed = least_tau(len(paper))
    answers: dict[int, tuple[str, Holds]] = {
        2: ("“not necessarily correlated”", "yes" if ours < 0.5 else "no"),
        3: (
            "“relatively few” for better runs",
            "yes" if ours < -needed else "no" if ours > needed else "open",
        ),
        4: ("“correlated”", "yes" if ours > needed else "no"),
        5: ("“correlated”", "yes" if ours > needed else "no"),
    }
    claim, holds = answers[number]
    claims = {
        2: "NRG@10 does not order the runs as nDCG@10 does.",
        3: "Better runs by nDCG@10 have fewer unique relevant documents.",
        4: "P_Rareness@10 rises with nDCG@10.",
        5: "TaSC rises with nDCG@10.",
    }
    if number == 2 and figures.is_printed:
        read = points_read().means()
        claim += f"; {tau(read['nDCG@10'], read['NRG']):.2f}, of the points"
    answer = f"{ours:.2f}"
    if number == 3 and not np.isnan(of_two := tau(paper["nDCG@10"], paper["UniqueRel(rel=2)@10"])):
        what += ", relevant from grade 1 on; from grade 2 on"
        answer += f"; {of_two:.2f}"
        below = (ours < -needed) + (of_two < -needed)
        holds = "in part" if below == 1 else holds
    note = f"95 % of resamples of the topics have τ from {low:.2f} to {high:.2f}; {from_chance(len(paper))}."
    if number == 5 and figures.campaign.groups is not None:
        note += (
            " The released program takes the best run of the run's *own* group for its competitor, and for that run "
            f"itself none, so that its TaSC is its nDCG@10; to TaSC by the definition it has τ = "
            f"{tau(paper.loc[released.index, 'TaSC'], released['TaSC']):.2f}. The caption of Figure 5 has the best "
            "of each other group."
        )
    if number == 4:
        both = paper.loc[released.index, as_paper]
        off = float((both - released[as_released]).abs().max())
        left_out = len(paper) - len(released)
        note += (
            " The released program counts in how many top tens a document is *over all topics*, so that one that is "
            f"retrieved for several topics counts as less rare; values move by up to {off:.4f}"
            + f" (also since {left_out} runs are left out)" * (left_out > 0)
            + f", τ = {tau(both, released[as_released]):.3f}."
        )
    return Finding(
        figures.where(f"Figure {number}"),
        what,
        claim,
        None if number == 5 and figures.campaign.groups is None else f"{theirs:.2f}",
        answer,
        holds,
        note,
        figures.picture(number),
        claim=claims[number],
        caption=_CAPTIONS[number] + _FEW_NAMES * few_are_named(figures, number),
    )


def _above_better(values: Values, relative: str, traditional: list[str]) -> tuple[float, tuple[float, float]]:
    """How often a traditional run is above another of better nDCG@10, by a relative measure; its 95 % interval."""
    inside = np.array([n in traditional for n in values.names])

    def share(means: np.ndarray) -> float:
        ndcg, other = means
        better = ndcg[~inside][None] > ndcg[inside][:, None]
        above = other[inside][:, None] > other[~inside][None]
        return float(above[better].mean()) if better.any() else np.nan

    both = np.stack([values.by["nDCG@10"], values.by[relative]])
    return share(both.mean(axis=-1)), over_topics(both, share)


def _split(figures: Figures, number: int, traditional: list[str]) -> Finding:
    as_released, as_paper = _RELATIVE[number]
    theirs, between = _above_better(figures.released, as_released, traditional)
    ours, (low, high) = _above_better(figures.paper, as_paper, traditional)
    what = f"traditional runs above others of better nDCG@10, by {as_paper}: share of pairs"
    if np.isnan(ours) or np.isnan(theirs):
        return Finding(
            figures.where(f"Figure {number}"),
            what,
            note="No other run has a better nDCG@10 than a traditional run.",
        )
    claim = "“a clear split”" if number in (2, 3) else "no distinction"
    if number == 2 and figures.is_printed:
        claim += f"; {100 * _above_better(points_read(), 'NRG', traditional)[0]:.0f} %, of the points"
    holds: Holds
    if number in (2, 3):
        holds = "yes" if min(low, between[0]) > 0.5 else "in part" if max(low, between[0]) > 0.5 else "no"
    else:
        holds = "yes" if high < 0.5 else "no"
    note = (
        f"95 % of resamples of the topics have {100 * between[0]:.0f} to {100 * between[1]:.0f} % as released, "
        f"{100 * low:.0f} to {100 * high:.0f} % by the paper's definition."
    )
    groups = len(set(figures.groups.values()))
    if number == 2 and {figures.groups[name] for name in traditional} == {TRADITIONAL}:
        note += (
            f" This is about these runs. Of traditional runs as such it says little: they are one group of {groups}, "
            f"and if groups differed by chance alone, one named beforehand would come first of them once in {groups} "
            f"times (p = {1 / groups:.2f})."
        )
    above = "stand" if number in (2, 3) else "do not stand"
    if number == 3 and holds == "no":
        told = [0.5 + (ends[1] - ends[0]) / 2 for ends in (between, (low, high))]
        note += (
            f" {figures.paper.by[as_paper].shape[1]} topics tell a share from one half from about "
            f"{100 * told[0]:.0f} and {100 * told[1]:.0f} % on."
        )
    return Finding(
        figures.where(f"Figure {number}"),
        what,
        claim,
        f"{100 * theirs:.0f} %",
        f"{100 * ours:.0f} %",
        holds,
        note,
        claim=f"By {as_paper}, traditional runs {above} above other runs of better nDCG@10.",
    )


def _within(figures: Figures, traditional: list[str]) -> Finding:
    """“Within each group, NRG generally increases with increasing NDCG”: of the two kinds of runs."""
    told, shown, read = [], [], []
    for values, measure, into in (
        (figures.released, "NRG", told),
        (figures.paper, "NRG@10", shown),
        *([(points_read(), "NRG", read)] if figures.is_printed else []),
    ):
        means = values.means()
        for chosen in (means.index.isin(traditional), ~means.index.isin(traditional)):
            into.append(tau(means.loc[chosen, "nDCG@10"], means.loc[chosen, measure]))
    n = len(traditional), len(figures.paper.names) - len(traditional)
    if np.isnan([*told, *shown]).any():
        return Finding(
            figures.where("§4"),
            "NRG grows with nDCG@10: τ within the traditional runs; within the others",
            note=f"There are {n[0]} and {n[1]} runs, or all of one kind have the same value.",
        )
    needed = [least_tau(i) for i in n]
    holds: Holds = (
        "yes"
        if all(s > t for s, t in zip(shown, needed, strict=True))
        else "in part"
        if all(s > t for s, t in zip(told, needed, strict=True)) or shown[0] > needed[0]
        else "no"
    )
    return Finding(
        figures.where("§4"),
        "NRG grows with nDCG@10: τ within the traditional runs; within the others",
        "“generally”" + "".join(f"; {t:.2f}" for t in read) + ", of the points" * bool(read),
        "; ".join(f"{t:.2f}" for t in told),
        "; ".join(f"{t:.2f}" for t in shown),
        holds,
        f"{from_chance(n[0])}; {from_chance(n[1])}.".capitalize(),
        about=f"Traditional are the runs of the group {TRADITIONAL}; of 2021 {', '.join(TRADITIONAL_2021)}, by NIST's "
        "descriptions of the runs.",
        claim="NRG@10 grows with nDCG@10 among the traditional runs, and among the others.",
    )


def _named(figures: Figures, traditional: list[str]) -> Iterator[Finding]:
    """Claims about runs by name."""
    released, paper = figures.released.means(), figures.paper.means()
    in_top = [n for n in paper["nDCG@10"].nlargest(20).index if n in {*traditional, "srchvrs_ps_run3"}]
    yield Finding(
        "§4",
        "traditional runs, or srchvrs_ps_run3, among the 20 best by nDCG@10",
        0,
        None,
        len(in_top),
        "yes" if not in_top else "no",
    )
    best = paper.loc[traditional, "nDCG@10"].idxmax()
    yield Finding(
        "§4", "the best traditional run by nDCG@10", "bm25tuned_prf_p", None, best,
        "yes" if best == "bm25tuned_prf_p" else "no",
    )  # fmt: skip
    for run in ("srchvrs_ps_run3", "idst_bert_pr1"):
        below = [
            int((v[m][traditional] > v.loc[run, m]).sum()) for v, m in ((released, "NRG"), (paper, "NRG@10"))
        ]
        closest = released["NRG"][traditional].min() - released.loc[run, "NRG"]
        sure = _sure(figures.released, run, traditional)
        yield Finding(
            "§4",
            f"{run} has a lower NRG than each of the {len(traditional)} traditional runs",
            f"{len(traditional)} of {len(traditional)}",
            f"{below[0]} of {len(traditional)}",
            f"{below[1]} of {len(traditional)}",
            "yes"
            if min(below) == len(traditional)
            else "in part"
            if max(below) == len(traditional)
            else "no",
            f"As released it is {closest:.4f} below the lowest of them; below all of them in {100 * sure:.0f} % of "
            "resamples of the topics.",
        )
    plain = [n for n in ("bm25base_p", "bm25tuned_p") if n in traditional]
    if len(plain) == 2:
        lows = [
            set(v[m][traditional].nsmallest(2).index) == set(plain)
            for v, m in ((released, "NRG"), (paper, "NRG@10"))
        ]
        yield Finding(
            "§4",
            "the traditional runs that expand the query (prf, rm3, ax) have the highest NRG",
            "“many of the best”",
            "all six first" if lows[0] else "not all six first",
            "all six first" if lows[1] else "not all six first",
            "yes" if all(lows) else "in part" if any(lows) else "no",
        )


def _sure(values: Values, run: str, others: list[str]) -> float:
    """In what share of resamples of the topics a run is below all the others by NRG."""
    nrg = values.by["NRG"]
    topics = nrg.shape[1]
    counts = np.random.default_rng(0).multinomial(topics, np.full(topics, 1 / topics), size=1000)
    means = nrg @ counts.T
    return float((means[values.rows([run])[0]] < means[values.rows(others)].min(axis=0)).mean())


def _unique(figures: Figures, traditional: list[str]) -> Finding:
    """Appendix B: “some traditional methods outperform all neural methods” by unique contributions."""
    unique = [v.means()["UniqueRel@10"] for v in (figures.released, figures.paper)]
    above = [u[~u.index.isin(traditional)] for u in unique]
    above = [
        a[a > u[traditional].max()].sort_values(ascending=False) for a, u in zip(above, unique, strict=True)
    ]
    said = [f"{len(a)} other runs above" for a in above]
    names = ", ".join(f"{n} {v:.2f}" for n, v in above[1].items()) or "none"
    best = unique[1][traditional].idxmax()
    note = f"{best} has {unique[1][best]:.2f} a topic. Above it: {names}."
    if figures.is_printed:
        note += (
            f" {LEFT_OUT}'s, ICT-BERT2 among them, are not in the authors' figure. Of what kind runid2 and runid5 are, "
            "the paper does not say: without them it would hold as released."
        )
    return Finding(
        figures.where("Figure 3"),
        "the best traditional run has more unique relevant documents than every other",
        "“some”",
        said[0],
        said[1],
        "yes" if not len(above[1]) else "no",
        note,
        claim="The best traditional run has more unique relevant documents than every other run.",
    )
