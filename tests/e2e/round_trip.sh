#!/bin/sh
# simulate, then fit: every model finds the parameters it was made with.  round_trip.sh BINDIR
# Where alpha is 0 within its error D0 and D_offset have no error of their own, and their sum is compared.
# Within 4 standard deviations, converged, chi2 of the residuals within 10 % of the noise that was added.
set -eu
bin=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
failed=0

number() { # number NAME KEY: of a parameter in out/fit.json
    awk -v name="\"$1\": {" -v key="\"$2\":" '
        index($0, name) { inside = 1 }
        inside && index($0, key) { v = $2; sub(/,$/, "", v); print v; exit }' out/fit.json
}

# interval NAME VALUE: 0 when the interval of 95 % of a parameter without error, twice as wide, holds the value
interval() {
    awk -v name="\"$1\": {" -v t="$2" '
        index($0, name) { inside = 1 }
        inside && index($0, "\"value\"") { v = $2 + 0 }
        inside && index($0, "\"std\"") { known = $2 != "null," }
        inside && index($0, "\"interval_95\"") {
            gsub(/[][,]/, "")
            exit !(!known && $2 != "null" && $3 != "null" && t > v - 2 * (v - $2) && t < v + 2 * ($3 - v)) }' \
                out/fit.json
}

top() { # top KEY: a number of the outermost object
    awk -v key="  \"$1\":" 'index($0, key) == 1 { v = $2; sub(/,$/, "", v); print v; exit }' out/fit.json
}

# truth MODEL "NAME=VALUE ..." CHI2 LOW HIGH
truth() {
    for pair in $2; do
        name=${pair%%=*} value=${pair#*=}
        ! interval "$name" "$value" || continue
        if [ "$(number "$name" std)" = null ]; then
            case $name in
            D0 | D_offset)
                name="D0 + D_offset"
                value=$(echo "$2" | tr ' =' '\n ' | awk '$1 == "D0" || $1 == "D_offset" { s += $2 } END { print s }')
                ;;
            esac
        fi
        awk -v v="$(number "$name" value)" -v s="$(number "$name" std)" -v t="$value" 'BEGIN {
            d = v - t; if (d < 0) d = -d
            exit !(s > 0 && d <= 4 * s) }' || {
            echo "FAILED: $1: $name = $(number "$name" value) +- $(number "$name" std), truth $value"
            failed=1
        }
    done
    awk -v c="$3" -v lo="$4" -v hi="$5" 'BEGIN { exit !(c > lo && c < hi) }' || {
        echo "FAILED: $1: reduced chi2 $3, expected $4 to $5"
        failed=1
    }
    [ "$(top converged)" = true ] || {
        echo "FAILED: $1: not converged"
        failed=1
    }
    echo "$1: $2 found"
}

# pairs MODEL "NAME=VALUE ..." [options of simulate]
pairs() {
    model=$1 list=$2
    shift 2
    set -- --frames 150 --dt 0.1 --q 0.0054 --phi=-5,5,50,90 --contrast 0.3,0.28,0.31,0.27 \
        --offset 1,1.001,0.999,1.002 \
        --noise 0.01 --config-out exp.yaml "$@"
    for pair in $list; do
        set -- "$@" --set "$pair"
    done
    "$bin/homodyne-$model" simulate -o exp.h5 "$@" --quiet --force
    "$bin/homodyne-$model" fit exp.yaml -o out --quiet
    truth "$model" "$list" "$(top residual_variance)" 0.9e-4 1.1e-4
    "$bin/homodyne-$model" fit exp.yaml -o out --sigma 0.01 --quiet # the noise given: chi2 counts in sigmas
    truth "$model, sigma given" "$list" "$(top reduced_chi2)" 0.9 1.1
}

still="D0=8000 alpha=-0.3 D_offset=500"
flow="gamma_dot_t0=0.004 beta=-0.4 gamma_dot_t_offset=0.0003 phi0=-4"
pairs static_isotropic "$still" --seed 1
pairs static_anisotropic "$still" --seed 2
pairs laminar "$still $flow" --gap 2e6 --seed 3
pairs laminar "D0=3000 alpha=0.6 D_offset=200 gamma_dot_t0=0.003 beta=0.5 gamma_dot_t_offset=0.001 phi0=6" --gap 2e6 \
    --seed 4
pairs laminar_theory "$still $flow" --gap 2e6 --seed 5

# tables: from delay 0, where a slope by tau or beta is a limit
for list in "tau=0.5 beta=0.7 contrast=0.2 baseline=1.02" "tau=0.02 beta=1.6 contrast=0.3 baseline=1"; do
    set --
    for pair in $list; do
        set -- "$@" --set "$pair"
    done
    "$bin/homodyne-kww" simulate -o kww.csv --x 0:2:400 --noise 0.002 --seed 6 "$@" --quiet --force
    "$bin/homodyne-kww" fit --data kww.csv -o out --quiet
    truth kww "$list" "$(top reduced_chi2)" 0.75 1.25
done

[ "$failed" -eq 0 ] && echo "all is well"
exit $failed
