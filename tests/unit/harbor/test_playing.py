"""Folders of jobs: who comes at the same time gets one of their own."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.harbor.test_job import request

from incident_arena.errors import UserError
from incident_arena.harbor.journal import job_key, next_folder
from incident_arena.harbor.playing import claim

CLAIM = """
import sys
from pathlib import Path
from incident_arena.harbor import campaign, job, playing
playing.job_name = lambda: "2026-01-01__00-00-00"
sys.stdout.write("ready\\n"); sys.stdout.flush()
sys.stdin.readline()
request = job.Request(tasks=(), agent="nop", scripts=(), model=None, trials=1, parallel=1, max_retries=0, keep=False,
                      jobs=Path(sys.argv[1]), name=playing.job_name())
for _ in range(10):
    print(playing.claim(request).name)
    print(campaign.new_folder(Path(sys.argv[1])).name)
"""
PROCESSES = 4


@pytest.mark.timeout(300)
def test_many_processes_in_one_second_get_a_folder_each(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", CLAIM, str(tmp_path / "jobs")]
    started = [
        subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)
    ]
    for one in started:
        assert one.stdout
        assert one.stdout.readline() == "ready\n"
    for one in started:
        assert one.stdin
        one.stdin.write("go\n")
        one.stdin.flush()
    names = [name for one in started for name in one.communicate()[0].split()]
    assert len(names) == len(set(names)) == PROCESSES * 20
    assert sorted(names) == sorted(path.name for path in (tmp_path / "jobs").iterdir())


def test_a_name_that_was_asked_for_is_not_numbered(tmp_path: Path) -> None:
    first = claim(request(tmp_path, exact=True))
    assert first.folder.is_dir()
    with pytest.raises(UserError, match="is there already"):
        claim(request(tmp_path, exact=True))
    assert claim(request(tmp_path)).name == "n-2"


def test_jobs_of_one_name_in_two_folders_keep_their_records_apart(tmp_path: Path) -> None:
    one, two = (claim(request(tmp_path / folder)).folder for folder in ("a", "b"))
    assert one.name == two.name
    records = tmp_path / "records"
    assert next_folder(records, job_key(one), "t")[1] != next_folder(records, job_key(two), "t")[1]
    assert next_folder(records, job_key(one), "t")[0] == 2
