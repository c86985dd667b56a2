"""The command line `arena`: one file a verb; errors become one message and an exit status here and nowhere else."""

from incident_arena.cli.main import main

__all__ = ["main"]
