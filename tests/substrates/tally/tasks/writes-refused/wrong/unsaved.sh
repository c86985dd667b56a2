#!/usr/bin/env bash
# class: not durable
# Right, but not saved: gone at the next restart.
set -euo pipefail
. "$(dirname "$0")/library.sh"

admin redis notes-store acl-set app +hset +expire
settle
declare_repair_complete
