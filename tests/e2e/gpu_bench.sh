#!/bin/sh
# bench/gpu.sh, which runs unattended on machines of others, as far as it goes without a card: gpu_bench.sh SOURCE
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
OUT=$dir sh "$1/bench/gpu.sh" plain >"$dir/said" 2>&1 || {
    cat "$dir/said"
    exit 1
}
python3 - "$dir/plain.json" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
times = [v for k, v in r.items() if k.endswith("_ms") or k.endswith("_s")]
assert len(times) >= 10 and all(t > 0 for t in times), r
assert r["same_bits_again"] is True and r["worst_against_core"] < 1e-12 and r["values"] == 120 * 119 // 2 * 5, r
PY
grep -q 'no C compiler\|error' "$dir/said" && exit 1
head -5 "$dir/machine.txt"
