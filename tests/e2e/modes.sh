#!/bin/sh
# Ways to fit, from the command line to the files: ties, values of angles, clusters of the robust errors.
# modes.sh BINDIR
set -eu
bin=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
yaml=$(cd "$(dirname "$0")/../../examples/laminar" && pwd)/experiment.yaml
cd "$dir"

fail() {
    echo "FAILED: $*"
    exit 1
}

fit() { # fit OUT [options]
    out=$1
    shift
    "$bin/homodyne-laminar" fit "$yaml" -o "$out" --quiet "$@" 2>"$out.err"
}

refused() { # refused WORDS options: exit code 3 and these words
    words=$1
    shift
    code=0
    fit refused "$@" || code=$?
    [ "$code" = 3 ] || fail "exit code $code for $*"
    grep -q -- "$words" refused.err || fail "'$words' is not in: $(cat refused.err)"
}

number() { # number OUT NAME KEY: of a parameter
    awk -v name="\"$2\": {" -v key="\"$3\":" '
        index($0, name) { inside = 1 }
        inside && index($0, key) { v = $2; sub(/,$/, "", v); print v; exit }' "$1/fit.json"
}

near() { # near A B TOLERANCE
    awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= t) }'
}

# A tie: the value, its error, the words; the same from YAML.
fit tie --tie gamma_dot_t_offset='0.1*gamma_dot_t0 - 1e-4'
near "$(number tie gamma_dot_t_offset value)" "$(awk -v g="$(number tie gamma_dot_t0 value)" \
    'BEGIN { printf "%.17g", 0.1 * g - 1e-4 }')" 1e-18 || fail "the tied value"
near "$(number tie gamma_dot_t_offset std)" "$(awk -v g="$(number tie gamma_dot_t0 std)" \
    'BEGIN { printf "%.17g", 0.1 * g }')" 1e-18 || fail "the error of the tied value"
grep -q '"tied": "0.1\*gamma_dot_t0 - 1e-4"' tie/fit.json || fail "fit.json does not tell the tie"
grep -q '^tied: gamma_dot_t_offset = 0.1\*gamma_dot_t0 - 1e-4' tie/summary.txt ||
    fail "the summary does not tell the tie"
yaml0=$yaml
{ sed "s|\"experiment.h5\"|\"$(dirname "$yaml")/experiment.h5\"|" "$yaml0"
  echo 'ties: {gamma_dot_t_offset: "0.1*gamma_dot_t0 - 1e-4"}'; } >tied.yaml
yaml=tied.yaml
fit tie2
for name in D0 gamma_dot_t0 gamma_dot_t_offset; do
    [ "$(number tie $name value)" = "$(number tie2 $name value)" ] || fail "$name by YAML and by option"
done
yaml=$yaml0
refused "did you mean 'gamma_dot_t0'" --tie 'beta=gamma_dot_to'
refused "in its turn" --tie beta=alpha --tie 'alpha=2*beta'
refused "not linear" --tie 'beta=alpha*alpha'
refused "widen" --tie 'D_offset=1000*D0 + alpha'

# Values of angles, and of sets of them.
fit each --share D0=per_angle --threads 1
fit each3 --share D0=per_angle --threads 3
for phi in -45 -5 5 50 90; do
    v=$(number each "D0\[$phi\]" value)
    [ -n "$(number each "D0[$phi]" value)" ] || fail "no D0[$phi]"
    [ "$(number each "D0[$phi]" value)" = "$(number each3 "D0[$phi]" value)" ] || fail "D0[$phi] depends on threads"
    near "$(number each "D0[$phi]" value)" 6000 \
        "$(awk -v s="$(number each "D0[$phi]" std_profile)" 'BEGIN { print 4 * s }')" ||
        fail "D0[$phi] = $v is far from the truth"
done
fit sets --share alpha=-45,-5,5/50,90 --share contrast=shared
grep -q '"alpha\[50,90\]"' sets/fit.json || fail "no set of angles"
refused "there is no phi 0" --share alpha=0/50,90
refused "stands in no set" --share alpha=-5,5/50,90

# Scaling.
has5() { # OUT KEY: fit.json has five values of it
    grep -c "\"$2\":" "$1/fit.json" | grep -qx 5 || fail "$1: no five values of $2"
}
for mode in individual averaged constant fourier hierarchical; do
    fit "$mode" --scaling "$mode"
    has5 "$mode" contrast_std
    grep -q "\"scaling\": \"$mode\"" "$mode/fit.json" || fail "fit.json does not say scaling $mode"
done
grep -q 'quantiles of the data' constant/fit.json || fail "constant does not tell what is held"
grep -q '"hierarchy"' hierarchical/fit.json || fail "no spread of the contrasts"
fit together --scaling hierarchical --loss soft_l1
grep -q '"hierarchy"' together/fit.json || fail "no spread of the contrasts with a robust loss"
fit few --scaling fourier --fourier-order 3
grep -q 'needs 7 different angles' few/fit.json || fail "fourier with too few angles does not say so"

# Clusters of the robust errors.
fit frames --cluster-length 10 --cluster-joint
grep -q '"cluster_frames": 10' frames/fit.json || fail "clusters of 10 frames"
refused "fewer than 4 clusters" --cluster-length 60

