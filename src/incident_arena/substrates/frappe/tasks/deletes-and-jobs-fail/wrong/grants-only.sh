#!/usr/bin/env bash
# class: cause or damage left
# One of the two causes.
set -euo pipefail

mariadb -e "GRANT DELETE ON site.* TO 'site'@'%'"
declare_repair_complete
