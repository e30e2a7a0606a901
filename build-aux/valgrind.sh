#!/bin/sh
# valgrind's memcheck over the tests with every program of ours that they start, and over a small fit of each kind:
# pairs and rows, least squares and chains, consensus, values that stay in their file.
# Usage: valgrind.sh BUILD [TEST...]: tests by the names that ctest has; none: all but those that are left out below.
#
# BUILD is that of the preset: memory is checked some hundred times slower than programs run, so that studies and random
# expressions are few there; valgrind knows no AVX-512, and fused products take it an age.  Its long double has the 53
# bits of double, so that tests that count on more do not pass: such a test is told, and is no finding.  What is none of
# ours: build-aux/lint/valgrind.supp.  JOBS=N: so many tests at a time.  Prints every finding and exits with 1 when
# there is one.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

# Not traced, nor what they start.  (What starts programs of ours is: shells, env, timeout.)  Python is, where it loads
# our library.
tools="cmake ninja make cc gcc c++ clang as ld collect2 ar nm strip objdump readelf pkg-config perl lua
    gnuplot* chromium* groff troff grotty rsvg-convert pdf* latex* man zsh fish git dpkg* tar gzip h5* awk basename cat
    chmod chown cmp comm cp cut date dd df diff dirname du expr false find grep head id kill ln ls md5sum mkdir mktemp
    mount mv od paste pgrep pkill readlink realpath rm rmdir script sed seq sha256sum sleep sort stat stty tail tee test
    touch tput tr true truncate umount uname uniq unshare wc xargs xmllint"

# One test, or one command: valgrind.sh --one WORK NAME COMMAND...
if [ "${1-}" = --one ]; then
    work=$2 name=$3
    shift 3
    mkdir -p "$work/$name"
    # What is left when a program dies at an allocation is no leak; nor what Python keeps.
    case $name in
    faults-*) leaks=no tools="$tools python3*" ;;
    e2e-python | e2e-page-python) leaks=no ;;
    *) leaks=full tools="$tools python3*" ;;
    esac
    skip=
    set -f
    for tool in $tools; do skip="$skip,*/$tool"; done
    set +f
    status=0
    # All registers right at every access: a file that is cut is met by a handler that returns to where it was.  Only
    # the allocations of the C library are taken over: those that tests preload stay in front of them.
    GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-AVX \
        PYTHONMALLOC=malloc HG_CASES=${HG_CASES:-20} FIT_VMATH_POINTS=${FIT_VMATH_POINTS:-2000} \
        FIT_DRAWS=${FIT_DRAWS:-4} FIT_SLOW=${FIT_SLOW:-50} FIT_FEWER=${FIT_FEWER:-10} \
        valgrind -q --vex-iropt-register-updates=allregs-at-mem-access --trace-children=yes \
        --trace-children-skip="${skip#,}" --soname-synonyms=somalloc=nouserintercepts --vgdb=no --num-callers=30 \
        --leak-check=$leaks \
        --errors-for-leak-kinds=definite,indirect,possible --suppressions="$here/lint/valgrind.supp" \
        --log-file="$work/$name/%p.log" "$@" >"$work/$name/output" 2>&1 || status=$?
    # A test that fails leaves its memory: cmocka jumps out of it.
    if [ $status -ne 0 ] && ! grep -hq '^==[0-9]*== [A-Z]' "$work/$name"/*.log; then
        echo "valgrind: $name: nothing found but what a failed assertion may leave; exit status $status"
        grep -h '^==[0-9]*== .* lost in loss record' "$work/$name"/*.log | sort | uniq -c | sort -rn | head -n 5
        tail -n 20 "$work/$name/output"
    elif grep -q '^==[0-9]*== ' "$work/$name"/*.log; then
        echo "valgrind: $name: findings"
        grep -h '^==[0-9]*== ' "$work/$name"/*.log | head -n 60
        : >"$work/bad"
    else
        echo "valgrind: $name: nothing in $(find "$work/$name" -name '*.log' | wc -l) programs"
    fi
    exit 0
fi

build=$(cd "$1" && pwd)
shift
command -v valgrind >/dev/null ||
    { echo "valgrind.sh: valgrind is missing (Debian: apt-get install valgrind)" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
whole=$#
if [ $# -eq 0 ]; then
    # Left out: what starts no program of ours.
    # shellcheck disable=SC2046  # a list of words
    set -- $(ctest --test-dir "$build" -N | sed -n 's/^ *Test *#[0-9]*: //p' |
        grep -Ev -e '^(check-rooms|check-rooms-itself|docs-(html|links|messages))$')
fi
for test; do printf '%s\n' "$test"; done | xargs -P "$jobs" -I '{}' "$0" --one "$work" '{}' \
    ctest --test-dir "$build" -R '^{}$' --output-on-failure

if [ "$whole" -eq 0 ]; then # small data, few iterations; 2 threads
    bin=$build/bin
    cd "$work"
    "$bin/homodyne-laminar" simulate -o pairs.h5 --frames 40 --dt 0.1 --q 0.0054 --gap 2e6 --phi 0,45,90 \
        --noise 0.003 --config-out pairs.yaml --quiet
    "$bin/homodyne-kww" simulate -o rows.csv --x 1e-3:1:60:log --noise 0.003 --quiet
    few="--chains 2 --warmup 20 --draws 20"
    fixed="--fix alpha --fix beta --fix phi0 --fix gamma_dot_t_offset"
    one() { "$here/valgrind.sh" --one "$work" "$@"; }
    # shellcheck disable=SC2086  # lists of words
    pairs() { name=$1; shift; one "$name" "$bin/homodyne-laminar" fit pairs.yaml -j 2 \
        --quiet --output-dir "o-$name" "$@"; }
    # shellcheck disable=SC2086
    {
        pairs fit
        pairs fit-streamed --stream on
        pairs fit-averaged-robust --scaling averaged --loss soft_l1
        pairs fit-chains --method nuts $few $fixed
        pairs fit-consensus --method cmc --consensus $few $fixed
        pairs fit-bootstrap --bootstrap block:3 --profile D0
        one rows "$bin/homodyne-kww" fit --data rows.csv -j 2 --quiet --output-dir o-rows
        one rows-chains "$bin/homodyne-kww" fit --data rows.csv -j 2 --quiet --output-dir o-rows-chains \
            --method nuts $few
        one report "$bin/homodyne-report" report o-fit-chains
    }
fi
echo "valgrind: $# tests"
[ ! -e "$work/bad" ]
