"""The measure strings that reference outputs are of: every measure, all of its bases, and its main parameters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

_DEPTHS = ("@10", "@100", "")


def _written(name: str, **params: Any) -> str:
    """A measure as a string, without its cutoff."""
    inside = ", ".join(f"{key}={value!r}" for key, value in params.items())
    return f"{name}({inside})" if inside else name


def _each(name: str, depths: Sequence[str], *variants: dict[str, Any]) -> list[str]:
    """Measures, by their names with spaces between, with each of some parameters at each of some cutoffs."""
    every = product(name.split(), variants or ({},), depths)
    return [_written(name, **params) + depth for name, params, depth in every]


def prior_measures(names: Sequence[str]) -> list[str]:
    """Measures that are relative to priors; ``names`` are runs that ``prior=`` may name."""
    bases = ("nDCG", "P", "RBP", "RR", "ERR")
    normed = [{"base": b, "norm": n} for b in bases[:3] for n in ("residual", "ideal", "whole", None)]
    glob = f"{names[1]},{names[-1][:2]}*"
    return [
        *_each("NRG", _DEPTHS, *normed, {"base": "RR"}, {"base": "ERR"}),
        *_each("NRG", ("@10",), *({"base": b, "judged_only": True} for b in bases)),
        *_each("NRG", ("@10", "@100"), *({"base": b, "prior": glob} for b in bases)),
        *_each("NRG", ("@10",), *({"base": b, "rel": 2} for b in ("P", "RBP", "RR"))),
        *_each("NRG", ("@10",), {"dcg": "exp-log2"}, {"gains": {0: 0, 1: 1, 2: 3, 3: 9}}),
        *_each("NRG", ("@10",), {"gains": {1: 0, 2: 1, 3: 1}}, {"gains": {1: 3, 2: 2}, "dcg": "exp-log2"}),
        *_each("NRG", ("@5", "@20"), {"base": "RBP", "p": 0.5}, {"base": "RBP", "p": 0.95, "norm": None}),
        *_each("NRG", ("@5", "@20"), {"base": "ERR", "max_grade": 3}, {"base": "P", "norm": None, "rel": 2}),
        *_each("UniqueRel", ("@1", "@10", "@100", "@1000")),
        *_each("UniqueRel", ("@10",), {"rel": 2}, {"judged_only": True}, {"prior": glob}),
        *_each("TaSC", ("",), *({"base": b} for b in ("nDCG@10", "AP", "P@10", "RR", "RBP(rel=1)@10"))),
        *_each("TaSC", ("",), {"base": "nDCG@100", "prior": glob}, {"base": "P(rel=2)@5"}),
    ]


def system_measures() -> list[str]:
    """Measures that are relative to all systems."""
    bases, ndcg = ("nDCG", "P", "RBP"), {"base": "nDCG"}
    return [
        *_each("P_Rareness", ("@10", "@100", "@1000")),
        *_each("AP_Rareness", ("@10", "@100", "@1000", "")),
        *_each("P_Rareness AP_Rareness", ("@10", "@100"), {"alpha": 0.3}, {"bounded": True}),
        *_each("P_Rareness AP_Rareness", ("@10", "@100"), {"alpha": 0.5, "bounded": True, "rel": 2}),
        *_each("P_Rareness AP_Rareness", ("@10", "@100"), {"judged_only": True}),
        *_each("Shapley", _DEPTHS, *({"base": b} for b in bases)),
        *_each("Shapley", ("@10",), *({"base": b, "judged_only": True} for b in bases)),
        *_each("Shapley", ("@10",), {"base": "P", "rel": 2}, {"base": "RBP", "p": 0.95, "rel": 2}),
        *_each("Shapley", ("@10",), ndcg | {"dcg": "exp-log2"}, ndcg | {"gains": {1: 4, 2: 9}}),
    ]


def chance_measures() -> list[str]:
    """Measures that are relative to a random ranking."""
    bases = ("nDCG", "P", "R", "Success", "RR", "RBP", "AP", "ERR")
    versions = (1, 2, "z")
    every = [{"base": b, "version": v} for b, v in product(bases, versions)]
    return [
        *_each("UE", _DEPTHS, *every),
        *_each("UE", ("@10", ""), *(p | {"pool": "corpus"} for p in every)),
        *_each("UE", ("@10",), *({"base": b, "judged_only": True} for b in bases)),
        *_each("UE", ("@10",), *({"base": b, "rel": 2} for b in bases if b not in ("nDCG", "ERR"))),
        *_each("UE", ("@10", "@100"), *({"base": "AP", "version": v, "expected": "exact"} for v in (1, 2))),
        *_each("UE", ("@10",), {"base": "AP", "expected": "exact", "pool": "corpus"}),
        *_each("UE", ("@10",), {"base": "RBP", "p": 0.5}, {"base": "ERR", "max_grade": 3}),
        *_each("UE", ("@10",), {"base": "nDCG", "dcg": "log2"}, {"base": "nDCG", "gains": {1: 1, 2: 3}}),
        *_each("nDCG_UE", _DEPTHS, *({"version": v} for v in versions)),
        *_each("nDCG_UE", ("@10",), {"dcg": "log2"}, {"pool": "corpus"}, {"judged_only": True}),
        *_each("nDCG_UE", ("@10",), {"gains": {1: 1, 2: 3}}, {"pool": "corpus", "version": "z"}),
        *_each("AP_UE", _DEPTHS, {"version": 1}, {"version": 2}, {"expected": "exact"}),
        *_each("AP_UE", ("@10",), {"pool": "corpus"}, {"rel": 2}, {"judged_only": True}),
    ]


def reference_measures(reference: str) -> list[str]:
    """Measures that are relative to a reference run; ``reference`` is another one than the context's."""
    bases = ("P", "RBP", "SDCG", "nDCG", "RR", "SSP", "AP", "ERR")
    fast = ("P", "RBP", "SDCG", "nDCG", "RR")
    lexical = "rrLP sgnLP sgnLR RPP"
    return [
        *_each("MED", ("@10",), *({"base": b} for b in bases)),
        *_each("MED", ("@100", ""), *({"base": b} for b in fast)),
        *_each("MED", ("@10",), *({"base": b, "ref": reference} for b in bases)),
        *_each("MED", ("@10",), *({"base": b, "judged": False} for b in bases)),
        *_each("MED", ("@10",), *({"base": b, "rel": 2} for b in bases if b != "ERR")),
        *_each("MED", ("@10",), *({"base": b, "dcg": "exp-log2"} for b in ("SDCG", "nDCG"))),
        *_each("MED", ("@10",), *({"base": b, "gains": {1: 1, 2: 3, 3: 4}} for b in ("SDCG", "nDCG"))),
        *_each("MED", ("@10",), *({"base": b, "max_grade": 4} for b in ("SDCG", "nDCG", "ERR"))),
        *_each("MED", ("@10", "@50"), {"base": "RBP", "p": 0.95}, {"base": "RBP", "residual": False}),
        *_each("MED", ("@10",), {"base": "AP", "norm": "min"}),
        *_each("RBO", ("@10", "@100", "")),
        *_each(
            "RBO", ("@100",), *({"variant": k, "p": p} for k in ("ext", "min", "max") for p in (0.5, 0.98))
        ),
        *_each(lexical, ("", "@10", "@100")),
        *_each(lexical, ("",), {"rel": 2}, {"ref": reference}),
        *_each(lexical, ("@10",), {"judged_only": True}),
        *_each("RPP", ("", "@20"), {"weight": "inverse"}, {"weight": "dcg"}),
    ]


