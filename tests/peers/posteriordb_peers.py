"""Effective draws per gradient of other samplers on the problems of tests/data/posteriordb.

    python3 posteriordb_peers.py FOLDER OUT.json [--seed 1]      FOLDER: tests/data/posteriordb

The models as posteriordb writes them, in all their parameters (PyMC; a lower bound 0 through the logarithm; "flat"
is flat), sampled by nutpie and by NumPyro with 4 chains of 1000 + 1000 and their defaults.  Needs pymc, nutpie,
numpyro, arviz.  ess: least bulk effective size of all parameters of the reference (Vehtari et al. 2021, as
computed by arviz); gradients: leapfrog steps of the 4000 draws; of the warm-up where the sampler tells.
"""
import argparse
import csv
import json
import os
import platform

import arviz as az
import jax
import numpy as np
import nutpie
import numpyro
import pymc as pm
from pymc.sampling.jax import sample_numpyro_nuts

CHAINS, WARMUP, DRAWS = 4, 1000, 1000


def columns(folder, name):
    with open(os.path.join(folder, name + ".csv")) as f:
        rows = list(csv.DictReader(f))
    return {key: np.array([float(r[key]) for r in rows]) for key in rows[0]}


def linear(y, x, sigma, **beta):
    """y ~ normal(x beta, sigma); beta: sd, or nothing when flat."""
    b = pm.Normal("beta", 0, beta["sd"], shape=x.shape[1]) if beta else pm.Flat("beta", shape=x.shape[1])
    pm.Normal("y", pm.math.dot(x, b), sigma, observed=y)


def flat_positive():
    return pm.HalfFlat("sigma")


def eight_schools(d):
    tau, mu = pm.HalfCauchy("tau", 5), pm.Normal("mu", 0, 5)
    theta = pm.Deterministic("theta", mu + tau * pm.Normal("theta_trans", 0, 1, shape=8))
    pm.Normal("y", theta, d["sigma"], observed=d["effect"])


def kidscore(d):
    x = np.stack([np.ones_like(d["mom_iq"]), d["mom_hs"], d["mom_iq"]], 1)
    linear(d["kid_score"], x, pm.HalfCauchy("sigma", 2.5))


def blr(d):
    linear(d["y"], np.stack([d[f"x{k}"] for k in range(1, 6)], 1), pm.HalfNormal("sigma", 10), sd=10)


def kilpisjarvi(d):
    alpha, beta = pm.Normal("alpha", 9.31290322580645, 100), pm.Normal("beta", 0, 0.0333333333333333)
    pm.Normal("y", alpha + beta * d["x"], flat_positive(), observed=d["y"])


def logearn(d):
    x = np.stack([np.ones_like(d["male"]), d["height"], d["male"], d["height"] * d["male"]], 1)
    linear(d["log_earn"], x, flat_positive())


def mesquite(d):
    area, log = d["diam1"] * d["diam2"], np.log
    x = np.stack([np.ones_like(area), log(area * d["canopy_height"]), log(area), log(d["diam1"] / d["diam2"]),
                  log(d["total_height"]), log(d["density"]), d["group"]], 1)
    linear(d["log_weight"], x, flat_positive())


PROBLEMS = {"eight_schools": (eight_schools, ["theta", "mu", "tau"]), "kidscore_momhsiq": (kidscore, ["beta", "sigma"]),
            "blr": (blr, ["beta", "sigma"]), "kilpisjarvi": (kilpisjarvi, ["alpha", "beta", "sigma"]),
            "logearn_interaction": (logearn, ["beta", "sigma"]), "logmesquite_logvas": (mesquite, ["beta", "sigma"])}


def least_ess(posterior, names):
    ess = az.ess(posterior, var_names=names, method="bulk")
    return min(float(np.min(ess[name].values)) for name in names)


def by_nutpie(model, names, seed):
    trace = nutpie.sample(nutpie.compile_pymc_model(model), chains=CHAINS, tune=WARMUP, draws=DRAWS, seed=seed,
                          progress_bar=False, cores=1)
    stats, warm = trace.sample_stats, trace.warmup_sample_stats
    return {"ess": round(least_ess(trace, names), 1), "gradients": int(stats["n_steps"].sum()),
            "warmup_gradients": int(warm["n_steps"].sum()), "divergences": int(stats["diverging"].sum())}


def by_numpyro(model, names, seed):
    with model:
        trace = sample_numpyro_nuts(draws=DRAWS, tune=WARMUP, chains=CHAINS, random_seed=seed, progressbar=False,
                                    chain_method="vectorized", compute_convergence_checks=False)
    stats = trace.sample_stats
    return {"ess": round(least_ess(trace, names), 1), "gradients": int(stats["n_steps"].sum()),
            "divergences": int(stats["diverging"].sum())}


def main():
    a = argparse.ArgumentParser()
    a.add_argument("folder")
    a.add_argument("out")
    a.add_argument("--seed", type=int, default=1)
    o = a.parse_args()
    jax.config.update("jax_enable_x64", True)
    doc = {"what": "effective draws and gradients by tests/peers/posteriordb_peers.py",
           "chains": CHAINS, "warmup": WARMUP, "draws": DRAWS, "seed": o.seed,
           "versions": {"python": platform.python_version(), "nutpie": nutpie.__version__, "pymc": pm.__version__,
                        "numpyro": numpyro.__version__, "jax": jax.__version__, "arviz": az.__version__},
           "problems": {}}
    for name, (build, names) in PROBLEMS.items():
        with pm.Model() as model:
            build(columns(o.folder, name))
        doc["problems"][name] = {"nutpie": by_nutpie(model, names, o.seed), "numpyro": by_numpyro(model, names, o.seed)}
        for sampler, r in doc["problems"][name].items():
            print(f"{name:20s} {sampler:8s} ess {r['ess']:7.1f}  gradients {r['gradients']:7d}"
                  f"  {r['ess'] / r['gradients']:.4f} per gradient", flush=True)
        with open(o.out, "w") as f:
            json.dump(doc, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
