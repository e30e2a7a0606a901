#!/bin/sh
# The page of two results, `compare --report` and `report A B`: compare_page.sh BINDIR
# Verdict and differences are those of the command, maps and g2 stand for the azimuths that both have; tables; results
# of another package, of another model, on other times.
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne
count() { # count N TEXT FILE: lines with it
    n=$(grep -cF -- "$2" "$3") || true
    [ "$n" -eq "$1" ] || fail "$3: $n lines, not $1, with $2"
}
flow="--set alpha=-0.3 --set D_offset=100 --set gamma_dot_t0=0.003 --set beta=-0.2 --set gamma_dot_t_offset=0.0003
    --set phi0=5"
for k in 1 2; do
    phi=0,30,90
    [ $k = 1 ] || phi=0,90,120
    # shellcheck disable=SC2086  # a list of words
    "$h" simulate --model laminar -o "d$k.h5" --frames 100 --dt 0.1 --q 0.0054 --gap 2000000 --phi $phi --contrast 0.3 \
        --offset 1 --noise 0.01 --seed $k --set D0=${k}0000 $flow --quiet --config-out "d$k.yaml"
    expect 0 "$h" fit "d$k.yaml" -o "f$k" --quiet
done
expect 0 "$h" fit d1.yaml --loss soft_l1 -o robust --quiet
expect 0 "$h" fit d1.yaml --frames 1:80 -o short --quiet

expect 2 "$h" compare f1 f2 --report
[ "$(tail -1 out | cut -c 1-14)" = "compare.html  " ] || fail "the last line is not that of the page: $(tail -1 out)"
has out "DIFFERENT: 1 of 7"
has compare.html '<b>DIFFERENT</b>: 1 of 7 parameters beyond 3 standard deviations'
count 2 'Maps of two results and their difference' compare.html
count 2 'g2 over the lag of two results' compare.html
has compare.html '>data B − A</text>'
has compare.html '>fit B − A</text>'
! grep -wE 'nan|-nan|inf' compare.html || fail "a number that is none"
# the number of standard deviations is that of the table
z=$(sed -n 's/^  D0 .* \([0-9.]*\) !$/\1/p' out)
has compare.html "<td class=\"n bad\"><b>$(echo "$z" | sed 's/^-/−/')</b></td>"
if command -v xmllint >/dev/null; then xmllint --noout compare.html || fail "not well-formed"; fi

expect 0 "$h" report f1 robust -o same.html
has same.html '<b>AGREE</b>'
hasnot same.html '>data B − A</text>'
count 3 'Maps of two results and their difference' same.html
expect 0 "$h" report f1 robust -o quiet.html --quiet
[ ! -s out ] || fail "--quiet says something"
cmp same.html quiet.html || fail "another page of the same two"
expect 0 "$h" report f1 short -o short.html --quiet
has short.html "not on the same times"

expect 0 "$bin/homodyne-kww" fit --data "$here/../../examples/kww/data.csv" -o kww --quiet
expect 0 "$h" report kww kww -o tables.html --quiet
count 1 'Data and fits of two results' tables.html
expect 2 "$h" compare f1 kww --report=other.html --quiet
has other.html 'the models are laminar and kww'
mkdir -p package/nlsq
echo '{"analysis_mode": "laminar_flow", "parameters": {"D0": {"value": 10000, "uncertainty": 500}}, "chi_squared": 1}' \
    >package/nlsq/parameters.json
"$h" compare f1 package --report=package.html --quiet || [ $? -eq 2 ] || fail "a result of a package: exit code"
has package.html 'One of the two has no maps and curves'
expect 4 "$h" report f1 nothing
expect 4 "$h" compare f1 f2 --report=f1/fit.json/page.html
finish
