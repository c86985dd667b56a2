import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from incident_arena.mistakes import mistakes


class Part(BaseModel):
    number: int


def test_each_mistake_has_its_place() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(list[Part]).validate_python([{"number": "x"}, {}])
    found = mistakes(caught.value, "list")
    assert [one.partition(":")[0] for one in found] == ["0.number", "1.number"]
    assert found[1] == "1.number: Field required"


def test_the_document_itself_has_a_name() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(list[Part]).validate_json("{")
    assert [one.partition(":")[0] for one in mistakes(caught.value, "list")] == ["list"]
