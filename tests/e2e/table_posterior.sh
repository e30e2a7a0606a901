#!/bin/sh
# Posteriors of small tables against sums over a grid: what a flat linear parameter costs the noise, priors of the
# noise, normal priors of linear parameters beside noise that few values tell, tails without variance, several modes:
# table_posterior.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
if ! command -v python3 >/dev/null; then
    echo "skipped: no python3"
    exit 77
fi
export XDG_CACHE_HOME="$dir/cache"

cat >decay.lua <<'LUA'
local m = model "decay" { title = "A decay" }
local x, y = m.columns("x", "y")
local rate = m.parameter("rate", { start = 1, bounds = {0.01, 10} })
local height = m.parameter("height", { start = 1 })
local base = m.parameter("base", { start = 0 })
m.observe(y, { mean = height * exp(-rate * x) + base })
LUA
sed 's/"decay"/"known"/; s/"height", { start = 1/&, prior = {"normal", 1.9, 0.05}/' decay.lua >known.lua
# at rates near the upper bound the decay is over before the first value, and any height will do
sed 's/"decay"/"wide"/; s/0.01, 10/0.01, 100/' decay.lua >wide.lua
cat >tail.lua <<'LUA'
local m = model "tail" { title = "A product with a heavy tail" }
local x, y = m.columns("x", "y")
local a = m.parameter("a", { start = 1, prior = {"normal", 0, 10} })
local b = m.parameter("b", { start = 1, bounds = {0, 1e30}, prior = {"half_cauchy", 1} })
local d = m.parameter("d", { start = 1, bounds = {0, 1e30}, prior = {"half_cauchy", 1} })
m.observe(y, { mean = a + b * d * x })
LUA

cat >sparse.lua <<'LUA'
local m = model "sparse" { title = "A line that is probably flat" }
local x, y = m.columns("x", "y")
local a = m.parameter("a", { start = 1 })
local b = m.parameter("b", { start = 0, prior = {"laplace", 0, 0.002}, linear = false })
m.observe(y, { mean = a + b * x })
LUA

cat >alias.lua <<'LUA'
local m = model "alias" { title = "A cosine sampled coarsely" }
local x, y = m.columns({ "x", range = {0, 13} }, "y")
local w = m.parameter("w", { start = 1, bounds = {0.1, 12} })
local h = m.parameter("h", { start = 1 })
m.observe(y, { mean = h * cos(w * x) })
LUA
sed 's/"alias"/"weighed"/; s/bounds = {0.1, 12}/&, prior = {"normal", 4, 2}/' alias.lua >weighed.lua

python3 - "$bin/homodyne" <<'PY'
import json
import math
import random
import subprocess
import sys

program, bad = sys.argv[1], 0
random.seed(8)


def write(name, x, y):
    with open(name + ".csv", "w") as f:
        f.write("x,y\n" + "".join(f"{a:.17g},{b:.17g}\n" for a, b in zip(x, y)))
    return x, y


def fit(model, data, *options):
    done = subprocess.run([program, "fit", "--model", model + ".lua", "--data", data + ".csv", "-o", "out", "--quiet",
                           *options], capture_output=True, text=True)
    if done.returncode not in (0, 2):
        sys.exit(f"exit code {done.returncode}: {done.stderr}")
    return json.load(open("out/fit.json"))["posterior"]


def grid(data, prior, height=None):
    """Of rate and sigma the 2.5, 50 and 97.5 % points, of height and base mean and sd: sums over rate and log sigma,
    height and base by their normal distribution.  prior(sigma): density by log sigma; height: mean and sd of its
    prior."""
    x, y = data
    R, S = 1000, 160
    rates = [0.35 + 0.8 * (r + 0.5) / R for r in range(R)]
    sigmas = [0.004 * math.exp(4.2 * (k + 0.5) / S) for k in range(S)]
    by_rate, by_sigma, total, one, two = [0] * R, [0] * S, 0, [0] * 2, [0] * 2
    for r, rate in enumerate(rates):
        e = [math.exp(-rate * t) for t in x]
        for k, s in enumerate(sigmas):
            w = 1 / (s * s)
            A, B, D = w * sum(v * v for v in e), w * sum(e), w * len(x)
            f, g, c = w * sum(v * u for v, u in zip(e, y)), w * sum(y), w * sum(u * u for u in y)
            if height:
                p = 1 / height[1] ** 2
                A, f, c = A + p, f + p * height[0], c + p * height[0] ** 2
            det = A * D - B * B
            h, b = (D * f - B * g) / det, (A * g - B * f) / det
            density = prior(s) * math.exp(-0.5 * (c - h * f - b * g) - len(x) * math.log(s / 0.02)) / math.sqrt(det)
            total += density
            by_rate[r] += density
            by_sigma[k] += density
            for n, (m, v) in enumerate(((h, D / det), (b, A / det))):
                one[n] += density * m
                two[n] += density * (m * m + v)

    def points(at, weight):
        found, below = [], 0
        for x0, w in zip(at, weight):
            while len(found) < 3 and below + w >= (0.025, 0.5, 0.975)[len(found)] * total:
                found.append(x0)
            below += w
        return found

    moments = [(a / total, math.sqrt(b / total - (a / total) ** 2)) for a, b in zip(one, two)]
    return {"rate": points(rates, by_rate), "sigma": points(sigmas, by_sigma), "height": moments[0], "base": moments[1]}


