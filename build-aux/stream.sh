#!/bin/sh
# Data larger than memory: build-aux/stream.sh [MATRICES FRAMES [DIR]]
#
# Makes a file of MATRICES x FRAMES^2 float32 (default 100 x 4473: 1e9 pairs, 8 GB), fits it while it
# stays in the file, and tells peak memory and the seconds of each phase, beside those of the same fit
# in memory where that is possible; then, of each kind of pass, the seconds streamed, of reading alone and of
# computing alone, from the page cache and, where it can be emptied, from the disk (bench/stream.c).
# Everything is removed at the end unless DIR was given.  Needs python3 with h5py; takes minutes.
#
# BUILD     build folder (build)
# THREADS   of the fits (2)
# ROUNDS    of the comparison, alternating, least times (3)
# COLD      yes: also from the disk (yes)
set -eu
matrices=${1:-100} frames=${2:-4473} threads=${THREADS:-2} rounds=${ROUNDS:-3}
made=
if [ $# -ge 3 ]; then
    dir=$3
else
    dir=$(mktemp -d "${TMPDIR:-/tmp}/stream.XXXXXX")
    made=$dir
fi
trap 'if [ -n "$made" ]; then rm -rf "$made"; fi' EXIT
trap 'exit 130' INT TERM
laminar=${BUILD:-build}/bin/homodyne-laminar
python3 -c 'import h5py, numpy' 2>/dev/null || {
    echo "stream.sh: skipped: no python3 with h5py" >&2
    exit 0
}
need=$((matrices * frames * frames * 4 / 1000000 + 500))
free=$(df -Pm "$dir" | awk 'NR == 2 { print $4 }')
[ "$free" -gt "$need" ] || {
    echo "stream.sh: $dir has $free MB, $need are needed; give fewer matrices or another folder" >&2
    exit 1
}
[ -f "$dir/big.h5" ] || python3 - "$dir/big.h5" "$matrices" "$frames" <<'PYTHON'
import sys
import h5py
import numpy as np

name, count, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
noise = np.random.default_rng(1).normal(0, 0.01, n * n + 977 * count).astype("f4")
dt, q, gap, phi = 0.1, 0.0054, 2e6, np.linspace(-90, 85, count)
t = dt * np.arange(n)
t[0] = dt / 2  # where the exponents are negative the models begin there


def integral(f):
    return np.concatenate([[0], np.cumsum(0.5 * dt * (f[1:] + f[:-1]))])


J, G = integral(2000 * t**-0.3 + 100), integral(0.004 * t**-0.4 + 3e-4)
decay = np.exp(-q * q * np.abs(np.subtract.outer(J, J))).astype("f4")
shear = np.abs(np.subtract.outer(G, G)).astype("f4")
with h5py.File(name, "w") as f:
    f["q"], f["phi"] = np.full(count, q), phi
    c2 = f.create_dataset("c2", (count, n, n), "f4")
    for k in range(count):
        x = np.float32(q * gap / (2 * np.pi) * abs(np.cos(np.deg2rad(-4 - phi[k])))) * shear
        np.maximum(x, np.float32(1e-6), out=x)
        g2 = np.sin(x) / x
        g2 *= g2
        g2 *= g2
        g2 *= decay
        part = np.triu(noise[977 * k : 977 * k + n * n].reshape(n, n), 1)
        c2[k] = 1 + np.float32(0.3) * g2 + part + part.T
PYTHON
cat >"$dir/big.yaml" <<YAML
analysis_mode: laminar_flow
experimental_data: {file_path: big.h5}
analyzer_parameters:
  dt: 0.1
  scattering: {wavevector_q: 0.0054}
  geometry: {stator_rotor_gap: 200 um}
YAML

field() { sed -n "s/.*\"$1\": *\([0-9.eE+-]*\).*/\1/p" "$2" | head -n 1; } # field KEY FILE
# seconds of a pass without the covariance: "fit" of the phases over the passes of that phase
run() { # run WAY: on or off
    "$laminar" fit "$dir/big.yaml" --stream "$1" --threads "$threads" -o "$dir/$1" --quiet --profile-time \
        2>"$dir/$1.log" || true # finished but not converged
    [ -f "$dir/$1/fit.json" ] || {
        cat "$dir/$1.log" >&2
        exit 1
    }
    for phase in load start fit covariance maps; do
        field $phase "$dir/$1/fit.json" >>"$dir/$1.$phase"
    done
}
least() { sort -g "$dir/$1.$2" | head -n 1; } # least WAY PHASE

"$laminar" estimate "$dir/big.yaml" --stream on --threads "$threads"
"$laminar" estimate "$dir/big.yaml" --stream on --threads "$threads" --json >"$dir/estimate"
rm -f "$dir"/on.* "$dir"/off.*
held=$(field memory_mb "$dir/estimate") limit=$(field limit_mb "$dir/estimate")
both=$(awk -v a="$held" -v b="$limit" 'BEGIN { print a < b / 2 ? "yes" : "no" }')
[ "$both" = yes ] || rounds=1
round=0
while [ "$round" -lt "$rounds" ]; do
    run on
    [ "$both" = no ] || run off
    round=$((round + 1))
done
echo
cat "$dir/on/summary.txt"
cat "$dir/on.log"
echo
echo "$matrices x $frames frames, $threads threads, least of $rounds (load average $(cut -d ' ' -f 1 /proc/loadavg))"
echo "  peak memory                $(field peak_rss_mb "$dir/on/fit.json") MB" \
    "(estimated $(field streamed_mb "$dir/estimate"))"
echo "  seconds of                   streamed   in memory       ratio"
for phase in load start fit covariance maps; do
    if [ "$both" = yes ]; then
        awk -v p=$phase -v a="$(least on $phase)" -v b="$(least off $phase)" 'BEGIN {
            printf "    %-20s %12.3f %11.3f %11.2f\n", p, a, b, a / b }'
    else
        awk -v p=$phase -v a="$(least on $phase)" 'BEGIN { printf "    %-20s %12.3f\n", p, a }'
    fi
done
bench=${BUILD:-build}/bench/bench-stream
cmake --build "${BUILD:-build}" --target bench-stream >"$dir/log" 2>&1 || {
    echo "stream.sh: no bench-stream:" >&2
    tail -n 3 "$dir/log" >&2
    exit 1
}
echo
echo "passes (ratio: streamed to the largest of tiles, read(2), computing; in brackets processor seconds)"
"$bench" "$dir/big.h5" "$threads" "$rounds"
[ "${COLD:-yes}" != yes ] || "$bench" "$dir/big.h5" "$threads" 1 cold
