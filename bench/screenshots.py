"""Screenshots of a results page for the documentation.

`.venv/bin/python bench/screenshots.py PAGE [FOLDER]` opens a page that `arena view` made and writes leaderboard, task,
a failed and a passed trial, a phone's width and dark into FOLDER (docs/screenshots). Needs Chromium.
"""

import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 960}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True}
PREFERRED = ("not durable", "declared out of bounds", "cause or damage left", "off-list change", "never declared")


def shoot(browser: Browser, page: Path, place: str, out: Path, context: dict[str, Any], *, whole: bool = False) -> None:
    """One screenshot of a place in the page."""
    window = browser.new_context(**context)
    tab = opened(window.new_page(), page, place)
    tab.screenshot(path=out, full_page=whole)
    window.close()
    print(out)


def opened(tab: Page, page: Path, place: str) -> Page:
    """The page at a place, drawn."""
    tab.goto(page.as_uri() + place)
    tab.wait_for_selector("html[data-ready]", state="attached")
    if place.startswith("#/trial"):
        tab.wait_for_selector("#transcript [aria-busy]", state="detached")
        tab.evaluate(
            "document.querySelectorAll('.step').forEach((one) => { one.style.contentVisibility = 'visible'; })"
        )
    tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return tab


def places(browser: Browser, page: Path) -> dict[str, str]:
    """Where a failed trial, a passed one and a task are."""
    tab = opened(browser.new_page(), page, "#/")
    rows = tab.locator("#trials tbody tr").evaluate_all(
        "rows => rows.map((row) => [row.innerText, row.querySelector('a').hash])"
    )
    tab.close()
    failed = [place for word in PREFERRED for text, place in rows if f"failed {word}" in text]
    passed = [place for text, place in rows if "passed" in text]
    tab = opened(browser.new_page(), page, (failed or passed)[0])
    task = tab.locator("#crumbs a").last.evaluate("link => link.hash")
    tab.close()
    return {"failed": (failed or passed)[0], "passed": (passed or failed)[0], "task": task}


def main() -> None:
    """Write them all."""
    page, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2] if sys.argv[2:] else "docs/screenshots")
    out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        found = places(browser, page)
        shoot(browser, page, "#/", out / "leaderboard.png", DESK)
        shoot(browser, page, found["task"], out / "task.png", DESK)
        shoot(browser, page, found["failed"], out / "failed.png", DESK, whole=True)
        shoot(browser, page, found["passed"], out / "passed.png", DESK)
        shoot(browser, page, found["failed"], out / "phone.png", PHONE)
        shoot(browser, page, found["failed"], out / "dark.png", {**DESK, "color_scheme": "dark"})
        browser.close()


if __name__ == "__main__":
    main()
