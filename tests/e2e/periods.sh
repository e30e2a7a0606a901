#!/bin/sh
# periods.sh BINDIR -- one fit of two-time files with different frame periods, numbers of frames and angles: with all
# parameters their own the fits of each file; with shared ones the minimum of the sum of what the files give alone;
# times of each file in results and pages; profiles, bootstraps, sampling that goes on; what is refused.
set -eu
bin=$(cd "$1" && pwd)
. "$(dirname "$0")/../support/test.sh"
export XDG_CACHE_HOME="$dir/cache"

set -- --model static_anisotropic --offset 1 --set D0=3000 --set alpha=-0.2 --set D_offset=0 --noise 0.02
answers 0 "" simulate -o fast.h5 --frames 70 --dt 0.1 --q 0.005 --phi 0,90 --contrast 0.3 --seed 1 "$@"
answers 0 "" simulate -o slow.h5 --frames 23 --dt 1.7 --q 0.007 --phi 0,60,90 --contrast 0.25 --seed 2 "$@"
answers 0 "" simulate -o burst.h5 --frames 400 --dt 0.001 --q 0.02 --phi 30 --contrast 0.2 --seed 3 "$@"
model="--model static_anisotropic --fix D_offset=0"
for f in fast slow; do answers 0 "" fit $model --data $f.h5 -o alone_$f; done

# ---- the same numbers as by hand -----------------------------------------------------------------
sum_of() { # number key of fit.json, of several results
    key=$1
    shift
    for r in "$@"; do sed -n "s/^ *\"$key\": \(.*\),$/\1/p" "$r/fit.json" | head -n 1; done |
        awk '{ s += $1 } END { printf "%.17g\n", s }'
}
answers 0 "" fit $model --data fast.h5 --data slow.h5 --share D0=per_file --share alpha=per_file -o own
for k in 1 2; do
    alone=alone_$([ $k = 1 ] && echo fast || echo slow)
    for p in D0 alpha; do
        awk -v a="$(value own "$p[$k]")" -v b="$(value $alone $p)" -v s="$(value $alone $p std)" \
            'BEGIN { exit !(a - b < 3e-6 * s && b - a < 3e-6 * s) }' ||
            fail "$p of file $k: $(value own "$p[$k]"), not $(value $alone $p)"
    done
done
near "$(sum_of chi2 own)" "$(sum_of chi2 alone_fast alone_slow)" 1e-11 "chi2 of both"

# shared parameters: at them the files alone have the same chi2, and beside them more, as a parabola through three
# points around each tells, whose vertex is the estimate
answers 0 "file 1: fast.h5 (frames 1..70 of 70, dt 0.1 s), file 2: slow.h5 (frames 1..23 of" fit $model \
    --data fast.h5 --data slow.h5 -o joint
at() { # D0 alpha: chi2 of both files, each alone
    for f in fast slow; do answers 0 "" fit $model --data $f.h5 --fix "D0=$1" --fix "alpha=$2" -o at_$f --quiet; done
    sum_of chi2 at_fast at_slow
}
moved() { awk -v x="$(value joint "$1")" -v s="$(value joint "$1" std)" -v n="$2" 'BEGIN {
    printf "%.17g", x + n * s }'; }
middle=$(at "$(value joint D0)" "$(value joint alpha)")
near "$middle" "$(sum_of chi2 joint)" 1e-12 "chi2 of the files alone at the common parameters"
vertex() { # below middle above STEP: where the parabola is least
    awk -v a="$1" -v b="$2" -v c="$3" -v h="$4" 'BEGIN { print h * (a - c) / (2 * (a - 2 * b + c)) }'
}
v=$(vertex "$(at "$(moved D0 -0.003)" "$(value joint alpha)")" "$middle" \
    "$(at "$(moved D0 0.003)" "$(value joint alpha)")" 0.003)
awk -v v="$v" 'BEGIN { exit !(v < 3e-6 && v > -3e-6) }' || fail "D0 is $v standard deviations off"
v=$(vertex "$(at "$(value joint D0)" "$(moved alpha -0.003)")" "$middle" \
    "$(at "$(value joint D0)" "$(moved alpha 0.003)")" 0.003)
