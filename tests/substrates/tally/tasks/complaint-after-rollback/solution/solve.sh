#!/usr/bin/env bash
# Look, see that all is well, and say so.
set -euo pipefail
admin redis notes-store acl app
good_since=$SECONDS
while ((SECONDS - good_since < 25)); do
    admin traffic --seconds 3 | jq -e '.requests > 0 and .failed == 0' >/dev/null || good_since=$SECONDS
    sleep 1
done
declare_repair_complete --no-fault
