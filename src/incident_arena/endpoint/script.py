"""The script of an endpoint: a TOML file with its steps, in order.

[[step]]
bash = "kubectl get pods"

[[step]]
status = 429
repeat = 2

[[step]]
text = "Repaired."
"""

import tomllib
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from incident_arena.errors import UserError

TURNS = ("bash", "text", "raw")
"""Steps that leave a turn of the model in the conversation."""
FAULTS = ("status", "refuse", "hang", "cut", "garbage")
"""Steps that leave none: whether one is over can't be read from the conversation."""
ONLY_WITH = {"retry_after": "status", "message": "status", "code": "status", "wait": "bash"}

type Text = Annotated[str, Field(min_length=1)]


class Step(BaseModel):
    """One step: exactly one of the kinds in TURNS and FAULTS, and what belongs to it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    bash: Text | None = None
    """A shell command, to be run by the tool that the request offers."""
    text: Text | None = None
    """The final answer; it ends the agent's turn."""
    raw: Text | None = None
    """Sent as it stands, also to an agent that reads its commands out of the text."""
    status: Annotated[int, Field(ge=400, le=599)] | None = None
    """An HTTP error with the body that the API's provider gives."""
    refuse: Literal[True, "filter"] | None = None
    """True: the model declines. "filter": the provider's filter blocks the answer."""
    hang: Annotated[float, Field(gt=0)] | Literal[True] | None = None
    """Seconds of silence after the headers, then the connection is closed; true: until the client goes away."""
    cut: Literal[True] | None = None
    """The next answer breaks off in its middle."""
    garbage: Literal[True] | None = None
    """200, with bytes that are neither JSON nor events."""

    repeat: Annotated[int, Field(ge=1)] | Literal["forever"] = 1
    """How many turns (or, of a fault, how many requests of a conversation) the step stands for."""
    retry_after: Annotated[float, Field(ge=0)] | None = None
    """Seconds in the Retry-After header of an error; without it, a 429 says 1 and others say nothing."""
    message: Text | None = None
    code: Text | None = None
    """The error's own word in the provider's body (`insufficient_quota`), where the status' usual one won't do."""
    wait: Annotated[float, Field(gt=0)] = 1.0
    """Seconds that terminus-2 waits before it looks at the screen."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        kinds = [name for name in TURNS + FAULTS if getattr(self, name) is not None]
        if len(kinds) != 1:
            what = " and ".join(kinds) if kinds else "nothing"
            raise ValueError(f"a step is exactly one of {', '.join(TURNS + FAULTS)}; this one has {what}")
        for name, owner in ONLY_WITH.items():
            if name in self.model_fields_set and owner != kinds[0]:
                raise ValueError(f"{name} belongs to {owner}, not to {kinds[0]}")
        return self

    @property
    def kind(self) -> str:
        """Which of TURNS and FAULTS it is."""
        return next(name for name in TURNS + FAULTS if getattr(self, name) is not None)

    @property
    def is_turn(self) -> bool:
        """Whether it leaves a turn of the model in the conversation."""
        return self.kind in TURNS

    @property
    def lasts(self) -> float:
        """Turns or requests that it stands for; infinite for `forever`."""
        return float("inf") if self.repeat == "forever" else self.repeat


class Script(BaseModel):
    """The steps, in order."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    step: Annotated[tuple[Step, ...], Field(min_length=1, strict=False)]

    @property
    def texts(self) -> frozenset[str]:
        """Every text that the script says as it stands."""
        return frozenset(said for step in self.step for said in (step.text, step.raw) if said)


def load_script(path: Path) -> Script:
    """The script in a file.

    Raises:
        UserError: it can't be read or is wrong; all its mistakes are named, each with its step, counted from 1.
    """
    thing = f"script '{path}'"
    try:
        return Script.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UserError(thing, f"can't be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(thing, f"is no TOML: {error}") from None
    except ValidationError as error:
        raise UserError(thing, _mistakes(error), "docs/endpoint.md tells the steps") from None


def _mistakes(error: ValidationError) -> str:
    """Each place once: a value that fits none of several types is one mistake to the reader."""
    places: dict[str, list[str]] = {}
    for problem in error.errors():
        match problem["loc"]:
            case ("step", int(index), str(name), *_):
                place = f"step {index + 1}: {name}: "
            case ("step", int(index), *_):
                place = f"step {index + 1}: "
            case loc:
                place = "".join(f"{part}: " for part in loc)
        said = problem["msg"].removeprefix("Value error, ")
        if said not in places.setdefault(place, []):
            places[place].append(said)
    return "; ".join(place + " or ".join(said) for place, said in places.items())
