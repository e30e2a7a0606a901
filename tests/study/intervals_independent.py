#!/usr/bin/env python3
"""Coverage of intervals, no start given, of data that numpy simulates (twotime.py).

    intervals_independent.py BINDIR KIND NOISE EXPERIMENTS [SEED [KEEP [SECONDS]]]
        KIND     static, static_held, laminar, laminar_held (offsets held at 0), laminar_fast (speckles: flow so fast
                 that all azimuths but one decay within a frame or two), heterodyne
        NOISE    white, or a number: speckles, the measurement lasts for so many correlation times
        KEEP     file of results, one line an experiment; a run goes on where another has ended, after SECONDS at most

White noise: truths all over the box; 95 % of interval_95 are to hold.  Speckles: truths around a middle, 1000 pixels, 3
modes; interval_95 is robust there, and 90 .. 98 % are to hold where it is given.  Both with 3 standard deviations of
the binomial for scatter.  At most one experiment in 200 (and one more) may have a parameter more than 5 of its errors
                           off;
every fit is to end at a minimum.
Exit status 1: not so.
"""
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import twotime

bindir, kind, noise, number = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
seed = int(sys.argv[5]) if len(sys.argv) > 5 else 1
keep = os.path.abspath(sys.argv[6]) if len(sys.argv) > 6 else None
limit = time.time() + float(sys.argv[7]) if len(sys.argv) > 7 else math.inf
model = kind.split("_")[0]
held = kind.endswith("_held") or (noise != "white" and model != "heterodyne")
SIGMA, PIXELS, MODES = 0.02, 1000, 3
FLOW = 3e-3 if kind == "laminar_fast" else 1e-4
FRAMES = {"static": 60, "laminar": 50, "heterodyne": 60}
ANGLES = {"static": [0, 90], "laminar": [-40, 0, 40, 90], "heterodyne": [-4, 20, 75]}
DT = {"static": 0.5, "laminar": 0.1, "heterodyne": 0.1}
# held at the truth: what two-time data leave open (docs/models.md)
HETERODYNE = {"alpha_ref": 0, "D_offset_ref": 0, "alpha_sample": 0, "D_offset_sample": 0, "v_beta": 0, "v_offset": 0,
              "f0": 0, "f1": 0, "f2": 0, "phi0_het": 2}


def truth_of(rng):
    def decades(low, high):
        return math.exp(rng.uniform(math.log(low), math.log(high)))

    def around(middle, wide):
        return middle * math.exp(rng.uniform(-wide, wide))
    if model == "heterodyne":
        return {"D0_ref": decades(3000, 15000), "D0_sample": decades(20000, 60000),
                "v0": decades(500, 2000) if noise == "white" else decades(0.1, 1), # see resolved()
                "f3": rng.uniform(0.15, 0.45)}
    if noise != "white":
        p = {"D0": around(6000, 0.3), "alpha": rng.uniform(-0.4, 0)}
        if model == "laminar":
            p.update(gamma_dot_t0=around(FLOW, 0.3), beta=rng.uniform(-0.3, 0.1), phi0=rng.uniform(-5, 5))
        return p
    p = {"D0": decades(500, 20000), "alpha": rng.uniform(-0.8, 0.5)}
    if model == "laminar":
        p.update(D0=decades(1000, 10000), gamma_dot_t0=decades(1e-3, 1e-2), beta=rng.uniform(-0.6, 0.3),
                 phi0=rng.uniform(-8, 8))
    if not held:
        p["D_offset"] = rng.uniform(0, 1000)
        if model == "laminar":
            p["gamma_dot_t_offset"] = rng.uniform(0, 1e-3)
    return p


def complete(p):
    return {**HETERODYNE, **p} if model == "heterodyne" else {"D_offset": 0, "gamma_dot_t_offset": 0, **p}


def resolved(p, dt):
    """Heterodyne, speckles: v0 was drawn as the phase by which the components part from one frame to the next (radian).
    Velocities of half a turn and more have aliases, which no data of this period tell from each other."""
    return {**p, "v0": p["v0"] / (twotime.Q * dt)} if model == "heterodyne" and noise != "white" else p


def lasting(p, times):
    """Frames, and the period with which the measurement lasts for `times` correlation times of the slowest azimuth."""
    frames = 120 if times <= 10 else 200 if times <= 30 else 300 if times <= 100 else 600
    low, high = math.log(1e-4), math.log(30)
    for _ in range(30):
        dt = math.exp((low + high) / 2)
        g = twotime.fields(model, complete(resolved(p, dt)), frames, dt, ANGLES[model])
        slow = twotime.decay_frames(g) * times > frames - 1
        low, high = (math.log(dt), high) if slow else (low, math.log(dt))
    return frames, dt, g


