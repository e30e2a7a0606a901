#!/bin/sh
# gallery.sh BINDIR -- the models of models/gallery: their test points and derivatives, and their fits beside those that
# tests/data/gallery/make_gallery.py made by scipy: values within 1e-6 of an error, errors within 1e-3 (of counts 3e-2:
# curvature at the maximum beside its expectation).  Models over pairs find what they were simulated with.
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
export XDG_CACHE_HOME="$dir/cache"
models=$here/../../models/gallery data=$here/../data/gallery

# test points hold, derivatives are tested; of the models that are fitted below the fit's own compiler sees to that
grep -L "m.test" "$models"/*.lua "$models"/scattering/*.lua >untested || true
[ ! -s untested ] || fail "no test point: $(cat untested)"
for model in "$models"/fluorescence_correlation.lua "$models"/scattering/*.lua; do
    expect 0 "$bin/homodyne-gen" "$model" --check
    ! grep -q " 0 test points hold" out || fail "$model has no test point"
    ! grep -q "not tested" out || fail "$model: $(grep 'not tested' out)"
done

found() { # found FILE PARAMETER: its value and its error
    sed -n '/"parameters"/,$p' "$1" | grep -F -A4 "\"$2\": {" |
        sed -nE 's/.*"(value|std)": ([-0-9.e+]+|null),*/\2/p' | head -2 | tr '\n' ' '
    echo
}

# beside MODEL DATA ALLOWED OPTIONS: the fit of MODEL, a file of the gallery or a program, to DATA.csv is that of
# DATA.ref
beside() {
    model=$models/$1.lua name=$2 allowed=$3
    [ -f "$model" ] || model=$1
    shift 3
    expect 0 "$bin/homodyne" fit --model "$model" --data "$data/$name.csv" -o "$name" "$@"
    while read -r parameter value error; do
        found "$name/fit.json" "$parameter" >one
        read -r own std <one || fail "$name: no $parameter in fit.json"
        awk -v a="$own" -v s="$std" -v b="$value" -v e="$error" -v d="$allowed" '
            function abs(x) { return x < 0 ? -x : x }
            BEGIN { exit !(e == 0 ? abs(a) <= 1e-7 : abs(a - b) <= 1e-6 * e && abs(s - e) <= d * e) }' ||
            fail "$name: $parameter is $own +- $std, not $value +- $error"
    done <"$data/$name.ref"
}

beside voigt_counts voigt_counts 3e-2
for motion in ringing critical creeping; do
    beside damped_oscillator damped_oscillator_$motion 1e-3 --start gamma=0.5
done
beside michaelis_menten michaelis_menten 1e-3
beside core_shell_smeared core_shell_smeared 1e-3
beside rate_spectrum rate_spectrum 1e-3
beside cylinder_sizes cylinder_sizes 1e-3
beside havriliak_negami havriliak_negami 1e-3
beside robertson robertson 1e-3
beside garch garch 1 # second derivatives of states are left out in its errors
beside dose_records dose_records 3e-2

# one curve for all subjects, then random effects of each: typical values near it, spreads above 0
beside two_compartment two_compartment 3e-2 --fix own_CL=0 --fix own_V1=0 --fix spread_CL=0.2 --fix spread_V1=0.2
expect 0 "$bin/homodyne" fit --model "$models/two_compartment.lua" --data "$data/two_compartment.csv" -o subjects \
    --share own_CL=per_subject --share own_V1=per_subject --fix s=0.2 --method nuts --chains 2 --warmup 40 --draws 20 \
    --seed 1
grep -q "divergences 0" out || fail "$(grep divergences out)"
grep -q "own_V1\[6\]" out || fail "no random effect of subject 6"
sed -n '/^posterior/,$p' out | awk '$1 == "CL" { exit !($2 > 6.5 && $2 < 9.5) }' ||
    fail "the typical clearance is far from that of all: $(grep ' CL ' out)"

truth() { # truth FIT PARAMETER VALUE: within four errors
    found "$1/fit.json" "$2" >one
    read -r own std <one
    awk -v a="$own" -v s="$std" -v b="$3" 'BEGIN { d = a < b ? b - a : a - b; exit !(d < 4 * s) }' ||
        fail "$1: $2 is $own +- $std, not $3"
}

# a matrix for each wavevector, one law: from the command line
expect 0 "$bin/homodyne" simulate --model "$models/two_time_q.lua" -o q.h5 --config-out q.yaml --frames 100 --dt 0.1 \
    --q 0.004,0.008,0.016 --contrast 0.2 --offset 1 --set D0=2000 --set alpha=0.5 --noise 0.02 --seed 3
expect 0 "$bin/homodyne" fit --model "$models/two_time_q.lua" q.yaml -o q
truth q D0 2000
truth q alpha 0.5

expect 0 "$bin/homodyne" simulate --model "$models/avrami_arrest.lua" -o a.h5 \
    --config-out a.yaml --frames 200 --dt 0.1 \
    --q 0.004 --phi 0,90 --contrast 0.2 --offset 1 \
    --set D0=10000 --set tau=10 --set n=3 --noise 0.02 --seed 3
expect 0 "$bin/homodyne" fit --model "$models/avrami_arrest.lua" a.yaml -o a
truth a D0 10000
truth a tau 10
truth a n 3
echo "gallery: $(ls "$models"/*.lua "$models"/scattering/*.lua | wc -l) models"
