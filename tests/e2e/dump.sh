#!/bin/sh
# dump.sh GENERATOR MODELS -- homodyne-gen --dump=PASS: the program between the passes of the compiler, in one notation.
set -eu
gen=$1 models=$2
bad=0
fail() {
    echo "dump: $*"
    bad=1
}
out=$(mktemp)
trap 'rm -f "$out"' EXIT

for model in laminar kww speckle_counts; do
    for pass in load rewrite plan separate factor; do
        "$gen" "$models/$model.lua" --dump=$pass >"$out" || fail "$model, $pass: exit $?"
        [ "$(head -n 1 "$out")" = "# pass $pass: $model, variant fast" ] || fail "$model, $pass: $(head -n 1 "$out")"
        # Lines %N OPERATION(OPERANDS) ..., each number once and above its uses; then NAME = OPERAND.
        awk -v what="$model, $pass" '
            function used(text) {
                while (match(text, /%[0-9]+/)) {
                    if (!(substr(text, RSTART, RLENGTH) in made)) { print what ": used before it is made: " $0;
                        bad = 1 }
                    text = substr(text, RSTART + RLENGTH)
                }
            }
            /^#/ { next }
            /^%/ {
                used(substr($0, length($1) + 1))
                if ($1 in made) { print what ": made twice: " $0; bad = 1 }
                made[$1] = 1
                if (roots) { print what ": a node below the roots: " $0; bad = 1 }
                next
            }
            / = / { used($0); roots++; next }
            { print what ": neither node nor root: " $0; bad = 1 }
            END { if (!roots) { print what ": no roots"; bad = 1 } exit bad }' "$out" || bad=1
    done
done
"$gen" "$models/laminar.lua" --dump=load | grep -q "^mean = %" || fail "the mean is not a root of load"
"$gen" "$models/laminar.lua" --dump=plan | grep -q "^U_D_alpha = %" || fail "plan shows no table of D and alpha"
"$gen" "$models/laminar.lua" --dump=separate | grep -q "exp_delta(" || fail "separate shows no exponential of tables"
"$gen" "$models/laminar.lua" --dump=factor | grep -q "^core_contrast_D = %" || fail "factor shows no core of a moment"
code=0
"$gen" "$models/laminar.lua" --dump=glue 2>"$out" || code=$?
[ $code = 3 ] || fail "an unknown pass: exit $code"
grep -q "choose from load, rewrite, plan, separate, factor" "$out" || fail "an unknown pass: $(cat "$out")"
exit $bad
