#!/usr/bin/env bash
# class: off-list change
# The application becomes the operator instead of getting its privilege back.
set -euo pipefail
. "$(dirname "$0")/library.sh"

password=$(sed -n 's/^password=//p' "$MYSQL_HOME/my.cnf")
admin connection-set db-password "$password"
admin connection-set db-user operator
admin redis redis-queue acl-set app +blmove +blpop
admin redis redis-queue acl-save
settle
declare_repair_complete
