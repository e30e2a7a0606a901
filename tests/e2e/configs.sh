#!/bin/sh
# Configuration files of the Python packages, unchanged, with the command lines of their manuals, by both methods:
# configs.sh BINDIR
# Ten written for this test (tests/data/front), and those of the sample experiments, where they are (FIT_SHARED).
# What has no effect is told by name; the exit status is 0, or 2 when a chain of so few draws has not converged.
# FIT_DRAWS: draws of a chain, and as many before them (60).
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
shared=${FIT_SHARED:-$here/../../../shared}
h=$bin/homodyne
draws=${FIT_DRAWS:-60}
ran=0

# run CONFIG MODEL: least squares, then sampling; both leave results of the right model, and complete files
run() {
    config=$1 model=$2
    for method in nlsq cmc; do
        options=
        [ $method = nlsq ] || options="--n-samples $draws --n-warmup $draws --n-chains 2"
        out=$(basename "$config" | tr . _)_$method
        got=0
        # shellcheck disable=SC2086  # a list of words
        "$h" --config "$config" --method $method --output-dir "$out" $options >screen 2>notes </dev/null || got=$?
        ran=$((ran + 1))
        case $method$got in
        nlsq0 | cmc0 | cmc2) ;;
        *)
            fail "$config --method $method: exit status $got"
            cat notes
            continue
            ;;
        esac
        grep -q "\"name\": \"$model\"" "$out/fit.json" || fail "$config: not the model $model"
        for f in fit.h5 fit.json summary.txt config.effective.yaml run.log; do
            [ -s "$out/$f" ] || fail "$config --method $method: no $f"
        done
        awk 'length > 80 { print FILENAME ": " $0; bad = 1 } END { exit bad }' screen ||
            fail "$config: a line is longer than 80"
        case $method in
        nlsq) grep -q CONVERGED screen || fail "$config: least squares have not converged" ;;
        cmc)
            [ -s "$out/posterior.nc" ] || fail "$config: no posterior.nc"
            grep -q "^verdict: " screen || fail "$config: no verdict about the chains"
            ;;
        esac
    done
}

# ---- ten files of the kinds that are in circulation
grid="--frames 80 --dt 0.1 --q 0.0054 --contrast 0.3 --offset 1 --noise 0.01 --quiet"
# shellcheck disable=SC2086
{
    "$h" simulate --model laminar -o laminar.h5 $grid --gap '200 um' --phi=-45,-5,5,50,90 --seed 3 \
        --set D0=2000 --set alpha=-0.3 --set D_offset=100 --set gamma_dot_t0=0.004 --set beta=-0.4 --set phi0=-4
    "$h" simulate --model static_isotropic -o static.h5 $grid --phi 0 --seed 4 --set D0=2000 --set alpha=-0.3 \
        --set D_offset=100
    "$h" simulate --model two_component -o het.h5 $grid --phi 0,45,90 --seed 5
}
cp "$here"/../data/front/* .
run homodyne_static.yaml static_anisotropic
run homodyne_static_angles.yaml static_anisotropic
run homodyne_laminar_flow.yaml laminar
run homodyne_analysis.json laminar
run heterodyne.yaml heterodyne
run xpcsjax_static_isotropic.yaml static_isotropic
run xpcsjax_static_anisotropic.yaml static_anisotropic
run xpcsjax_laminar_flow.yaml laminar
run xpcsjax_two_component.yaml heterodyne
run minimal.yaml laminar

# ---- the samples' own files, as the packages' generators write them
if [ -d "$shared/samples" ]; then
    s=$shared/samples
    run "$s/h_laminar_N100x3.yaml" laminar
    run "$s/h_laminar_N200x5.yaml" laminar
    run "$s/h_static_N200.yaml" static_anisotropic
    run "$s/h_static_aniso_N200x5.yaml" static_anisotropic
    run "$s/het_N100x2.yaml" heterodyne
    run "$s/x_het_N100x2.yaml" heterodyne
    run "$s/x_laminar_N200x5.yaml" laminar
    run "$s/x_static_iso_N200.yaml" static_isotropic
    run "$s/x_static_aniso_N200x5.yaml" static_anisotropic
    # what they ask for and does not exist here is named: sections by validate, the rest in notes
    "$h" validate "$s/h_laminar_N200x5.yaml" --verbose >out 2>&1 || fail "validate: $(cat out)"
    for key in cache_directory exchange_key trust_region plotting hybrid_streaming gpu; do
        grep -q "$key" "$s/h_laminar_N200x5.yaml" || continue
        grep -q "$key" out || fail "validate does not name $key"
    done
    grep -q 'sharding.*no effect' h_laminar_N200x5_yaml_cmc/run.log || fail "shards are not named"
else
    echo "no $shared/samples: their nine configurations were not tried"
fi

echo "$ran runs"
finish
