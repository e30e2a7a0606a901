#!/bin/sh
# Statistics of columns, known when data are loaded: their values, that a fit is that of the same formula with the
# numbers written out, curves one by one, what is given instead, what is refused: statistics.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
export XDG_CACHE_HOME="$dir/cache"

cat >regress.lua <<'LUA'
local m = model "regress" { title = "A regression on a standardised column" }
local x, y = m.columns({ "x", unit = "mm", range = {0, 10} }, "y:mV")
local a = m.parameter("a", { unit = "mV", start = 0 })
local b = m.parameter("b", { unit = "mV", start = 1 })
m.observe(y, { mean = a + b * standardised(x) })
m.test { x = 3, x_mean = 1, x_sd = 4, a = 1, b = 2, y = 2 }
LUA
printf 'c,x,y\n1,2,1\n1,4,2\n1,4,3\n1,6,1\n2,20,1\n2,40,2\n2,40,3\n2,60,1\n' >curves.csv
sed -n '1,5p' curves.csv | cut -d, -f2- >data.csv

number() { # number FILE NAME: the first value of that name
    sed -n "s/.*\"$2\": \([-0-9.e]*\),*\$/\1/p" "$1" | head -n 1
}

expect 0 "$bin/homodyne" fit --model regress.lua --data data.csv -o own
[ "$(number own/fit.json x_mean)" = 4 ] || fail "mean $(number own/fit.json x_mean)"
[ "$(number own/fit.json x_sd)" = 1.632993161855452 ] || fail "standard deviation $(number own/fit.json x_sd)"

# the same numbers given; others
expect 0 "$bin/homodyne" fit --model regress.lua --data data.csv -o given --set x_mean=4 --set x_sd=1.632993161855452
for run in own given; do
    sed -n '/"parameters"/,/"residuals"/p' $run/fit.json >$run.txt
done
cmp own.txt given.txt || fail "numbers that are given change the fit"
expect 0 "$bin/homodyne" fit --model regress.lua --data data.csv -o other --set x_mean=0
[ "$(number other/fit.json x_mean)" = 0 ] || fail "--set has no effect"

# every curve has its own: both fits are the same
expect 0 "$bin/homodyne" fit --model regress.lua --data curves.csv --each c -o each
awk -F, 'NR == 2 { a = $2 } NR == 3 { exit !(a == $2) }' each/each.csv || fail "curves of other scales differ"

expect 0 "$bin/homodyne" simulate --model regress.lua -o made.csv --x 0:10:11 --set a=3 --set b=2 --seed 1
grep -q "x_mean = 5 mm" made.csv || fail "$(head -n 6 made.csv)"

# arrays: curves with columns of their own, in one call and one by one
python=${PYTHON:-python3} # of the library's processor
if "$python" -c 'import numpy' 2>/dev/null; then
    HOMODYNE_GEN_LIB=$bin/../lib PYTHONPATH=$here/../../python PATH=$bin:$PATH "$python" - <<'PY' || fail "fit_many"
import numpy as np
import homodyne_gen as hg
m = hg.load_model("regress.lua")
x = np.array([[0, 1, 2, 4, 8.0], [0, 10, 20, 40, 80.0]])
y = np.array([[1, 2, 3, 3, 5.0], [1, 2, 3, 3, 5.0]])
many = m.fit_many(y, x=x).values
assert np.allclose(many[0], many[1], rtol=1e-13), many
assert np.array_equal(many[1], list(m.fit(y[1], x=x[1]).params.values())), many
PY
fi

printf 'x,y\n1,2\n1,3\n' >same.csv
expect 4 "$bin/homodyne" fit --model regress.lua --data same.csv -o no
says "no standard deviation of the column x: it needs two rows that differ; or give --set x_sd=VALUE"
finish
