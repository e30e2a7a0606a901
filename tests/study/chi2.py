#!/usr/bin/env python3
"""chi2/dof of the true model under white noise: near 1, or not told, however fast the correlation decays.

    chi2.py BINDIR [frames [models [decays [contrasts]]]]       lists with commas; small without them

Data are made by `homodyne simulate`, and fitted with the noise left open.  A decay is the number of frames in which
exp(-q^2 D0 t) falls to 1/e; shear and flow have their own rates besides, up to a phase of 0.3 a frame.  Exit status 1
when chi2/dof lies outside 0.95 .. 1.05 by more than three of its standard errors, or is not told in more than a tenth.
"""
import json
import os
import subprocess
import sys
import tempfile

bindir = sys.argv[1]
frames = [int(x) for x in sys.argv[2].split(",")] if len(sys.argv) > 2 else [100]
models = sys.argv[3].split(",") if len(sys.argv) > 3 else ["static_isotropic", "laminar"]
decays = [float(x) for x in sys.argv[4].split(",")] if len(sys.argv) > 4 else [0.5, 3, 30]
contrasts = [float(x) for x in sys.argv[5].split(",")] if len(sys.argv) > 5 else [0.3]
Q, D0 = 0.0054, 5000.0


def truth(model, dt):
    """Options of the parameters: rates per frame do not depend on the decay."""
    rest = {"static_isotropic": [], "static_anisotropic": [],
            "laminar": ["gamma_dot_t0=%.6g" % (2e-3 / dt), "beta=-0.3", "gamma_dot_t_offset=%.6g" % (1e-4 / dt),
                        "phi0=-3"],
            "laminar_theory": ["gamma_dot_t0=%.6g" % (2e-3 / dt), "beta=-0.3", "gamma_dot_t_offset=%.6g" % (1e-4 / dt),
                               "phi0=-3"]}
    if model == "heterodyne":
        return ["D0_ref=%g" % D0, "alpha_ref=-0.2", "D_offset_ref=100", "D0_sample=%g" % (2 * D0), "alpha_sample=-0.1",
                "D_offset_sample=100", "v0=%.6g" % (30 / dt), "beta=0.1", "v_offset=0", "f0=0.4", "f1=0", "f2=0",
                "f3=0.3", "phi0=3"]
    return ["D0=%g" % D0, "alpha=-0.3", "D_offset=100"] + rest[model]


def run(*command):
    done = subprocess.run([os.path.join(bindir, "homodyne"), *command], capture_output=True, text=True)
    if done.returncode not in (0, 2):
        sys.exit(f"{' '.join(command)}: {done.stderr}")


def one(model, n, decay, contrast, noise, seed):
    dt = 1 / (Q * Q * D0 * decay)
    gap = ["--gap", "2e6"] if "laminar" in model else []
    phi = "0" if model == "static_isotropic" else "-30,5,60"
    sets = [x for p in truth(model, dt) for x in ("--set", p)]
    run("simulate", "--model", model, "-o", "d.h5", "--frames", str(n), "--dt", "%.17g" % dt, "--q", str(Q), *gap,
        "--phi=" + phi, *sets, "--contrast", str(contrast), "--noise", str(noise), "--seed", str(seed), "--quiet",
        "--force")
    held = [x for p in truth(model, dt) for x in ("--fix", p)] if model == "heterodyne" else \
        [x for p in truth(model, dt) for x in ("--start", p)]
    run("fit", "--model", model, "--data", "d.h5", *(["--gap", "200 um"] if gap else []), *held, "-o", "r", "--quiet")
    return json.load(open("r/fit.json"))


with tempfile.TemporaryDirectory() as work:
    bindir = os.path.abspath(bindir)
    os.chdir(work)
    bad = untold = all_ = 0
    for model in models:
        for n in frames:
            for decay in decays:
                for contrast in contrasts:
                    fit = one(model, n, decay, contrast, 0.003, all_ + 1)
                    x, all_ = fit["reduced_chi2"], all_ + 1
                    told = f"{x:.4f} +- {fit['reduced_chi2_std']:.4f}" if x else "not told"
                    far = x is not None and abs(x - 1) > 0.05 + 3 * fit["reduced_chi2_std"]
                    bad += far
                    untold += x is None
                    print(f"{model:<20} {n:>4} frames, decay {decay:>5g}, contrast {contrast:<5g} {told}  "
                          f"{fit['quality']}{'   FAILED' if far else ''}", flush=True)
    print(f"{all_} fits: {bad} outside, {untold} not told")
    sys.exit(bad > 0 or untold > all_ / 10)
