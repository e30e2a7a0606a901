#!/usr/bin/env python3
"""Simulation-based calibration of posteriors under speckle noise (Talts et al. 2018, arXiv:1804.06788).

    speckle_sbc.py BINDIR static|laminar EXPERIMENTS [KEEP]
        KEEP    file of results, one line an experiment; a run goes on where another has ended

Parameters are drawn from priors that a configuration gives, contrasts from theirs; fields, intensities and photons are
simulated by numpy (twotime.py), M and the shot noise are found by the program.  Of the flows that the prior makes all
are of a strength that the measurement resolves, so that no experiment is left out for that.  The posterior of efficient
estimates (`--estimator auto --method nuts`) is sampled; the rank of each true value among 99 draws, 5 apart, is uniform
when priors, equations, their covariance and the sampler are right, and as long as equations are normal: to first order
in 1/M, which is 1000 here.

Printed: Kolmogorov's distance of the ranks from the uniform law with its probability (Stephens, JASA 69 (1974) 730),
and 95 % and 50 % intervals that hold.  Exit status 1: a probability below 0.01 over the number of parameters, or an
experiment of twenty was left out; 77: no h5py, which reads the draws.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

import twotime

try:
    import h5py
except ImportError:
    print("skipped: no h5py")
    sys.exit(77)

DRAWS, THIN, WARMUP = 99, 5, 250
FRAMES, PIXELS, SHOT, DECAY = 40, 1000, 1.0, 6.0
ANGLES = {"static": [0], "laminar": [-40, 10, 80]}
PROGRAM = {"static": "static_isotropic", "laminar": "laminar"}


def period():
    """Such that the middle of the prior decays by DECAY."""
    low, high = math.log(1e-6), math.log(1e4)
    for _ in range(60):
        dt = math.exp((low + high) / 2)
        total = twotime.Q ** 2 * twotime.integral(twotime.power_law(6000, -0.25, 0, np.arange(FRAMES) * dt, dt), dt)[-1]
        low, high = (math.log(dt), high) if total < DECAY else (low, math.log(dt))
    return dt


def priors(model, dt):
    """name: mean, sd, bounds of truncated normal laws."""
    p = {"D0": (6000, 1200, 1000, 20000), "alpha": (-0.25, 0.12, -1, 0.5), "contrast": (0.33, 0.04, 0.2, 0.5)}
    if model == "laminar":
        flow = 1.5 * math.pi * DECAY / (twotime.Q * twotime.GAP) / (FRAMES * dt) ** 0.9
        p.update(gamma_dot_t0=(flow, 0.2 * flow, 0.2 * flow, 3 * flow), beta=(-0.1, 0.12, -0.8, 0.6),
                 phi0=(2, 2, -8, 9))
    return p


def draw(p, rng):
    """Inside of its bounds: the law that is cut there."""
    mean, sd, low, high = p
    while True:
        x = rng.normal(mean, sd)
        if low < x < high:
            return x


def configuration(model, dt, p):
    lines = ["parameter_space:", "  bounds:"]
    lines += [f"    - "
              f"{{name: {n}, min: {lo!r}, max: {hi!r}, type: TruncatedNormal, prior_mu: {m!r}, prior_sigma: {s!r}}}"
              for n, (m, s, lo, hi) in p.items()]
    return "\n".join([f"analysis_mode: {PROGRAM[model]}", "experimental_data: {file_path: data.npy}",
                      "analyzer_parameters:", f"  dt: {dt!r}", "  start_frame: 1", "  end_frame: -1",
                      f"  scattering: {{wavevector_q: {twotime.Q}}}",
                      f"  geometry: {{stator_rotor_gap: {twotime.GAP:g}}}", *lines, ""])


def modes_of(contrast):
    """Parts of the mean intensity, all alike but one, with that sum of squares."""
    k = math.ceil(1 / contrast - 1e-9)
    each = ((k - 1) + math.sqrt(max((k - 1) ** 2 - (k - 1) * k * (1 - contrast), 0))) / ((k - 1) * k)
    return np.r_[np.full(k - 1, each), 1 - (k - 1) * each]


def experiment(bindir, model, k):
    rng, dt = np.random.default_rng([2, k, *model.encode()]), period()
    p = priors(model, dt)
    truth = {n: draw(x, rng) for n, x in p.items()}
    theta = {"D_offset": 0, "gamma_dot_t_offset": 0, **truth}
    made = twotime.fields(model, theta, FRAMES, dt, ANGLES[model])
    np.save("data.npy", twotime.speckles(made, modes_of(truth["contrast"]), PIXELS, 1 / (SHOT * truth["contrast"]),
                                         rng))
    with open("c.yaml", "w") as f:
        f.write(configuration(model, dt, p))
    held = ["--fix", "D_offset=0", "--fix", "offset=1"]
    held += ["--fix", "gamma_dot_t_offset=0"] if model == "laminar" else []
    done = subprocess.run([f"{bindir}/homodyne-{PROGRAM[model]}", "fit", "c.yaml", "--phi=" + ",".join(
        map(str, ANGLES[model])), "-o", "out", "--quiet", "--threads", "1", "--estimator", "auto", "--method", "nuts",
        "--chains", "1", "--warmup", str(WARMUP), "--draws", str(DRAWS * THIN), "--seed", str(k), *held],
        capture_output=True, text=True)
    if done.returncode not in (0, 2):
        sys.exit(f"{model}, experiment {k}: {done.stderr}")
    used = json.load(open("out/fit.json"))["estimator"]["used"]
    with h5py.File("out/posterior.nc") as f:
        x = {n: np.ravel(f[f"posterior/{n}"][0])[::THIN] for n in truth if n != "contrast"}
    return {"k": k, "used": used, "rank": {n: int((v < truth[n]).sum()) for n, v in x.items()}}


def kolmogorov(u):
    """Distance from the uniform law, its probability."""
    n, x = len(u), np.sort(u)
    d = max((np.arange(1, n + 1) / n - x).max(), (x - np.arange(n) / n).max())
    t = d * (math.sqrt(n) + 0.12 + 0.11 / math.sqrt(n))
    return d, min(1, 2 * sum((-1) ** (i - 1) * math.exp(-2 * (i * t) ** 2) for i in range(1, 50)))


def main():
    bindir, model, number = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    keep = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else None
    rows = [json.loads(x) for x in open(keep)] if keep and os.path.exists(keep) else []
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for k in range(len(rows), number):
            rows.append(experiment(bindir, model, k))
            if keep:
                with open(keep, "a") as f:
                    f.write(json.dumps(rows[-1]) + "\n")
    taken, bad = [r for r in rows if r["used"] == "efficient"], 0
    print(f"{model}: {len(rows)} experiments, {len(taken)} with efficient estimates")
    for n in taken[0]["rank"]:
        u = (np.array([r["rank"][n] for r in taken]) + 0.5) / (DRAWS + 1)
        d, p = kolmogorov(u)
        bad += p < 0.01 / len(taken[0]["rank"])
        hold = [np.mean(abs(u - 0.5) < x / 2) for x in (0.95, 0.5)]
        print(f"  {n:14s} distance {d:.3f}, p {p:.2f}; intervals that hold: 95 %: {100 * hold[0]:.0f}, 50 %: "
              f"{100 * hold[1]:.0f}")
    sys.exit(bool(bad) or len(taken) < 0.95 * len(rows))


main()
