#!/usr/bin/env python3
"""Verdicts about simulated experiments: of the model that made the data, and of others.

    verdicts.py BINDIR [EXPERIMENTS [KIND]]     EXPERIMENTS of each case (4); KIND: white, speckle, wrong (all)

A wrong model is detectable when the sum of squares that it leaves of data without noise, over the noise squared, is
above 25: the best test there is would see it at 5 sigma.  Exit status 1 when a wrong model that is detectable is called
good, or true models are called doubtful or poor in more than 3 % under white noise, 10 % under that of speckles (plus
two standard deviations of such a number).
"""
import json
import math
import os
import subprocess
import sys
import tempfile

bindir, number = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4
kinds = sys.argv[3].split(",") if len(sys.argv) > 3 else ["white", "speckle", "wrong"]
STATIC = {"D0": 3000, "alpha": -0.3, "D_offset": 200}
SHEAR = {"D0": 2500, "alpha": -0.4, "D_offset": 200, "gamma_dot_t0": 0.003, "beta": -0.3, "gamma_dot_t_offset": 0.0003,
         "phi0": -2}
ANGLES, GAP = "-30,0,30,60", ["--gap", "2e6"]
# name, model, its parameters, further options of simulate: noise and frames apart
TRUE = [("static_isotropic", STATIC, ["--phi=0", "--dt", "0.2", "--contrast", "0.3"]),
        ("static_anisotropic", STATIC, ["--phi=0,45,90", "--dt", "2", "--contrast", "0.1"]),
        ("laminar", SHEAR, ["--phi=" + ANGLES, "--dt", "0.25", "--contrast", "0.2", *GAP])]
# data of, parameters, options, fitted with, options of the fit
WRONG = [("laminar", dict(SHEAR, gamma_dot_t0=0.003), "laminar_theory", []),
         ("laminar", dict(SHEAR, gamma_dot_t0=0.0015, gamma_dot_t_offset=0.0001), "laminar_theory", []),
         ("laminar", dict(SHEAR, gamma_dot_t0=0.001), "static_anisotropic", []),
         ("laminar", dict(SHEAR, gamma_dot_t0=0.0002, gamma_dot_t_offset=0), "static_anisotropic", []),
         ("laminar", dict(SHEAR, gamma_dot_t0=0.0001, gamma_dot_t_offset=0), "static_anisotropic", []),
         ("laminar", SHEAR, "laminar", ["--fix", "gamma_dot_t_offset=0"]),
         ("laminar", SHEAR, "laminar", ["--fix", "D_offset=0"]),
         ("laminar", SHEAR, "laminar", ["--fix", "beta=0"]),
         ("laminar", SHEAR, "laminar", ["--fix", "phi0=-1"]),
         ("laminar", SHEAR, "laminar", ["--fix", "offset=1.001"]),
         ("laminar", SHEAR, "laminar", ["--fix", "offset=1.0003"]),
         ("laminar", SHEAR, "laminar", ["--scaling", "averaged", "CONTRASTS"])]


def run(*command, codes=(0, 2)):
    done = subprocess.run([os.path.join(bindir, command[0]), *command[1:]], capture_output=True, text=True)
    if done.returncode not in codes:
        sys.exit(f"{' '.join(command)}: {done.stderr}")


def simulate(model, truth, options, frames, noise, seed):
    run("homodyne-" + model, "simulate", "-o", "d.h5", "--frames", str(frames), "--q", "0.0054", *options,
        *(x for k, v in truth.items() for x in ("--set", f"{k}={v:g}")), *noise, "--seed", str(seed), "--quiet",
        "--force")


def fit(model, *options):
    gap = ["--gap", "200 um"] if "laminar" in model else []
    run("homodyne-" + model, "fit", "--data", "d.h5", *gap, *options, "-o", "r", "--quiet")
    return json.load(open("r/fit.json"))


def true_models(name, noises, allowed):
    n = bad = 0
    words = {}
    for model, truth, options in TRUE:
        for frames in (80, 160):
            for noise in noises:
                for seed in range(number):
                    simulate(model, truth, options, frames, noise, 100 + seed)
                    j = fit(model, *(x for k, v in truth.items() for x in ("--start", f"{k}={v:g}")))
                    words[j["quality"]] = words.get(j["quality"], 0) + 1
                    n += 1
                    if j["quality"] in ("doubtful", "poor"):
                        bad += 1
                        print(f"    {model} {frames} {' '.join(noise)} seed {100 + seed}: {j['quality']}: "
                              f"{j['quality_text']}")
    most = allowed * n + 2 * math.sqrt(allowed * n)
    print(f"{name}: {n} fits of the true model, {bad} called doubtful or poor ({100 * bad / n:.1f} %): {words}",
          flush=True)
    return bad > most


def wrong_models():
    bad = detectable = n = 0
    for model, truth, other, extra in WRONG:
        contrast = "0.2,0.22,0.19,0.2" if "CONTRASTS" in extra else "0.2"
        options = ["--phi=" + ANGLES, "--dt", "0.25", "--contrast", contrast, *GAP]
        extra = [x for x in extra if x != "CONTRASTS"]
        for frames, sigma in ((80, 0.005), (160, 0.005), (160, 0.02)):
            simulate(model, truth, options, frames, ["--noise", "0"], 1)
            visible = fit(other, *extra, "--sigma", str(sigma))["chi2"]
            words = {}
            for seed in range(number):
                simulate(model, truth, options, frames, ["--noise", str(sigma)], 200 + seed)
                for known in ([], ["--sigma", str(sigma)]):
                    word = fit(other, *extra, *known)["quality"]
                    words[word] = words.get(word, 0) + 1
                    n += 1
                    detectable += visible > 25
                    bad += visible > 25 and word == "good"
            print(f"    {model} by {other} {' '.join(extra)}, {frames} frames, noise {sigma}: visible by "
                  f"{visible:.1f}: {words}{'   GOOD' if visible > 25 and 'good' in words else ''}", flush=True)
    print(f"wrong models: {n} fits, {detectable} detectable, {bad} of them called good", flush=True)
    return bad > 0


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    failed = 0
    if "white" in kinds:
        failed |= true_models("white noise", (["--noise", "0.003"], ["--noise", "0.02"]), 0.03)
    if "wrong" in kinds:
        failed |= wrong_models()
    if "speckle" in kinds:
        failed |= true_models("speckle noise", (["--noise", "speckle", "--pixels", "1000"],), 0.1)
sys.exit(failed)
