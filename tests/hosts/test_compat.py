"""Each guess about a host against the hosts that are installed."""

import ast
import gc
import inspect
import pickle
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import ir_measures
import pandas as pd
import pytest
from ir_measures import AP, ERR, P, Qrel, alpha_nDCG, nDCG

import ir_measures_relative
from ir_measures_relative import NRG, RelativeWarning, RunContext
from ir_measures_relative.context.absolute import BY_PLACE, FAILURES, RELEVANT_ONLY, find_inputs
from ir_measures_relative.context.measure_strings import (
    SHARES,
    check_host_measure,
    explain_error,
    needs_subtopics,
    read_measure,
)
from ir_measures_relative.hosts import compat
from ir_measures_relative.measures.measure import RelativeMeasure, path_if_string
from ir_measures_relative.messages import NOT_THE_USERS

QRELS = {"1": {"a": 1, "b": 0, "c": 1}, "2": {"a": 0, "b": 1}, "3": {"a": 1}}
RUN = {q: {"x": 4.0, "a": 3.0, "b": 2.0, "c": 1.0} for q in QRELS}
OTHER = {q: {"b": 2.0, "c": 1.0} for q in QRELS}
ASPECTS = [Qrel("1", "a", 1, "x"), Qrel("1", "b", 1, "x"), Qrel("1", "c", 1, "y")]


GUESS = re.compile(r"^ *# Guess: ([\w ]+)\. (.*(?:\n *# .*)*)", re.MULTILINE)


def guesses() -> dict[str, str]:
    """Return what each guess says, by the name of its test: the names of ``compat``, and comments of other modules."""
    body = ast.parse(inspect.getsource(compat)).body
    names = [n.targets[0].id for n in body if isinstance(n, ast.Assign)]  # type: ignore[attr-defined]
    texts = [n.value.value for n in body if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)]
    found = [*zip(names, map(str, texts[1:]), strict=True)]
    found += [(n.name, str(ast.get_docstring(n))) for n in body if isinstance(n, ast.FunctionDef)]
    for file in Path(ir_measures_relative.__file__).parent.rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        in_file = GUESS.findall(source)
        assert len(in_file) == source.count("# Guess"), f"{file} has a guess in another form"
        found += [(title.replace(" ", "_"), text) for title, text in in_file]
    assert len(dict(found)) == len(found)
    return {f"test_{name.lower()}": text for name, text in found}


def test_each_guess_has_a_test_and_says_what_ends_it() -> None:
    assert all("Ends with: " in text for text in guesses().values())
    assert guesses().keys() == {name for name in globals() if name.startswith("test_")} - {
        "test_each_guess_has_a_test_and_says_what_ends_it",
        "test_the_patches_name_guesses",
    }


def test_the_patches_name_guesses() -> None:
    """A guess names the patch that would end it, and the page of the patches names the guess."""
    page = (Path(__file__).resolve().parents[2] / "studies" / "upstream" / "README.md").read_text(
        encoding="utf-8"
    )
    by_patch: dict[str, set[str]] = {}
    for test, text in guesses().items():
        for patch in re.findall(r"(\S+)\.patch", text.replace("`", " ")):
            by_patch.setdefault(patch, set()).add(test)
    for patch, ends in re.findall(r"^\| \[([\w-]+)\].*\| (.*) \|$", page, re.MULTILINE):
        named = {f"test_{name.lower().replace(' ', '_')}" for name in re.findall(r"`([\w ]+)`", ends)}
        assert named == by_patch.pop(patch, set()), patch
    assert not by_patch


class Asking(ir_measures.Provider):  # type: ignore[misc]
    """Supports one measure, and notes who asks for the columns of a run, and which qrels and runs come."""

    NAME = "asking"

    def __init__(self) -> None:
        super().__init__()
        self.measure = ir_measures.define(lambda qrels, run: (), "asked")
        self.answers: list[bool] = []
        self.given: list[tuple[Any, Any]] = []

    def supports(self, measure: ir_measures.Measure) -> bool:
        return bool(measure == self.measure)

    def run_inputs(self, measures: Any) -> list[str]:
        self.answers.append(compat.asked_by_pyterrier())
        return ["doc_id"]

    def _evaluator(self, measures: Any, qrels: Any) -> ir_measures.Evaluator:
        given = self.given

        class Noting(ir_measures.Evaluator):  # type: ignore[misc]
            def _iter_calc(self, run: Any) -> Any:
                given.append((qrels, run))
                return iter(())

        return Noting(measures, set(qrels["query_id"]))


@pytest.fixture
def asking() -> Iterator[Asking]:
    """A provider that ir_measures asks first."""
    provider = Asking()
    compat.default_providers().insert(0, provider)
    yield provider
    compat.default_providers().remove(provider)


