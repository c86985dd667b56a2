"""Every command of README and docs is run: in a fresh clone, with no uv on PATH, in the order of its page.

What needs a node or root is in ELSEWHERE, with the test that runs it. All others are run here: none is in neither.
"""

import os
import re
import shutil
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support import evidence
from tests.support.endpoint import Local
from tests.support.pages import ROOT, VARIABLES, commands, pages, whole
from tests.support.servers import free_port

from incident_arena.analysis.simulate import FRAPPE, Plan, SimModel, simulate

pytestmark = pytest.mark.timeout(900)

EPISODES = "tests/episodes/test_harbor.py::"
AGENTS = "tests/episodes/test_pages.py::"
PLAYED = "tests/episodes/test_play.py::test_a_person_repairs_and_declares"
ELSEWHERE = {
    # how a command begins: the test that runs it
    r"\./arena run \S+ --agent oracle": "tests/episodes/test_substrate.py::test_its_tasks_are_played",
    r"\./arena run \S+ --agent nop": EPISODES + "test_doing_nothing_scores_nothing_within_memory",
    r"\./arena run \S+ --script": EPISODES + "test_a_repair_that_is_not_saved_is_not_durable",
    r"\./arena run \S+ -a claude-code (?!.*--dry-run)": AGENTS + "test_an_agent_plays_against_a_script",
    r"\./arena run --experiment (?!.*--dry-run)": "tests/unit/cli/test_experiments.py::"
    "test_what_was_interrupted_goes_on_and_what_has_a_verdict_stays",
    r"\./arena play": PLAYED,
    r"\./arena watch": PLAYED,
    r"\./arena clean": "tests/episodes/test_kill.py::test_kill_9_in_the_middle_of_an_episode",
    r"\./arena agents build": "tests/node/test_agents.py::test_the_command_of_the_page_builds_it",
    r"\./test": "tests/unit/test_test_script.py::test_each_step_is_run_in_its_order",
    r"\.venv/bin/harbor run .* -a oracle": EPISODES + "test_the_oracle_passes_by_stock_harbor_and_regrading_agrees",
    r"\.venv/bin/harbor job regrade": EPISODES + "test_the_oracle_passes_by_stock_harbor_and_regrading_agrees",
    r"\.venv/bin/harbor run .* -a claude-code": AGENTS + "test_an_agent_plays_by_stock_harbor",
}
STATUSES = {"./arena doctor": {0, 2}}
"""2: this machine lacks something, and the page says that it tells what."""
SERVES = "./arena endpoint"
JUDGED = '{"category": "honest", "score": 3, "reasons": "It did what it was asked."}'
SCRIPT = '[[step]]\ntext = "Done."\n'


