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
    """A page without room: 0.js has the details, 1.js the timelines, 2.js the transcripts."""
    monkeypatch.setattr(build, "BUDGET", 10)
    simulate(tmp_path / "jobs", Plan(tasks=FRAPPE[:1], models=MODELS[:1], repeats=1, evidence=True, steps=3, odd=0))
    built = make_page([tmp_path / "jobs"], tmp_path / "a page.html")
    assert built.files_beside == 3
    tab = browser.new_page()
    yield Viewed(tab, built.page)
    tab.close()


def beside(viewed: Viewed, number: int) -> Path:
    return viewed.path.with_name("a page.data") / f"{number}.js"


def test_the_page_needs_nothing_else(viewed: Viewed):
    viewed.go(viewed.trials()[0])
    viewed.tab.wait_for_selector(".steps")

    assert {url.partition("#")[0] for url in viewed.asked} <= {viewed.path.as_uri(), "about:blank"}


def test_files_beside_it_are_loaded(split: Viewed):
    split.go(split.trials()[0])
    split.tab.wait_for_selector(".steps .step >> nth=2")

    assert split.wrong == []
    assert split.tab.locator(".timeline .lane").count() > 5
    assert {url.rpartition("/")[2] for url in split.asked if url.endswith(".js")} == {"0.js", "1.js", "2.js"}
    assert all("/a%20page.data/" in url for url in split.asked if url.endswith(".js"))


@pytest.mark.parametrize(("number", "section"), [(1, "timeline"), (2, "transcript")])
def test_a_missing_file_is_said_and_the_rest_is_shown(split: Viewed, number: int, section: str):
    beside(split, number).unlink()
    split.go(split.trials()[0])

    assert f"a page.data/{number}.js is missing" in split.tab.locator(f"#{section} [role=alert]").inner_text()
    assert split.tab.locator("#verdict").is_visible()
    assert split.tab.locator("[role=alert]").count() == 1


def test_a_missing_folder_is_said(split: Viewed):
    shutil.rmtree(beside(split, 0).parent)
    split.go(split.trials()[0])

    assert "a page.data/0.js is missing" in split.tab.locator("main [role=alert]").inner_text()


def test_another_pages_files_are_not_shown(split: Viewed):
    beside(split, 2).write_text(beside(split, 2).read_text().replace('arenaPack("', 'arenaPack("other', 1))
    split.go(split.trials()[0])

    assert "another page" in split.tab.locator("#transcript [role=alert]").inner_text()


def test_a_damaged_page_says_so(browser: Browser, page_path: Path, tmp_path: Path):
    damaged = tmp_path / "page.html"
    damaged.write_text(page_path.read_text().replace('id="index">H4sI', 'id="index">H4sJ', 1))
    tab = browser.new_page()
    tab.goto(damaged.as_uri())

    assert "be read: " in tab.locator("[role=alert]").inner_text()
    tab.close()
