"""Least-squares fits of many curves with the same rows, in one call."""
import ctypes
import types

import numpy as np

from . import _library
from ._arrays import array, check_name, copied, pointer, pointers
from ._library import DataError, UsageError, loaded
from .fit import _Options


def _wide(given, items, shape):
    """({name: array of rows or of curves x rows}) of covariates."""
    out = {}
    for item in items:
        if given.get(item.name) is None:
            raise UsageError(f"{item.name}= is missing: a value for each row, or for each row of each curve")
        v = array(given[item.name], item.name, None, item.unit)
        if v.shape not in (shape, shape[1:]):
            raise DataError(f"{item.name}: shape {v.shape}; {shape[1:]}: all curves share it, or {shape}")
        out[item.name] = v
    return out


def _texts(words, n):
    """A list of n texts; those at the same address are read once."""
    at, which = np.unique(np.ctypeslib.as_array(ctypes.cast(words, ctypes.POINTER(ctypes.c_size_t)), (n,)),
                          return_inverse=True)
    text = [ctypes.string_at(int(a)).decode() for a in at]
    return [text[k] for k in which.tolist()]


class ManyFits:
    """The results of Model.fit_many, a row for each curve.

    names                 of the columns: tau, ..., contrast, offset (contrast[0], ... where the model has axes)
    values, errors, errors_robust   (curves, names); NaN for curves that could not be fitted
    intervals_68, intervals_95      (curves, names, 2)
    covariance            (curves, names, names)
    chi2, reduced_chi2, residual_variance, sigma_common, npoint, nfree, iterations, evaluations   (curves,)
    converged, failed     (curves,) of bool; failed: the curve could not be fitted, for the reason in .message
    status, quality, quality_text, message   lists of text, as those of Fit
    derived, derived_std  {name: (curves,)} of derived quantities
    seconds, threads      for all curves together
    device, device_text   the device that evaluated sums, or None; the reason why it was not used, or ""
    device_sums, device_launches   the number of sums, and of the launches that combined them

    fits["tau"] is the column of that name, len(fits) the number of curves.
    """

    def __init__(self, model, r):
        n, f, d = r.ncurve, r.nfull, r.nderived
        self.model, self.seconds, self.threads = model, r.seconds, r.threads
        self.device, self.device_text = r.device and r.device.decode(), r.device_text.decode()
        self.device_sums, self.device_launches = r.device_sums, r.device_launches
        single = r.ngroup == 1
        self.names = [r.name[k].decode() for k in range(f)]
        self.names = [name.removesuffix("[0]") for name in self.names] if single else self.names
        self.values, self.errors, self.errors_robust = (copied(x, (n, f)) for x in (r.value, r.std, r.std_robust))
        interval = copied(r.interval, (n, f, 2, 2))
        self.intervals_68, self.intervals_95 = interval[:, :, 0].copy(), interval[:, :, 1].copy()
        self.covariance = copied(r.covariance, (n, f, f))
        for name in ("chi2", "reduced_chi2", "residual_variance", "sigma_common"):
            setattr(self, name, copied(getattr(r, name), (n,)))
        for name in ("npoint", "nfree", "iterations", "evaluations"):
            setattr(self, name, np.ctypeslib.as_array(getattr(r, name), (n,)).astype(np.int64))
        self.failed = np.ctypeslib.as_array(r.code, (n,)) != 0
        self.converged = np.ctypeslib.as_array(r.converged, (n,)) != 0
        for name in ("status", "quality", "quality_text", "message"):
            setattr(self, name, _texts(getattr(r, name), n))
        derived = [r.derived_name[k].decode() for k in range(d)]
        value, std = copied(r.derived, (n, d)), copied(r.derived_std, (n, d))
        self.derived = {name: value[:, k] for k, name in enumerate(derived)}
        self.derived_std = {name: std[:, k] for k, name in enumerate(derived)}

    def __len__(self):
        return len(self.values)

    def __getitem__(self, name):
        if name not in self.names:
            raise KeyError(f"no column '{name}'; there are {', '.join(self.names)}")
        return self.values[:, self.names.index(name)]

    def to_dataframe(self):
        """A pandas DataFrame with a row for each curve: parameters, errors (name_err), derived quantities, quality."""
        from ._frames import frame
        columns = {n: self.values[:, k] for k, n in enumerate(self.names)}
        columns |= {f"{n}_err": self.errors[:, k] for k, n in enumerate(self.names)}
        columns |= {**self.derived, "converged": self.converged, "quality": self.quality}
        items = {p.name: p.unit for p in self.model.parameters + self.model.linear}
        return frame(columns, units={n: items.get(n.split("[")[0], "1") for n in self.names})

    def __repr__(self):
        lines = [f"{self.model.name}: {len(self)} curves, {int(self.converged.sum())} converged, "
                 f"{int(self.failed.sum())} could not be fitted, {self.seconds:.3g} s"]
        for k, name in enumerate(self.names):
            good = self.values[np.isfinite(self.values[:, k]), k]
            lines.append(f"  {name:<20} " + (f"{np.median(good):.4g} ({good.min():.4g} .. {good.max():.4g})"
                                             if good.size else "nan"))
        return "\n".join(lines)


def fit_many(model, values, sigma, options, given):
    """The work of Model.fit_many."""
    if model.is_pairs:
        raise UsageError(f"{model.name} is fitted to pairs of frames; fit_many is for models of tables")
    known = [i.name for i in model.settings + model.axes] + model._covariates
    for name in given:
        check_name(name, known, "setting, axis or column", model.name)
    unit = model._value_unit()
    values = array(values, "values", None, unit)
    if values.ndim != 2 or not values.size:
        raise DataError(f"values: shape {values.shape}; (curves, rows) would be right")
    columns = _wide(given, [c for c in model.columns if c.role == "covariate"], values.shape)
    axes = [array(given.get(a.name), a.name, values.shape[1:], a.unit) for a in model.axes]
    if sigma is not None:
        sigma = array(sigma, "sigma", None, unit)
        sigma = np.full(values.shape[1], sigma) if sigma.ndim == 0 else sigma
        if sigma.shape not in (values.shape, values.shape[1:]):
            raise DataError(f"sigma: shape {sigma.shape}; {values.shape}, or {values.shape[1:]}: all curves share it")
    column = pointers([columns.get(c.name) for c in model.columns])
    axis, setting = pointers(axes), model._settings(given)
    own = np.array([np.ndim(columns.get(c.name)) == 2 for c in model.columns] + [False], dtype=np.uint8)
    data = _library.ManyData(
        setting=pointer(setting), ncurve=values.shape[0], nrow=values.shape[1], column=column,
        own=pointer(own, ctypes.POINTER(ctypes.c_ubyte)), axis=axis, value=pointer(values), sigma=pointer(sigma),
        sigma_shared=sigma is not None and sigma.ndim == 1)
    first = [np.atleast_1d(a) for a in axes]
    groups = len({tuple(x) for x in zip(*(a.tolist() for a in first))}) if first else 1
    problem = types.SimpleNamespace(coords={}, ngroup=groups, handle=model._handle)
    lib = loaded()
    call = lambda handle, o: lib.fit_api_fit_many(handle, _library.byref(data), o)  # noqa: E731
    r = _Options(model, problem, **options).run(call, lib.fit_api_many_free, problem)
    try:
        return ManyFits(model, r.contents)
    finally:
        lib.fit_api_many_free(r)
