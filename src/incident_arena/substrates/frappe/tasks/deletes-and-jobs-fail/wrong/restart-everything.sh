#!/usr/bin/env bash
# class: cause or damage left
# Turn everything off and on again.
set -euo pipefail

for component in mariadb redis-cache redis-queue web web-b worker-short worker-default worker-long scheduler edge; do
    admin restart "$component"
done
sleep 20
declare_repair_complete
