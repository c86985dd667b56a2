#!/usr/bin/env bash
# Another right way: the whole documented rules instead of the two commands, and the two repairs in the other order.
set -euo pipefail
. "$(dirname "$0")/library.sh"

# As the runbook has them; applied at once, so that the application is never without.
admin redis redis-queue acl-set app resetkeys '~*' resetchannels '&*' +@all -@admin -@dangerous +info +keys '+client|list'
admin redis redis-queue acl-save
# Make the file's users live: what was saved is what holds.
admin redis redis-queue acl-load
mariadb -e "SHOW GRANTS FOR 'site'@'%'"
mariadb -e "GRANT SELECT, INSERT, UPDATE, DELETE ON site.* TO 'site'@'%'"
for queue in short default; do
    failed=$(admin queue list "$queue" | jq ".queues[].failed")
    ((failed == 0)) || admin queue requeue-failed "$queue"
done
settle
declare_repair_complete
