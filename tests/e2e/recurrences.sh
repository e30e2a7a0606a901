#!/bin/sh
# Models whose rows follow from earlier rows: the fit against a maximum of the likelihood found by scipy, the same
# result for any number of threads, what is simulated is found again, what is refused: recurrences.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
export XDG_CACHE_HOME="$dir/cache"
data=$here/../data/posteriordb/arma11.csv

near() { # near FILE PARAMETER VALUE ALLOWED
    got=$(sed -n '/"parameters"/,$p' "$1" | grep -A1 "\"$2\": {" | sed -n 's/.*"value": \([-0-9.e]*\),*/\1/p' | head -1)
    awk -v a="$got" -v b="$3" -v d="$4" 'BEGIN { exit !(a - b < d && b - a < d) }' || fail "$1: $2 is $got, not $3"
}

# Nelder-Mead of scipy upon the likelihood, a loop, of mu + phi (y - mu) + theta e
expect 0 "$bin/homodyne-arma" fit --data "$data" -o arma
near arma/fit.json phi 0.98526732 1e-7
near arma/fit.json theta -0.05549317 1e-7
near arma/fit.json sigma 0.15713346 1e-7

expect 0 "$bin/homodyne-arma" fit --data "$data" -o two --threads 2
for run in arma two; do
    sed -n '/"parameters"/,/"residuals"/p' $run/fit.json >$run.txt
done
cmp arma.txt two.txt || fail "two threads, another result"

expect 0 "$bin/homodyne-garch" simulate -o garch.csv --x 0:1:2000 --set mu=0.1 --set a0=0.2 --set a1=0.25 --set b1=0.6 \
    --seed 5
expect 0 "$bin/homodyne-garch" fit --data garch.csv -o garch
near garch/fit.json a1 0.25 0.12
near garch/fit.json b1 0.6 0.16

# simulated rows follow from simulated ones, curve by curve: what is left is the noise, the same whatever the parameters
cat >driven.lua <<'LUA'
local m = model "driven" { title = "An autoregression that is driven, one for each run" }
local run = m.axis("run", { range = {1, 2} })
local u, y = m.columns({ "u", range = {-1, 1} }, { "y", range = {-5, 5} })
local b = m.parameter("b", { start = 1, bounds = {-5, 5} })
local phi = m.parameter("phi", { start = 0.5, bounds = {-1, 1} })
local sigma = m.parameter("sigma", { start = 0.1, bounds = {1e-3, 5} })
m.observe(y, { mean = b * u + phi * previous(y, 0), noise = gaussian { sd = sigma } })
m.test { run = 1, b = 2, phi = 0.5, sigma = 1, u = {1, 0}, y = {1, 2}, mean = {2, 0.5} }
LUA
for phi in 0.25 -0.875; do
    expect 0 "$bin/homodyne" simulate --model driven.lua -o "driven$phi.csv" --x -1:1:40 --set run=1,2 --set b=2 \
        --set phi=$phi --set sigma=0.5 --seed 3
    awk -F , -v phi=$phi '/^[0-9]/ { y = $1 == run ? before : 0; printf "%.9f\n", $3 - 2 * $2 - phi * y
        run = $1; before = $3 }' "driven$phi.csv" >"driven$phi.left"
done
[ "$(wc -l <driven0.25.left)" -eq 80 ] || fail "not 80 rows: $(head -n 12 driven0.25.csv)"
cmp driven0.25.left driven-0.875.left || fail "simulated rows do not follow from those before"
expect 0 "$bin/homodyne-garch" simulate -o long.csv --x 0:1:400000 --set mu=0.1 --set a0=0.2 --set a1=0.25 \
    --set b1=0.6 --seed 5 # hours, if each row went along all
grep -v '^#' garch.csv | head -n 1000 >garch.head
grep -v '^#' long.csv | head -n 1000 | cmp - garch.head || fail "rows depend on how many follow"

# eval goes on from measured values, and needs them
expect 0 "$bin/homodyne-arma" eval --data "$data" --set mu=0 -o eval.h5
expect 3 "$bin/homodyne-arma" eval --x 0:1:5 --set mu=0 -o no.h5
says "rows follow from what was measured in earlier ones"

awk 'NR == 17 { print "nan"; next } { print }' "$data" >hole.csv
expect 4 "$bin/homodyne-arma" fit --data hole.csv -o no
says "line 17: y is nan"

# normal errors of a level that is not known; without a noise distribution, too
cat >ar.lua <<'LUA'
local m = model "ar" { title = "An autoregression" }
local y = m.columns({ "y", range = {-2, 2} })
local mu = m.parameter("mu", { start = 0, bounds = {-5, 5} })
local phi = m.parameter("phi", { start = 0.5, bounds = {-1, 1} })
m.observe(y, { mean = mu + phi * previous(y - mu, 0) })
m.test { mu = 0.5, phi = 0.5, y = {1, 2}, mean = {0.5, 0.75} }
LUA
expect 0 "$bin/homodyne" fit --model ar.lua --data "$data" -o ar
near ar/fit.json phi 0.98338064 1e-7
expect 3 "$bin/homodyne" fit --model ar.lua --data "$data" --bootstrap parametric -o no
says "every row follows from those before it"

# a width that is 0 in the first row, whatever the parameters
cat >uneven.lua <<'LUA'
local m = model "uneven" { title = "An Ornstein-Uhlenbeck process whose first row has no step before it" }
local t, y = m.columns({ "t", unit = "s", range = {0, 100} }, { "y", range = {-5, 5} })
local tau = m.parameter("tau", { unit = "s", start = 5, bounds = {0.1, 100} })
local s = m.parameter("s", { start = 1, bounds = {0.01, 100} })
local keep = exp(-(t - previous(t, t)) / tau)
m.observe(y, { mean = keep * previous(y, 0), noise = gaussian { sd = s * sqrt(1 - keep^2) } })
LUA
printf 't,y\n1,0.5\n2,0.7\n4,0.1\n5,-0.3\n7,0.2\n8,0.4\n' >uneven.csv
expect 4 "$bin/homodyne" fit --model uneven.lua --data uneven.csv -o no
says "the noise distribution, gaussian, has no finite density at t = 1 (row 1 of the table)"
sed 's/previous(t, t)/previous(t, t - 1e6 * second)/' uneven.lua >even.txt && mv even.txt uneven.lua
expect 0 "$bin/homodyne" fit --model uneven.lua --data uneven.csv -o uneven

# posteriors are not compared row by row
"$bin/homodyne-arma" fit --data "$data" --method nuts -o posterior_arma >out 2>err || [ $? -eq 2 ] || fail "$(cat err)"
"$bin/homodyne" fit --model ar.lua --data "$data" --method nuts -o posterior_ar >out 2>err || [ $? -eq 2 ] ||
    fail "$(cat err)"
"$bin/homodyne" compare posterior_arma posterior_ar >out 2>err || true
tr '\n' ' ' <out | tr -s ' ' | grep -q "cannot be left out one by one" ||
    fail "compare does not say why: $(cat out err)"
finish
