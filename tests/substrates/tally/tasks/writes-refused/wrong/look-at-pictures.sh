#!/usr/bin/env bash
# class: not durable
# Right, and looks at the application so much that it is left with four times the memory.
set -euo pipefail
. "$(dirname "$0")/library.sh"

admin redis notes-store acl-set app +hset +expire
admin redis notes-store acl-save
for width in $(seq 1 24); do
    curl -sf "http://web:8080/pictures/${width}000x4000" >/dev/null
done
settle
declare_repair_complete