def host_measures() -> list[str]:
    """Some of ir_measures' own, which a context scores as well."""
    return [
        *_each("nDCG", _DEPTHS),
        *_each("nDCG", ("@10",), {"dcg": "exp-log2"}, {"gains": {1: 1, 2: 3}}, {"judged_only": True}),
        *_each("AP", _DEPTHS, {}, {"rel": 2}),
        *_each("RR", ("", "@10")),
        *_each("P", ("@5", "@10"), {}, {"rel": 2}),
        *_each("R", ("@100", "@1000")),
        *_each("RBP", ("@10", ""), {"rel": 1}, {"rel": 1, "p": 0.5}),
        *("Bpref", "Rprec", "Success@10", "ERR@10", "ERR@20", "SetP", "NumRel", "Judged@10"),
    ]


def bounded_measures(names: Sequence[str]) -> list[str]:
    """Measures that ``bounds`` and ``verdicts`` take; ``names`` are runs that ``ref=`` and ``prior=`` may name."""
    to_first, bases, gains = {"ref": names[0]}, ("nDCG", "P", "RBP"), ({1: 1, 2: 5}, {0: 1, 1: 2, 2: 3})
    lexical = "rrLP sgnLP sgnLR RPP"
    return [
        *_each("P", ("@10", "@100"), {}, {"rel": 2}),
        *_each("RBP", ("@10", "@100"), {"rel": 1}, {"rel": 2, "p": 0.5}),
        *_each("SDCG", ("@10",), {"max_rel": 3}),
        *_each("nDCG", ("@10", "@100"), {}, {"dcg": "exp-log2"}),
        *_each("nDCG", ("@10",), {"judged_only": True}, *({"gains": g} for g in gains)),
        *_each("RR", ("", "@10"), {}, {"rel": 2}),
        *_each("RR", ("@10",), {"judged_only": True}),
        *_each("Success", ("@5",), {}, {"rel": 2}),
        *_each("AP", ("@10", "@20"), {}, {"rel": 2}),
        *_each("AP", ("@10",), {"judged_only": True}),
        *_each("ERR", ("@10", "@20")),
        *_each("nDCG_UE", ("@10", "@20"), {"version": 1}, {"version": 2}),
        *_each("nDCG_UE", ("@10",), {"dcg": "log2"}, {"pool": "corpus"}, {"judged_only": True}),
        *_each("AP_UE", ("@10", "@20"), {"version": 1}, {"version": 2}, {"expected": "exact"}),
        *_each("AP_UE", ("@10",), {"pool": "corpus"}, {"version": 1, "expected": "exact", "pool": "corpus"}),
        *_each("UE", ("@10",), {"base": "nDCG"}, {"base": "AP"}, {"base": "P"}),
        *_each(lexical, ("@10", "@50"), to_first),
        *_each(lexical, ("@10",), to_first | {"rel": 2}),
        *_each("RPP", ("@10",), {"weight": "dcg"} | to_first, {"weight": "inverse"} | to_first),
        *_each("UniqueRel", ("@10", "@100"), {}, {"rel": 2}),
        *_each("NRG", ("@10",), *({"base": b} for b in ("nDCG", "P", "RBP", "RR", "ERR"))),
        *_each("NRG", ("@10",), *({"base": b, "norm": n} for b in bases for n in ("ideal", None))),
        *_each("NRG", ("@10",), {"norm": "whole"}, {"dcg": "exp-log2"}, {"prior": names[1]}),
        *_each("NRG", ("@20",), {}, {"norm": "ideal"}, {"base": "RR", "rel": 2}, {"base": "ERR"}),
        *_each("P_Rareness", ("@10",), {}, {"alpha": 0.5, "bounded": True}),
        *_each("AP_Rareness", ("@10", "@20"), {}, {"alpha": 0.5, "bounded": True}),
        *_each("Shapley", ("@10", "@20"), *({"base": b} for b in ("nDCG", "P", "RBP"))),
        *_each("TaSC", ("",), *({"base": b} for b in ("nDCG@10", "AP@10", "P@10", "RBP(rel=1)@10", "RR@10"))),
    ]


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.replace("\n", " ").strip().split("; "))


