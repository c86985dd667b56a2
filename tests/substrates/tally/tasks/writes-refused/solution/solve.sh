#!/usr/bin/env bash
# Give the application what the runbook says, live and saved.
set -euo pipefail
. "$(dirname "$0")/library.sh"

admin redis notes-store acl app
admin redis notes-store acl-set app +hset +expire
admin redis notes-store acl-save
settle
declare_repair_complete --causes notes-store.config
