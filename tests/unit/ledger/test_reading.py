import math
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incident_arena.formats.records import Intent, LedgerLine, Outcome, Reconciled, RecordState
from incident_arena.ledger import reading as ledger
from incident_arena.ledger.reading import LedgerError, Tail, Touch, allowed, defects, quantile, violations, window

NOW = 1_000_000.0
JOB_S = 10.0


def intent(id_: int, *records: str, kind: str = "update", effect: str = "", due: float | None = None) -> Intent:
    due = NOW + id_ if due is None else due
    return Intent(id=id_, kind=kind, due=due, at=due, records=records, effect=effect)


def outcome(id_: int, result: str = "ok", *records: str, kind: str = "update", after: float = 0.1, **more) -> Outcome:
    due = more.pop("due", NOW + id_)
    return Outcome(
        id=id_, kind=kind, due=due, at=due + after, result=result, latency=after, records=records, **more
    )  # fmt: skip


def reconciled(records: dict[str, str | None], taken: float = NOW + 1000, missing: tuple[str, ...] = ()) -> Reconciled:
    """`records`: value by name; the value "gone" for one that does not exist."""
    states = {
        name: RecordState(exists=False) if value == "gone" else RecordState(exists=True, value=value)
        for name, value in records.items()
    }
    return Reconciled(taken=taken, records=states, queue={}, seeds_missing=missing)


def written(path: Path, lines: list[LedgerLine]) -> bytes:
    data = b"".join(line.model_dump_json().encode() + b"\n" for line in lines)
    path.write_bytes(data)
    return data


class TestReading:
    def test_reads_back_what_was_written(self, tmp_path):
        lines = [intent(1, "ToDo/a", effect="x"), outcome(1)]
        written(tmp_path / "l", lines)
        assert ledger.read(tmp_path / "l") == lines

    def test_follows_a_growing_file_line_by_line(self, tmp_path):
        path = tmp_path / "l"
        tail = Tail(path)
        assert tail.read() == []
        data = written(path, [intent(1), outcome(1)])
        cut = data.index(b"\n") + 10
        path.write_bytes(data[:cut])
        assert tail.read() == [intent(1)]
        assert tail.read() == []
        path.write_bytes(data)
        assert tail.read() == [outcome(1)]

    def test_says_which_line_is_none(self, tmp_path):
        (tmp_path / "l").write_bytes(intent(1).model_dump_json().encode() + b'\n{"type":"intent"}\n')
        with pytest.raises(LedgerError, match="line 2"):
            ledger.read(tmp_path / "l")

    def test_a_ledger_that_shrank_is_an_error(self, tmp_path):
        path = tmp_path / "l"
        written(path, [intent(1), outcome(1)])
        tail = Tail(path)
        tail.read()
        written(path, [intent(1)])
        with pytest.raises(LedgerError, match="shorter"):
            tail.read()


class TestDefects:
    def test_a_whole_ledger_has_none(self):
        assert defects([intent(1), intent(2), outcome(2), outcome(1), outcome(3, "shed"), intent(4)]) == []

    @pytest.mark.parametrize(
        ("lines", "said"),
        [
            ([intent(1), outcome(1), intent(3), outcome(3)], "1 operation ids of 1 to 3 are missing"),
            ([outcome(1)], "outcome without an intent"),
            ([intent(1), intent(1)], "an intent too many"),
            ([intent(1), outcome(1), outcome(1)], "two outcomes"),
            ([intent(1), outcome(1, kind="read")], "another than it began"),
            ([intent(1), outcome(1).model_copy(update={"latency": 0.01})], "latency"),
            ([intent(1, due=5.0), intent(2, due=4.0)], "not in the order"),
        ],
    )
    def test_names_what_is_wrong(self, lines, said):
        assert any(said in defect for defect in defects(lines))


class TestWindow:
    def test_counts_each_kind_by_when_it_was_due(self):
        lines = [
            intent(1, kind="read"),
            outcome(1, kind="read", after=0.2),
            intent(2, kind="read"),
            outcome(2, "wrong", kind="read"),
            intent(3, kind="create"),
            outcome(3, kind="create", after=0.5),
            intent(9, kind="read"),
            outcome(9, kind="read"),
        ]
        seen = window(lines, NOW + 1, NOW + 9, "baseline")
        assert (seen.name, seen.start, seen.end) == ("baseline", NOW + 1, NOW + 9)
        assert [(k.kind, k.samples, k.ok, k.p50, k.p95) for k in seen.kinds] == [
            ("create", 1, 1, 0.5, 0.5),
            ("read", 2, 1, 0.2, 0.2),
        ]

    def test_shed_fails_and_paused_is_no_sample(self):
        lines = [outcome(1, "shed", error="64 operations were under way"), outcome(2, "shed", error=ledger.PAUSED)]
        (kind,) = window(lines, NOW, NOW + 10).kinds
        assert (kind.samples, kind.ok, kind.p95) == (1, 0, None)

    def test_pending_counts_unless_it_may_yet_succeed(self):
        assert window([intent(1)], NOW, NOW + 10).kinds[0].samples == 1
        assert window([intent(1)], NOW, NOW + 10, pending=False).kinds == ()

    @given(st.lists(st.floats(0, 100), min_size=1), st.floats(0.01, 1))
    def test_a_quantile_is_a_value_that_enough_do_not_exceed(self, values, share):
        found = quantile(values, share)
        assert found in values
        assert sum(value <= found for value in values) >= share * len(values) - 1e-9
        assert sum(value < found for value in values) < share * len(values)


