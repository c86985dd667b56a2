from incident_arena.formats.records import Intent, Outcome
from incident_arena.substrates.frappe.pool import Pool


def pool(*names: str) -> Pool:
    made = Pool()
    for name in names:
        made.add(name, f"value of {name}")
    return made


def test_updates_prefer_the_newest_unchanged_and_deletions_the_oldest_changed():
    records = pool("a", "b", "c")
    assert records.to_update() == "c"
    records.updated("c", "new")
    records.free("c")
    assert records.to_update() == "b"
    assert records.to_delete() == "c"


def test_no_record_is_used_twice_at_once():
    records = pool("a", "b")
    assert {records.to_delete(), records.to_update()} == {"a", "b"}
    assert records.to_delete() is None
    assert records.to_update() is None
    assert records.to_read(0) is None
    records.free("a")
    assert records.to_read(5) == ("a", "value of a")


def test_a_suspect_is_deleted_only_when_there_is_nothing_else():
    records = pool("a", "b")
    records.suspected("a")
    assert records.is_suspect("a")
    assert records.to_delete() == "b"
    assert records.to_delete() == "a"
    records.free("a")
    assert records.to_update() is None
    records.deleted("a")
    assert records.to_delete() is None


def test_what_is_not_known_is_not_read():
    records = pool("a")
    records.updated("a", None)
    assert records.to_read(0) is None
    assert records.to_update() == "a"


def lines(id_: int, kind: str, effect: str, result: str, record: str, *, told: bool = False):
    names = (f"ToDo/{record}",)
    yield Intent(id=id_, kind=kind, due=id_, at=id_, records=() if told else names, effect=effect)
    if result != "pending":
        more = names if told else ()
        yield Outcome(id=id_, kind=kind, due=id_, at=id_, latency=0, result=result, records=more)


def test_it_knows_after_a_restart_what_it_knew_before():
    records = pool("old", "older")
    history = [
        *lines(1, "create", "v1", "ok", "a", told=True),
        *lines(2, "create", "v2", "ok", "b", told=True),
        *lines(3, "update", "v3", "indeterminate", "a"),
        *lines(4, "delete", "deleted", "ok", "older"),
        *lines(5, "delete", "deleted", "pending", "b"),
        *lines(6, "update", "v6", "ok", "unseen"),
        *lines(7, "delete", "deleted", "failed", "old"),
        *lines(8, "bulk-update", "v8", "ok", "batch-01-01"),
    ]
    records.replay(history, "ToDo", {"create", "update", "delete"})
    assert records._values == {"old": "value of old", "a": None, "unseen": "v6"}
    assert records.is_suspect("b")
