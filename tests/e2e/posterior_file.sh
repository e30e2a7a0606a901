#!/bin/sh
# posterior.nc: its layout, its numbers beside those of fit.json, and Python's view of it.
#     posterior_file.sh BINDIR TESTDIR
# Python: each interpreter named in FIT_PYTHON (by colons; default: python3) that has h5py, xarray or
# ArviZ.
set -eu
bin=$1 tool=$2/posterior_file
. "$(dirname "$0")/../support/test.sh"

truth="--set D0=2000 --set alpha=-0.3 --set D_offset=100 --set gamma_dot_t0=0.004 --set beta=-0.4
       --set gamma_dot_t_offset=0.0003 --set phi0=-4 --contrast 0.3"
# shellcheck disable=SC2086  # lists of words
"$bin/homodyne-laminar" simulate -o d.h5 --frames 40 --dt 0.1 --q 0.0054 --gap 2e6 --phi -5,5,50,90 $truth \
    --noise 0.01 \
    --seed 4 --config-out d.yaml --quiet
"$bin/homodyne-static_isotropic" simulate -o s.h5 --frames 40 --dt 0.1 --q 0.0054 --phi 0 --set D0=2000 \
    --set alpha=-0.3 \
    --set D_offset=100 --contrast 0.3 --noise 0.01 --seed 4 --config-out s.yaml --quiet
"$bin/homodyne-kww" simulate -o k.csv --x 1e-4:1:60:log --noise 0.005 --seed 2 --quiet

fit() { # fit MODEL FOLDER arguments: exit status 0 or 2, files written
    model=$1 out=$2
    shift 2
    "$bin/homodyne-$model" fit -o "$out" --quiet --draws 200 --warmup 150 "$@" 2>err ||
        [ $? -eq 2 ] || {
        cat err
        fail "$model $*"
    }
    "$tool" check "$out/posterior.nc" || fail "$out/posterior.nc"
}
fit laminar nuts d.yaml --method nuts
fit laminar laplace d.yaml --method laplace
fit laminar fixed d.yaml --method nuts --fix D_offset=100 --metric diagonal --scaling averaged
fit laminar known d.yaml --method nuts --sigma 0.01
fit static_isotropic one s.yaml --method nuts
fit kww table --data k.csv --method nuts

fit diffusion_q rings --data "$here/../../examples/diffusion_q/data.csv" --method laplace
# groups that q and phi tell apart together: both are coordinates along the dimension of the groups
expect 0 "$bin/homodyne" simulate --model "$here/../data/models/sectors.lua" -o sectors.h5 --frames 40 --dt 0.1 \
    --q 0.004,0.008 --phi=-30,20,80 --noise 0.01 --quiet
expect 0 "$bin/homodyne" fit --model "$here/../data/models/sectors.lua" --data sectors.h5 --method laplace --draws 50 \
    -o sectors --quiet
"$tool" check sectors/posterior.nc || fail sectors/posterior.nc
for label in "q 0.006" "phi 23.333"; do
    set -- $label
    awk -v a="$("$tool" mean sectors/posterior.nc "$1")" -v b="$2" 'BEGIN {
        exit !(a - b < 1e-3 * b && b - a < 1e-3 * b) }' ||
        fail "sectors: the groups do not tell their $1"
done
grep -q 'q phi' sectors/posterior.nc || fail "sectors: q and phi are no coordinates"

# many groups in a line: least and largest mean, largest sd below names that say it
awk '$1 == 5 && $2 == "groups" && $3 " " $4 " " $5 " " $6 == "mean from to largest" { inside = 1 }
    inside && $1 == "contrast" && $2 < $3 && $4 < 0.1 * $2 { found = 1 }
    END { exit !found }' rings/summary.txt || fail "groups of the posterior: $(cat rings/summary.txt)"

# the files of homodyne
fit laminar peer d.yaml --method cmc --compat homodyne
for f in parameters.json samples.npz diagnostics.json analysis_results_cmc.json; do
    [ -s "peer/cmc/$f" ] || fail "peer/cmc/$f is missing"
done
[ ! -e nuts/cmc ] || fail "cmc/ without being asked for"

# the predictive check: nothing in data of the model, in both files and on the screen
for d in nuts laplace fixed known one table; do
    grep -q '"text": "predictive check: nothing unusual"' $d/fit.json || fail "$d/fit.json: predictive check"
    grep -q '^predictive check: nothing unusual' $d/summary.txt || fail "$d/summary.txt: predictive check"
done

# noise that is known is no parameter; one that is held has what all have
posterior_of() { # FOLDER
    sed -n '/"posterior":/,$p' "$1/fit.json" | sed -n '/"parameters":/,/^  }/p'
}
! posterior_of known | grep -q '"sigma' || fail "known: sigma among the parameters of the posterior"
posterior_of nuts | grep -q '"sigma\[0\]"' || fail "nuts: no sigma among the parameters of the posterior"
posterior_of fixed | sed -n '/"D_offset"/,/}/p' | tr -d '\n' |
    grep -q '"mean": 100,.*"sd": 0,.*"median": 100,.*"q025": 100,.*"q975": 100' || fail "fixed: D_offset"

# the draws and fit.json agree
json_mean() { # of parameter $2 of the posterior
    awk -v name="\"$2\": {" '/^  "posterior"/ { on = 1 } on && index($0, name) { inside = 1 }
        inside && /"mean":/ { v = $2; sub(/,$/, "", v); print v; exit }' "$1/fit.json"
}
for p in nuts.D0 nuts.alpha nuts.phi0 table.tau table.beta table.contrast table.baseline \
    one.offset one.sigma; do
    awk -v a="$("$tool" mean "${p%.*}/posterior.nc" "${p#*.}")" -v b="$(json_mean "${p%.*}" "${p#*.}")" \
        'BEGIN { d = a - b; if (d < 0) d = -d; if (b < 0) b = -b; exit !(b > 0 && d <= 1e-12 * b) }' ||
        fail "$p: posterior.nc and fit.json have other means"
done

# Python
pythons=0
IFS=:
for python in ${FIT_PYTHON:-python3}; do
    got=0
    "$python" -W ignore "$here/posterior_file.py" nuts laplace fixed known one table peer >out 2>err || got=$?
    case $got in
    0) pythons=$((pythons + 1)) && cat out ;;
    77) echo "$python: not looked at: $(cat out)" ;;
    *) cat out err && fail "$python" ;;
    esac
done
echo "$pythons Python interpreters agree"
finish
