#!/bin/sh
# valgrind's memcheck over the unit tests and over a small fit of each kind: pairs and rows, least squares and
# chains, consensus, values that stay in their file.  Usage: valgrind.sh BUILD [TEST...]: some unit tests only.
#
# valgrind knows no AVX-512; the programs then take the kernels of a lower level.  Its long double has 64 bits, with
# which the compiler proves no accuracy: of the compiler the unit tests are run.  Findings that are none of ours:
# build-aux/lint/valgrind.supp.  Prints every finding and exits with 1 when there is one.
set -u
build=$(cd "$1" && pwd) || exit 1
shift
here=$(cd "$(dirname "$0")" && pwd)
command -v valgrind >/dev/null || { echo "valgrind.sh: valgrind is missing (Debian: apt-get install valgrind)" >&2; exit 1; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0 n=0

check() { # check NAME COMMAND...
    name=$1
    shift
    n=$((n + 1))
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect,possible \
        --num-callers=30 --suppressions="$here/lint/valgrind.supp" "$@" >log 2>&1
    status=$?
    if grep -q '^==[0-9]*== ' log || { [ $status -ne 0 ] && [ $status -ne 2 ]; }; then
        echo "valgrind: $name: exit status $status"
        tail -60 log
        bad=1
    else
        echo "valgrind: $name: nothing"
    fi
}

if [ $# -gt 0 ]; then
    for test; do check "$test" "$build/tests/$test"; done
    exit $bad
fi
for test in "$build"/tests/test_*; do
    case $test in
        *test_vmath_v4 | *.d) continue ;; # AVX-512
        *test_gen_extended) continue ;;   # sums of two long double, which have the digits of double here
    esac
    [ -f "$test" ] && [ -x "$test" ] && check "$(basename "$test")" "$test"
done

# Programs: small data, few iterations; 2 threads.
bin=$build/bin
"$bin/homodyne-laminar" simulate -o pairs.h5 --frames 40 --dt 0.1 --q 0.0054 --gap 2e6 --phi 0,45,90 \
    --noise 0.003 --config-out pairs.yaml --quiet || exit 1
"$bin/homodyne-kww" simulate -o rows.csv --x 1e-3:1:60:log --noise 0.003 --quiet || exit 1
check "pairs" "$bin/homodyne-laminar" fit pairs.yaml -j 2 --quiet --output-dir a
check "pairs, streamed" "$bin/homodyne-laminar" fit pairs.yaml -j 2 --quiet --output-dir b --stream on
check "pairs, averaged, robust" "$bin/homodyne-laminar" fit pairs.yaml -j 2 --quiet --output-dir c --scaling averaged \
    --loss soft_l1
check "pairs, chains" "$bin/homodyne-laminar" fit pairs.yaml -j 2 --quiet --output-dir d --method nuts --chains 2 \
    --warmup 20 --draws 20 --fix alpha --fix beta --fix phi0 --fix gamma_dot_t_offset
check "pairs, consensus" "$bin/homodyne-laminar" fit pairs.yaml -j 2 --quiet --output-dir e --method cmc --consensus \
    --chains 2 --warmup 20 --draws 20 --fix alpha --fix beta --fix phi0 --fix gamma_dot_t_offset
check "pairs, bootstrap" "$bin/homodyne-laminar" fit pairs.yaml -j 2 --quiet --output-dir f --bootstrap block:3 \
    --profile D0
check "rows" "$bin/homodyne-kww" fit --data rows.csv -j 2 --quiet --output-dir g
check "rows, chains" "$bin/homodyne-kww" fit --data rows.csv -j 2 --quiet --output-dir h --method nuts --chains 2 \
    --warmup 50 --draws 50
check "report" "$bin/homodyne-report" report d
echo "valgrind: $n programs"
exit $bad
