"""Posterior moments of homodyne's statistical model by NumPyro, as a reference for the sampler of this project.

    python3 numpyro_reference.py DATA.h5 OUT.json [--draws 2000] [--warmup 500] [--chains 4] [--seed 1]
    python3 numpyro_reference.py DATA.h5 OUT.json --package

Written from the formulas of the model; needs numpyro, jax and h5py.  For every angle a, frames i != j, the first
frame left out, both triangles as independent data (N values):

    y ~ Normal(offset_a + contrast_a g1^2, sigma),       sigma ~ HalfNormal(1.5 * 1.4826 * median |y - median y|)
    g1 = exp(-q^2 dt/2 S(D)) sinc(q gap dt/(2 pi) cos(phi0 - phi_a) S(shear))^2,     floored at 1e-10
    S(f) = sqrt((F_j - F_i)^2 + 1e-12),  F the running trapezoidal sum of f in steps of 1
    D = D0 t^alpha + D_offset,  shear = gamma_dot_t0 t^beta + gamma_dot_t_offset,  floored at 1e-10; t >= dt/2

Every parameter but sigma is a function of a standard normal z, with the middle m and half width h of its bounds:

    value = m + h tanh((mean + s z - m) / h),     s = max(sd, h / 5)

The mirrored values equal each other, so a sum over one triangle counts twice; that this is the density of the
full list is checked at one point.

With --package nothing is sampled: the density above is compared with that of the package's own function (homodyne,
which must be installed) at points of the prior and around the truth, and the largest difference is put into OUT.json.
"""
import argparse
import json
import platform
import time

import h5py
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.flatten_util import ravel_pytree
from numpyro.diagnostics import effective_sample_size, split_gelman_rubin
from numpyro.infer import MCMC, NUTS
from numpyro.infer.util import log_density, potential_energy

# lower, upper, mean, sd: the packages' own table; the order is that of the sites
PARAMETERS = {
    "D0": (100, 1e5, 1000, 1000), "alpha": (-2, 2, 0.5, 0.5), "D_offset": (-1e5, 1e5, 10, 200),
    "gamma_dot_t0": (1e-6, 0.5, 0.01, 0.1), "beta": (-2, 2, 0, 0.5), "gamma_dot_t_offset": (-0.1, 0.1, 0, 0.02),
    "phi0": (-10, 10, 0, 5),
}
LINEAR = {"contrast": (0, 1, 0.5, 0.25), "offset": (0.5, 1.5, 1, 0.25)}


def read(path):
    """Settings, truth, and values of one triangle without the first frame: pairs (n), y (angles, n)."""
    with h5py.File(path) as f:
        sim = f["entry/simulation"]
        x = {name: float(sim[name][()]) for name in (*PARAMETERS, "q", "gap", "sigma")}
        x |= {name: sim[name][()] for name in LINEAR}
        x["dt"] = float(f["entry/instrument/detector_1/frame_time"][()])
        x["phi"] = f["xpcs/qmap/dynamic_v_list_dim1"][()]
        maps = f["xpcs/twotime/correlation_map"]
        c2 = np.stack([maps[name][()] for name in sorted(maps)]).astype(float)
    x["frames"] = c2.shape[1]
    x["i"], x["j"] = (k + 1 for k in np.triu_indices(x["frames"] - 1, 1))
    x["y"] = c2[:, x["i"], x["j"]]
    return x


def value_of(z, lower, upper, mean, sd):
    half, middle = (upper - lower) / 2, (upper + lower) / 2
    return middle + half * jnp.tanh((mean + max(sd, half / 5) * z - middle) / half)


def z_of(value, lower, upper, mean, sd):
    half, middle = (upper - lower) / 2, (upper + lower) / 2
    return (middle + half * np.arctanh((value - middle) / half) - mean) / max(sd, half / 5)


def smooth_difference(rate, i, j):
    total = jnp.concatenate([jnp.zeros(1), jnp.cumsum(0.5 * (rate[1:] + rate[:-1]))])
    return jnp.sqrt((total[j] - total[i]) ** 2 + 1e-12)


def floored(x):
    return jnp.where(x > 1e-10, x, 1e-10)


def sinc(x):
    small = jnp.abs(x) < 1e-4
    safe = jnp.where(small, 1.0, x)
    return jnp.where(small, 1 - x**2 / 6 + x**4 / 120, jnp.sin(safe) / safe)


