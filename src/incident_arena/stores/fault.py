"""The one shape of a fault."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Literal

from incident_arena.formats.parameters import Parameters
from incident_arena.formats.records import Scalar
from incident_arena.formats.task import Permit
from incident_arena.stores.base import Store


@dataclass(frozen=True)
class Look:
    """What an observer saw: the state, and the facts that it follows from."""

    state: Literal["planted", "clear"]
    seen: dict[str, Scalar] = field(default_factory=dict)


class Fault[S: Store, P: Parameters](ABC):
    """A fault of one component: how it is planted, how one sees that it is there, and what repairs it.

    A task names it `<component>.<aspect>`: the component is a store of the application, of the kind in whose folder
    the fault is, and the aspect is the name of its file there.
    """

    parameters: type[P]

    @abstractmethod
    def plant(self, store: S, parameters: P) -> None:
        """Break it, live and, where the setting has a saved form, there too; so that the symptom shows at once.

        Args:
            store: of an account that may do everything.
            parameters: the task's.

        Raises:
            StoreError: the component refused.
        """

    @abstractmethod
    def lift(self, store: S, parameters: P) -> None:
        """Put right what `plant` broke, live and saved, so that nothing differs from before.

        Raises:
            StoreError: the component refused.
        """

    @abstractmethod
    def observe(self, store: S, parameters: P) -> Look:
        """Look at the live effective state, and at that alone: how it came about makes no difference.

        Raises:
            StoreError: the component cannot be asked.
        """

    @abstractmethod
    def elsewhere(self, store: S) -> P:
        """Parameters by which a store is looked at in which this is not planted.

        Every store is looked at for every fault at the same rate: what the server counts must not tell where one is.
        """

    @abstractmethod
    def cover(self, store: S) -> None:
        """Make what the server counts the same whether `plant` was called or not; without an effect on the service.

        Called once on every store that can have the fault, after planting. Where figures can't be reset, a random
        number of the same statements with no effect is a way.

        Raises:
            StoreError: the component refused.
        """

    @abstractmethod
    def describe(self, parameters: P) -> str:
        """What is broken, in one sentence for people who may know."""

    @abstractmethod
    def repairs(self, component: str, parameters: P) -> tuple[Permit, ...]:
        """The differences that a repair makes between "broken" and "the agent is done", and no others.

        Args:
            component: the store's name, with which the paths of its facts begin.
            parameters: the task's.
        """
