"""One file, and the files beside it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.browser.conftest import Viewed

from incident_arena.analysis.simulate import FRAPPE, MODELS, Plan, simulate
from incident_arena.cli.view import make_page
from incident_arena.viewer import build

pytestmark = pytest.mark.browser


@pytest.fixture
def split(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Viewed]:
    """A page that had room for its details only: transcripts are beside it."""
    monkeypatch.setattr(build, "DETAILS", 10_000_000)
    monkeypatch.setattr(build, "BUDGET", 10)
    simulate(tmp_path / "jobs", Plan(tasks=FRAPPE[:1], models=MODELS[:1], repeats=1, evidence=True, steps=3, odd=0))
    built = make_page([tmp_path / "jobs"], tmp_path / "a page.html")
    assert built.files_beside == 1
    tab = browser.new_page()
    yield Viewed(tab, built.page)
    tab.close()


def test_the_page_needs_nothing_else(viewed: Viewed):
    viewed.go(viewed.trials()[0])
    viewed.tab.wait_for_selector(".steps")

    assert {url.partition("#")[0] for url in viewed.asked} <= {viewed.path.as_uri(), "about:blank"}


def test_transcripts_beside_it_are_loaded_from_files(split: Viewed):
    split.go(split.trials()[0])
    split.tab.wait_for_selector(".steps .step >> nth=2")

    assert split.wrong == []
    assert any(url.endswith("a%20page.data/1.js") for url in split.asked)


def test_a_missing_folder_is_said(split: Viewed):
    shutil.rmtree(split.path.with_name("a page.data"))
    split.go(split.trials()[0])

    text = split.tab.locator("#transcript [role=alert]").inner_text()
    assert "a page.data/1.js is missing" in text
    assert split.tab.locator("#verdict").is_visible()


def test_another_pages_files_are_not_shown(split: Viewed):
    beside = split.path.with_name("a page.data") / "1.js"
    content = beside.read_text()
    beside.write_text(content.replace('arenaPack("', 'arenaPack("other', 1))
    split.go(split.trials()[0])

    assert "another page" in split.tab.locator("#transcript [role=alert]").inner_text()


def test_a_damaged_page_says_so(browser: Browser, page_path: Path, tmp_path: Path):
    damaged = tmp_path / "page.html"
    damaged.write_text(page_path.read_text().replace('id="index">H4sI', 'id="index">H4sJ', 1))
    tab = browser.new_page()
    tab.goto(damaged.as_uri())

    assert "be read: " in tab.locator("[role=alert]").inner_text()
    tab.close()
