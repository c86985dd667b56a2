#!/usr/bin/env bash
# class: cause or damage left
# Nothing is repaired.
set -euo pipefail

declare_repair_complete
