"""The report in a browser: it works by mouse and keyboard, in light and dark, and nothing hostile runs."""

import itertools
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jinja2", reason="the report needs Jinja2, of the extra [report]")
pytest.importorskip("vl_convert", reason="the report needs vl-convert, of the extra [report]")
api = pytest.importorskip(
    "playwright.sync_api", reason="the report's browser tests need playwright (pip install playwright)"
)

from hostile import NAMES, OF_GROUP, QRELS, QUERIES, RUNS, TEXT  # noqa: E402
from ir_measures_relative import RunContext, compare, report, verdicts  # noqa: E402

pytestmark = [
    pytest.mark.slow,  # it starts a browser
    pytest.mark.filterwarnings("ignore:only .* documents are judged relevant"),
]

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MEASURES = ["nDCG@3", "NRG@3", "UniqueRel@3"]
FRIENDLY = {f"run {i}": run for i, run in enumerate(RUNS.values())}
GROUPS = {name: "one" if i < 4 else "two" for i, name in enumerate(FRIENDLY)}

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium here: install it with the system's packages")
    with api.sync_playwright() as playwright:
        try:
            found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        except api.Error as error:
            pytest.skip(f"{CHROMIUM} does not start: {error}")
        yield found
        found.close()


@pytest.fixture(scope="module")
def friendly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "friendly.html"
    return report(RunContext(FRIENDLY, groups=GROUPS), QRELS, MEASURES, path)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "hostile.html"
    context = RunContext(RUNS, groups=OF_GROUP, reference=NAMES[0])
    queries = dict.fromkeys(QUERIES, TEXT)
    return report(context, QRELS, MEASURES, path, queries=queries, title=NAMES[1], command=NAMES[2])


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    """Opens a file; whatever the console says, and whatever is asked of a network, is an error."""
    said: list[str] = []
    pages = []

    def open_it(path: Path, address: str = "", width: int = 1280, **options: Any) -> Any:
        page = browser.new_page(viewport={"width": width, "height": 900}, **options)
        pages.append(page)
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on(
            "request",
            lambda request: None if request.url.startswith(("file:", "data:")) else said.append(request.url),
        )
        page.goto(path.as_uri() + address)
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_it
    for page in pages:
        page.close()
    assert said == []


def draw_all(page: Any) -> None:
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function(
        "[...document.querySelectorAll('#sections figure .plot')].every((p) => p.querySelector('svg.marks'))"
    )


def column(page: Any, n: int) -> list[str]:
    found: list[str] = page.eval_on_selector_all(
        f"#table-of-runs tbody tr > :nth-child({n})", "cells => cells.map((cell) => cell.dataset.v)"
    )
    return found


def test_sorting_by_mouse_and_keyboard(friendly: Path, open_page: Open) -> None:
    page = open_page(friendly)
    headers = page.locator("#table-of-runs thead th")
    assert headers.nth(3).get_attribute("aria-sort") == "descending"  # the first relative measure
    assert column(page, 4) == sorted(column(page, 4), key=float, reverse=True)
    headers.nth(2).locator("button").click()
    assert column(page, 3) == sorted(column(page, 3), key=float, reverse=True)
    order = [h.get_attribute("aria-sort") for h in headers.all()]
    assert order == ["none", "none", "descending", "none", "none"]
    headers.nth(0).locator("button").focus()
    page.keyboard.press("Enter")
    assert column(page, 1) == sorted(FRIENDLY) and headers.nth(0).get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Space")
    assert column(page, 1) == sorted(FRIENDLY, reverse=True)


def test_the_picture_hover_and_click(friendly: Path, open_page: Open) -> None:
    page = open_page(friendly)
    points = page.locator("#scatter .point")
    assert points.count() == len(FRIENDLY)
    names = page.locator("#scatter .name-of-point").all_text_contents()
    assert sorted(names) == sorted(FRIENDLY)  # each has its name beside it
    boxes = [name.bounding_box() for name in page.locator("#scatter .name-of-point").all()]
    for one, other in itertools.combinations(boxes, 2):
        apart = abs(one["x"] - other["x"]) >= min(one["width"], other["width"]) - 1
        assert apart or abs(one["y"] - other["y"]) >= 0.75 * one["height"]
    point = page.locator('#scatter .point[data-run="0"]')
    point.scroll_into_view_if_needed()
    point.hover()
    tip = page.locator("#tip")
    assert "run 0" in tip.inner_text() and "NRG@3" in tip.inner_text() and "one" in tip.inner_text()
    page.select_option("#scatter-measures", label="UniqueRel@3 over nDCG@3")
    assert page.locator("#scatter text.title").all_text_contents() == [
        "effectiveness on its own (nDCG@3)",
        "added to its priors (UniqueRel@3)",
    ]
    assert page.locator("#scatter .bar-of-run").count() == 0
    page.check("#scatter-bars")
    assert page.locator("#scatter .bar-of-run").count() == len(FRIENDLY)
    for pinned in (1, 0):  # a click pins the run, and another one unpins it
        point.click()
        assert page.locator('#scatter .point.pinned[data-run="0"]').count() == pinned
    draw_all(page)
    page.locator("#shapley .mark-rect path").first.click()
    assert page.locator("#table-of-runs tr.pinned").count() == 1
    page.locator("#likeness .mark-rect path").first.click()  # a cell is of two runs
    page.wait_for_selector("#pair h2")
    assert page.evaluate("location.hash").startswith("#pair=") and page.locator("#sections").is_hidden()
    assert not re.search(r"^(null|undefined)$", page.locator("#pair").inner_text(), re.MULTILINE)
    page.go_back()
    page.wait_for_selector("#sections", state="visible")


