#!/usr/bin/env bash
# class: cause or damage left
# The other of the two causes.
set -euo pipefail

admin redis redis-queue acl-set app +blmove +blpop
admin redis redis-queue acl-save
declare_repair_complete
