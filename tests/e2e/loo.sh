#!/bin/sh
# Leave-one-out cross-validation of two posteriors of a table by compare, against the exact density of each row given
# the others: noise that is known, different in every row, estimated, of every group: loo.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
if ! command -v python3 >/dev/null; then
    echo "skipped: no python3"
    exit 77
fi
export XDG_CACHE_HOME="$dir/cache"

# decay is that of the data, hyperbola is not
model() { # model NAME SHAPE NAMES COLUMNS SIGMA
    cat >"$1.lua" <<LUA
local m = model "$1" { title = "A decay" }
local g = m.axis("g", "1")
local x, y$3 = m.columns("x", "y"$4)
local rate = m.parameter("rate", { start = 1, bounds = {0.01, 5} })
local height = m.parameter("height", { over = g, start = 1 })
local base = m.parameter("base", { over = g, start = 0 })
m.observe(y, { mean = height * $2 + base, linear = {height, base}$5 })
LUA
}
model decay "exp(-rate * x)" "" "" ""
model hyperbola "1/(1 + rate * x)" "" "" ""
model decay_sigma "exp(-rate * x)" ", s" ', "s"' ", sigma = s"
model hyperbola_sigma "1/(1 + rate * x)" ", s" ', "s"' ", sigma = s"
python3 - "$bin/homodyne" <<'PY'
import json
import math
import random
import subprocess
import sys

program, bad = sys.argv[1], 0
random.seed(11)
SHAPE = {"decay": lambda k, x: math.exp(-k * x), "hyperbola": lambda k, x: 1 / (1 + k * x)}


def run(*words):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    if done.returncode not in (0, 2):
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def log_z(e, rows, known):
    """log of the density of rows (y, sigma) with the shape e: height and base integrated out, flat; with them sigma,
    density 1 in log sigma, where it is not known."""
    A = B = D = f = g = c = constant = 0
    for v, (y, s) in zip(e, rows):
        w = 1 / (s * s) if known else 1
        A, B, D, f, g, c = A + w * v * v, B + w * v, D + w, f + w * v * y, g + w * y, c + w * y * y
        constant += 0.5 * math.log(w / (2 * math.pi))
    det = A * D - B * B
    rss = c - (D * f * f - 2 * B * f * g + A * g * g) / det
    n = len(rows) - 2
    rest = -0.5 * rss if known else math.lgamma(n / 2) - math.log(2) - 0.5 * n * math.log(rss / 2)
    return constant + math.log(2 * math.pi) - 0.5 * math.log(det) + rest


def total(parts):
    top = max(parts)
    return top + math.log(sum(math.exp(p - top) for p in parts))


def exact(shape, table, known):
    """log p(row | the other rows), by a sum over the rate: evidence with the row less evidence without it."""
    groups = sorted({r[0] for r in table})
    rates = [math.exp(math.log(0.1) + (k + 0.5) / 400 * math.log(50)) for k in range(400)]
    weight, z = [], []
    for k in rates:
        weight.append(math.log(k))  # flat in the rate
        z.append({g: log_z([SHAPE[shape](k, r[1]) for r in table if r[0] == g],
                           [r[2:] for r in table if r[0] == g], known)
                  for g in groups})
    whole = total([w + sum(a.values()) for w, a in zip(weight, z)])
    found = []
    for i, (g, *_) in enumerate(table):
        others = [r for j, r in enumerate(table) if r[0] == g and j != i]
        found.append(whole - total([w + sum(a.values()) - a[g] +
                                    log_z([SHAPE[shape](k, r[1]) for r in others], [r[2:] for r in others], known)
                                    for k, w, a in zip(rates, weight, z)]))
    return found


def check(what, got, want, within):
    global bad
    print(f"{what}: {got:.3f} exactly {want:.3f}")
    if not abs(got - want) < within:
        print("FAILED: another value")
        bad = 1


def error(d):
    n, mean = len(d), sum(d) / len(d)
    return math.sqrt(n * sum((v - mean) ** 2 for v in d) / (n - 1))


def case(what, table, known, suffix, *options):
    with open("t.csv", "w") as f:
        f.write("g,x,y,s\n" + "".join(",".join(f"{v:.17g}" for v in r) + "\n" for r in table))
    for m in SHAPE:
        run("fit", "--model", m + suffix + ".lua", "--data", "t.csv", "-o", m, "--quiet", "-m", "nuts",
            "--draws", "2000", "--seed", "3", *options)
    got = json.loads(run("compare", "decay", "hyperbola", "--json"))
    if "loo" not in got:
        sys.exit(f"FAILED: {what}: no leave-one-out cross-validation: {got.get('no_loo')}")
    got, want = got["loo"], [exact(m, table, known) for m in SHAPE]
    for k, m in enumerate(SHAPE):
        check(f"{what}: elpd of {m}", got["elpd"][k], sum(want[k]), 0.15)
        check(f"{what}: its error", got["elpd_error"][k], error(want[k]), 0.1)
    d = [b - a for a, b in zip(*want)]
    check(f"{what}: difference", got["difference"], sum(d), 0.15)
    check(f"{what}: its error", got["difference_error"], error(d), 0.1)
    check(f"{what}: rows", got["rows"], len(table), 0.5)
    check(f"{what}: rows with large k", sum(got["rows_unreliable"]), 0, 0.5)


def rows(groups, n, sigma):
    """Four rows at every x, so that no row weighs much: then draws tell what the others say of it."""
    out = []
    for k in range(n):
        for g in groups:
            s, x = sigma(k, g), 0.2 + 5 * (k // 4) / (n // 4)
            out.append((g, x, (1 + g) * math.exp(-0.7 * x) + 0.3 + random.gauss(0, s), s))
    return out


case("noise known", rows([1], 40, lambda k, g: 0.1), True, "", "--sigma", "0.1")
case("noise of every row", rows([1], 40, lambda k, g: 0.05 * (1 + k % 3)), True, "_sigma")
case("noise estimated", rows([1], 40, lambda k, g: 0.1), False, "")
case("noise of two groups", rows([2, 1], 32, lambda k, g: 0.05 * g), False, "")
text = run("compare", "decay", "hyperbola")
if "  elpd (LOO) " not in text or "LOO prefers decay by " not in text or max(map(len, text.splitlines())) > 80:
    print("FAILED: the screen\n" + text)
    bad = 1
outlier = rows([1], 20, lambda k, g: 0.1)
outlier[0] = (*outlier[0][:2], outlier[0][2] + 1.2, 0.1)
with open("far.csv", "w") as f:
    f.write("g,x,y\n" + "".join(f"{r[0]},{r[1]},{r[2]}\n" for r in outlier))
for m in SHAPE:
    run("fit", "--model", m + ".lua", "--data", "far.csv", "-o", "far_" + m, "--quiet", "-m", "nuts", "--sigma", "0.1")
text = run("compare", "far_decay", "far_hyperbola")
if "Pareto k above 0.7" not in text or "  rows with large k " not in text:
    print("FAILED: a row that decides the fit is not told\n" + text)
    bad = 1
run("fit", "--model", "decay.lua", "--data", "t.csv", "-o", "drawn", "--quiet")
if "loo" in json.loads(run("compare", "drawn", "hyperbola", "--json")):
    print("FAILED: cross-validation without a posterior")
    bad = 1
sys.exit(bad)
PY
