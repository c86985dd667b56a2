#!/usr/bin/env bash
# class: other integrity
# Right, and then the way in is restarted until the user who complains of it is sure that it is well.
set -euo pipefail
. "$(dirname "$0")/library.sh"

mariadb -e "GRANT DELETE ON site.* TO 'site'@'%'"
admin redis redis-queue acl-set app +blmove +blpop
admin redis redis-queue acl-save
settle
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
    admin restart edge
    sleep 5
done
settle
declare_repair_complete
