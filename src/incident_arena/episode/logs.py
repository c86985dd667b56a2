"""What is kept of a cluster that failed: its pods' states and logs, and the node's own logs."""

import contextlib
import shutil
from pathlib import Path

from incident_arena.errors import ArenaError
from incident_arena.node.spec import NodeSpec
from incident_arena.proc import DIRECT, run_async

KUBECTL_S = 20.0


async def keep(spec: NodeSpec, folder: Path) -> Path:
    """Copy logs into `folder`/logs, as far as they can be had.

    Returns:
        The folder.
    """
    kept = folder / "logs"
    for source, name in ((spec.logs, "node"), (spec.folder / "pod-logs", "pods")):
        with contextlib.suppress(OSError, shutil.Error):  # a log may be rotated away meanwhile
            shutil.copytree(source, kept / name, dirs_exist_ok=True)
    kubectl = [str(spec.bin / "kubectl"), f"--kubeconfig={spec.kubeconfig}", "--namespace=arena"]
    for file, verb in (("pods.txt", ["get", "pods", "-o", "wide"]), ("describe.txt", ["describe", "pods"])):
        try:
            seen = await run_async([*kubectl, *verb], deadline_s=KUBECTL_S, env=DIRECT, check=False)
        except ArenaError as error:
            text = str(error)
        else:
            text = seen.stdout + seen.stderr
        kept.mkdir(parents=True, exist_ok=True)
        (kept / file).write_text(text)
    return kept
