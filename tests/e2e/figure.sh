#!/bin/sh
# homodyne figure: one composed figure of two-time data, of two components, of a table, of data with a posterior: size,
# letters, fonts, panels, the same bytes again; what is refused leaves nothing: figure.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne
echo 'leak:libfontconfig' >lsan
export LSAN_OPTIONS="suppressions=$dir/lsan:print_suppressions=0"
examples=$here/../../examples

well_formed() {
    command -v xmllint >/dev/null || { echo "no xmllint: not asked whether $1 is well-formed" && return; }
    xmllint --noout "$1" || fail "not well-formed: $1"
}

# ---- svg: everywhere
expect 0 "$h" fit "$examples/laminar/experiment.yaml" -o fit --quiet
cp -r fit before
expect 0 "$h" figure fit --format svg --columns 2 -o two
has out "two.svg"
has out "178.0 mm x "
has out "(a) Two-time correlation c2: data above the diagonal, fit below."
has out "rate; bands: 68 % and 95 %."
has out "letters of 7.5 points"
well_formed two.svg
has two.svg 'width="178.000mm"'
for letter in a b c d; do has two.svg "font-weight=\"600\" x=\"0.0\"" &&
    grep -q "font-weight=\"600\"[^>]*>$letter</text>" two.svg || fail "no panel $letter"; done
! grep -q 'font-weight="600"[^>]*>e</text>' two.svg || fail "a panel e"
[ "$(grep -c '>data</text>' two.svg)" -eq 5 ] || fail "not five maps"
has two.svg '<tspan font-style="italic">γ̇</tspan>'
expect 0 "$h" figure fit --format svg --columns 2 -o again --quiet
[ ! -s out ] || fail "--quiet says something"
cmp two.svg again.svg || fail "another figure from the same fit"
for file in fit.json fit.h5 summary.txt; do cmp fit/$file before/$file || fail "figure changed $file"; done

expect 0 "$h" figure fit --columns 1 --panels g2,D,shear --phi 0,90 --style pnas --font "DejaVu Sans,8" -f svg -o one
well_formed one.svg
has one.svg 'width="87.000mm"'
grep -q 'font-weight="600"[^>]*>A</text>' one.svg || fail "the style pnas has A"
[ "$(grep -c '<image' one.svg)" -eq 0 ] || fail "maps that were not asked for"
[ "$(grep -c '>90°</text>' one.svg)" -eq 1 ] || fail "azimuths"
expect 0 "$h" figure fit --style aps -f svg -o aps
grep -q '>(a)</text>' aps.svg || fail "the style aps has (a)"
expect 0 "$h" figure fit -f svg --json -o j
has out '"caption"'

# ---- what is refused
for wrong in "--columns 3" "--columns 1.5" "--dpi 3" "--panels nonsense" "--format gif" "--style journal" \
    "--font DejaVu,99" "--phi x"; do
    # shellcheck disable=SC2086  # option and value
    expect 3 "$h" figure fit $wrong -o refused
done
expect 3 "$h" figure fit --panels velocity -o refused
says "this result has no panel 'velocity'; there are maps, residuals, g2, D, shear"
expect 3 "$h" figure
expect 4 "$h" figure nowhere
[ -z "$(ls refused* 2>/dev/null)" ] || fail "what was refused left a file"

# ---- a table: data, fit, residuals
expect 0 "$bin/homodyne-kww" fit --data "$examples/kww/data.csv" -o kww --quiet
expect 0 "$h" figure kww --columns 1 -f svg -o kww1
well_formed kww1.svg
has kww1.svg 'res. / σ'
has kww1.svg '<tspan font-style="italic">τ</tspan> (s)'
! grep -q 'font-weight="600"[^>]*>a</text>' kww1.svg || fail "one panel has a letter"

