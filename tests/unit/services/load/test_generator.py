import asyncio
import itertools
import statistics
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp.test_utils import TestServer
from tests.support.frappe_load import ACCOUNTS, spec
from tests.support.frappe_server import Application

from incident_arena import wait
from incident_arena.errors import UserError
from incident_arena.formats.records import Intent
from incident_arena.formats.task import LoadSpec
from incident_arena.ledger import reading
from incident_arena.ledger.reading import PAUSED, LedgerError, defects, operations
from incident_arena.ledger.writing import Ledger
from incident_arena.services.load.generator import DOWN, Generator
from incident_arena.services.load.schedule import arrivals
from incident_arena.substrates.frappe.operations import Frappe
from incident_arena.workload.operations import Answer, Plan


class Runs:
    """Runs generators over one ledger, one after the other."""

    def __init__(self, path: Path, server: TestServer) -> None:
        self.path = path
        self._target = str(server.make_url("/"))
        self._opened: list[Frappe] = []

    async def start(self, load: LoadSpec) -> Generator:
        frappe = Frappe(load, self._target, ACCOUNTS)
        self._opened.append(frappe)
        ledger = Ledger(self.path)
        await frappe.prepare(ledger.before)
        return Generator(load, frappe, ledger)

    async def run(self, load: LoadSpec, seconds: float, during=None) -> Generator:
        """Run for some seconds of the schedule; `during` is awaited meanwhile with the generator."""
        generator = await self.start(load)
        running = asyncio.create_task(generator.run())
        if during is not None:
            await during(generator)

        async def sends() -> tuple[bool, str]:
            return generator.origin is not None or running.done(), generator.waiting_for

        await wait.until_async("the schedule begins", sends, deadline_s=20, every_s=0.01)
        await asyncio.sleep(seconds)
        generator.stop()
        await running
        return generator

    def lines(self):
        return reading.read(self.path)

    def results(self):
        return [operation.result for operation in operations(self.lines()).values()]

    async def close(self) -> None:
        for frappe in self._opened:
            await frappe.close()


@pytest.fixture
async def runs(tmp_path: Path, server: TestServer) -> AsyncIterator[Runs]:
    runs = Runs(tmp_path / "ledger.jsonl", server)
    yield runs
    await runs.close()


async def test_a_peak_sends_more_beside_the_schedule(runs: Runs):
    load = spec(read=10, create=5)

    async def rise(generator: Generator) -> None:
        async def begun() -> tuple[bool, str]:
            return generator.sent > 0, ""

        await wait.until_async("the load sends", begun, deadline_s=20, every_s=0.01)
        generator.peak(4, 1.5, ["read"])

    await runs.run(load, 3, rise)
    joined = list(operations(runs.lines()).values())
    beside = [operation for operation in joined if operation.id >= reading.PEAK]
    assert {operation.kind for operation in beside} == {"read"}
    assert 3 * 10 * 1.5 * 0.8 <= len(beside) <= 3 * 10 * 1.5 * 1.2
    assert [operation.id for operation in beside] == list(range(reading.PEAK, reading.PEAK + len(beside)))
    assert all(operation.result == "ok" for operation in beside)
    assert max(o.due for o in beside) - min(o.due for o in beside) < 1.5
    assert defects(runs.lines()) == []


async def test_after_a_peak_the_schedule_goes_on_where_it_was(runs: Runs):
    load = spec(read=10)

    async def rise(generator: Generator) -> None:
        async def begun() -> tuple[bool, str]:
            return generator.sent > 0, ""

        await wait.until_async("the load sends", begun, deadline_s=20, every_s=0.01)
        generator.peak(3, 0.5)

    await runs.run(load, 1.5, rise)
    first = operations(runs.lines())
    await runs.run(load, 1.5, rise)
    assert defects(runs.lines()) == []
    ids = sorted(operations(runs.lines()))
    assert len(ids) == len(set(ids))
    assert max(ids) > max(first)
    scheduled = [id_ for id_ in ids if id_ < reading.PEAK]
    assert scheduled == list(range(1, len(scheduled) + 1))


@pytest.mark.parametrize("kinds", [["dance"], ["read", "dance"]])
async def test_a_peak_of_what_the_load_lacks_is_refused(runs: Runs, kinds: list[str]):
    generator = await runs.start(spec(read=10))
    with pytest.raises(UserError, match="has not begun"):
        generator.peak(2, 1)
    generator.origin = 1.0
    with pytest.raises(UserError, match="'dance': is not in this load"):
        generator.peak(2, 1, kinds)


async def test_what_a_client_saw_is_written_before_the_outcome(runs: Runs):
    generator = await runs.start(spec(read=10))

    async def perform() -> Answer:
        return Answer("ok", 200, witnessed=(("order/a", "1"), ("payment/a", "p")))

    generator._application.plan = lambda _kind, _id: Plan(perform)
    running = asyncio.create_task(generator.run())

    async def ended() -> tuple[bool, str]:
        return any(line.type == "outcome" for line in runs.lines()), ""

    await wait.until_async("an operation ended", ended, deadline_s=20, every_s=0.01)
    generator.stop()
    await running
    intent, one, other, outcome = runs.lines()[:4]
    assert [line.type for line in (intent, one, other, outcome)] == ["intent", "witness", "witness", "outcome"]
    assert [(line.id, line.subject, line.value) for line in (one, other)] == [
        (1, "order/a", "1"),
        (1, "payment/a", "p"),
    ]
    assert one.at <= outcome.at


