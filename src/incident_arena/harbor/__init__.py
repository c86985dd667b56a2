"""Incident-Arena in Harbor: the environment class, the script agent, and the export of tasks.

`harbor run -p TASK -e incident_arena.harbor:ArenaEnvironment -a oracle` plays an exported task;
`harbor job regrade JOB -p TASK -e incident_arena.harbor:JudgeEnvironment` judges it again, without a node.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incident_arena.harbor.agent import ScriptAgent
    from incident_arena.harbor.environment import ArenaEnvironment, JudgeEnvironment

__all__ = ["ArenaEnvironment", "JudgeEnvironment", "ScriptAgent"]

OFFLINE_PRICES = "LITELLM_LOCAL_MODEL_COST_MAP"
"""Variable without which a library of Harbor's fetches a price list when it is imported: ten seconds, and warnings."""


def __getattr__(name: str) -> Any:
    """Import Harbor only when one of its classes is asked for: listing tasks does not need it."""
    if name == "ScriptAgent":
        from incident_arena.harbor.agent import ScriptAgent  # noqa: PLC0415

        return ScriptAgent
    if name in __all__:
        from incident_arena.harbor import environment  # noqa: PLC0415

        return getattr(environment, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
