"""Judge a trial's evidence again, as Harbor's regrade would, in the same sandbox."""

import asyncio
import tempfile
from pathlib import Path

from incident_arena.formats.proof import Result
from incident_arena.formats.verdict import Verdict
from incident_arena.harbor.outcome import read_verdict
from incident_arena.sandbox import Sandbox

DEADLINE_S = 300.0
JUDGE = "exec python3 -m incident_arena.judge /evidence /logs/verifier"


def judge(evidence: Path) -> Verdict | None:
    """The verdict on an evidence folder; None when there is none.

    Raises:
        UserError: the kernel refuses the sandbox.
    """
    return asyncio.run(_judge(evidence))


async def _judge(evidence: Path) -> Verdict | None:
    sandbox = Sandbox()
    await sandbox.start()
    try:
        await sandbox.upload(evidence, "/evidence")
        await sandbox.exec(JUDGE, deadline_s=DEADLINE_S)
        with tempfile.TemporaryDirectory(prefix="arena-verdict-") as scratch:
            await sandbox.download("/logs/verifier", Path(scratch) / "verifier")
            return read_verdict(Path(scratch))
    finally:
        await sandbox.stop()


def again(trial: Path, before: Result) -> Result | None:
    """A trial's result by the judge of today; None when its evidence is gone or can't be judged."""
    evidence = trial / "artifacts" / "evidence"
    if not evidence.is_dir():
        return None
    verdict = judge(evidence)
    if verdict is None or verdict.reward is None:
        return None
    return before.model_copy(
        update={
            "reward": float(verdict.reward),
            "failure_class": verdict.failure_class,
            "inclusive": list(verdict.inclusive),
            "reason": "",
        }
    )
