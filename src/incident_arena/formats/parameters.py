"""What a task may say of a fault or an event: each has parameters of its own, which are read here."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from incident_arena.errors import UserError
from incident_arena.mistakes import mistakes


class Parameters(BaseModel):
    """Parameters, as a task gives them."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def read[P: Parameters](thing: str, wanted: type[P], given: Mapping[str, Any]) -> P:
    """Parameters of `thing`.

    Raises:
        UserError: they are wrong; all that is wrong at once, with what is valid.
    """
    try:
        return wanted.model_validate(given)
    except ValidationError as error:
        wrong = "; ".join(mistakes(error, "parameters"))
        valid = ", ".join(wanted.model_fields) or "it has none"
        raise UserError(thing, wrong, f"its parameters: {valid}") from error
