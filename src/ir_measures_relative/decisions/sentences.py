"""The answer of each verb's table in a sentence, made from the table's values alone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

import numpy as np
import pandas as pd

from ..context.measure_strings import is_relative, parse_measure
from ..messages import counted, escaped, few
from ..tolerances import ROUNDED
from .fuse import FIXED_BEFOREHAND
from .rule import number, number_beside
from .similarity import distances
from .text import format_level, join

_Describe: TypeAlias = Callable[[pd.DataFrame, str], str]  # of the rows of one measure
_NAMED = 3  # runs that a sentence names
_MEANS = (["name", "mean"], ["other", "other_mean"])


def sentence(table: pd.DataFrame) -> str:
    """Return what a table says, in a sentence or two, from its values; of more than two measures, by the first.

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
                with suppress(KeyError):  # of a column or of attrs that were taken away
                    return escaped(describe(table))
    raise ValueError(
        "sentence() takes the unchanged table of compare, verdicts, bounds, similarity, fuse, select_complementary or "
        "explain, with at least one row"
    )


def _by_measure(several: _Describe, one: _Describe | None = None) -> Callable[[pd.DataFrame], str]:
    """Return what describes a table by measure; with ``one``, a table with one row for each measure."""

    def describe(table: pd.DataFrame) -> str:
        measures = list(dict.fromkeys(table["measure"]))
        describe_rows = one if one is not None and len(table) == len(measures) else several
        told = measures if len(measures) == 2 else measures[:1]
        said = [describe_rows(table[table["measure"] == measure], measure) for measure in told]
        if len(told) < len(measures):
            said.append(f"The table has {len(measures) - 1} more measures.")
        return " ".join(said)

    return describe


def _compare_pair(table: pd.DataFrame, measure: str) -> str:
    row, alpha = table.iloc[0], 1 - table.attrs["confidence"]
    a, b, difference, topics = row["name"], row["other"], row["difference"], counted(row["topics"], "topic")
    if not row["topics"]:
        return f"No topic has a value of {measure} for both {a} and {b}."
    if pd.isna(difference):
        return f"The values of {a} and {b} by {measure} are different quantities, so they are not compared."
    if row["wins"] + row["losses"] == 0:
        return f"{a} and {b} have the same {measure} on {'each of ' if row['topics'] > 1 else ''}{topics}."
    sign = 1 if difference > 0 else -1
    first, second = (a, b)[::sign]
    said = f"{first} {_lead(measure)}s {second} by {number(abs(difference))} {measure}"
    if abs(difference) <= ROUNDED:
        said = f"{a} and {b} have the same mean {measure} over {topics}"
    p, ends = row["p_corrected"], sorted(sign * row[end] for end in ("ci_lower", "ci_upper"))
    if pd.isna(p):
        return f"{said}, which could not be tested ({topics})."
    interval = "" if pd.isna(ends[0]) else f"interval {number(ends[0])} to {number(ends[1])}"
    if interval and (table.attrs["simultaneous"] or row["p"] == p):  # else each row has a level of its own
        interval = f"{format_level(table.attrs['confidence'])} {interval}"
    claim = "is significant" if p < alpha else "may be chance"
    shown = "p < 0.001" if p < 0.001 <= alpha else f"p = {number_beside(p, alpha)}"
    return f"{said}, and that {claim} ({'; '.join(filter(None, [shown, interval]))})."


def _lead(measure: str) -> str:
    parsed = parse_measure(measure)  # a larger distance from a reference is no merit
    distance = is_relative(parsed) and parsed.RELATIVE_TO == "reference" and not parsed.SIGNED
    return "exceed" if distance else "lead"