#: What ``--quick`` computes: every measure, with what is most used.
QUICK = _listed("""
AP; AP_Rareness@100; AP_UE(expected='exact')@100; AP_UE(version=2)@10; MED(base='AP')@10; MED(base='ERR')@10;
MED(base='P')@10; MED(base='RBP')@10; MED(base='RR')@10; MED(base='SDCG')@10;
MED(base='SSP')@10; MED(base='nDCG')@10; MED(base='nDCG')@100; MED(base='nDCG', judged=False)@10;
NRG(base='ERR')@10; NRG(base='P', norm='ideal')@10; NRG(base='RBP', norm=None)@100; NRG(base='RR')@10;
NRG(base='nDCG', norm='residual')@10; P@10; P_Rareness@10; RBO@100; RPP@10; RR; Shapley(base='P')@100;
Shapley(base='nDCG')@10; TaSC(base='nDCG@10'); UE(base='AP', version=1); UE(base='ERR', version=2)@10;
UE(base='P', version='z')@10; UE(base='nDCG', version=2)@10; UniqueRel@10; nDCG@10; nDCG_UE(version=2)@10; rrLP;
sgnLP; sgnLR
""")

QUICK_BOUNDED = _listed("""
AP@10; AP_Rareness@10; AP_UE(expected='exact')@10; AP_UE(version=2)@10; ERR@10; NRG(base='ERR')@10;
NRG(base='P')@10; NRG(base='RR')@10; NRG(base='nDCG')@10; NRG(norm='ideal')@20; P@10; P_Rareness@10;
RBP(rel=1)@10; RR@10; Shapley(base='nDCG')@10; TaSC(base='AP@10'); TaSC(base='nDCG@10'); UniqueRel@10; nDCG@10;
nDCG_UE(version=2)@10
""")