@dataclass
class Clone:
    """A checkout of its own, with what the pages take for granted: jobs that were played, a script, prices."""

    folder: Path
    environment: dict[str, str]
    values: dict[str, str]
    """What stands in the pages for a value of the reader's, and the value here."""

    def filled(self, command: str) -> str:
        for name, value in self.values.items():
            command = command.replace(name, value)
        assert "…" not in command, f"{command}: no value for it"
        return whole(command)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clone]:
    scratch = tmp_path_factory.mktemp("fresh")
    folder = scratch / "clone"
    # What is changed here and not committed yet is in it too.
    state = git("stash", "create") or git("rev-parse", "HEAD")
    git("clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(folder))
    git("-C", str(folder), "checkout", "--quiet", "--detach", state)
    furnish(folder)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ARENA_", "VIRTUAL_ENV"))}
    environment |= {"PATH": path_without_uv(scratch / "links"), "ARENA_HOME": str(scratch / "home")}
    with Local(lambda _: JUDGED).serving() as url:
        values = {
            "jobs/…": "jobs", "JOB…": "jobs", "https://…/v1": url, "KEY=…": "KEY=secret",
            "--port 8000": f"--port {free_port()}",
        }  # fmt: skip
        yield Clone(folder, environment, values)


def git(*argv: str) -> str:
    return subprocess.run(["git", *argv], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def furnish(folder: Path) -> None:
    models = (SimModel("gpt-6-astra", efforts=("low",)), SimModel("claude-opus-5-5", efforts=("low",)))
    simulate(folder / "jobs", Plan(tasks=FRAPPE[:2], models=models, odd=0))
    (folder / "jobs" / "00-gpt-6-astra").rename(folder / "jobs" / "2026-10-01__12-00-00")
    for name in ("my-script.toml", "SCRIPT.toml"):
        (folder / name).write_text(SCRIPT)
    shutil.copy(folder / "src/incident_arena/analysis/data/prices.toml", folder / "my-prices.toml")
    evidence.build().write(folder / "EVIDENCE")


def path_without_uv(links: Path) -> str:
    """PATH without this checkout's programs; a folder that has uv is stood for by links to all else in it."""
    found = []
    for number, entry in enumerate(os.environ["PATH"].split(":")):
        place = Path(entry)
        if place.is_relative_to(ROOT) or not place.is_dir():
            continue
        if (place / "uv").exists():
            place = links / str(number)
            place.mkdir(parents=True)
            for program in Path(entry).iterdir():
                if program.name not in {"uv", "uvx"}:
                    (place / program.name).symlink_to(program)
        found.append(str(place))
    return ":".join(found)


def elsewhere(command: str) -> list[str]:
    return [pattern for pattern in ELSEWHERE if re.match(pattern, VARIABLES.sub("", command))]


def here(page: Path) -> list[str]:
    return [command for command in commands(page) if not elsewhere(command)]


def run(clone: Clone, command: str) -> None:
    text = clone.filled(command)
    if VARIABLES.sub("", text).startswith(SERVES):
        serve(clone, text)
        return
    ended = subprocess.run(
        ["bash", "-c", text], cwd=clone.folder, env=clone.environment, capture_output=True, text=True, timeout=600,
        check=False,
    )  # fmt: skip
    allowed = next((statuses for start, statuses in STATUSES.items() if text.startswith(start)), {0})
    assert ended.returncode in allowed, f"{text}\n{ended.stdout[-2000:]}{ended.stderr[-3000:]}"
    if out := re.search(r"--out (\S+)", text):
        assert (clone.folder / out[1]).exists(), text


def serve(clone: Clone, text: str) -> None:
    """A command that goes on until Ctrl-C: it says where it listens, and answers there."""
    with subprocess.Popen(
        ["bash", "-c", f"exec {text}"], cwd=clone.folder, env=clone.environment, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        try:
            with urllib.request.urlopen(f"{server.stdout.readline().strip()}/v1/models", timeout=10) as answer:
                assert answer.status == 200
            server.send_signal(signal.SIGINT)
            assert server.wait(60) == 0, text
        finally:
            server.kill()


PAGES = [page for page in pages(ROOT) if here(ROOT / page)]


def test_the_first_command_makes_all_that_is_needed_without_uv(clone: Clone) -> None:
    assert shutil.which("uv", path=clone.environment["PATH"]) is None
    assert not (clone.folder / ".venv").exists()
    run(clone, "./arena --help")
    assert (clone.folder / ".venv" / "bin" / "harbor").exists()


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run(clone: Clone, page: str) -> None:
    for command in here(clone.folder / page):
        run(clone, command)


def test_every_other_command_is_run_by_a_test_that_exists() -> None:
    found = [(command, elsewhere(command)) for page in pages(ROOT) for command in commands(ROOT / page)]
    assert [command for command, patterns in found if len(patterns) > 1] == []
    assert {pattern for _, patterns in found for pattern in patterns} == set(ELSEWHERE)
    for test in ELSEWHERE.values():
        file, _, name = test.partition("::")
        assert re.search(rf"^(?:async )?def {name}\(", (ROOT / file).read_text(), re.MULTILINE), test


def test_every_value_is_asked_for_by_a_page(clone: Clone) -> None:
    texts = [command for page in PAGES for command in here(clone.folder / page)]
    assert [name for name in clone.values if not any(name in text for text in texts)] == []


@pytest.mark.parametrize(
    ("command", "told"), [("./arena task show frappe/nothing", "no such task"), ("./arena report none", "none")]
)
def test_a_command_that_fails_would_be_seen(clone: Clone, command: str, told: str) -> None:
    with pytest.raises(AssertionError, match=told):
        run(clone, command)
