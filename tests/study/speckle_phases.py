#!/usr/bin/env python3
"""What it costs that the noise of speckles is told with |g1|, where g1 changes its sign (shear) or is complex (flow).

    speckle_phases.py [few]        few: one period of each model, as a test

The fourth cumulants of fields are products of g around cycles of frames, those of the means around triangles: signs and
phases do not cancel there.  Programs know c2 = offset + b |g|^2 alone and take |g|.  Errors by both, of all terms of
                             the
covariance, are compared with dense matrices (40 frames), of least squares and of the efficient weights, for the models
laminar_theory (a sinc that changes its sign) and heterodyne (two components that flow against each other).

Printed: for each period, contrast and shot noise the least and largest ratio of errors told to true ones over the
parameters.  Exit status 1: a ratio below 0.94 or, of least squares and of efficient estimates with shot noise of the
contrast, above 1.06.
"""
import math
import sys

import numpy as np

import twotime

FRAMES = 40
LOGARITHM = ("D0", "gamma_dot_t0", "v0", "D0_ref", "D0_sample")
STATIC = {"D_offset": 0, "gamma_dot_t_offset": 0}


def half(a):
    return (a - np.diag(np.diag(a))) / 2


def covariance(weights, c, g, b, s2, monitor=False):
    """Of sums over s < t of weights times c2, times the number of speckles; g complex, c = b |g|^2.  Frames are divided
    by their means, which adds -C_st (delta_s + delta_t) to c2, delta the mean of d; monitor: not, which adds 1 times
    that."""
    n, p = len(c), [half(w) for w in weights]
    ct = c + s2 * np.eye(n)
    out = 2 * np.array([[np.sum((ct @ x @ ct) * y) for y in p] for x in p])
    square = [(x * g) @ g for x in p]
    out += 4 * b ** 3 * np.array([[np.trace(x @ y).real for y in square] for x in square])
    for s in range(n):
        for t in range(n):
            u, v = g[s] * g[:, t], g[t] * g[:, s]
            out += 2 * b ** 3 * np.outer([x[s, t] for x in p], [(u @ y @ v).real for y in p])
    sums = [2 * (x * c).sum(1) for x in p]  # third moments d_s d_t d_s have s2 C_st of photons
    e = [-2 * x.sum(1) for x in p] if monitor else sums
    third = [2 * b * b * np.einsum("ij,ji->i", g, y).real for y in square]  # sum of P_st g_st g_tu g_us
    for i, x in enumerate(p):
        near = (square[i] * g.T).real  # sum over t of P_st g_st g_tv g_vs
        for j, y in enumerate(p):
            out[i, j] += e[i] @ ct @ e[j] - e[j] @ third[i] - e[i] @ third[j]
            out[i, j] += s2 * (8 * b * b * np.sum(near * y) + 2 * s2 * np.sum(x * y * c) - e[i] @ sums[j]
                               - sums[i] @ e[j])
    return out


def efficient(x, ct):
    """Ct^-1 (x + diag d) Ct^-1 with the diagonal 0."""
    inverse = np.linalg.inv(ct)
    y = inverse @ half(x) @ inverse
    return 2 * (y - inverse @ np.diag(np.linalg.solve(inverse ** 2, np.diag(y))) @ inverse)


def derivatives(model, p, names, dt, angles, b):
    out = []
    for name in names:
        h = 1e-4 * (abs(p[name]) or 1)
        up, down = ({**p, name: p[name] + x} for x in (h, -h))
        d = [b * abs(twotime.fields(model, q, FRAMES, dt, angles)) ** 2 for q in (up, down)]
        out.append((d[0] - d[1]) / (2 * h) * (p[name] if name in LOGARITHM else 1))
    return out


def ratios(model, p, names, dt, angles, b, s2, weigh):
    """Errors with |g| over those with g, of the named parameters; contrast and offset of each angle are free."""
    g, d = twotime.fields(model, p, FRAMES, dt, angles), derivatives(model, p, names, dt, angles, b)
    n, own = len(names), 2 * len(angles)
    f, s = np.zeros((n + own, n + own)), np.zeros((2, n + own, n + own))
    for a, one in enumerate(g):
        c = b * abs(one) ** 2
        j = [x[a] for x in d] + [c / b, np.ones_like(c)]
        at = np.ix_(*[[*range(n), n + 2 * a, n + 2 * a + 1]] * 2)
        w = [weigh(x, c + s2 * np.eye(FRAMES)) for x in j]
        f[at] += [[np.sum(half(x) * y) for y in j] for x in w]
        for k, field in enumerate((abs(one), one)):
            s[k][at] += covariance(w, c, field.astype(complex), b, s2)
    h = np.linalg.inv(f)
    told, true = (np.sqrt(np.diag(h @ x @ h.T))[:n] for x in s)
    return told / true


def experiments(few):
    for decay in (4,) if few else (1, 4, 13):
        dt = decay / (twotime.Q ** 2 * 6000 * (FRAMES - 1))
        for times in (4,) if few else (1.5, 4):  # pi at the end of the measurement or of three decays
            flow = times * math.pi * max(decay, 3) / (twotime.Q * twotime.GAP) / (FRAMES * dt) ** 0.9
            yield (f"laminar_theory, {decay} decays, shear {times}", "theory",
                   {"D0": 6000, "alpha": 0, "gamma_dot_t0": flow, "beta": -0.1, "phi0": 2, **STATIC},
                   ["D0", "alpha", "gamma_dot_t0", "beta", "phi0"], dt, [-40, 0, 40, 90])
    for decay in (4,) if few else (4, 13):
        dt = decay / (twotime.Q ** 2 * 30000 * (FRAMES - 1))
        v = min(2 * decay / FRAMES, 1) / (twotime.Q * dt)
        yield (f"heterodyne, {decay} decays", "heterodyne",
               {"D0_ref": 6000, "D0_sample": 30000, "v0": v, "f3": 0.3, "phi0_het": 2},
               ["D0_ref", "D0_sample", "v0", "f3"], dt, [-4, 20, 75])


def main():
    bad = 0
    few = sys.argv[1:] == ["few"]
    print("| model | b | s2/b | least squares | efficient |\n|---|---|---|---|---|")
    for name, model, p, names, dt, angles in experiments(few):
        for b in (1 / 3,) if few else (1 / 3, 0.9):
            for shot in (1,) if few else (0.1, 1):
                plain, best = (ratios(model, p, names, dt, angles, b, shot * b, w)
                               for w in (lambda x, _: x, efficient))
                low = min(plain.min(), best.min())
                bad += low < 0.94 or plain.max() > 1.06 or (shot >= 1 and best.max() > 1.06)
                print(f"| {name} | {b:.2g} | {shot:g} | {plain.min():.3f} {plain.max():.3f} | "
                      f"{best.min():.3f} {best.max():.3f} |", flush=True)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
