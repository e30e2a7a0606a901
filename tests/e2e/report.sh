#!/bin/sh
# homodyne report and plot: pages of two-time data, of a table and of posteriors; files of all formats; what is
# refused leaves nothing behind: report.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
examples=$here/../../examples
h=$bin/homodyne
# sanitized builds: fontconfig keeps what it has read, to the end of the program
echo 'leak:libfontconfig' >lsan
export LSAN_OPTIONS="suppressions=$dir/lsan:print_suppressions=0"

count() { # count N TEXT FILE: lines with it
    n=$(grep -cF -- "$2" "$3") || true
    [ "$n" -eq "$1" ] || fail "$3: $n lines, not $1, with $2"
}

well_formed() { # every element is closed, attributes are quoted, no stray & or <
    if command -v xmllint >/dev/null; then
        xmllint --noout "$@" 2>err || {
            fail "not well-formed: $*"
            head -3 err
        }
    else
        echo "no xmllint: not asked whether $* are well-formed"
    fi
}

page() { # page FILE: what holds for every page
    well_formed "$1"
    count 1 '</html>' "$1"
    [ "$(grep -c '<svg' "$1")" -eq "$(grep -c '</svg>' "$1")" ] || fail "$1: an open svg"
    # one file: nothing is loaded from elsewhere, nothing is run
    ! grep -E '(src|href)="(https?:|//|[a-z]+\.)' "$1" || fail "$1 needs other files"
    ! grep -E '<script[^>]*(src|href)' "$1" || fail "$1 loads a script"
    ! grep -v '^{"group"' "$1" | grep -wE 'nan|inf|-nan' || fail "$1 shows a number that is none"
    # no picture without a mark: each svg has paths beyond its frame
    awk '/<svg/ { n = 0; name = $0 } /<path/ { n++ } /<\/svg>/ { if (n < 3) { print "empty: " name;
        bad = 1 } } END { exit bad }' "$1" ||
        fail "$1 has an empty figure"
    # what is drawn lies inside its picture; coordinates are relative to the point before (first numbers: absolute)
    awk '/<svg/ { match($0, /viewBox="[^"]*"/); split(substr($0, RSTART + 9, RLENGTH - 10), box, " ") }
        /<path/ { match($0, / d="[^"]*"/); d = substr($0, RSTART + 4, RLENGTH - 5)
            gsub(/[mlz]/, " & ", d)
            gsub(/-/, " -", d)
            n = split(d, t, " ")
            x = y = x0 = y0 = 0
            for (i = 1; i <= n; i++)
                if (t[i] == "z") { x = x0; y = y0 }
                else if (t[i] == "m" || t[i] == "l") what = t[i]
                else { x += t[i]; y += t[++i]; if (what == "m") { x0 = x; y0 = y; what = "l" }
                    if (x < -1 || y < -1 || x > box[3] + 1 || y > box[4] + 1) { print "outside: " x, y; bad = 1;
                        exit } }
            }
        END { exit bad }' "$1" || fail "$1 draws outside of its pictures"
}

# ---- two-time data: five angles
expect 0 "$h" fit "$examples/laminar/experiment.yaml" -o fit --quiet
cp -r fit before
expect 0 "$h" report fit
has out "fit/report.html"
page fit/report.html
for id in parameters maps cuts curves groups correlation residuals convergence origin; do
    has fit/report.html "<section id=\"$id\">"
done
count 5 'Data, fit and residuals at azimuth' fit/report.html
count 25 'data:image/png;base64,' fit/report.html # three maps and two bars for each angle
has fit/report.html "<b>good</b>"
has fit/report.html '<a href="#convergence">'
has fit/report.html '<dt>iterations</dt><dd>'"$(sed -n 's/^\([0-9]*\) steps,.*/\1/p' fit/summary.txt)"'</dd>'
has fit/report.html '<mfrac><msup><mi>q</mi><mn>2</mn></msup>'
has fit/report.html '(<span class="o">--scaling</span> averaged)'
! sed 's/<[^>]*>//g' fit/report.html | grep -F -e '+-' -e 'shear_rate' || fail "signs and names of the page"
has fit/report.html "gamma_dot_t_offset"
[ "$(wc -c <fit/report.html)" -lt 1500000 ] || fail "the page is large: $(wc -c <fit/report.html) bytes"
for file in fit.json fit.h5 summary.txt; do cmp fit/$file before/$file || fail "report changed $file"; done
cp fit/report.html first.html
expect 0 "$h" report fit -o again.html --quiet
[ ! -s out ] || fail "--quiet says something"
cmp first.html again.html || fail "another page from the same fit"
# the numbers of the table are those of fit.json, to the digits of their errors
value=$(awk '$1 == "\"gamma_dot_t0\":" { inside = 1 } inside && $1 == "\"value\":" { printf "%.6f", $2;
    exit }' fit/fit.json)
