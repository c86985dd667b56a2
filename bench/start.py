"""How long it takes from `arena run` to healthy: all pods ready, and 5 s in which every operation kind succeeds.

Usage: python bench/start.py [--runs N] [--at-most SECONDS]. Prints minimum, median and maximum; exit status 1 when the
median is above the limit. Each run is stopped once it is healthy. Needs root, the node's binaries and the images.
"""

import argparse
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from incident_arena.errors import InfrastructureError

TASK = "frappe/deletes-and-jobs-fail"
LIMIT_S = 30.0
STOP_S = 120.0
HEALTHY = re.compile(r"\s{2}healthy\s+[0-9.]+ s$")


def main() -> int:
    """Start the task's episode several times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--at-most", type=float, default=LIMIT_S)
    options = parser.parse_args()
    times = [_until_healthy() for _ in range(options.runs)]
    print(f"healthy      min {min(times):6.2f}  median {statistics.median(times):6.2f}  max {max(times):6.2f} s")
    return 1 if statistics.median(times) > options.at_most else 0


def _until_healthy() -> float:
    """Seconds from the command's start to its line that says so; a line is shown at most half a second late.

    Raises:
        InfrastructureError: the episode never was healthy.
    """
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as jobs:
        argv = [str(Path(sys.prefix) / "bin" / "arena"), "run", TASK, "--agent", "nop", "--jobs", jobs]
        began = time.monotonic()
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
            assert run.stderr is not None
            said = []
            for line in run.stderr:
                said.append(line)
                if HEALTHY.search(line.rstrip()):
                    seconds = time.monotonic() - began
                    run.send_signal(signal.SIGINT)
                    try:
                        run.communicate(timeout=STOP_S)
                    finally:
                        run.kill()
                    return seconds
    raise InfrastructureError("the episode", f"was never healthy: {''.join(said)}")


if __name__ == "__main__":
    sys.exit(main())
