#!/usr/bin/env python3
"""Data with outliers, and what scipy.optimize.least_squares makes of them with each robust loss.

Writes decay.csv (a table: stretched exponential), pairs.csv (two-time correlation at rest, two angles)
and reference.json beside itself.  Needs numpy and scipy; the tests read only what it wrote.

Residuals are (data - model)/sigma, so that scipy's f_scale is in standard deviations.  scipy stops when
the cost falls no more, at half of the digits; Newton steps on the robust cost with numerical derivatives
of its gradient (complex step for the model) follow, so that parameters are good to 1e-10.  How far they
moved is printed: it must be what scipy's tolerance leaves.
"""
import json
import os

import numpy as np
import scipy
from scipy.optimize import least_squares

here = os.path.dirname(os.path.abspath(__file__))
LOSSES = ("linear", "soft_l1", "huber", "cauchy", "arctan")
F_SCALES = (1.0, 2.5)


def kww(p, x):
    tau, beta, contrast, baseline = p
    return baseline + contrast * np.exp(-2 * (x / tau) ** beta)


def static(p, at):
    """D0, alpha, contrast and offset of two angles; at: i, j, angle."""
    d0, alpha, c0, c1, o0, o1 = p
    i, j, g = at
    t = 0.1 * np.arange(1, 25)
    d = d0 * t**alpha
    integral = np.concatenate([[0 * d0], np.cumsum(0.05 * (d[1:] + d[:-1]))])
    decay = np.exp(-(0.0054**2) * (integral[j] - integral[i]))
    return np.where(g == 0, o0, o1) + np.where(g == 0, c0, c1) * decay


def jacobian(model, p, x):
    """By complex steps: exact to rounding."""
    columns = []
    for k in range(len(p)):
        q = np.array(p, dtype=complex)
        q[k] += 1e-30j
        columns.append(model(q, x).imag / 1e-30)
    return np.stack(columns, 1)


def slopes(loss, z):
    """rho' and rho' + 2 z rho''."""
    if loss == "linear":
        return np.ones_like(z), np.ones_like(z)
    if loss == "soft_l1":
        s = (1 + z) ** -0.5
        return s, s**3
    if loss == "huber":
        return np.where(z <= 1, 1, np.maximum(z, 1) ** -0.5), np.where(z <= 1, 1.0, 0.0)
    if loss == "cauchy":
        return 1 / (1 + z), (1 - z) / (1 + z) ** 2
    return 1 / (1 + z * z), (1 - 3 * z * z) / (1 + z * z) ** 2


def gradient(model, p, x, y, sigma, loss, f):
    r = (y - model(p, x)) / sigma
    J = jacobian(model, p, x) / sigma
    return -J.T @ (slopes(loss, (r / f) ** 2)[0] * r)


def newton(model, p, x, y, sigma, loss, f):
    """With the whole Hessian, by differences of the exact gradient."""
    for _ in range(6):
        n, h = len(p), 1e-6 * np.abs(p)
        H = np.empty((n, n))
        for k in range(n):
            step = np.zeros(n)
            step[k] = h[k]
            H[k] = (gradient(model, p + step, x, y, sigma, loss, f)
                    - gradient(model, p - step, x, y, sigma, loss, f)) / (2 * h[k])
        H = 0.5 * (H + H.T)
        d = np.sqrt(np.abs(np.diag(H)))
        p = p - np.linalg.solve(H / np.outer(d, d), gradient(model, p, x, y, sigma, loss, f) / d) / d
    assert np.linalg.eigvalsh(H / np.outer(d, d)).min() > 0
    return p


def cost_of(model, p, x, y, sigma, loss, f):
    z = ((y - model(p, x)) / sigma / f) ** 2
    rho = {"linear": lambda: z, "soft_l1": lambda: 2 * (np.sqrt(1 + z) - 1),
           "huber": lambda: np.where(z <= 1, z, 2 * np.sqrt(z) - 1),
           "cauchy": lambda: np.log1p(z), "arctan": lambda: np.arctan(z)}[loss]()
    return 0.5 * f * f * rho.sum()


def solve(name, model, names, truth, x, y, sigma):
    runs = []
    start = np.array(truth) * 1.05
    for loss in LOSSES:
        for f in F_SCALES if loss != "linear" else (1.0,):
            fit = least_squares(lambda p: (model(p, x) - y) / sigma, start,
                                jac=lambda p: jacobian(model, p, x) / sigma, loss=loss, f_scale=f,
                                x_scale="jac", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=2000)
            p = newton(model, fit.x, x, y, sigma, loss, f)
            cost = cost_of(model, p, x, y, sigma, loss, f)
            print(f"{name:6s} {loss:8s} {f}: scipy {fit.nfev} evaluations, moved by "
                  f"{np.max(np.abs(p / fit.x - 1)):.1e}, cost {cost:.12g} ({fit.cost / cost - 1:.1e})")
            assert np.max(np.abs(p / fit.x - 1)) < 1e-6 and abs(fit.cost / cost - 1) < 1e-10
            if loss == "linear":
                start = p  # of the others: far outliers give cauchy and arctan many minima
            runs.append({"loss": loss, "f_scale": f, "cost": cost, "parameters": list(p)})
    return {"sigma": sigma, "names": names, "runs": runs}


def main():
    rng = np.random.default_rng(20240607)
    x = np.round(1e-3 * 1.12 ** np.arange(80), 9)
    truth = (0.35, 0.8, 0.22, 1.03)
    y = kww(truth, x) + 0.004 * rng.standard_normal(x.size)
    y[5::9] += 0.05 * rng.exponential(size=y[5::9].size)
    y = np.round(y, 8)
    np.savetxt(os.path.join(here, "decay.csv"), np.stack([x, y], 1), fmt=["%.9f", "%.8f"],
               delimiter=",", header="delay,g2", comments="")

    i, j = np.triu_indices(24, 1)
    at = (np.tile(i, 2), np.tile(j, 2), np.repeat([0, 1], i.size))
    still = (9000.0, -0.35, 0.28, 0.31, 1.01, 0.99)
    c2 = static(still, at) + 0.01 * rng.standard_normal(at[0].size)
    c2[3::11] -= 0.08 * rng.exponential(size=c2[3::11].size)
    c2 = np.round(c2, 8)
    np.savetxt(os.path.join(here, "pairs.csv"), np.stack([*at, c2], 1), fmt=["%d", "%d", "%d", "%.8f"],
               delimiter=",", header="i,j,angle,c2", comments="")

    out = {"scipy": scipy.__version__,
           "decay": solve("decay", kww, ["tau", "beta", "contrast", "baseline"], truth, x, y, 0.004),
           "pairs": solve("pairs", static, ["D0", "alpha", "contrast[0]", "contrast[1]", "offset[0]",
                                            "offset[1]"], still, at, c2, 0.01)}
    with open(os.path.join(here, "reference.json"), "w") as f:
        json.dump(out, f, indent=1)
        f.write("\n")


main()