awk -v v="$v" 'BEGIN { exit !(v < 3e-6 && v > -3e-6) }' || fail "alpha is $v standard deviations off"

# the order of the files, and the number of threads, change nothing
answers 0 "" fit $model --data slow.h5 --data fast.h5 -o swapped
near "$(value swapped D0)" "$(value joint D0)" 1e-9 "D0 with the files in another order"
near "$(value swapped D0 std)" "$(value joint D0 std)" 1e-9 "its error"
for t in 1 2 3; do
    answers 0 "" fit $model --data fast.h5 --data slow.h5 --data burst.h5 --threads $t -o "t$t"
    grep -E '"(value|std|std_robust|chi2)"' "t$t/fit.json" >"bits$t"
done
cmp -s bits1 bits2 && cmp -s bits1 bits3 || fail "numbers depend on the number of threads"
awk -v a="$(value t1 D0)" -v s="$(value t1 D0 std)" 'BEGIN {
    exit !(a - 3000 < 4 * s && 3000 - a < 4 * s && s < 100) }' ||
    fail "D0 of three decades: $(value t1 D0) +- $(value t1 D0 std)"

# ---- results ---------------------------------------------------------------------------------------
for x in '"dt": 0.1' '"dt": 1.7' '"first_time": 0' '"last_frame": 70' '"last_frame": 23' '"dropped_values": 0'; do
    has joint/fit.json "$x"
done
"$bin/homodyne" report joint -o joint.html >out 2>&1 || fail "report: $(cat out)"
grep -q '"t":\[0,1.7,3.4' joint.html || fail "the page has not the times of the second file"
grep -q '"t":\[0,0.1,0.2' joint.html || fail "the page has not the times of the first file"
"$bin/homodyne" plot joint -o pictures >out 2>&1 || fail "plot: $(cat out)"
grep -q '>4.67<' pictures/cuts_03_phi+60.svg ||
    fail "ages of the second file: $(grep -o '>[0-9.]*<' pictures/cuts_03_phi+60.svg | tr '\n' ' ')"
answers 0 "dt 1.7 s" validate $model --data fast.h5 --data slow.h5
answers 0 "5 matrices" estimate $model --data fast.h5 --data slow.h5
answers 0 "slow.h5: 3 groups, frames 1..23, dt 1.7 s, 759 points" fit $model --data fast.h5 --data slow.h5 --dry-run

# ---- what follows a fit, and sampling --------------------------------------------------------------
two="$model --data fast.h5 --data slow.h5"
answers 0 "D0: 68 %" fit $two --profile D0 -o profile
answers 0 "8 of 8 fits" fit $two --bootstrap parametric:8 --seed 1 -o parametric
answers 0 "8 of 8 fits" fit $two --bootstrap block:8 --seed 1 -o block
for mode in averaged fourier hierarchical constant; do
    answers 0 "D0" fit $two --scaling $mode --fourier-order 1 -o $mode
done
set -- fit $two --method nuts --seed 1 --chains 2 --warmup 300 --draws 1500
"$bin/homodyne" "$@" -o whole >out 2>err || true # what it judges the chains to be is not asked here
for seconds in 0.15 0.4 1 3; do # until there is something to go on from
    rm -rf stopped
    "$bin/homodyne" "$@" -o stopped --max-seconds $seconds >out 2>err || true
    [ ! -e stopped/posterior.checkpoint ] || break
done
"$bin/homodyne" "$@" -o stopped --resume >out 2>err || true
[ "$(sed -n '/"posterior"/,$p' whole/fit.json | grep -cE '"(mean|median)"')" -gt 10 ] || fail "no posterior: $(cat err)"
[ "$(sed -n '/"posterior"/,$p' whole/fit.json | grep -E '"(mean|median)"')" = \
    "$(sed -n '/"posterior"/,$p' stopped/fit.json | grep -E '"(mean|median)"')" ] ||
        fail "a chain that went on has other draws"
finish