def g1(x, p, i, j):
    """(angles, pairs)"""
    t = jnp.maximum(x["dt"] * jnp.arange(x["frames"]), x["dt"] / 2)
    diffusion = smooth_difference(floored(p["D0"] * t ** p["alpha"] + p["D_offset"]), i, j)
    shear = smooth_difference(floored(p["gamma_dot_t0"] * t ** p["beta"] + p["gamma_dot_t_offset"]), i, j)
    factor = x["q"] * x["gap"] * x["dt"] / (2 * jnp.pi) * jnp.cos(jnp.deg2rad(p["phi0"] - x["phi"]))
    decay = jnp.exp(jnp.clip(-0.5 * x["q"] ** 2 * x["dt"] * diffusion, -700, 0))
    return floored(decay * sinc(factor[:, None] * shear) ** 2)


def noise_scale(y):
    return max(1.4826 * float(np.median(np.abs(y - np.median(y)))), 1e-3)


def model(x, twice):
    """twice: one triangle that counts twice, else the list of both."""
    n = len(x["phi"])

    def site(name, numbers):
        return numpyro.deterministic(name, value_of(numpyro.sample(name + "_z", dist.Normal(0, 1)), *numbers))

    lin = {name: jnp.stack([site(f"{name}[{a}]", LINEAR[name]) for a in range(n)]) for name in LINEAR}
    p = {name: site(name, numbers) for name, numbers in PARAMETERS.items()}
    sigma = numpyro.sample("sigma", dist.HalfNormal(1.5 * noise_scale(x["y"])))
    i, j, y = x["i"], x["j"], x["y"]
    if not twice:
        i, j, y = np.concatenate([i, j]), np.concatenate([j, i]), np.concatenate([y, y], 1)
    mean = lin["offset"][:, None] + lin["contrast"][:, None] * g1(x, p, i, j) ** 2
    with numpyro.handlers.scale(scale=2.0 if twice else 1.0):
        numpyro.sample("y", dist.Normal(mean, sigma).to_event(2), obs=y)


def start(x):
    """Sites at the truth of the simulation."""
    z = {f"{name}_z": float(z_of(x[name], *numbers)) for name, numbers in PARAMETERS.items()}
    for name, numbers in LINEAR.items():
        z |= {f"{name}[{a}]_z": float(z_of(v, *numbers)) for a, v in enumerate(x[name])}
    return z | {"sigma": x["sigma"]}


def mode_of(function, arguments, init, steps=8):
    """Mode in unconstrained coordinates by Newton's method, and the inverse Hessian there."""
    at, unravel = ravel_pytree({k: jnp.asarray(v, float) for k, v in init.items()})
    energy = lambda u: potential_energy(function, arguments, {}, unravel(u))
    slope, bend = jax.jit(jax.grad(energy)), jax.jit(jax.hessian(energy))
    for _ in range(steps):
        at = at - jnp.linalg.solve(bend(at), slope(at))
    return at, jnp.linalg.inv(bend(at)), unravel


def sample(function, arguments, init, o):
    """Draws of all chains by name; the chains start around the mode, twice as wide as the posterior, with the inverse
    Hessian as their first metric, which they adapt."""
    mode, covariance, unravel = mode_of(function, arguments, init)
    xi = np.random.default_rng(o.seed).standard_normal((o.chains, mode.size))
    start = jax.vmap(unravel)(mode + 2 * jnp.asarray(xi) @ jnp.linalg.cholesky(covariance).T)
    kernel = NUTS(function, dense_mass=True, target_accept_prob=0.9, inverse_mass_matrix=covariance)
    mcmc = MCMC(kernel, num_warmup=o.warmup, num_samples=o.draws, num_chains=o.chains,
                chain_method="parallel", progress_bar=False)
    begin = time.time()
    mcmc.run(jax.random.PRNGKey(o.seed), *arguments, init_params=start,
             extra_fields=("num_steps", "diverging"))
    extra = mcmc.get_extra_fields()
    return mcmc.get_samples(group_by_chain=True), {
        "chains": o.chains, "warmup": o.warmup, "draws": o.draws, "seed": o.seed,
        "seconds": round(time.time() - begin), "divergences": int(extra["diverging"].sum()),
        "gradients_of_draws": int(extra["num_steps"].sum())}