def _compare_pairs(table: pd.DataFrame, measure: str) -> str:
    significant = table["p_corrected"] < 1 - table.attrs["confidence"]
    untested = int(table["p_corrected"].isna().sum())
    undecided = len(table) - int(significant.sum()) - untested
    rest = f"; {counted(undecided, 'difference')} may be chance" if undecided else ""
    rest += f"; {counted(untested, 'pair')} could not be tested" if untested else ""
    if table["other"].nunique() == 1:
        signs = significant * np.sign(table["difference"])
        above, below = (_runs_are(list(table["name"][signs == sign])) for sign in (1, -1))
        return f"By {measure}, {above} significantly above {table['other'].iloc[0]}, and {below} below{rest}."
    values = [table[columns].set_axis(["name", "mean"], axis=1) for columns in _MEANS]
    means = pd.concat(values).groupby("name", sort=False)["mean"].agg(["min", "max"])
    if untested or (means["max"] - means["min"] > ROUNDED).any():  # a run may not have one mean
        return f"By {measure}, {int(significant.sum())} of {len(table)} pairs differ significantly{rest}."
    means = means["max"].sort_values(ascending=False, kind="stable")
    best = list(means.index[means >= means.iloc[0] - ROUNDED])
    if len(best) == len(means):
        return f"All {len(best)} runs have the same {measure} ({number(means.iloc[0])})."
    leading = table[table["name"].isin(best) != table["other"].isin(best)]
    other = leading["name"].where(~leading["name"].isin(best), leading["other"])
    near = [name for name in means.index if name in {*other[~significant[leading.index]]}]
    have, its = ("has", "its") if len(best) == 1 else ("have", "their")
    lead, others = _lead(measure) + "s" * (len(best) == 1), len(means) - len(best)
    said = f"{join(best)} {have} the highest {measure} ({number(means.iloc[0])}) and {lead} "
    said += f"{others - len(near) or 'none'} of {counted(others, 'other run')} significantly"
    return f"{said}; {its} lead over {few(near, _NAMED)} may be chance." if near else f"{said}."


def _runs_are(names: list[str]) -> str:
    are = "is" if len(names) == 1 else "are"
    return f"{counted(len(names), 'run')} ({few(names, _NAMED)}) {are}" if names else "no run is"


def _verdict_on_pair(table: pd.DataFrame, measure: str) -> str:
    row = table.iloc[0]
    a, b, settled = row["name"], row["other"], row["settled"]
    where = f"on topic {row['query_id']}" if "query_id" in table else "on these topics"
    if settled == "undecided":
        said = f"Unjudged documents leave it undecided whether {a} or {b} has the higher {measure} {where}"
        if not pd.isna(row["worst"]):
            said += f": the difference is {number(row['value'])} as judged, and {_reach(row)}"
        if "probability" in table:
            said += f"; {a} has it with a probability of {row['probability']:.2f}"
        return f"{said}."
    said = f"{a} and {b} have the same" if settled == "equal" else f"{a} is {settled} {b} by"
    if row["worst"] == row["best"]:
        return f"{said} {measure} {where}, and no unjudged document can change that."
    return f"{said} {measure} {where}: the difference is {_reach(row)}."


def _reach(row: pd.Series) -> str:
    return f"between {number(row['worst'])} and {number(row['best'])} whatever the unjudged documents are"


def _verdicts_on_pairs(table: pd.DataFrame, measure: str) -> str:
    undecided, n = table[table["settled"] == "undecided"], len(table)
    what = "pairs of runs on a topic" if "query_id" in table else "pairs of runs"
    if undecided.empty:
        why = "" if table["n_deciding"].sum() else ": none counts"
        return f"Unjudged documents cannot reverse the order of any of {n} {what} by {measure}{why}."
    a, b = undecided[["name", "other"]].iloc[0]
    are = "1 is undecided:" if len(undecided) == 1 else f"{len(undecided)} are undecided, such as"
    said = f"By {measure}, the order of {n - len(undecided)} of {n} {what} holds whatever the unjudged documents are"
    return f"{said}; {are} {a} and {b}."


def _bounds_of_runs(table: pd.DataFrame, measure: str) -> str:
    width = table["best"] - table["worst"]
    if width.isna().all():
        return f"{measure} has no strict bounds."
    if width.max() <= ROUNDED:
        return f"No unjudged document can change {measure} of {counted(table['name'].nunique(), 'run')}."
    row, most = table.loc[width.idxmax()], "Widest range: " if len(table) > 1 else ""
    where = f" on topic {row['query_id']}" if "query_id" in table else ""
    return f"{most}{measure} of {row['name']}{where} is {number(row['value'])} as judged, and {_reach(row)}."


