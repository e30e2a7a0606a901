#!/bin/sh
# Verdicts and notes about tables, with models of one's own: correlated rows, no signal, the wrong unit, parameters
# without effect, chi2 of few rows, outliers, and what is made of columns and names: table_verdicts.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
if ! command -v python3 >/dev/null; then
    echo "skipped: no python3"
    exit 77
fi
export XDG_CACHE_HOME="$dir/cache"

head='local t, y, s = m.columns({ "t", unit = "s", range = {0, 50} }, "y", "s")
local a = m.parameter("a", { start = 1, bounds = {0, 100} })
local tau = m.parameter("tau", { unit = "s", start = 10, bounds = {0.1, 1000} })'
model() { # NAME, further parameters, mean
    printf 'local m = model "%s" { title = "A decay" }\n%s\n%s\nm.observe(y, { mean = %s, sigma = s })\n' \
        "$1" "$head" "$2" "$3" >"$1.lua"
}
model decay '' 'a * exp(-t / tau)'
model level 'local b = m.parameter("b", { start = 0 })' 'a * exp(-t / tau) + b'
model ghost 'local late = m.parameter("late", { start = 1, bounds = {-5, 5} })' \
    'a * exp(-t / tau) + where(gt(t, 100 * second), late, 0)'
model product 'local b = m.parameter("b", { start = 1, bounds = {0, 100} })' 'a * b * exp(-t / tau)'
model wave 'local w = m.parameter("w", { unit = "rad/s", start = 0.63, bounds = {0.01, 6} })
local phi = m.parameter("phi", { unit = "rad", start = 0, bounds = {-3.2, 3.2} })
local b = m.parameter("b", { start = 0 })' 'a * exp(-t / tau) * cos(w * t + phi) + b'

python3 - "$bin/homodyne" <<'PY'
import json
import math
import random
import subprocess
import sys

program, bad = sys.argv[1], 0


def write(name, mean, noise, sigma, t=None, head="t,y,s"):
    t = t or [0.5 * k for k in range(101)]
    with open(name + ".csv", "w") as f:
        f.write(head + "\n" + "".join(f"{x},{mean(x) + e:.17g},{sigma}\n" for x, e in zip(t, noise)))


def white(n, sigma):
    return [random.gauss(0, sigma) for _ in range(n)]


def fit(model, name, *options):
    done = subprocess.run([program, "fit", "--model", model + ".lua", "--data", name + ".csv", "-o", "out", *options],
                          capture_output=True, text=True)
    result = json.load(open("out/fit.json")) if done.returncode in (0, 2) else {}
    return done.returncode, done.stdout + done.stderr, result


def expect(word, text, model, name, *options):
    global bad
    _, screen, j = fit(model, name, *options)
    found = f"{j.get('quality')}: {j.get('quality_text')}"
    print(f"{model} {name} {' '.join(options)}: {found}")
    if j.get("quality") != word or text not in j["quality_text"]:
        print(f"    FAILED: not {word}: ...{text}...\n{screen}")
        bad += 1
    return j


def check(what, holds):
    global bad
    if not holds:
        print(f"    FAILED: {what}")
        bad += 1


def decay(t):
    return 3 * math.exp(-t / 12)


# rows that are not independent; independent ones in any order
random.seed(1)
e = [random.gauss(0, 1)]
for k in range(100):
    e.append(0.9 * e[-1] + math.sqrt(1 - 0.81) * random.gauss(0, 1))
write("ar", decay, [0.05 * x for x in e], 0.05)
j = expect("doubtful", "residuals of neighbouring rows are correlated", "decay", "ar")
check("not the words of the residuals",
      "errors, the robust ones too, are too small by a factor of about" in j["residuals_text"])
rows = open("ar.csv").read().splitlines()
shuffled = rows[1:]
random.shuffle(shuffled)
with open("shuffled.csv", "w") as f:
    f.write("\n".join([rows[0]] + shuffled) + "\n")
k = expect("doubtful", "residuals of neighbouring rows are correlated", "decay", "shuffled")
check("the order of the file changes the correlation",
      abs(k["residuals"][0]["correlation_along_lag"] - j["residuals"][0]["correlation_along_lag"]) < 1e-6)