has fit/report.html "<code class=\"name\">gamma_dot_t0</code></th><td class=\"n v\">$value</td>"
has fit/report.html "<i>γ̇</i><sub>0</sub>"
has fit/report.html "<msubsup><mo>∫</mo>"

# equations of a stranger's file: what is not the compiler's is not taken, the plain formula stands there
if command -v python3 >/dev/null && python3 -c 'import h5py' 2>/dev/null; then
    cp -r fit strange
    python3 - <<'END'
import h5py
with h5py.File("strange/fit.h5", "r+") as f:
    del f["entry/model_mathml"]
    f["entry/model_mathml"] = '<div class="eq"><math><mi onclick="x()">a</mi></math><script>y()</script></div>'
END
    expect 0 "$h" report strange
    page strange/report.html
    has strange/report.html 'exp(−q^2/2 I_D)'
    ! grep -qF -e 'onclick="x()"' -e '>y()<' strange/report.html || fail "elements of a stranger"
else
    echo "no h5py: equations of a stranger were not tried"
fi

# on a telephone neither the table of parameters nor the matrix of seven is wider than the screen
sideways() { # sideways FILE: how far what should fit must be moved
    sed 's|</body>|<script>document.title = Math.max(...Array.from(document.querySelectorAll(\
"#parameters .wide, #correlation figure, #maps figure"), e => e.scrollWidth - e.clientWidth))</script></body>|' \
"$1" >narrow.html
    HOME=$dir chromium --headless --no-sandbox --disable-gpu --window-size=390,900 \
        --dump-dom "file://$dir/narrow.html" 2>/dev/null |
        sed -n 's/.*<title>\([-0-9]*\)<.*/\1/p'
}
if command -v chromium >/dev/null; then
    [ "$(sideways fit/report.html)" = 0 ] || fail "390 pixels: wider by $(sideways fit/report.html)"
    expect 0 "$h" fit "$examples/laminar/experiment.yaml" --phi 5 -o single --quiet
    expect 0 "$h" report single # its map is the widest
    [ "$(sideways single/report.html)" = 0 ] || fail "390 pixels, one angle: wider by $(sideways single/report.html)"
else
    echo "no chromium: the width of the page was not measured"
fi
has fit/report.html '<td class="n i">'

# ---- profile likelihoods: their curves, levels and intervals, in the page and as files
expect 0 "$h" fit "$examples/laminar/experiment.yaml" --profile D0,phi0 -o profile --quiet
expect 0 "$h" report profile
page profile/report.html
has profile/report.html '<section id="profiles"><h2>Profile likelihoods</h2>'
has profile/report.html '<a href="#profiles">'
count 2 'Profile likelihood of ' profile/report.html
[ "$(sed 's/<text/\n<text/g' profile/report.html | grep -c '>95 %</text>')" = 2 ] ||
    fail "each profile has the level of 95 %"
expect 0 "$h" plot profile -o profile_svg
for name in D0 phi0; do has profile_svg/profile_$name.svg '>68 %</text>'; done
! grep -q '"profiles"' fit/report.html || fail "profiles that nobody asked for"
# the interval ends where the curve crosses the level that is drawn (D0: exactly one degree of freedom, many values)
awk '/"interval_95": \{/ { inside = 1 } inside && /"chi2_rise"/ { gsub(/[,]/, ""); x = $2; exit }
    END { exit !(x > 3.83 && x < 3.86) }' profile/fit.json || fail "the level of 95 % in fit.json"

