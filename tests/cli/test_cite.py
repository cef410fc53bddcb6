"""``cite``: BibTeX on the command line."""

import re

import pytest

from command_line import error, output, run
from ir_measures_relative.cli.cite import entries
from ir_measures_relative.context.measure_strings import registered
from ir_measures_relative.measures.measure import citations


@pytest.mark.parametrize("name", sorted(registered()))
def test_a_measure_by_name_or_with_parameters(name: str) -> None:
    expected = citations([registered()[name]])
    assert entries([name]) == entries([f"{name}(base='x'"]) == expected != []
    assert set(entries([f"{name}@10"])) <= set(expected)


def test_the_paper_of_a_base_with_that_base() -> None:
    plain, cascade, every = (
        len(entries([text])) for text in ("NRG(norm='ideal')@10", "NRG(base='ERR')@10", "NRG")
    )
    assert (plain, cascade) == (1, 2) and every >= 2


def test_several_and_all() -> None:
    assert entries(["all"]) == citations(registered().values())
    both = entries(["UniqueRel", "TaSC", "NRG"])
    assert len(both) == len(set(both)) and set(both) == set(entries(["NRG"])) | set(entries(["TaSC"]))


def test_as_a_command() -> None:
    assert output("cite", "all") == "\n\n".join(entries(["all"])) + "\n"
    text = output("cite", "TaSC(base='nDCG(rel=1)@10') NRG", "rrLP")
    assert text == "\n\n".join(entries(["TaSC", "NRG", "rrLP"])) + "\n"
    beside = output("cite", "NRG@10", "--track", "demo")
    assert beside.startswith("NRG@10 beside demo v1 (7 runs, sha256 ") and beside.endswith(
        output("cite", "NRG@10")
    )
    done = run("cite", "nDCG@10", "NRG", "AP")
    assert done.stdout == output("cite", "NRG") and "the papers of nDCG@10, AP" in done.stderr
    keys = re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE)
    assert keys[0] == "nrg2024" and len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["NGR"], "cite: no measure is called 'NGR'; the nearest is 'NRG'"),
        (["foo"], "cite: no measure is called 'foo'; there are alpha_NRG, AP_Rareness, AP_UE, MED, "),
        (
            ["nDCG@10", "AP"],
            "cite: see the documentation of ir_measures for the papers of nDCG@10, AP; here give one of",
        ),
        ([" "], "cite: no measure is named; give one such as NRG, or all"),
        ([], "the following arguments are required: MEASURE; see ir_measures_relative cite --help"),
    ],
)
def test_wrong(arguments: list[str], message: str) -> None:
    assert message in error("cite", *arguments)
