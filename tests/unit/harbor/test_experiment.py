from pathlib import Path

import pytest
from tests.unit.harbor.conftest import NAME

from incident_arena.catalogue.finding import Catalogue
from incident_arena.errors import UserError
from incident_arena.folders import PACKAGE
from incident_arena.harbor.experiment import Experiment, load
from incident_arena.harbor.plan import Cell, Played, rows, summary

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "docs" / "examples"
SMALL = f'version = 1\ntasks = ["{NAME}"]\n[[agents]]\nagent = "codex"\n'
PRICE = '{ name = "m", provider = "p", input = 1.0, cached = 0.1, output = 2.0, source = "s" }'
PRICES = f"""version = 1
cache_write = {{ other = 1.0 }}
sources = {{ s = {{ title = "t", date = 2026-01-01 }} }}
models = [{PRICE}]
"""


def read(checkout: Catalogue, text: str) -> Experiment:
    file = checkout.root / "e.toml"
    file.write_text(text)
    return load(file, checkout)


def mistakes(checkout: Catalogue, text: str) -> list[str]:
    with pytest.raises(UserError) as refused:
        read(checkout, text)
    assert refused.value.remedy
    return [line.strip() for line in refused.value.reason.strip().splitlines()]


def test_the_papers_matrix_is_150_trials_of_each_task() -> None:
    experiment = load(EXAMPLES / "paper.toml", Catalogue(PACKAGE))
    plan = rows(experiment, Played())
    tasks = len(experiment.tasks)
    assert tasks == len(Catalogue(PACKAGE).names()) >= 1
    assert summary(plan) == (152 * tasks, 152 * tasks)
    by_model: dict[str, int] = {}
    for row in plan:
        by_model[row.cell.model] = by_model.get(row.cell.model, 0) + row.wanted
    assert by_model.pop("") == 2 * tasks  # nop and oracle
    per_task = {model.partition("/")[2]: count // tasks for model, count in by_model.items()}
    assert len(per_task) == 10
    assert (per_task.pop("grok-4.7"), per_task.pop("muse-spark-1.3")) == (12, 18)
    assert set(per_task.values()) == {15}
    priced = [model for model in by_model if experiment.prices.of(model)]
    assert len(priced) == 10


def test_what_is_left_out_has_a_default(checkout: Catalogue) -> None:
    experiment = read(checkout, SMALL)
    assert (experiment.trials, experiment.parallel, experiment.max_retries) == (3, 1, 1)
    assert experiment.agents[0].variants == ((None, None),)
    assert experiment.prices.of("gpt-6-sol")


def test_stars_stand_for_tasks_and_each_is_there_once(checkout: Catalogue) -> None:
    assert read(checkout, SMALL.replace(f'"{NAME}"', f'"frappe/*", "{NAME}"')).tasks == (NAME,)


def test_prices_may_be_a_file_beside_it_or_a_table(checkout: Catalogue) -> None:
    (checkout.root / "p.toml").write_text(PRICES)
    beside = read(checkout, SMALL.replace("[[", 'prices = "p.toml"\n[[', 1))
    inline = read(checkout, SMALL + "[prices]\n" + PRICES)
    assert beside.prices == inline.prices
    assert beside.prices.models[0].output == 2


def test_all_mistakes_are_told_at_once_each_with_its_remedy(checkout: Catalogue) -> None:
    told = mistakes(
        checkout,
        """
version = 2
tasks = ["frappe/none", "frappe/neither"]
trials = 0
colour = "red"
prices = "nowhere.toml"
[[agents]]
agent = "codx"
[[agents]]
agent = "oracle"
[[agents]]
agent = "codex"
efforts = ["extreme", "low"]
[[agents]]
agent = "qwen-coder"
efforts = ["low"]
[[agents]]
agent = "codex"
model = "m"
efforts = ["low"]
env = ["OPENAI_API_KEY=sk-secret"]
kwargs = { api_key = "sk-secret" }
model_url = "127.0.0.1:80"
""",
    )
    wanted = {
        "version:": "give 1",
        "tasks: there is no task 'frappe/none'": f"one of: {NAME}",
        "tasks: there is no task 'frappe/neither'": f"one of: {NAME}",
        "trials:": "give trials of each task",
        "colour: there is no such field": "one of: version, tasks",
        "prices: price list": "docs/results.md",
        "agents.0.agent: agent 'codx' is unknown": "one of: ",
        "agents.1.agent: 'oracle' belongs to every experiment": "remove the entry",
        "agents.2: agent 'codex' reasoning_effort": "harbor agent schema codex",
        "agents.3: effort 'low' agent 'qwen-coder' has no efforts": "leave it out",
        "agents.4.model: there is no such field": "one of: agent, models",
        "agents.4.env: holds more than names": "export the values",
        "agents.4.kwargs: 'api_key' looks like a key": "name that in env",
        "agents.4.model_url: model URL": "give it as https://",
        "agents: codex with model None at effort low is named 2 times": "name it once",
    }
    for start, remedy in wanted.items():
        [line] = [line for line in told if line.startswith(start)]
        assert remedy in line, line
    assert len(told) == len(wanted), told
    assert "sk-secret" not in "".join(told)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("version = 1", "tasks: field required; give a list of tasks"),
        (SMALL.replace('agent = "codex"', ""), "agents.0.agent: field required; give Harbor's name"),
        (SMALL.replace(f'["{NAME}"]', "[]"), "tasks: tuple should have at least 1 item"),
        (f'version = 1\ntasks = ["{NAME}"]\nagents = []', "agents: there is none; add a table"),
        (SMALL + 'models = "m"', "agents.0.models: input should be a valid tuple; give a list of models"),
        (SMALL + "[prices]\nversion = 1", "prices.models: field required; give what docs/results.md"),
    ],
)
def test_each_mistake_names_its_place(checkout: Catalogue, text: str, told: str) -> None:
    assert any(line.startswith(told) for line in mistakes(checkout, text))


def test_what_is_no_toml_is_refused(checkout: Catalogue) -> None:
    mistakes(checkout, "version = = 1")
    with pytest.raises(UserError, match="No such file"):
        load(checkout.root / "nothing.toml", checkout)


def test_a_cell_says_what_it_is() -> None:
    assert str(Cell("t", "a", "m", "high")) == "t a m high"
    assert str(Cell("t", "nop")) == "t nop"