def test_default_providers(asking: Asking) -> None:
    assert ir_measures.providers.registry["relative"] in compat.default_providers()
    assert ir_measures.run_inputs([asking.measure]) == ["doc_id"]


def test_priority() -> None:
    others = [p for p in compat.default_providers() if p.NAME != "relative"]
    assert all(getattr(p, "PRIORITY", 0) < compat.PRIORITY for p in others)


@pytest.mark.parametrize("text", ["NRG(base='RBP',p=0.5)@10", "nDCG(dcg='exp-log2')@5", "AP", "P(rel=2)@5"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_measure_strings(text: str) -> None:
    measure = read_measure(text)
    assert repr(measure) == text
    if sys.version_info < (3, 14):
        assert ir_measures.parse_measure(text) == measure
    elif text != "AP":
        with pytest.raises(AttributeError):
            ir_measures.util.parse_measure(text)  # not the one of tests/conftest.py


def test_paths_of_qrels(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("1 0 a 1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="unknown qrels format"):
        ir_measures.calc_aggregate([nDCG], str(path), RUN)
    with RunContext({"other": OTHER}):
        assert ir_measures.calc_aggregate([NRG @ 10], path_if_string(str(path)), RUN)[NRG @ 10] > 0


def test_names_of_measures() -> None:
    class Named(ir_measures.Measure):  # type: ignore[misc]
        __name__, NAME = "written", "supported"

    class Ours(RelativeMeasure):
        __name__ = "ours"

    provider = ir_measures.Provider()
    provider.SUPPORTED_MEASURES = [Named()]
    other = Named()
    other.__name__ = "other"
    assert repr(Named()) == "written" and provider.supports(other)
    assert Ours.NAME == "ours"


def examples() -> list[ir_measures.Measure]:
    """The measures of ir_measures that can be computed here, with a cutoff where they need one."""
    found = []
    for name, measure in ir_measures.measures.registry.items():
        if not isinstance(measure, RelativeMeasure) and name == measure.NAME:
            for example in (measure, measure @ 5) if "cutoff" in measure.SUPPORTED_PARAMS else (measure,):
                # Else it needs other parameters, or a provider that is not here.
                with suppress(AssertionError, ValueError):
                    list(example.iter_calc(ASPECTS, RUN))
                    found.append(example)
    return found


def test_shares() -> None:
    shares = [m for m in examples() if SHARES.fullmatch(m.NAME)]
    assert len(shares) > 10
    dice = random.Random(1)
    for _ in range(20):
        judged = [Qrel("1", d, dice.randrange(3), dice.choice("xy")) for d in "abcde"]
        run = {"1": {d: dice.random() for d in "abcdef"}}
        for measure in shares:
            assert all(0 <= m.value <= 1 for m in measure.iter_calc(judged, run)), measure


def test_fatal_parameters() -> None:
    pytest.importorskip("pyndeval")
    program = "import ir_measures as i; (i.nDCG @ 0).calc_aggregate({'q': {'a': 1}}, {'q': {'a': 1.0}})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode not in (0, 1)  # no exception
    with pytest.raises(AssertionError, match="up to 20"):
        (alpha_nDCG @ 21).calc_aggregate(ASPECTS, RUN)
    for measure in (nDCG @ 0, alpha_nDCG @ 21):
        with pytest.raises(ValueError, match="cutoff"):
            check_host_measure(measure)


def test_aspects() -> None:
    for measure in examples():
        values = set()
        for names in ("xxx", "xxy", "xyz", "xyy"):
            judged = [q._replace(iteration=n) for q, n in zip(ASPECTS, names, strict=True)]
            values.add(measure.calc_aggregate(judged, RUN))
        assert needs_subtopics(measure) or len(values) == 1, measure
    assert needs_subtopics(alpha_nDCG @ 5)


def test_messages() -> None:
    with pytest.raises(AssertionError) as error:
        P.validate_params()
    assert explain_error(P, str(error.value)) == "'P': it needs the parameter cutoff: write P@10"


def test_by_place() -> None:
    pytest.importorskip("pyndeval")
    flat = {q: {d: 100 + score / 8 for d, score in docs.items()} for q, docs in RUN.items()}
    seen = set()
    for measure in examples():
        name = next(p.NAME for p in compat.default_providers() if p.is_available() and p.supports(measure))
        if name in BY_PLACE:
            seen.add(name)
            assert list(measure.iter_calc(ASPECTS, RUN)) == list(measure.iter_calc(ASPECTS, flat)), measure
    assert {"pytrec_eval", "pyndeval", "judged", "msmarco"} <= seen


def test_relevant_only() -> None:
    measures = [m for m in examples() if m.NAME in RELEVANT_ONLY]
    assert {m.NAME for m in measures} == RELEVANT_ONLY
    run = {"1": {"z": 5.0, "a": 4.0, "b": 3.0, "c": 2.0, "y": 1.0, "x": 0.5}}
    stand_ins = {"1": {"1": 5.0, "a": 4.0, "3": 3.0, "c": 2.0}}
    for measure in measures:
        assert measure.calc_aggregate(QRELS, run) == measure.calc_aggregate(QRELS, stand_ins), measure


def test_one_evaluator_each() -> None:
    pytest.importorskip("pyndeval")
    measures = [alpha_nDCG(alpha=0.1) @ 5, alpha_nDCG(alpha=0.9) @ 5]
    provider = next(p for p in compat.default_providers() if p.supports(measures[0]))
    alone = {m: m.calc_aggregate(ASPECTS, RUN) for m in measures}
    assert any(provider.calc_aggregate(order, ASPECTS, RUN) != alone for order in (measures, measures[::-1]))
    assert len({find_inputs(m, provider.NAME) for m in measures}) == 2


def test_negative_labels() -> None:
    """Where it is defined: beside a label of 0 or more."""
    for measure in (nDCG, AP, P @ 2):
        values = [measure.calc_aggregate({"1": {"a": 1, "b": label, "c": 0}}, RUN) for label in (-2, -1, 0)]
        assert len(set(values)) == 1


def test_failures() -> None:
    pytest.importorskip("pyndeval")

    class Unknown(ir_measures.Measure):  # type: ignore[misc]
        __name__ = NAME = "Unknown"

    with pytest.raises(ValueError, match="^Unsupported measures"):
        ir_measures.calc_aggregate([Unknown()], QRELS, RUN)
    for measure, qrels in ((P(rel=2**31) @ 5, QRELS), (alpha_nDCG @ 21, ASPECTS), (ERR @ 5, {"1": {"a": 9}})):
        assert any(p.supports(measure) for p in compat.default_providers())
        with pytest.raises(FAILURES):
            measure.calc_aggregate(qrels, RUN)


@pytest.fixture(scope="module")
def pt() -> Any:
    return pytest.importorskip("pyterrier", reason="needs PyTerrier, of the extra [pyterrier]")


TOPICS = pd.DataFrame({"qid": list("123"), "query": "x"})
LABELS = pd.DataFrame(
    [(q, d, g) for q, docs in QRELS.items() for d, g in docs.items()], columns=["qid", "docno", "label"]
)
MIXED = LABELS.sort_values("docno", ignore_index=True)


def frame(run: dict[str, dict[str, float]]) -> pd.DataFrame:
    rows = [(q, "x", d, s, i) for q, docs in run.items() for i, (d, s) in enumerate(docs.items())]
    return pd.DataFrame(rows, columns=["qid", "query", "docno", "score", "rank"])


def pipelines(pt: Any) -> dict[str, Any]:
    return {"one": pt.Transformer.from_df(frame(RUN)), "two": pt.Transformer.from_df(frame(OTHER))}


def test_measures_equal_their_strings(pt: Any) -> None:
    class Cut(pt.Transformer):  # type: ignore[misc,name-defined]
        depth = 2

        def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
            found = frame(RUN)
            return found[found["rank"] < self.depth]

    cut = Cut()
    arguments = cut, {cut: {"depth": [1, 4]}}, TOPICS, LABELS
    with RunContext({"other": OTHER}):
        assert pt.GridSearch(*arguments, NRG @ 10).depth == 4
        for name in ("nDCG@10", "NRG@10"):
            with pytest.raises(ValueError, match=name):
                pt.GridSearch(*arguments, name)
    for measure in (nDCG @ 10, AP):
        with pytest.raises(KeyError):
            pt.GridSearch(*arguments, measure)


def test_packages_of_hosts(pt: Any) -> None:
    assert compat.PACKAGES_OF_HOSTS < NOT_THE_USERS
    with (
        RunContext({"empty": {}, "other": OTHER}),
        pytest.warns(RelativeWarning, match="run 'empty'") as caught,
    ):
        pt.Experiment([frame(RUN)], TOPICS, LABELS, [NRG @ 10, nDCG])
    assert caught[0].filename == __file__


def test_asked_by_pyterrier(pt: Any, asking: Asking) -> None:
    def stop(found: pd.DataFrame) -> pd.DataFrame:
        raise ZeroDivisionError

    system = pipelines(pt)["one"] >> pt.apply.generic(stop, transform_outputs=lambda columns: columns)
    with pytest.raises(ZeroDivisionError):
        pt.Experiment([system], TOPICS, LABELS, [asking.measure])
    assert asking.answers == [True]
    with pytest.raises(ZeroDivisionError):
        pt.Experiment([system], TOPICS, LABELS, [asking.measure], validate="ignore")
    ir_measures.run_inputs([asking.measure])
    assert asking.answers == [True, False]


def seen(pt: Any, asking: Asking, system: Any, qrels: pd.DataFrame, **options: Any) -> list[tuple[Any, Any]]:
    """The qrels and runs that ``pt.Experiment`` gives to an evaluator."""
    asking.given.clear()
    pt.Experiment([system], TOPICS, qrels, [asking.measure], names=["one"], validate="ignore", **options)
    return list(asking.given)


@pytest.mark.parametrize("plan", ["linear", "tree"])
def test_may_be_batch(pt: Any, asking: Asking, plan: str) -> None:
    options = {"plan": plan, "verbose": False}
    for qrels in (LABELS, MIXED, LABELS.iloc[2:]):
        whole = seen(pt, asking, pipelines(pt)["one"], qrels, **options)
        assert [compat.may_be_batch(judged) for judged, _ in whole] == [False]
        parts = seen(pt, asking, pipelines(pt)["one"], qrels, batch_size=1, **options)
        assert [judged["query_id"].nunique() for judged, _ in parts] == [1, 1, 1]
        assert sum(compat.may_be_batch(judged) for judged, _ in parts) >= 2  # all but the first, if sorted
    others = LABELS.replace("3", "4")
    rest = seen(pt, asking, pipelines(pt)["one"], others, batch_size=2, filter_by_topics=False)
    assert [(compat.may_be_batch(judged), len(run)) for judged, run in rest][-1] == (True, 0)
    assert not compat.may_be_batch(QRELS)


def test_pyterrier_measures(pt: Any) -> None:
    module = compat.pyterrier_measures()
    assert isinstance(module, ModuleType) and module is pt.measures
    assert module.nDCG is nDCG and module.NRG is NRG


def test_retrieval_options(pt: Any) -> None:
    assert {*compat.RETRIEVAL_OPTIONS} < inspect.signature(pt.Experiment).parameters.keys()


def test_table_options(pt: Any) -> None:
    assert {*compat.TABLE_OPTIONS} < inspect.signature(pt.Experiment).parameters.keys()


def test_comparison_columns(pt: Any) -> None:
    pytest.importorskip("statsmodels")
    table = pt.Experiment(pipelines(pt), TOPICS, LABELS, [P @ 2], baseline=0, correction="holm")
    assert list(table.columns) == ["name", "P@2", *(f"P@2 {column}" for column in compat.COMPARISON_COLUMNS)]


@pytest.mark.parametrize(
    "save_format", ["trec", pickle, (pd.read_pickle, pd.to_pickle)], ids=["trec", "module", "pair"]
)
def test_run_suffix(pt: Any, tmp_path: Path, save_format: Any) -> None:
    arguments = pipelines(pt), TOPICS, LABELS, [P @ 2]
    pt.Experiment(*arguments, save_dir=str(tmp_path), save_format=save_format)
    suffix = compat.run_suffix(save_format)
    assert {file.name for file in tmp_path.iterdir()} > {f"one.{suffix}", f"two.{suffix}"}
    assert compat.run_suffix("csv") is None
    with pytest.raises(ValueError, match="csv"):
        pt.Experiment(*arguments, save_dir=str(tmp_path), save_format="csv")


def test_summaries(pt: Any, tmp_path: Path) -> None:
    pt.Experiment(pipelines(pt), TOPICS, LABELS, [P @ 2], save_dir=str(tmp_path))
    assert {file.name for file in tmp_path.glob("*.csv")} == {*compat.SUMMARIES}


def test_brief_garbage_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    monkeypatch.setattr(compat, "gc", gc)
    gc.unfreeze()  # what tests/conftest.py froze
    seen: list[tuple[str, int]] = []
    gc.callbacks.append(lambda phase, info: seen.append((phase, gc.get_freeze_count())))
    try:
        with compat.brief_garbage_collections():
            multitest.multipletests([0.1, 0.2], method="holm")
        assert any(frozen > 1000 for _, frozen in seen) and not gc.get_freeze_count()
    finally:
        gc.callbacks.pop()
        gc.freeze()


@pytest.mark.parametrize("highlight", ["bold", "color"])
def test_highlight_only(pt: Any, highlight: str) -> None:
    pytest.importorskip("jinja2", reason="pandas' styles need jinja2")
    styled = pt.Experiment(pipelines(pt), TOPICS, LABELS, [P @ 2, nDCG], highlight=highlight)
    styled.data["nDCG"] = float("nan")
    with pytest.raises(ValueError, match="nan" if sys.version_info < (3, 14) else "not in list"):
        styled.to_html()
    compat.highlight_only(styled, {"P@2"})
    assert styled.to_html().count(":") > 0
