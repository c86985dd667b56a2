from collections.abc import Callable
from typing import Any

import pytest
from tests.support.checkout import NAME, write_task

from incident_arena.catalogue.finding import Catalogue
from incident_arena.catalogue.validate import problems, require_valid
from incident_arena.errors import UserError
from incident_arena.formats.task import Event, KindLoad, LoadSpec, PlantedFault, Policy, Symptom, TaskSpec


def with_load(spec: TaskSpec, **kinds: KindLoad) -> dict[str, Any]:
    return {"load": LoadSpec(kinds=spec.load.kinds | kinds)}


CASES: dict[str, tuple[Callable[[TaskSpec], dict[str, Any]], str]] = {
    "fault": (lambda _: {"faults": [PlantedFault(name="mariadb.gremlins")]}, "one of: mariadb.grants"),
    "parameter": (
        lambda _: {"faults": [PlantedFault(name="mariadb.grants", parameters={"privilege": "DELETE"})]},
        "its parameters: privileges",
    ),
    "nothing to repair and nothing to say": (
        lambda _: {"faults": [], "policy": Policy(declaring="recorded")},
        "policy: where nothing is broken and a declaration is only recorded, doing nothing would be a repair",
    ),
    "twice": (lambda spec: {"faults": [*spec.faults, spec.faults[0]]}, "planted twice"),
    "vocabulary": (lambda _: {"vocabulary": []}, "lacks 'mariadb.grants'"),
    "kind": (lambda spec: with_load(spec, fly=KindLoad(rate=1)), "kind 'fly' is unknown; one of: bulk-update, create"),
    "symptom": (lambda _: {"symptom": Symptom(kinds={"mention": 0.1})}, "'mention' is not in the load"),
    "samples": (lambda spec: with_load(spec, read=KindLoad(rate=1, judged=True)), "at least 40 are needed"),
    "unjudged": (lambda _: {"load": LoadSpec(kinds={"delete": KindLoad(rate=1)})}, "no kind is judged"),
    "cell": (lambda _: {"surface": "build-capable"}, "configuration x build-capable is not supported"),
    "surface": (lambda _: {"surface": "shell-visible"}, "does not exist yet; one of: confined"),
    "substrate": (lambda _: {"substrate": "slack"}, "'slack' is unknown; one of: frappe"),
    "restart": (
        lambda _: {"challenges": [Event(kind="restart", component="toaster")]},
        "restart of 'toaster': no such component; one of: mariadb, redis-queue, worker-short",
    ),
    "churn": (
        lambda _: {"challenges": [Event(kind="churn", component="worker-short")]},
        "churn of 'worker-short': no such component; one of: jobs, mariadb, redis-cache, redis-queue",
    ),
    "event without what it needs": (
        lambda _: {"challenges": [Event(kind="peak", parameters={"factor": 1})]},
        "challenges: event 'peak': factor: Input should be greater than 1; seconds: Field required; its parameters:",
    ),
    "peak of an unknown kind": (
        lambda _: {"scenes": [Event(kind="peak", parameters={"factor": 2, "seconds": 5, "kinds": ["dance"]})]},
        "scenes: peak: kind 'dance' is unknown; one of: bulk-update, create, delete, read, sign-in",
    ),
    "peak of a component": (
        lambda _: {"challenges": [Event(kind="peak", component="mariadb", parameters={"factor": 2, "seconds": 5})]},
        "challenges: peak of 'mariadb': no such component; one of: none: it is done to all",
    ),
    "growth of a kind that has no way to": (
        lambda _: {"challenges": [Event(kind="grow", component="mariadb", parameters={"megabytes": 1})]},
        "challenges: grow of 'mariadb': no such component; one of: redis-cache, redis-queue",
    ),
    "unknown scheduled job": (
        lambda _: {"challenges": [Event(kind="schedule", parameters={"job": "tea"})]},
        "challenges: schedule: job 'tea' is unknown; one of: expired-sessions, search-index",
    ),
    "unknown fault that passes": (
        lambda _: {"scenes": [Event(kind="passed", component="mariadb", parameters={"aspect": "mood", "seconds": 1})]},
        "scenes: fault 'mariadb.mood': there is no such fault; one of: mariadb.grants, redis-cache.config,",
    ),
    "a draw that is no value": (
        lambda spec: {
            "faults": [
                spec.faults[0].model_copy(update={"draws": {"privileges": [["DELETE"], ["FLY"]]}}),
                spec.faults[1],
            ]
        },
        "faults: fault 'mariadb.grants': privileges.0: Input should be",
    ),
    "challenge": (
        lambda _: {"challenges": [Event(kind="fire", component="mariadb")]},
        "challenges: event 'fire': there is no such kind; one of: churn, grow, passed, peak, reconcile, restart,",
    ),
    "again": (
        lambda spec: {"challenges": [*spec.challenges, spec.challenges[0]]},
        "challenges: 'restart-mariadb' is there twice",
    ),
}


