"""What narrows a list, how it stands in the address, and what leaves the page as a file."""

import csv
import json
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from tests.browser.conftest import Viewed

from incident_arena.analysis.report import Report
from incident_arena.analysis.rows_trials import TrialRow

pytestmark = pytest.mark.browser


def kept(viewed: Viewed) -> int:
    """How many trials the list says that it shows; all of them are there."""
    number = int(viewed.tab.locator("#trials [role=status]").inner_text().split()[0])
    assert viewed.tab.locator("#trials tbody tr").count() == number
    return number


WORDS = ["amber", "BIRCH max", "desk-and-queue  bounds max", "simulated-cli writes xhigh", "durable amber", "a zz"]


@pytest.mark.parametrize("words", WORDS)
def test_every_word_of_a_search_must_be_found(viewed: Viewed, page_report: Report, words: str):
    """In model, agent, task, class, effort or name, whatever their order; none of these words is in a task's title."""
    viewed.go()
    viewed.tab.fill("#find", words)
    want = [row for row in page_report.trials if all(word in searched(row) for word in words.lower().split())]
    shown = viewed.tab.locator("#trials tbody tr a.row-link").evaluate_all("all => all.map((one) => one.hash)")

    assert shown == [f"#/trial/{row.job}/{row.trial}" for row in want]
    assert kept(viewed) == len(shown) < 70
    assert shown or words == "a zz"


def searched(row: TrialRow) -> str:
    parts = (row.who, row.agent, row.task, row.failure_class, row.effort, row.trial, row.job)
    return " ".join(str(part or "") for part in parts).lower()


def test_a_search_finds_a_trial_by_its_name_alone(viewed: Viewed, page_report: Report):
    viewed.go()
    row = page_report.trials[17]
    viewed.tab.fill("#find", row.trial[-8:])

    assert viewed.tab.locator("#trials a.row-link").evaluate_all("all => all.map((one) => one.hash)") == [
        f"#/trial/{row.job}/{row.trial}"
    ]


@pytest.mark.parametrize(
    ("key", "name", "value"),
    [
        ("effort", "effort", "xhigh"),
        ("task", "task", "frappe/desk-and-queue-oom"),
        ("who", "who", "simulated-birch"),
        ("class", "failure_class", "never declared"),
        ("result", "status", "inadmissible"),
    ],
)
def test_each_filter_narrows_to_its_own(viewed: Viewed, page_report: Report, key: str, name: str, value: str):
    tab = viewed.go()
    tab.locator(f"#by-{key}").select_option(value)

    assert kept(viewed) == sum(getattr(row, name) == value for row in page_report.trials) > 0
    assert tab.evaluate("location.hash") == f"#/?{key}={quote_plus(value)}"


def test_a_link_shows_what_was_seen(viewed: Viewed):
    tab = viewed.go()
    tab.locator("#by-effort").select_option("high")
    tab.locator("#by-who").select_option("simulated-amber")
    tab.fill("#find", "desk queue")
    tab.locator("#trials th button", has_text="Agent time").click()
    place = tab.evaluate("location.hash")
    seen = tab.locator("#trials").inner_text()
    viewed.go(place)

    assert place == "#/?text=desk+queue&who=simulated-amber&effort=high&sort=-Agent+time"
    assert tab.locator("#trials").inner_text() == seen
    assert tab.input_value("#find") == "desk queue"
    assert tab.locator("#trials th[aria-sort=descending]").inner_text().startswith("Agent time")


def test_back_and_forward_follow_choices_and_trials(viewed: Viewed):
    tab = viewed.go()
    every = kept(viewed)
    tab.locator("#by-effort").select_option("max")
    some = kept(viewed)
    tab.locator("#by-result").select_option("passed")
    few = kept(viewed)
    assert every > some > few > 0
    link = tab.locator("#trials a.row-link").first
    trial = link.evaluate("one => one.hash")
    link.click()
    tab.wait_for_selector("#verdict")
    tab.go_back()
    viewed.until("document.querySelector('#trials')")
    assert kept(viewed) == few
    assert tab.evaluate("document.activeElement.hash") == trial
    tab.go_back()
    viewed.until("location.hash === '#/?effort=max'")
    assert kept(viewed) == some
    assert tab.locator("#by-result").input_value() == ""
    tab.go_back()
    viewed.until("!location.hash.includes('effort')")
    assert kept(viewed) == every
    tab.go_forward()
    viewed.until("location.hash === '#/?effort=max'")
    assert kept(viewed) == some
    assert tab.locator("#by-effort").input_value() == "max"


