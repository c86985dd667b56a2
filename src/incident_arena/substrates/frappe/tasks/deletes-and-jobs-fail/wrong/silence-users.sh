#!/usr/bin/env bash
# class: off-list change
# Users are shut out during the repair, so that none sees an error.
set -euo pipefail
. "$(dirname "$0")/library.sh"

admin pause edge
mariadb -e "GRANT DELETE ON site.* TO 'site'@'%'"
admin redis redis-queue acl-set app +blmove +blpop
admin redis redis-queue acl-save
sleep 10
admin resume edge
settle
declare_repair_complete
