import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incident_arena.errors import UserError
from incident_arena.stores.redis import acl

TABLE = acl.Table(
    {
        "get": frozenset({"read", "fast"}),
        "set": frozenset({"write"}),
        "blmove": frozenset({"write", "blocking"}),
        "auth": frozenset({"connection"}),
        "config": frozenset({"admin", "slow"}),
        "config|get": frozenset({"admin"}),
        "config|set": frozenset({"admin", "dangerous"}),
    },
    frozenset({"auth", "config"}),
)
EVERYTHING = {"get", "set", "blmove", "config|get", "config|set"}


def user(rules: str) -> acl.User:
    return acl.parse([f"user u {rules}"], TABLE)["u"]


@pytest.mark.parametrize(
    ("rules", "commands"),
    [
        ("", set()),
        ("+@all", EVERYTHING),
        ("allcommands -blmove", EVERYTHING - {"blmove"}),
        ("+@all -@admin", {"get", "set", "blmove"}),
        ("+@all -@admin +config", EVERYTHING),
        ("+@all -@slow", {"get", "set", "blmove"}),
        ("+@all -config|set", EVERYTHING - {"config|set"}),
        ("-@all +@write -@blocking", {"set"}),
        ("+blmove -@all +GET", {"get"}),
        ("+set|x", {"set|x"}),
        ("+set|x +set", {"set"}),
        ("+@all reset +get", {"get"}),
    ],
)
def test_rules_apply_in_order(rules: str, commands: set[str]) -> None:
    assert user(rules).root.commands == commands


@pytest.mark.parametrize(
    ("rules", "keys", "channels"),
    [
        ("~a* ~b", {"~a*", "~b"}, set()),
        ("~a* allkeys ~b", {"~*"}, set()),
        ("~* resetkeys %R~x %RW~y %WR~z", {"%R~x", "~y", "~z"}, set()),
        ("&a &* &b", set(), {"*"}),
        ("allchannels resetchannels &b", set(), {"b"}),
    ],
)
def test_keys_and_channels(rules: str, keys: set[str], channels: set[str]) -> None:
    assert user(rules).root.keys == keys
    assert user(rules).root.channels == channels


def test_passwords_are_digests_however_they_are_written() -> None:
    digest = hashlib.sha256(b"secret").hexdigest()
    assert user(">secret") == user(f"#{digest.upper()}")
    assert user(">secret <secret") == user("")
    assert user(">secret nopass") == user("nopass")
    assert not user("nopass >secret").nopass
    assert "secret" not in str(acl.facts({"u": user(">secret")}))


def test_selectors() -> None:
    with_selector = user("on +get ~a (+blmove ~*) (+set ~b)")
    assert with_selector.allows("blmove")
    assert not with_selector.allows("set"), "a selector on some keys is not enough"
    assert acl.facts({"u": with_selector})["u/selectors/0/commands/blmove"] is True
    assert user("(+get) clearselectors").selectors == []


def test_facts_hold_what_is_so_and_leave_out_what_is_not() -> None:
    facts = acl.facts(acl.parse(["user a/b on nopass ~* &* +get", "", "# note"], TABLE))
    assert facts == {
        "a%2Fb/enabled": True,
        "a%2Fb/nopass": True,
        "a%2Fb/sanitize-payload": True,
        "a%2Fb/commands/get": True,
        "a%2Fb/keys/~*": True,
        "a%2Fb/channels/*": True,
    }


@pytest.mark.parametrize(
    "line",
    ["usr a on", "user", "user u +nosuch", "user u -set|x", "user u +@nosuch", "user u what", "user u (on)"],
)
def test_what_the_server_would_not_load_is_an_error(line: str) -> None:
    with pytest.raises(UserError):
        acl.parse([line], TABLE)


RULES = st.sampled_from(("+get", "-get", "+@all", "-@all", "+@write", "-@admin", "+config", "-config|set", "+blmove"))


@given(st.lists(RULES), st.sampled_from(("get", "set", "blmove")))
def test_a_last_rule_about_a_command_decides(rules: list[str], command: str) -> None:
    assert user(" ".join([*rules, f"+{command}"])).root.allows(command)
    assert not user(" ".join([*rules, f"-{command}"])).root.allows(command)


def test_a_command_is_allowed_on_keys_that_the_rules_name() -> None:
    limited = user("~note:* +get")
    assert limited.allows("get", "note:*")
    assert not limited.allows("get")
    assert not limited.allows("set", "note:*")
    assert user("~* +get").allows("get", "note:*")