def test_the_headline_and_what_a_measure_is(friendly: Path, open_page: Open) -> None:
    page = open_page(friendly)
    best, adds, verdicts = page.locator(".headline li").all_inner_texts()
    table = RunContext(FRIENDLY).evaluate(QRELS, MEASURES)
    top = {m: table.loc[table[m].idxmax()] for m in MEASURES}
    assert best.startswith(f"Best on its own: {top['nDCG@3']['name']}, nDCG@3 {top['nDCG@3']['nDCG@3']:.3f}.")
    newest = f"{top['NRG@3']['name']}, NRG@3 {top['NRG@3']['NRG@3']:.3f}: "
    assert adds.startswith(f"Adds most to the other runs: {newest}")
    assert re.search(
        r"relevant documents( \(.*\))? per topic in its top \d+ and in that of no other run\.", adds
    )
    assert re.match(r"Unjudged documents (could|cannot) reverse (any|\d+) of 36 orders of two runs", verdicts)
    page.locator("#table-of-runs thead button").nth(3).focus()
    tip = page.locator("#tip").inner_text()
    assert tip.startswith("Normalized Residual Gain. ") and "Relative to the priors of the run" in tip
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()


def shown_rows(page: Any) -> list[str]:
    found: list[str] = page.locator("#table-of-runs tbody tr:not([hidden]) th .name").all_inner_texts()
    return found


def test_filter_and_groups(friendly: Path, open_page: Open) -> None:
    """They change the table and all pictures at once."""
    page = open_page(friendly)
    draw_all(page)
    page.locator("#filter").press_sequentially("N 1")  # in any case
    page.wait_for_function("document.querySelector('#shown').textContent === '1 of 9 runs'")
    assert shown_rows(page) == ["run 1"]
    assert page.locator("#scatter .point:not(.dim)").count() == 1
    draw_all(page)
    page.wait_for_function("document.querySelectorAll('#shapley .mark-rect path').length === 1")
    page.locator("#filter").fill("")
    page.wait_for_function("document.querySelector('#shown').textContent === 'all 9 runs'")
    page.locator("#groups button").first.focus()
    page.keyboard.press("Enter")
    assert sorted(shown_rows(page)) == [f"run {i}" for i in range(4)]
    assert page.locator("#groups button").first.get_attribute("aria-pressed") == "true"
    draw_all(page)
    page.wait_for_function("document.querySelectorAll('#shapley .mark-rect path').length === 4")
    page.keyboard.press("Enter")
    assert len(shown_rows(page)) == 9


