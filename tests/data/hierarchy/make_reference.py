#!/usr/bin/env python3
"""Contrasts of six angles drawn together, in fits with a robust loss: what a dense computation makes of them.

Writes pairs.csv (two-time correlation at rest with outliers) and reference.json beside itself.  Needs numpy and
scipy; the test (tests/e2e/test_robust.c) reads only what it wrote.

With known sigma, r = (data - model) / sigma, and the loss f^2 rho((r / f)^2) / 2 summed to F:
1. minimum of F over all parameters (scipy.optimize.least_squares with the loss, then Newton steps);
2. its covariance V = h (J^T J)^-1,  h = sum psi^2 / (n - p) / kappa^2,  kappa = mean of psi'  (Huber 1981, 7.6);
3. tau, the standard deviation of the contrasts' population, by restricted maximum likelihood with their part of V
   (Patterson & Thompson 1971), here by a bounded scalar minimisation with dense matrices;
4. minimum of F + h kappa / (2 tau^2) sum (c - mean of c)^2: near a minimum F rises by kappa / 2 d^T J^T J d, so that
   h kappa turns it into minus the logarithm of a density with the covariance V;
5. its covariance h (J^T J + w P / kappa)^-1,  w the weight of the term, P = 1 - 1 1^T / n on the contrasts,
   h and kappa at this minimum.
"""
import json
import os

import numpy as np
import scipy
from scipy.optimize import least_squares, minimize_scalar

here = os.path.dirname(os.path.abspath(__file__))
FRAMES, ANGLES, SIGMA = 20, 6, 0.01
N = 2 + 2 * ANGLES  # D0, alpha, contrasts, offsets
C = slice(2, 2 + ANGLES)


def model(p, at):
    i, j, g = at
    t = 0.1 * np.arange(1, FRAMES + 1)
    d = p[0] * t ** p[1]
    integral = np.concatenate([[0 * p[0]], np.cumsum(0.05 * (d[1:] + d[:-1]))])
    return p[2 + ANGLES + g] + p[2 + g] * np.exp(-(0.0054**2) * (integral[j] - integral[i]))


def jacobian(p, at):
    columns = []
    for k in range(N):
        q = np.array(p, dtype=complex)
        q[k] += 1e-30j
        columns.append(model(q, at).imag / 1e-30)
    return np.stack(columns, 1) / SIGMA


def slopes(loss, z):
    """rho' and rho' + 2 z rho''."""
    if loss == "soft_l1":
        s = (1 + z) ** -0.5
        return s, s**3
    if loss == "huber":
        return np.where(z <= 1, 1, np.maximum(z, 1) ** -0.5), np.where(z <= 1, 1.0, 0.0)
    return 1 / (1 + z), (1 - z) / (1 + z) ** 2  # cauchy


PULL = np.zeros((N, N))
PULL[C, C] = np.eye(ANGLES) - 1 / ANGLES


def gradient(p, at, y, loss, f, weight):
    r = (y - model(p, at)) / SIGMA
    return -jacobian(p, at).T @ (slopes(loss, (r / f) ** 2)[0] * r) + weight * PULL @ p


def minimum(p, at, y, loss, f, weight):
    """Newton steps, the Hessian by differences of the exact gradient."""
    for _ in range(60):
        H = np.empty((N, N))
        for k in range(N):
            step = np.zeros(N)
            step[k] = 1e-6 * abs(p[k])
            H[k] = (gradient(p + step, at, y, loss, f, weight) - gradient(p - step, at, y, loss, f, weight)) / (
                2 * step[k])
        H = 0.5 * (H + H.T)
        d = np.sqrt(np.abs(np.diag(H)))
        move = np.linalg.solve(H / np.outer(d, d), gradient(p, at, y, loss, f, weight) / d) / d
        p = p - move
        if np.max(np.abs(move / p)) < 1e-13:
            break
    assert np.linalg.eigvalsh(H / np.outer(d, d)).min() > 0
    return p


def sandwich(p, at, y, loss, f):
    r = (y - model(p, at)) / SIGMA
    slope, curve = slopes(loss, (r / f) ** 2)
    kappa = curve.mean()
    return np.sum((slope * r) ** 2) / (r.size - N) / kappa**2, kappa


def reml(c, V):
    one = np.ones(c.size)

    def deviance(log_variance):
        S = V + np.exp(log_variance) * np.eye(c.size)
        inverse = np.linalg.inv(S)
        m = one @ inverse @ c / (one @ inverse @ one)
        return np.linalg.slogdet(S)[1] + np.log(one @ inverse @ one) + (c - m) @ inverse @ (c - m)

    best = minimize_scalar(deviance, bounds=(np.log(1e-8), np.log(1e-1)), method="bounded",
                           options={"xatol": 1e-12})
    assert best.fun < deviance(np.log(1e-12))
    return np.sqrt(np.exp(best.x))


def main():
    rng = np.random.default_rng(20251121)
    i, j = np.triu_indices(FRAMES, 1)
    at = (np.tile(i, ANGLES), np.tile(j, ANGLES), np.repeat(np.arange(ANGLES), i.size))
    truth = np.concatenate([[9000.0, -0.35], 0.3 + 0.012 * rng.standard_normal(ANGLES),
                            1 + 0.01 * rng.standard_normal(ANGLES)])
    y = model(truth, at) + SIGMA * rng.standard_normal(at[0].size)
    y[3::11] -= 0.08 * rng.exponential(size=y[3::11].size)
    y = np.round(y, 8)
    np.savetxt(os.path.join(here, "pairs.csv"), np.stack([*at, y], 1), fmt=["%d", "%d", "%d", "%.8f"],
               delimiter=",", header="i,j,angle,c2", comments="")
    runs = []
    for loss, f in (("soft_l1", 1.0), ("huber", 1.345), ("cauchy", 2.5)):
        fit = least_squares(lambda p: (model(p, at) - y) / SIGMA, truth, jac=lambda p: jacobian(p, at), loss=loss,
                            f_scale=f, x_scale="jac", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=2000)
        own = minimum(fit.x, at, y, loss, f, 0)
        h, kappa = sandwich(own, at, y, loss, f)
        J = jacobian(own, at)
        V = h * np.linalg.inv(J.T @ J)
        tau = reml(own[C], V[C, C])
        p = minimum(own, at, y, loss, f, h * kappa / tau**2)
        h_end, kappa_end = sandwich(p, at, y, loss, f)
        J = jacobian(p, at)
        std = np.sqrt(h_end * np.diag(np.linalg.inv(J.T @ J + h * kappa / kappa_end / tau**2 * PULL)))
        print(f"{loss:8s} {f}: scipy's moved by {np.max(np.abs(own / fit.x - 1)):.1e}, tau {tau:.6f}, contrasts spread "
              f"{own[C].std(ddof=1):.6f}, drawn together {p[C].std(ddof=1):.6f}")
        runs.append({"loss": loss, "f_scale": f, "tau": tau, "parameters": list(p), "std": list(std)})
    with open(os.path.join(here, "reference.json"), "w") as out:
        json.dump({"scipy": scipy.__version__, "sigma": SIGMA, "runs": runs}, out, indent=1)
        out.write("\n")


main()