# ---- figures as files
expect 0 "$h" plot fit -o svg
[ "$(ls svg | wc -l)" -eq "$(grep -c '<svg' fit/report.html)" ] || fail "as many files as figures"
well_formed svg/*.svg
! grep -q 'var(--' svg/*.svg || fail "colours of a page in a file"
# what the files say and show is what the page does: the same texts, paths and pictures
drawn() { # what lies inside of the figures of files, a line each
    cat "$@" | tr '\n' ' ' | sed 's/<svg/\n<svg/g' | grep '^<svg' |
        sed 's/<\/svg>.*//; s/ \(fill\|stroke\|style\|class\)="[^"]*"//g' |
        grep -oE '>[^<>]+</text>| d="[^"]*"|data:image[^"]*' |
        grep -vE '^ d="m0 0l[0-9.]+ 0 0 [0-9.]+-[0-9.]+ 0z"' | sort # a file has its paper
}
drawn fit/report.html >of_page
drawn svg/*.svg >of_files
[ "$(wc -l <of_page)" -gt 300 ] || fail "only $(wc -l <of_page) texts and paths on the page"
cmp of_page of_files || { diff of_page of_files | cut -c 1-120 | head -6; fail "page and files show different things"; }
if "$h" plot fit --format=png -o png 2>&1 | grep -q "needs Cairo"; then
    echo "built without Cairo: neither png nor pdf is tried"
    [ ! -e png ] || fail "a folder without files"
else
    [ "$(ls png/*.png | wc -l)" -eq "$(ls svg | wc -l)" ] || fail "png files"
    for f in png/*.png; do head -c 8 "$f" | od -An -c | grep -q 'P   N   G' || fail "$f is no PNG"; done
    expect 0 "$h" plot fit -f pdf -o pdf
    for f in pdf/*.pdf; do head -c 5 "$f" | grep -q '%PDF-' || fail "$f is no PDF"; done
    if command -v pdftotext >/dev/null; then # what stands upright and is one word: as in the file of SVG
        for name in $(ls svg | sed 's/[.]svg$//'); do
            grep -oE '>[0-9a-zA-Z_.]+</text>' "svg/$name.svg" | sed 's/^>//; s/<.*//' | sort -u >words
            pdftotext "pdf/$name.pdf" - | tr -s ' \n' '\n\n' | sort -u >there
            missing=$(comm -23 words there | tr '\n' ' ')
            [ -z "$missing" ] || fail "pdf/$name.pdf lacks $missing"
        done
    fi
fi
expect 0 "$h" plot fit
[ -s fit/figures/correlation.svg ] || fail "no figures in the folder of the fit"

# ---- tables: one curve, several curves
expect 0 "$bin/homodyne-kww" fit --data "$examples/kww/data.csv" -o kww --quiet
expect 0 "$h" report kww
page kww/report.html
has kww/report.html "100 values with errors, the fit, and the residuals"
expect 0 "$bin/homodyne-diffusion_q" fit --data "$examples/diffusion_q/data.csv" -o rings --quiet
if command -v python3 >/dev/null && python3 -c 'import h5py' 2>/dev/null; then
    # between the rows the model stands on places of its own, of every curve
    python3 - <<'END' || fail "the model between the rows"
import json, math
import h5py
with h5py.File("kww/fit.h5") as f:
    x, y, rows = f["entry/data_fine/x"][:], f["entry/data_fine/model"][:], f["entry/data/delay"][:]
p = {k: v["value"] for k, v in json.load(open("kww/fit.json"))["parameters"].items()}
of = lambda t: p["baseline"] + p["contrast"] * math.exp(-2 * (t / p["tau"]) ** p["beta"])
assert len(x) > 4 * len(rows) and x[0] == rows.min() and x[-1] == rows.max() and (x[1:] > x[:-1]).all()
assert max(abs(b / of(a) - 1) for a, b in zip(x, y)) < 1e-14
with h5py.File("rings/fit.h5") as f:
    curves = f["entry/data_fine/curve"][:]
    assert set(curves) == set(f["entry/data/q"][:]) and min((curves == q).sum() for q in set(curves)) > 300
END
else
    echo "no h5py: the model between the rows was not tried"
fi
expect 0 "$h" report rings
page rings/report.html
count 5 '50 values with errors' rings/report.html
has rings/report.html '<tspan font-style="italic">q</tspan> = 0.004 Å⁻¹'

# groups that were fitted alone, and other minima
expect 0 "$h" fit "$examples/laminar/experiment.yaml" --sequence angle -o alone --quiet
expect 0 "$h" report alone
page alone/report.html
has alone/report.html '<section id="sequence"><h2>Fitted one by one</h2>'
count 1 'aria-label="D0 of 5 that were fitted alone"' alone/report.html
if [ "$(grep -c '"chi2_above_best"' alone/fit.json)" -gt 1 ]; then
    has alone/report.html '<section id="minima"><h2>Other minima</h2>'
fi
! grep -q 'id="sequence"' fit/report.html || fail "a sequence that nobody asked for"

