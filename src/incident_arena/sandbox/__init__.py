"""Where the judge runs: a folder of this machine, entered through namespaces without network, root or cluster."""

from incident_arena.sandbox.sandbox import TIMED_OUT, Ended, Sandbox

__all__ = ["TIMED_OUT", "Ended", "Sandbox"]
