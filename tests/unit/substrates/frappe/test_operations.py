import asyncio

import pytest
from tests.support.frappe_server import Application

from incident_arena.substrates.frappe.operations import MENTIONED_NOTES, POOL, Frappe
from incident_arena.workload.operations import Answer, NotReadyError

KINDS = ("bulk-update", "create", "delete", "list", "mention", "read", "sign-in", "update")


async def perform(frappe: Frappe, kind: str, id_: int = 1) -> Answer:
    answer = await frappe.plan(kind, id_).perform()
    frappe.settle(id_, answer)
    return answer


async def test_it_waits_for_the_seeds(frappe: Frappe, application: Application):
    notes = application.records["Note"].copy()
    application.records["Note"].clear()
    with pytest.raises(NotReadyError, match="seeds are missing"):
        await frappe.prepare([])
    application.faults.status = 502
    with pytest.raises(NotReadyError, match="502"):
        await frappe.prepare([])
    application.faults.status = None
    application.records["Note"].update(notes)
    records = await frappe.prepare([])
    assert len(records) == len(set(records)) == 60 + 60 + 10 + POOL + MENTIONED_NOTES
    assert {name.partition("/")[0] for name in records} == {"ToDo", "Note"}


async def test_its_own_records_are_made_once(frappe: Frappe, application: Application):
    assert set(await frappe.prepare([])) == set(await frappe.prepare([]))
    assert sum(method == "POST" for method, _ in application.requests) == POOL + MENTIONED_NOTES


@pytest.mark.parametrize("kind", KINDS)
async def test_each_kind_succeeds(frappe: Frappe, kind: str):
    await frappe.prepare([])
    for id_ in range(1, 6):
        answer = await perform(frappe, kind, id_)
        assert (answer.result, answer.error) == ("ok", "")


async def test_all_kinds_are_tried_here(frappe: Frappe):
    assert tuple(frappe.kinds) == KINDS


@pytest.mark.parametrize("kind", KINDS)
async def test_another_body_is_wrong(frappe: Frappe, application: Application, kind: str):
    await frappe.prepare([])
    if kind == "delete":
        application.faults.keep_deleted = True
    elif kind == "list":
        application.records["ToDo"]["seed-todo-0007"]["description"] = "changed"
    else:
        application.faults.echo = "other"
    answer = await perform(frappe, kind)
    assert answer.result == "wrong"
    # A deletion that was acknowledged must come true; what the application answered with nonsense it has not accepted.
    assert answer.owed is (kind == "delete")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("status", "result"), [(403, "failed"), (500, "indeterminate"), (302, "failed")])
async def test_a_refusal_by_status(frappe: Frappe, application: Application, kind: str, status: int, result: str):
    await frappe.prepare([])
    application.faults.status = status
    answer = await perform(frappe, kind)
    assert (answer.result, answer.status, answer.owed) == (result, status, False)
    assert "PlannedError" in answer.error


async def test_what_an_intent_says_comes_true(frappe: Frappe, application: Application):
    await frappe.prepare([])
    todos = application.records["ToDo"]

    create = frappe.plan("create", 11)
    made = await create.perform()
    frappe.settle(11, made)
    name = made.records[0].removeprefix("ToDo/")
    assert (create.records, create.effect, todos[name]["description"]) == ((), "load-11", "load-11")

    update = frappe.plan("update", 12)
    assert (update.records, update.effect) == ((f"ToDo/{name}",), "load-12")
    await update.perform()
    assert todos[name]["description"] == "load-12"

    delete = frappe.plan("delete", 13)
    gone = delete.records[0].removeprefix("ToDo/")
    assert gone != name
    assert (delete.effect, delete.records[1]) == ("deleted", f"job/Version/{gone}")
    await delete.perform()
    assert gone not in todos

    bulk = frappe.plan("bulk-update", 14)
    assert (await bulk.perform()).result == "ok"
    assert {todos[record.removeprefix("ToDo/")]["description"] for record in bulk.records} == {bulk.effect}
    assert len(bulk.records) == 20

    mention = frappe.plan("mention", 15)
    answer = await mention.perform()
    assert mention.records == ("job/Notification Log/load-15",)
    assert answer.records[0].removeprefix("Comment/") in application.records["Comment"]


async def test_stuck_jobs_fail_by_the_effect_alone_and_are_owed(frappe: Frappe, application: Application):
    await frappe.prepare([])
    application.faults.jobs_stuck = True
    answers = await asyncio.gather(*(perform(frappe, kind, id_) for id_, kind in enumerate(KINDS, start=1)))
    results = {kind: (answer.result, answer.owed) for kind, answer in zip(KINDS, answers, strict=True)}
    stuck = {"bulk-update": ("wrong", True), "mention": ("wrong", True)}
    assert results == {kind: stuck.get(kind, ("ok", False)) for kind in KINDS}


async def test_the_latency_of_a_job_counts_to_its_effect(frappe: Frappe, application: Application):
    await frappe.prepare([])
    application.faults.jobs_stuck = True
    plan = frappe.plan("mention", 1)
    task = asyncio.create_task(plan.perform())
    await asyncio.sleep(0.7)
    loop_time = asyncio.get_running_loop().time()
    application.faults.jobs_stuck = False
    answer = await task
    assert answer.result == "ok"
    assert asyncio.get_running_loop().time() - loop_time > 0.01


async def test_the_watcher_signs_in_again_when_its_session_ends(frappe: Frappe, application: Application):
    await frappe.prepare([])
    assert (await perform(frappe, "mention", 1)).result == "ok"
    application.sessions.clear()
    assert (await perform(frappe, "mention", 2)).result == "ok"


async def test_refused_deletions_starve_nothing(frappe: Frappe, application: Application):
    await frappe.prepare([])
    application.faults.deny_delete = True
    for id_ in range(1, POOL + 10):
        assert (await perform(frappe, "delete", id_)).result == "indeterminate"
    for id_, kind in enumerate(("create", "update", "read", "update"), start=1000):
        assert (await perform(frappe, kind, id_)).result == "ok"
    application.faults.deny_delete = False
    for id_ in range(2000, 2010):
        assert (await perform(frappe, "delete", id_)).result == "ok"


async def test_a_deletion_that_may_have_worked_is_right_when_the_record_is_gone(
    frappe: Frappe, application: Application
):
    await frappe.prepare([])
    application.faults.deny_delete = True
    names = [frappe.plan("delete", id_).records[0] for id_ in range(POOL)]
    for id_ in range(POOL):
        frappe.settle(id_, Answer("indeterminate", 500))
    application.faults.deny_delete = False
    del application.records["ToDo"][names[0].removeprefix("ToDo/")]
    plan = frappe.plan("delete", 100)
    assert plan.records == (names[0],)
    assert (await plan.perform()).result == "ok"


async def test_with_an_empty_pool_a_deletion_makes_its_record(frappe: Frappe, application: Application):
    await frappe.prepare([])
    for id_ in range(POOL):
        frappe.plan("delete", id_)
    plan = frappe.plan("delete", 100)
    assert plan.records == ()
    answer = await plan.perform()
    assert answer.result == "ok"
    assert answer.records[0].removeprefix("ToDo/") not in application.records["ToDo"]
