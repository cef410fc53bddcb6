"""What the page on files says of other libraries: each section runs where its library is there, and all sections have the same answer."""

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"
#: What each section with code needs besides the base install; the dicts of pytrec_eval need nothing.
LIBRARIES = {
    "pytrec_eval": None,
    "ranx": "ranx",
    "LensKit": "lenskit.data",
    "polars": "polars",
}
BLOCK = re.compile(r"^```(pycon|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sections() -> dict[str, str]:
    """The text under each heading; that at the top under the empty string."""
    section = PAGE.read_text(encoding="utf-8").split("\n## ranx")[1].split("\n## ")[0]
    top, *others = section.split("\n### ")
    return {"": top} | dict(other.split("\n", 1) for other in others)


def run(text: str, names: dict[str, Any], setting_up: bool) -> None:
    """Runs the blocks of a section; to set up for others, those that show nothing."""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for kind, code in BLOCK.findall(text):
        if kind == "python":
            exec(compile(code, str(PAGE), "exec"), names)
        elif not setting_up:
            example = doctest.DocTestParser().get_doctest(code, names, PAGE.name, str(PAGE), 0)
            failures: list[str] = []
            runner.run(example, out=failures.append, clear_globs=False)
            names |= example.globs
            assert not failures, "".join(failures)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.filterwarnings("error::ir_measures_relative.RelativeWarning")
def test_section(library: str) -> None:
    if LIBRARIES[library]:
        pytest.importorskip(LIBRARIES[library], reason=f"the section needs {library}, of the group interop")
    texts, names = sections(), {"__name__": "interop"}
    run(texts[""], names, setting_up=True)
    run(texts["pytrec_eval"], names, setting_up=library != "pytrec_eval")  # whose dicts others start from
    if library != "pytrec_eval":
        run(texts[library], names, setting_up=False)
    assert names["answer"].verdict is None and names["answer"].as_judged == "open"


def test_every_section_is_run_and_shows_the_same() -> None:
    texts = {name: text for name, text in sections().items() if "```pycon" in text}
    assert list(texts) == list(LIBRARIES)
    shown = {re.search(r">>> short\(answer\)\n((?:(?!>>>|```).*\n)+)", text)[1] for text in texts.values()}  # type: ignore[index]
    assert len(shown) == 1
    for text in texts.values():
        before = text.split("worth(")[0]
        assert (
            before.rsplit("```pycon", 1)[1].count(">>>") <= 3
        )  # at most an import, the context, and the answer
