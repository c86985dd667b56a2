#!/usr/bin/env bash
# class: declared out of bounds
# Right, but nobody waited for the service to be well.
set -euo pipefail

mariadb -e "GRANT DELETE ON site.* TO 'site'@'%'"
admin redis redis-queue acl-set app +blmove +blpop
admin redis redis-queue acl-save
declare_repair_complete
