#!/bin/sh
# The intervals of noise that frames share are those of the robust error: shared_intervals.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
if ! command -v python3 >/dev/null; then
    echo "skipped: no python3"
    exit 77
fi
"$bin/homodyne-static_isotropic" simulate -o data.h5 --config-out fit.yaml --frames 60 --dt 0.1 --q 0.0054 --phi=0 \
    --contrast 0.5 --pixels 300 --set D0=20000 --set alpha=0 --set D_offset=0 --noise speckle --seed 3 --quiet
"$bin/homodyne-static_isotropic" fit fit.yaml --fix D_offset=0 -o out --quiet
python3 - <<'PY'
import json

j = json.load(open("out/fit.json"))
for name in ("D0", "alpha"):
    p = j["parameters"][name]
    low, high = p["interval_95"]
    print(name, p["value"], p["std"], p["std_robust"], low, high)
    wider = p["std_robust"] / p["std"]
    assert wider > 1.3, "speckle noise is shared by frames"
    assert 0.8 < (high - low) / (2 * 1.96 * p["std_robust"]) < 1.25, "the interval is not that of the robust error"
PY