code, screen, _ = fit("decay", "ar", "--cluster-length", "20")
check(f"--cluster-length: exit {code}: {screen}", code == 3 and "errors by curvature make no use of it" in screen)
code, screen, _ = fit("decay", "ar", "--bootstrap", "block:40", "--cluster-length", "40")
check(f"too long a block: exit {code}: {screen}", code == 3 and "fewer than 4 clusters of 101 rows" in screen)
_, _, one = fit("decay", "ar", "--bootstrap", "block:100")
_, _, many = fit("decay", "shuffled", "--bootstrap", "block:100", "--cluster-length", "20")
ratio = many["bootstrap"]["parameters"]["tau"]["std"] / one["bootstrap"]["parameters"]["tau"]["std"]
check(f"blocks make errors wider by {ratio:.2f}", ratio > 1.7 and many["bootstrap"]["cluster_frames"] == 20)
good = 0
for seed in range(20):
    random.seed(100 + seed)
    write("white", decay, white(101, 0.05), 0.05)
    good += fit("decay", "white")[2]["quality"] == "good"
print(f"white: {good} of 20 good")
check("good fits are not called good", good == 20)

# no signal; the model misses the signal
random.seed(2)
write("noise", lambda t: 0, white(101, 0.02), 0.02)
expect("flat", "0 explains the data as well as the model", "decay", "noise")
write("constant", lambda t: 1, white(101, 0.02), 0.02)
expect("flat", "a constant for each group explains the data as well as the model", "level", "constant")
write("wrong", lambda t: math.cos(t), white(101, 0.02), 0.02)
expect("poor", "the model explains the data no better than a constant for each group does", "level", "wrong")

# parameters without effect, also linear ones
write("few", decay, white(101, 0.02), 0.02)
expect("partial", "no standard error for late", "ghost", "few")
expect("good", "", "ghost", "few", "--fix", "late=0")

# of a product only the factors are not determined
j = expect("partial", "no standard error for b, a: the data do not determine it", "product", "few")
k = fit("product", "few", "--fix", "b=1")[2]["parameters"]["tau"]
j = j["parameters"]["tau"]
check(f"tau: {j}", j["determined"] and abs(j["std"] / k["std"] - 1) < 1e-6 and abs(j["value"] - k["value"]) < 1e-6)

# a linear parameter that nothing but its bounds ends is sampled between them
code, screen, j = fit("ghost", "few", "--method", "nuts")
check(f"ghost, nuts: exit {code}: {screen}", code in (0, 2) and "posterior" in j)
x = j["posterior"]["parameters"]["late"]
uniform = 10 / math.sqrt(12)
check(f"late: {x}", abs(x["mean"]) < 0.3 and abs(x["sd"] / uniform - 1) < 0.1 and -5 <= x["q025"] < x["q975"] <= 5)
# a mean may be withheld: the tail is long
x = fit("product", "few", "--method", "nuts")[2]["posterior"]["parameters"]["a"]
check(f"a: {x}", 0 <= x["q025"] < x["q975"] <= 100 and (x["mean"] is None or x["mean"] < 100))

# the distribution of chi2
random.seed(3)
e = white(101, 1)
size = 0.0255 / math.sqrt(sum(x * x for x in e) / 101)
write("small", decay, [size * x for x in e], 0.02)
j = expect("doubtful", "by chance chi2 is as large with a probability of", "decay", "small")
check(f"chi2_p is {j['chi2_p']}", 1e-12 < j["chi2_p"] < 1e-3)
j = fit("decay", "few")[2]
check(f"chi2_p is {j['chi2_p']}", 0.01 < j["chi2_p"] < 1)

# outliers
random.seed(4)
e = white(101, 0.02)
e[30], e[70] = 1.0, 0.8
write("outliers", decay, e, 0.02)
expect("poor", "the model does not explain the data", "decay", "outliers")
expect("doubtful", "loss soft_l1 gives the others little weight", "decay", "outliers", "--loss", "soft_l1")
write("other", lambda t: decay(t) + 0.3 * math.cos(t), white(101, 0.02), 0.02)
expect("poor", "the model does not explain the data", "decay", "other", "--loss", "soft_l1")

# where the amplitude stands at its bound 0 nothing else has an effect: no other minimum
write("wave", lambda t: 3.2 * math.exp(-t / 14) * math.cos(0.86 * t + 0.7) + 0.45, white(201, 0.08), 0.08,
      [0.25 * k for k in range(201)])
j = expect("good", "", "wave", "wave")
check(f"minima: {j['minima']}", len(j["minima"]) == 1)

# notes are those of the last fit only for the same data
for name, values in ("first", [3, 2, 2, 1, 1]), ("second", [3, 2, 1, 1, 1]):
    with open(name + ".csv", "w") as f:
        f.write("t,y,s\n" + "".join(f"{3 * k},{v},{0.1 if k else 0}\n" for k, v in enumerate(values)))
told = [fit("decay", name)[1] for name in ("first", "second", "second")]
check(f"notes: {told}",
      "line 2: s is 0" in told[1] and "unchanged since the last fit" in told[2] and "line 2" not in told[2])
sys.exit(bad > 0)
PY
