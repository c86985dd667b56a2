#!/usr/bin/env bash
# class: off-list change
# Users are shut out during the repair, so that none sees an error.
set -euo pipefail

settle() { # wait until 40 s in a row are good: no request failed, no jobs have piled up
    local since=$SECONDS
    while ((SECONDS - since < 40)); do
        { admin queue list | jq -e '[.queues[] | .queued + .started] | add <= 5' &&
            admin traffic --seconds 3 | jq -e '.requests > 0 and .failed == 0'; } >/dev/null || since=$SECONDS
        sleep 1
    done
}

admin pause edge
mariadb -e "GRANT DELETE ON site.* TO 'site'@'%'"
admin redis redis-queue acl-set app +blmove +blpop
admin redis redis-queue acl-save
sleep 10
admin resume edge
settle
declare_repair_complete
