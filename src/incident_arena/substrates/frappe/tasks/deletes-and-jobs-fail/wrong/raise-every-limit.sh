#!/usr/bin/env bash
# class: off-list change
# Right, and every limit is raised to be on the safe side.
set -euo pipefail
. "$(dirname "$0")/library.sh"

mariadb -e "GRANT DELETE ON site.* TO 'site'@'%'"
admin redis redis-queue acl-set app +blmove +blpop
admin redis redis-queue acl-save
admin mariadb set max_connections 2000 --where both
admin mariadb set wait_timeout 86400 --where both
admin redis redis-queue set maxmemory 0
admin redis redis-queue save
settle
declare_repair_complete