# ---- pdf and png, where Cairo is
"$h" figure fit -f pdf -o p >out 2>err || {
    has err "needs Cairo"
    echo "no Cairo: PDF and PNG were not tried"
    finish
}
sleep 1
expect 0 "$h" figure fit -f pdf -o q
cmp p.pdf q.pdf || fail "another PDF from the same fit"
expect 0 "$h" figure fit --columns 1 -f pdf,png --dpi 300 -o c
[ "$(od -An -tu1 -j16 -N4 c.png | awk '{ print $3 * 256 + $4 }')" -eq 1016 ] || fail "86 mm at 300 dpi are 1016 pixels"
head -c 60 c.png | grep -q pHYs || fail "the PNG has no resolution"
if command -v pdffonts >/dev/null; then
    pdffonts p.pdf | tail -n +3 >fonts
    [ -s fonts ] || fail "no fonts in the PDF"
    ! awk '{ print $(NF - 4) }' fonts | grep -v yes || fail "a font is not embedded: $(cat fonts)"
    pdfinfo c.pdf | awk '/Page size/ { exit !($3 > 243 && $3 < 244.5) }' || fail "not 86 mm wide: $(pdfinfo c.pdf)"
else
    echo "no pdffonts: fonts of the PDF were not looked at"
fi
# no word lies upon another one
# of many azimuths: along the flow, across it, and between; several files tell their q, and what they share stands once
phis=-85,-65,-45,-25,5,25,45,65,95
for q in 0.004 0.006; do
    "$h" simulate --model laminar -o "q$q.h5" --frames 60 --dt 0.1 --q $q --gap 2000000 --phi=$phis --contrast 0.3 \
        --offset 1 \
        --noise 0.01 --seed 3 --set D0=8000 --set alpha=-0.3 --set D_offset=100 --set gamma_dot_t0=0.01 \
        --set beta=-0.2 \
        --set gamma_dot_t_offset=0 --set phi0=5 --quiet --config-out "q$q.yaml"
done
expect 0 "$h" fit q0.004.yaml -o many --quiet --max-iterations 60 --fix phi0=5
expect 0 "$h" figure many --columns 1 --format svg -o many
for phi in 5 −45 −85; do grep -q "φ</tspan> = $phi°" many.svg || fail "no map at $phi degrees"; done
sed '/wavevector_q/d' q0.004.yaml >both.yaml
expect 0 "$h" fit --config both.yaml --data q0.004.h5 --data q0.006.h5 -o both --quiet --max-iterations 60
expect 0 "$h" figure both --columns 1 --format svg -o both
has out "file 2: q0.006.h5"
has both.svg 'q</tspan> = 0.006 Å⁻¹'
expect 0 "$h" report both -o both.html --quiet
has both.html 'File 1: q0.004.h5 (q = 0.004 Å⁻¹), file 2: q0.006.h5'
[ "$(grep -o 'aria-label="shear rate over time' both.html | wc -l)" -eq 1 ] ||
    fail "a curve that both files share stands twice"

if command -v pdftotext >/dev/null && command -v python3 >/dev/null; then
    expect 0 "$h" simulate --model two_component -o het.h5 --frames 60 --dt 0.1 --q 0.0054 --phi 0,45,90 \
        --contrast 0.3 \
        --noise 0.01 --seed 5 --quiet --config-out het.yaml
    expect 0 "$h" fit het.yaml -o het --quiet --max-iterations 60
    expect 0 "$h" figure het -f pdf -o het2
    expect 0 "$h" figure het --columns 1 -f pdf -o het1
    expect 0 "$h" figure kww -f pdf -o kww2
    expect 0 "$h" figure both --columns 1 -f pdf -o both1
    for f in p c het1 het2 kww2 both1; do
        pdftotext -bbox "$f.pdf" "$f.html"
        python3 - "$f.html" <<'END' || fail "$f.pdf: words upon each other"
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
page = [float(x) for x in re.search(r'<page width="([0-9.]+)" height="([0-9.]+)"', text).groups()]
word = r'<word xMin="([-0-9.]+)" yMin="([-0-9.]+)" xMax="([-0-9.]+)" yMax="([-0-9.]+)">(.*?)</word>'
words = [(*map(float, m[:4]), m[4]) for m in re.findall(word, text)]
assert len(words) > 10, "no words"
for k, a in enumerate(words):
    assert a[0] > -1 and a[1] > -1 and a[2] < page[0] + 1 and a[3] < page[1] + 1, f"outside: {a}"
    for b in words[:k]:
        wide = min(a[2], b[2]) - max(a[0], b[0])
        high = min(a[3], b[3]) - max(a[1], b[1])
        assert wide < 1.5 or high < 3, f"{a} and {b}"  # lines of a box are higher than its letters
END
    done
else
    echo "no pdftotext or python3: not asked whether words clash"
fi
finish
