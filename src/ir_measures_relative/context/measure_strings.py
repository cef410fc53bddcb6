"""Measure strings, names and parameters, without the code that computes measures."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import ir_measures.measures
from ir_measures.measures import Measure, ParamInfo

from ..messages import brief, is_text

#: What a measure may be relative to, in turn the prior runs, all systems, one reference run, a random ranking.
RELATIVE_TO = ("priors", "systems", "reference", "chance")

MISSING: Any = ParamInfo().default  # ir_measures' mark of a parameter that was not given


def is_relative(measure: object) -> bool:
    """Return whether a measure is one of this package's, or of another that builds on it; also after a reload."""
    return isinstance(measure, Measure) and getattr(measure, "RELATIVE_TO", None) in RELATIVE_TO


def param_value(measure: Measure, name: str, default: Any = None) -> Any:
    """Return the value of a parameter of any measure: as given, or the measure's default, or ``default``."""
    if name not in measure.SUPPORTED_PARAMS:
        return default
    value = measure[name]
    return default if value is MISSING else value


# Guess: shares. The values of these measures of ir_measures lie between 0 and 1.
# Ends with: a range in each declaration there.
SHARES = re.compile(
    "AP|Accuracy|Bpref|Compat|ERR|IPrec|Judged|P|R|RBP|RR|Rprec|Set(AP|F|P|R)|Success|alpha_nDCG|StRecall|infAP|nDCG"
)


def value_range(measure: Measure | str) -> tuple[float, float]:
    """Return the least and the greatest possible value of a query; infinite if there is none, or it is unknown."""
    try:
        parsed = parse_measure(measure)
    except ValueError:  # a table may hold what it likes
        return -math.inf, math.inf
    if SHARES.fullmatch(parsed.NAME) and not is_relative(parsed) and "gains" not in parsed.params:
        return 0.0, 1.0
    return getattr(parsed, "value_range", (-math.inf, math.inf))


def registered() -> dict[str, Measure]:
    """Return the measures of this package, and those of others that build on it, by name; aliases left out."""
    registry = ir_measures.measures.registry
    return {name: m for name, m in registry.items() if is_relative(m) and name == m.NAME}


def parse_measures(measures: Sequence[Measure | str], argument: str = "measures") -> list[Measure]:
    """Return the measures, each once, with their parameters checked."""
    if isinstance(measures, (str, Measure)) or not isinstance(measures, Iterable):
        raise ValueError(f"{argument}={brief(measures)} must be a list, such as {brief(as_list(measures))}")
    parsed: list[Measure] = []
    for measure in map(parse_measure, measures):
        if measure not in parsed:
            parsed.append(measure)
    if not parsed:
        raise ValueError("no measure is given; name one, such as NRG@10")
    return parsed


def as_list(measures: object) -> list[Any]:
    """Return the list to pass instead of a single measure, or of a string of measures; for messages."""
    if isinstance(measures, Measure):
        return [measures]
    parts: list[Any] = []
    for text in split_measures(measures) if isinstance(measures, str) else []:
        parts += trec_measures(text.strip(",")) or split_measures(text.strip(","), commas=True)
    with suppress(ValueError):
        return [str(part) for part in parts if parse_measure(part)] or ["NRG@10"]
    return ["NRG@10"]


#: Errors of Python's parser and of ir_measures for a measure that cannot be read; others are mistakes of this package.
_UNREADABLE = (
    ValueError, NameError, AssertionError, TypeError, AttributeError, SyntaxError, RecursionError, MemoryError,
)  # fmt: skip


def parse_measure(measure: Measure | str) -> Measure:
    """Return the measure that an object or a string stands for, with its parameters checked."""
    if not (isinstance(measure, Measure) or is_text(measure)):
        why = ", since it is not text" if isinstance(measure, str) else ""
        raise ValueError(f"{measure!r} is not a measure{why}; give one such as NRG@10")
    if isinstance(measure, str):
        _check_name(measure)
    try:
        parsed = measure if isinstance(measure, Measure) else read_measure(measure)
        parsed.validate_params()
    except _UNREADABLE as error:
        message = str(error) or type(error).__name__
        names_measure = isinstance(error, ValueError) and str(measure) in message
        raise ValueError(message if names_measure else explain_error(measure, message)) from None
    if not is_relative(parsed):
        check_host_measure(parsed)
    return parsed


