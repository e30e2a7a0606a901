#!/bin/sh
# Models whose states follow a differential equation: rows in any order, against a Taylor series of 30 digits;
# parameters at which there is no solution.  Sharper are the model's own test points and the selfcheck of its kernel:
# odes.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
if ! command -v python3 >/dev/null; then
    echo "skipped: no python3"
    exit 77
fi
lv=$bin/homodyne-lotka_volterra
at="--set a=0.55 --set b=0.028 --set c=0.8 --set d=0.024 --set v0=6"

# times forwards, backwards, and the same once more
printf 't,kind\n20,0\n1,0\n5,0\n5,1\n20,1\n1,1\n' >rows.csv
# simulate writes what it computes, without noise, as text
table() { # table NAME OPTIONS: means of the rows
    out_name=$1
    shift
    # shellcheck disable=SC2086
    expect 0 "$lv" simulate --data rows.csv -o "$out_name.csv" --set su=0.001 --set sv=0.001 --seed 1 $at "$@"
}
table up --set u0=34
expect 0 "$lv" eval --data rows.csv -o values.h5 --jacobian --set u0=34 $at
python3 - up.csv <<'PY' || fail "values"
import sys
want = [30.601937594637607, 49.246848884989381, 18.944854071011933, 38.924527230972747, 6.0423755995973012,
        7.2594825891551843]
rows = [line.split(",") for line in open(sys.argv[1]) if not line.startswith("#")][1:]
bad = [(r, w) for r, w in zip(rows, want) if abs(float(r[2]) / w - 1) > 0.005]  # five times the noise
sys.exit(f"{bad}" if bad or len(rows) != 6 else 0)
PY

# growth without bound: no number, but a message
expect 4 "$lv" simulate --data rows.csv -o no.csv --set a=10 --set b=0 --set c=0 --set d=1 --set u0=1e4 --set v0=1e4
says "no finite value at these parameters"
# a stiff problem: the truth is found, as with other steps from the beginning
rob=$bin/homodyne-robertson
expect 0 "$rob" simulate -o rob.csv --x 0.01:1e5:40:log --noise 0.002 --seed 5
expect 0 "$rob" fit --data rob.csv -o rob
python3 - rob/fit.json <<'PY' || fail "the fit of a stiff problem"
import json, sys
fit = json.load(open(sys.argv[1]))
truth = {"k1": 0.04, "k2": 3e7, "k3": 1e4}
p = fit["parameters"]
p = {x["name"]: x for x in p} if isinstance(p, list) else p
far = [(k, p[k]["value"], p[k]["std"]) for k in truth if abs(p[k]["value"] - truth[k]) > 4 * p[k]["std"]]
loose = [k for k in truth if p[k]["std"] > 0.1 * truth[k]]
sys.exit(f"{far} {loose}" if far or loose or not fit["status"].startswith("converged") else 0)
PY

# the same, not said to be stiff: it is noticed, and nothing hangs; but for the last test point, which lies nine decades
# behind the first steps
sed 's/, stiff = true//; s/"robertson"/"notices"/; /at the end the rates/,$d' \
    "$here/../../models/robertson.lua" >notices.lua
expect 0 "$bin/homodyne-gen" notices.lua --check

# steps that are short at times: many explicit ones, then implicit ones whose corrections are as small as rounding lets
# them be
expect 0 "$bin/homodyne-gen" "$here/../data/odes/oscillations.lua" --check

finish