# what is measured has its name and unit, a linear parameter its unit; equal steps are drawn as equal
cat >units.lua <<'END'
local m = model "units" { title = "x" }
local T = m.axis("T", { unit = "K", range = {280, 340} })
local t, G = m.columns({ "t", unit = "s", range = {0.05, 25} }, "G:Pa")
local tau = m.parameter("tau", { unit = "s", start = 3, bounds = {0.1, 100} })
local G0 = m.parameter("G0", { unit = "Pa", over = T, start = 100 })
m.observe(G, { mean = G0 * exp(-t / tau) })
END
export XDG_CACHE_HOME=$dir/cache
for steps in 0.05:25:60 0.05:25:60:log; do
    expect 0 "$h" simulate --force --model units.lua -o units.csv --x "$steps" --groups 300,310 --set tau=5 \
        --set G0=90,80 \
        --noise 0.5 --seed 1 --quiet
    expect 0 "$h" fit --model units.lua --data units.csv -o units --quiet
    expect 0 "$h" report units
    page units/report.html
    case $steps in
    *log) ! grep -q '>25</text>' units/report.html || fail "growing steps are drawn as equal" ;;
    *) has units/report.html '>25</text>' ;;
    esac
    has units/report.html '>G</tspan> (Pa)</text>'
    has units/report.html '>0</tspan><tspan dy="-2.9"> (Pa)</tspan></text>'
done

# ---- posteriors: chains; a normal approximation has none
expect 0 "$bin/homodyne-kww" fit --data "$examples/kww/data.csv" --method nuts --draws 500 -o nuts --quiet
expect 0 "$h" report nuts
page nuts/report.html
for id in posterior corner chains energy; do
    has nuts/report.html "<section id=\"$id\">"; done
awk '/R-hat/ { inside = 1; next } inside && $1 ~ /^(tau|beta|contrast|baseline)$/ {
    print $1, $6, $7 }' nuts/summary.txt >sizes
[ "$(wc -l <sizes)" -eq 4 ] || fail "no effective sizes in the summary: $(cat nuts/summary.txt)"
while read -r name r_hat size; do
    grep -E "(<th scope=\"row\">|<code class=\"name\">)$name(</code>)?</th>" nuts/report.html |
        grep -qF "<td class=\"n\">$r_hat</td><td class=\"n\">$size</td>" ||
        fail "$name: another effective size than $size on the page"
    grep -qE " · R-hat $r_hat, ESS $size<" nuts/report.html || fail "$name: another size above its chains"
done <sizes
# two numbers at least tell the scale of every parameter: those of the lowest line of the pairs
lowest() { # of the picture of pairs: texts on the line that is lowest
    sed -n '/id="corner"/,/<\/svg>/p' "$1" | grep -oE ' y="[0-9.]+">[^<]+' | sort -t'"' -k2 -g |
        awk -F'"' '{ n = $2 == y ? n + 1 : 1; y = $2 } END { print n }'
}
[ "$(lowest nuts/report.html)" -ge 8 ] || fail "$(lowest nuts/report.html) numbers below four parameters"
expect 0 "$bin/homodyne-kww" fit --data "$examples/kww/data.csv" --method laplace --draws 300 -o laplace --quiet
expect 0 "$h" report laplace
page laplace/report.html
has laplace/report.html '<section id="corner">'
! grep -q '<section id="chains">' laplace/report.html || fail "chains of a normal approximation"

# ---- what the screen says of rates and priors, the page says, too
expect 0 "$h" simulate --model laminar --frames 100 --dt 0.1 --q 0.0054 --gap 2e6 --phi=0,45,90 --set D0=1500 \
    --set alpha=-0.2 --set D_offset=200 --set gamma_dot_t0=0.004 --set beta=-0.4 --set gamma_dot_t_offset=0.0003 \
    --set phi0=-4 --contrast 0.3 --noise 0.01 --seed 1 -o weak.h5 --quiet
expect 0 "$bin/homodyne-laminar" fit --data weak.h5 --q 0.0054 --dt 0.1 --gap 2e6 --method laplace --draws 300 -o weak
has out "best determined: D0 t^alpha + D_offset at t = "
has out "prior-dominated: D_offset (sd "
expect 0 "$h" report weak
d0='<span class="sym"><i>D</i><sub>0</sub></span>' d_offset='<span class="sym"><i>D</i><sub>offset</sub></span>' \
    alpha='<span class="sym"><i>α</i></span>'
