#!/usr/bin/env python3
"""The covariance of two-time values, numerically: of frames divided by their own means and of those divided by a
monitor.

    speckle_monitor.py [EXPERIMENTS]        1500

Fields, photons and frames by numpy (twotime.py; 40 frames, 400 speckles, three modes).  Sums of least squares and of
the efficient weights (speckle_phases.py) of many experiments scatter; what docs/speckle.md derives says by how much.
With the means divided by a monitor, delta_s the mean over the pixels of d_s, c2 has delta_s + delta_t where the
division by frames' own means has -C_st (delta_s + delta_t).

Printed: for each normalisation, decay and shot noise the least and largest ratio of the errors of both estimators by
the formula to those that the scatter of the sums has, and chi2 of all of the covariances of the sums over its number.
Exit status 1: a ratio is off by more than 4 standard deviations of the scatter and 3 % (second order in 1/M).
"""
import math
import sys

import numpy as np

import twotime
from speckle_phases import FRAMES, covariance, derivatives, efficient

PIXELS, MODES = 400, 3
NAMES = ["D0", "alpha"]


def values(g, shot, monitor, rng):
    """c2 of one experiment."""
    root = np.linalg.cholesky(g + 1e-10 * np.eye(FRAMES))
    z = rng.normal(size=(MODES, 2, FRAMES, PIXELS))
    intensity = sum(abs(root @ (x[0] + 1j * x[1])) ** 2 for x in z) / (2 * MODES)
    seen = rng.poisson(intensity / shot) * shot
    c2 = seen @ seen.T / PIXELS
    mean = seen.mean(1)
    return c2 if monitor else c2 / np.outer(mean, mean)


def errors(S, F):
    """Of the parameters, in units of their own: F^-1 S F^-T."""
    h = np.linalg.inv(F)
    return np.sqrt(np.diag(h @ S @ h.T))


def compare(decay, times, monitor, number, rng):
    """Ratios of errors by the formula to those of the scatter, of both estimators."""
    b, dt = 1 / MODES, decay / (twotime.Q ** 2 * 6000 * (FRAMES - 1))
    p = {"D0": 6000, "alpha": 0, "D_offset": 0}
    g = twotime.fields("static", p, FRAMES, dt, [0])[0].real
    c, shot = b * g ** 2, times * b
    j = [x[0] for x in derivatives("static", p, NAMES, dt, [0], b)] + [c / b, np.ones_like(c)]
    upper = np.triu_indices(FRAMES, 1)
    some = [values(g, shot, monitor, rng)[upper] for _ in range(number)]
    out = []
    for weigh in (lambda x: x, lambda x: efficient(x, c + shot * np.eye(FRAMES))):
        w = [weigh(x) for x in j]
        sums = np.array(some) @ np.array([x[upper] for x in w]).T
        told = covariance(w, c, g.astype(complex), b, shot, monitor) / PIXELS
        F = np.array([[np.sum(x[upper] * y[upper]) for y in j] for x in w])
        out.append(errors(told, F) / errors(np.cov(sums.T), F))
    return out


def main():
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    limit, bad = 4 / math.sqrt(2 * number) + 0.03, 0
    rng = np.random.default_rng(1)
    print("| frames divided by | decay | s2/b | least squares | efficient |\n|---|---|---|---|---|")
    for monitor in (False, True):
        for decay in (1, 4):
            for times in (0.5, 3):
                both = compare(decay, times, monitor, number, rng)
                bad += max(np.max(abs(np.log(x))) for x in both) > limit
                print(f"| {'a monitor' if monitor else 'their means'} | {decay} | {times:g} | " +
                      " | ".join(" ".join(f"{v:.2f}" for v in x) for x in both) + " |", flush=True)
    sys.exit(bool(bad))


main()