# The verdict: data without signal, a fit that was cut short, one that is all right.
quality() { awk '/"quality":/ { gsub(/[",]/, ""); print $2; exit }' "$1/fit.json"; }
[ "$(quality individual)" = good ] || fail "the example is $(quality individual)"
fit cut --max-iterations 1 || true
[ "$(quality cut)" = unfinished ] || fail "a fit of one iteration is $(quality cut)"
"$bin/homodyne-laminar" simulate -o flat.h5 --frames 60 --dt 0.1 --q 0.0054 --gap 2000000 --phi 0,90 --contrast 0 \
    --offset 1 --noise 0.01 --seed 3 --config-out flat.yaml --quiet
for seed in 1 2 3; do
    "$bin/homodyne-laminar" fit flat.yaml -o flat --quiet --seed $seed 2>/dev/null || true
    [ "$(quality flat)" = flat ] || fail "data without signal are $(quality flat)"
done

# Profiles, bootstraps, angles alone: in the files, in words, the same for any number of threads.
fit profile --profile D0,contrast
[ "$(grep -c '"interval_95": {' profile/fit.json)" = 6 ] || fail "six profiles: D0 and five contrasts"
grep -q '^  D0: 68 %: .*; 95 %: ' profile/summary.txt || fail "the summary does not tell the profile of D0"
refused "did you mean 'D0'" --profile D00
for kind in parametric block; do
    fit $kind --bootstrap $kind:24 --threads 1
    fit $kind.3 --bootstrap $kind:24 --threads 3
    for k in $kind $kind.3; do
        awk '/"bootstrap":/ { on = 1 } on && !/seconds/ { print } on && /^  }/ { exit }' "$k/fit.json" >"$k.part"
    done
    grep -q '"converged": 24' $kind.part || fail "$kind: not all replicates converged"
    cmp -s $kind.part $kind.3.part || fail "$kind depends on the number of threads"
done
refused "unknown word" --bootstrap jackknife
fit sequence --sequence angle
[ "$(wc -l <sequence/sequence.csv)" = 6 ] || fail "sequence.csv has not one line for each angle"
fit alone --phi 90
a=$(awk -F, '$1 == 90 { print $2 }' sequence/sequence.csv) e=$(number alone D0 std_curvature)
near "$a" "$(number alone D0 value)" "$(awk -v e="$e" 'BEGIN { print 0.01 * e }')" ||
    fail "D0 of one angle in a sequence, $a, and by itself, $(number alone D0 value)"
fit tiedseq --sequence angle --tie gamma_dot_t_offset='0.1*gamma_dot_t0 - 1e-4'
awk -F, 'NR > 1 { d = $17 - (0.1 * $11 - 1e-4); if (d * d > 1e-30) exit 1 }' tiedseq/sequence.csv ||
    fail "a tie does not hold for single angles"

# Frames of 100 s do not tell the rate at 1 s, D0 + D_offset: what is determined is told, and nothing else.
"$bin/homodyne-static_isotropic" simulate -o slow.h5 --config-out slow.yaml --frames 200 --dt 100 --q 0.0054 \
    --phi 0,45,90 \
    --noise 0.01 --set D0=20 --set alpha=0 --set D_offset=0 --seed 3 --quiet
"$bin/homodyne-static_isotropic" fit slow.yaml -o slow --quiet 2>slow.err || fail "slow frames: $(cat slow.err)"
grep -q '^best determined: D0 t^alpha + D_offset at t = .* s: \(19.9\|20.0\)' slow/summary.txt ||
    fail "the rate is not told"
grep -q '^D0, D_offset: not told apart (alpha consistent with 0)' slow/summary.txt || fail "what is not told apart"
! grep -q '^  D0 + D_offset' slow/summary.txt ||
    fail "a rate 1000 times its value is told: $(grep 'D0 + D_offset' slow/summary.txt)"
! grep -q 'alpha = .* is consistent with' slow/fit.json || fail "two errors of alpha"

# Rows that would be too long go on in a second line; limits are written out.
"$bin/homodyne-static_isotropic" fit slow.yaml -o rows --quiet --bounds D_offset=21:1e4 2>/dev/null || true
[ "$(grep -c 'AT LOWER BOUND$' rows/summary.txt)" -eq 3 ] || fail "three parameters on a bound: $(cat rows/summary.txt)"
grep -q '^  D0  *100    below [0-9][0-9]* (95 %)' rows/summary.txt || fail "a limit: $(cat rows/summary.txt)"
"$bin/homodyne-laminar" simulate -o rest.h5 --config-out rest.yaml --frames 150 --dt 0.1 --q 0.0054 --gap 2e6 \
    --phi=-45,0,45,90 --noise 0.01 --set D0=3000 --set alpha=0 --set D_offset=0 --set gamma_dot_t0=1e-6 --set beta=0 \
    --set gamma_dot_t_offset=0 --set phi0=0 --seed 2 --quiet
"$bin/homodyne-laminar" fit rest.yaml -o rest --quiet 2>/dev/null || true
awk '/^  .* \+- / && !/slope/ { n++; at[index($0, "+-")] = 1 } END { for (k in at) places++;
    exit !(n > 3 && places == 1) }' rest/summary.txt ||
    fail "errors do not stand below each other: $(cat rest/summary.txt)"

echo "all passed"
