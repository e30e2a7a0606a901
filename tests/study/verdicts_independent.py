#!/usr/bin/env python3
"""Verdicts about data that numpy simulates (twotime.py): of the model that made them, and of others.  No start is
given.

    verdicts_independent.py BINDIR [EXPERIMENTS [KIND [KEEP [SECONDS]]]]
        EXPERIMENTS of each case (2), or a part: 0.1 for one of every tenth case; KIND: white, speckle, wrong (all)
        KEEP     file of results, one line a fit; a run goes on where another has ended, after SECONDS at most

How far a wrong model is off is what remains of its data without noise when it is fitted to them (here, by Gauss-Newton
steps with contrast and offset eliminated), d, over the noise: |d / sigma|^2 is the square of what the best test there
is, the projection of the residuals on d, sees in the mean, and with the noise at hand it sees (|d| + noise d / |d|) /
sigma. Where both are 5 at least the model is detectable.  Exit status 1 when a detectable wrong model is called good,
or true models are called doubtful or poor in more than 3 % under white noise, 10 % under speckle noise (and two
standard deviations of such a number).
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

bindir, number = os.path.abspath(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 2
kinds = sys.argv[3].split(",") if len(sys.argv) > 3 else ["white", "speckle", "wrong"]
keep = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else None
limit = time.time() + float(sys.argv[5]) if len(sys.argv) > 5 else math.inf

STATIC = {"D0": 5000, "alpha": -0.3, "D_offset": 300}
SHEAR = {"D0": 2500, "alpha": -0.4, "D_offset": 200, "gamma_dot_t0": 0.003, "beta": -0.3, "gamma_dot_t_offset": 0.0003,
         "phi0": -2}
WEAK = dict(SHEAR, gamma_dot_t0=0.0006, gamma_dot_t_offset=0)
MIXED = {"D0_ref": 8000, "D0_sample": 30000, "v0": 1000, "f3": 0.3, "phi0_het": 2}
HELD = {"alpha_ref": 0, "D_offset_ref": 0, "alpha_sample": 0, "D_offset_sample": 0, "v_beta": 0, "v_offset": 0, "f0": 0,
        "f1": 0, "f2": 0, "phi0_het": 2}
MIXED_OPTIONS = [*(x for k, v in HELD.items() for x in ("--fix", f"{k}={v}")), "--bounds", "f3=0:0.5"]
ONE, THREE, FOUR = [0], [0, 45, 90], [-30, 0, 30, 60]
# program, model of twotime, parameters, azimuths, options of the fit
TRUE = {"static": ("static_isotropic", "static", STATIC, ONE, []),
        "static_anisotropic": ("static_anisotropic", "static", STATIC, THREE, []),
        "laminar": ("laminar", "laminar", SHEAR, FOUR, []),
        "laminar_theory": ("laminar_theory", "theory", SHEAR, FOUR, []),
        "heterodyne": ("heterodyne", "heterodyne", MIXED, THREE, MIXED_OPTIONS)}
NO_D, NO_G = ["--fix", "D_offset=0"], ["--fix", "gamma_dot_t_offset=0"]
# data of: model, parameters, azimuths; more of means(), factors of q; fitted with: program, model, held, options
WRONG = {
    "theory by laminar": ("theory", SHEAR, FOUR, {}, None, "laminar", "laminar", {}, []),
    "weak theory by laminar": ("theory", WEAK, FOUR, {}, None, "laminar", "laminar", {}, []),
    "laminar by theory": ("laminar", SHEAR, FOUR, {}, None, "laminar_theory", "theory", {}, []),
    "weak laminar by theory": ("laminar", WEAK, FOUR, {}, None, "laminar_theory", "theory", {}, []),
    "laminar by static": ("laminar", SHEAR, FOUR, {}, None, "static_anisotropic", "static", {}, []),
    "weak laminar by static": ("laminar", WEAK, FOUR, {}, None, "static_anisotropic", "static", {}, []),
    "one angle of laminar by static": ("laminar", SHEAR, ONE, {}, None, "static_isotropic", "static", {}, []),
    "no D_offset": ("static", STATIC, ONE, {}, None, "static_isotropic", "static", {"D_offset": 0}, NO_D),
    "no large D_offset": ("static", dict(STATIC, D_offset=3000), THREE, {}, None, "static_anisotropic", "static",
                          {"D_offset": 0}, NO_D),
    "no shear offset": ("laminar", dict(SHEAR, gamma_dot_t_offset=0.001), FOUR, {}, None, "laminar", "laminar",
                        {"gamma_dot_t_offset": 0}, NO_G),
    "no baseline": ("static", STATIC, THREE, {"offset": [1.002, 1.001, 1]}, None, "static_anisotropic", "static",
                    {"offset": 1}, ["--fix", "offset=1"]),
    "second component 20 %": ("two", dict(STATIC, x=0.2, faster=10), ONE, {}, None, "static_isotropic", "static", {},
                              []),
    "second component 5 %": ("two", dict(STATIC, x=0.05, faster=20), THREE, {}, None, "static_anisotropic", "static",
                             {}, []),
    "second component 40 %": ("two", dict(STATIC, x=0.4, faster=4), ONE, {}, None, "static_isotropic", "static", {},
                              []),
    "moving part by static": ("heterodyne", MIXED, THREE, {}, None, "static_anisotropic", "static", {}, []),
    "contrast drifts 30 %": ("static", STATIC, ONE, {"drift": 0.3}, None, "static_isotropic", "static", {}, []),
    "contrast drifts 5 %": ("static", STATIC, THREE, {"drift": -0.05}, None, "static_anisotropic", "static", {}, []),
    "contrast of laminar drifts 10 %": ("laminar", SHEAR, FOUR, {"drift": 0.1}, None, "laminar", "laminar", {}, []),
    "q 5 % off": ("static", STATIC, THREE, {}, [1, 1.05, 1], "static_anisotropic", "static", {}, []),
    "q 1 % off": ("static", STATIC, THREE, {}, [1, 1, 1.01], "static_anisotropic", "static", {}, []),
    "q of laminar 4 % off": ("laminar", SHEAR, FOUR, {}, [1, 0.96, 1, 1], "laminar", "laminar", {}, []),
}


def fit(program, c2, dt, angles, options):
    np.save("data.npy", c2)
    done = subprocess.run([f"{bindir}/homodyne-{program}", "fit", "--data", "data.npy", "--dt", repr(dt), "--q",
                           str(twotime.Q),
                           "--phi=" + ",".join(map(str, angles)),
                           *(["--gap", "200 um"] if "laminar" in program else []),
                           *options, "-o", "out", "--quiet", "--threads", "1"], capture_output=True, text=True)
    if done.returncode not in (0, 2):
        sys.exit(f"{' '.join(done.args)}: {done.stderr}")
    return json.load(open("out/fit.json"))


def period(model, p, angles, frames, decay):
    """dt with which |g|^2 falls to 1/e within so many frames."""
    low, high = math.log(1e-5), math.log(300)
    for _ in range(40):
        dt = math.exp((low + high) / 2)
        slow = twotime.decay_frames(twotime.fields(model, p, frames, dt, angles)) > decay
        low, high = (math.log(dt), high) if slow else (low, math.log(dt))
    return dt


# ---- how far a model is off
# -------------------------------------------------------------------------------------------

LOGARITHMIC = ("D0", "gamma_dot_t0")


def residuals(model, p, offset, mean, sigma, dt, angles):
    """With the best contrast and offset of each angle."""
    n = mean.shape[-1]
    upper = np.triu_indices(n, 1)
    out = []
    for g, one in zip(twotime.fields(model, p, n, dt, angles), mean):
        x, y = abs(g[upper]) ** 2, one[upper]
        if offset is None:
            slope = (x - x.mean()) @ y / max((x - x.mean()) @ x, 1e-300)
            base = y.mean() - slope * x.mean()
        else:
            slope, base = x @ (y - offset) / max(x @ x, 1e-300), offset
        out.append((y - base - slope * x) / sigma)
    return np.concatenate(out)


def refit(model, start, held, mean, sigma, dt, angles):
    """Least sum of squares; Gauss-Newton with numerical derivatives, damped."""
    names = [k for k in start if k not in held]
    offset = held.get("offset")

    def unpack(z):
        return {**{k: math.exp(x) if k in LOGARITHMIC else x for k, x in zip(names, z)},
                **{k: v for k, v in held.items() if k != "offset"}}

    def r(z):
        return residuals(model, unpack(z), offset, mean, sigma, dt, angles)
    z = np.array([math.log(start[k]) if k in LOGARITHMIC else start[k] for k in names], float)
    step = np.array([100.0 if k == "D_offset" else 1e-3 if "gamma" in k else 1.0 for k in names])
    step[[k in LOGARITHMIC or k in ("alpha", "beta") for k in names]] = 0.3
    here, damping = r(z), 1e-3
    for _ in range(40):
        J = np.stack([(r(z + 1e-6 * step * e) - here) / 1e-6 for e in np.eye(len(z))], 1)
        H, b, better = J.T @ J, J.T @ here, False
        for _ in range(12):
            move = np.linalg.lstsq(H + damping * np.diag(np.diag(H)), -b, rcond=None)[0]
            move *= step / max(1, abs(move).max() / 2)
            there = r(z + move)
            if there @ there < here @ here:
                better, damping = True, damping / 5
                break
            damping *= 4
        if not better:
            break
        done = here @ here - there @ there < 1e-4 * (1 + 1e-3 * (here @ here))
        z, here = z + move, there
        if done:
            break
    return here


def visible(case, mean, sigma, dt, angles):
    model, p, _, _, _, program, fitted, held, options = case
    found = fit(program, mean, dt, angles, [*options, "--sigma", repr(sigma)])
    names = list(STATIC if fitted == "static" else SHEAR)
    there = {k: found["parameters"][k]["value"] for k in names}
    starts = [there] + ([{k: p[k] for k in names}] if set(names) <= set(p) else [])
    with np.errstate(all="ignore"):  # steps too far are taken back
        return min((refit(fitted, s, held, mean, sigma, dt, angles) for s in starts), key=np.linalg.norm) * sigma


# ---- the cases
# --------------------------------------------------------------------------------------------------------

def row_of(j):
    return {"quality": j["quality"], "text": j["quality_text"], "chi2": j["reduced_chi2"], "p": j["misfit"]["p"],
            "speckle_p": (j["speckle"] or {}).get("p"), "robust": (j["robust"] or {}).get("method")}


def rng_of(*words):
    return np.random.default_rng([sum(ord(x) * 131 ** k for k, x in enumerate(str(w))) % 2 ** 32 for w in words])


def true_white(name, decay, contrast, sigma, k):
    program, model, p, angles, options = TRUE[name]
    rng = rng_of(name, decay, contrast, sigma, k)
    frames = 80 if decay < 30 else 160
    dt = period(model, p, angles, frames, decay)
    level = contrast * rng.uniform(0.9, 1.1, len(angles))
    mean = twotime.means(twotime.fields(model, p, frames, dt, angles), level, rng.uniform(0.98, 1.02, len(angles)))
    return row_of(fit(program, twotime.white(mean, sigma, rng), dt, angles, options))


def true_speckle(name, decay, modes, counts, k):
    program, model, p, angles, options = TRUE[name]
    rng = rng_of(name, decay, modes, counts, k)
    frames = 100
    dt = period(model, p, angles, frames, decay)
    c2 = twotime.speckles(twotime.fields(model, p, frames, dt, angles), modes, 1500, counts, rng)
    return row_of(fit(program, c2, dt, angles, options))


def wrong_white(name, decay, contrast, sigma, k):
    model, p, angles, more, factors, program, _, _, options = case = WRONG[name]
    frames = 80 if decay < 20 else 120
    dt = period(model, p, angles, frames, decay)
    mean = twotime.means(twotime.fields(model, p, frames, dt, angles, factors), contrast, **{"offset": 1.01, **more})
    rng = rng_of(name, decay, contrast, sigma, k)
    key = (name, decay, contrast)
    if key not in VISIBLE:  # at a noise that steps towards the minimum tell apart
        VISIBLE[key] = visible(case, mean, 0.005, dt, angles)
    d, data = VISIBLE[key], twotime.white(mean, sigma, rng)
    off, upper = float(np.linalg.norm(d)), np.triu_indices(frames, 1)
    chance = sum(np.sum(x[upper] * y) for x, y in zip(data - mean, d.reshape(len(angles), -1)))
    row = {"visible": off / sigma, "seen": (off + chance / off) / sigma,
           **row_of(fit(program, data, dt, angles, options))}
    row["given"] = fit(program, data, dt, angles, [*options, "--sigma", repr(sigma)])["quality"]
    return row


VISIBLE = {}
MAKE = {"white": true_white, "speckle": true_speckle, "wrong": wrong_white}
CASES = {"white": [(n, d, c, s) for n in TRUE for d in (0.5, 2, 8, 30, 100) for c, s in
                   ((0.02, 0.003), (0.1, 0.02), (0.3, 0.02), (0.5, 0.005))],
         "speckle": [(n, d, m, c) for n in TRUE for d in (2, 8, 25) for m, c in ((2, 0), (5, 0), (2, 1), (10, 0.3))],
         "wrong": [(n, d, c, s) for n in WRONG for d in (3, 15, 40)
                   for c, s in ((0.2, 0.02), (0.2, 0.005), (0.05, 0.01))]}


def rows_of(kind):
    rows = {}
    if keep and os.path.exists(keep):
        for line in open(keep):
            r = json.loads(line)
            if r["kind"] == kind:
                rows[tuple(r["case"])] = r
    for k in range(math.ceil(number)):
        for case in CASES[kind][::max(1, round(1 / number))]:
            if (*case, k) in rows or time.time() > limit:
                continue
            r = rows[(*case, k)] = {"kind": kind, "case": [*case, k], **MAKE[kind](*case, k)}
            if keep:
                with open(keep, "a") as f:
                    f.write(json.dumps(r) + "\n")
    return list(rows.values())


def words_of(rows):
    words = {}
    for r in rows:
        words[r["quality"]] = words.get(r["quality"], 0) + 1
    return words


def judge_true(kind, rows, allowed):
    bad = [r for r in rows if r["quality"] in ("doubtful", "poor")]
    for r in bad:
        print(f"    {' '.join(map(str, r['case']))}: {r['quality']}: {r['text']}")
    print(f"{kind}: {len(rows)} fits of the true model, {len(bad)} called doubtful or poor "
          f"({100 * len(bad) / max(1, len(rows)):.1f} %): {words_of(rows)}", flush=True)
    return len(bad) > allowed * len(rows) + 2 * math.sqrt(allowed * len(rows))


def judge_wrong(rows):
    detectable = [r for r in rows if min(r["visible"], r["seen"]) > 5]
    good = [r for r in detectable if "good" in (r["quality"], r["given"])]
    for r in good:
        print(f"    {' '.join(map(str, r['case']))}: {r['visible']:.1f} sigma off, {r['seen']:.1f} seen, p "
              f"{r['p']:.2g}: {r['quality']}, with sigma {r['given']}   GOOD")
    print(f"wrong: {len(rows)} experiments, {len(detectable)} detectable, {len(good)} of them called good (with or "
          f"without a "
          f"given sigma); {words_of(detectable)} of those, {words_of([r for r in rows if r not in detectable])} of the "
          f"others", flush=True)
    return len(good) > 0


failed = 0
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    for kind in kinds:
        found = rows_of(kind)
        failed |= judge_wrong(found) if kind == "wrong" else judge_true(kind, found, 0.03 if kind == "white" else 0.1)
sys.exit(failed)
