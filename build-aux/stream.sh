#!/bin/sh
# Data larger than memory: build-aux/stream.sh [MATRICES FRAMES [DIR]]
#
# Makes a file of MATRICES x FRAMES^2 float32 (default 100 x 4473: 1e9 pairs, 8 GB) by repeating a
# simulated matrix, and fits it with one thread of numbers to look at: peak memory, seconds of a
# pass.  Compares with reading the file alone.  Needs python3 with h5py; takes minutes.
set -eu
matrices=${1:-100} frames=${2:-4473} dir=${3:-$(mktemp -d)}
bin=${BUILD:-build}/bin
need=$((matrices * frames * frames * 4 / 1000000 + 500))
free=$(df -Pm "$dir" | awk 'NR == 2 { print $4 }')
[ "$free" -gt "$need" ] || {
    echo "stream.sh: $dir has $free MB, $need are needed; give fewer matrices or another folder" >&2
    exit 1
}
python3 - "$dir/big.h5" "$matrices" "$frames" <<'EOF'
import sys
import h5py
import numpy as np

name, count, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
noise = np.random.default_rng(1).normal(0, 0.01, n * n + 977 * count).astype("f4")
lag = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
tau, q, phi = 0.1 * np.arange(n), 0.0054, np.linspace(-90, 90, count)
with h5py.File(name, "w") as f:
    f["q"], f["phi"] = np.full(count, q), phi
    c2 = f.create_dataset("c2", (count, n, n), "f4")
    for k in range(count):
        shear = np.sinc(q * 2e6 / (2 * np.pi**2) * np.cos(np.deg2rad(phi[k] + 4)) * 0.004 * tau)
        g2 = (1 + 0.3 * np.exp(-q * q * 20 * tau) * shear**2).astype("f4")
        part = np.triu(noise[977 * k : 977 * k + n * n].reshape(n, n), 1)
        c2[k] = g2[lag] + part + part.T
EOF
cat >"$dir/big.yaml" <<EOF
analysis_mode: laminar_flow
experimental_data: {file_path: big.h5}
analyzer_parameters:
  dt: 0.1
  scattering: {wavevector_q: 0.0054}
  geometry: {stator_rotor_gap: 200 um}
EOF
"$bin/homodyne-laminar" estimate "$dir/big.yaml" --stream on
begin=$(date +%s.%N)
cat "$dir/big.h5" >/dev/null
end=$(date +%s.%N)
echo "reading the file alone: $(echo "$end - $begin" | bc) s (once more, it may be in memory)"
"$bin/homodyne-laminar" fit "$dir/big.yaml" --stream on -o "$dir/out" --max-iterations 3 || true
grep -E '"(peak_rss_mb|memory_estimate_mb|load|start|fit|evaluations)"' "$dir/out/fit.json"
