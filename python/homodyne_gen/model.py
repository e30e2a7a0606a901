"""A compiled model: its description, values, derivatives and fits."""
import ctypes
import os
import pathlib
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, List, Optional, Union

import numpy as np

from . import _library
from ._arrays import PerGroup, array, check_name, copied, of_groups, pointer, pointers
from ._bridge import Objective
from ._compile import compiled
from ._frames import is_table, split
from ._joint import is_several, joined
from ._library import DataError, UsageError, failure, loaded
from ._load import Data
from ._notebook import table

if TYPE_CHECKING:
    from .draws import Draws
    from .fit import Fit
    from .many import ManyFits

PARAM, LINEAR, SETTING, AXIS, COLUMN = range(5)
NAME, VARIANT, TITLE, FORMULA, REFERENCE, HASH, ISA = range(7)


@dataclass(frozen=True)
class Item:
    """A parameter, setting, axis or column.  unit "1": dimensionless.  start: for a setting, its default (NaN:
    none)."""
    name: str
    unit: str
    doc: str
    start: float
    lower: float
    upper: float
    per_group: bool
    role: str  # of a column: "covariate", "value" or "sigma"


def models() -> List[str]:
    """Names of the models that are installed beside the library."""
    return sorted(p.stem for p in pathlib.Path(loaded().fit_api_folder().decode()).glob("*.so"))


def load_model(name: Union[str, "os.PathLike[str]"], variant: Optional[str] = None) -> "Model":
    """An installed model, a model file, or a compiled model.

    name       the name of an installed model ("laminar"; see models()); a model file, *.lua, which is compiled (this
               takes about a second and needs a C compiler; the result is kept until the file changes); or the path of
               a compiled model, which contains a '/'
    variant    "fast" (the default), "parity", ...

    Loading a compiled model runs the code in it.  A model file is read in a sandbox.
    """
    name = os.fspath(name)
    return Model(compiled(name) if name.endswith(".lua") else name, variant)


class _Problem:
    """A model with its geometry, with or without values."""

    def __init__(self, model, data):
        self.model = model  # which must live as long
        self.handle = loaded().fit_api_problem_new(model._handle, _library.byref(data))
        if not self.handle:
            raise failure()
        self._release = weakref.finalize(self, loaded().fit_api_problem_free, self.handle)
        self.ngroup = loaded().fit_api_groups(self.handle)
        names = [item.name for item in model.axes] + (["file"] if data.nfile > 1 else [])
        self.coords = {name: copied(loaded().fit_api_coord(self.handle, a), (self.ngroup,))
                       for a, name in enumerate(names)}

    def evaluate(self, nonlinear, linear, threads, mean, jac):
        if loaded().fit_api_evaluate(self.handle, pointer(nonlinear), pointer(linear), threads, pointer(mean),
                                     pointer(jac)):
            raise failure()


@dataclass
class Geometry:
    """The keywords of mean, jacobian and fit, in the order of the library."""
    data: _library.Data
    keep: list        # arrays to which data points
    shape: tuple      # of the values
    time: np.ndarray  # of two-time models: s, frames that take part; else None
    columns: dict
    place: dict       # of the rows of a table: their values of the axes
    setting: np.ndarray
    sigma: Optional[np.ndarray] = None
    use: Optional[np.ndarray] = None
    coord: tuple = ()  # of matrices: an array for each axis


