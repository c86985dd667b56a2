from collections.abc import Iterator
from pathlib import Path

import pytest

from incident_arena.formats.records import Action
from incident_arena.services.referee import actions
from incident_arena.stores import audits
from incident_arena.stores.base import Account, Store, StoreSpec

ACT = Action(at=5, source="admin", actor="agent", kind="change", what="restart")


class Audited(Store):
    """Tells acts, of whom and between which moments it was asked."""

    kind = "mariadb"

    def acts(self, actor: str, since: float, until: float) -> Iterator[Action]:
        for at in (since, until):
            yield Action(at=at, source=self.name, actor=actor, kind="change", what="GRANT")


def written(folder: Path, *acts: Action, rest: str = "") -> Path:
    (folder / "actions.jsonl").write_text("".join(f"{act.model_dump_json()}\n" for act in acts) + rest, newline="")
    return folder


def test_all_acts_come_in_order_of_time_with_the_source_that_the_store_has(tmp_path: Path) -> None:
    names = ("main", "silent")
    specs = {name: StoreSpec(name=name, kind="mariadb", host=name, port=1) for name in names}
    account = Account("referee", "x")
    stores = {"main": Audited(specs["main"], account), "silent": Store(specs["silent"], account)}
    found = actions.gather(stores, written(tmp_path, ACT), 1, 10)
    assert [(each.at, each.source, each.actor) for each in found] == [
        (1, "main", "operator"), (5, "admin", "agent"), (10, "main", "operator"),
    ]  # fmt: skip


def test_the_admins_audit_is_read_whole_lines_only(tmp_path: Path) -> None:
    later = ACT.model_copy(update={"at": 50.0})
    written(tmp_path, ACT, later, rest='{"version"')
    assert list(actions.of_admin(tmp_path, 1, 10)) == [ACT]
    assert list(actions.of_admin(tmp_path / "none", 1, 10)) == []


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"])
def test_only_a_line_feed_ends_a_line(tmp_path: Path, separator: str) -> None:
    written(tmp_path, ACT.model_copy(update={"detail": f"web{separator}x"}), rest="nonsense\n")
    assert [each.what for each in actions.of_admin(tmp_path, 1, 10)] == ["restart", "unreadable"]


def test_a_flood_is_an_act(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audits, "BUDGET", 2 * audits.FRAME + 100)
    assert [each.what for each in actions.of_admin(written(tmp_path, *[ACT] * 9), 1, 10)] == [
        "restart", "restart", "flooded",
    ]  # fmt: skip
    monkeypatch.setattr(audits, "LARGEST", 50)
    (tmp_path / "actions.jsonl").write_text("x" * 51)
    assert [each.what for each in actions.of_admin(tmp_path, 1, 10)] == ["flooded"]
