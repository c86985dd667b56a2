#!/usr/bin/env bash
# class: never declared
# Right in all, but for saying so.
set -euo pipefail
. "$(dirname "$0")/library.sh"

mariadb -e "GRANT DELETE ON site.* TO 'site'@'%'"
admin redis redis-queue acl-set app +blmove +blpop
admin redis redis-queue acl-save
settle
