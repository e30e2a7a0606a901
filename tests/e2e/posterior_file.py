"""What Python sees in posterior.nc: posterior_file.py FOLDER...

Exit 77 when neither h5py nor xarray is installed.  Reads with h5py alone, with xarray, and with ArviZ (before 1.0 or
after), with every engine there is, and compares.
"""
import importlib.util
import json
import os
import sys


def has(name):
    return importlib.util.find_spec(name) is not None


engines = [e for e, module in (("h5netcdf", "h5netcdf"), ("netcdf4", "netCDF4")) if has(module) and has("h5py")]
if not has("h5py") or not has("numpy"):
    print("no h5py")
    sys.exit(77)
import h5py
import numpy as np

looked = ["h5py"]


def means_h5py(path):
    with h5py.File(path) as f:
        return {n: float(np.mean(d[()])) for n, d in f["posterior"].items() if not d.is_scale}


def has_robust(path):
    with h5py.File(path) as f:
        return "posterior_robust" in f


def check_datasets(groups, means, nuts):
    """groups: name -> xarray.Dataset."""
    post = groups["posterior"]
    assert set(post.data_vars) == set(means), (set(post.data_vars), set(means))
    for name, mean in means.items():
        assert post[name].dims[:2] == ("chain", "draw"), post[name].dims
        assert float(post[name].mean()) == mean or abs(float(post[name].mean()) - mean) < 1e-12 * abs(mean)
    stats = groups["sample_stats"]
    assert stats["lp"].dims == ("chain", "draw")
    if nuts:
        assert stats["diverging"].dtype == bool, stats["diverging"].dtype
        assert stats["tree_depth"].dtype.kind == "i"
    else:
        assert stats.attrs["pareto_k"] < 1
    assert "units" in post[list(means)[0]].attrs
    assert "q" in groups["unconstrained_posterior"]
    if "posterior_robust" in groups:
        robust = groups["posterior_robust"]
        for name in set(robust.data_vars) - {"covariance", "covariance_robust"}:
            assert robust[name].dims == post[name].dims, name
            assert robust[name].attrs["units"] == post[name].attrs["units"], name
        names = [str(n) for n in robust["column"].values]
        for which, draws in (("covariance", post), ("covariance_robust", robust)):
            assert robust[which].dims == ("column", "column_2")
            for name in set(names) & set(robust.data_vars):
                k = names.index(name)
                variance = float(robust[which][k, k])
                assert abs(float(draws[name].var(ddof=1)) - variance) < 1e-9 * variance, (which, name)


for folder in sys.argv[1:]:
    path = folder + "/posterior.nc"
    with open(folder + "/fit.json") as f:
        told = json.load(f)["posterior"]
    nuts = told["method"] == "nuts"
    assert has_robust(path), folder
    means = means_h5py(path)
    for name, p in told["parameters"].items():
        if not p["fixed"] and name in means:
            assert abs(p["mean"] - means[name]) <= 1e-12 * abs(p["mean"]), name
    if has("xarray"):
        import xarray as xr
        for engine in engines:
            names = ["posterior", "sample_stats", "unconstrained_posterior"]
            names += ["posterior_robust"] if has_robust(path) else []
            sets = {g: xr.open_dataset(path, group=g, engine=engine) for g in names}
            check_datasets(sets, means, nuts)
            looked.append("xarray " + engine)
            for s in sets.values():
                s.close()
            if hasattr(xr, "open_datatree"):
                with xr.open_datatree(path, engine=engine) as tree:
                    check_datasets({g: tree[g].to_dataset() for g in names}, means, nuts)
                    assert tree.attrs["model_sha256"]
                looked.append("DataTree " + engine)
    if has("arviz"):
        import arviz as az
        for engine in engines:
            data = az.from_netcdf(path, engine=engine)
            groups = {g: data[g] if hasattr(data[g], "data_vars") else data[g].to_dataset()
                      for g in names}
            check_datasets({g: getattr(s, "ds", s) for g, s in groups.items()}, means, nuts)
            first = list(told["parameters"])[0]
            if nuts and "posterior" in dir(data):
                r_hat = float(az.rhat(data, var_names=[first])[first])
                ess = float(az.ess(data, var_names=[first], method="bulk")[first])
                p = told["parameters"][first]
                assert abs(r_hat - p["r_hat"]) < 1e-8 * r_hat, (r_hat, p["r_hat"])
                assert abs(ess - p["ess_bulk"]) < 1e-6 * ess, (ess, p["ess_bulk"])
            looked.append("ArviZ " + az.__version__ + " " + engine)
    elif has("arviz_stats") and nuts:
        import arviz_stats
        with xr.open_datatree(path, engine=engines[0]) as tree:
            table = arviz_stats.summary(tree)
            assert list(told["parameters"])[0] in table.index
        looked.append("arviz_stats " + arviz_stats.__version__)

    cmc = folder + "/cmc/samples.npz"
    if os.path.exists(cmc):
        with np.load(cmc, allow_pickle=False) as z, h5py.File(path) as f, open(folder + "/cmc/parameters.json") as p:
            names = [str(n) for n in z["param_names"]]
            chains, draws, count = z["draws"].shape
            assert count == len(names) and z["samples"].shape == (chains * draws, count)
            assert np.array_equal(z["draws"][:, :, names.index("D0")], f["posterior/D0"][()])
            assert np.array_equal(z["energy"], f["sample_stats/energy"][()])
            for n, x in json.load(p)["parameters"].items():
                assert abs(x["mean"] - z["samples"][:, names.index(n)].mean()) <= 1e-12 * abs(x["mean"]), n
        looked.append("cmc/")

print(sys.executable + ": " + ", ".join(dict.fromkeys(looked)))
