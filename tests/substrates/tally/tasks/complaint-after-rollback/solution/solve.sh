#!/usr/bin/env bash
# Look, see that all is well, and say so.
set -euo pipefail
. "$(dirname "$0")/library.sh"

admin redis notes-store acl app
settle
declare_repair_complete --no-fault
