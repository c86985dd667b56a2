"""The errors that a user sees.

    ArenaError
    ├── UserError            exit status 2: bad input, a missing tool, no root
    └── InfrastructureError  exit status 3: the machine or the cluster failed
        ├── CommandError     a process failed or overran its deadline (proc.py)
        └── DeadlineError    a named condition did not come true in time (wait.py)

Each names the thing, the reason and the remedy. Only the command line turns them into text and an exit status.
"""


class ArenaError(Exception):
    """Something failed in a way that a person can act on.

    Args:
        thing: what failed, by its name ("task 'x/y'", "port 6443").
        reason: why.
        remedy: what to do about it; empty where there is none.
    """

    exit_status = 3

    def __init__(self, thing: str, reason: str, remedy: str = "") -> None:
        self.thing = thing
        self.reason = reason
        self.remedy = remedy
        super().__init__(f"{thing}: {reason}" + (f"\n  remedy: {remedy}" if remedy else ""))


class UserError(ArenaError):
    """What was asked for cannot be done as asked."""

    exit_status = 2


class InfrastructureError(ArenaError):
    """The machine, the node or the cluster failed."""

    exit_status = 3
