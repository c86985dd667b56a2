#!/usr/bin/env bash
# class: off-list change
# Right, but first the whole store of jobs is emptied.
set -euo pipefail
. "$(dirname "$0")/library.sh"

admin redis redis-queue flush
mariadb -e "GRANT DELETE ON site.* TO 'site'@'%'"
admin redis redis-queue acl-set app +blmove +blpop
admin redis redis-queue acl-save
settle
declare_repair_complete