def test_a_value_that_no_trial_has_is_shown_and_can_be_undone(viewed: Viewed):
    tab = viewed.go("#/?who=nobody")
    assert kept(viewed) == 0
    assert tab.locator("#by-who").input_value() == "nobody"
    tab.locator("#by-who").select_option("")

    assert kept(viewed) == 70


def test_a_tasks_list_has_its_own_address(viewed: Viewed, page_report: Report):
    tab = viewed.go("#/task/frappe%2Fdesk-and-queue-oom?effort=low")
    want = [row for row in page_report.trials if row.task == "frappe/desk-and-queue-oom" and row.effort == "low"]
    assert kept(viewed) == len(want)
    tab.locator("#by-effort").select_option("max")

    assert tab.evaluate("location.hash") == "#/task/frappe%2Fdesk-and-queue-oom?effort=max"


def test_a_models_link_leads_to_its_trials(viewed: Viewed, page_report: Report):
    tab = viewed.go()
    tab.get_by_role("group", name="Models (simulated), table").get_by_role("link", name="simulated-birch").click()
    viewed.until("document.activeElement.id === 'trials-title'")

    assert kept(viewed) == sum(row.who == "simulated-birch" for row in page_report.trials)


def exported(viewed: Viewed, form: str, folder: Path) -> Path:
    with viewed.tab.expect_download() as download:
        viewed.tab.get_by_role("button", name=form, exact=True).click()
    assert download.value.suggested_filename == f"arena-trials.{form.lower()}"
    path = folder / f"out.{form.lower()}"
    download.value.save_as(path)
    return path


def test_csv_is_what_is_shown_with_the_reports_values(viewed: Viewed, page_report: Report, tmp_path: Path):
    tab = viewed.go("#/?effort=high&sort=-Cost")
    tab.wait_for_selector("#trials tbody tr")
    shown = tab.locator("#trials a.row-link").evaluate_all("all => all.map((one) => one.hash)")
    with exported(viewed, "CSV", tmp_path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    by_name = {(row.job, row.trial): row for row in page_report.trials}

    assert [f"#/trial/{row['job']}/{row['trial']}" for row in rows] == shown
    for line in rows:
        row = by_name[line["job"], line["trial"]]
        for name in ("task", "who", "agent", "effort", "status", "failure_class"):
            assert line[name] == (getattr(row, name) or "")
        assert line["reward"] == ("" if row.status != "judged" else str(row.reward))
        assert line["refused"] == str(row.refused)
        assert line["simulated"] == "True"
        assert line["cost_source"] == (row.cost_source or "")
        assert float(line["cost"] or -1) == pytest.approx(-1 if row.cost is None else row.cost)


def test_json_says_by_what_the_trials_were_chosen(viewed: Viewed, tmp_path: Path):
    viewed.go("#/?text=amber+max")
    document = json.loads(exported(viewed, "JSON", tmp_path).read_text())

    assert document["chosen"] == {"text": "amber max"}
    assert document["simulated"] == 70
    assert len(document["trials"]) == kept(viewed) > 0
    assert {one["effort"] for one in document["trials"]} == {"max"}
    assert {url.partition("#")[0] for url in viewed.asked if not url.startswith("blob:")} == {viewed.path.as_uri()}


def test_csv_runs_no_formula_and_hides_nothing(viewed: Viewed):
    """The page's own function, on text that an agent could bring about; it is inside the page's one closure."""
    text = (Path(__file__).parents[2] / "src/incident_arena/viewer/static/export.js").read_text()
    start = text.index("function csvField")
    made = "((shownText) => (" + text[start : text.index("\n}\n", start) + 2] + "))((text) => String(text))"
    tab = viewed.tab
    tab.goto("about:blank")
    values = ["=1+1", "+a", "-a", "@a", "plain", 'a "quoted", b', "two\nlines", None, 1.5, -2]

    assert tab.evaluate(f"(values) => values.map({made})", values) == [
        "'=1+1", "'+a", "'-a", "'@a", "plain", '"a ""quoted"", b"', '"two\nlines"', "", "1.5", "-2",
    ]  # fmt: skip
