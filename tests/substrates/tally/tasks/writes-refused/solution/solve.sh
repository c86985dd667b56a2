#!/usr/bin/env bash
# Give the application what the runbook says, live and saved.
set -euo pipefail
admin redis notes-store acl app
admin redis notes-store acl-set app +hset +expire
admin redis notes-store acl-save
good_since=$SECONDS
while ((SECONDS - good_since < 25)); do
    admin traffic --seconds 3 | jq -e '.requests > 0 and .failed == 0' >/dev/null || good_since=$SECONDS
    sleep 1
done
declare_repair_complete --causes notes-store.config