def _similar_pairs(table: pd.DataFrame, measure: str) -> str:
    if "distance" not in table:  # a row for each topic
        table = table.assign(distance=distances(parse_measure(measure), table["value"].to_numpy()))
    pairs = table.groupby(["name", "other"], sort=False)["distance"].mean()
    (a, b), (c, d) = pairs.idxmin(), pairs.idxmax()
    nearest, n = number(pairs.min()), len(pairs)
    if n == 1:
        return f"{a} and {b} have a distance of {nearest} by {measure} (0: no difference)."
    if pairs.max() - pairs.min() <= ROUNDED:
        return f"By {measure}, all {n} pairs have the same distance ({nearest})."
    ties = counted(int((pairs <= pairs.min() + ROUNDED).sum()) - 1, "more pair")
    also = "" if ties.startswith("0 ") else f", as for {ties}"
    said = f"By {measure}, {a} and {b} are the most similar of {n} pairs (distance {nearest}{also})"
    return f"{said}, and {c} and {d} the least ({number(pairs.max())})."


def _fuse(table: pd.DataFrame) -> str:
    """Return the answer of the strategy that is fixed beforehand, else of the first fusion."""
    measure = table.attrs["measure"]
    fusions, single = table[table["n"] > 1], table[table["strategy"] == "single"]
    keep = f"Keep {single['names'].iloc[0][0]}" if len(single) else "Keep the best single run"
    if fusions.empty:
        return f"{keep}: of the single runs it has the highest {measure}, and the table has no fusion."
    fixed = fusions[fusions["strategy"] == FIXED_BEFOREHAND]
    best = (fixed if len(fixed) else fusions).iloc[0]
    gain, runs = best["difference"], join(best["names"])
    sign, more = (1, "more") if gain > 0 else (-1, "less")
    gains = f"{number(abs(gain))} {measure} {more} than" if abs(gain) > ROUNDED else f"the same {measure} as"
    low, high = sorted(sign * best[end] for end in ("ci_lower", "ci_upper"))
    said = (
        f"on held-out topics, their fusion has {gains} the best single run as judged "
        f"({format_level(table.attrs['confidence'])} interval {number(low)} to {number(high)}; {best['strategy']})."
    )
    advice = f"Fuse {runs}" if low > 0 else f"Whether to fuse {runs} is undecided"
    return f"{advice if gain > 0 else f'{keep} instead of fusing {runs}'}: {said}"


def _select(table: pd.DataFrame) -> str:
    measure, last, n = table.attrs["measure"], table.iloc[-1], len(table)
    runs = join(list(table["name"]))
    if n == 1:
        return f"{runs} has the highest {measure} ({number(last['marginal'])})."
    if pd.isna(last["cumulative"]):
        return f"Choose {runs}: the last one adds {number(last['marginal'])} {measure} to the others."
    bound = f", and no {n} runs can have more than {number(last['bound'])}"
    if last["bound"] - last["cumulative"] <= ROUNDED:
        bound = f", and no {n} runs have more"
    bound = "" if pd.isna(last["bound"]) else bound
    return f"Choose {runs}: together they have {number(last['cumulative'])} {measure}{bound}."


def _explain(table: pd.DataFrame) -> str:
    measure = table.attrs["measure"]
    runs = join(list(dict.fromkeys(table["name"]))) if "name" in table else table.attrs["run"]
    adds, topics = table[table["contribution"] > 0], table["query_id"].nunique()
    contribute = "contributes" if len(adds) < 2 else "contribute"
    said = f"{len(adds) or 'None'} of {counted(len(table), 'document')} of {runs} {contribute} to {measure}"
    if len(adds):
        most = adds.loc[adds["contribution"].idxmax()]
        on, of_topic = (
            f", on {adds['query_id'].nunique()} of {topics} topics",
            f" of topic {most['query_id']}",
        )
        said += on if topics > 1 else ""
        said += f", none more than {most['doc_id']}{of_topic if topics > 1 else ''} ({number(most['contribution'])})"
    unjudged = int(table["relevance"].isna().sum())
    are = "is" if unjudged == 1 else "are"
    return f"{said}; {unjudged} of the {len(table)} {are} unjudged." if unjudged else f"{said}."


#: The columns that tell the table of a verb, and what describes it.
_VERBS: dict[tuple[str, ...], Callable[[pd.DataFrame], str]] = {
    ("other_mean", "p_corrected"): _by_measure(_compare_pairs, _compare_pair),
    ("settled", "n_deciding"): _by_measure(_verdicts_on_pairs, _verdict_on_pair),
    ("name", "worst", "best", "exact"): _by_measure(_bounds_of_runs),
    ("name", "other", "value"): _by_measure(_similar_pairs),
    ("strategy", "held_out"): _fuse,
    ("marginal", "cumulative", "bound"): _select,
    ("doc_id", "position", "contribution"): _explain,
}
