#!/usr/bin/env bash
# The repair, through what the agent has and nothing more.
set -euo pipefail

echo "== what the application may do, beside what it is meant to do"
mariadb -e "SHOW GRANTS FOR 'site'@'%'"
admin redis redis-queue acl app
admin redis redis-queue acl-log --count 5
sed -n '/^## Accounts/,/^## Settings/p' /runbook/runbook.md

echo "== give back what is missing: one privilege; two commands, live and saved"
mariadb -e "GRANT DELETE ON site.* TO 'site'@'%'"
admin redis redis-queue acl-set app +blmove +blpop
admin redis redis-queue acl-save

healthy() { # seconds: no request failed in them, and no jobs have piled up
    admin queue list | jq -e '[.queues[] | .queued + .started] | add <= 5' >/dev/null &&
        admin traffic --seconds "$1" | jq -e '.requests > 0 and .failed == 0' >/dev/null
}
echo "== the workers come back, the backlog drains, then the whole window is good"
good_since=$SECONDS
while ((SECONDS - good_since < 40)); do
    healthy 3 || good_since=$SECONDS
    sleep 1
done
admin queue list
admin traffic --seconds 40

declare_repair_complete --causes mariadb.grants redis-queue.config
