#!/bin/sh
# Coverage where no start is given and the truth may lie anywhere, in bent valleys and beside mirror images too:
# intervals.sh BINDIR static|laminar EXPERIMENTS [SEED]
# Of every experiment with white noise: is the true value in interval_95, is any parameter more than 5 of its errors
# off? 95 % of intervals are to hold, within 3 standard deviations of the binomial of as many experiments, and at most
# one experiment in 200 (and one more) is to have such a parameter.
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
if ! command -v python3 >/dev/null; then
    echo "skipped: no python3"
    exit 77
fi
python3 - "$bin" "$2" "$3" "${4:-1}" <<'PY'
import json
import math
import random
import subprocess
import sys

bin, kind, number, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
draw = random.Random(f"{kind} {seed}")
program = f"{bin}/homodyne-" + ("static_isotropic" if kind == "static" else "laminar")
grid = ["--frames", "60", "--dt", "0.5", "--phi=0,90"] if kind == "static" else [
    "--frames", "50", "--dt", "0.1", "--gap", "2e6", "--phi=-40,0,40,90"]


def decades(low, high):
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def truth():
    p = {"D0": decades(500, 20000), "alpha": draw.uniform(-0.8, 0.5), "D_offset": draw.uniform(0, 1000)}
    if kind == "laminar":
        p.update(D0=decades(1000, 10000), gamma_dot_t0=decades(1e-3, 1e-2), beta=draw.uniform(-0.6, 0.3),
                 gamma_dot_t_offset=draw.uniform(0, 1e-3), phi0=draw.uniform(-8, 8))
    return p


held, told, wild = {}, {}, []
for k in range(number):
    p = truth()
    contrast = f"{draw.uniform(0.1, 0.4):.6f}"
    subprocess.run([program, "simulate", "-o", "data.h5", "--config-out", "fit.yaml", "--q", "0.0054", *grid,
                    "--contrast", contrast, "--noise", "0.02", "--seed", str(1000 * seed + k), "--quiet", "--force",
                    *(x for name, v in p.items() for x in ("--set", f"{name}={v!r}"))], check=True)
    # which holds no start
    subprocess.run([program, "fit", "fit.yaml", "-o", "out", "--quiet", "--threads", "1"], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        fit = json.load(open("out/fit.json"))
    except FileNotFoundError:
        raise SystemExit(f"experiment {k}: no result")
    off = []
    for name, t in p.items():
        v = fit["parameters"][name]
        if v["std"] and abs(v["value"] - t) > 5 * v["std"]:
            off.append(f"{name} {v['value']:.4g} +- {v['std']:.2g}, true {t:.4g}")
        parts = v.get("intervals_95") or ([v["interval_95"]] if v["interval_95"] else [])
        if parts:
            told[name] = told.get(name, 0) + 1
            held[name] = held.get(name, 0) + any((a is None or a <= t) and (b is None or t <= b) for a, b in parts)
    if off:
        wild.append((k, off))
bad = 0
for name in told:
    part, spread = held[name] / told[name], 3 * math.sqrt(0.95 * 0.05 / told[name]) + 0.5 / told[name]
    wrong = part < 0.95 - spread
    bad += wrong
    print(f"{name:20} {100 * part:6.1f} % of {told[name]} intervals hold{'  TOO FEW' if wrong else ''}")
for k, off in wild:
    print(f"experiment {k}: {'; '.join(off)}")
print(f"{len(wild)} of {number} experiments have a parameter more than 5 of its errors off")
sys.exit(bad > 0 or len(wild) > 1 + number / 200)
PY
