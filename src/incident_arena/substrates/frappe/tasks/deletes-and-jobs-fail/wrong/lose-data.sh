#!/usr/bin/env bash
# class: off-list change
# Right, and what could not be deleted for so long is cleared away by hand.
set -euo pipefail
. "$(dirname "$0")/library.sh"

mariadb -e "GRANT DELETE ON site.* TO 'site'@'%'"
admin redis redis-queue acl-set app +blmove +blpop
admin redis redis-queue acl-save
mariadb -e "DELETE FROM site.tabNote WHERE name LIKE 'seed-note-00%'"
settle
declare_repair_complete
