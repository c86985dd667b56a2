"""One holder at a time; the kernel frees it when the holder dies."""

import subprocess
import sys
from pathlib import Path

import pytest

from incident_arena.lock import locked
from incident_arena.wait import DeadlineError

HOLD = (
    "import sys, time; from pathlib import Path; from incident_arena.lock import locked\n"
    "with locked(Path(sys.argv[1]), deadline_s=5): print('held', flush=True); time.sleep(60)"
)


def test_a_second_process_waits_and_is_told_who_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    told: list[str] = []
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(DeadlineError, match=f"held by process {holder.pid}"),
            locked(path, deadline_s=0.2, waiting=told.append),
        ):
            pass
        assert told == [f"waiting for process {holder.pid}, which holds lock"]
        holder.kill()
        holder.wait()
        with locked(path, deadline_s=1):
            assert path.read_text() != str(holder.pid)
