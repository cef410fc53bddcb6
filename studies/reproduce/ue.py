"""The experiments of the paper on UE-normalized measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from tqdm import tqdm

from . import ue_figures, ue_printed
from .data import Data
from .finding import Finding, Holds
from .ue_scores import CUTOFFS, VERSIONS
from .ue_statistics import LEVEL, p_values, pad, swapped, tau
from .ue_study import SETS, Study, pool_of

TITLE = "UE-normalized measures"

_SPLITS = 20
_LEAST = 4
_NO_MORE = "The claim is that no version swaps more pairs than the measure itself."


def findings(data: Data, out: Path) -> Iterator[Finding]:
    """What the tables and figures say of runs in the place of learning-to-rank methods."""
    pools = {c.name: pool_of(c) for c in (*data.given, *data.letor)}
    studies = [Study(name, base, pool) for base in VERSIONS for name, pool in pools.items()]
    for study in tqdm(studies, desc="UE", disable=None, leave=False):
        for table in (_correlations, _conflicts, _power, _pad, _swaps, _broad, _partitions):
            yield from table(study)
    yield from ue_figures.findings(studies, out)
    learned = {c.name for c in data.letor}
    for study in studies:
        if study.name in learned:
            yield from _learned(study)
            yield from _bootstrap(study)
    for base in VERSIONS if len(data.letor) > 1 else ():
        yield _swaps_between(*[s for s in studies if s.base == base and s.name in learned][:2])
    yield from ue_printed.left_open(len(data.letor))


def _three(values: list[float], form: str = ".3f") -> str:
    return ", ".join(f"{v:{form}}" for v in values)


def _with_base(study: Study, version: str, of: Mapping[str, str]) -> str:
    return f"{of[version]} ({study.base} {of[study.base]})"


def _printed(study: Study, version: str, table: Mapping[tuple[str, str], str]) -> str:
    return f"{table[study.base, version]} ({study.base} {table[study.base, study.base]})"


def _learned(study: Study) -> Iterator[Finding]:
    """The scores of learning-to-rank methods: Tables 3-6 of nDCG and its versions, 15-18 of AP."""
    tables = {"nDCG": "Tables 3-6", "AP": "Tables 15-18"}[study.base]
    for version in study.versions:
        for name, row in zip(
            study.pool.names, np.transpose([s[version].mean(axis=1) for s in study.scores]), strict=True
        ):
            yield Finding(
                f"{tables}, {study.name}", f"{version}@{', '.join(map(str, CUTOFFS))} of {name}", None, None,
                _three(row.tolist()),
                about="The methods are scikit-learn's, with LightGBM's lambdarank where it is installed. They "
                "stand for RankLib's eight, and are trained on train.txt: the numbers are not those of the paper.",
            )  # fmt: skip


def _bootstrap(study: Study) -> Iterator[Finding]:
    """§6.3.2 cites the studentized bootstrap, and reports Student's t-test: both, at the cutoff 10, on all queries."""
    scores = study.scores[CUTOFFS.index(10)]
    for version in study.versions:
        shares = [float((p_values(scores[version], test)[0] <= LEVEL).mean()) for test in ("t", "bootstrap")]
        yield Finding(
            f"§6.3.2, {study.name}", f"pairs told apart by {version}@10: Student's t-test, studentized bootstrap",
            None, None, _three(shares),
        )  # fmt: skip


def _swaps_between(one: Study, other: Study) -> Finding:
    """Pairs of methods that stand in another order on another data set (Table 11, of AP 23), all queries."""
    table, printed = {"nDCG": ("11", ".107, .107, .107"), "AP": ("23", ".250, .250, .178")}[one.base]
    rates = {v: swapped(one.means[v].mean(axis=1), other.means[v].mean(axis=1)) for v in one.versions}
    what = f"swaps between {one.name} and {other.name}, all queries"
    return _compared(f"Table {table}", what, printed, rates, "", _NO_MORE)


def _correlations(study: Study) -> Iterator[Finding]:
    for version in ("V1", "V2"):
        one, other = study.means[study.base], study.means[version]
        found = [tau(one[:, study.sets[s]], other[:, study.sets[s]]) for s in SETS]
        _, uninformative, ideal = found
        of_halves = [tau(one[:, h], other[:, h]) for both in study.halves for h in both]
        unusual = uninformative < np.quantile(of_halves, 0.05)
        yield Finding(
            study.where(7, 19), f"τ of {study.base} with {version}: {', '.join(SETS)}",
            ue_printed.TAU[study.base, version], None, _three(found),
            "open" if np.isnan(found).any() else "no" if uninformative >= ideal else "yes" if unusual else "in part",
            f"On {len(of_halves)} random halves τ is {np.mean(of_halves):.3f}, from {min(of_halves):.3f} to "
            f"{max(of_halves):.3f}.",
            about="V1 and V2 are versions 1 and 2. The claim is that the orders, by the runs' means over cutoffs, "
            "differ more on uninformative topics. The sets are halves of the topics, as of MQ2007.",
            claim=f"{study.base} and its {version} order the runs less alike on uninformative topics.",
        )  # fmt: skip


