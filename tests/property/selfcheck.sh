#!/bin/sh
# selfcheck.sh PROGRAM CHECK: the program accepts the reference values that the build made, and refuses
# them when one is changed or the file is cut.
set -eu
program=$1 check=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$program" selfcheck "$check" | grep -q 'points .* derivatives .* model .* moments .* normal .* hessian .* second'

# another mean at the 50th point of the first group
awk 'NF > 9 && $3 + 0 == 0 && $1 ~ /^[0-9]+$/ && ++n == 50 { $5 = "1e-30"; $4 = "0x1.23456789p0" } { print }' \
    "$check" >"$dir/wrong.txt"
if "$program" selfcheck "$dir/wrong.txt" >"$dir/out" 2>&1; then
    echo "a wrong reference value was accepted"
    exit 1
fi
grep -q 'times what rounding explains' "$dir/out"

head -c 20000 "$check" >"$dir/short.txt"
status=0
"$program" selfcheck "$dir/short.txt" >"$dir/out" 2>&1 || status=$?
[ "$status" = 4 ] || { echo "a file that is cut gave status $status"; exit 1; }
