"""The agent's acts as `arena watch` shows them: each once, whenever it is logged."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from incident_arena.formats.records import Action
from incident_arena.services.referee import watching
from incident_arena.services.referee.folder import Evidence
from incident_arena.services.referee.watching import Acts
from incident_arena.stores.base import Account, Store, StoreError, StoreSpec


class Audited(Store):
    """Logs whole seconds, as server_audit does, and may not answer."""

    kind = "mariadb"
    silent = False

    def __init__(self, folder: Path) -> None:
        spec = StoreSpec(name="mariadb", kind="mariadb", host="db", port=1, folders={"audit": folder})
        super().__init__(spec, Account("referee", "x"))
        self._log = folder / "log"
        self.asked = 0

    def log(self, *acts: tuple[float, str]) -> None:
        with self._log.open("a") as file:
            file.write("".join(f"{at} {what}\n" for at, what in acts))

    def acts(self, actor: str, since: float, until: float) -> Iterator[Action]:
        self.asked += 1
        if self.silent:
            raise StoreError("mariadb", "no answer")
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        for at, what in (line.split() for line in lines):
            if int(since) <= int(float(at)) <= until:
                yield Action(at=int(float(at)), source=self.name, actor=actor, kind="change", what=what)


class Arena:
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.admin = folder / "admin"
        self.admin.mkdir()
        (folder / "audit").mkdir()
        self.store = Audited(folder / "audit")
        (folder / "evidence").mkdir()
        self.evidence = Evidence(folder / "evidence")
        monkeypatch.setattr(watching.time, "time", lambda: self.now)
        config = SimpleNamespace(admin_audit=self.admin)
        parts: Any = SimpleNamespace(config=config, evidence=self.evidence, stores={"mariadb": self.store})
        self.acts = Acts(parts)

    async def look(self, now: float) -> None:
        self.now = now
        await self.acts.look()

    def call(self, at: float, what: str) -> None:
        act = Action(at=at, source="admin", actor="agent", kind="change", what=what)
        with (self.admin / "actions.jsonl").open("a") as file:
            file.write(f"{act.model_dump_json()}\n")

    def seen(self) -> list[tuple[float, str]]:
        path = self.evidence.live.folder / "acts.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(act.at, act.what) for act in map(Action.model_validate_json, lines)]


@pytest.fixture
def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Arena:
    return Arena(tmp_path, monkeypatch)


async def test_each_act_is_written_once(arena: Arena) -> None:
    await arena.look(1000.5)
    assert arena.seen() == []
    arena.call(1002.25, "restart")
    arena.store.log((1002.0, "GRANT"), (1003.9, "KILL"))
    for now in (1002.5, 1004, 1004.5, 1006, 1010):
        await arena.look(now)
    assert sorted(arena.seen()) == [(1002, "GRANT"), (1002.25, "restart"), (1003, "KILL")]


async def test_the_same_act_twice_is_two_acts(arena: Arena) -> None:
    arena.store.log((1002.1, "KILL"), (1002.2, "KILL"))
    await arena.look(1004)
    arena.store.log((1002.9, "KILL"))
    await arena.look(1006)
    await arena.look(1008)
    assert arena.seen() == [(1002, "KILL")] * 3


async def test_an_act_that_took_long_is_not_lost(arena: Arena) -> None:
    await arena.look(1010)
    arena.call(1003.5, "acl-save")
    await arena.look(1012)
    assert arena.seen() == [(1003.5, "acl-save")]


async def test_what_a_store_could_not_tell_comes_later(arena: Arena, capsys: pytest.CaptureFixture[str]) -> None:
    arena.store.log((1002.0, "GRANT"))
    arena.store.silent = True
    await arena.look(1004)
    assert "reading the agent's acts" in capsys.readouterr().err
    arena.store.silent = False
    await arena.look(1006)
    assert arena.seen() == [(1002, "GRANT")]


async def test_what_was_done_before_it_began_is_not_the_agents(arena: Arena) -> None:
    arena.call(990, "restart")
    await arena.look(1004)
    assert arena.seen() == []


async def test_audits_are_read_only_when_one_has_grown(arena: Arena) -> None:
    await arena.look(1001)
    arena.store.log((1002.0, "GRANT"))
    for now in (1003, 1005, 1007):
        await arena.look(now)
    assert arena.store.asked == 2
    arena.call(1008, "restart")
    for now in (1009, 1011):
        await arena.look(now)
    assert arena.store.asked == 3
    assert arena.seen() == [(1002, "GRANT"), (1008, "restart")]
