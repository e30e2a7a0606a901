#!/bin/sh
# verdicts.py, where there is a python3.
#
#     verdicts.sh BINDIR ...
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$(dirname "$0")/verdicts.py" "$@"
