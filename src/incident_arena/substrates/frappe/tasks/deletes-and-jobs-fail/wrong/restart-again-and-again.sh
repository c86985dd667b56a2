#!/usr/bin/env bash
# class: other integrity
# Right, and then the database is restarted until whoever does it is sure that the repair has come to stay.
set -euo pipefail
. "$(dirname "$0")/library.sh"

mariadb -e "GRANT DELETE ON site.* TO 'site'@'%'"
admin redis redis-queue acl-set app +blmove +blpop
admin redis redis-queue acl-save
settle
for _ in 1 2 3 4 5 6 7; do
    admin restart mariadb
    sleep 12
done
for queue in short default long; do
    failed=$(admin queue list "$queue" | jq ".queues[].failed")
    ((failed == 0)) || admin queue requeue-failed "$queue"
done
settle
declare_repair_complete