def _conflicts(study: Study) -> Iterator[Finding]:
    for version in ("V1", "V2"):
        found = [
            float(100 * (study.told_apart(study.base, rows) != study.told_apart(version, rows)).mean())
            for rows in (study.sets[s] for s in SETS)
        ]
        halves = study.told_apart_of_halves
        share = 100 * (halves[study.base] != halves[version]).mean(axis=(2, 3))
        by_chance = np.quantile(np.abs(share[:, 0] - share[:, 1]), 0.95)
        gap = found[1] - found[2]
        yield Finding(
            study.where(8, 20), f"verdicts of {study.base} and {version} that conflict, %: {', '.join(SETS)}",
            ue_printed.CONFLICTS[study.base, version], None, _three(found, ".1f"),
            "no" if gap <= 0 else "yes" if gap > by_chance else "in part",
            f"Two random halves differ by up to {by_chance:.1f} points in 95 % of the splits: a smaller gap cannot be "
            "told from none.",
            about="In per cent of pairs × 5 cutoffs; the paper prints counts of 140. The claim is that there are more "
            "on uninformative topics than on ideal ones.",
            claim=f"Verdicts of {study.base} and its {version} conflict more often on uninformative topics.",
        )  # fmt: skip


def _power(study: Study) -> Iterator[Finding]:
    found = {
        v: [float(100 * study.told_apart(v, study.sets[s]).mean()) for s in SETS] for v in study.versions
    }
    words = {v: _three(values, ".1f") for v, values in found.items()}
    halves = {v: 100 * t.mean(axis=(2, 3)).ravel() for v, t in study.told_apart_of_halves.items()}
    values = {v: study.scores[1][v] for v in study.versions}
    false = {v: 100 * p_values(x, swaps=500)[1] for v, x in values.items()}
    wilcoxon = {v: 100 * float((p_values(x, "wilcoxon")[0] <= LEVEL).mean()) for v, x in values.items()}
    for version in ("V1", "V2"):
        gain = np.array(found[version]) - np.array(found[study.base])
        more = halves[version] - halves[study.base]
        note = (
            f"The gains are {_three(list(gain), '+.1f')} points; on halves of all topics "
            f"{more.mean():+.1f}, their deviation {more.std():.1f}, so that one of {2 * more.std():.1f} would be seen. "
            f"At 10, by Wilcoxon's test, {wilcoxon[version]:.1f} % ({study.base} {wilcoxon[study.base]:.1f}). "
            f"Where no runs differ, {false[version]:.1f} % have p ≤ 0.05 ({study.base} {false[study.base]:.1f})."
        )
        if version == "V2":
            below = 100 * float((study.scores[1]["V2"] < 0).mean())
            upper = 100 * np.mean([(p_values(x)[0] <= LEVEL).mean() for x in study.without_lower_branch])
            note += (
                f" {below:.0f} % of the values at 10 are below the random level; divided as the others are, "
                f"{upper:.1f} % of the pairs are told apart on all topics."
            )
        yield Finding(
            study.where(9, 21), f"pairs told apart by {version}, t-test, %: {', '.join(SETS)}",
            _printed(study, version, ue_printed.SIGNIFICANT), None, _with_base(study, version, words),
            "no" if gain[1] <= 0 else "yes" if gain[2] >= 0 else "in part", note,
            about=f"The claim is more than {study.base} on uninformative topics and no less on ideal ones. The paper "
            "prints counts of 140. Below the random level, V2 divides by that level. Where it is low, a small loss "
            "makes a value near -1.",
            claim=f"{version} of {study.base} tells more pairs apart than {study.base} on uninformative topics, and no "
            "fewer on ideal ones.",
        )  # fmt: skip


def _pad(study: Study) -> Iterator[Finding]:
    means = {v: [study.means[v][:, study.sets[s]].mean(axis=1) for s in SETS] for v in study.versions}
    found = {v: [pad(m) for m in of_sets] for v, of_sets in means.items()}
    words = {v: _three(values, ".2f") for v, values in found.items()}
    for version in ("V1", "V2"):
        larger = [a > b for a, b in zip(found[version], found[study.base], strict=True)]
        both = zip(means[study.base], means[version], strict=True)
        moved = [pad(one - one.mean() + other.mean()) for one, other in both]
        below_0 = min(float(m.min()) for m in means[version]) < 0
        yield Finding(
            study.where(10, 22), f"PAD of {version}, %: {', '.join(SETS)}",
            _printed(study, version, ue_printed.PAD), None, _with_base(study, version, words),
            "yes" if all(larger) else "in part" if any(larger) else "no",
            f"{study.base} less the constant that gives it the mean of {version} has {_three(moved, '.2f')}."
            + " Where means are below 0 it is no percentage of anything, and may be negative." * below_0,
            about=f"The claim is that it is larger than that of {study.base}. This is an artefact: subtract a "
            f"constant from {study.base}, and its PAD grows too, though no difference changes.",
            claim=f"{version} of {study.base} has a larger percentage absolute difference than {study.base}.",
        )  # fmt: skip


