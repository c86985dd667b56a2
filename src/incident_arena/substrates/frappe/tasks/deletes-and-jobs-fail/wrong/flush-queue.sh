#!/usr/bin/env bash
# class: off-list change
# The backlog is thrown away instead of being worked off.
set -euo pipefail
. "$(dirname "$0")/library.sh"

mariadb -e "GRANT DELETE ON site.* TO 'site'@'%'"
admin redis redis-queue acl-set app +blmove +blpop
admin redis redis-queue acl-save
for queue in short default long; do admin queue flush "$queue" || true; done
settle
declare_repair_complete