def moments(draws):
    out = {}
    for name, v in draws.items():
        v = np.asarray(v)
        if name.endswith("_z") or v.ndim != 2:
            continue
        out[name] = {"mean": float(v.mean()), "sd": float(v.std(ddof=1)),
                     "ess": round(float(effective_sample_size(v))), "r_hat": round(float(split_gelman_rubin(v)), 5)}
    return out


def write(path, doc):
    with open(path, "w") as f:
        json.dump(doc, f, indent=1)
        f.write("\n")


def show(title, m, run):
    print(title, run)
    for name, v in m.items():
        print(f"  {name:20s} {v['mean']:14.7g} +- {v['sd']:<12.5g} ess {v['ess']:6d}  r_hat {v['r_hat']:.4f}")


def package_model(x):
    """homodyne's function with its arguments, for both triangles; all sites in z."""
    from homodyne.config.parameter_space import ParameterSpace
    from homodyne.optimization.cmc.model import xpcs_model_scaled
    bounds = [{"name": name, "min": lo, "max": hi, "prior_mu": mean, "prior_sigma": sd, "type": "TruncatedNormal"}
              for name, (lo, hi, mean, sd) in (LINEAR | PARAMETERS).items()]
    space = ParameterSpace.from_config({"parameter_space": {"model": "laminar_flow", "bounds": bounds}}, "laminar_flow")
    angles, n = x["y"].shape
    t1, t2 = (np.tile(np.concatenate(k) * x["dt"], angles) for k in ((x["i"], x["j"]), (x["j"], x["i"])))
    return xpcs_model_scaled, dict(
        data=np.concatenate([x["y"], x["y"]], 1).ravel(), t1=t1, t2=t2, phi_unique=jnp.asarray(x["phi"]),
        phi_indices=np.repeat(np.arange(angles), 2 * n), q=x["q"], L=x["gap"], dt=x["dt"],
        analysis_mode="laminar_flow", parameter_space=space, n_phi=angles,
        time_grid=jnp.linspace(0, (x["frames"] - 1) * x["dt"], x["frames"]), noise_scale=noise_scale(x["y"]))


def compare_with_package(x, init, points=12):
    import homodyne
    function, arguments = package_model(x)
    rng, worst = np.random.default_rng(0), 0.0
    for k in range(points):
        spread = 1.0 if k >= points // 2 else 0.02
        z = {name: (v if name == "sigma" else v * (spread < 1) + spread * rng.standard_normal())
             for name, v in init.items()}
        theirs = {name.replace("[", "_").replace("]", ""): v for name, v in z.items()}
        own, _ = log_density(model, (x, False), {}, z)
        package, _ = log_density(function, (), arguments, theirs)
        print(f"point {k}: {float(own):.6f}, homodyne {float(package):.6f}")
        worst = max(worst, abs(float(own - package)) / abs(float(own)))
    return {"version": homodyne.__version__, "points": points, "largest_relative_difference": worst}


def main():
    a = argparse.ArgumentParser()
    a.add_argument("data")
    a.add_argument("out")
    for name, number in (("draws", 2000), ("warmup", 500), ("chains", 4), ("seed", 1)):
        a.add_argument("--" + name, type=int, default=number)
    a.add_argument("--package", action="store_true")
    o = a.parse_args()
    numpyro.set_host_device_count(o.chains)
    jax.config.update("jax_enable_x64", True)
    x = read(o.data)
    init = start(x)
    once, _ = log_density(model, (x, True), {}, init)
    full, _ = log_density(model, (x, False), {}, init)
    if abs(once - full) > 1e-9 * abs(full):
        raise SystemExit(f"one triangle twice {once} is not both triangles {full}")
    if o.package:
        with open(o.out) as f:
            doc = json.load(f)
        doc["package"] = compare_with_package(x, init)
        write(o.out, doc)
        return
    unconstrained = {k: (np.log(v) if k == "sigma" else v) for k, v in init.items()}
    draws, run = sample(model, (x, True), unconstrained, o)
    doc = {"what": "moments of homodyne's statistical model by NumPyro; see tests/peers/numpyro_reference.py",
           "versions": {"python": platform.python_version(), "numpyro": numpyro.__version__, "jax": jax.__version__},
           "values": int(2 * x["y"].size), "noise_prior_scale": 1.5 * noise_scale(x["y"]),
           "log_density_at_truth": float(full), "run": run, "moments": moments(draws)}
    show("formulas", doc["moments"], run)
    write(o.out, doc)


if __name__ == "__main__":
    main()
