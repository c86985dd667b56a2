"""Everything by keyboard, and what a screen reader is told."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from tests.browser.conftest import Viewed

pytestmark = pytest.mark.browser


def focused(viewed: Viewed) -> str:
    return viewed.tab.evaluate(
        "document.activeElement.id || document.activeElement.className || document.activeElement.tagName"
    )


def test_from_the_leaderboard_to_a_trial_and_on(viewed: Viewed):
    places = viewed.trials()
    tab = viewed.go()
    tab.keyboard.press("j")
    tab.keyboard.press("j")
    tab.keyboard.press("k")
    tab.keyboard.press("j")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#verdict")
    assert tab.evaluate("location.hash") == places[1]
    viewed.until("document.activeElement.tagName === 'H1'")
    tab.keyboard.press("n")
    viewed.until(f"location.hash === {places[2]!r}")
    tab.keyboard.press("p")
    viewed.until(f"location.hash === {places[1]!r}")
    tab.wait_for_selector("#verdict")
    tab.keyboard.press("t")
    viewed.until("location.hash.startsWith('#/task/')")
    tab.keyboard.press("l")
    viewed.until("location.hash === '#/'")


def test_numbers_lead_to_sections(viewed: Viewed):
    tab = viewed.go(viewed.trials("passed")[1])  # no judge was asked about it
    for number, section in enumerate(
        ("verdict", "timeline", "checks", "rates", "scope", "transcript", "about"), start=1
    ):
        tab.keyboard.press(str(number))
        assert focused(viewed) == f"{section}-title"


def test_the_timeline_is_read_by_arrows(viewed: Viewed):
    tab = viewed.go(viewed.trials("passed")[0])
    tab.locator(".timeline").focus()
    readout = tab.locator(".readout")
    before = tab.locator(".lane-value").all_inner_texts()
    tab.keyboard.press("ArrowRight")
    first = readout.inner_text()
    tab.keyboard.press("Shift+ArrowRight")
    assert readout.inner_text() != first
    assert tab.locator(".lane-value").all_inner_texts() != before
    tab.keyboard.press("]")
    assert tab.locator(".readout .near").count() > 0
    viewed.until("document.getElementById('said').textContent.includes('UTC')")
    whole = tab.locator(".axis .tick").all_inner_texts()
    tab.keyboard.press("+")
    tab.keyboard.press("+")
    assert tab.locator(".axis .tick").all_inner_texts() != whole
    tab.keyboard.press("0")
    assert tab.locator(".axis .tick").all_inner_texts() == whole
    tab.keyboard.press("Escape")
    assert tab.locator(".lane-value").all_inner_texts() == before


def test_a_phase_can_be_shown_alone(viewed: Viewed):
    tab = viewed.go(viewed.trials("passed")[0])
    whole = tab.locator(".axis .tick").all_inner_texts()
    agent = tab.get_by_role("button", name="Agent", exact=True)
    agent.focus()
    tab.keyboard.press("Enter")

    assert agent.get_attribute("aria-pressed") == "true"
    assert tab.locator(".phases [aria-pressed=true]").all_inner_texts() == ["Agent"]
    assert tab.locator(".axis .tick").all_inner_texts() != whole
    tab.get_by_role("button", name="All", exact=True).click()
    assert tab.locator(".axis .tick").all_inner_texts() == whole


def test_keys_are_listed_and_typing_is_left_alone(viewed: Viewed):
    tab = viewed.go()
    tab.keyboard.press("?")
    assert tab.locator("dialog[open] kbd").count() > 10
    tab.keyboard.press("Escape")
    assert tab.locator("dialog[open]").count() == 0
    tab.keyboard.press("/")
    tab.keyboard.type("jdl?")
    assert tab.input_value("#find") == "jdl?"
    assert tab.locator("dialog[open]").count() == 0


def test_skip_link_comes_first_and_focus_shows(viewed: Viewed):
    tab = viewed.go()
    tab.keyboard.press("Tab")
    assert focused(viewed) == "skip"
    box = tab.locator("#skip").bounding_box()
    assert box
    assert box["y"] >= 0
    tab.keyboard.press("Enter")
    assert focused(viewed) == "main"
    tab.keyboard.press("Tab")
    style = tab.evaluate("getComputedStyle(document.activeElement).outline")
    assert style.endswith("solid 2px")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "what",
    [
        "#/",
        "#/task/frappe%2Fdesk-and-queue-oom",
        "failed",
        "passed",
        "inadmissible",
        "judged",
        "#/compare",
        "#/compare?a=simulated-amber&b=simulated-amber",
        "#/?who=nobody",
    ],
)
def test_axe_finds_nothing(viewed: Viewed, scheme: str, what: str):
    viewed.tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    # The first trial has judges.
    viewed.go(what if what.startswith("#") else viewed.trials("" if what == "judged" else what)[0])
    viewed.tab.wait_for_timeout(200)
    found = Axe().run(viewed.tab)

    assert found.violations_count == 0, found.generate_report()