def data(rng):
    p = truth_of(rng)
    angles = ANGLES[model]
    if noise == "white":
        frames, dt = FRAMES[model], DT[model]
        contrast, offset = rng.uniform(0.1, 0.4, len(angles)), rng.uniform(0.98, 1.02, len(angles))
        g = twotime.fields(model, complete(p), frames, dt, angles)
        c2 = twotime.white(twotime.means(g, contrast, offset), SIGMA, rng)
    else:
        frames, dt, g = lasting(p, float(noise))
        p = resolved(p, dt)
        contrast, offset = [1 / MODES] * len(angles), [1] * len(angles)
        c2 = twotime.speckles(g, MODES, PIXELS, 0, rng)
    return p, dt, c2, list(contrast), list(offset)


def experiment(k):
    p, dt, c2, contrast, offset = data(np.random.default_rng([seed, k, sum(map(ord, kind + noise))]))
    np.save("data.npy", c2)
    program = {"static": "static_isotropic"}.get(model, model)
    fixed = HETERODYNE if model == "heterodyne" else {x: 0 for x in ("D_offset", "gamma_dot_t_offset")
                                                      if held and (x == "D_offset" or model == "laminar")}
    done = subprocess.run([f"{bindir}/homodyne-{program}", "fit", "--data", "data.npy", "--dt", repr(dt), "--q",
                           str(twotime.Q), "--phi=" + ",".join(map(str, ANGLES[model])), "-o", "out", "--quiet",
                           "--threads", "1", *(["--gap", "200 um"] if model == "laminar" else []),
                           *(["--bounds", "f3=0:0.5"] if model == "heterodyne" else []),
                           *(x for name, v in fixed.items() for x in ("--fix", f"{name}={v}"))], capture_output=True,
                          text=True)
    if done.returncode not in (0, 2):
        sys.exit(f"experiment {k}: {done.stderr}")
    fit = json.load(open("out/fit.json"))
    row = {"k": k, "quality": fit["quality"], "status": fit["status"],
           "robust": fit["robust"] and fit["robust"]["method"], "value": {}}
    for name, t in p.items():
        v = fit["parameters"][name]
        error = v["std"] if noise == "white" else v["std_robust"]
        row["value"][name] = [t, v["value"], error, v.get("intervals_95") or (v["interval_95"] and [v["interval_95"]])]
    for a, s in enumerate(fit["scaling"]):
        for name, t in (("contrast", contrast[a]), ("offset", offset[a])):
            error = s[name + "_std"] if noise == "white" else s.get(name + "_std_robust")
            half = 1.96 * error if error else None
            row["value"][f"{name}[{a}]"] = [t, s[name], error, half and [[s[name] - half, s[name] + half]]]
    return row


def study():
    rows = []
    if keep and os.path.exists(keep):
        rows = [json.loads(x) for x in open(keep)]
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for k in range(len(rows), number):
            if time.time() > limit:
                break
            rows.append(experiment(k))
            if keep:
                with open(keep, "a") as f:
                    f.write(json.dumps(rows[-1]) + "\n")
    return rows


def covered(t, parts):
    return any((a is None or a <= t) and (b is None or t <= b) for a, b in parts)


def judge(rows):
    given, all_, hold, wild, bad = {}, {}, {}, [], 0
    for r in rows:
        for name, (t, value, error, parts) in r["value"].items():
            name = name.split("[")[0]
            all_[name] = all_.get(name, 0) + 1
            if parts:
                given[name] = given.get(name, 0) + 1
                hold[name] = hold.get(name, 0) + covered(t, parts)
            if error and abs(value - t) > 5 * error:
                wild.append((r["k"], f"{name} {value:.4g} +- {error:.2g}, true {t:.4g}"))
    least, most = (0.95, 0.95) if noise == "white" else (0.90, 0.98)
    for name in given:
        part, per = hold[name] / given[name], given[name] / max(1, len(rows))
        alone = given[name] / max(per, 1)  # those of one experiment are not independent
        low = least - 3 * math.sqrt(least * (1 - least) / alone) - 0.5 / alone
        high = most + 3 * math.sqrt(most * (1 - most) / alone) + 0.5 / alone
        wrong = not low < part < high
        bad += wrong
        print(f"  {name:20} {100 * part:6.1f} % of {given[name]:4} intervals hold, of "
              f"{all_[name]}{'  WRONG' if wrong else ''}")
    for k, text in wild:
        print(f"  experiment {k}: {text}")
    words = {}
    for r in rows:
        word = f"{r['quality']}, {r['robust']}"
        words[word] = words.get(word, 0) + 1
    far = len({k for k, _ in wild})
    print(f"{kind}, {noise}, {len(rows)} experiments: {far} have a parameter more than 5 of its errors off; {words}",
          flush=True)
    unfinished = sum(r["quality"] == "unfinished" for r in rows)
    return bad > 0 or far > 1 + len(rows) / 200 or unfinished > 0


sys.exit(judge(study()))
