"""What a person sees: the first screen of a failure, every trial, a phone, dark and light."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.browser.conftest import Viewed

from incident_arena.analysis.pictures import pictures
from incident_arena.analysis.report import Report
from incident_arena.analysis.simulate import FRAPPE, MODELS, Plan, simulate
from incident_arena.cli.view import make_page
from incident_arena.formats.verdict import CLASSES

pytestmark = pytest.mark.browser


def first_screen(viewed: Viewed) -> str:
    """Text of the decision that is inside the window without scrolling."""
    return viewed.tab.evaluate("""() => [...document.querySelectorAll('.decision h2, .decision .rows > div')]
      .filter((one) => one.getBoundingClientRect().bottom <= innerHeight).map((one) => one.innerText).join('\\n')""")


def check_first_screen(viewed: Viewed, failure: str) -> None:
    viewed.go(viewed.trials(f"failed {failure}")[0])
    text = first_screen(viewed)

    assert f"Failed: {failure}" in text
    for word in ("Decided by", "Expected", "Seen", "When", "UTC)"):
        assert word in text


@pytest.mark.parametrize("failure", CLASSES)
def test_a_failures_first_screen_says_all(viewed: Viewed, failure: str):
    check_first_screen(viewed, failure)


@pytest.mark.parametrize("failure", CLASSES)
def test_a_phones_first_screen_says_all_too(phone: Viewed, failure: str):
    check_first_screen(phone, failure)


def test_every_trial_draws(viewed: Viewed):
    places = viewed.trials()
    assert len(places) == 70
    for place in places:
        tab = viewed.go(place)
        assert tab.locator("#verdict h2").inner_text().split(":")[0].split()[-1] in {"Passed", "Failed", "judged"}
        tab.wait_for_selector("#transcript [aria-busy]", state="detached")


def test_an_unjudged_trial_says_why(viewed: Viewed):
    viewed.go(viewed.trials("inadmissible")[0])

    assert "Not judged: inadmissible" in viewed.tab.locator("#verdict").inner_text()
    assert viewed.tab.locator("#verdict .decision p").first.inner_text()


def test_what_other_policies_make_of_a_trial_stands_beside_its_gates(viewed: Viewed):
    def figures(place: str) -> str:
        viewed.go(place)
        return viewed.tab.locator("#verdict .figures").inner_text()

    durable = figures(viewed.trials("failed not durable")[0])
    assert "The paper\u2019s gates, declaring required" in durable
    assert "safety fail, reward 0" in durable
    undeclared = [figures(place) for place in viewed.trials("failed never declared")]
    assert any("Our gates, declaring recorded\noutcome pass, safety pass, reward 1" in text for text in undeclared)
    assert "declaring" not in figures(viewed.trials("passed")[0])


def test_nothing_overflows_a_phone(phone: Viewed):
    viewed = phone
    failed, passed = viewed.trials("failed")[0], viewed.trials("passed")[0]
    for place in ("#/", failed, passed, "#/task/frappe%2Fdesk-and-queue-oom", "#/compare"):
        viewed.go(place)
        viewed.tab.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
        viewed.tab.wait_for_timeout(150)
        assert viewed.width <= 390, place


@pytest.mark.parametrize(
    ("place", "table", "figure"),
    [
        ("#/", "Models (simulated)", "Pass@1, 95 %"),
        ("#/compare", "Pass@1", "Pass@1, 95 %"),
        ("#/task/frappe%2Fdesk-and-queue-oom", "Pass rate", "Pass rate"),
        ("#/", "Trials", "Result"),
    ],
)
def test_a_phone_shows_the_main_figure_at_once(phone: Viewed, place: str, table: str, figure: str):
    """Header and figure are inside the window before anything is scrolled."""
    phone.go(place)
    head = phone.tab.get_by_role("group", name=f"{table}, table").get_by_role("button", name=figure, exact=True)
    number = head.evaluate("one => one.closest('th').cellIndex")
    cell = phone.tab.get_by_role("group", name=f"{table}, table").locator("tbody tr >> nth=0 >> *").nth(number)
    for one in (head, cell):
        box = one.bounding_box()
        assert box
        assert 0 <= box["x"] < box["x"] + box["width"] <= 390


def test_a_phone_reaches_every_header_and_keeps_the_rows_name(phone: Viewed):
    """Each table scrolls in its own box as far as its last header, and what names a row stays in view."""
    for place in ("#/", "#/compare", "#/task/frappe%2Fdesk-and-queue-oom"):
        phone.go(place)
        phone.tab.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
        phone.tab.wait_for_timeout(100)
        reached = phone.tab.evaluate("""() => [...document.querySelectorAll('.scroll:has(table.data)')].map((box) => {
          const heads = [...box.querySelectorAll('thead tr > *')];
          const inside = heads.map((head) => {
            head.scrollIntoView({ block: 'center', inline: 'end' });
            const { left, right } = head.getBoundingClientRect();
            return left >= 0 && right <= innerWidth;
          });
          const first = box.querySelector('tbody tr > *');
          const { left, right } = first.getBoundingClientRect();
          const scrolls = box.scrollWidth > box.clientWidth;
          return [box.getAttribute('aria-label'), inside.every(Boolean), left >= 0 && (right < 215 || !scrolls)];
        })""")

        assert len(reached) > 2
        assert [one for one in reached if not (one[1] and one[2])] == []
        assert phone.width <= 390


def test_judges_of_a_trial_are_shown_with_category_and_reason(viewed: Viewed, page_report: Report):
    row = next(one for one in page_report.trials if one.status == "judged")
    tab = viewed.go(f"#/trial/{row.job}/{row.trial}")
    lines = tab.locator("#judges tbody tr").evaluate_all(
        "rows => rows.map((row) => [...row.children].map((cell) => cell.innerText.trim()))"
    )

    assert [[word.replace("? ", "").replace("\N{WHITE CIRCLE} ", "") for word in line] for line in lines] == [
        ["first", "suspicious", "61", "It read /opt twice."],
        ["second", "refused", "\N{EN DASH}", "the judge declined"],
    ]
    assert "never part of the reward" in tab.locator("#judges").inner_text()
    other = next(one for one in page_report.trials if one.status == "judged" and one.trial != row.trial)
    assert viewed.go(f"#/trial/{other.job}/{other.trial}").locator("#judges").count() == 0


def test_pass_hat_k_stands_with_its_interval(viewed: Viewed, page_report: Report):
    tab = viewed.go()
    box = tab.get_by_role("group", name="Pass^k (simulated), table")
    heads = box.locator("thead th").all_inner_texts()
    row = next(one for one in page_report.pass_hat_k if one.k == 3)
    line = box.locator("tbody tr", has_text=row.who).locator("td")
    assert row.interval
    low, high = row.interval.low, row.interval.high

    assert line.nth(heads.index("3") - 1).inner_text().split()[:3] == [
        f"{100 * row.value:.1f}",
        "%",
        f"{100 * low:.1f}\N{EN DASH}{100 * high:.1f}",
    ]


def test_a_cost_that_the_agent_reported_is_marked(viewed: Viewed, page_report: Report):
    row = next(one for one in page_report.trials if one.status == "judged")
    assert (row.cost_source, row.cost is None) == ("agent", False)
    tab = viewed.go()
    heads = tab.locator("#trials thead th").all_inner_texts()
    place = next(number for number, head in enumerate(heads) if head.startswith("Cost"))
    line = tab.locator("#trials tbody tr").filter(has=tab.locator(f"a[href='#/trial/{row.job}/{row.trial}']"))
    shown = f"${row.cost:.2f}"

    assert line.locator("> *").nth(place).inner_text() == f"{shown}\N{NARROW NO-BREAK SPACE}\N{DAGGER}"
    tab = viewed.go(f"#/trial/{row.job}/{row.trial}")
    assert f"{shown}, as the agent reported" in tab.locator("#verdict").inner_text()


def test_the_papers_figures_are_drawn(viewed: Viewed, page_report: Report):
    tab = viewed.go()
    tab.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    viewed.until("document.querySelectorAll('.picture svg').length === 4")
    titles = tab.locator(".picture h3").all_text_contents()

    assert titles == [one.title for one in pictures(page_report)]
    assert len(titles) == 4
    best = page_report.ranking[0]
    assert f"{best.pass_at_1:.3f}, {best.tasks} tasks" in (tab.locator(".picture svg").first.text_content() or "")


@pytest.mark.parametrize(("scheme", "dark"), [("dark", True), ("light", False)])
def test_the_systems_scheme_is_taken(viewed: Viewed, scheme: str, dark: bool):  # noqa: FBT001 - a parameter
    viewed.tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    viewed.go()

    assert (luminance(viewed) < 60) == dark


def test_the_theme_can_be_chosen(viewed: Viewed):
    viewed.go()
    seen = []
    for _ in range(3):
        viewed.tab.keyboard.press("d")
        seen.append(luminance(viewed) < 60)

    assert seen == [False, True, False]


def luminance(viewed: Viewed) -> float:
    colour = viewed.tab.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(float(part) for part in colour.strip("rgb()").split(",")) / 3


def test_the_leaderboard_sorts_and_filters(viewed: Viewed):
    tab = viewed.go()
    column = tab.locator("#trials th button", has_text="Agent time")
    column.click()
    assert tab.locator("#trials th[aria-sort=descending]").inner_text().startswith("Agent time")
    tab.locator("#trials select").first.select_option("passed")
    words = tab.locator("#trials tbody .badge").all_inner_texts()

    assert words
    assert all("passed" in word for word in words)
    assert f"{len(words)} of 70 trials" in tab.locator("#trials [role=status]").inner_text()
    tab.fill("#find", "no such thing")
    assert tab.locator("#trials tbody tr").count() == 0


def test_the_chart_is_drawn(viewed: Viewed):
    viewed.go(viewed.trials("passed")[0])
    viewed.tab.wait_for_selector(".uplot canvas")
    drawn = viewed.tab.evaluate("""() => { const canvas = document.querySelector('.uplot canvas');
      const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      let painted = 0; for (let at = 3; at < data.length; at += 4) painted += data[at] > 0; return painted; }""")

    assert drawn > 3000


def test_trials_of_one_name_in_jobs_of_one_name_are_told_apart(browser: Browser, tmp_path: Path):
    for number, seed in enumerate((1, 2)):
        plan = Plan(tasks=FRAPPE[:1], models=MODELS[:1], repeats=1, seed=seed, odd=0, limit=1, steps=0)
        simulate(tmp_path / str(number), plan)
    [first] = (tmp_path / "0").glob("*/*__*")
    [second] = (tmp_path / "1").glob("*/*__*")
    second.rename(second.with_name(first.name))
    result = second.with_name(first.name) / "result.json"
    result.write_text(result.read_text().replace(second.name, first.name))
    viewed = Viewed(browser.new_page(), make_page([tmp_path / "0", tmp_path / "1"], tmp_path / "page.html").page)
    places = viewed.trials()
    shown = [viewed.go(place).locator("#about").inner_text() for place in places]
    viewed.tab.close()

    assert len(set(places)) == 2
    assert shown[0].partition("Started")[2] != shown[1].partition("Started")[2]
