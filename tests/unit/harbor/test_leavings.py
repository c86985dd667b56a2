"""What agents leave in their pods, through real Harbor: none of it costs a trial its verdict, nor its neighbours."""

import json
from pathlib import Path

import pytest
from tests.support import evidence as evidences
from tests.unit.harbor.conftest import Stage

from incident_arena.analysis.left_out import read_left_out

pytestmark = pytest.mark.timeout(600)  # whole jobs of many trials, on a machine that may be busy
ATTACKS = {
    "byte": r"printf '\377' > /logs/agent/trajectory.json",
    "deep": "head -c 20000 /dev/zero | tr '\\0' '[' > /logs/agent/trajectory.json",
    "half": r"""echo '{"schema_version": "\ud800", "n": NaN}' > /logs/agent/trajectory.json""",
    "huge": "echo kept > /logs/agent/log.txt; truncate -s 3G /logs/agent/core",
    "folders": "cd /logs/artifacts; for _ in $(seq 750); do mkdir d; cd d; done; touch leaf",
    "many": "mkdir /logs/agent/m; cd /logs/agent/m; seq 6000 | xargs touch",
    "kinds": "cd /logs/agent; mkfifo pipe; ln -s /etc/passwd link; ln -s .. up; touch $'two\\nlines' $'\\377'",
    "closed": "mkdir /logs/agent/closed; touch /logs/agent/closed/x; chmod 0 /logs/agent/closed",
    "gone": "rm -rf /logs/agent /logs/artifacts",
    "elsewhere": "rm -rf /logs/agent; ln -s / /logs/agent",
    "file": "rm -rf /logs/agent; echo > /logs/agent",
}


def test_nothing_that_an_agent_leaves_spares_it_its_verdict(stage: Stage) -> None:
    scripts = []
    for name, text in {**ATTACKS, "honest": "sleep 1; touch /logs/agent/solved.txt"}.items():
        scripts.append(stage.tmp / f"{name}.sh")
        scripts[-1].write_text(f"#!/bin/bash\n{text}\n")
    idle = evidences.build(fixed=dict.fromkeys(evidences.FAULTS), declared=None).write(stage.tmp / "idle")
    ended = stage.play(
        stage.request(scripts=tuple(scripts), parallel=2, max_retries=1), evidence=stage.evidence(), idle=str(idle)
    )
    rewards = {Path(one.script).stem: (one.reward, one.attempts) for one in ended}
    assert rewards == dict.fromkeys(ATTACKS, (0, 1)) | {"honest": (1, 1)}, [one.reason for one in ended]
    told = {Path(one.script).stem: read_left_out(Path(one.job_dir) / one.trial) for one in ended}
    agent = {Path(one.script).stem: Path(one.job_dir) / one.trial / "agent" for one in ended}
    assert told["honest"] == ()
    assert told["deep"] == ("/logs/agent: trajectory.json: is no JSON document: nested too deeply",)
    assert any("./core: is too large" in line for line in told["huge"])
    assert (agent["huge"] / "log.txt").read_text() == "kept\n"
    assert any("lies deeper than" in line for line in told["folders"])
    assert any("more than 5000 files" in line for line in told["many"])
    assert {path.name for path in agent["kinds"].iterdir()} == {"script.txt"}
    assert json.loads((agent["half"] / "trajectory.json").read_text()) == {"schema_version": "?", "n": None}
    for folder in agent.values():
        assert not any(path.is_symlink() for path in folder.parent.rglob("*"))
