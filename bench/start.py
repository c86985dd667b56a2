"""How long it takes from `arena run` to healthy, and what a whole episode with its gateway holds in memory at most.

Usage: python bench/start.py [--runs N] [--whole N] [--at-most SECONDS] [--at-most-mb MB] [--recorded JOB…]

Starts N episodes that are stopped once they are healthy (all pods ready, and 5 s in which every operation kind
succeeds), then plays N whole ones; nobody repairs. With --recorded nothing is played: the records of jobs whose names
begin so are read. Their clock begins when the job's environment starts, some seconds after the command, and goes on
while a node waits for its place. Prints median, minimum and maximum, from the episodes' records, and the machine's
load; exit status 1 when the median of the times, or any peak, is above its limit. Needs root, the node's binaries and
the images.
"""

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from incident_arena.errors import InfrastructureError
from incident_arena.harbor.journal import FILE, Attempt, job_key
from incident_arena.settings import Settings

TASK = "frappe/deletes-and-jobs-fail"
LIMIT_S = 30.0
LIMIT_MB = 4500
STOP_S = 120.0
HEALTHY = "healthy"
SAID = re.compile(rf"\s{{2}}{HEALTHY}\s+[0-9.]+ s$")


def main() -> int:
    """Start the task's episode several times, play it several times, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--whole", type=int, default=0)
    parser.add_argument("--at-most", type=float, default=LIMIT_S)
    parser.add_argument("--at-most-mb", type=int, default=LIMIT_MB)
    parser.add_argument("--recorded", nargs="+", metavar="JOB")
    given = parser.parse_args()
    if given.recorded:
        attempts = [(one.started, one) for name in given.recorded for one in _records(f"{name}*")]
    else:
        attempts = [_play(whole=number >= given.runs) for number in range(given.runs + given.whole)]
    times = [seconds for began, one in attempts if (seconds := _until_healthy(began, one)) is not None]
    peaks = [one.peak_memory_mb for _, one in attempts if one.peak_memory_mb and _is_whole(one)]
    print(f"load {os.getloadavg()[1]:.1f} over the last 5 min, {os.cpu_count()} CPUs")
    _tell(HEALTHY, times, "s")
    _tell("peak memory", peaks, "MB")
    late = bool(times) and statistics.median(times) > given.at_most
    return int(not times or late or max(peaks, default=0) > given.at_most_mb)


def _tell(name: str, values: list[float] | list[int], unit: str) -> None:
    if values:
        low, middle, high = min(values), statistics.median(values), max(values)
        print(f"{name:12} median {middle:7.1f}  min {low:7.1f}  max {high:7.1f} {unit}, of {len(values)}")


def _until_healthy(began: float, attempt: Attempt) -> float | None:
    """Seconds; None when it never was."""
    ends = [stage.started + stage.seconds for stage in attempt.stages if stage.name == HEALTHY and stage.ok]
    return ends[0] - began if ends else None


def _is_whole(attempt: Attempt) -> bool:
    """The episode went on to its agent, and was taken down afterwards."""
    return attempt.state == "stopped"


def _records(key: str) -> list[Attempt]:
    """Every attempt that was recorded for jobs of this key."""
    found = Settings.from_environment().records.glob(f"{key}/*/*/{FILE}")
    return [Attempt.model_validate_json(path.read_text()) for path in found]


def _play(*, whole: bool) -> tuple[float, Attempt]:
    """Play an episode to its end, or until it is healthy; when the command was given, and its record.

    Raises:
        InfrastructureError: the episode never was healthy.
    """
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as jobs:
        argv = [str(Path(sys.prefix) / "bin" / "arena"), "run", TASK, "--agent", "nop", "--max-retries", "0"]
        began, said = time.time(), []
        with subprocess.Popen(
            [*argv, "--jobs", jobs], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as run:
            assert run.stderr is not None
            for line in run.stderr:
                said.append(line)
                if SAID.search(line.rstrip()) and not whole:
                    run.send_signal(signal.SIGINT)
                    break
            try:
                run.communicate(timeout=STOP_S)
            finally:
                run.kill()
        for job in Path(jobs).iterdir():
            for attempt in _records(job_key(job)):
                if _until_healthy(began, attempt) is not None:
                    return began, attempt
    raise InfrastructureError("the episode", f"was never healthy: {''.join(said)}")


if __name__ == "__main__":
    sys.exit(main())
