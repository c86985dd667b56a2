"""The seal is found however the stream is cut into pieces, and nothing else is taken off."""

import pytest

from incident_arena.kube.remote import Seal
from incident_arena.proc import Kept


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_both_seals_are_taken_off(size: int) -> None:
    kept = Kept()
    seal = Seal(kept)
    word = seal.word
    whole = f"out{word[:9]}{word[:31]}x{word}042left behind".encode()
    for at in range(0, len(whole), size):
        seal("stdout", whole[at : at + size])
    assert seal.status is None
    seal("stderr", f"err{word}042".encode())
    seal.flush()
    assert seal.status == 42
    assert kept.text("stdout") == f"out{word[:9]}{word[:31]}xleft behind"
    assert kept.text("stderr") == "err"


def test_what_only_begins_like_a_seal_is_handed_on() -> None:
    kept = Kept()
    seal = Seal(kept)
    seal("stdout", f"a{seal.word}04".encode())
    assert kept.text("stdout") == "a"
    seal.flush()
    assert kept.text("stdout") == f"a{seal.word}04"
    assert seal.status is None


def test_nothing_is_held_that_is_no_seal() -> None:
    kept = Kept()
    seal = Seal(kept)
    seal("stdout", f"{seal.word}+12".encode())
    assert kept.text("stdout") == f"{seal.word}+12"
