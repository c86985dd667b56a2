"""What is kept of an agent's time once it ends."""

import pytest

from incident_arena.harbor.ending import NAMES_KEPT, refused_names


@pytest.mark.parametrize(
    ("log", "names"),
    [
        ("", {}),
        (
            "[INFO] refused a.example.\n[INFO] refused A.Example.\n[INFO] refused b.example.\n",
            {"a.example": 2, "b.example": 1},
        ),
        ("CoreDNS-1.15.0\n[ERROR] plugin/errors: 2 refused a. A: i/o timeout\n", {}),
    ],
)
def test_names_that_were_refused_are_counted(log: str, names: dict[str, int]) -> None:
    assert refused_names(log) == names


def test_the_most_frequent_names_are_kept() -> None:
    log = (
        "".join(f"[INFO] refused {number}.example.\n" for number in range(NAMES_KEPT + 50)) + "[INFO] refused x.\n" * 2
    )
    names = refused_names(log)
    assert (len(names), names["x"]) == (NAMES_KEPT, 2)
