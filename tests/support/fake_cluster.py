"""A cluster for tests of what is around it: each "pod" is a folder of this machine, entered by namespaces.

Everything else is real: Harbor, the environment class, the copying, the judge. What an episode shall do is told in the
variable ARENA_FAKE, a JSON object: `fail` (how many attempts fail to start), `hang` (it never gets ready), `evidence`
(a folder that the referee gathers), `bursts` (a step at which the first episode raises what nobody expects), `idle`
(another folder, where the agent did not leave solved.txt), `log` (a file with a line for each call).
"""

import asyncio
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from incident_arena.episode import Order
from incident_arena.errors import InfrastructureError
from incident_arena.formats.records import Stage
from incident_arena.kube import Kube
from incident_arena.sandbox import confine
from incident_arena.sandbox.sandbox import layout

KUBECTL = """#!/bin/bash
if [[ " $* " == *" port-forward "* ]]; then
    echo "Forwarding from 127.0.0.1:9 -> 9090"
    exec sleep 1000
fi
while [ "$1" != "--" ]; do pod=$1; shift; done
shift
folder={folder}/$pod
[ -d "$folder" ] || {{ echo "Error from server (NotFound): pods \\"$pod\\" not found" >&2; exit 1; }}
env -i PATH=/opt/bin:/usr/bin:/bin HOME=/tmp POD="$pod" {python} -I {confine} "$(cat "$folder/plan.json")" -- "$@"
status=$?
[ $status -eq 0 ] || echo "command terminated with exit code $status" >&2
exit $status
"""
REFEREE = """#!/bin/sh
echo "collect $*" >> /log
[ -f /opt/evidence/manifest.json ] && cp -r /opt/evidence/. /evidence/
echo '{"collected": true}'
"""
DECLARE = """#!/bin/sh
echo "declared $*" | tee /logs/declared
"""
FOLDERS = {"agent": ("logs", "solution", "tests", "installed-agent"), "referee": ("evidence",)}


class FakeKube(Kube):
    """Finds a pod by its component's name."""

    async def pod_of(self, component: str) -> str:
        return component

    async def get(self, path: str, **_query: str) -> dict[str, Any]:
        """A pod; the agent's is labelled as the referee does once it has declared."""
        pod = path.rpartition("/")[2]
        declared = (self.kubeconfig.parent / pod / "files" / "logs" / "declared").exists()
        return {"metadata": {"labels": {"incident-arena.io/frozen": "true"} if declared else {}}}

    async def log(self, pod: str, *, most: int) -> str:
        """What the DNS filter prints."""
        return f"[INFO] refused asked-of-{pod}.example.\n"[-most:]


class FakeEpisode:
    """Stands in for episode.Episode; the constructor is the same."""

    def __init__(
        self,
        order: Order,
        record: Path,
        on_stage: Callable[[Stage], None] | None = None,
    ) -> None:
        assert (order.task_folder / "task.json").is_file()
        self._plan = json.loads(os.environ["ARENA_FAKE"])
        self._log_file = Path(self._plan["log"])
        (record / "agent-image").write_text(order.agent_image)
        (record / "seed").write_text(str(order.seed))
        (record / "way-out").write_text(json.dumps(dict(order.way.upstreams)))
        (record / "cpus").write_text(json.dumps(order.settings.cpus_per_node))
        (record / "seal").write_text(json.dumps(order.seal))
        self._name, self._record, self._on_stage = order.name, record, on_stage
        self._pods = order.settings.home / "pods" / order.name
        self.kube = FakeKube(self._pods / "kubeconfig", self._pods / "bin")
        self.peak_memory_mb = 0

    def _burst(self, step: str) -> None:
        token = self._log_file.with_name("burst")
        if self._plan.get("bursts") == step and not token.exists():
            token.touch()
            raise ZeroDivisionError(step)

    def _log(self, what: str) -> None:
        with self._log_file.open("a") as file:
            file.write(f"{what} {self._name}\n")

    async def start(self) -> None:
        self._log("start")
        self._burst("start")
        started = time.time()
        if int(self._record.name) <= self._plan.get("fail", 0):
            self._tell(Stage(name="ready", started=started, seconds=0.1, ok=False, detail="pod web-1 crashes"))
            raise InfrastructureError("stage 'ready'", "pod web-1: CrashLoopBackOff")
        if self._plan.get("hang"):
            await asyncio.Event().wait()
        for pod, folders in FOLDERS.items():
            for folder in folders:
                (self._pods / pod / "files" / folder).mkdir(parents=True)
            (self._pods / pod / "root").mkdir()
            self._write_plan(pod)
        (self._pods / "bin").mkdir()
        script = KUBECTL.format(folder=self._pods, python=sys.executable, confine=confine.__file__)
        (self._pods / "bin" / "kubectl").write_text(script)
        (self._pods / "bin" / "kubectl").chmod(0o755)
        self._tell(Stage(name="ready", started=started, seconds=0.1, ok=True))

    def _write_plan(self, pod: str) -> None:
        plan = layout()
        files = self._pods / pod / "files"
        writable = [[str(path), f"/{path.name}"] for path in sorted(files.iterdir())]
        programs = self._pods / pod / "bin"
        programs.mkdir()
        name, text = ("python", REFEREE) if pod == "referee" else ("declare_repair_complete", DECLARE)
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
        plan["read_only"] = [*plan["read_only"], [str(programs), "/opt/bin"]]
        if pod == "referee":
            if evidence := self._plan.get("evidence"):
                plan["read_only"].append([evidence, "/opt/evidence"])
            self._log_file.touch()
            writable.append([str(self._log_file), "/log"])
        whole = {"root": str(self._pods / pod / "root"), "cwd": "/", "writable": writable, **plan}
        (self._pods / pod / "plan.json").write_text(json.dumps(whole))

    def _tell(self, stage: Stage) -> None:
        if self._on_stage:
            self._on_stage(stage)

    async def freeze(self) -> None:
        self._log("freeze")
        self._burst("freeze")
        if (idle := self._plan.get("idle")) and not any((self._pods / "agent").rglob("solved.txt")):
            plan = self._pods / "referee" / "plan.json"
            plan.write_text(plan.read_text().replace(json.dumps(self._plan["evidence"]), json.dumps(idle)))
        shutil.rmtree(self._pods / "agent")

    async def stop(self) -> None:
        self._log("stop")
        self._burst("stop")
        self.peak_memory_mb = 123
        shutil.rmtree(self._pods, ignore_errors=True)