def test_a_right_task_has_no_problems(checkout: Catalogue, spec: TaskSpec) -> None:
    assert problems(checkout, NAME) == []
    assert require_valid(checkout, NAME) == spec


@pytest.mark.parametrize("case", CASES)
def test_each_mistake_is_told_with_what_is_valid(checkout: Catalogue, spec: TaskSpec, case: str) -> None:
    change, told = CASES[case]
    write_task(checkout.root, spec.model_copy(update=change(spec)))
    assert told in "\n".join(problems(checkout, NAME))


@pytest.mark.parametrize("layer", ["configuration", "runtime", "image"])
def test_only_an_image_can_be_rebuilt(checkout: Catalogue, spec: TaskSpec, layer: str) -> None:
    write_task(checkout.root, spec.model_copy(update={"layer": layer, "surface": "build-capable"}))
    refused = any("not supported" in line for line in problems(checkout, NAME))
    assert refused == (layer != "image")


def test_all_mistakes_of_a_file_come_at_once(checkout: Catalogue, spec: TaskSpec) -> None:
    changes: dict[str, Any] = {}
    for case in ("fault", "restart", "symptom"):
        changes |= CASES[case][0](spec)
    write_task(checkout.root, spec.model_copy(update=changes))
    (checkout.folder(NAME) / "solution" / "solve.sh").unlink()
    (checkout.folder(NAME) / "instruction.md").write_text("mariadb.gremlins {{ ")
    with pytest.raises(UserError) as caught:
        require_valid(checkout, NAME)
    for word in ("gremlins", "toaster", "mention", "solve.sh: is missing", "instruction.md"):
        assert word in caught.value.reason


def test_mistakes_of_format_come_at_once_too(checkout: Catalogue) -> None:
    path = checkout.folder(NAME) / "task.toml"
    text = path.read_text().replace('layer = "configuration"', 'layer = "cake"').replace('title = "', 'titel = "')
    path.write_text(text)
    told = "\n".join(problems(checkout, NAME))
    assert "layer: Input should be 'configuration', 'runtime' or 'image'" in told
    assert "title: Field required" in told
    assert "titel: Extra inputs are not permitted" in told


def test_an_instruction_that_names_the_cause_is_refused(checkout: Catalogue) -> None:
    (checkout.folder(NAME) / "instruction.md").write_text("mend mariadb.grants")
    assert problems(checkout, NAME) == ["instruction.md: names the cause 'mariadb.grants'"]


@pytest.mark.parametrize("text", ["#!/bin/sh\necho\n", "#!/bin/sh\n# class: too clumsy\n"])
def test_a_wrong_fix_must_say_its_class(checkout: Catalogue, text: str) -> None:
    (checkout.folder(NAME) / "wrong" / "flush.sh").write_text(text)
    [line] = problems(checkout, NAME)
    assert "one of never declared, off-list change" in line


def test_an_unknown_task_lists_those_that_exist(checkout: Catalogue) -> None:
    with pytest.raises(UserError, match="one of: frappe/deletes-and-jobs-fail"):
        require_valid(checkout, "frappe/nothing")
