#!/bin/sh
# Every kind of page in a browser: of data, of a fit, of a table, of a series, of two results: pages.sh BINDIR
# Wide and narrow, light and dark: no errors of scripts, nothing beside the window, no texts or controls over one
# another, tools at tables and figures, and numbers of copied tables that programs read. Needs python3 and Chromium;
# else it is skipped.
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
for t in 290 300 310; do
    "$h" simulate --model static_isotropic -o "s_T$t.h5" --frames 60 --dt 0.1 --q 0.005 --phi 0,90 --contrast 0.25 \
        --noise 0.01 \
        --seed "$t" --set "D0=${t}00" --set alpha=0 --set D_offset=0 --quiet --config-out my.yaml --force
done
expect 0 "$h" report s_T290.h5 -o data.html --quiet
expect 0 "$h" fit my.yaml -o free --quiet # not all is determined: sentences about parameters
expect 0 "$h" report free -o fit.html --quiet
expect 0 "$h" batch my.yaml s_T*.h5 --fix alpha=0 --fix D_offset=0 -o series --quiet
expect 0 "$h" report series --axis T:K -o series.html --quiet
got=0
"$h" compare free series/s_T310 --report=compare.html --quiet || got=$?
[ "$got" -le 2 ] || fail "compare: $got"
expect 0 "$bin/homodyne-kww" fit --data "$here/../../examples/kww/data.csv" -o kww --quiet
expect 0 "$h" report kww -o table.html --quiet
has series.html "<i>D</i><sub>0</sub> (Å² s⁻¹)</th>"
has series.html "Held in all fits: "
hasnot series.html "<i>α</i> </th>"
! sed '/<style>/,/<\/style>/d; /<script/,/<\/script>/d; s/<code[^>]*>[^<]*<\/code>//g; s/<[^>]*>//g' fit.html |
    grep -nE '(^|[ (>])-[0-9]|[0-9]e[-+][0-9]' || fail "hyphens or e for powers"
code=0
python3 "$here/pages.py" "$dir" || code=$?
[ "$code" -ne 77 ] || exit 77
[ "$code" -eq 0 ] || fail "pages.py: $code"
finish