class TestAllowed:
    def test_an_acknowledged_write_is_there(self):
        lines = [intent(1, kind="create", effect="v1"), outcome(1, "ok", "ToDo/a", kind="create")]
        assert violations(lines, reconciled({"ToDo/a": "v1"}), JOB_S) == []
        assert violations(lines, reconciled({"ToDo/a": "gone"}), JOB_S) == ["ToDo/a is gone; allowed: there with 'v1'"]
        assert violations(lines, reconciled({"ToDo/a": "v0"}), JOB_S) == [
            "ToDo/a is there with 'v0'; allowed: there with 'v1'"
        ]

    def test_the_last_acknowledged_value_or_a_later_uncertain_one(self):
        lines = [
            intent(1, "r", effect="v1"), outcome(1),
            intent(2, "r", effect="v2"), outcome(2),
            intent(3, "r", effect="v3"), outcome(3, "indeterminate"),
            intent(4, "r", effect="v4"), outcome(4, "failed"),
        ]  # fmt: skip
        values = {"v1": False, "v2": True, "v3": True, "v4": False, "gone": False}
        assert {v: violations(lines, reconciled({"r": v}), JOB_S) == [] for v in values} == values

    def test_a_deletion(self):
        create = [intent(1, effect="v1"), outcome(1, "ok", "r")]
        for result, gone, there in (("ok", True, False), ("indeterminate", True, True), ("failed", False, True)):
            lines = [*create, intent(2, "r", effect="deleted"), outcome(2, result)]
            assert (violations(lines, reconciled({"r": "gone"}), JOB_S) == []) is gone, result
            assert (violations(lines, reconciled({"r": "v1"}), JOB_S) == []) is there, result

    def test_what_was_accepted_is_owed(self):
        lines = [intent(1, "job/n", effect="created"), outcome(1, "wrong", owed=True)]
        assert violations(lines, reconciled({"job/n": "gone"}), JOB_S)
        assert violations(lines, reconciled({"job/n": None}), JOB_S) == []
        unowed = [intent(1, "job/n", effect="created"), outcome(1, "wrong")]
        assert violations(unowed, reconciled({"job/n": "gone"}), JOB_S) == []

    def test_writes_that_overlap_may_end_in_either_order(self):
        lines = [
            intent(1, "r", effect="v1", due=NOW), intent(2, "r", effect="v2", due=NOW + 1),
            outcome(2, due=NOW + 1), outcome(1, due=NOW, after=5),
        ]  # fmt: skip
        assert violations(lines, reconciled({"r": "v1"}), JOB_S) == []
        assert violations(lines, reconciled({"r": "v2"}), JOB_S) == []

    def test_jobs_get_time_and_what_ended_after_the_look_may_be_unseen(self):
        delete = [intent(1, "r", "job/v", effect="deleted"), outcome(1)]
        soon, later = NOW + 1.1 + JOB_S - 1, NOW + 1.1 + JOB_S + 1
        assert violations(delete, reconciled({"r": "gone", "job/v": None}, taken=soon), JOB_S) == []
        assert violations(delete, reconciled({"r": "gone", "job/v": None}, taken=later), JOB_S)
        assert violations(delete, reconciled({"r": "v", "job/v": None}, taken=NOW), JOB_S) == []

    def test_a_record_that_was_not_looked_up_and_a_seed_that_is_gone(self):
        lines = [intent(1, "r", effect="v"), outcome(1)]
        assert violations(lines, reconciled({}, missing=("Note/s",)), JOB_S) == [
            "Note/s, from before the load, is gone",
            "r was not looked up",
        ]

    def test_a_pending_operation_may_have_taken_effect(self):
        lines = [intent(1, "r", effect="v1"), outcome(1), intent(2, "r", effect="deleted")]
        assert violations(lines, reconciled({"r": "gone"}), JOB_S) == []
        assert violations(lines, reconciled({"r": "v1"}), JOB_S) == []


EFFECTS = ("v1", "v2", "v3", "v4", ledger.DELETED)


@st.composite
def histories(draw):
    """Touches of one record, with the moment at which each really takes effect (inf: never)."""
    found = []
    for number in range(draw(st.integers(0, 6))):
        effect = f"v{number}" if draw(st.integers(0, 3)) else ledger.DELETED
        at = draw(st.floats(0, 50))
        sure = draw(st.booleans())
        end = at + draw(st.floats(0, 30)) if sure and draw(st.booleans()) else math.inf
        real = draw(st.floats(at, min(end, 90)))
        if not sure and draw(st.booleans()):
            real = math.inf
        found.append((Touch(effect, at, end, sure), real))
    return found


def played(history) -> str | None:
    """The value in the end, by playing what takes effect in order: None when gone, "initial" when never written."""
    state: str | None = "initial"
    for touch, real in sorted(history, key=lambda pair: pair[1]):
        if real == math.inf or state is None:
            continue
        state = None if touch.effect == ledger.DELETED else touch.effect
    return state


@settings(max_examples=400)
@given(histories())
def test_what_really_can_happen_is_allowed(history):
    state = played(history)
    states = allowed([touch for touch, _ in history])
    if state is None:
        assert states.gone
    else:
        assert states.exists
        if state != "initial":
            assert states.values is None or state in states.values


@settings(max_examples=400)
@given(st.lists(st.sampled_from(["v", "deleted"]), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_after_certain_operations_in_a_row_one_state_alone_is_allowed(effects, rng: random.Random):
    touches = [
        Touch(f"v{number}" if effect == "v" else ledger.DELETED, 10.0 * number, 10.0 * number + rng.random(), True)
        for number, effect in enumerate(effects)
    ]
    states = allowed(touches)
    if "deleted" in effects:
        assert (states.gone, states.exists) == (True, False)
    else:
        assert (states.gone, states.exists, states.values) == (False, True, frozenset({f"v{len(effects) - 1}"}))