def test_pins_and_a_pair(friendly: Path, open_page: Open) -> None:
    """By keyboard: two runs are pinned and compared."""
    page = open_page(friendly)
    for r in (0, 1, 2):
        page.locator(f'#table-of-runs [data-pin="{r}"]').focus()
        page.keyboard.press("Enter")
    assert page.locator("#scatter .point.pinned").count() == 3
    assert page.locator('#table-of-runs [data-pin="3"]').is_disabled()  # three are the most
    assert page.locator("#pins .compare").count() == 3
    page.locator('#pins [data-pin="2"]').click()
    assert page.locator("#pins .compare").count() == 1
    page.locator("#pins .compare").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#pair svg.marks")
    assert page.evaluate("location.hash") == "#pair=run%200&with=run%201"
    assert re.search(r"Keep, add or replace\?\s+With run 0 deployed: ", page.locator("#pair").inner_text())
    assert page.locator("#pair h3").all_inner_texts()[-2:] == ["run 0 leads most on", "run 1 leads most on"]
    header = page.locator("#pair table").first.locator("thead th").all_inner_texts()
    assert [title.split("\xa0")[0] for title in header[1:3]] == ["run 0", "run 1"]
    table = compare(RunContext(FRIENDLY), QRELS, ["nDCG@3"], family="measure").set_index(["name", "other"])
    row = table.loc[("run 0", "run 1")]
    cells = page.locator("#pair table").first.locator("tbody tr").first.locator("th, td").all_inner_texts()
    assert cells[0] == "nDCG@3" and float(cells[3]) == pytest.approx(row["difference"], abs=6e-5)
    ends = [float(x) for x in cells[4].split(" to ")]
    assert ends == pytest.approx([row["ci_lower"], row["ci_upper"]], abs=6e-5)
    assert [int(x) for x in cells[5:8]] == [row["wins"], row["ties"], row["losses"]]
    verdict = verdicts(RunContext(FRIENDLY), QRELS, ["nDCG@3"]).set_index(["name", "other"])
    assert cells[8].startswith(verdict.loc[("run 0", "run 1"), "settled"])
    assert page.locator("#pair .mark-rect path").count() == len(QUERIES)
    page.click("text=the other way round")
    page.wait_for_function("location.hash.startsWith('#pair=run%201&with=run%200')")
    turned = page.locator("#pair table").first.locator("tbody tr").first.locator("td").all_inner_texts()
    assert float(turned[2]) == pytest.approx(-row["difference"], abs=6e-5)


def test_very_many_topics(tmp_path: Path, open_page: Open) -> None:
    """The picture of two runs and its table have the extreme topics."""
    rng = np.random.default_rng(0)
    docs = [f"d{i}" for i in range(15)]
    runs = {
        f"r{r}": {f"q{q}": dict(zip(rng.permutation(docs), range(15), strict=True)) for q in range(320)}
        for r in range(4)
    }
    labels = {f"q{q}": {d: 1 for d in docs[:3]} for q in range(320)}
    path = report(RunContext(runs), labels, ["nDCG@10", "NRG(norm='ideal')@10"], tmp_path / "many.html")
    page = open_page(path, "#pair=r0&with=r1")
    page.wait_for_selector("#pair svg.marks")
    page.locator("#pair details.numbers summary").click()
    page.wait_for_selector("#pair details.numbers tbody")
    differences = page.eval_on_selector_all(
        "#pair details.numbers tbody td:last-child", "cells => cells.map((c) => Number(c.dataset.v))"
    )
    assert len(differences) == 200 and differences == sorted(differences, reverse=True)
    table = RunContext(runs).evaluate(labels, ["NRG(norm='ideal')@10"], perquery=True)
    of = {name: rows["value"].to_numpy() for name, rows in table.groupby("name")}
    every = sorted(of["r0"] - of["r1"], reverse=True)
    assert differences == pytest.approx([*every[:100], *every[-100:]], abs=1e-8)
    assert "There are 320 topics." in page.locator("#pair").inner_text()


def test_every_picture_has_its_numbers_and_everything_can_be_reached_by_keyboard(
    friendly: Path, open_page: Open
) -> None:
    page = open_page(friendly)
    draw_all(page)
    for figure in page.locator("#sections figure:not([data-chart=scatter])").all():
        figure.locator("summary").click()
        figure.locator("tbody").wait_for()
        assert figure.locator("tbody tr").count() == len(FRIENDLY)
    page.locator("h1").click()
    seen = set()
    for _ in range(70):
        page.keyboard.press("Tab")
        tag, outline = page.evaluate(
            "[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineWidth]"
        )
        seen.add(tag)
        assert tag == "BODY" or float(outline.removesuffix("px")) >= 2
    assert {"A", "BUTTON", "SELECT", "INPUT", "SUMMARY"} <= seen


# The contrast of every text with what is behind it, by WCAG's formula, in the page.
CONTRAST = """() => {
  const parse = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = (c) => { const [r, g, b] = parse(c).map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (n) => { for (; n; n = n.parentElement) { const c = getComputedStyle(n).backgroundColor; if (parse(c)[3] !== 0) return c; } return "rgb(0,0,0)"; };
  const low = [];
  for (const n of document.querySelectorAll("body *")) {
    const own = [...n.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim());
    if (!own || !n.getClientRects().length) continue;
    const style = getComputedStyle(n);
    const color = n.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [a, b] = [light(color), light(behind(n))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) low.push([n.tagName, n.textContent.slice(0, 40), color, behind(n)]);
  }
  return low;
}"""


