"""contin.py HOMODYNE EXPERIMENTS WIDTH: how far `homodyne contin` holds what it says (docs/contin.md).

g2 of two log-normal modes, 60 % of the light at 8 1/s and 40 % at 300 1/s, each with the standard deviation WIDTH of
the logarithm, contrast 0.8, 120 delays, noise 0.002: how often do intervals of means and weights and the band of the
distribution hold the truth?  Needs numpy; is not run by the tests.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

NOISE, MODES = 0.002, ((8, 0.6), (300, 0.4))


def simulate(random, width):
    """delays, g2, and the rates u with the parts of the light at them."""
    t, u = np.geomspace(1e-4, 2, 120), np.geomspace(1e-2, 1e5, 4001)
    part = np.zeros(u.size)
    for mean, weight in MODES:
        one = np.exp(-0.5 * (np.log(u / mean) / width) ** 2)
        part += weight * one / one.sum()
    return t, 1 + 0.8 * (np.exp(-np.outer(t, u)) @ part) ** 2 + NOISE * random.normal(size=t.size), u, part


def distribution(homodyne, t, g2):
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder, "g2.csv")
        np.savetxt(data, np.c_[t, g2, np.full(t.size, NOISE)], delimiter=",", header="delay (s),g2,sigma", comments="")
        subprocess.run([homodyne, "contin", data, "-o", folder + "/out"], check=True, capture_output=True)
        return json.loads(pathlib.Path(folder, "out", "contin.json").read_text())


def main(homodyne, experiments, width):
    random = np.random.default_rng(7)
    held = {"mean": [], "weight": [], "band": []}
    two, worst = 0, {"mean": 0.0, "weight": 0.0}
    for _ in range(experiments):
        t, g2, u, part = simulate(random, width)
        found = distribution(homodyne, t, g2)
        d = found["distribution"]
        value = np.array(d["value"])
        ends = np.r_[0, np.sqrt(value[1:] * value[:-1]), math.inf]
        truth = np.array([part[(u >= a) & (u < b)].sum() for a, b in zip(ends[:-1], ends[1:])])
        inside = (truth >= np.array(d["lower_95"])) & (truth <= np.array(d["upper_95"]))
        held["band"] += list(inside[truth > 0.01 * truth.max()])
        modes = sorted((m for m in found["modes"] if m["weight"] > 0.05), key=lambda m: m["mean"])
        two += len(modes) == 2
        for mode, true in zip(modes if len(modes) == 2 else (), MODES):
            for name, x in zip(("mean", "weight"), true):
                held[name].append(mode[name + "_95"][0] <= x <= mode[name + "_95"][1])
                worst[name] = max(worst[name], abs(mode[name] / x - 1))
    print(f"{two} of {experiments} have two modes; farthest off: mean {worst['mean']:.3f}, weight "
          f"{worst['weight']:.3f}")
    for name, inside in held.items():
        print(f"{name}: {sum(inside) / max(len(inside), 1):.3f} of {len(inside)}")


main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
