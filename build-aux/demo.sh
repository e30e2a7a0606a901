#!/bin/sh
# A synthetic experiment and its fit: what `make demo` runs.  Results are left in $BUILD/demo.
set -eu
BUILD=${BUILD:-build}
program=$BUILD/bin/homodyne-laminar
dir=$BUILD/demo
mkdir -p "$dir"

echo "A colloid under shear, 500 frames at 5 azimuths, noise 1 % of the baseline:"
gap="200 um"
set -- --frames 500 --dt 0.1 --q 0.0054 --phi 0,45,90,135,170 --contrast 0.3 --offset 1 \
    --set D0=2000 --set alpha=-0.3 --set D_offset=100 \
    --set gamma_dot_t0=0.004 --set beta=-0.4 --set gamma_dot_t_offset=3e-4 --set phi0=-4 \
    --noise 0.01 --seed 1
echo "+ $program simulate -o $dir/experiment.h5 --config-out $dir/experiment.yaml --gap \"$gap\" $*"
"$program" simulate -o "$dir/experiment.h5" --config-out "$dir/experiment.yaml" --gap "$gap" "$@"
echo "+ $program fit $dir/experiment.yaml -o $dir/results"
"$program" fit "$dir/experiment.yaml" -o "$dir/results"
