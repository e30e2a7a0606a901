#!/bin/sh
# `homodyne contin`: a bimodal sample recovered from noisy g2, the numbers of scipy's nnls, several q, wrong input:
# contin.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
if ! command -v python3 >/dev/null; then
    echo "skipped: no python3"
    exit 77
fi
h=$bin/homodyne
data=$here/../data/contin

# ---- two modes, delays in ms, errors under another name
expect 0 "$h" contin "$data/bimodal.txt" -o result --json
cp out evidence.json
cmp -s out result/contin.json || fail "--json is not contin.json"
has err "in ms"
expect 0 "$h" contin "$data/bimodal.txt" --table
awk 'length > 80 { exit 1 }' out || fail "the table is wider than 80 columns"
has out "mode  decay rate (1/s)"
expect 0 "$h" contin "$data/bimodal.txt" --smoothing lcurve --json --draws 0
cp out lcurve.json
no_pieces result
for file in contin.json contin.h5 contin.svg; do
    [ -s "result/$file" ] || fail "there is no $file"
done
python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' result/contin.svg || fail "contin.svg is no XML"

# ---- several q: one distribution of D, contrasts and baselines of their own
expect 0 "$h" contin "$data/several_q.csv" --baseline free --json --draws 200
cp out several.json
expect 0 "$h" contin "$data/several_q.csv" --baseline free --temperature "298.15 K" --viscosity "0.89 mPa*s" \
    --draws 200 --json
cp out radius.json

# ---- a given strength: scipy.optimize.nnls of the same matrix
for s in 0.01 10 1e4; do
    expect 0 "$h" contin "$data/g1.txt" --smoothing $s --points 40 --range 0.05:5000 --draws 0 --json
    cp out "fixed_$s.json"
done

python3 - "$data/nnls.txt" <<'PY' || failed=1
import json
import math
import sys

bad = []


def check(ok, *what):
    if not ok:
        bad.append(what)


def near(a, b, part, what):
    check(abs(a / b - 1) < part, what, a, b)


def load(name):
    with open(name) as f:
        return json.load(f)


for name in ("evidence.json", "lcurve.json", "several.json"):
    r, unit = load(name), 1e4 if name == "several.json" else 1
    modes = [m for m in r["modes"] if m["weight"] > 0.05]
    check(len(modes) == 2, name, r["modes"])
    near(modes[0]["mean"], 8 * unit, 0.05, name)
    near(modes[-1]["mean"], 300 * unit, 0.05, name)
    near(modes[0]["weight"], 0.6, 0.1, name)
    near(modes[-1]["weight"], 0.4, 0.1, name)
    if name != "lcurve.json":
        for m in modes:
            check(m["mean_95"][0] < m["mean"] < m["mean_95"][1], name, m)
            check(m["weight_95"][0] < m["weight"] < m["weight_95"][1], name, m)
        d = r["distribution"]
        check(all(a <= b <= c for a, b, c in zip(d["lower_95"], d["part"], d["upper_95"])), name, "band")
        check(abs(sum(d["part"]) - 1) < 1e-12, name, "sum")
near(load("evidence.json")["curves"][0]["contrast"], 0.8, 0.01, "contrast")
r = load("several.json")
for c, (q, contrast, baseline) in zip(r["curves"], [(0.01, 0.4, 0.01), (0.02, 0.3, -0.01), (0.03, 0.2, 0.02)]):
    near(c["q"], q, 1e-12, "q")
    near(c["contrast"], contrast, 0.03, "contrast")
    check(abs(c["baseline"] - baseline) < 4 * c["baseline_error"], "baseline", c)
# R = k T/(6 pi eta D), nm
wanted = 1.380649e-23 * 298.15 / (6 * math.pi * 0.89e-3 * r["modes"][0]["mean"] * 1e-20) * 1e9
near(load("radius.json")["modes"][0]["mean"], wanted, 1e-9, "radius")
check(load("radius.json")["distribution"]["unit"] == "nm", "unit")

with open(sys.argv[1]) as f:
    rows = [[float(x) for x in line.split()] for line in f if line[0] != "#"]
for k, s in enumerate(("0.01", "10", "1e4")):
    d = load(f"fixed_{s}.json")["distribution"]
    top = max(row[k + 1] for row in rows)
    check(max(abs(p * d["sum"] - row[k + 1]) for p, row in zip(d["part"], rows)) < 1e-8 * top, "scipy", s)
for b in bad:
    print("FAILED:", *b)
sys.exit(1 if bad else 0)
PY

# ---- what cannot be
t=$data/bimodal.txt
expect 3 "$h" contin
says "a table of a correlation function is missing"
expect 4 "$h" contin nowhere.txt
says "nowhere.txt: no such file"
expect 3 "$h" contin "$t" --smoothing hard
says "none of evidence, lcurve, a number above 0"
expect 3 "$h" contin "$t" --axis diffusion
says "the wavevectors are not known"
expect 3 "$h" contin "$t" --axis radius
says "--temperature and --viscosity are missing"
expect 3 "$h" contin "$t" --q "5 s"
says "--q: '5 s'"
expect 3 "$h" contin "$t" "$t"
says "the wavevectors are not known"
expect 3 "$h" contin "$t" --q 0.01,0.02
says "2 wavevectors are given for 1 correlation function"
expect 3 "$h" contin "$t" --range 5:1
says "is not LOW:HIGH"
expect 3 "$h" contin "$data/several_q.csv" --q 0.01
says "has a column q"
printf '# delay g2 sigma\n1 1.5 0.1\n2 1.4 0\n3 1.1 0.1\n4 1 0.1\n' >zero.txt
expect 4 "$h" contin zero.txt -o none
says "zero.txt: row 3 (of the text): sigma is 0; it must be above 0"
[ ! -e none ] || fail "a folder without a result"
printf '# delay g2 sigma\n-1 1.5 0.1\n2 1.4 0.1\n' >negative.txt
expect 4 "$h" contin negative.txt
says "row 2 (of the text): delay is -1"
printf '# delay g2 sigma\n1 1.5 0.1\n2 1.4 0.1\n' >short.txt
expect 4 "$h" contin short.txt
says "at least 4 are needed"
printf '# delay height\n1 1.5\n2 1.4\n3 1.2\n4 1.1\n' >other.csv
expect 4 "$h" contin other.csv --columns "delay: time"
says "--columns '"
hasnot err "data.columns"
expect 0 "$h" contin other.csv --columns "delay: delay, g2: height" --points 10 --draws 100
seq 1 30 | awk '{ print $1, 1 - 0.1 * exp(-$1 / 9), 0.01 }' >rising.txt
expect 4 "$h" contin rising.txt
says "nothing in the data decays from above 0"
finish
