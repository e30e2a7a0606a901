"""Results in the folders that `homodyne fit` writes: fit.json, fit.h5, posterior.nc."""
import json
import pathlib

import numpy as np

from ._arrays import PerGroup
from ._inference import inference_data, normal_draws
from ._library import FileError
from ._notebook import table
from ._numbers import value_text, with_error


def _h5py(path):
    try:
        import h5py
    except ImportError:
        raise FileError(f"{path}: h5py is needed to read it: pip install h5py") from None
    try:
        return h5py.File(path, "r")
    except OSError as why:
        raise FileError(f"{path}: {why}") from None


def _find(path, name):
    path = pathlib.Path(path)
    path = path / name if path.is_dir() else path
    if not path.is_file():
        raise FileError(f"{path}: there is no such file; give a folder of results of `homodyne fit`")
    return path


def _one_run(folder, summary, name, found):
    """Files of two runs in one folder are no result; `found` is the run of the file `name`, None in older versions."""
    own, none = summary.get("run_id"), "(none: an earlier version)"
    if summary and own != found and name not in summary.get("kept_files", ()):
        raise FileError(f"{folder}: files of two runs are in this folder: fit.json is of run {own or none}, {name} of "
                        f"run {found or none}; fit again into an empty folder, or put the files of one run back")


def _text(value):
    return value.decode() if isinstance(value, bytes) else value


def _tree(group):
    """A group of HDF5 as a dict of arrays, numbers, words and dicts."""
    out = {}
    for name, item in group.items():
        if hasattr(item, "items"):
            out[name] = _tree(item)
            continue
        value = item.asstr()[()] if item.dtype.kind == "O" else item[()]
        out[name] = value.item() if isinstance(value, np.generic) else value
    return out


def load_results(path):
    """The results in the folder `path`, or in its fit.json or fit.h5."""
    return Results(path)