#: A value of a parameter that is a word without quotation marks, as a shell leaves it.
_BARE_WORD = re.compile(r"([(,]\s*\w+\s*=\s*)(?!(?:True|False|None)\b)([A-Za-z_][^\s'\"(),]*)(?=\s*[,)])")


# Guess: measure strings. ``ir_measures.parse_measure`` fails on Python 3.14, where ``ast.Num`` and ``ast.Str`` are
# gone. Ends with: ``ast.Constant`` (``ir_measures-constants.patch``).
def read_measure(text: str) -> Measure:
    """Return the measure of a string, as ``ir_measures.parse_measure`` does."""
    given: dict[str, Any] = {}
    cutoff = None
    try:
        node: Any = ast.parse(text, mode="eval").body
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            node, cutoff = node.left, ast.literal_eval(node.right)
        if isinstance(node, ast.Call) and not node.args:
            given = {str(argument.arg): ast.literal_eval(argument.value) for argument in node.keywords}
            node = node.func
        registry = ir_measures.measures.registry
        if node.id not in registry:  # the string starts with a space, or Python writes its letters otherwise
            raise NameError(no_such_measure(node.id, list(registry)))
        measure = registry[node.id]
    except (SyntaxError, AttributeError, ValueError):
        quoted = _BARE_WORD.sub(r"\1'\2'", text)
        if quoted != text:
            shell = "in a shell, put double ones around the measure"
            raise ValueError(f"words need quotation marks, such as {quoted}; {shell}") from None
        raise ValueError("must be in format Measure(k1=v1, k2=v2)@c; values are literals") from None
    if cutoff is not None:
        given[measure.AT_PARAM] = cutoff
    return measure(**given)


def nearest_name(name: str, names: Sequence[str]) -> str | None:
    """Return the name most similar to this one, ignoring case; None if none is similar."""
    import difflib

    lower = [n.lower() for n in names]
    near = difflib.get_close_matches(name.lower(), lower, n=1)
    return names[lower.index(near[0])] if near else None


def no_such_measure(name: str, names: Sequence[str], rest: str = "") -> str:
    """Return a message that no measure has this name, and the likely one; ``rest`` is what followed the name."""
    if rest[:1] in ("", ".", ","):  # as trec_eval has it
        trec = trec_measures(name + rest)
        if trec:
            verb = "trec_eval's is" if len(trec) == 1 else "trec_eval's are"
            return f"no measure is called {name + rest!r}; {verb} {', '.join(map(str, trec))}"
        from pytrec_eval import supported_measures

        if name in supported_measures and not trec_measures(name):
            return f"no measure is called {name!r}; trec_eval's is one that ir_measures does not compute"
    nearest = nearest_name(name, names)
    if nearest is None:
        return f"no measure is called {name!r}; there are {', '.join(sorted(names, key=str.lower))}"
    whole = f", that is {nearest}{rest}" if rest else ""
    return f"no measure is called {name!r}; the nearest is {nearest!r}{whole}"


def trec_measures(text: str) -> list[Measure]:
    """Return the measures with trec_eval's name, such as ``ndcg_cut.10``, ``P_5`` or ``official``; none for others."""
    from pytrec_eval import supported_nicknames

    measures: list[Measure] = []
    for name in sorted(supported_nicknames.get(text, [text])):
        with suppress(ValueError):  # one that ir_measures does not have
            measures += ir_measures.parse_trec_measure(name)
    return measures


