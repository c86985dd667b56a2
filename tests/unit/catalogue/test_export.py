import json
from pathlib import Path

import pytest
from harbor.models.task.task import Task
from tests.support.checkout import NAME
from tests.support.pages import ROOT

from incident_arena import stores
from incident_arena.catalogue.export import compose, digest, export, instruction
from incident_arena.catalogue.finding import Catalogue
from incident_arena.errors import UserError
from incident_arena.folders import PACKAGE
from incident_arena.formats.task import TaskSpec


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode & 0o777) for path in files}


def test_exporting_twice_gives_the_same_bytes(checkout: Catalogue, tmp_path: Path) -> None:
    export(checkout, NAME, tmp_path / "one")
    export(checkout, NAME, tmp_path / "two")
    export(checkout, NAME, tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert digest(tmp_path / "one") == digest(tmp_path / "two")


def test_everything_is_in_it_and_nothing_is_a_link(checkout: Catalogue, tmp_path: Path) -> None:
    (checkout.substrate("frappe") / "substrate.py").write_text("SUBSTRATE = None\n")
    export(checkout, NAME, tmp_path / "task")
    names = set(contents(tmp_path / "task"))
    harness = "environment/chart/charts/harness"
    substrate = {f"{harness}/substrate/{file.name}" for file in checkout.substrate("frappe").glob("*.py")}
    assert f"{harness}/substrate/substrate.py" in substrate
    assert names - substrate == {
        "task.toml",
        "instruction.md",
        "environment/task.json",
        "environment/values.yaml",
        "environment/docker-compose.yaml",
        "environment/chart/Chart.yaml",
        "environment/chart/values.yaml",
        f"{harness}/Chart.yaml",
        f"{harness}/templates/_store-mariadb.tpl",
        f"{harness}/templates/_store-redis.tpl",
        f"{harness}/templates/_store-rq.tpl",
        f"{harness}/templates/agent.yaml",
        "solution/solve.sh",
        "tests/test.sh",
    }
    assert not [path for path in (tmp_path / "task").rglob("*") if path.is_symlink()]


def test_harbor_reads_it_as_it_is_meant(checkout: Catalogue, spec: TaskSpec, tmp_path: Path) -> None:
    export(checkout, NAME, tmp_path / "task")
    config = Task(tmp_path / "task").config
    assert config.task is not None
    assert config.task.name == NAME
    assert config.agent.timeout_sec == spec.deadlines.agent
    assert config.verifier.environment_mode == "separate"
    [hook] = config.verifier.collect
    assert (hook.service, hook.timeout_sec) == ("referee", spec.deadlines.gather + 120)
    [artifact] = config.artifacts
    assert (artifact.source, artifact.service) == ("/evidence", "referee")  # type: ignore[union-attr]
    stages = spec.deadlines
    least = stages.node + stages.deploy + stages.ready + stages.healthy + stages.baseline + 2 * stages.snapshot
    assert config.environment.build_timeout_sec > least + stages.plant + stages.symptom
    assert config.environment.network_mode == "allowlist"


def test_the_facts_come_through_whole(checkout: Catalogue, spec: TaskSpec, tmp_path: Path) -> None:
    export(checkout, NAME, tmp_path / "task")
    found = TaskSpec.model_validate_json((tmp_path / "task" / "environment" / "task.json").read_text())
    assert found == spec


def test_the_chart_holds_what_stores_surface_and_substrate_add(
    checkout: Catalogue, spec: TaskSpec, tmp_path: Path
) -> None:
    (checkout.substrate("frappe") / "substrate.py").write_text("SUBSTRATE = None\n")
    compose(checkout, spec, tmp_path / "chart")
    harness = tmp_path / "chart" / "charts" / "harness"
    for kind in ("mariadb", "redis", "rq"):
        fragment = (harness / "templates" / f"_store-{kind}.tpl").read_text()
        assert fragment == (stores.folder(kind) / "chart.tpl").read_text()
        assert f'define "store.{kind}.agent"' in fragment
    assert (harness / "templates" / "agent.yaml").read_text() == "# the agent's pod\n"
    assert (harness / "substrate" / "substrate.py").read_text() == "SUBSTRATE = None\n"


def test_what_the_agent_is_told_is_rendered_and_names_no_cause(checkout: Catalogue, spec: TaskSpec) -> None:
    text = instruction(checkout, spec)
    assert text == "Mend it in 10 minutes.\nYou have a shell.\n"


REAL = Catalogue(PACKAGE, (ROOT / "tests" / "substrates" / "tally",))


@pytest.mark.parametrize("name", REAL.names())
def test_every_task_tells_its_budget_of_harm(name: str) -> None:
    task = REAL.load(name)
    for budget in (task.harm_budget, 7):
        text = instruction(REAL, task.model_copy(update={"harm_budget": budget}))
        assert f"for no more than {budget:g} seconds in all" in text
    runbook = REAL.substrate(task.substrate) / "chart" / "files" / "runbook.md"
    if runbook.exists():
        assert f"for no more than {task.harm_budget:g} seconds in all" in runbook.read_text().replace("\n  ", " ")


def test_a_template_that_asks_for_causes_is_refused(checkout: Catalogue, spec: TaskSpec) -> None:
    (checkout.folder(NAME) / "instruction.md").write_text("{{ faults }}")
    with pytest.raises(Exception, match="'faults' is undefined"):
        instruction(checkout, spec)


def test_a_folder_of_something_else_is_left_alone(checkout: Catalogue, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "precious").write_text("x")
    with pytest.raises(UserError, match="something else"):
        export(checkout, NAME, tmp_path / "other")
    assert (tmp_path / "other" / "precious").exists()


def test_a_changed_task_has_another_digest(checkout: Catalogue, tmp_path: Path) -> None:
    export(checkout, NAME, tmp_path / "one")
    (checkout.folder(NAME) / "values.yaml").write_text("a: 1\n")
    export(checkout, NAME, tmp_path / "two")
    assert digest(tmp_path / "one") != digest(tmp_path / "two")
    assert json.loads((tmp_path / "two" / "environment" / "task.json").read_text())["name"] == NAME