class Results:
    """What fit.json says (of a folder, or that file alone) and fit.h5 (of a folder, or alone).

    summary    the content of fit.json as dicts and lists; {} when fit.h5 was read alone
    arrays     the content of fit.h5 below /entry, read when first asked for
    params, std, std_robust, std_curvature, interval_68, interval_95 (of parameters, not of those of groups), coords,
    derived, derived_std, derived_std_robust     of derived quantities
    names, values, errors, covariance, status, converged, quality, quality_text: as those of Fit
    """

    def __init__(self, path):
        given = pathlib.Path(path)
        self.summary, self._arrays = {}, None
        if given.suffix in (".h5", ".hdf5"):
            self.folder, self._h5 = given.parent, _find(given, "fit.h5")
        else:
            file = _find(given, "fit.json")
            try:
                self.summary = json.loads(file.read_text())
            except ValueError as why:
                raise FileError(f"{file}: no JSON: {why}") from None
            if "parameters" not in self.summary:
                raise FileError(f"{file}: has no parameters: not a result of `homodyne fit`")
            self.folder, self._h5 = file.parent, file.parent / "fit.h5"
        if not self.summary and "parameters" not in self.arrays:
            raise FileError(f"{self._h5}: has no /entry/parameters: not a result of `homodyne fit`")

    @property
    def arrays(self):
        if self._arrays is None:
            with _h5py(_find(self._h5, "fit.h5")) as f:
                if "entry" not in f:
                    raise FileError(f"{self._h5}: has no /entry: not a result of `homodyne fit`")
                arrays = _tree(f["entry"])
            _one_run(self.folder, self.summary, "fit.h5", arrays.get("run_id"))
            self._arrays = arrays
        return self._arrays

    @property
    def status(self):
        return self.summary.get("status") or self.arrays["convergence"]["status"]

    @property
    def converged(self):
        return bool(self.summary["converged"] if self.summary else self.arrays["convergence"]["converged"])

    @property
    def quality(self):
        return self.summary["quality"] if self.summary else self.arrays["fit_quality"]["verdict"]

    @property
    def quality_text(self):
        return self.summary["quality_text"] if self.summary else self.arrays["fit_quality"]["verdict_text"]

    @property
    def model(self):
        return self.summary["model"]["name"] if self.summary else self.arrays["model_name"]

    @property
    def names(self):
        return [str(n) for n in self.arrays["parameters"]["name"]]

    @property
    def values(self):
        return self.arrays["parameters"]["value"]

    @property
    def errors(self):
        return self.arrays["parameters"]["error"]

    @property
    def covariance(self):
        return self.arrays["parameters"]["covariance"]

    @property
    def covariance_robust(self):
        return self.arrays["parameters"]["covariance_robust"]

    def _full(self, values):
        """{name: value}; contrast[0], contrast[1] become one array, behind the leading axes."""
        out = {}
        for k, name in enumerate(self.names):
            out.setdefault(name.partition("[")[0], []).append((name, values[..., k]))
        return {name: np.stack([v for _, v in items], -1) if "[" in items[0][0] else items[0][1]
                for name, items in out.items()}

    def _get(self, json_name, h5_name):
        if not self.summary:
            full = self._full(self.arrays["parameters"][h5_name])
            return {k: v.item() if np.ndim(v) == 0 else self._placed(v) for k, v in full.items()}
        number = lambda v: np.nan if v is None else v  # noqa: E731
        out = {name: number(p.get(json_name)) for name, p in self.summary["parameters"].items()}
        ending = json_name.removeprefix("value")
        for name in self._linear():
            key = f"{name}_{ending}" if ending else name
            out[name] = self._placed(np.array([number(g.get(key)) for g in self.summary["scaling"]], dtype=float))
        return out

    def _linear(self):
        first = (self.summary.get("scaling") or [{}])[0]
        return [k for k in first if f"{k}_std" in first]

    def _placed(self, values):
        return PerGroup(values, self.coords) if self.coords else values

    @property
    def params(self):
        return self._get("value", "value")

    @property
    def std(self):
        return self._get("std", "error")

    @property
    def std_robust(self):
        return self._get("std_robust", "error_robust")

    @property
    def std_curvature(self):
        return self._full(self.arrays["parameters"]["error_curvature"])

    @property
    def derived(self):
        return self._derived("value", "")

    @property
    def derived_std(self):
        return self._derived("std", "_err")

    @property
    def derived_std_robust(self):
        return self._derived("std_robust", "_err_robust")

    def _derived(self, key, ending):
        if self.summary:
            told = {n: np.array(d[key], dtype=float) for n, d in self.summary.get("derived", {}).items()}
        else:
            all_ = self.arrays.get("derived", {})
            told = {n.removesuffix("_err"): np.asarray(all_[n.removesuffix("_err") + ending])
                    for n in all_ if n.endswith("_err")}
            told = {n: v if v.size > 1 or len(self.coords) and v.size == next(iter(self.coords.values())).size else v[0]
                    for n, v in told.items()}
        return {n: self._placed(v) if np.ndim(v) else float(v) for n, v in told.items()}

    @property
    def interval_68(self):
        return self._intervals("interval_68")

    @property
    def interval_95(self):
        return self._intervals("interval_95")

    @property
    def intervals_95(self):
        """{name: [(lower, upper), ...]} of parameters of which several minima fit: interval_95 spans all of them."""
        nan = float("nan")
        return {
            name: [tuple(nan if x is None else x for x in part) for part in told["intervals_95"]]
            for name, told in self.summary.get("parameters", {}).items()
            if told.get("intervals_95")
        }

    def _intervals(self, name):
        if not self.summary:
            ends = self.arrays["parameters"][name]
            low, high = self._full(ends[:, 0]), self._full(ends[:, 1])
            return {n: np.stack([low[n], high[n]], -1) for n in low}
        none = [None, None]
        return {n: np.array([np.nan if v is None else v for v in p.get(name) or none], dtype=float)
                for n, p in self.summary["parameters"].items()}

    @property
    def coords(self):
        if not self.summary:
            phi = self.arrays.get("data", {}).get("phi", [])
            return {"phi": np.asarray(phi, dtype=float)} if len(phi) else {}
        groups, linear = self.summary.get("scaling") or [], self._linear()
        axes = list(groups[0])[:list(groups[0]).index(linear[0])] if linear else []
        known = [a for a in axes if all(g.get(a) is not None for g in groups)]
        return {a: np.array([g[a] for g in groups], dtype=float) for a in known}

    def _unit(self, name):
        """The unit of a parameter; "": it has none, or fit.h5 was read alone."""
        told = self.summary.get("parameters", {}).get(name, {}).get("unit") or ""
        return "" if told == "1" else told

    def to_dataframe(self):
        """A DataFrame of pandas: a row for each parameter (and group): value, error, robust error, interval of 95 %,
        unit."""
        from ._frames import parameters
        return parameters(self)

    def plot(self):
        """Data, model and residuals of two-time data in fit.h5, by matplotlib; returns the figure."""
        from ._plot import results_of_pairs
        return results_of_pairs(self)

    def _repr_html_(self):
        std, robust, rows = self.std, self.std_robust, []
        for name, v in self.params.items():
            for k, x in enumerate(np.ravel(v)):
                text, error = with_error(x, np.ravel(std[name])[k])
                more = np.ravel(robust[name])[k] if name in robust else np.nan
                label = f"{name}[{k}]" if np.ndim(v) else name
                rows.append((label, text, error, with_error(0, more)[1], self._unit(name)))
        head = f"{self.folder}: {self.model}, {self.status}; {self.quality}"
        return table(head, ("", "value", "error", "robust", "unit"), rows, self.converged)

    def __repr__(self):
        lines = [f"{self.folder}: {self.model}, {self.status}", f"  {self.quality}: {self.quality_text}"]
        std, interval, told = self.std, self.interval_95, self.summary.get("parameters", {})
        for name, v in self.params.items():
            for k, (x, s) in enumerate(zip(np.ravel(v), np.ravel(std[name]))):
                ends = interval[name] if name in interval and not np.ndim(v) else (np.nan, np.nan)
                bound = not np.ndim(v) and bool(told.get(name, {}).get("at_bound"))
                lines.append(f"  {name + (f'[{k}]' if np.ndim(v) else ''):<20} "
                             f"{value_text(x, s, ends, self._unit(name), bound)}")
        return "\n".join(lines)

    def posterior(self):
        """posterior.nc of the same folder: see load_posterior."""
        return load_posterior(self.folder)

    def to_inferencedata(self, draws=1000, chains=4, seed=0, robust=False):
        """posterior.nc, when the fit has sampled; else draws of the normal approximation, as Fit.to_inferencedata."""
        if (self.folder / "posterior.nc").is_file() and "posterior.nc" not in self.summary.get("kept_files", ()):
            return self.posterior()
        x = normal_draws(self.values, self.covariance_robust if robust else self.covariance, chains, draws, seed)
        named = self._full(x)
        axis = next(iter(self.coords), "group")
        dims = {n: [axis] for n, v in named.items() if v.ndim == 3}
        ngroup = next((named[n].shape[-1] for n in dims), 0)
        return inference_data({"posterior": named}, dims=dims,
                              coords={axis: self.coords.get(axis, np.arange(ngroup))},
                              attrs={"inference_library": "homodyne-gen", "model_name": self.model,
                                     "method": "normal approximation at the least-squares result",
                                     "status": self.status})


def load_posterior(path):
    """posterior.nc (or the folder with it) as ArviZ's InferenceData; without arviz as a dict of groups,
    {"posterior": {"D0": (chains, draws), ...}, "sample_stats": ..., "attrs": ...}."""
    file = _find(path, "posterior.nc")
    beside = file.parent / "fit.json"
    if file.name == "posterior.nc" and beside.is_file():
        with _h5py(file) as f:
            _one_run(file.parent, json.loads(beside.read_text()), file.name, _text(f.attrs.get("run_id")))
    try:
        import arviz as az
        return az.from_netcdf(str(file))
    except ImportError:  # arviz, or what it reads the file with
        pass
    with _h5py(file) as f:
        return {**_tree(f), "attrs": dict(f.attrs)}
