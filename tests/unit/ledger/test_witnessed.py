"""Invariants over what clients witnessed."""

import pytest
from pydantic import ValidationError

from incident_arena.formats.records import LedgerLine, Outcome, Witness
from incident_arena.formats.task import Invariant
from incident_arena.ledger import witnessed

ONCE = Invariant(name="one order a checkout", rule="once", of="order/")
ORDER = Invariant(name="messages in order", rule="in order", of="channel/")
PAIRED = Invariant(name="paid means ordered", rule="paired", of="payment/", other="order/")


def seen(*pairs: tuple[str, str]) -> list[LedgerLine]:
    outcome = Outcome(id=1, kind="buy", due=1.0, at=1.0, result="ok", latency=0.0)
    return [
        outcome,
        *(Witness(id=1, kind="buy", due=1.0, at=1.0 + n, subject=s, value=v) for n, (s, v) in enumerate(pairs)),
    ]


@pytest.mark.parametrize(
    ("invariant", "pairs", "found"),
    [
        (ONCE, [("order/a", "1"), ("order/a", "1"), ("order/b", "2")], []),
        (ONCE, [("order/a", "1"), ("order/a", "2")], ["one order a checkout: order/a was seen as 1, 2"]),
        (ONCE, [("payment/a", "1"), ("payment/a", "2")], []),
        (ORDER, [("channel/x", "9"), ("channel/x", "10"), ("channel/y", "1")], []),
        (ORDER, [("channel/x", "2"), ("channel/x", "2")], ["messages in order: channel/x had 2 after 2"]),
        (ORDER, [("channel/x", "10"), ("channel/x", "9")], ["messages in order: channel/x had 9 after 10"]),
        (ORDER, [("channel/x", "1"), ("channel/x", "no")], ["messages in order: channel/x had no after 1"]),
        (PAIRED, [("payment/a", "p"), ("order/a", "o"), ("order/b", "o")], []),
        (PAIRED, [("payment/a", "p"), ("order/b", "o")], ["paid means ordered: payment/a was seen, and order/a never"]),
    ],
)
def test_each_rule(invariant: Invariant, pairs: list[tuple[str, str]], found: list[str]) -> None:
    assert witnessed.broken(seen(*pairs), [invariant]) == found


def test_every_rule_is_told_of() -> None:
    lines = seen(("order/a", "1"), ("order/a", "2"), ("payment/b", "p"))
    assert len(witnessed.broken(lines, [ONCE, ORDER, PAIRED])) == 2
    assert witnessed.broken([], [ONCE, ORDER, PAIRED]) == []


@pytest.mark.parametrize(("rule", "other"), [("paired", ""), ("once", "order/")])
def test_the_other_side_belongs_to_pairs(rule: str, other: str) -> None:
    with pytest.raises(ValidationError, match="belongs to the rule `paired`"):
        Invariant.model_validate({"name": "x", "rule": rule, "of": "a/", "other": other})
