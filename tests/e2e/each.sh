#!/bin/sh
# `fit --each COLUMN`: every curve has the numbers of a fit of its rows alone, to the last digit, whatever stands beside
# it and whatever the number of threads.  each.sh BINDIR
set -eu
bin=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
    echo "FAILED: $*"
    exit 1
}

# Twelve curves, rows of all of them mixed: 3 has no value, 5 is constant, 7 has holes.
awk 'BEGIN {
    srand(5)
    print "delay,run,g2"
    for (i = 0; i < 40; i++)
        for (c = 12; c > 0; c--) {
            t = 10 ^ (-3 + 4 * i / 39)
            y = 1 + (0.1 + 0.01 * c) * exp(-2 * (t / (0.05 * c)) ^ (0.7 + 0.05 * c))
            y += 0.002 * (rand() + rand() + rand() - 1.5)
            if (c == 3 || (c == 7 && i % 3 == 0)) y = "nan"
            if (c == 5) y = 1
            printf "%.17g,%d,%s\n", t, c, (y == "nan") ? y : sprintf("%.17g", y)
        } }' >all.csv

code=0
"$bin/homodyne-kww" fit --data all.csv --each run -o one --threads 1 >one.txt || code=$?
[ "$code" = 2 ] || fail "exit code $code, not 2, with curves that cannot be fitted"
grep -q "^12 curves: " one.txt || fail "no line that tells the number of curves: $(cat one.txt)"
"$bin/homodyne-kww" fit --data all.csv --each run -o two --threads 3 --quiet || :
cmp one/each.csv two/each.csv || fail "another number of threads, other numbers"
[ -s one/each.h5 ] || fail "no each.h5"
[ "$(wc -l <one/each.csv)" = 13 ] || fail "not a row for each curve"
sed -n 2p one/each.csv | grep -q '^12,' || fail "curves are not in the order of their first rows"

column() { # column NAME RUN
    awk -F, -v name="$1" -v run="$2" 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == name) at = k }
        $1 == run { print $at }' one/each.csv
}

member() { # member NAME KEY: of a parameter in fit.json
    awk -v name="\"$1\": {" -v key="\"$2\":" 'index($0, name) { inside = 1 }
        inside && index($0, key) { v = $2; sub(/,$/, "", v); print v; exit }' single/fit.json
}

same() { # same A B: the same double
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(sprintf("%.17g", a) == sprintf("%.17g", b)) }'
}

for run in 1 2 7 12; do
    awk -F, -v run=$run 'NR == 1 || $2 == run' all.csv >single.csv
    rm -rf single
    "$bin/homodyne-kww" fit --data single.csv -o single --quiet
    for name in tau beta; do
        same "$(column $name $run)" "$(member $name value)" || fail "$name of curve $run is not that of the single fit"
        same "$(column ${name}_err $run)" "$(member $name std)" || fail "error of $name of curve $run"
    done
    grep -q "\"quality\": \"$(column quality $run)\"" single/fit.json || fail "verdict of curve $run"
    grep -q "\"status\": \"$(column status $run)\"" single/fit.json || fail "status of curve $run"
done

for run in 3 5; do
    [ "$(column status $run)" = failed ] || fail "curve $run: $(column status $run)"
    [ "$(column tau $run)" = nan ] || fail "curve $run has a value"
    awk -F, -v run=$run 'NR == 1 || $2 == run' all.csv >single.csv
    ! "$bin/homodyne-kww" fit --data single.csv -o none --quiet 2>message || fail "curve $run can be fitted alone"
done
grep -q "none of the 40 rows" one/each.csv || fail "no reason for the curve without values"

refuse() { # refuse TEXT OPTIONS...
    text=$1
    shift
    ! "$bin/homodyne-kww" fit --data all.csv -o refused --quiet "$@" 2>message || fail "accepted: $*"
    grep -q -e "$text" message || fail "$*: $(cat message)"
    [ ! -e refused/each.csv ] || fail "$*: files were written"
}
refuse "no column 'rum'" --each rum
refuse "is delay of the model" --each delay
refuse "least squares of every curve" --each run --method nuts
refuse "least squares of every curve" --each run --profile tau
echo "each: all well"
