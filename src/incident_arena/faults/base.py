"""The one shape of a fault."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from incident_arena.formats.records import Scalar
from incident_arena.stores.mariadb.client import Sql
from incident_arena.stores.redis.client import Commands


@dataclass(frozen=True)
class Context:
    """Connections to the running application's stores, of an account that may do everything."""

    mariadb: Sql
    redis_queue: Commands
    redis_cache: Commands


class Parameters(BaseModel):
    """A fault's parameters, as a task gives them."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Look:
    """What an observer saw: the state, and the facts that it follows from."""

    state: Literal["planted", "clear"]
    seen: dict[str, Scalar] = field(default_factory=dict)


class Fault[P: Parameters](ABC):
    """A fault: what it needs to know, how it is planted, and how one sees that it is there."""

    name: ClassVar[str]
    """`<component>.<aspect>`."""
    parameters: type[P]

    @abstractmethod
    def plant(self, context: Context, parameters: P) -> None:
        """Break it, live and, where the setting has a saved form, there too; so that the symptom shows at once.

        Raises:
            StoreError: the component refused.
        """

    @abstractmethod
    def observe(self, context: Context, parameters: P) -> Look:
        """Look at the live effective state, and at that alone: how it came about makes no difference.

        Raises:
            StoreError: the component cannot be asked.
        """

    @abstractmethod
    def describe(self, parameters: P) -> str:
        """What is broken, in one sentence for people who may know."""
