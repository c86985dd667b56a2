#!/usr/bin/env bash
# class: off-list change
# Everything on the database instead of the one privilege.
set -euo pipefail
. "$(dirname "$0")/library.sh"

mariadb -e "GRANT ALL PRIVILEGES ON site.* TO 'site'@'%'"
admin redis redis-queue acl-set app +blmove +blpop
admin redis redis-queue acl-save
settle
declare_repair_complete
