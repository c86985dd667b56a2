#!/usr/bin/env bash
# class: off-list change
# Rights that nobody needs, to be on the safe side.
set -euo pipefail
. "$(dirname "$0")/library.sh"

admin redis notes-store acl-set app +@all
settle
declare_repair_complete
