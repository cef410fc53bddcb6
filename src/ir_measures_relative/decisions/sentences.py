"""The answer of each verb's table in a sentence, made from the values of the table."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

import numpy as np
import pandas as pd

from ..context.measure_strings import is_relative, parse_measure
from ..messages import counted, few
from ..tolerances import ROUNDED
from ..writing import escaped
from .fuse import FIXED_BEFOREHAND
from .rule import number, number_above, number_below, number_beside
from .similarity import measure_distances
from .text import format_level, format_share, join

_Describe: TypeAlias = Callable[[pd.DataFrame, str], str]  # of the rows of one measure
_NAMED = 3  # runs that a sentence names
_MEANS = (["name", "mean"], ["other", "other_mean"])


def sentence(table: pd.DataFrame) -> str:
    """Return the answer of a table in a sentence or two, from its values; of more than two measures, by the first.

    Args:
        table: what :func:`.compare`, :func:`.verdicts`, :func:`.bounds`, :func:`~ir_measures_relative.similarity`,
            :func:`.fuse`, :func:`.select_complementary` or :func:`.explain` returned.

    Raises:
        ValueError: any other table, or one without rows.
    """
    if isinstance(table, pd.DataFrame):
        table = table.rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})
        for columns, describe in _VERBS.items():
            if len(table) and {*columns} <= {*table.columns}:
                with suppress(KeyError):  # a column, or an entry of attrs, was removed
                    return escaped(describe(table))
    raise ValueError(
        "sentence() takes the unchanged table of compare, verdicts, bounds, similarity, fuse, select_complementary or "
        "explain, with at least one row"
    )


def _by_measure(several: _Describe, single: _Describe | None = None) -> Callable[[pd.DataFrame], str]:
    """Return a function that describes a table by measure; ``single`` is for one row per measure."""

    def describe(table: pd.DataFrame) -> str:
        measures = list(dict.fromkeys(table["measure"]))
        describe_rows = single if single is not None and len(table) == len(measures) else several
        described = measures if len(measures) == 2 else measures[:1]
        sentences = [describe_rows(table[table["measure"] == measure], measure) for measure in described]
        if len(described) < len(measures):
            sentences.append(f"The table has {len(measures) - 1} more measures.")
        if table.attrs.get("unjudged"):
            share = format_share(table.attrs["unjudged"])
            sentences.append(f"Unjudged documents (up to {share} of a list) count as not relevant.")
        return " ".join(sentences)

    return describe


# ---- compare


def _describe_pair(table: pd.DataFrame, measure: str) -> str:
    row, alpha = table.iloc[0], 1 - table.attrs["confidence"]
    a, b, difference, topics = row["name"], row["other"], row["difference"], counted(row["topics"], "topic")
    if not row["topics"]:
        return f"No topic has a value of {measure} for both {a} and {b}."
    if pd.isna(difference):
        return f"The values of {a} and {b} by {measure} are different quantities, so they are not compared."
    if row["wins"] + row["losses"] == 0:
        return f"{a} and {b} have the same {measure} on {'each of ' if row['topics'] > 1 else ''}{topics}."
    sign = 1 if difference > 0 else -1
    higher, lower = (a, b)[::sign]
    lead = f"{higher} {_lead(measure)}s {lower} by {number(abs(difference))} {measure}"
    if abs(difference) <= ROUNDED:
        lead = f"{a} and {b} have the same mean {measure} over {topics}"
    p, ends = row["p_corrected"], sorted(sign * row[end] for end in ("ci_lower", "ci_upper"))
    if pd.isna(p):
        return f"{lead}, which could not be tested ({topics})."
    evidence = ["p < 0.001" if p < 0.001 <= alpha else f"p = {number_beside(p, alpha)}"]
    if not pd.isna(ends[0]):
        # With other corrections, each row has a confidence of its own.
        is_stated = table.attrs["simultaneous"] or row["p"] == p
        level = f"{format_level(table.attrs['confidence'])} " if is_stated else ""
        evidence.append(f"{level}interval {number(ends[0])} to {number(ends[1])}")
    claim = "is significant" if p < alpha else "may be chance"
    return f"{lead}, and that {claim} ({'; '.join(evidence)})."


def _lead(measure: str) -> str:
    parsed = parse_measure(measure)  # a larger distance from a reference is no merit
    is_distance = is_relative(parsed) and parsed.RELATIVE_TO == "reference" and not parsed.SIGNED
    return "exceed" if is_distance else "lead"


def _describe_pairs(table: pd.DataFrame, measure: str) -> str:
    significant = table["p_corrected"] < 1 - table.attrs["confidence"]
    untested = int(table["p_corrected"].isna().sum())
    undecided = len(table) - int(significant.sum()) - untested
    rest = f"; {counted(undecided, 'difference')} may be chance" if undecided else ""
    rest += f"; {counted(untested, 'pair')} could not be tested" if untested else ""
    if table["other"].nunique() == 1:
        signs = significant * np.sign(table["difference"])
        above, below = (_runs_are(list(table["name"][signs == sign])) for sign in (1, -1))
        return f"By {measure}, {above} significantly above {table['other'].iloc[0]}, and {below} below{rest}."
    means_of_rows = [table[columns].set_axis(["name", "mean"], axis=1) for columns in _MEANS]
    means = pd.concat(means_of_rows).groupby("name", sort=False)["mean"].agg(["min", "max"])
    if untested or (means["max"] - means["min"] > ROUNDED).any():  # a run may have no single mean
        return f"By {measure}, {int(significant.sum())} of {len(table)} pairs differ significantly{rest}."
    means = means["max"].sort_values(ascending=False, kind="stable")
    best = list(means.index[means >= means.iloc[0] - ROUNDED])
    if len(best) == len(means):
        return f"All {len(best)} runs have the same {measure} ({number(means.iloc[0])})."
    with_best = table[table["name"].isin(best) != table["other"].isin(best)]
    rivals = with_best["name"].where(~with_best["name"].isin(best), with_best["other"])
    close = [name for name in means.index if name in {*rivals[~significant[with_best.index]]}]
    have, its = ("has", "its") if len(best) == 1 else ("have", "their")
    n_rivals, lead = len(means) - len(best), _lead(measure) + "s" * (len(best) == 1)
    answer = (
        f"{join(best)} {have} the highest {measure} ({number(means.iloc[0])}) and {lead} "
        f"{n_rivals - len(close) or 'none'} of {counted(n_rivals, 'other run')} significantly"
    )
    return f"{answer}; {its} lead over {few(close, _NAMED)} may be chance." if close else f"{answer}."


def _runs_are(names: list[str]) -> str:
    are = "is" if len(names) == 1 else "are"
    return f"{counted(len(names), 'run')} ({few(names, _NAMED)}) {are}" if names else "no run is"


# ---- verdicts, bounds and similarity


def _describe_verdict(table: pd.DataFrame, measure: str) -> str:
    row = table.iloc[0]
    a, b, settled = row["name"], row["other"], row["settled"]
    where = f"on topic {row['query_id']}" if "query_id" in table else "on these topics"
    if settled == "undecided":
        answer = f"Unjudged documents leave it undecided whether {a} or {b} has the higher {measure} {where}"
        if not pd.isna(row["worst"]):
            answer += f": the difference is {number(row['value'])} as judged, and {_range(row)}"
        if "probability" in table:
            answer += f"; {a} has it with a probability of {row['probability']:.2f}"
        return f"{answer}."
    answer = f"{a} and {b} have the same" if settled == "equal" else f"{a} is {settled} {b} by"
    if row["worst"] == row["best"]:
        return f"{answer} {measure} {where}, and no unjudged document can change that."
    return f"{answer} {measure} {where}: the difference is {_range(row)}."


def _range(row: pd.Series) -> str:
    return f"between {number_below(row['worst'])} and {number_above(row['best'])} allowing for unjudged documents"


def _describe_verdicts(table: pd.DataFrame, measure: str) -> str:
    undecided, n = table[table["settled"] == "undecided"], len(table)
    pairs = f"{n} pairs of runs{' on a topic' if 'query_id' in table else ''}"
    if undecided.empty:
        why = "" if table["n_deciding"].sum() else ": none counts"
        return f"Unjudged documents cannot reverse the order of any of {pairs} by {measure}{why}."
    a, b = undecided[["name", "other"]].iloc[0]
    are = "1 is undecided:" if len(undecided) == 1 else f"{len(undecided)} are undecided, such as"
    n_settled = n - len(undecided)
    return (
        f"By {measure}, the order of {n_settled} of {pairs} is settled, allowing for unjudged documents; {are} {a} "
        f"and {b}."
    )


def _describe_bounds(table: pd.DataFrame, measure: str) -> str:
    width = table["best"] - table["worst"]
    if width.isna().all():
        return f"{measure} has no strict bounds."
    if width.max() <= ROUNDED:
        return f"No unjudged document can change {measure} of {counted(table['name'].nunique(), 'run')}."
    row, start = table.loc[width.idxmax()], "Widest range: " if len(table) > 1 else ""
    where = f" on topic {row['query_id']}" if "query_id" in table else ""
    return f"{start}{measure} of {row['name']}{where} is {number(row['value'])} as judged, and {_range(row)}."


def _describe_similarity(table: pd.DataFrame, measure: str) -> str:
    if "distance" not in table:  # a row for each topic
        table = table.assign(distance=measure_distances(parse_measure(measure), table["value"].to_numpy()))
    pairs = table.groupby(["name", "other"], sort=False)["distance"].mean()
    (a, b), (c, d) = pairs.idxmin(), pairs.idxmax()
    least, n = number(pairs.min()), len(pairs)
    if n == 1:
        return f"{a} and {b} have a distance of {least} by {measure} (0: no difference)."
    if pairs.max() - pairs.min() <= ROUNDED:
        return f"By {measure}, all {n} pairs have the same distance ({least})."
    ties = int((pairs <= pairs.min() + ROUNDED).sum()) - 1
    also = f", as for {counted(ties, 'more pair')}" if ties else ""
    return (
        f"By {measure}, {a} and {b} are the most similar of {n} pairs (distance {least}{also}), and {c} and {d} the "
        f"least ({number(pairs.max())})."
    )


# ---- fuse, select and explain


def _describe_fusion(table: pd.DataFrame) -> str:
    """Return the answer of the strategy that is fixed beforehand, else of the first fusion."""
    measure = table.attrs["measure"]
    fusions, single = table[table["n"] > 1], table[table["strategy"] == "single"]
    keep = f"Keep {single['names'].iloc[0][0]}" if len(single) else "Keep the best single run"
    if fusions.empty:
        return f"{keep}: of the single runs it has the highest {measure}, and the table has no fusion."
    fixed = fusions[fusions["strategy"] == FIXED_BEFOREHAND]
    fusion = (fixed if len(fixed) else fusions).iloc[0]
    gain, runs = fusion["difference"], join(fusion["names"])
    sign, more = (1, "more") if gain > 0 else (-1, "less")
    gains = f"{number(abs(gain))} {measure} {more} than" if abs(gain) > ROUNDED else f"the same {measure} as"
    low, high = sorted(sign * fusion[end] for end in ("ci_lower", "ci_upper"))
    advice = f"Fuse {runs}" if low > 0 else f"Whether to fuse {runs} is undecided"
    if gain <= 0:
        advice = f"{keep} instead of fusing {runs}"
    return (
        f"{advice}: on held-out topics, their fusion has {gains} the best single run as judged "
        f"({format_level(table.attrs['confidence'])} interval {number(low)} to {number(high)}; {fusion['strategy']})."
    )


def _describe_selection(table: pd.DataFrame) -> str:
    measure, last, n = table.attrs["measure"], table.iloc[-1], len(table)
    runs = join(list(table["name"]))
    if n == 1:
        return f"{runs} has the highest {measure} ({number(last['marginal'])})."
    if pd.isna(last["cumulative"]):
        return f"Choose {runs}: the last one adds {number(last['marginal'])} {measure} to the others."
    limit = ""
    if last["bound"] - last["cumulative"] <= ROUNDED:
        limit = f", and no {n} runs have more"
    elif not pd.isna(last["bound"]):
        limit = f", and no {n} runs can have more than {number_above(last['bound'])}"
    return f"Choose {runs}: together they have {number(last['cumulative'])} {measure}{limit}."


def _describe_documents(table: pd.DataFrame) -> str:
    measure, n, topics = table.attrs["measure"], len(table), table["query_id"].nunique()
    runs = join(list(dict.fromkeys(table["name"]))) if "name" in table else table.attrs["run"]
    adds = table[table["contribution"] > 0]
    contribute = "contributes" if len(adds) < 2 else "contribute"
    answer = f"{len(adds) or 'None'} of {counted(n, 'document')} of {runs} {contribute} to {measure}"
    if len(adds):
        most, several = adds.loc[adds["contribution"].idxmax()], topics > 1
        topic = f" of topic {most['query_id']}" if several else ""
        answer += f", on {adds['query_id'].nunique()} of {topics} topics" if several else ""
        answer += f", none more than {most['doc_id']}{topic} ({number(most['contribution'])})"
    unjudged = int(table["relevance"].isna().sum())
    are = "is" if unjudged == 1 else "are"
    return f"{answer}; {unjudged} of the {n} {are} unjudged." if unjudged else f"{answer}."


#: The columns by which the table of each verb is recognized, and the function that describes it.
_VERBS: dict[tuple[str, ...], Callable[[pd.DataFrame], str]] = {
    ("other_mean", "p_corrected"): _by_measure(_describe_pairs, _describe_pair),
    ("settled", "n_deciding"): _by_measure(_describe_verdicts, _describe_verdict),
    ("name", "worst", "best", "exact"): _by_measure(_describe_bounds),
    ("name", "other", "value"): _by_measure(_describe_similarity),
    ("strategy", "held_out"): _describe_fusion,
    ("marginal", "cumulative", "bound"): _describe_selection,
    ("doc_id", "position", "contribution"): _describe_documents,
}
