#!/usr/bin/env python3
"""The table of README.md: the same experiments fitted by homodyne-gen and, where they are installed, by the packages
homodyne, heterodyne, xpcsjax; time, memory, and how far the answers are from the truth.

    python3 bench/peers.py FOLDER [--bin build/bin] [--venv DIR] [--limit 600]

FOLDER: experiments NAME.h5 with configurations NAME.yaml and truths NAME.truth.json ({"truth": {"D0": 2000, ...}});
what is missing is simulated there (`homodyne simulate`), with the parameters below.  DIR: a virtual environment that
has the packages.  Answers are read by `homodyne table --csv`, those of the packages as well.  Needs nothing but Python.
"""
import argparse
import csv
import io
import json
import os
import subprocess
import sys
import time

GRID = ["--dt", "0.1", "--q", "0.0054", "--contrast", "0.3", "--offset", "1"]
FLOW = {"D0": 2000, "alpha": -0.3, "D_offset": 100, "gamma_dot_t0": 0.004, "beta": -0.4, "gamma_dot_t_offset": 0.0003,
        "phi0": -4}
TWO = {"D0_ref": 2000, "alpha_ref": 0.1, "D_offset_ref": 100, "D0_sample": 6000, "alpha_sample": -0.2,
       "D_offset_sample": 300,
       "v0": 60, "v_beta": 0.1, "v_offset": 5, "f0": 0.5, "f1": 0.01, "f2": 0, "f3": 0.1, "phi0_het": -3}
# name: model, options of simulate, truth, the packages that have this model, with their words
EXPERIMENTS = {
    "static_N200": ("static_isotropic", ["--frames", "200", "--phi", "0", "--noise", "0.01"],
                    {k: FLOW[k] for k in ("D0", "alpha", "D_offset")}, ("homodyne", "xpcsjax")),
    "laminar_N200x5": ("laminar", ["--frames", "200", "--gap", "2e6", "--phi=-45,-5,5,50,90", "--noise", "0.01"], FLOW,
                       ("homodyne", "xpcsjax")),
    "het_N200x3": ("heterodyne", ["--frames", "200", "--phi", "0,40,85", "--noise", "0.005"], TWO, ("heterodyne",)),
    "laminar_N1000x23": ("laminar",
                         ["--frames", "1000", "--gap", "2e6", "--phi", ",".join(str(8 * k) for k in range(23)),
                                     "--noise", "0.01"], FLOW, ("homodyne",)),
}


def run(command, limit, log):
    """Wall time in s and peak memory in MB; None: over the limit."""
    began = time.monotonic()
    with open(log, "wb") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        while True:
            pid, status, use = os.wait4(child.pid, os.WNOHANG)
            if pid:
                return time.monotonic() - began, use.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)
            if time.monotonic() - began > limit:
                child.kill()
                _, _, use = os.wait4(child.pid, 0)
                return None, use.ru_maxrss / 1024, None
            time.sleep(0.005)


def answers(homodyne, folder):
    """Value, error and interval of every parameter of a result, ours or a package's."""
    told = subprocess.run([homodyne, "table", folder, "--csv"], capture_output=True, text=True)
    if told.returncode:
        return {}
    number = lambda text: float(text) if text else float("nan")
    return {row[0]: tuple(map(number, row[2:6])) for row in list(csv.reader(io.StringIO(told.stdout)))[1:]}


def judge(found, truth):
    """How many parameters hold the truth: within 3 errors, or inside the interval of 95 %; those that fail."""
    wrong, judged = [], 0
    for name, true in truth.items():
        if name not in found or isinstance(true, list):
            continue
        value, error, lower, upper = found[name]
        if error > 0:
            judged += 1
            if abs(value - true) > 3 * error:
                wrong.append(f"{name} {value:.4g} +- {error:.2g} ({true:g})")
        elif lower == lower or upper == upper:
            judged += 1
            if (lower == lower and true < lower) or (upper == upper and true > upper):
                wrong.append(f"{name} in {lower:.4g} .. {upper:.4g} ({true:g})")
    return f"{judged - len(wrong)} of {judged} hold the truth" + (": not " + "; ".join(wrong) if wrong else "")


def make(a, homodyne, name):
    model, options, truth, _ = EXPERIMENTS[name]
    data = os.path.join(a.folder, name + ".h5")
    if not os.path.exists(data):
        sets = [word for key, value in truth.items() for word in ("--set", f"{key}={value}")]
        subprocess.run([homodyne, "simulate", "--model", model, "-o", data, *GRID, *options, *sets, "--seed", "7",
                        "--quiet", "--config-out", os.path.join(a.folder, name + ".yaml"), "--force"], check=True)
        with open(os.path.join(a.folder, name + ".truth.json"), "w", encoding="utf-8") as f:
            json.dump({"truth": truth}, f)


def config_of(folder, name):
    for prefix in ("", "h_", "x_"):
        path = os.path.join(folder, f"{prefix}{name}.yaml")
        if os.path.exists(path):
            return path
    sys.exit(f"{folder}: no configuration {name}.yaml")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("folder")
    p.add_argument("--bin", default="build/bin")
    p.add_argument("--venv")
    p.add_argument("--limit", type=float, default=600)
    p.add_argument("--only", nargs="*", default=list(EXPERIMENTS))
    a = p.parse_args()
    homodyne = os.path.join(a.bin, "homodyne")
    os.makedirs(a.folder, exist_ok=True)
    print("| data | program | wall | memory | answer |\n|---|---|---:|---:|---|")
    for name in a.only:
        make(a, homodyne, name)
        with open(os.path.join(a.folder, name + ".truth.json"), encoding="utf-8") as f:
            truth = json.load(f)["truth"]
        runs = [("homodyne-gen", [homodyne, "fit", config_of(a.folder, name), "--quiet", "-o"])]
        for package in EXPERIMENTS[name][3] if a.venv else ():
            runs.append((package,
                         [os.path.join(a.venv, "bin", package), "--config", config_of(a.folder, name), "--output-dir"
                                   if package == "homodyne" else "--output"]))
        for program, command in runs:
            out = os.path.join(a.folder, f"out_{program}_{name}")
            wall, mb, code = run([*command, out], a.limit, out + ".log")
            answer = f"not finished in {a.limit:.0f} s" if wall is None else judge(answers(homodyne, out), truth)
            told = "" if wall is None else f"{wall:.2g} s" if wall < 10 else f"{wall:.0f} s"
            size = f"{mb:.0f} MB" if mb < 1000 else f"{mb / 1024:.1f} GB"
            print(f"| {name} | {program} | {told} | {size} | "
                  f"{answer}{'' if code in (0, 2, None) else f' (exit {code})'} |", flush=True)


main()
