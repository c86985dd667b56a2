#!/usr/bin/env bash
# class: not durable
# Right, but the access list is not saved: gone at the next restart.
set -euo pipefail
. "$(dirname "$0")/library.sh"

mariadb -e "GRANT DELETE ON site.* TO 'site'@'%'"
admin redis redis-queue acl-set app +blmove +blpop
settle
declare_repair_complete
