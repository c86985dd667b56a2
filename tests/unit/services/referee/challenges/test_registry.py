import inspect

import pytest

from incident_arena.errors import UserError
from incident_arena.services.referee import challenges


def test_challenges_are_found_by_file() -> None:
    assert challenges.kinds() == ("churn", "restart")
    for kind in challenges.kinds():
        assert inspect.iscoroutinefunction(challenges.get(kind))
        assert list(inspect.signature(challenges.get(kind)).parameters) == ["parts", "challenge"]


@pytest.mark.parametrize("kind", ["fire", "", "Churn", "churn.run"])
def test_an_unknown_kind_lists_the_valid_ones(kind: str) -> None:
    with pytest.raises(UserError, match="one of: churn, restart"):
        challenges.get(kind)
