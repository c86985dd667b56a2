"""How much of a core the load generator takes, and how late it is.

    .venv/bin/python bench/load.py [--rate 10] [--seconds 60] [--target http://… (else a small application on loopback)]

Exits 1 when the generator takes more than a quarter of a core, or its p95 of lateness passes 50 ms.
"""

import argparse
import json
import os
import socket
import sys
import tempfile
import urllib.request
from pathlib import Path

from incident_arena import proc, wait
from incident_arena.ledger import reading as ledger
from incident_arena.services.load.api import LoadStatus

SERVER = Path(__file__).parents[1] / "tests" / "support" / "frappe_server.py"
SHARES = {
    "sign-in": 1.5, "create": 1.6, "update": 1.5, "delete": 1.5, "mention": 1.5,
    "list": 0.5, "read": 0.5, "bulk-update": 0.1,
}  # fmt: skip
"""The mix of the task deletes-and-jobs-fail, in operations a second."""
MOST_CPU = 0.25
MOST_LATENESS = 0.05


def main() -> int:
    """Measure and print; the exit status says whether it is within bounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=10, help="operations a second, all kinds together")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--target", help="an application with the frappe substrate's seeds")
    parser.add_argument("--api-secret", default="secret")
    parser.add_argument("--users-password", default="users")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return measure(given, Path(folder))


def measure(given: argparse.Namespace, folder: Path) -> int:
    """Run the generator against the target for the time given."""
    scale = given.rate / sum(SHARES.values())
    (folder / "task.json").write_text(json.dumps(task({kind: share * scale for kind, share in SHARES.items()})))
    application = None
    if not given.target:
        port = free_port()
        application = proc.spawn([sys.executable, SERVER, "--port", str(port)], log=folder / "server.log")
        given.target = f"http://127.0.0.1:{port}"
    api = free_port()
    load = proc.spawn(
        [sys.executable, "-m", "incident_arena.services.load", "--task", folder / "task.json", "--target", given.target,
         "--ledger", folder / "ledger.jsonl", "--port", str(api)],
        log=folder / "log",
        env={"LOAD_TOKEN": "t", "LOAD_API_SECRET": given.api_secret, "LOAD_USERS_PASSWORD": given.users_password},
    )  # fmt: skip
    try:
        wait.until("the load runs", lambda: running(api), deadline_s=60, every_s=0.5)
        start, first = cpu(load.pid), status(api)
        wait.until(
            "the time is over",
            lambda: (status(api).at - first.at >= given.seconds, ""),
            deadline_s=given.seconds + 30, every_s=1,
        )  # fmt: skip
        share, last = (cpu(load.pid) - start) / (status(api).at - first.at), status(api)
        memory = peak_memory(load.pid)
    finally:
        for process in (load, application):
            if process is not None:
                process.terminate()
                process.wait(10)
    window = ledger.window(ledger.read(folder / "ledger.jsonl"), first.at, last.at, pending=False)
    return report(window, share, memory, last)


def report(window: ledger.Window, share: float, memory: int, last: LoadStatus) -> int:
    """Print the figures."""
    seconds = window.end - window.start
    for kind in window.kinds:
        p50, p95 = (f"{value * 1000:7.1f}" if value is not None else "      -" for value in (kind.p50, kind.p95))
        print(
            f"{kind.kind:12} {kind.samples / seconds:6.2f}/s  ok {kind.ok}/{kind.samples}  p50 {p50} ms  p95 {p95} ms"
        )
    lateness = last.lateness_p95 or 0.0
    print(f"rate {sum(kind.samples for kind in window.kinds) / seconds:.2f}/s over {seconds:.0f} s")
    print(f"lateness p95 {lateness * 1000:.1f} ms (at most {MOST_LATENESS * 1000:.0f})")
    print(f"cpu {share:.3f} cores (at most {MOST_CPU}), peak memory {memory} MB")
    return int(share > MOST_CPU or lateness > MOST_LATENESS)


def task(rates: dict[str, float]) -> dict[str, object]:
    """A task with this load and nothing else."""
    return {
        "name": "frappe/bench", "title": "bench", "substrate": "frappe", "surface": "confined", "faults": [],
        "layer": "configuration", "onset": "at start", "symptom": {"kinds": {}}, "restarts": [], "permitted": [],
        "load": {"kinds": {kind: {"rate": rate} for kind, rate in rates.items()}},
    }  # fmt: skip


def running(port: int) -> tuple[bool, str]:
    """Whether the schedule has begun."""
    try:
        state = status(port).state
    except OSError as error:
        return False, str(error)
    return state == "running", state


def status(port: int) -> LoadStatus:
    """Ask the generator."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=10) as answer:
        return LoadStatus.model_validate_json(answer.read())


def cpu(pid: int) -> float:
    """Seconds of processor time that a process has used, user and system (proc(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_memory(pid: int) -> int:
    """Peak resident memory in MB."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 // 10**6


def free_port() -> int:
    """A port of loopback that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