class Model:
    """A compiled model, made by load_model.

    name, variant, title, formula, reference   text
    hash, isa          SHA-256 of the model file; the instruction set of the kernel
    is_pairs           True: two-time data; False: a table
    parameters, linear, settings, axes, columns   lists of Item; linear: contrast, offset and the like
    """

    def __init__(self, name, variant=None):
        lib = loaded()
        self._handle = lib.fit_api_open(str(name).encode(), variant.encode() if variant else None)
        if not self._handle:
            raise failure()
        self._release = weakref.finalize(self, lib.fit_api_close, self._handle)
        text = [(lib.fit_api_text(self._handle, k) or b"").decode() for k in range(7)]
        self.name, self.variant, self.title, self.formula, self.reference, self.hash, self.isa = text
        self.is_pairs = bool(lib.fit_api_is_pairs(self._handle))
        self.parameters, self.linear, self.settings, self.axes, self.columns = (self._items(k) for k in range(5))
        self._covariates = [c.name for c in self.columns if c.role == "covariate"]

    def _items(self, kind):
        items = []
        for i in range(loaded().fit_api_count(self._handle, kind)):
            c = _library.Item()
            if loaded().fit_api_item(self._handle, kind, i, _library.byref(c)):
                raise failure()
            items.append(Item(c.name.decode(), c.unit.decode(), (c.doc or b"").decode(), c.start, c.lower, c.upper,
                              bool(c.per_group), ("covariate", "value", "sigma")[c.role] if kind == COLUMN else ""))
        return items

    def _repr_html_(self) -> str:
        rows = [(p.name, f"{p.start:.6g}", f"{p.lower:g} .. {p.upper:g}", p.doc, "" if p.unit == "1" else p.unit)
                for p in self.parameters + self.linear]
        return table(f"{self.name}: {self.title}", ("", "start", "bounds", "", "unit"), rows)

    def __repr__(self):
        lines = [f"{self.name} ({self.variant}, {self.isa}): {self.title}"]
        for p in self.parameters + self.linear:
            lines.append(f"  {p.name:<20} {p.start:<10.6g} {p.lower:g} .. {p.upper:g}  {p.unit}  {p.doc}")
        for word, items in (("settings", self.settings), ("axes", self.axes), ("columns", self.columns)):
            if items:
                lines.append(f"  {word}: " + ", ".join(f"{s.name} ({s.unit})" for s in items))
        return "\n".join(lines)

    # ---- geometry ---------------------------------------------------------------------------------

    def _settings(self, given):
        return np.array([np.nan if given.get(s.name) is None else array(given[s.name], s.name, (), s.unit)
                         for s in self.settings], dtype=float)

    def _pairs(self, given, values, frames, dt, time, use):
        time = None if time is None else array(time, "time", None, "s")
        dt = None if dt is None else float(array(dt, "dt", (), "s"))
        if dt is None and time is not None and np.size(time) > 1:
            dt = float(np.min(np.diff(time)))
        if dt is None:
            raise UsageError(f"{self.name}: the frame period is missing: dt=, in s")
        if values is not None and frames is None:
            frames = values.shape[-1]
        if frames is None:
            frames = np.size(time) if time is not None else None
        if frames is None:
            raise UsageError(f"{self.name}: frames= is missing: the number of frames")
        frames = int(frames)
        time = None if time is None else array(time, "time", (frames,))
        coord = [np.atleast_1d(array(given[a.name], a.name, None, a.unit)) if given.get(a.name) is not None else None
                 for a in self.axes]
        if None in [None if c is None else 1 for c in coord]:
            missing = next(a for a, c in zip(self.axes, coord) if c is None)
            raise UsageError(f"{self.name}: {missing.name}= is missing: one for each matrix ({missing.unit})")
        ngroup = coord[0].size if coord else 1 if values is None else len(values)
        for a, c in zip(self.axes, coord):
            array(c, a.name, (ngroup,))
        use = None if use is None else np.ascontiguousarray(use, dtype=np.uint32)
        n = frames if use is None else use.size
        keep = [time, use, *coord, pointers(coord)]
        data = _library.Data(ngroup=ngroup, coord=keep[-1], ntime=frames, step=float(dt), time=pointer(time),
                             nframe=0 if use is None else n, frame=pointer(use, ctypes.POINTER(ctypes.c_uint32)))
        first = float(dt) if self.name == "heterodyne" else 0.0
        t = first + np.arange(frames) * float(dt) if time is None else time
        return Geometry(data, keep, (ngroup, n, n), t if use is None else t[use], {}, {}, np.zeros(0), use=use,
                        coord=tuple(coord))

    def _rows(self, given, values):
        named = {}
        for item in [c for c in self.columns if c.role == "covariate"] + self.axes:
            if given.get(item.name) is None:
                raise UsageError(f"{self.name}: {item.name}= is missing: a value for each row")
            named[item.name] = np.atleast_1d(array(given[item.name], item.name, None, item.unit))
        if not named and values is None:
            raise UsageError(f"{self.name}: values= is missing: no column tells how many rows there are")
        nrow = max((v.size for v in named.values()), default=0) or np.size(values)
        for name, v in named.items():
            named[name] = array(np.broadcast_to(v, (nrow,)) if v.size == 1 else v, name, (nrow,))
        values = None if values is None else array(values, "values", (nrow,))
        keep = [pointers([named.get(c.name) for c in self.columns]), pointers([named[a.name] for a in self.axes]),
                values, *named.values()]
        data = _library.Data(nrow=nrow, column=keep[0], axis=keep[1], value=pointer(values))
        return Geometry(data, keep, (nrow,), None,
                        {c: named[c] for c in self._covariates}, {a.name: named[a.name] for a in self.axes},
                        np.zeros(0))

    def _geometry(self, given, values=None, frames=None, dt=None, time=None, use=None):
        known = [i.name for i in self.settings + self.axes] + self._covariates
        for name in given:
            check_name(name, known, "setting, axis or column", self.name)
        if self.is_pairs:
            g = self._pairs(given, values, frames, dt, time, use)
        else:
            for name, v in (("frames", frames), ("dt", dt), ("time", time), ("use", use)):
                if v is not None:
                    raise UsageError(f"{name}=: for two-time models; {self.name} is fitted to a table")
            g = self._rows(given, values)
        g.setting = self._settings(given)
        g.data.setting = pointer(g.setting)
        return g

    # ---- parameters -------------------------------------------------------------------------------

    def _values(self, params, ngroup, coords):
        """(nonlinear, linear) parameters of every group; params: a mapping of names, or a sequence.  Parameters that it
        does not name have the model's starting values."""
        start = np.array([p.start for p in self.parameters], dtype=float)
        nonlinear = np.tile(start, (ngroup, 1))
        linear = np.array([[q.start for q in self.linear]] * ngroup, dtype=float).reshape(ngroup, len(self.linear))
        if params is None:
            return nonlinear, linear
        if not hasattr(params, "items"):
            full = array(params, "params")
            if full.shape not in ((start.size,), (start.size + linear.size,)):
                raise DataError(f"params: shape {full.shape}; ({start.size},) for the parameters, or "
                                f"({start.size + linear.size},) with the linear ones of {ngroup} groups")
            if full.size > start.size:
                linear = full[start.size:].reshape(linear.shape)
            return np.tile(full[:start.size], (ngroup, 1)), np.ascontiguousarray(linear)
        names, linear_names = [p.name for p in self.parameters], [q.name for q in self.linear]
        for name, value in params.items():
            check_name(name, names + linear_names, "parameter", self.name)
            if name in names:
                k = names.index(name)
                p, several = self.parameters[k], self.parameters[k].per_group or isinstance(value, PerGroup)
                nonlinear[:, k] = (of_groups(value, name, coords, ngroup, p.unit) if several
                                   else array(value, name, (), p.unit))
                continue
            k = linear_names.index(name)
            linear[:, k] = of_groups(value, name, coords, ngroup, self.linear[k].unit)
        return nonlinear, linear

    def _evaluate(self, params, threads, derivatives, grid):
        g = self._geometry(**grid)
        return self._evaluate_on(_Problem(self, g.data), g, params, threads, derivatives)

    def _mean_of_files(self, params, files):
        g, _ = joined(self, **files)
        return self._evaluate_on(_Problem(self, g.data), g, params, 0, False)[0]

    def _evaluate_on(self, p, g, params, threads, derivatives):
        nonlinear, linear = self._values(params, p.ngroup, p.coords)
        mean = np.empty(g.shape)
        jac = np.empty((*g.shape, len(self.parameters) + len(self.linear))) if derivatives else None
        if np.array_equal(nonlinear, np.broadcast_to(nonlinear[:1], nonlinear.shape)):
            p.evaluate(nonlinear[0].copy(), linear, threads, mean, jac)
            return mean, jac
        for k in range(p.ngroup):  # a set of parameters for each
            own = (np.empty(g.shape), None if jac is None else np.empty(jac.shape))
            p.evaluate(nonlinear[k].copy(), linear, threads, *own)
            at = k if self.is_pairs else np.all([v == p.coords[a][k] for a, v in g.place.items()], axis=0)
            mean[at] = own[0][at]
            if jac is not None:
                jac[at] = own[1][at]
        return mean, jac

    def _evaluated(self, values):
        """The argument values= of mean and jacobian as an array in the model's unit."""
        if values is not None and self.is_pairs:
            raise UsageError(f"values=: for table models; no pair of frames of {self.name} follows from another")
        return None if values is None else np.atleast_1d(array(values, "values", None, self._value_unit()))

    def _value_unit(self):
        return next((c.unit for c in self.columns if c.role == "value"), "1")

    def mean(self, params: Any = None, *, values: Any = None, frames: Optional[int] = None, dt: Any = None,
             time: Any = None, use: Any = None, threads: int = 0, **given: Any) -> np.ndarray:
        """The model's mean.

        params     {name: value}; parameters that are not named have the model's starting values.  A parameter over an
                   axis has one value, or one for each group: an array in the order in which the groups first occur in
                   the data, {coordinate: value}, or the values that a fit found (r.params), which are assigned by
                   their coordinates
        frames, dt   two-time models: the number of frames and their period (s)
        time       two-time models: the times of the frames (s, increasing), in place of frames and dt
        use        two-time models: indices of the frames that take part
        values     table models whose rows depend on measured values (arma): these values
        threads    0: one for each core

        Settings (q=, gap=), axes (phi=) and columns are given by name.  Returns an array (matrices, frames, frames) for
        two-time models, (rows,) for tables.
        """
        grid = dict(given=given, values=self._evaluated(values), frames=frames, dt=dt, time=time, use=use)
        return self._evaluate(params, threads, False, grid)[0]

    def jacobian(self, params: Any = None, *, values: Any = None, frames: Optional[int] = None, dt: Any = None,
                 time: Any = None, use: Any = None, threads: int = 0, **given: Any) -> np.ndarray:
        """The derivatives of mean with respect to the parameters, in the order of .parameters + .linear, along an
        additional last axis.  Arguments as for mean."""
        grid = dict(given=given, values=self._evaluated(values), frames=frames, dt=dt, time=time, use=use)
        return self._evaluate(params, threads, True, grid)[1]

    def fit(self, values: Any, *, sigma: Any = None, dt: Any = None, time: Any = None, use: Any = None,
            start: Any = None,
            fix: Any = None, bounds: Any = None, noise: Any = None, loss: str = "linear", f_scale: float = 1.0,
            scaling: str = "individual", max_iterations: int = 0, max_seconds: float = 0.0, search: bool = True,
            multistart: int = 0, everywhere: bool = False, seed: int = 0, threads: int = 0, ties: Any = None,
            share: Any = None, progress: Any = None, method: str = "nlsq", estimator: str = "least-squares",
            device: Optional[str] = None, **given: Any) -> "Union[Fit, Draws]":
        """Least squares.  Returns a Fit; .converged is False if no minimum was reached.

        values     two-time models: (matrices, frames, frames), of which the pairs i < j are read; tables: (rows,).
                   Values that are not finite are left out.  Or the result of load_data; for tables also a DataFrame or
                   a dict of columns, in which the model's columns and axes are found by name.  A list of these is one
                   fit of several files; settings may then be lists with a value for each file
        sigma      standard deviations of the values, in their shape.  Without them the noise is estimated from the
                   residuals, unless `noise` is given
        noise      one standard deviation for all values, or one for each group
        start      {name: value}: starting values.  Other starting points are tried as well, unless search=False
        fix        {name: value}, or a list of names, which are held at their starting values
        bounds     {name: (lower, upper)}
        loss       "linear", "soft_l1", "huber", "cauchy" or "arctan"; f_scale in standard deviations
        scaling    of contrast and offset: "individual", "averaged", "constant" or "hierarchical"
        multistart   number of starting points from which a minimum is sought
        everywhere   True: search the whole box of bounds
        ties       {name: "0.1*other + 2"}: parameters computed from others
        share      {name: "per_angle"}: a value for each group; {name: [[0, 45], [90]]}: one for each set of
                   coordinates; {name: "per_file"}: one for each of several files
        progress   None: a progress line in a terminal or notebook; False: none; or a function f(phase, done, total,
                   value, seconds).  If it returns a true value, the fit ends with the result so far (.status
                   "interrupted"; draws: .complete False), or raises Stopped if there is none.  An exception in it ends
                   the fit and is raised again
        method     "nlsq"; "nuts" and "laplace" return Draws, as sample does
        estimator  for two-time data: "least-squares"; "efficient": pairs weighted by the noise of speckles
                   (docs/speckle.md); "auto": efficient where that noise is known and both estimates agree
        device     the device that evaluates the sums: None (the processor), "gpu", "auto", "cuda:1", "opencl:0"
                   (docs/gpu.md).  The Fit has its name in .device, and in .device_text the reason if it was not used
        """
        if method != "nlsq":
            return self.sample(values, sigma=sigma, dt=dt, time=time, use=use, start=start, fix=fix, bounds=bounds,
                               noise=noise, loss=loss, f_scale=f_scale, scaling=scaling, max_iterations=max_iterations,
                               max_seconds=max_seconds, search=search, multistart=multistart, everywhere=everywhere,
                               seed=seed, threads=threads, ties=ties, share=share, progress=progress, method=method,
                               estimator=estimator, device=device, **given)
        from .fit import Fit
        problem, g, values, grid = self._taken(values, sigma, dt, time, use, given)
        options = dict(start=start, fix=fix, bounds=bounds, noise=noise, loss=loss, f_scale=f_scale, scaling=scaling,
                       max_iterations=max_iterations, max_seconds=max_seconds, search=search, multistart=multistart,
                       everywhere=everywhere, seed=seed, threads=threads, ties=ties, share=share, progress=progress,
                       also=[("estimator", estimator)], device=device)
        return Fit(self, problem, g, values, options, grid)

    def fit_many(self, values: Any, *, sigma: Any = None, start: Any = None, fix: Any = None, bounds: Any = None,
                 noise: Any = None, loss: str = "linear", f_scale: float = 1.0, max_iterations: int = 0,
                 search: bool = True,
                 multistart: int = 0, everywhere: bool = False, seed: int = 0, threads: int = 0, ties: Any = None,
                 device: Optional[str] = None, **given: Any) -> "ManyFits":
        """Fits many curves of a table model, each by itself and several at a time.  Returns ManyFits.

        values     (curves, rows)
        sigma      standard deviations in the shape of values, or one row (or one number) for all curves
        search     False: each curve is fitted from `start` alone, which is much faster
        device     as for fit; the sums of up to 64 curves are one launch

        Columns are given by name, (rows,) for all curves or (curves, rows); axes and settings are the same for all
        curves, as are the other arguments, which fit describes.  Every number is, to the last bit, that of fit() for
        the curve alone.  A curve that cannot be fitted does not affect the others.
        """
        from .many import fit_many
        options = dict(start=start, fix=fix, bounds=bounds, noise=noise, loss=loss, f_scale=f_scale,
                       scaling="individual",
                       max_iterations=max_iterations, max_seconds=0.0, search=search, multistart=multistart,
                       everywhere=everywhere, seed=seed, threads=threads, ties=ties, progress=False, device=device)
        return fit_many(self, values, sigma, options, given)

    def sample(self, values: Any, *, draws: int = 1000, chains: int = 4, warmup: int = 300, method: str = "nuts",
               target_accept: Optional[float] = None, metric: Optional[str] = None,
               max_tree_depth: Optional[int] = None,
               sigma: Any = None, dt: Any = None, time: Any = None, use: Any = None, start: Any = None, fix: Any = None,
               bounds: Any = None, noise: Any = None, loss: str = "linear", f_scale: float = 1.0,
               scaling: str = "individual", max_iterations: int = 0, max_seconds: float = 0.0, search: bool = True,
               multistart: int = 0, everywhere: bool = False, seed: int = 0, threads: int = 0, ties: Any = None,
               share: Any = None, progress: Any = None, estimator: str = "least-squares", device: Optional[str] = None,
               **given: Any) -> "Draws":
        """Draws from the posterior, with the model's priors.  Returns Draws: chains, their convergence, and a verdict.

        method     "nuts": Hamiltonian Monte Carlo on all data; "laplace": a normal approximation with importance
                   sampling
        draws, warmup   number for each chain; for "laplace", draws is the total number
        target_accept, metric ("dense", "diagonal"), max_tree_depth, seed   settings of the chains

        Sampling starts from a least-squares fit; the other arguments are those of fit.  Contrast, offset and noise of
        each group are integrated out exactly.
        """
        from .draws import Draws
        problem, g, values, grid = self._taken(values, sigma, dt, time, use, given)
        also = [("method", method), ("draws", draws), ("chains", chains), ("warmup", warmup), ("estimator", estimator)]
        also += [(name, v) for name, v in (("target-accept", target_accept), ("metric", metric),
                                           ("max-tree-depth", max_tree_depth)) if v is not None]
        options = dict(start=start, fix=fix, bounds=bounds, noise=noise, loss=loss, f_scale=f_scale, scaling=scaling,
                       max_iterations=max_iterations, max_seconds=max_seconds, search=search, multistart=multistart,
                       everywhere=everywhere, seed=seed, threads=threads, ties=ties, share=share, progress=progress,
                       also=also, device=device)
        return Draws(self, problem, g, values, options, grid)

    def objective(self, values: Any, *, sigma: Any = None, noise: Any = None, dt: Any = None, time: Any = None,
                  use: Any = None, **given: Any) -> Objective:
        """Residuals, their derivatives and the log density of the model for measured values, as functions of a vector
        of parameters: for lmfit, scipy, bumps, emcee and others.  One of sigma and noise is needed; the other
        arguments are those of fit."""
        problem, g, values, grid = self._taken(values, sigma, dt, time, use, given)
        return Objective(self, problem, g, values, noise)

    def _unpacked(self, values, sigma, dt, time, given):
        """The result of load_data, a DataFrame or a dict of columns as arrays and keywords."""
        if isinstance(values, Data):
            if not self.is_pairs:
                raise UsageError(f"{self.name} is fitted to a table; {values.file} holds two-time data")
            told = values.for_model(self)
            sigma, dt = told.pop("sigma", None) if sigma is None else sigma, told.pop("dt", None) if dt is None else dt
            told.pop("sigma", None), told.pop("dt", None)
            return values.values, sigma, dt, time, {**told, **given}
        if is_table(values):
            values, sigma, given = split(self, values, sigma, given)
        return values, sigma, dt, time, given

    def _taken(self, values, sigma, dt, time, use, given):
        """(problem, geometry, values, keywords for mean) from the arguments of fit: one file or several."""
        if not is_several(values):
            values, sigma, dt, time, given = self._unpacked(values, sigma, dt, time, given)
            g, values = self._placed(values, sigma, dt, time, use, given)
            return _Problem(self, g.data), g, values, dict(given, dt=dt, time=time, use=use)
        if use is not None:
            raise UsageError("use=: not of several files; load_data(..., frames=) chooses the frames of each")
        files = dict(files=values, options=dict(sigma=sigma, dt=dt, time=time), given=given)
        g, values = joined(self, **files)
        return _Problem(self, g.data), g, values, files

    def _placed(self, values, sigma, dt, time, use, given):
        """(geometry, values) of measured arrays."""
        unit = self._value_unit()
        values = array(values, "values", None, unit)
        if self.is_pairs and values.ndim == 2:
            values = values[np.newaxis]
        if self.is_pairs and (values.ndim != 3 or values.shape[1] != values.shape[2]):
            raise DataError(f"values: shape {values.shape}; (matrices, frames, frames) would be right")
        g = self._geometry(given, values, None, dt, time, use)
        right = (g.data.ngroup, values.shape[-1], values.shape[-1]) if self.is_pairs else g.shape
        values = array(values, "values", right)
        if sigma is not None:
            sigma = array(sigma, "sigma", None, unit)
            sigma = array(np.broadcast_to(sigma, right) if np.ndim(sigma) == 0 else
                          np.reshape(sigma, right) if np.size(sigma) == values.size else sigma, "sigma", right)
        g.sigma = sigma
        g.data.value, g.data.sigma = pointer(values), pointer(sigma)
        return g, values
