"""Text of trials is text, whatever it holds."""

import base64
import gzip
import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser
from tests.browser.conftest import Viewed

pytestmark = pytest.mark.browser

COUNTS = """() => ({
  images: document.images.length,
  scripts: document.querySelectorAll('body script:not([type])').length,
  handlers: [...document.querySelectorAll('*')]
    .filter((one) => one.getAttributeNames().some((name) => name.startsWith('on'))).length,
  raw: /[\\u0000-\\u0008\\u000b-\\u001f\\u202a-\\u202e]/.test(document.querySelector('main').textContent),
})"""
CLEAN = {"images": 0, "scripts": 2, "handlers": 0, "raw": False}


def test_nothing_runs_and_nothing_becomes_markup(hostile: Viewed):
    for place in hostile.trials():
        tab = hostile.go(place)
        tab.wait_for_selector("#transcript :not(.loading) >> nth=1")
        tab.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
        tab.wait_for_selector(".events table")
        assert tab.evaluate(COUNTS) == CLEAN
        assert "<script>alert(1)</script><img src=x onerror=alert(2)>" in (
            tab.locator("#transcript").text_content() or ""
        )
    assert hostile.wrong == []
    assert {url.partition("#")[0] for url in hostile.asked} <= {hostile.path.as_uri(), "about:blank"}


def test_hidden_characters_are_marked(hostile: Viewed):
    hostile.go(hostile.trials()[0])
    marks = hostile.tab.locator("#transcript .hidden-char")
    marks.first.wait_for()

    assert {"\\x07", "U+202E", "\\x00"} <= set(marks.all_text_contents())


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("a\x1b[31mb\x7f\x9b", ["\\x1b", "\\x7f", "\\x9b"]),
        ("\u200b\u2066\ufeff\U000e0041", ["U+200B", "U+2066", "U+FEFF", "U+E0041"]),
        ("x\u200dy \u2028", ["U+200D", "U+2028"]),
        ("\u26a0\ufe0f \U0001f469\u200d\U0001f4bb line\nand\ttab\r\n", []),
    ],
)
def test_marks(hostile: Viewed, text: str, marks: list[str]):
    """A page for a task that is not there names it, as any text is shown."""
    tab = hostile.go(f"#/task/{quote(text)}")

    assert tab.locator("main .hidden-char").all_text_contents() == marks


@pytest.mark.parametrize(
    "place",
    [
        "#/trial/<img src=x onerror=alert(1)>/y",
        "#/task/%3Cscript%3Ealert(1)%3C/script%3E",
        "#/trial/%E0%A4%A/x",
        "#/javascript:alert(1)",
        "#/?who=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&text=%3Cimg%20src=x%20onerror=alert(1)%3E",
    ],
)
def test_an_address_is_text_too(hostile: Viewed, place: str):
    tab = hostile.go(place)

    assert tab.evaluate(COUNTS) == CLEAN
    assert tab.locator("h1").count() == 1
    assert hostile.wrong == []


def test_names_of_folders_tasks_and_models_are_text(browser: Browser, page_path: Path, tmp_path: Path):
    """The index is rewritten so that every text in it is an attack; the page draws it all the same."""
    attack = '"><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x00'
    keep = {"status", "token", "kind", "folder", "key", "links", "failure_class", "outcome", "safety"}

    def spoil(value: object, name: str = "") -> object:
        if isinstance(value, dict):
            return {key: spoil(one, key) for key, one in value.items()}
        if isinstance(value, list):
            return [spoil(one, name) for one in value]
        return f"{attack}{value}" if isinstance(value, str) and name not in keep else value

    text = page_path.read_text()
    found = re.search(r'id="index">([A-Za-z0-9+/=]+)<', text)
    assert found
    index = spoil(json.loads(gzip.decompress(base64.b64decode(found[1]))))
    spoiled = tmp_path / "page.html"
    packed = base64.b64encode(gzip.compress(json.dumps(index).encode())).decode()
    spoiled.write_text(text.replace(found[1], packed))

    viewed = Viewed(browser.new_page(), spoiled)
    viewed.go()
    viewed.tab.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    viewed.until("document.querySelectorAll('.more-tables table').length > 5")
    assert viewed.tab.evaluate(COUNTS) == CLEAN
    viewed.tab.locator("#trials a.row-link").first.click()
    viewed.tab.wait_for_selector("#verdict")
    assert viewed.tab.evaluate(COUNTS) == CLEAN
    assert "\x00" not in viewed.tab.title()
    assert "\u202e" not in viewed.tab.title()
    assert viewed.wrong == []
    viewed.tab.close()


def test_the_policy_stops_what_would_get_in(hostile: Viewed):
    """Were a handler, a script or a style to get into the page, it would not run: this breaks in on purpose."""
    tab = hostile.go()
    tab.evaluate("""() => {
      const box = document.createElement('div');
      box.innerHTML = '<img src=x onerror="window.broken = 1"><a href="javascript:window.broken=2">x</a>';
      document.body.append(box);
      box.querySelector('a').click();
    }""")
    tab.wait_for_timeout(200)

    assert tab.evaluate("window.broken") is None
    assert any("Content Security Policy" in one for one in hostile.wrong)
