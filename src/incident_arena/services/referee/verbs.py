"""The verbs that look at the application or do something to it."""

from incident_arena.services.referee import admission, collect, watching
from incident_arena.services.referee.config import Config
from incident_arena.services.referee.parts import Parts, assemble


async def run(verb: str, label: str, config: Config) -> str:
    """Carry out one verb; `label` is a snapshot's. What it says about itself.

    Raises:
        ArenaError: it failed.
    """
    async with assemble(config) as parts:
        if verb == "snapshot":
            return (await admission.snapshot(parts, label))[0]
        return await VERBS[verb](parts)


async def _watch(parts: Parts) -> str:
    await watching.watch(parts)
    return "ended"


VERBS = {
    "watch": _watch,
    "healthy": admission.healthy,
    "baseline": admission.baseline,
    "plant": admission.plant,
    "symptom": admission.symptom,
    "collect": collect.collect,
}
