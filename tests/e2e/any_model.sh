#!/bin/sh
# any_model.sh BINDIR WHICH -- simulate, inspect, validate, estimate, plan, fit, eval and report of every model.
# WHICH: programs, the models of the build; files, models compiled by the program: those of the tests.
# What is not given is asked for by its name, and never computed at 0.
set -eu
bin=$(cd "$1" && pwd) which=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
if ! command -v python3 >/dev/null; then
    echo "skipped: no python3"
    exit 77
fi
. "$(dirname "$0")/../support/test.sh"
export XDG_CACHE_HOME="$dir/cache"
own=$source/tests/data/models
if [ "$which" = files ]; then
    exec_models="$source/models/laws/*.lua $source/models/posteriordb/*.lua $source/models/nist/*.lua
        $source/models/events/oral_lag.lua"
    # shellcheck disable=SC2086
    python3 "$source/tests/e2e/any_model.py" "$bin" "$dir" $exec_models
    exit
fi
models=$("$bin/homodyne" models --json | sed -n 's/.*"name": "\([^"]*\)".*/\1/p')
[ "$(echo "$models" | wc -w)" -ge 14 ] || {
    echo "FAILED: the models of the build: $models"
    exit 1
}
# shellcheck disable=SC2086
python3 "$source/tests/e2e/any_model.py" "$bin" "$dir" $models "$own"/*.lua
mkdir "$dir/own"
cd "$dir/own"

number() { # number FILE KEY: the first of that name
    sed -n "s/^ *\"$2\": \([^,]*\),*$/\1/p" "$1" | head -1
}

# q as an axis: asked for, all of the file or some of it, no sequence of it; groups are told by it
set -- --model "$own/rings.lua"
answers 3 "--q: q is an axis of the model rings" simulate "$@" -o x.h5 --frames 20 --dt 0.1 --phi 0.003,0.006
answers 3 "the axis T" eval --model "$own/ramp.lua" -o x.h5 --frames 20 --dt 0.1
answers 0 "" simulate "$@" -o rings.h5 --frames 60 --dt 0.1 --q 0.003,0.006,0.012 --noise 0.01 --seed 3
answers 0 "q 0.012" inspect rings.h5
answers 0 "q 0.003 .. 0.012 1/angstrom, 3 of 3 matrices" validate "$@" --data rings.h5
answers 0 "3 matrices" estimate "$@" --data rings.h5
answers 0 "q 0.003 .. 0.012 1/angstrom, 3 wavevectors" fit "$@" --data rings.h5 -o all
answers 0 "2 wavevectors" fit "$@" --data rings.h5 --q 0.003,0.012 -o two
answers 0 "q 0.006 1/angstrom, 1 wavevector" fit "$@" --data rings.h5 --q 0.006 -o one
answers 3 "sequence: q is an axis of the model rings" fit "$@" --data rings.h5 --sequence q -o none
answers 3 "sequence: q is an axis of the model rings" validate "$@" --data rings.h5 --sequence q
answers 4 "nearest q bin is 0.012" fit "$@" --data rings.h5 --q 0.003,0.02 -o none
answers 4 "nearest to two of the q asked for" fit "$@" --data rings.h5 --q 0.003,0.0031 -o none
answers 3 "this model takes one" fit --model static_isotropic --data rings.h5 --q 0.003,0.006 -o none
answers 3 "takes one, its q is not an axis" simulate --model static_isotropic -o x.h5 --frames 20 --dt 0.1 \
    --q 0.003,0.006
[ "$(grep -c '"q": 0.0' all/fit.json)" = 3 ] || fail "all/fit.json: groups without their q"
[ "$(number all/fit.json n_points)" = 5310 ] || fail "all: $(number all/fit.json n_points) points, not 3 x 60 x 59 / 2"
printf 'analysis_mode: rings\nexperimental_data: {file_path: rings.h5}\n' >two.yaml
printf 'analyzer_parameters: {scattering: {wavevector_q: [0.006, 0.003]}}\n' >>two.yaml
answers 0 "2 wavevectors" fit two.yaml "$@" -o listed

# q and phi together, q in the model's own unit: the data are computed there, and found again
set -- --model "$own/sectors.lua"
answers 0 "2 wavevectors x 3 angles" simulate "$@" -o sectors.h5 --frames 60 --dt 0.1 --q 0.004,0.008 --phi=-30,20,80 \
    --noise 0.01
answers 0 "6 groups (q, phi)" fit "$@" --data sectors.h5 -o sectors
answers 0 "4 groups (q, phi)" fit "$@" --data sectors.h5 --phi=-30,80 -o some
answers 0 "" report sectors
grep -q ">q</tspan> = 0.004 Å⁻¹, .*>φ</tspan> = −30°" sectors/report.html ||
    fail "the report does not tell q and phi of a group"
D=$(awk '/"D": \{/ { inside = 1 } inside && /"value"/ { sub(/,/, "", $2); print $2; exit }' sectors/fit.json)
awk -v d="$D" 'BEGIN { exit !(d > 54 && d < 66) }' || fail "sectors: D = $D, not 60"

# columns: asked for by name, as lists, ranges or a table; rows are all combinations
set -- --model "$own/modulus.lua"
answers 3 "the column 'part' (1) of the model modulus has no value" eval "$@" -o x.h5 --x 0.1:10:5
answers 3 "the column 'part'" simulate "$@" -o x.csv --x 0.1:10:5
answers 3 "no parameter, setting, axis or column" eval "$@" -o x.h5 --x 0.1:10:5 --set part=0 --set prat=1
answers 3 "both give omega" eval "$@" -o x.h5 --x 0.1:10:5 --set omega=1 --set part=0
answers 0 "40 rows" simulate "$@" -o m.csv --x 0.01:100:20:log --set part=0,1 --noise 1 --seed 2
[ "$(grep -c '^[0-9.e+-]*,1,' m.csv)" = 20 ] || fail "m.csv: not 20 rows of part 1"
answers 0 "" fit "$@" --data m.csv -o m
answers 0 "40 rows" simulate "$@" -o again.csv --data m.csv --noise 1 --seed 2
grep -v '^#' m.csv >a && grep -v '^#' again.csv >b
cmp a b || fail "the rows of a table are not those of the lists"
cut -d, -f1,3 a >short.csv
answers 4 "short.csv: no column 'part' (1)" eval "$@" -o x.h5 --data short.csv
answers 0 "" eval "$@" -o x.h5 --data short.csv --set part=1

# a plan takes what is there from the data file, and says so
answers 0 "frames, frame period, q, azimuths from the data file" plan --model static_isotropic \
    --data "$source/tests/data/homodyne.npz" \
    --sigma 0.01
answers 0 "frames from command line --frames" plan --model "$own/sectors.lua" --data sectors.h5 --frames 1:100
answers 0 "noise from neighbouring" plan --model "$own/sectors.lua" --data sectors.h5
finish