rate="$d0 <span class=\"sym\"><i>t</i></span><sup>$alpha</sup> + $d_offset"
when=$(sed -n 's/.*at t = \([^:]*\) s:.*/\1/p' weak/summary.txt)
has weak/report.html "Best determined: <span class=\"expression\">$rate</span> at <i>t</i> = $when s is "
has weak/report.html "Prior-dominated: $d_offset (sd "
has weak/report.html '<a href="#posterior">'
expect 0 "$h" simulate --model static_isotropic --frames 60 --dt 0.1 --q 0.0054 --phi 0 --set D0=20000 --set alpha=0 \
    --set D_offset=0 --noise 0.01 --seed 1 -o plain.h5 --config-out plain.yaml --quiet
expect 0 "$h" fit plain.yaml -o plain --quiet
expect 0 "$h" report plain
count 1 "$alpha is consistent with 0, and at $alpha = 0 $d0 and $d_offset enter only as $d0 + $d_offset" \
    plain/report.html

# ---- data alone: the command is what was typed; ages that are counted in frames stand in one row
expect 0 "$h" report "$here/../data/nxxpcs.h5" -o data.html
page data.html
has data.html "<dt>command</dt><dd>$h report $here/../data/nxxpcs.h5 -o data.html</dd>"
! grep -q '/homodyne-[A-Za-z0-9]*/data.h5' data.html || fail "a temporary file on the page"
[ "$(sed -n '/id="cuts"/,/<\/svg>/p' data.html | grep -c 'y="32.5">')" -eq 5 ] ||
    fail "not five texts in the row of the ages"
has data.html 'y="32.5">age (frames)'

# ---- data that are not normalised: no error is no error, a question is no full stop
expect 0 "$h" simulate --model static_isotropic --frames 60 --dt 0.1 --q 0.0054 --phi 0 --set D0=20000 --set alpha=0 \
    --set D_offset=0 --contrast 2 --offset 1.9 --noise 0.01 --seed 1 -o high.h5 --config-out high.yaml --quiet
expect 0 "$h" fit high.yaml -o high --quiet
grep -q 'are the data normalised?' high/fit.json || fail "high: $(grep quality_text high/fit.json)"
expect 0 "$h" report high
has high/report.html 'are the data normalised?'
! grep -q '± –' high/report.html || fail "an error that is none"

# ---- a robust fit: the means of the figure take outliers as they are, and the page says so
! grep -q 'gives outliers less weight' fit/report.html weak/report.html || fail "outliers, of a fit that is not robust"
expect 0 "$bin/homodyne-laminar" fit --data weak.h5 --q 0.0054 --dt 0.1 --gap 2e6 --loss soft_l1 --multistart -o robust
has out "(noise of neighbouring values, outliers included, "
expect 0 "$h" report robust
has robust/report.html "gives outliers less weight (loss soft_l1), these means do not"
has robust/report.html "Minima of the plain sum of squares. From the best of them the fit went on with loss soft_l1"
! grep -q 'Minima of the plain' fit/report.html || fail "minima of a fit that is not robust"
! grep -q 'wider by a factor of' fit/report.html robust/report.html || fail "a factor below 1 is not wider"

# ---- refusals: a message that says what would be right, and no file
expect 4 "$h" report nowhere
has err "nowhere: no such folder"
mkdir empty
expect 4 "$h" report empty
has err "no fit.json"
expect 4 "$h" report fit/fit.json
has err "a file"
expect 3 "$h" report
expect 3 "$h" report fit kww rings
has err "at a time"
expect 3 "$h" report fit --format png
expect 3 "$h" plot fit --format gif
has err "svg, png, pdf and html"
mkdir cut
cp before/* cut
head -c 20000 before/fit.h5 >cut/fit.h5
expect 4 "$h" report cut
has err "cut/fit.h5"
[ ! -e cut/report.html ] || fail "a page of a truncated file"
expect 4 "$h" plot cut
[ ! -e cut/figures ] || fail "figures of a truncated file"
cp before/fit.h5 cut/fit.h5
head -c 3000 before/fit.json >cut/fit.json
expect 4 "$h" report cut
has err "cut/fit.json"
cp before/fit.json cut/fit.json
cp kww/fit.h5 cut/fit.h5 # of another fit: still drawn, or refused, never a crash
"$h" report cut >out 2>err || [ $? -eq 4 ] || fail "files that do not belong together: $(cat err)"
rm cut/fit.h5
expect 4 "$h" report cut
has err "fit again"
ls cut | grep -q tmp && fail "temporary files are left"
mkdir -p sealed/report.html
expect 4 "$h" report fit -o sealed/report.html
[ -d sealed/report.html ] || fail "a folder was replaced"

finish
