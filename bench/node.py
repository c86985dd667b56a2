"""How long a node takes from the call to Ready, DNS answering and a pod running, and how long it takes to be gone.

Usage: python bench/node.py [--runs N] [--at-most SECONDS]. Prints minimum, median and maximum; exit status 1 when the
median of the starts is above the limit. Needs root, the node's binaries and the images.
"""

import argparse
import os
import statistics
import sys
import time

from incident_arena.cli.node import node_images
from incident_arena.node import down
from incident_arena.node.up import Up
from incident_arena.settings import Settings

LIMIT_S = 6.0


def main() -> int:
    """Start and stop a node several times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--at-most", type=float, default=LIMIT_S)
    options = parser.parse_args()
    settings = Settings.from_environment()
    images = node_images(settings)
    starts, stops, stages = [], [], []
    for run in range(options.runs + 1):  # the first fills the page cache and is left out
        began = time.monotonic()
        up = Up(settings, f"bench-{os.getpid()}-{run}", images, lambda _text: None)
        spec = up.start()  # its DNS is a pod: Ready, answering and a pod running are one moment
        started = time.monotonic()
        down.stop(settings, spec)
        stopped = time.monotonic()
        if run:
            starts.append(started - began)
            stops.append(stopped - started)
            stages.append(up.seconds)
    for name, values in (("start", starts), ("stop", stops)):
        print(f"{name:12} min {min(values):6.2f}  median {statistics.median(values):6.2f}  max {max(values):6.2f} s")
    for stage in stages[0]:
        print(f"  {stage:10} median {statistics.median(one[stage] for one in stages):6.2f} s")
    return 1 if statistics.median(starts) > options.at_most else 0


if __name__ == "__main__":
    sys.exit(main())
