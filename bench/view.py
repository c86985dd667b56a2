"""How long a page of many trials takes to make and to open, and how large it is.

`.venv/bin/python bench/view.py [TRIALS]` simulates that many trials (3,000) with evidence and transcripts, makes their
page, opens it from its file in headless Chromium five times, and opens a trial. Exits 1 when the page of 3,000 trials
exceeds 15 MB, its median opening 2 s, or a trial 2 s. Needs Chromium; times depend on what else the machine does.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from incident_arena.analysis.simulate import Plan, simulate
from incident_arena.cli.view import make_page

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
OPENINGS = 5
PAGE_BYTES = 15_000_000
OPEN_S = 2.0
READY = "html[data-ready]"


def opened(browser: Browser, page: Path) -> tuple[float, float]:
    """Seconds from a blank tab to the drawn leaderboard, and from there to a drawn trial."""
    tab = browser.new_page()
    started = time.monotonic()
    tab.goto(page.as_uri())
    tab.wait_for_selector(READY, state="attached")
    seconds = time.monotonic() - started
    started = time.monotonic()
    tab.locator("a.row-link").last.click()
    tab.wait_for_selector("#verdict")
    trial = time.monotonic() - started
    tab.close()
    return seconds, trial


def main() -> int:
    """Print the figures."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        repeats = max(3, -(-trials // 960))
        simulate(root / "jobs", Plan(evidence=True, steps=30, limit=trials, repeats=repeats))
        started = time.monotonic()
        built = make_page([root / "jobs"], root / "page.html")
        made = time.monotonic() - started
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
            times = [opened(browser, built.page) for _ in range(OPENINGS)]
            browser.close()
    page, trial = (statistics.median(one) for one in zip(*times, strict=True))
    print(f"trials {built.trials}")
    print(f"made in {made:.1f} s")
    print(
        f"page {built.page_bytes / 1e6:.2f} MB, {built.files_beside} files beside it, {built.bytes_beside / 1e6:.2f} MB"
    )
    print(f"opens in {page:.2f} s (median of {OPENINGS}: {', '.join(f'{one:.2f}' for one, _ in times)})")
    print(f"a trial opens in {trial:.2f} s")
    return int(built.page_bytes > PAGE_BYTES or page > OPEN_S or trial > OPEN_S)


if __name__ == "__main__":
    sys.exit(main())
