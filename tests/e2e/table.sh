#!/bin/sh
# homodyne table: Markdown, LaTeX, CSV of one and of two results, of names that LaTeX would misread: table.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne

for k in 1 2; do
    "$h" simulate --model static_isotropic -o $k.h5 --frames 80 --dt 0.1 --q 0.005 --phi 0 --contrast 0.3 --offset 1 \
        --noise 0.005 \
        --seed $k --set D0=${k}0000 --set alpha=0 --set D_offset=0 --quiet --config-out my.yaml --force
done
expect 0 "$h" fit my.yaml --data 1.h5 --fix alpha=0 --fix D_offset=0 -o one --quiet
expect 0 "$h" fit my.yaml --data 2.h5 --fix D_offset=0 -o "50%_b\\&" --quiet

expect 0 "$h" table one "50%_b\\&"
has out "| parameter | unit | one | 50%_b\\& |"
grep -qE '^\| D0 \| angstrom\^2/s \| [0-9]+ ± [0-9]+ \| [0-9]+ ± [0-9]+ \|$' out || fail "D0: $(cat out)"
has out "| alpha |  | 0 (held) |"
hasnot out contrast
expect 0 "$h" table one --all
has out "| contrast[1] |" # groups are counted from 1
hasnot out "contrast[0]"
has out "| contrast"

expect 0 "$h" table one "50%_b\\&" --latex
has out '\begin{tabular}{llrr}'
has out '50\%\_b\textbackslash{}\&'
has out '$D_{0}$ & \AA{}$^{2}$\,s$^{-1}$ & $'
has out '$D_{\mathrm{offset}}$'
has out '$\alpha$'
if command -v pdflatex >/dev/null 2>&1; then
    { printf '\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n'; cat out; printf '\\end{document}\n';
        } >t.tex
    pdflatex -interaction=nonstopmode -halt-on-error t.tex >latex.log 2>&1 || fail "LaTeX: $(grep '^!' latex.log)"
else
    echo "no pdflatex: not asked whether the table compiles"
fi

# CSV has the digits of fit.json
expect 0 "$h" table one --csv
told=$(awk -F, '$1 == "\"D0\"" { print $3 }' out)
grep -qF "\"value\": ${told}" one/fit.json ||
    [ "$(awk -v a="$told" '/"D0": \{/ { f = 1 }
        f && /"value"/ { gsub(/[^0-9.e+-]/, "", $2); print ($2 - a == 0); exit }' one/fit.json)" = 1 ] ||
    fail "D0 of the table: $told"

expect 3 "$h" table
expect 3 "$h" table one --csv --latex
expect 4 "$h" table nowhere
printf '\211HDF\r\n' >data.h5
expect 4 "$h" table data.h5
says "no result; give the folder that a fit wrote"
finish
