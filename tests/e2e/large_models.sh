#!/bin/sh
# Models that a loop of a few lines makes large are compiled or refused, within a bound of processor time that is far
# above what either takes: large_models.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"

# model NAME N BODY: a mean built by N repetitions
model() {
    cat >"$1.lua" <<LUA
local m = model "$1" { title = "Repetitions" }
local t, y = m.columns({ "t", range = { 0, 20 } }, "y")
local a = m.parameter("a", { start = 1, bounds = { 0.5, 2 } })
local b = m.parameter("b", { start = 1, bounds = { 0.5, 2 } })
local z = a * b * t
for k = 1, $2 do $3 end
m.observe(y, { mean = z })
LUA
}

# Sums that nest: what the names of degeneracies multiply out must not grow with the number of paths.
model nested 60 'z = sin(z) * cos(z) + z'
(ulimit -t 30 && exec "$bin/homodyne-gen" nested.lua) >out 2>&1 || fail "60 repetitions: $(tail -3 out)"
[ -s nested.c ] || fail "60 repetitions: no kernel"

# Refused while the model is read, before any work on derivatives: a second or two of a slow machine.
for n in 200 1000; do
    model deep "$n" 'z = sin(z) * cos(z) + z'
    code=0
    (ulimit -t 3 && exec "$bin/homodyne-gen" deep.lua) >out 2>&1 || code=$?
    [ "$code" = 3 ] || fail "$n repetitions: exit code $code"
    grep -q 'deep.lua:6: error: the expressions of this model are too large ([0-9]* nodes, up to' out ||
        fail "$n repetitions: $(cat out)"
done

model terms 5000 'z = sin(z) * cos(z) + z'
code=0
(ulimit -t 30 && exec "$bin/homodyne-gen" terms.lua) >out 2>&1 || code=$?
[ "$code" = 3 ] || fail "5000 repetitions: exit code $code"
grep -q 'terms.lua:6: error: the expressions of this model are too large' out || fail "5000 repetitions: $(cat out)"
[ ! -e terms.c ] || fail "5000 repetitions: a kernel in spite of the error"
finish
