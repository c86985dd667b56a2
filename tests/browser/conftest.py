"""Pages of simulated jobs in a real headless Chromium."""

from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from incident_arena.analysis.judgements import Judgement, append
from incident_arena.analysis.read import read_jobs
from incident_arena.analysis.report import Report
from incident_arena.analysis.simulate import FRAPPE, MODELS, NO_FAULT, Plan, simulate
from incident_arena.cli.results import make_report
from incident_arena.cli.view import make_page
from incident_arena.wait import until

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


COMPARED = (f"{MODELS[0].name}@high", f"{MODELS[1].name}")
JUDGEMENTS: tuple[dict[str, Any], ...] = (
    {"judge": "first", "status": "scored", "category": "suspicious", "score": 61, "reasons": "It read /opt twice."},
    {"judge": "second", "status": "refused", "detail": "the judge declined"},
)
"""Of the first judged trial."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = which("chromium") or which("chromium-browser") or which("google-chrome")
    assert chromium, "these tests need Chromium: apt-get install chromium"
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield started
        started.close()


class Viewed:
    """A page that is open, and everything it should not have done."""

    def __init__(self, tab: Page, path: Path) -> None:
        self.tab = tab
        self.path = path
        self.wrong: list[str] = []
        self.asked: list[str] = []
        tab.on("console", lambda message: self.wrong.append(f"console: {message.text}"))
        tab.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        tab.on("dialog", lambda dialog: (self.wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        tab.on("popup", lambda popup: self.wrong.append(f"popup: {popup.url}"))
        tab.on("request", lambda request: self.asked.append(request.url))

    def go(self, place: str = "#/") -> Page:
        """Open the page at a place, whatever was shown before."""
        self.tab.goto("about:blank")
        self.tab.goto(self.path.as_uri() + place)
        self.tab.wait_for_selector("html[data-ready]", state="attached")
        return self.tab

    def trials(self, word: str = "") -> list[str]:
        """Places of the trials that the leaderboard lists, those whose line holds a word."""
        self.go()
        rows = self.tab.locator("#trials tbody tr").filter(has_text=word)
        return rows.locator("a.row-link").evaluate_all("links => links.map((link) => link.hash)")

    def until(self, expression: str) -> None:
        """Wait until an expression is true. Playwright's own wait evaluates text, which the page's policy forbids."""
        until(expression, lambda: (bool(self.tab.evaluate(expression)), self.tab.url), deadline_s=20)

    @property
    def width(self) -> int:
        """How wide the document is."""
        return self.tab.evaluate("document.documentElement.scrollWidth")


@pytest.fixture(scope="session")
def page_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 70 trials, all statuses and all failure classes among them."""
    root = tmp_path_factory.mktemp("view")
    plan = Plan(tasks=(*FRAPPE, NO_FAULT), models=MODELS[:2], repeats=1, odd=0.25, evidence=True, steps=5, seed=4)
    simulate(root / "jobs", plan)
    judged = read_jobs([root / "jobs"]).judged[0]
    for said in JUDGEMENTS:
        append(judged.folder.parent, Judgement(trial=judged.id, name=judged.name, rubric="r", at=1.0, **said))
    return make_page([root / "jobs"], root / "page.html").page


@pytest.fixture(scope="session")
def page_report(page_path: Path) -> Report:
    """The report of the same trials."""
    return make_report([page_path.parent / "jobs"], compare=COMPARED)


@pytest.fixture(scope="session")
def hostile_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of trials that put script, markup and control characters wherever they can."""
    root = tmp_path_factory.mktemp("hostile")
    simulate(root / "jobs", Plan(tasks=FRAPPE[:2], models=MODELS[:1], evidence=True, steps=4, hostile=True, repeats=1))
    return make_page([root / "jobs"], root / "page.html").page


@pytest.fixture
def viewed(browser: Browser, page_path: Path) -> Iterator[Viewed]:
    """The page in a window of 1280 by 800; a message of the browser or an error of the script fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    opened = Viewed(context.new_page(), page_path)
    yield opened
    context.close()
    assert opened.wrong == []


@pytest.fixture
def phone(browser: Browser, page_path: Path) -> Iterator[Viewed]:
    """The same on a phone of 390 by 844."""
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, device_scale_factor=2, has_touch=True, is_mobile=True
    )
    opened = Viewed(context.new_page(), page_path)
    yield opened
    context.close()
    assert opened.wrong == []


@pytest.fixture
def hostile(browser: Browser, hostile_path: Path) -> Iterator[Viewed]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    yield Viewed(context.new_page(), hostile_path)
    context.close()
