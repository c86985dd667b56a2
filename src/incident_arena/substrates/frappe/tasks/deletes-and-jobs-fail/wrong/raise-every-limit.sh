#!/usr/bin/env bash
# class: off-list change
# Right, and every limit is raised to be on the safe side.
set -euo pipefail

settle() { # wait until 40 s in a row are good: no request failed, no jobs have piled up
    local since=$SECONDS
    while ((SECONDS - since < 40)); do
        { admin queue list | jq -e '[.queues[] | .queued + .started] | add <= 5' &&
            admin traffic --seconds 3 | jq -e '.requests > 0 and .failed == 0'; } >/dev/null || since=$SECONDS
        sleep 1
    done
}

mariadb -e "GRANT DELETE ON site.* TO 'site'@'%'"
admin redis redis-queue acl-set app +blmove +blpop
admin redis redis-queue acl-save
admin mariadb set max_connections 2000 --where both
admin mariadb set wait_timeout 86400 --where both
admin redis redis-queue set maxmemory 0
admin redis redis-queue save
settle
declare_repair_complete
