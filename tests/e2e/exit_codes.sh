#!/bin/sh
# Exit code 1 is for faults of the program: data without signal, and numbers with which nothing can be computed, end with 4 and a
# message that names row, value or setting; noise alone is data: exit_codes.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne
data=$here/../../examples/kww/data.csv

# row N FIELD VALUE: the table with another number in a row; N 0: in every row
row() {
    awk -F, -v OFS=, -v n="$1" -v f="$2" -v x="$3" '
        /^[-0-9]/ { k++; if (n == 0 || k == n) $f = x } { print }' "$data" >bad.csv
}
refused() { # refused TEXT...: exit code 4, and the message has each of them
    expect 4 "$h" fit --model kww --data bad.csv -o no --quiet
    for text; do says "$text"; done
    [ ! -e no/fit.json ] || fail "a result was written"
}
row 41 1 -1 && refused "delay = -1" "row 41"
row 31 2 1e300 && refused "g2 = 1e+300" "row 31"
row 7 2 -1e200 && refused "g2 = -1e+200" "row 7"
row 0 1 1e300 && refused "delay = 1e+300" "row 1"
row 5 3 1e-100 && refused "sigma = 1e-100" "row 5"
row 0 2 1.3 && refused "g2 is 1.3 in all 100 rows" "no signal"
row 0 2 0 && refused "no signal"
awk -F, -v OFS=, '/^[-0-9]/ { $2 = 1.3 + NR % 2 * 2.3e-16 } { print }' "$data" >bad.csv && refused "no signal"
awk -F, -v OFS=, '/^[-0-9]/ { $2 *= 1e150 } { print }' "$data" >bad.csv && refused "cannot be squared"
# noise is data, large units are no fault
awk -F, -v OFS=, 'BEGIN { srand(4) } /^[-0-9]/ { $2 = 1 + 1e-3 * (rand() + rand() - 1) } { print }' "$data" >noise.csv
expect 0 "$h" fit --model kww --data noise.csv -o noise --quiet
awk -F, -v OFS=, '/^[-0-9]/ { $2 *= 1e20; $3 *= 1e20 } { print }' "$data" >large.csv
code=0
"$h" fit --model kww --data large.csv -o large --quiet >out 2>err || code=$?
[ $code -ne 1 ] && [ $code -ne 4 ] || fail "a large unit: exit code $code"

# two-time data
simulate() {
    rm -f two.h5
    expect 0 "$h" simulate --model static_isotropic -o two.h5 --frames 30 --dt 0.1 --q 0.0054 --phi 0,45 --quiet "$@"
}
simulate --contrast 0
expect 4 "$h" fit --model static_isotropic --data two.h5 -o no --quiet
says "holds one value everywhere, 1, as does every other one"
for method in laplace nuts; do
    expect 4 "$h" fit --model static_isotropic --data two.h5 -o no --method $method --quiet
done
simulate --contrast 0 --noise 0.001 --seed 1
code=0
"$h" fit --model static_isotropic --data two.h5 -o noise2 --quiet >out 2>err || code=$?
[ $code -eq 0 ] || [ $code -eq 2 ] || fail "white noise: exit code $code"
finish
