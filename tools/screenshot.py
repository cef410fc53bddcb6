"""``python -m tools.screenshot docs/pictures/report.png``: the first screen of the report of the demo."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from ir_measures_relative import RunContext, demo, report


def main(path: str) -> None:
    """Needs playwright and a Chromium of the system."""
    from playwright.sync_api import sync_playwright

    context = RunContext(demo.runs(), groups=demo.GROUPS)
    measures = ["nDCG@10", "NRG(norm='ideal')@10", "UniqueRel@10"]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = report(context, demo.generate().qrels, measures, Path(folder) / "report.html")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1280, "height": 1100})
        tab.goto(page.as_uri())
        tab.wait_for_selector("html[data-ready]")
        tab.screenshot(path=path)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
