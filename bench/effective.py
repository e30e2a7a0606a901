#!/usr/bin/env python3
"""Effective draws a second beside nutpie (PyMC models, numba), of two posteriors of posteriordb whose likelihood goes
from row to row: hudson_lynx_hare-lotka_volterra (a differential equation) and arma-arma11 (a recurrence).

    VENV/bin/python bench/effective.py BINDIR [SEED ..]      VENV: pip install nutpie pymc numba arviz

Four chains of 1000 + 1000 draws for each seed, one after the other, on one thread.  Effective draws are those of arviz
(bulk, the least of all parameters); seconds are of the processor: of ours of the whole process from the configuration
to written results, with a kernel that is compiled already; of nutpie of its sampling alone, and once more with its
compilation.  Means are compared, in standard errors of the two.  Chains that do not agree (R-hat above 1.05) have no
rate.

nutpie's differential equation is solved by Runge-Kutta's steps of order 4, eight for each year (Stan's own model asks
for an error of 1e-5), in a pytensor scan; ours by DOP853 with derivatives, to 1e-13.
"""
import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings

warnings.simplefilter("ignore")
os.environ.setdefault("OMP_NUM_THREADS", "1")
import arviz as az
import numpy as np
import nutpie
import pymc as pm
import pytensor
import pytensor.tensor as pt

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "tests", "data", "posteriordb")
MODELS = os.path.join(HERE, "..", "models")
CHAINS, WARMUP, DRAWS = 4, 1000, 1000


def column(name, key):
    with open(os.path.join(DATA, name + ".csv"), encoding="utf-8") as f:
        return np.array([float(row[key]) for row in csv.DictReader(f)])


def arma():
    y = column("arma11", "y")
    with pm.Model() as model:
        mu, phi, theta = pm.Normal("mu", 0, 10), pm.Normal("phi", 0, 2), pm.Normal("theta", 0, 2)
        sigma = pm.HalfCauchy("sigma", 2.5)
        first = y[0] - (mu + phi * mu)
        rest, _ = pytensor.scan(lambda now, last, e, mu, phi, theta: now - (mu + phi * last + theta * e),
                                sequences=[pt.as_tensor(y[1:]), pt.as_tensor(y[:-1])], outputs_info=[first],
                                non_sequences=[mu, phi, theta], strict=True)
        pm.Potential("likelihood", pm.logp(pm.Normal.dist(0, sigma), pt.concatenate([[first], rest])).sum())
    return model


def volterra(steps=8):
    pelts, kind = column("lotka_volterra", "pelts"), column("lotka_volterra", "kind")
    counted = np.stack([pelts[kind == 0], pelts[kind == 1]], axis=1)
    with pm.Model() as model:
        rates = [pm.TruncatedNormal(name, mean, sd, lower=0) for name, mean, sd in
                 (("a", 1, 0.5), ("b", 0.05, 0.05), ("c", 1, 0.5), ("d", 0.05, 0.05))]
        begin = [pm.LogNormal(name, np.log(10), 1) for name in ("u0", "v0")]
        errors = [pm.LogNormal(name, -1, 1) for name in ("su", "sv")]

        def slope(u, v, a, b, c, d):
            return (a - b * v) * u, (-c + d * u) * v

        def year(u, v, *p):
            h = 1.0 / steps
            for _ in range(steps):
                k = slope(u, v, *p)
                m = slope(u + h / 2 * k[0], v + h / 2 * k[1], *p)
                n = slope(u + h / 2 * m[0], v + h / 2 * m[1], *p)
                o = slope(u + h * n[0], v + h * n[1], *p)
                u, v = (x + h / 6 * (k[i] + 2 * m[i] + 2 * n[i] + o[i]) for i, x in enumerate((u, v)))
            return u, v

        (u, v), _ = pytensor.scan(year, outputs_info=begin, non_sequences=rates, n_steps=len(counted) - 1, strict=True)
        states = [pt.concatenate([[x], rest]) for x, rest in zip(begin, (u, v))]
        for i, name in enumerate(("prey", "predators")):
            pm.Potential(name, pm.logp(pm.Normal.dist(pt.log(states[i]), errors[i]), np.log(counted[:, i])).sum())
    return model


def least_effective(posterior, names):
    return min(float(az.ess(posterior, var_names=[n])[n]) for n in names)


def of_nutpie(compiled, seed):
    start = time.process_time()
    trace = nutpie.sample(compiled, chains=CHAINS, tune=WARMUP, draws=DRAWS, cores=1, seed=seed, progress_bar=False)
    return trace, time.process_time() - start


def of_ours(binary, model, data, seed):
    with tempfile.TemporaryDirectory() as folder:
        command = [os.path.join(binary, "homodyne"), "fit", "--model", model, "--data", data, "-o", folder + "/out",
                   "--method", "nuts", "--chains", str(CHAINS), "--n-warmup", str(WARMUP), "--n-samples", str(DRAWS),
                   "--threads", "1", "--seed", str(seed), "--quiet"]
        subprocess.run([os.path.join(binary, "homodyne"), "compile", model], check=True, capture_output=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code = subprocess.run(command, check=False, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if code.returncode not in (0, 2):
            sys.exit(code.stderr)
        trace = az.from_netcdf(folder + "/out/posterior.nc")
        trace.posterior.load(), trace.sample_stats.load()
    return trace, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def tell(who, trace, names, seconds):
    """A line; the rate, NaN where the chains do not agree."""
    ess = least_effective(trace.posterior, names)
    apart = max(float(az.rhat(trace.posterior, var_names=[n])[n]) for n in names)
    rate = ess / seconds if apart < 1.05 else float("nan")
    print(f"{who:<9} {ess:9.0f} {seconds:8.2f} {rate:9.0f}   divergences {int(trace.sample_stats.diverging.sum())}, "
          f"R-hat {apart:.3f}", flush=True)
    return rate


def main():
    problems = (("arma11", arma, "posteriordb/arma11.lua", ("mu", "phi", "theta", "sigma")),
                ("lotka_volterra", volterra, "lotka_volterra.lua", ("a", "b", "c", "d", "u0", "v0", "su", "sv")))
    seeds = [int(s) for s in sys.argv[2:]] or [1, 2, 3]
    for name, model, file, names in problems:
        data = os.path.join(DATA, name + ".csv")
        start = time.process_time()
        compiled = nutpie.compile_pymc_model(model())
        print(f"{name}; nutpie compiles for {time.process_time() - start:.1f} s\n"
              f"{'':<9} {'effective':>9} {'seconds':>8} {'a second':>9}")
        rates = []
        for seed in seeds:
            ours, seconds = of_ours(sys.argv[1], os.path.join(MODELS, file), data, seed)
            own = tell("ours", ours, names, seconds)
            theirs, seconds = of_nutpie(compiled, seed)
            rates.append((own, tell("nutpie", theirs, names, seconds)))
            apart = max(abs(float(ours.posterior[n].mean() - theirs.posterior[n].mean())) /
                        np.hypot(*(float(az.mcse(t.posterior, var_names=[n])[n]) for t in (ours, theirs)))
                        for n in names)
            print(f"{'':<9} means at most {apart:.1f} standard errors apart", flush=True)
        own, other = np.nanmean(np.array(rates), axis=0)
        print(f"{'mean':<9} ours {own:.0f}, nutpie {other:.0f}, ratio {own / other:.1f}", flush=True)


if __name__ == "__main__":
    main()
