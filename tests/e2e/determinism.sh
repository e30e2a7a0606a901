#!/bin/sh
# The same bits for any number of threads, and again: determinism.sh BINDIR
# The numbers of fit.json are compared as text: they have all their digits.
set -eu
bin=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
failed=0

# numbers FIT.json: what must not change
numbers() {
    awk '/^  "/ { on = 0 }
         /^  "(status|parameters|scaling|correlation|identifiability|noise)":/ { on = 1 }
         /^  "(cost|chi2|reduced_chi2|nrmse|gradient|iterations|evaluations|derivative_evaluations)":/ { on = 1 }
         on' "$1"
}

# same MODEL CONFIG [options]
same() {
    model=$1 config=$2
    shift 2
    first=
    for run in 1 2 3 7 1; do
        "$bin/homodyne-$model" fit "$config" -o out --threads "$run" --quiet "$@"
        numbers out/fit.json >numbers
        [ "$(wc -l <numbers)" -gt 40 ] || {
            echo "FAILED: $model: fit.json holds too little"
            failed=1
        }
        if [ -z "$first" ]; then
            first=1
            cp numbers expected
        elif ! cmp -s numbers expected; then
            echo "FAILED: $model $*: --threads $run gives other numbers than --threads 1"
            diff expected numbers | head -6
            failed=1
        fi
    done
    echo "$model $*: the same numbers for 1, 2, 3 and 7 threads"
}

physics="--set D0=2000 --set alpha=-0.3 --set D_offset=100"
flow="--set gamma_dot_t0=0.004 --set beta=-0.4 --set gamma_dot_t_offset=0.0003 --set phi0=-4"
# shellcheck disable=SC2086  # lists of words
"$bin/homodyne-laminar" simulate -o flow.h5 --frames 150 --dt 0.1 --q 0.0054 --gap 2e6 --phi -5,5,50,90 $physics $flow \
    --contrast 0.3,0.28,0.31,0.27 --noise 0.01 --seed 4 --config-out flow.yaml --quiet
# shellcheck disable=SC2086
"$bin/homodyne-static_anisotropic" simulate -o still.h5 --frames 100 --dt 0.1 --q 0.0054 --phi 0,45,90 $physics \
    --contrast 0.3 --noise 0.01 --seed 5 --config-out still.yaml --quiet
same laminar flow.yaml
same laminar flow.yaml --loss soft_l1
same laminar flow.yaml --sigma 0.01 --mask 3:5,77:77
same static_anisotropic still.yaml --scaling averaged

# profiles, valleys and rivals are looked at side by side
"$bin/homodyne-heterodyne" simulate -o two.h5 --frames 60 --dt 0.1 --q 0.0054 --phi 0,40 --set D0_ref=1000 \
    --set alpha_ref=0.2 --set D_offset_ref=1000 --set D0_sample=4000 --set alpha_sample=-0.3 \
    --set D_offset_sample=1500 \
    --set v0=60 --set v_beta=0.1 --set v_offset=5 --set f0=0.5 --set f1=0.02 --set f2=1 --set f3=0.01 \
    --set phi0_het=-3 \
    --contrast 0.3 --noise 0.005 --seed 6 --config-out two.yaml --quiet
same heterodyne two.yaml --loss soft_l1

# data do not depend on threads either
for n in 1 3; do
    # shellcheck disable=SC2086
    "$bin/homodyne-static_anisotropic" simulate -o data$n.h5 --frames 100 --dt 0.1 --q 0.0054 --phi 0,45,90 $physics \
        --noise 0.01 --seed 5 --threads $n --config-out data$n.yaml --quiet
    "$bin/homodyne-static_anisotropic" fit data$n.yaml -o data$n --quiet
    numbers data$n/fit.json >numbers$n
done
cmp -s numbers1 numbers3 || {
    echo "FAILED: simulate depends on the number of threads"
    failed=1
}
[ "$failed" -eq 0 ] && echo "all is well"
exit $failed
