"""Two configurations side by side: the report's own figures, refusals, the keyboard, the address."""

import re

import pytest
from tests.browser.conftest import COMPARED, Viewed

from incident_arena.analysis.report import Report

pytestmark = pytest.mark.browser
AMBER, BIRCH = "simulated-amber", "simulated-birch"
A, B = COMPARED
PLACE = f"#/compare?a={A.replace('@', '%40')}&b={B}"


def cells(viewed: Viewed, label: str) -> list[list[str]]:
    """The lines of a table."""
    rows = viewed.tab.get_by_role("group", name=f"{label}, table").locator("tbody tr")
    return rows.evaluate_all("rows => rows.map((row) => [...row.children].map((cell) => cell.innerText.trim()))")


def numbers(text: str) -> list[float]:
    plain = text.replace("\N{MINUS SIGN}", "-").replace("\N{EN DASH}", " ")
    return [float(one) for one in re.findall(r"-?\d+(?:\.\d+)?", plain)]


def percent(value: float) -> float:
    return pytest.approx(100 * value, abs=0.051)  # type: ignore[return-value]


def test_figures_are_those_of_the_reports_comparison(viewed: Viewed, page_report: Report):
    viewed.go(PLACE)
    assert page_report.comparison
    row = page_report.comparison.result
    assert row.interval
    shown = numbers(viewed.tab.locator(".difference").inner_text())

    assert shown == [percent(row.difference), 95, percent(row.interval.low), percent(row.interval.high), row.tasks]
    caption = numbers(viewed.tab.locator(".difference ~ .caption").inner_text())
    assert caption[:3] == [row.tasks, percent(row.rate_a), percent(row.rate_b)]
    assert caption[3] == pytest.approx(row.p_paired, abs=0.0006)


def test_each_task_is_there_with_both_rates(viewed: Viewed, page_report: Report):
    viewed.go(PLACE)
    assert page_report.comparison
    want = {
        row.task.partition("/")[2]: [percent(row.rate_a), percent(row.rate_b), percent(row.difference)]
        for row in page_report.comparison.tasks
    }

    shown = {}
    for task, one, other, difference in cells(viewed, "Tasks"):
        if difference != "\N{EN DASH}":
            shown[task] = [numbers(one)[0], numbers(other)[0], numbers(difference)[0]]
    assert shown == want


def test_pass_at_1_gates_and_classes_are_the_reports(viewed: Viewed, page_report: Report):
    viewed.go(f"#/compare?a={AMBER}&b={BIRCH}")
    main = {row.who: row for row in page_report.main}
    for place, who in enumerate((AMBER, BIRCH)):
        row, line = main[who], cells(viewed, "Pass@1")[place]
        assert row.interval
        assert numbers(line[1]) == [percent(row.pass_at_1), percent(row.interval.low), percent(row.interval.high)]
        assert [int(one) for one in line[2:5]] == [row.tasks, row.trials, row.passed]
    gates = [row for row in page_report.gates if row.mapping == "ours"]
    both = {line[0]: [numbers(cell)[0] for cell in line[1:]] for line in cells(viewed, "Gates")}
    for label, key in {"Pass/Pass": "pass_pass", "Fail/Pass": "fail_pass", "Fail/Fail": "fail_fail"}.items():
        assert sum(both[label]) == sum(getattr(row, key) for row in gates)
    counted = {(row.who, row.failure_class): [row.exclusive, row.inclusive] for row in page_report.failures}
    for name, one, other in cells(viewed, "Failure classes"):
        assert [numbers(one), numbers(other)] == [counted[AMBER, name], counted[BIRCH, name]]


def test_it_says_that_the_trials_are_simulated(viewed: Viewed):
    assert viewed.go("#/compare").locator("h1").inner_text() == "Comparison (simulated)"


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        (AMBER, AMBER, "both sides are the same trials"),
        (AMBER, f"{AMBER}@high", "they share"),
        ("nobody", BIRCH, "no judged trial goes by nobody"),
    ],
)
def test_what_can_not_be_compared_is_refused(viewed: Viewed, a: str, b: str, why: str):
    viewed.go(f"#/compare?a={a.replace('@', '%40')}&b={b.replace('@', '%40')}")

    assert f"{a} and {b} can\N{RIGHT SINGLE QUOTATION MARK}t be compared: {why}" in (
        viewed.tab.locator("main [role=alert]").inner_text()
    )
    assert viewed.tab.locator("main table").count() == 0


def test_sides_are_chosen_swapped_and_undone(viewed: Viewed):
    tab = viewed.go()
    tab.keyboard.press("c")
    viewed.until("document.querySelector('#side-a')")
    first = tab.locator(".difference .estimate").inner_text()
    tab.locator("#side-b").select_option(A)
    viewed.until("document.querySelector('main [role=alert]')")
    tab.locator("#side-a").focus()
    tab.locator("#side-a").select_option(BIRCH)
    viewed.until("document.querySelector('.difference')")
    assert tab.evaluate("location.hash") == f"#/compare?a={BIRCH}&b={A}".replace("@", "%40")
    assert tab.evaluate("document.activeElement.id") == "side-a"
    before = numbers(tab.locator(".difference").inner_text())
    tab.locator("#swap").focus()
    tab.keyboard.press("Enter")
    viewed.until(f"document.querySelector('#side-a').value === {A!r}")
    after = numbers(tab.locator(".difference").inner_text())
    assert after[0] == -before[0]
    assert after[2:4] == [-before[3], -before[2]]
    assert tab.evaluate("document.activeElement.id") == "swap"
    for _ in range(3):
        tab.go_back()
    viewed.until(f"document.querySelector('#side-a').value === {AMBER!r} && document.querySelector('.difference')")
    assert tab.evaluate("location.hash") == "#/compare"
    assert tab.locator(".difference .estimate").inner_text() == first


def test_a_side_leads_to_its_trials(viewed: Viewed, page_report: Report):
    viewed.go(PLACE)
    viewed.tab.get_by_role("link", name=A).click()
    viewed.until("document.querySelector('#trials tbody tr')")
    mine = [row for row in page_report.trials if f"{row.who}@{row.effort}" == A]

    assert f"{len(mine)} of 70 trials" in viewed.tab.locator("#trials [role=status]").inner_text()
