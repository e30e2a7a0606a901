#!/bin/sh
# quantities.sh BINDIR -- several measured quantities of one file: the same numbers as one column of values with another
# that tells which; empty cells, units, errors that are missing; laws of their own.
set -eu
bin=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/../support/test.sh"
export XDG_CACHE_HOME="$dir/cache"

cat >both.lua <<'E'
local m = model "both" { title = "Storage and loss modulus" }
local omega, G1, s1, G2, s2 = m.columns({ "omega", unit = "1/s", range = {0.01, 100} },
    "G1:Pa", "s1:Pa", "G2:Pa", "s2:Pa")
local G0  = m.parameter("G0", { unit = "Pa", start = 100, bounds = {0, 1e6} })
local tau = m.parameter("tau", { unit = "s", start = 1, bounds = {0.02, 50} })
local x = omega * tau
m.observe(G1, { mean = G0 * x^2 / (1 + x^2), sigma = s1 })
m.observe(G2, { mean = G0 * x / (1 + x^2), sigma = s2 })
m.test { omega = 1, G0 = 2, tau = 1, G1 = 1, G2 = 1 }
m.test { omega = 1, G0 = 2, tau = 2, G2 = 0.8 }
E

answers 0 "20 rows" simulate --model both.lua -o both.csv --x 0.01:100:20:log --noise 1 --seed 4
[ "$(grep -v '^#' both.csv | head -1)" = omega,G1,s1,G2,s2 ] || fail "columns: $(grep -v '^#' both.csv | head -1)"
answers 0 "40 points" fit --model both.lua --data both.csv -o both

# the same data with one column of values; tests/data/models/modulus.lua is that model
grep -v '^#' both.csv |
    awk -F, 'NR == 1 { print "omega,part,G,s"; next } { print $1 ",0," $2 "," $3; l[NR] = $1 ",1," $4 "," $5 }
    END { for (k = 2; k <= NR; k++) print l[k] }' >stacked.csv
answers 0 "40 points" fit --model "$source/tests/data/models/modulus.lua" --data stacked.csv -o stacked
for key in '"value"' '"std"' '"cost"' '"chi2"'; do
    grep "^ *$key:" both/fit.json >a
    grep "^ *$key:" stacked/fit.json >b
    cmp -s a b || fail "$key differs from that of one column: $(diff a b | head -4)"
done

# not measured, other units, columns in another order
awk -F, -v OFS=, '/^#/ { next } /omega/ { print "G2 (kPa)", "s2 (kPa)", "G1", "s1", "omega"; next }
    { print (NR % 3 ? $4 / 1000 : ""), $5 / 1000, $2, $3, $1 }' both.csv >holes.csv
answers 0 "'G2' has a value in" fit --model both.lua --data holes.csv -o holes
grep -q "was converted to Pa" out err || fail "kPa are not converted: $(cat out err)"
grep -q '"n_points": 3[34],' holes/fit.json || fail "holes: $(grep n_points holes/fit.json)"

answers 4 "no column 's2', the standard deviation of 'G2'" fit --model both.lua --data stacked.csv \
    --set 'data.columns={G1: G, G2: G, s1: s}' -o none
answers 3 "no parameter, setting, axis or column" eval --model both.lua -o x.h5 --x 1:2:3 --set quantity=1
answers 0 "" eval --model both.lua -o x.h5 --x 1:2:3
answers 0 "" report both
grep -q 'G2 (Pa)' both/report.html || fail "the report does not name the quantities"

# laws of two kinds, and what their values may be
cat >laws.lua <<'E'
local m = model "laws" { title = "Counts and a current" }
local t, n, y = m.columns({ "t", unit = "s", range = {0, 5} }, "n", "y:nA")
local rate = m.parameter("rate", { unit = "1/s", start = 1, bounds = {0.1, 10} })
local N = m.parameter("N", { start = 100, bounds = {1, 1e4} })
local a = m.parameter("a", { unit = "nA", start = 2 })
local sd = m.parameter("sd", { unit = "nA", start = 0.1, bounds = {0.001, 10} })
m.observe(n, { mean = N * exp(-rate * t), noise = poisson() })
m.observe(y, { mean = a * exp(-rate * t / 2), noise = gaussian { sd = sd } })
m.test { t = 1, rate = 1, N = 100, a = 2, n = 36.787944117144233, y = 1.2130613194252668 }
E
awk 'BEGIN { print "t,n,y"; for (k = 0; k < 30; k++) { t = k / 6
    printf "%.4f,%d,%.5f\n", t, 200 * exp(-0.8 * t) + 5 * sin(7 * k),
        2 * exp(-0.4 * t) + 0.05 * cos(5 * k) } }' >laws.csv
answers 0 "60 points, errors of the model's own distribution" fit --model laws.lua --data laws.csv -o laws
answers 3 "no way to draw from it" simulate --model laws.lua -o x.csv --x 0:1:3
sed '5s/,[0-9]*,/,3.5,/' laws.csv >half.csv
answers 4 "n = 3.5 is not a count" fit --model laws.lua --data half.csv -o none
finish
