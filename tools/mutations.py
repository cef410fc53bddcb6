"""The changes that :mod:`tools.mutants` makes: a :class:`Mutant` is one node of a module's syntax tree, replaced."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "ir_measures_relative"

_OPERATORS: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
_NAMES = {
    "min": "max",
    "any": "all",
    "minimum": "maximum",
    "argmin": "argmax",
    "zeros": "ones",
    "sum": "prod",
}
_NAMES |= {other: name for name, other in _NAMES.items()}


class Mutant(NamedTuple):
    """One change to one module."""

    module: str  # its path below the package
    number: int  # of the changes to this module, in the order of its syntax tree
    line: int
    change: str


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in place of one node."""
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in _OPERATORS:
            yield ast.Compare(left, [_OPERATORS[type(op)]()], [right])
        case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
            yield ast.BinOp(left, _OPERATORS[type(op)](), right)
        case ast.AugAssign(target, op, value) if type(op) in _OPERATORS:
            yield ast.AugAssign(target, _OPERATORS[type(op)](), value)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(_OPERATORS[type(op)](), values)
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.If(_, body, orelse):
            yield ast.If(ast.Constant(True), body, orelse)
            yield ast.If(ast.Constant(False), body, orelse)
        case ast.IfExp(_, body, orelse):
            yield body
            yield orelse
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case ast.Slice(lower, upper, step):
            if lower:
                yield ast.Slice(None, upper, step)
            if upper:
                yield ast.Slice(lower, None, step)
        case ast.Expr(ast.Call()):
            yield ast.Pass()
        case ast.Assign([ast.Name()] as targets, ast.Tuple(elts)) if len(elts) > 1:
            for shorter in _without_one(elts):
                yield ast.Assign(targets, ast.Tuple(shorter, ast.Load()))
        case ast.Call(function, arguments, keywords):
            for i, argument in enumerate(arguments):
                if isinstance(argument, ast.Tuple):  # such as a cache key
                    for shorter in _without_one(argument.elts):
                        key = ast.Tuple(shorter, ast.Load())
                        yield ast.Call(function, [*arguments[:i], key, *arguments[i + 1 :]], keywords)
            for fewer in _without_one(keywords):
                yield ast.Call(function, arguments, fewer)
        case ast.Name(name, context) if name in _NAMES:
            yield ast.Name(_NAMES[name], context)
        case ast.Attribute(value, name, context) if name in _NAMES:
            yield ast.Attribute(value, _NAMES[name], context)


def _without_one(items: list[Any]) -> Iterator[list[Any]]:
    return ([*items[:i], *items[i + 1 :]] for i in range(len(items)))


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is in it, without annotations, decorators, messages, and what is for types alone."""
    if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    yield node
    for field, value in ast.iter_fields(node):
        if field not in ("annotation", "returns", "decorator_list"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _inside(child)


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return ast.copy_location(self.new, node) if node is self.old else self.generic_visit(node)


def _changes(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    return ((node, variant) for node in _inside(tree) for variant in variants(node))


def mutants_of(module: str) -> list[Mutant]:
    """All changes to a module."""
    tree = ast.parse((PACKAGE / module).read_text())
    return [
        Mutant(module, i, old.lineno, f"{_first_line(old)}  →  {_first_line(new)}")  # type: ignore[attr-defined]
        for i, (old, new) in enumerate(_changes(tree))
    ]


def _first_line(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(node)).split("\n")[0]


def compiled(mutant: Mutant) -> Any:
    """The code of the module with the change."""
    path = PACKAGE / mutant.module
    tree = ast.parse(path.read_text())
    old, new = list(_changes(tree))[mutant.number]
    return compile(ast.fix_missing_locations(_Replace(old, new).visit(tree)), str(path), "exec")
