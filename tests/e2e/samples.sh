#!/bin/sh
# Configurations of the Python packages, unchanged, on the sample experiments: samples.sh BINDIR
# Compared with an independent reference fit (unique pairs, contrast and offset projected out, linear loss;
# values and errors below), within a tenth of a standard deviation.  Skips (77) without the samples.
set -eu
bin=$1
shared=${FIT_SHARED:-$(dirname "$0")/../../../shared}
if [ ! -d "$shared/samples" ]; then
    echo "skipped: no $shared/samples (set FIT_SHARED to the folder with reference data)"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

number() { # number NAME KEY
    awk -v name="\"$1\": {" -v key="\"$2\":" '
        index($0, name) { inside = 1 }
        inside && index($0, key) { v = $2; sub(/,$/, "", v); print v; exit }' "$dir/out/fit.json"
}

# check NAME VALUE STD: agrees with the reference; the paraboloid's error, as theirs is, within 5 %
check() {
    awk -v v="$(number "$1" value)" -v s="$(number "$1" std_curvature)" -v r="$2" -v e="$3" 'BEGIN {
        d = v - r; if (d < 0) d = -d
        exit !(d < 0.1 * e && s > 0.95 * e && s < 1.05 * e) }' || {
        echo "FAILED: $config: $1 = $(number "$1" value) +- $(number "$1" std_curvature), reference $2 +- $3"
        failed=1
    }
}

# run MODEL CONFIG [options]
run() {
    config=$2
    program=$bin/homodyne-$1
    shift 2
    [ -x "$program" ] || {
        echo "FAILED: no $program"
        failed=1
        return
    }
    before=$(ls -l "$shared/samples" | cksum)
    "$program" fit "$shared/samples/$config" -o "$dir/out" --quiet "$@" || {
        echo "FAILED: $config: exit code $?"
        failed=1
    }
    [ "$before" = "$(ls -l "$shared/samples" | cksum)" ] || {
        echo "FAILED: $config: the data folder was changed"
        failed=1
    }
}

run static_isotropic h_static_N200_lin.yaml
check D0 1887.6 89
check alpha -0.3120 0.0263
check D_offset 155.1 95

run static_anisotropic h_static_aniso_N200x5.yaml --loss linear
check D0 1950.8 42
check alpha -0.2977 0.0113
check D_offset 93.7 45

for config in h_laminar_N200x5.yaml x_laminar_N200x5.yaml; do
    run laminar $config --loss linear --max-iterations 200
    check D0 1951.8 595
    check alpha -0.240 0.124
    check D_offset -59 652
    check gamma_dot_t0 0.0040024 0.000024
    check beta -0.4045 0.0053
    check gamma_dot_t_offset 0.000313 0.000026
    check phi0 -4.018 0.0092
done

# the parity variant evaluates another formula at the same place: nearly the same answer
run laminar h_laminar_N200x5.yaml --loss linear --max-iterations 200 --variant parity
check gamma_dot_t0 0.0040024 0.000024

[ "$failed" -eq 0 ] && echo "all is well"
exit $failed