def _compared(
    where: str, what: str, printed: str, rates: dict[str, float], note: str, about: str = "", claim: str = ""
) -> Finding:
    base, *others = rates.values()
    no_worse = [r <= base for r in others]
    holds: Holds = "yes" if all(no_worse) else "in part" if any(no_worse) else "no"
    return Finding(
        where, f"{what}: {', '.join(rates)}", printed, None, _three(list(rates.values())), holds, note,
        about=about, claim=claim,
    )  # fmt: skip


def _swaps(study: Study) -> Iterator[Finding]:
    one, other = study.sets["uninformative"], study.sets["ideal"]
    rates = {
        v: swapped(study.means[v][:, one].mean(axis=1), study.means[v][:, other].mean(axis=1))
        for v in study.versions
    }
    by_chance = {
        v: np.array([swapped(m[:, a].mean(axis=1), m[:, b].mean(axis=1)) for a, b in study.halves])
        for v, m in study.means.items()
    }
    gains = {v: by_chance[v] - by_chance[study.base] for v in ("V1", "V2")}
    yield _compared(
        study.where(12, 24), "swaps, uninformative against ideal", ue_printed.SWAPS[study.base], rates,
        "Between random halves of the topics they are "
        f"{_three([float(b.mean()) for b in by_chance.values()])}; the versions differ from the first by "
        + " and ".join(f"{g.mean():+.3f} (deviation {g.std():.3f})" for g in gains.values()) + ".",
        about=_NO_MORE,
        claim=f"The versions of {study.base} swap no more pairs than {study.base}, uninformative against ideal.",
    )  # fmt: skip


def _broad(study: Study) -> Iterator[Finding]:
    docs = study.pool.docs
    high = np.bincount(docs.query[docs.grade >= 2], minlength=docs.n_queries)
    size = np.bincount(docs.query, minlength=docs.n_queries)
    broad = np.flatnonzero(2 * high >= size)
    focused = np.random.default_rng(0).permutation(np.flatnonzero(2 * high < size))[: len(broad)]
    where, what = study.where(13, 25), "swaps, broad against focused"
    claim = f"The versions of {study.base} swap no more pairs than {study.base}, broad against focused."
    if len(broad) < _LEAST:
        yield Finding(
            where, what, ue_printed.BROAD[study.base], claim=claim,
            note=f"Broad topics: {len(broad)} of {docs.n_queries}.",
            about="A topic is broad if at least half of its judged documents have grade 2 or above. With fewer than "
            f"{_LEAST} broad topics there is nothing to compare.",
        )  # fmt: skip
        return
    rates = {v: swapped(m[:, broad].mean(axis=1), m[:, focused].mean(axis=1)) for v, m in study.means.items()}
    yield _compared(
        where, what, ue_printed.BROAD[study.base], rates, f"{len(broad)} topics each.", claim=claim
    )


def _partitions(study: Study) -> Iterator[Finding]:
    rng = np.random.default_rng(0)
    rates: dict[str, list[float]] = {v: [] for v in study.versions}
    for _ in range(_SPLITS):
        left = rng.random(len(study.pool.docs)) < 0.5
        means = []
        for keep in (left, ~left):
            part = study.pool.part(keep)
            of_cutoffs = [part.scores(study.base, k)[0] for k in CUTOFFS]
            means.append(
                {v: np.mean([s[v].mean(axis=1) for s in of_cutoffs], axis=0) for v in study.versions}
            )
        for version, of_splits in rates.items():
            of_splits.append(swapped(means[0][version], means[1][version]))
    yield _compared(
        study.where(14, 26), "swaps, one half of the documents against the other", "0, 0, 0",
        {v: float(np.mean(r)) for v, r in rates.items()},
        f"Deviations {_three([float(np.std(r)) for r in rates.values()])}.",
        about=f"Mean of {_SPLITS} random splits of the judged documents, the others left out. There are more runs than "
        "methods in the paper, and closer ones: that no two swap is not to be expected.",
        claim=f"The versions of {study.base} swap no more pairs than {study.base} between halves of the documents.",
    )  # fmt: skip