def _check_name(text: str) -> None:
    """Raise ValueError if the string does not start with the name of a measure, or is trec_eval's."""
    match = re.match(r"\w*", text[:_LONGEST])
    name = match[0] if match else ""
    registry = ir_measures.measures.registry
    rest = text[len(name) :]
    if len(text) <= _LONGEST and (not name or (name in registry and not rest.startswith("."))):
        return
    if not name or len(text) > _LONGEST:
        raise ValueError(f"{brief(text)} is not a measure; give one such as NRG@10 or nDCG@10")
    if name in registry and not trec_measures(text):
        raise ValueError(
            f"{text!r}: a cutoff follows @, such as {name}@{rest[1:] if rest[1:].isdecimal() else 10}"
        )
    raise ValueError(f"{text!r}: {no_such_measure(name, list(registry), rest)}")


_LONGEST = 10_000  # characters of a measure string; ast.parse runs out of stack on some that are longer


# Guess: messages. ir_measures says that a parameter is missing by ``invalid param cutoff=<object …``.
# Ends with: messages there that name the measure and the parameter.
def explain_error(measure: object, message: str) -> str:
    """Return a message of ir_measures about a measure, in words that name it."""
    text = str(measure)
    message = re.sub(r"invalid param (\w+)=<object.*", r"it needs the parameter \1", message)
    if message.endswith(" cutoff"):
        message += f": write {text}@10"
    return f"{brief(text)}: {message}"


_LARGEST_INT = 2**31 - 1
_DEEPEST_OF_ASPECTS = 20


# Guess: fatal parameters. pytrec_eval ends the process for a cutoff of 0, and ndeval looks at no more than 20 ranks.
# Ends with: providers that check their parameters.
def check_host_measure(measure: Measure) -> None:
    """Raise ValueError for parameters with which trec_eval ends the process, or cannot count."""
    cutoff, deepest = param_value(measure, "cutoff"), _DEEPEST_OF_ASPECTS
    of_ndeval = needs_subtopics(measure) and "cutoff" in measure.SUPPORTED_PARAMS
    if of_ndeval and not (isinstance(cutoff, int) and 1 <= cutoff <= deepest):
        raise ValueError(f"{measure} needs a cutoff from 1 to {deepest}, the deepest that ndeval knows")
    for name in ("cutoff", "rel"):
        value = param_value(measure, name)
        if isinstance(value, int) and not 1 <= value <= _LARGEST_INT:
            raise ValueError(f"{measure}: {name}={value} is not allowed; it must be from 1 to 2^31 - 1")
    gains = param_value(measure, "gains")
    if isinstance(gains, dict) and any(isinstance(n, int) and abs(n) > _LARGEST_INT for n in gains.values()):
        raise ValueError(f"{measure}: gains={gains} is not allowed; the gains must be below 2^31 in size")


# Guess: aspects. What pyndeval supports reads aspects from the qrels' column ``iteration``, and nothing else does.
# Ends with: ``iteration`` in ``Provider.qrel_inputs``.
def needs_subtopics(measure: Measure) -> bool:
    """Return whether a measure of ir_measures reads subtopics, which are in the qrels' iteration column."""
    return bool(ir_measures.providers.registry["pyndeval"].supports(measure))


def absolute_measure(name: Measure | str, argument: str = "measure") -> Measure:
    """Return a measure of a run on its own; messages name the ``argument``."""
    value = f"{argument}={brief(name)}"
    if not isinstance(name, (str, Measure)):
        raise ValueError(f"{value} is not a measure; give one such as 'nDCG@10'")
    try:
        measure = parse_measure(name)
    except ValueError as error:
        raise ValueError(f"{value} is not a measure: {error}; give one such as 'nDCG@10'") from None
    if is_relative(measure):
        wrong = "is itself relative to other runs"
    elif not any(provider.supports(measure) for provider in ir_measures.DefaultPipeline.providers):
        wrong = "is one that no provider of ir_measures computes, with these parameters"
    else:
        return measure
    raise ValueError(f"{value} {wrong}; give a measure of one run, such as 'nDCG@10'")


def split_measures(text: str, *, commas: bool = False) -> list[str]:
    """Split an argument into measures at spaces outside brackets and quotes, or at ``commas`` as well."""
    parts, depth, quote = [""], 0, ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        else:
            depth += (char in "([{") - (char in ")]}")
        if (char.isspace() or (commas and char == ",")) and not quote and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return [p for p in parts if p]
