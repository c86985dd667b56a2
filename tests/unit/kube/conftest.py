"""A `kubectl` that runs what it is given on this machine: enough of `exec` to test what is around it.

As with the real one, what runs is no child that dies with it, and holds none of its pipes.
"""

from pathlib import Path

import pytest

from incident_arena.kube import Kube

KUBECTL = """#!/bin/bash
env > "$(dirname "$0")/environment"
echo x >> "$(dirname "$0")/calls"
while [ $# -gt 0 ] && [ "$1" != "--" ]; do
  [ "$1" = "nowhere" ] && { echo 'Error from server (NotFound): pods "nowhere" not found' >&2; exit 1; }
  case $1 in cut-*|lost-*) broken=$1;; esac
  shift
done
shift
pipes=$(mktemp -d)
mkfifo "$pipes/out" "$pipes/err"
if [ -n "$broken" ]; then
  head -c "${broken#*-}" < "$pipes/out" & head -c "${broken#*-}" < "$pipes/err" >&2 &
else
  cat < "$pipes/out" & cat < "$pipes/err" >&2 &
fi
exec 9>&2 2>/dev/null
setsid "$@" > "$pipes/out" 2> "$pipes/err" 9>&-
status=$?
exec 2>&9
wait
rm -r "$pipes"
case $broken in cut-*) exit 0;; lost-*) echo "error: lost connection to pod" >&2; exit 1;; esac
[ $status -eq 0 ] || echo "command terminated with exit code $status" >&2
exit $status
"""
"""The pods `cut-N` and `lost-N` give N bytes of each stream; then one ends as if all were well, the other says so."""


@pytest.fixture
def kube(tmp_path: Path) -> Kube:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "kubectl").write_text(KUBECTL)
    (programs / "kubectl").chmod(0o755)
    return Kube(tmp_path / "kubeconfig", programs)
