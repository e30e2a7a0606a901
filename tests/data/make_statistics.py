#!/usr/bin/env python3
"""Reference numbers for the statistics of posterior draws: tests/unit/reference_statistics.h.

Draws and log weights are made here, rounded to six digits, and written with what ArviZ (0.23) and
SciPy make of them.  Run it in an environment with arviz, numpy and scipy:

    python3 tests/data/make_statistics.py > tests/unit/reference_statistics.h
"""
import warnings

import numpy as np

warnings.simplefilter("ignore")
import arviz as az  # noqa: E402
import scipy  # noqa: E402
from arviz.stats import diagnostics as dg  # noqa: E402
from arviz.stats.stats_utils import quantile  # noqa: E402

rng = np.random.default_rng(20240711)


def short(x):
    return np.array([float("%.6g" % v) for v in np.ravel(x)]).reshape(np.shape(x))


def ar1(chains, draws, phi):
    x = np.empty((chains, draws))
    x[:, 0] = rng.normal(size=chains)
    for i in range(1, draws):
        x[:, i] = phi * x[:, i - 1] + np.sqrt(1 - phi * phi) * rng.normal(size=chains)
    return x


def doubles(name, values):
    text = ", ".join("%.17g" % v if np.isfinite(v) else
                     ("NAN" if np.isnan(v) else ("INFINITY" if v > 0 else "-INFINITY"))
                     for v in np.ravel(values))
    print("static const double %s[] = {" % name)
    line = "   "
    for word in text.split(", "):
        if len(line) + len(word) + 2 > 98:
            print(line)
            line = "   "
        line += " " + word + ","
    print(line.rstrip(",") + "};\n")


def r_hat(x):  # as az.rhat, and also for one chain
    split = dg._split_chains(x)
    return max(dg._rhat(dg._z_scale(split)), dg._rhat(dg._z_scale(abs(split - np.median(split)))))


CASES = {
    "ar": ar1(4, 100, 0.5),
    "shifted": rng.standard_t(1.5, size=(3, 51)) + np.array([[0.0], [0.5], [2.0]]),
    "ties": np.round(2 * ar1(2, 40, 0.3)),
    "anti": 100 + 0.1 * ar1(1, 80, -0.6),
    "slow": np.exp(ar1(4, 60, 0.95)),
    "tiny": rng.normal(size=(2, 9)),
}
PROBABILITIES = [0.025, 0.16, 0.5, 0.9]

print("/* reference_statistics.h -- draws, weights and what ArviZ %s and SciPy %s say of them." %
      (az.__version__, scipy.__version__))
print(" * Made by tests/data/make_statistics.py. */")
print("#ifndef REFERENCE_STATISTICS_H\n#define REFERENCE_STATISTICS_H\n")
print("#include <math.h>\n#include <stddef.h>\n")

rows = []
for name, x in CASES.items():
    x = short(x)
    doubles("draws_" + name, x)
    got = [np.mean(x), np.std(x, ddof=1), r_hat(x), dg._ess_bulk(x), dg._ess_tail(x),
           dg._ess_mean(x), dg._mcse_mean(x), dg._mcse_sd(x)]
    if x.shape[0] > 1:
        assert got[2] == az.rhat(x)
    got.append(az.bfmi(x)[0])
    for p in PROBABILITIES:
        got += [quantile(x.ravel(), p)[0], dg._ess_quantile(x, p), dg._mcse_quantile(x, p)]
    rows.append((name, x.shape, got))
doubles("probabilities", PROBABILITIES)
print("/* mean, sd, r_hat, bulk, tail, mean ESS, MCSE of mean and sd; BFMI of the first chain as\n"
      " * energies; then value, ESS and MCSE of the quantiles. */")
print("static const struct {\n    const char *name;\n    const double *x;\n    size_t chains, draws;\n"
      "    double want[%d];\n} statistics[] = {" % len(rows[0][2]))
for name, shape, got in rows:
    print('    {"%s", draws_%s, %d, %d,\n     {%s}},' % (
        name, name, shape[0], shape[1],
        ",\n      ".join("%.17g" % v for v in got)))
print("};\n")

WEIGHTS = {
    "heavy": 1.2 * rng.exponential(size=120),
    "medium": 0.4 * rng.exponential(size=60) - 800,
    "bounded": -rng.uniform(size=100) ** 2,
    "normal": rng.normal(size=200) * 0.7 + 5,
    "tied": np.round(rng.exponential(size=80), 1),
    "few": rng.normal(size=20),
}
rows = []
for name, lw in WEIGHTS.items():
    lw = short(lw)
    smooth, k = az.psislw(lw)
    doubles("weights_" + name, lw)
    doubles("smooth_" + name, smooth)
    rows.append((name, len(lw), float(k)))
print("static const struct {\n    const char *name;\n    size_t n;\n    const double *lw, *smooth;\n"
      "    double k;\n} weights[] = {")
for name, n, k in rows:
    print('    {"%s", %d, weights_%s, smooth_%s, %s},' % (
        name, n, name, name, "%.17g" % k if np.isfinite(k) else "INFINITY"))
print("};\n")

p = np.array([1e-300, 1e-20, 1e-9, 1e-4, 0.02, 0.07, 0.074, 0.3, 0.5, 0.6, 0.925, 0.93, 0.999, 1 - 1e-12])
doubles("normal_p", p)
doubles("normal_x", scipy.stats.norm.ppf(p))
grid = [(a, b, q) for a, b in [(0.5, 0.5), (3, 7), (1.2, 400), (200, 1800), (5e4, 5e4), (1, 1e5)]
        for q in (0.01, 0.1586553, 0.5, 0.8413447)]
doubles("beta_a", [g[0] for g in grid])
doubles("beta_b", [g[1] for g in grid])
doubles("beta_p", [g[2] for g in grid])
doubles("beta_x", [scipy.stats.beta.ppf(q, a, b) for a, b, q in grid])
print("#endif")