def test_contrast_in_both_schemes(friendly: Path, open_page: Open) -> None:
    page = open_page(friendly)
    draw_all(page)
    for scheme, own in (("light", "rgb(0, 114, 178)"), ("dark", "rgb(91, 180, 240)")):
        page.emulate_media(color_scheme=scheme)
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, background[4:-1].split(","))) < 150) == (scheme == "dark")
        assert page.evaluate(CONTRAST) == []
        marks = page.locator("#shapley .mark-rect path").first
        assert marks.evaluate("mark => getComputedStyle(mark).fill") == own
        page.evaluate("location.hash = '#pair=run%201&with=run%202'")
        page.wait_for_selector("#pair svg.marks")
        assert page.evaluate(CONTRAST) == []
        page.evaluate("location.hash = '#runs'")
        page.wait_for_selector("#sections", state="visible")
    page.emulate_media(media="print")  # paper is white, also in the dark
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_undecided_and_pale_cells_are_seen_in_both_schemes(friendly: Path, open_page: Open) -> None:
    """An undecided cell is as clear as its legend; what chance could explain is pale, and has a legend."""
    page = open_page(friendly)
    draw_all(page)
    figure = page.locator("figure[data-chart='verdicts-0']")
    texts = {*figure.locator("svg text").all_text_contents()}
    assert {"undecided", "significant", "could be chance"} <= texts
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        paper, undecided = page.evaluate(
            """() => ["--paper", "--undecided"].map((name) => {
              const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim().slice(1);
              const [r, g, b] = [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
                .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
              return 0.2126 * r + 0.7152 * g + 0.0722 * b; })"""
        )
        assert (max(paper, undecided) + 0.05) / (min(paper, undecided) + 0.05) > 1.5
    marks = figure.locator(".mark-rect path").evaluate_all(
        "marks => marks.map((m) => [m.getAttribute('fill'), Number(m.getAttribute('opacity') ?? 1)])"
    )
    assert {opacity for fill, opacity in marks if fill == "var(--undecided)"} <= {1}
    assert {opacity for _, opacity in marks} == {0.35, 1}


def test_the_second_measure_is_seen_on_a_phone(friendly: Path, open_page: Open) -> None:
    page = open_page(friendly, width=390)
    cell = page.locator("#table-of-runs tbody tr").first.locator("td").nth(2).bounding_box()
    assert cell["x"] + cell["width"] <= 390


def test_a_phone_does_not_scroll_sideways(hostile: Path, open_page: Open) -> None:
    page = open_page(hostile, width=390)
    draw_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for r in (0, 4):
        page.locator(f'#table-of-runs [data-pin="{r}"]').click()
    page.locator("#pins .compare").click()
    page.wait_for_selector("#pair svg.marks")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_hostile_names_do_nothing(hostile: Path, open_page: Open) -> None:
    page = open_page(hostile)
    draw_all(page)
    for summary in page.locator("#sections summary").all():
        summary.click()
    page.locator("#scatter .point").first.hover(force=True)
    page.locator("#filter").fill("<script>")
    page.locator("#table-of-runs [data-pin]:visible").first.click()
    page.locator("#filter").fill("")
    page.locator('#table-of-runs [data-pin="4"]').click()
    page.locator("#pins .compare").first.click()
    page.wait_for_selector("#pair svg.marks")
    slugs = page.evaluate(
        "JSON.parse(document.getElementById('data').textContent).runs.map((run) => run.slug)"
    )
    for a, b in itertools.pairwise(slugs):
        page.evaluate("address => { location.hash = address; }", f"#pair={a}&with={b}")
        page.wait_for_selector("#pair svg.marks")
        assert page.locator("#sections").is_hidden()
        page.evaluate("document.querySelectorAll('#pair summary').forEach((s) => s.click())")
        page.wait_for_timeout(50)
    assert page.evaluate("window.broken") is None
    assert page.evaluate("document.querySelectorAll('#pair script, #sections script, img, i').length") == 0
    names = page.eval_on_selector_all("#table-of-runs tbody bdi", "found => found.map((b) => b.textContent)")
    assert {n for n in NAMES if n.isprintable()} <= set(names)


def test_addresses_of_nothing(friendly: Path, open_page: Open) -> None:
    page = open_page(friendly)
    nowhere = [
        "#pair=run%200&with=run%200",
        "#pair=run%200&with=no",
        "#pair=%E0%A4%A&with=run%200",
        "#nothing",
    ]
    for address in [*nowhere, "#pair=run%200&with=run%201"]:
        page.evaluate("address => { location.hash = address; }", address)
        known = address not in nowhere
        page.wait_for_selector("#sections", state="hidden" if known else "visible")
        assert page.locator("#pair h2").count() == known
