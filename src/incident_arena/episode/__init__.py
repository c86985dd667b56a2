"""An episode: from nothing to a broken application under load that awaits its agent, and to nothing again.

episode.py   the class that Harbor's environment drives
ground.py    what its stages work on
stages.py    the stages up to the agent's, in order
values.py    what the charts are told for one episode
logs.py      what is kept of a cluster that failed
"""

from incident_arena.episode.episode import Episode
from incident_arena.episode.ground import Order

__all__ = ["Episode", "Order"]
