"""What modules add to a table is there when it is first read, and an error says what is missing."""

import sys

import pytest

from ir_measures_relative.data import registry
from ir_measures_relative.data.registry import Registry, fill


@pytest.fixture(autouse=True)
def empty(monkeypatch):
    monkeypatch.setattr(registry, "_ENTRIES", {})
    monkeypatch.setattr(registry, "_WAITING", {})


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Writes modules of a package ``adds_entries`` that is imported when asked for."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "adds_entries").mkdir()

    def write(**modules):
        for name, text in {"__init__": "", **modules}.items():
            (tmp_path / "adds_entries" / f"{name}.py").write_text(text)

    yield write
    for name in [name for name in sys.modules if name.partition(".")[0] == "adds_entries"]:
        del sys.modules[name]


def adds(key, value):
    return f"from ir_measures_relative.data.registry import Registry\nRegistry('colours').register({key!r})({value!r})\n"


def test_modules_are_imported_when_the_registry_is_read(package):
    package(red=adds("red", 1), blue=adds("blue", 2))
    colours: Registry[str, int] = Registry("colours")
    fill({"colours": [".red", ".blue"]}, "adds_entries")
    assert "adds_entries.red" not in sys.modules
    assert dict(colours) == {"red": 1, "blue": 2}
    assert "adds_entries.red" in sys.modules


@pytest.mark.parametrize("read", [len, list, lambda table: table["red"], lambda table: "red" in table])
def test_every_way_to_read_imports(package, read):
    package(red=adds("red", 1))
    fill({"colours": ["adds_entries.red"]})
    assert read(Registry("colours"))


def test_a_module_may_be_named_twice_and_after_the_first_use(package):
    package(red=adds("red", 1), blue=adds("blue", 2))
    colours: Registry[str, int] = Registry("colours")
    fill({"colours": ["adds_entries.red", "adds_entries.red"]})
    assert list(colours) == ["red"]
    fill({"colours": ["adds_entries.blue", "adds_entries.red"]})
    assert list(colours) == ["red", "blue"]


def test_one_entry_under_two_keys():
    colours: Registry[str, int] = Registry("colours")
    assert colours.register("red", "crimson")(1) == 1
    assert dict(colours) == {"red": 1, "crimson": 1}


def test_registries_do_not_share_entries(package):
    package(red=adds("red", 1))
    fill({"colours": ["adds_entries.red"]})
    assert not Registry("shapes")
    assert "adds_entries.red" not in sys.modules


def test_a_missing_key_is_answered_by_those_there_are():
    colours: Registry[str, int] = Registry("colours")
    colours.register("red")(1)
    with pytest.raises(KeyError, match=r"colours: no 'green'; there are 'red'"):
        colours["green"]
    with pytest.raises(KeyError, match="shapes: no 'square'; there are none"):
        Registry("shapes")["square"]


def test_a_module_that_fails_is_named_and_tried_again(package):
    package(red="import no_such_module_anywhere")
    colours: Registry[str, int] = Registry("colours")
    fill({"colours": ["adds_entries.red"]})
    for _ in range(2):
        with pytest.raises(ImportError, match=r"colours: adds_entries.red") as raised:
            colours["red"]
        assert raised.value.name == "adds_entries.red"
