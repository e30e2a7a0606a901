#!/bin/sh
# The intervals of noise that frames share are those of the robust error, and none where a velocity has aliases:
# shared_intervals.sh BINDIR
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

# A component at rest looks like one that moves by one or two turns a frame, 2 pi/(q dt) = 11636: bounded to there, the
# fit says so.
zero="alpha_ref alpha_sample D_offset_ref D_offset_sample v_beta v_offset f0 f1 f2 phi0_het"
"$bin/homodyne-heterodyne" simulate -o moving.h5 --config-out moving.yaml --frames 100 --dt 0.1 --q 0.0054 --phi=0 \
    --contrast 0.5 --pixels 300 --set D0_ref=20000 --set D0_sample=150000 --set v0=0.001 --set f3=0.4 \
    $(for x in $zero; do echo "--set $x=0"; done) --noise speckle --seed 3 --quiet
for v0 in 0.001:5000 11000:14000 20000:26000; do
    "$bin/homodyne-heterodyne" fit moving.yaml $(for x in $zero; do echo "--fix $x=0"; done) --bounds f3=0:0.5 \
        --bounds v0=$v0 -o "moving_$v0" --quiet
done
python3 - <<'PY'
import json

for v0, aliased in (("0.001:5000", False), ("11000:14000", True), ("20000:26000", True)):
    j = json.load(open(f"moving_{v0}/fit.json"))
    p, robust = j["parameters"]["v0"], j["robust"]
    notes = [x for x in j["notes"] if x.startswith("v0 = ") and "aliases" in x]
    print(v0, p["value"], p["interval_95"], robust["method"], notes)
    assert len(notes) == aliased, "a note names the parameter"
    assert (robust["method"] == "withheld") == aliased, "no interval of one alias"
    assert (p["interval_95"] is None) == aliased, "no interval of one alias"
    assert not aliased or "at this v0 the model turns back" in robust["reason"], robust
PY
