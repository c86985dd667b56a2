#!/usr/bin/env bash
# The repair, through what the agent has and nothing more.
set -euo pipefail
. "$(dirname "$0")/library.sh"

echo "== what the application may do, beside what it is meant to do"
mariadb -e "SHOW GRANTS FOR 'site'@'%'"
admin redis redis-queue acl app
admin redis redis-queue acl-log --count 5
sed -n '/^## Accounts/,/^## Settings/p' /runbook/runbook.md

echo "== give back what is missing: one privilege; two commands, live and saved"
mariadb -e "GRANT DELETE ON site.* TO 'site'@'%'"
admin redis redis-queue acl-set app +blmove +blpop
admin redis redis-queue acl-save

echo "== the workers come back, the backlog drains, then the whole window is good"
settle
admin queue list
admin traffic --seconds 40

declare_repair_complete --causes mariadb.grants redis-queue.config
