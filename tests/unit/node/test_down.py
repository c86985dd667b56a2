"""Cleaning up spares what runs, whoever started it."""

import json
import subprocess
from pathlib import Path

from incident_arena.node import down
from incident_arena.node.spec import start_time
from incident_arena.settings import Settings


def test_a_node_of_another_version_is_spared_while_it_runs(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, cgroup_root="incident-arena-unit-test")
    folder = settings.nodes / "other"
    folder.mkdir(parents=True)
    (folder / "node.json").write_text('{"format": "of another version"}')
    with subprocess.Popen(["sleep", "60"]) as supervisor:
        record = {"pid": supervisor.pid, "started": start_time(supervisor.pid)}
        (folder / "supervisor.json").write_text(json.dumps(record))
        assert down.clean(settings).is_empty
        assert folder.exists()
        supervisor.kill()
    assert down.clean(settings).files == [str(folder)]
    assert not folder.exists()