def near(what, posterior, exact):
    global bad
    for name, want in exact.items():
        p = posterior["parameters"][name]
        got = [p[k] for k in (("q025", "median", "q975") if len(want) == 3 else ("mean", "sd"))]
        sd = (want[2] - want[0]) / 3.92 if len(want) == 3 else want[1]
        print(f"{what}: {name}", " ".join(f"{v:.5f}" for v in got), "by the grid", " ".join(f"{v:.5f}" for v in want))
        if max(abs(a - b) for a, b in zip(got, want)) > 0.15 * sd:
            print("FAILED: another posterior")
            bad = 1


# quantiles of 16000 draws scatter by 0.04 sd
truth = lambda t: 2 * math.exp(-0.7 * t) + 0.5
for n in (8, 14):
    x = [0.25 + 6.5 * k / (n - 1) for k in range(n)]
    data = write(f"t{n}", x, [truth(t) + random.gauss(0, 0.02) for t in x])
    near(f"{n} values, flat", fit("decay", f"t{n}", "-m", "nuts", "--draws", "16000"), grid(data, lambda s: 1))
x, y = write("line", [0.25 * k for k in range(40)], [2 + 0.01 * k / 4 + random.gauss(0, 0.1) for k in range(40)])
middle = sum(x) / 40
S, f = sum((t - middle) ** 2 for t in x), sum((t - middle) * v for t, v in zip(x, y))
slope = [1e-5 * k - 0.06 for k in range(12001)]
weight = [math.exp(100 * (f * b - 0.5 * S * b * b) - abs(b) / 0.002) for b in slope]
mean = sum(w * b for w, b in zip(weight, slope)) / sum(weight)
sd = math.sqrt(sum(w * (b - mean) ** 2 for w, b in zip(weight, slope)) / sum(weight))
near("Laplace prior", fit("sparse", "line", "-m", "nuts", "--draws", "16000", "--sigma", "0.1"), {"b": (mean, sd)})
known = (1.9, 0.05)
data = tuple(zip(*[map(float, l.split(",")) for l in open("t8.csv").read().split()[1:]]))
near("normal prior", fit("known", "t8", "-m", "nuts", "--draws", "16000"), grid(data, lambda s: 1, known))
p = fit("decay", "t8", "-m", "nuts", "--draws", "16000", "--sigma-prior", "half_normal:0.01")
near("half-normal noise", p, grid(data, lambda s: s * math.exp(-0.5 * (s / 0.01) ** 2)))
prior = p["parameters"]["sigma"]["prior"]
said = open("out/config.effective.yaml").read()
if prior["type"] != "half_normal" or prior["b"] != 0.01 or 'prior: "half_normal 0.01"' not in said:
    print("FAILED: the prior of the noise is not written", prior)
    bad = 1

for method in ("nuts", "laplace"):
    near(f"wide bounds, {method}", fit("wide", "t8", "-m", method, "--draws", "16000"), grid(data, lambda s: 1))

# noise that is given is that of the posterior, whatever the residuals are
sd = [fit("decay", "t14", "-m", "laplace", "--sigma", s)["parameters"]["height"]["sd"] for s in ("0.005", "0.01")]
if abs(sd[1] / sd[0] - 2) > 0.1:
    print("FAILED: twice the noise, height by", sd)
    bad = 1

write("line", [k / 19 for k in range(20)], [1 + 2 * k / 19 + random.gauss(0, 0.3) for k in range(20)])
write("flat", [k / 19 for k in range(20)], [0.3 * random.gauss(0, 1) for k in range(20)])
for method in (("nuts",), ("nuts", "--draws", "4000"), ("laplace", "--draws", "4000")):
    p = fit("tail", "line", "-m", *method)
    print(" ".join(method), p["verdict"], p["verdict_text"])
    if p["verdict"] == "good" or "tail of" not in p["verdict_text"]:
        print("FAILED: a tail without variance is not told")
        bad = 1

# w, 2 pi - w, 2 pi + w, 4 pi - w give the same data: equal masses, or those of the prior.
write("alias", list(range(14)), [1.3 * math.cos(1.1 * t) + random.gauss(0, 0.06) for t in range(14)])
at = [1.1, 2 * math.pi - 1.1, 2 * math.pi + 1.1, 4 * math.pi - 1.1]
prior = [math.exp(-0.5 * ((w - 4) / 2) ** 2) for w in at]
for model, mass in (("alias", [0.25] * 4), ("weighed", [p / sum(prior) for p in prior])):
    for method in ("nuts", "laplace"):
        p = fit(model, "alias", "-m", method)
        exact = sum(m * w for m, w in zip(mass, at))
        sd = math.sqrt(sum(m * (w - exact) ** 2 for m, w in zip(mass, at)))
        w = p["parameters"]["w"]
        print(model, method, p["verdict"], p.get("modes"), "mean and sd of w", w["mean"], w["sd"],
              "by the masses", exact, sd)
        parts = sorted(m for m in mass if m > 2e-3)
        found = sorted(p.get("mode_parts", []))[-len(parts):]
        if (p["verdict"] != "good" or "modes" not in p["verdict_text"] or abs(w["mean"] - exact) > 0.05 * sd or
                abs(w["sd"] / sd - 1) > 0.03 or max(abs(a - b) for a, b in zip(parts, found)) > 0.02):
            print("FAILED: modes are missing, or not in their proportion:", p["verdict_text"])
            bad = 1
sys.exit(bad)
PY
