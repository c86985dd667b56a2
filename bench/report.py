"""Time and memory of `arena report` over simulated job folders, and whether both grow in line with the trials.

`.venv/bin/python bench/report.py` simulates each size in a temporary folder, reports on it in a process of its own (its
imports counted), removes it, and prints a table. Exit status 1 when 3,000 trials take over 5 s or 1 GB, or when a
trial of the largest size costs over 1.5 times the time of one of the middle size (the smallest is mostly imports).
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from incident_arena.analysis.simulate import MODELS, Plan, simulate

SIZES = (3_000, 30_000, 100_000)
LIMIT_TRIALS = 3_000
LIMIT_SECONDS = 5.0
LIMIT_MB = 1_024
GROWTH = 1.5
"""Cost of one more trial between the last two sizes, over that between the first two."""
CELLS = len(MODELS) * 20 * 5


@dataclass(frozen=True)
class Measured:
    """One size."""

    trials: int
    seconds: float
    cpu_seconds: float
    peak_mb: float
    simulated_seconds: float
    megabytes_on_disk: float


def measure(trials: int, folder: Path) -> Measured:
    """Simulate and report on `trials` trials below `folder`, which is emptied again."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="arena-bench-") as scratch:
        jobs = Path(scratch) / "jobs"
        started = time.monotonic()
        truth = simulate(jobs, Plan(repeats=-(-trials // CELLS), limit=trials))
        simulated = time.monotonic() - started
        assert truth.total == trials
        size = sum(path.stat().st_size for path in jobs.rglob("*") if path.is_file()) / 1e6
        started = time.monotonic()
        process = subprocess.Popen(
            [
                Path(sys.executable).with_name("arena"),
                "report",
                jobs,
                "--format",
                "json",
                "--out",
                Path(scratch) / "out",
            ],
            stderr=subprocess.DEVNULL,
            cwd=scratch,
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"arena report ended with {process.returncode}")
        cpu = usage.ru_utime + usage.ru_stime
        return Measured(trials, seconds, cpu, usage.ru_maxrss / 1024, simulated, size)


def verdict(found: list[Measured]) -> list[str]:
    """What is wrong, one sentence each."""
    wrong = []
    for one in found:
        if one.trials == LIMIT_TRIALS and one.seconds > LIMIT_SECONDS:
            wrong.append(f"{one.trials:,} trials took {one.seconds:.1f} s, over {LIMIT_SECONDS:g} s")
        if one.trials == LIMIT_TRIALS and one.peak_mb > LIMIT_MB:
            wrong.append(f"{one.trials:,} trials took {one.peak_mb:.0f} MB, over {LIMIT_MB} MB")
    for name in ("cpu_seconds", "peak_mb"):
        steps = [
            (getattr(after, name) - getattr(before, name)) / (after.trials - before.trials)
            for before, after in pairwise(found)
        ]
        for first, second in pairwise(steps):
            if second > GROWTH * first:
                wrong.append(f"{name}: one more trial costs {second / first:.2f} times as much at the largest size")
    return wrong


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="trials, growing")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where to simulate")
    options = parser.parse_args()
    print(f"{'trials':>8} {'seconds':>8} {'CPU s':>8} {'peak MB':>8} {'simulated in':>13} {'on disk':>9}")
    found = []
    for size in options.sizes:
        one = measure(size, options.folder)
        found.append(one)
        print(
            f"{one.trials:>8,} {one.seconds:>8.1f} {one.cpu_seconds:>8.1f} {one.peak_mb:>8.0f}"
            f" {one.simulated_seconds:>11.1f} s {one.megabytes_on_disk:>6.0f} MB",
            flush=True,
        )
    wrong = verdict(found)
    for sentence in wrong:
        print(f"FAILED {sentence}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
