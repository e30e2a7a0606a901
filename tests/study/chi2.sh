#!/bin/sh
# chi2.py, where there is a python3: chi2/dof of true models.
#
#     chi2.sh BINDIR ...
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$(dirname "$0")/chi2.py" "$@"
