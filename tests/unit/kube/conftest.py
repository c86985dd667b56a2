"""A `kubectl` that runs what it is given on this machine: enough of `exec` to test what is around it.

As with the real one, what runs is no child that dies with it, and holds none of its pipes.
"""

from pathlib import Path

import pytest

from incident_arena.kube import Kube

KUBECTL = """#!/bin/bash
while [ "$1" != "--" ]; do
  [ "$1" = "nowhere" ] && { echo 'Error from server (NotFound): pods "nowhere" not found' >&2; exit 1; }
  shift
done
shift
errors=$(mktemp)
setsid "$@" 2> "$errors" | cat
status=${PIPESTATUS[0]}
cat "$errors" >&2
rm "$errors"
[ $status -eq 0 ] || echo "command terminated with exit code $status" >&2
exit $status
"""


@pytest.fixture
def kube(tmp_path: Path) -> Kube:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "kubectl").write_text(KUBECTL)
    (programs / "kubectl").chmod(0o755)
    return Kube(tmp_path / "kubeconfig", programs)