async def test_it_keeps_the_schedule_whatever_the_latency(runs: Runs, application: Application):
    load = spec(read=10, create=10)

    async def slow(_: Generator) -> None:
        application.faults.hang = 0.6

    await runs.run(load, 2, slow)
    lines = runs.lines()
    assert defects(lines) == []
    found = list(operations(lines).values())
    assert 35 <= len(found) <= 42
    origin = found[0].due - next(arrivals(load)).offset
    for operation, arrival in zip(found, arrivals(load), strict=False):
        assert operation.kind == arrival.kind
        assert operation.due == pytest.approx(origin + arrival.offset, abs=1e-5)
    # A loop that waited for answers would be late by seconds; one that is only short of CPU, now and then by less.
    assert statistics.median(operation.intent.at - operation.due for operation in found) < 0.3
    slow_ones = [operation.outcome.latency for operation in found if operation.result == "ok"]
    assert len(slow_ones) > 15
    assert min(slow_ones) >= 0.6


async def test_the_intent_is_on_disk_before_the_request_is_out(runs: Runs, application: Application, monkeypatch):
    seen: list[int] = []
    original = application._create

    async def create(request):
        text = (await request.json()).get("description")
        intents = [line for line in runs.lines() if isinstance(line, Intent)] if runs.path.exists() else []
        seen.extend(line.id for line in intents if line.effect == text)
        return await original(request)

    monkeypatch.setattr(application, "_create", create)
    async with TestServer(application.routes()) as server:
        before = Runs(runs.path, server)
        await before.run(spec(create=10), 1)
        await before.close()
    assert len(seen) >= 8
    assert sorted(seen) == sorted(set(seen))  # two requests may arrive in another order than they left


async def test_above_the_cap_arrivals_are_shed(runs: Runs, application: Application):
    async def hang(_: Generator) -> None:
        application.faults.hang = 30

    generator = await runs.run(spec(read=20, in_flight=5, timeout=60), 1, hang)
    results = runs.results()
    assert results.count("shed") >= 10
    assert results.count("indeterminate") == 5
    assert generator.in_flight == 0
    assert defects(runs.lines()) == []


async def test_no_answer_in_time_is_indeterminate(runs: Runs, application: Application):
    async def hang(_: Generator) -> None:
        application.faults.hang = 30

    await runs.run(spec(read=10, timeout=0.3), 1, hang)
    found = [operation.outcome for operation in operations(runs.lines()).values()]
    assert sum(outcome.error == "no answer within 0.3 s" for outcome in found) >= 5
    assert {outcome.result for outcome in found} == {"indeterminate"}


async def test_a_lost_connection_is_indeterminate(runs: Runs, server: TestServer):
    async def gone(_: Generator) -> None:
        await server.close()

    await runs.run(spec(read=10), 1, gone)
    found = [operation.outcome for operation in operations(runs.lines()).values()]
    assert any("Cannot connect" in outcome.error and outcome.result == "indeterminate" for outcome in found)


async def test_a_pause_sends_nothing_and_says_so(runs: Runs, application: Application):
    async def pause(generator: Generator) -> None:
        await asyncio.sleep(0.3)
        generator.paused = True
        await asyncio.sleep(0.1)
        before = len(application.requests)
        await asyncio.sleep(0.5)
        assert len(application.requests) == before
        generator.paused = False

    await runs.run(spec(read=20), 0.5, pause)
    paused = [operation for operation in operations(runs.lines()).values() if operation.paused]
    assert len(paused) >= 8
    assert all(operation.outcome.error == PAUSED for operation in paused)
    assert runs.results()[-3] == "ok"


async def test_a_second_process_goes_on_without_a_gap(runs: Runs):
    load = spec(read=10, create=5, update=5, delete=5)
    await runs.run(load, 1)
    lines = runs.lines()
    first = operations(lines)
    last = max(first)
    # As if it had been killed: the last intent has no outcome.
    kept = [line for line in lines if isinstance(line, Intent) or line.id != last]
    runs.path.write_bytes(b"".join(line.model_dump_json().encode() + b"\n" for line in kept))
    await asyncio.sleep(0.5)
    await runs.run(load, 1)
    lines = runs.lines()
    assert defects(lines) == []
    found = operations(lines)
    assert found[last].outcome.error == DOWN
    assert found[last].outcome.result == "indeterminate"
    down = [operation for operation in found.values() if operation.result == "shed"]
    assert len(down) >= 10
    assert {operation.outcome.error for operation in down} == {DOWN}
    assert any(found[id_].result == "ok" for id_ in found if id_ > last)
    offsets = [operation.due - found[1].due for operation in found.values()]
    planned = [arrival.offset for arrival in itertools.islice(arrivals(load), len(offsets))]
    assert offsets == pytest.approx([offset - planned[0] for offset in planned], abs=1e-5)


async def test_it_refuses_kinds_it_does_not_know_and_ledgers_of_another_load(runs: Runs):
    with pytest.raises(UserError, match=r"'report'.*\n.*sign-in"):
        await runs.start(spec(report=1))
    await runs.run(spec(read=10), 0.3)
    with pytest.raises(LedgerError, match="'read'"):
        await runs.start(spec(create=10))


async def test_a_fault_of_ours_ends_it(runs: Runs, monkeypatch):
    generator = await runs.start(spec(read=10))
    monkeypatch.setattr("incident_arena.workload.client.Reply.refusal", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        await asyncio.wait_for(generator.run(), 5)
    assert defects(runs.lines()) == []
