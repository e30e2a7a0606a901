#!/bin/sh
# records.sh BINDIR -- differential equations with a column in a rate and doses in rows: values beside the closed form,
# rows without a measured value, empty cells, groups, what is refused.
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
if ! command -v python3 >/dev/null; then
    echo "skipped: no python3"
    exit 77
fi
export XDG_CACHE_HOME="$dir/cache"

cat >fed.lua <<'LUA'
local m = model "fed" { title = "A vessel that is fed by a measured flow, with portions besides" }
local id = m.axis("id", { range = {1, 2} })
local t, flow, portion, y = m.columns({ "t", unit = "s", range = {0.2, 10} },
    { "flow", unit = "mol/s", range = {0, 3} }, { "portion", unit = "mol", empty = 0, range = {0, 5} }, "y:mol")
local k = m.parameter("k", { unit = "1/s", start = 0.5, bounds = {0.02, 5} })
local part = m.parameter("part", { start = 0.8, bounds = {0.1, 1} })
local x = m.state("x", { unit = "mol", before = 1 * unit "mol" })
m.ode(t, { [x] = flow - k * x })
m.event(t, { [x] = part * portion })
m.observe(y, { mean = x })
m.random(function(u) return { k = u(0.2, 1), part = u(0.4, 0.9) } end)
LUA

# two vessels; the closed form between rows is that of a rate on a straight line
cat >make.py <<'PY'
import math, sys
rows = [(1, 0.0, 1.0, None), (1, 0.5, 2.0, 3.0), (1, 2.0, 0.5, None), (1, 2.0, 2.5, 1.0), (1, 7.0, 0.0, None),
        (2, 1.0, 2.0, 2.0), (2, 4.0, 1.0, None), (2, 6.5, 3.0, None)]
def solve(k, part):
    out, last = [], None
    for id, t, flow, portion in rows:
        if last is None or last[0] != id:
            x, now, a = 1.0, 0.0, flow
        else:
            now, a = last[1], last[2]
        h = t - now
        if h > 0:
            s = (flow - a) / h
            x = (a + s * h) / k - s / k**2 + (x - a / k + s / k**2) * math.exp(-k * h)
        x += part * (portion or 0)
        out.append(x)
        last = (id, t, flow)
    return out
if sys.argv[1] == "table":
    print("id,t,flow,portion,y")
    for n, (r, x) in enumerate(zip(rows, solve(0.7, 0.6))):
        y = "" if n in (1, 5) else f"{x + 0.001 * (-1)**n:.17g}"
        print(f"{r[0]},{r[1]},{r[2]},{'' if r[3] is None else r[3]},{y}")
else:
    import json
    fit = json.load(open("fed/fit.json"))["parameters"]
    lines = [l.strip().split(",") for l in open("values.csv") if not l.startswith("#")]
    at = lines[0].index("y")
    far = [(l[at], w) for l, w in zip(lines[1:], solve(0.7, 0.6)) if abs(float(l[at]) / w - 1) > 1e-9]
    bad = [k for k, v in (("k", 0.7), ("part", 0.6)) if not abs(fit[k]["value"] - v) < 0.005]
    sys.exit(f"{far} {bad}" if far or bad or len(lines) != 9 else 0)
PY
python3 make.py table >fed.csv
expect 0 "$bin/homodyne" fit --model fed.lua --data fed.csv -o fed
has out "6 points"
says "2 of 8 values are not there"
expect 0 "$bin/homodyne" simulate --model fed.lua --data fed.csv -o values.csv --set k=0.7 --set part=0.6 --noise 1e-12
python3 make.py compare || fail "values of the closed form"

# test points of 40 digits, on straight lines between rows and held
for model in followed switched; do
    expect 0 "$bin/homodyne-gen" "$here/../data/odes/$model.lua" --check
    has out "1 test points hold"
done

# what is refused: rows out of order, a cell that says nothing
awk -F, 'NR == 5 { keep = $0; next } { print } NR == 6 { print keep }' fed.csv >order.csv
expect 4 "$bin/homodyne" fit --model fed.lua --data order.csv -o none
says "t goes back from 7 to 2"
awk -F, -v OFS=, 'NR == 4 { $3 = "" } { print }' fed.csv >hole.csv
expect 4 "$bin/homodyne" fit --model fed.lua --data hole.csv -o none
says "flow is nan"
finish
