#!/bin/sh
# Exit code 1 is for faults of the program: data without signal, and numbers with which nothing can be computed, end
# with 4 and a message that names row, value or setting; noise alone is data: exit_codes.sh BINDIR
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

# a model without bounds, far outside its domain: the power of a negative number, a division by 0
cat >power.lua <<'LUA'
local m = model "power" { title = "A power of what the bounds let be negative", accuracy = math.huge }
local x, y = m.columns({ "x" }, { "y" })
local b1 = m.parameter("b1", { start = -1500 })
local b2 = m.parameter("b2", { start = 45 })
local b3 = m.parameter("b3", { start = 0.85 })
m.observe(y, { mean = b1 * (b2 + x)^(-1 / b3), linear = {b1} })
m.test { x = 7.447168, b1 = -1500, b2 = 45, b3 = 0.85, y = -14.219648338790272 }
LUA
points() { # points FROM STEP: 30 of them
    awk -v from="$1" -v step="$2" 'BEGIN { print "x,y";
        for (k = 0; k < 30; k++) print from + k * step "," -30 + 0.1 * k + k % 3 / 30 }'
}
points -100 -0.5 >below.csv # x + b2 < 0 in every row
points -60 5 >across.csv    # in some
points 0 1e-9 >near.csv
for table in below across near; do
    for how in "" "--start b2=-500" "--start b3=1e-300" "--fix b3=1e-5" "--loss soft_l1" "--profile all" \
        "--method laplace --draws 50" "--bootstrap parametric:5"; do
        code=0
        # shellcheck disable=SC2086
        "$h" fit --model power.lua --data $table.csv -o power $how --quiet >out 2>err || code=$?
        case $code in
        0 | 2 | 3 | 4) ;;
        *) fail "$table.csv $how: exit code $code" ;;
        esac
        rm -rf power
    done
done
expect 3 "$h" simulate --model power.lua --x -100:-50:5 --set b2=10 -o no.csv
says "the model power is not a number at x = -100 (row 1)"
[ ! -e no.csv ] || fail "a table without values"
expect 0 "$h" simulate --model power.lua --x 1:50:5 -o yes.csv

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

# 2 has one line of words even with --quiet
simulate --contrast 0.3 --set D0=20000 --noise 0.01 --seed 1
expect 0 "$h" simulate --model laminar -o flow.h5 --frames 200 --dt 0.2 --q 0.0054 --gap 2e6 --phi=-30,0,30,90 \
    --noise 0.001 \
    --set D0=2500 --set alpha=-0.4 --set D_offset=200 --set gamma_dot_t0=0.003 --set beta=-0.3 \
    --set gamma_dot_t_offset=3e-4 \
    --set phi0=-2 --contrast 0.3 --seed 5 --quiet
expect 2 "$h" fit --model laminar --data flow.h5 --gap "200 um" -o early --quiet --max-iterations 1
says "homodyne-laminar: early: not converged: the number of iterations"
[ "$(wc -l <err)" -eq 1 ] || fail "more than one line: $(cat err)"
expect 0 "$h" fit --model static_isotropic --data two.h5 -o full --quiet
[ ! -s err ] || fail "words about a good fit: $(cat err)"

echo "1,2" >wrong.csv
cp "$data" right.csv
code=0
echo "analysis_mode: kww" >kww.yaml
"$h" batch kww.yaml right.csv wrong.csv -o series --quiet >out 2>err </dev/null || code=$?
[ $code -ne 0 ] && [ $code -ne 1 ] || fail "batch with a file that is no table: exit code $code"
says "wrong: FAILED: "
hasnot err "right"

# a folder in the place of a file: nothing is changed
mkdir full/fit.json.d && mv full/fit.json full/fit.json.d/ && mkdir full/fit.json
cksum full/fit.h5 >before
expect 4 "$h" fit --model static_isotropic --data two.h5 -o full --quiet --fix alpha=0
says "full/fit.json: a folder of this name is in the way of the file; nothing was changed"
cksum full/fit.h5 | cmp -s - before || fail "fit.h5 was replaced, fit.json was not"

# usage: words, not numbers
refuses() { # refuses TEXT OPTION...
    text=$1
    shift
    expect 3 "$h" fit --model static_isotropic --data two.h5 -o no --quiet "$@"
    says "$text"
}
refuses "'D0=1000,alpha=0.1': one parameter at a time; repeat --start" --start D0=1000,alpha=0.1
refuses "one parameter at a time; repeat --set" --set D0=1000,alpha=0.1
refuses "one parameter at a time; repeat --fix" --fix D0=1000,alpha=0.1
refuses "'60gon': the text behind the number is not a unit of this quantity; expected is deg" --phi 60gon
refuses "'60 nm' has another kind of unit; expected is deg" --phi "0 deg,60 nm"
refuses "looks like m^-1; write the unit" --q 5.4e7
evaluates() { # evaluates TEXT OPTION...: of a number that does not come from a configuration
    text=$1
    shift
    expect 3 "$h" eval --model static_isotropic -o no.h5 --frames 9 "$@"
    says "$text"
}
evaluates "--phi: '60gon': the text behind the number is not a unit of this quantity; expected is deg" --phi 60gon
evaluates "--phi: '60 nm' has another kind of unit; expected is deg" --phi "0 deg,60 nm"
evaluates "--dt: '0.1x': the text behind the number is not a unit of this quantity; expected is s" --dt 0.1x
evaluates "--dt: '3 nm' has another kind of unit; expected is s" --dt "3 nm"

# what was taken for a setting stands on the screen, in the model's unit; names that the C compiler knows are names
cat >film.lua <<'L'
local m = model "film" { title = "Decay of a film" }
local t, y = m.columns({ "t", unit = "s", range = { 0.1, 10 } }, "errno")
local q, T = m.setting("q", "1/nm"), m.setting("T", "K")
local D = m.parameter("M_PI", { unit = "nm^2/s", start = 10, bounds = { 0.1, 1e4 } })
m.observe(y, { mean = exp(-D * q^2 * t * T / (300 * unit "K")) })
L
awk 'BEGIN { print "t,errno"; for (k = 1; k <= 20; k++) printf "%g,%.6g\n", k / 2,
    exp(-0.2 * k / 2) + 0.001 * (k * 7 % 5 - 2) }' >film.csv
expect 0 "$h" fit --model film.lua --data film.csv --q 0.02 --set "T=300000 mK" -o film
has out "q 0.2 1/nm, T 300 K"
finish
