"""What differs between two sets of outputs, and whether it may."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .cases import PARTS, Table
from .outputs import Key, Outputs, Result

#: By how much an end of an interval may move: sums taken in another order differ by a few units in the last place.
TOLERANCE = 1e-12

#: How many differences of one table are shown.
_EXAMPLES = 3


@dataclass
class Findings:
    """The result of comparing the tables of one campaign and part.

    Attributes:
        counts: how many tables, values, equal values, ``exact`` lost and won.
        largest: the largest difference of two numbers, and where it is.
        seconds: of CPU time, before and now.
        wrong: by table, the differences that the rule of the part does not allow, one line each.
        allowed: by table, those that it allows.
    """

    counts: Counter[str] = field(default_factory=Counter)
    largest: tuple[float, str] = (0.0, "")
    seconds: tuple[float, float] = (0.0, 0.0)
    wrong: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    allowed: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def compare(old: Outputs, new: Outputs, *, part: str = "all", only: str = "", show: int = 5) -> int:
    """Prints what differs; 1 where something is wrong."""
    for name in sorted(old.data.keys() & new.data.keys()):
        if old.data[name] != new.data[name]:
            raise SystemExit(f"{name}: the runs or the qrels are not those that the file was written from")
    for name, before in old.about.items():
        if before != new.about.get(name):
            print(f"{name}: {before} before, {new.about.get(name)} now")
    if absent := sorted(old.data.keys() - new.data.keys()):
        print(f"campaigns of the file that are not compared: {', '.join(absent)}")
    asked = [
        key for key in new.results if only in key.name and key.part in (PARTS if part == "all" else (part,))
    ]
    shared = [key for key in asked if key in old.results]
    if not shared:
        raise SystemExit("there is no table to compare: write the file from the same campaigns and parts")
    found: dict[tuple[str, str], Findings] = defaultdict(Findings)
    for key in shared:
        _compare_results(key, old.results[key], new.results[key], found[key.campaign, key.part])
    for (campaign, of), findings in found.items():
        _print(campaign, of, findings, show)
    if left_out := len(asked) - len(shared):
        print(f"{left_out} tables are not in the file, and were not compared")
    failed = sum(len(findings.wrong) for findings in found.values())
    print(f"{len(shared)} tables compared: {f'{failed} are wrong' if failed else 'none is wrong'}")
    return int(failed > 0)


def _compare_results(key: Key, old: Result, new: Result, findings: Findings) -> None:
    """Compares a table with what it was before."""
    findings.counts["tables"] += 1
    findings.seconds = (findings.seconds[0] + old.seconds, findings.seconds[1] + new.seconds)
    wrong = findings.allowed if key.part == "statistics" else findings.wrong
    if old.refused and new.refused:
        findings.counts["refused"] += 1
    elif new.refused:
        wrong[key.name].append(f"was computed, is refused ({new.refused})")
    elif old.refused:
        findings.allowed[key.name].append(f"was refused ({old.refused}), is computed")
    elif old.table is None or new.table is None:
        _compare_digests(key, old.digested(), new.digested(), findings)
    elif not _same_rows(old.table, new.table):
        wrong[key.name].append(f"other rows: {_shape(old.table)} before, {_shape(new.table)} now")
    else:
        _compare_tables(key, old.table, new.table, findings)


def _same_rows(old: Table, new: Table) -> bool:
    return list(old.keys) == list(new.keys) and all(
        np.array_equal(old.keys[name], new.keys[name]) for name in old.keys
    )


def _shape(table: Table) -> str:
    return f"{table.rows} rows by {', '.join(table.keys)}"


def _compare_digests(key: Key, old: dict[str, Any], new: dict[str, Any], findings: Findings) -> None:
    """Compares hashes; where they differ, means, which cannot show that every end stayed where it was."""
    findings.counts["values"] += new["rows"] * len(new["means"])
    if old["hash"] == new["hash"]:
        findings.counts["equal"] += new["rows"] * len(new["means"])
        return
    of_old, of_new = ({n: mean or 0.0 for n, mean in digest["means"].items()} for digest in (old, new))
    gaps = {name: abs(of_new.get(name, 0.0) - mean) for name, mean in of_old.items()}
    column = max(gaps, key=lambda name: gaps[name], default="")
    gap = gaps.get(column, 0.0)
    findings.largest = max(findings.largest, (gap, f"{key.name} · mean {column}"))
    rounding = old["rows"] == new["rows"] and gap <= TOLERANCE and key.part in ("bounds", "verdicts")
    of_part = findings.allowed if rounding or key.part == "statistics" else findings.wrong
    of_part[key.name].append(f"another hash; means differ by {gap:.3g} at most ({column or 'no numbers'})")


def _compare_tables(key: Key, old: Table, new: Table, findings: Findings) -> None:
    """Compares two tables of the same rows, by the rule of the part."""
    wrong = findings.allowed if key.part == "statistics" else findings.wrong
    was_exact, is_exact = (table.values.get("exact") for table in (old, new))
    if was_exact is not None and is_exact is not None:
        findings.counts["intervals"] += len(was_exact)
        findings.counts["exact lost"] += int((was_exact > is_exact).sum())
        findings.counts["exact won"] += int((was_exact < is_exact).sum())
    for name, a in old.values.items():
        if name not in new.values:
            wrong[key.name].append(f"there is no column {name} any more")
            continue
        b = new.values[name]
        same, gap = _differences(a, b)
        findings.counts["values"] += len(a)
        findings.counts["equal"] += int(same.sum())
        if gap.max(initial=0.0) > findings.largest[0]:
            worst = int(gap.argmax())
            findings.largest = (float(gap[worst]), f"{key.name} · {_place(old, worst, name)}")
        rounding, allowed = _allowed(key.part, name, a, b, gap, was_exact)
        findings.counts["rounding"] += int((rounding & ~same).sum())
        told = ~same & ~rounding
        for where, tables in ((told & allowed, findings.allowed), (told & ~allowed, wrong)):
            if where.any():
                tables[key.name] += [
                    f"{_place(old, i, name)}: {a[i].item()!r} → {b[i].item()!r}"
                    + " (was not exact)" * bool(was_exact is not None and not was_exact[i])
                    for i in np.flatnonzero(where)
                ]


def _differences(a: Any, b: Any) -> tuple[Any, Any]:
    """Return which values are equal to the last bit, and the distances of numbers; infinite from what is no number."""
    if a.dtype.kind not in "iuf" or b.dtype.kind not in "iuf":
        return a.astype(str) == b.astype(str), np.zeros(len(a))
    x, y = a.astype(np.float64), b.astype(np.float64)
    same = (x.view(np.int64) == y.view(np.int64)) | (np.isnan(x) & np.isnan(y))
    with np.errstate(invalid="ignore"):
        gap = np.where(same, 0.0, np.abs(x - y))
    return same, np.where(np.isnan(gap), np.inf, gap)


def _allowed(part: str, name: str, a: Any, b: Any, gap: Any, was_exact: Any) -> tuple[Any, Any]:
    """Return which differences are rounding, where it is allowed, and which others the rule of the part allows.

    Args:
        part: the part.
        name: of the column.
        a: its values before.
        b: its values now.
        gap: how far apart these are.
        was_exact: of each row, whether its interval was exact before; None in a table without intervals.
    """
    none = np.zeros(len(gap), dtype=bool)
    is_value = name == "value"
    numbers = a.dtype.kind in "iuf" and b.dtype.kind in "iuf" and name != "exact"
    rounding = gap <= TOLERANCE if numbers else none
    if part == "statistics":
        return rounding, ~none
    if was_exact is None:
        return none, none
    was_open = was_exact == 0
    if part == "measures" and is_value:
        rounding = none
    if name == "worst":
        return rounding, was_open & (b > a)
    if name == "best":
        return rounding, was_open & (b < a)
    # The value of the judgments as they are is found without a search, that of MED by one.
    return rounding, none if is_value and part != "measures" else was_open


def _place(table: Table, row: int, column: str) -> str:
    """Describe the place of a value in words."""
    said = {"query_id": "query", "doc_id": "document"}
    return ", ".join(
        [*(f"{said.get(name, name)} {array[row]}" for name, array in table.keys.items()), column]
    )


def _print(campaign: str, part: str, findings: Findings, show: int) -> None:
    """A line of counts, and the first tables that differ."""
    counts = findings.counts
    equal = "all" if counts["equal"] == counts["values"] else f"{counts['equal']:,}"
    said = [f"{campaign} {part}: {counts['tables']:,} tables, {counts['values']:,} values"]
    said.append(f"{equal} equal to the last bit")
    if findings.largest[0]:
        said.append(f"largest difference {findings.largest[0]:.3g} ({findings.largest[1]})")
    if counts["rounding"]:
        said.append(f"{counts['rounding']:,} others within {TOLERANCE:g}")
    if counts["intervals"]:
        said.append(f"exact lost {counts['exact lost']:,}, won {counts['exact won']:,}")
    said.append(f"CPU {findings.seconds[0]:.0f} s before, {findings.seconds[1]:.0f} s now")
    print("; ".join(said))
    for title, tables in (("WRONG", findings.wrong), ("allowed", findings.allowed)):
        for name, lines in list(tables.items())[:show]:
            more = f" (and {len(lines) - _EXAMPLES:,} more)" if len(lines) > _EXAMPLES else ""
            print(f"  {title} {name}{more}")
            for line in lines[:_EXAMPLES]:
                print(f"      {line}")
        if len(tables) > show:
            print(f"  {title}: {len(tables) - show:,} more tables")
