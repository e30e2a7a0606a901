"""A least-squares fit of arrays and its result."""
import ctypes
import threading

import numpy as np

from . import _library
from ._bridge import of_noise
from ._arrays import PerGroup, array, check_name, copied, of_groups, pointer
from ._inference import inference_data, normal_draws
from ._library import UsageError, failure, loaded
from ._notebook import progress_line, table
from ._numbers import value_text, with_error


def _in_thread(work, interrupt, free):
    """work() in another thread, so that Ctrl-C takes effect at once: it asks the fit to end, waits for it, and raises.
    The wait is for an event, because an interrupted Thread.join takes the thread for finished (Python before 3.13)."""
    done, finished = {}, threading.Event()

    def body():
        try:
            done["value"] = work()
        except BaseException as error:  # handed to the thread that waits
            done["error"] = error
        finally:
            finished.set()

    threading.Thread(target=body, name="homodyne-gen fit").start()
    try:
        finished.wait()
    except BaseException:
        interrupt.value = 1
        while not finished.is_set():  # the fit still reads the arrays of this call
            try:
                finished.wait()
            except KeyboardInterrupt:
                pass
        if done.get("value"):
            free(done["value"])
        raise
    if "error" in done:
        raise done["error"]
    return done["value"]


def _sets(how):
    """share: "per_angle", "shared", or sets of coordinates: [[0, 45], [90]]."""
    return how if isinstance(how, str) else "/".join(",".join(f"{x:.17g}" for x in np.atleast_1d(s)) for s in how)


class _Options:
    """Options of fit_api.h from those of Model.fit, and the arrays to which they point."""

    def __init__(self, model, problem, start, fix, bounds, noise, loss, f_scale, scaling, max_iterations, max_seconds,
                 search, multistart, everywhere, seed, threads, ties=None, share=None, progress=None, also=(),
                 device=None):
        self.model, self.coords, ngroup = model, problem.coords, problem.ngroup
        pairs = list(also) + [("tie", f"{name}={text}") for name, text in dict(ties or {}).items()]
        pairs += [("share", f"{name}={_sets(how)}") for name, how in dict(share or {}).items()]
        words = [str(w).encode() for pair in pairs for w in pair]
        self.also = (ctypes.c_char_p * (len(words) + 1))(*words, None)
        self.view = progress_line(progress)
        self.thrown, self.over = None, 0
        self.callback = _library.PROGRESS(self._seen) if self.view else _library.PROGRESS()
        self.names, self.linear = [p.name for p in model.parameters], [q.name for q in model.linear]
        n, m = len(self.names), len(self.linear)
        self.start, self.linear_start = np.full(n, np.nan), np.full((ngroup, m), np.nan)
        self.lower, self.upper = np.full(n + m, np.nan), np.full(n + m, np.nan)
        self.fixed = np.zeros(n + m, dtype=np.uint8)
        self.interrupt = ctypes.c_int(0)
        for name, value in dict(start or {}).items():
            self._start(name, value)
        self._fix(fix)
        for name, pair in dict(bounds or {}).items():
            self.lower[self._place(name)], self.upper[self._place(name)] = array(
                pair, f"bounds of {name}", (2,), self._unit(self._place(name)))
        self.noise = None if noise is None else of_noise(noise, ngroup)
        self.halves = [np.ascontiguousarray(a) for x in (self.lower, self.upper, self.fixed) for a in (x[:n], x[n:])]
        flags = ctypes.POINTER(ctypes.c_ubyte)
        lower, linear_lower, upper, linear_upper, fixed, linear_fixed = self.halves
        self.c = _library.Options(
            start=pointer(self.start), lower=pointer(lower), upper=pointer(upper), fixed=pointer(fixed, flags),
            linear_start=pointer(self.linear_start), linear_lower=pointer(linear_lower),
            linear_upper=pointer(linear_upper), linear_fixed=pointer(linear_fixed, flags), sigma=pointer(self.noise),
            loss=loss.encode(), f_scale=f_scale, scaling=scaling.encode(), max_iterations=max_iterations,
            max_seconds=max_seconds, start_only=not search, multi_start=multistart, global_=bool(everywhere), seed=seed,
            threads=threads, interrupt=ctypes.pointer(self.interrupt),
            also=ctypes.cast(self.also, ctypes.POINTER(ctypes.c_char_p)), progress=self.callback,
            device=None if device is None else str(device).encode())

    def run(self, function, free, problem):
        """function(problem, options); Ctrl-C takes effect in the main thread."""
        def work():
            r = function(problem.handle, _library.byref(self.c))
            if self.thrown is not None:
                if r:
                    free(r)
                raise self.thrown
            if not r:
                raise failure()  # in the thread that failed: it has the message
            return r

        try:
            if threading.current_thread() is threading.main_thread():
                return _in_thread(work, self.interrupt, free)
            return work()
        finally:
            if self.view:
                self.view(None)

    def _seen(self, _, p):
        """Called by the library, through which no exception can pass.  After a stop the view is not called again."""
        try:
            self.over = self.over or self.view(p.contents)
        except BaseException as error:  # raised again by run, when the work has ended
            self.thrown, self.over = error, 1
        return self.over

    def _place(self, name):
        check_name(name, self.names + self.linear, "parameter", self.model.name)
        return (self.names + self.linear).index(name)

    def _unit(self, k):
        return (self.model.parameters + self.model.linear)[k].unit

    def _start(self, name, value):
        k = self._place(name)
        if k < len(self.names):
            self.start[k] = array(value, name, (), self._unit(k))
        else:
            self.linear_start[:, k - len(self.names)] = of_groups(value, name, self.coords, len(self.linear_start),
                                                                  self._unit(k))

    def _fix(self, fix):
        if isinstance(fix, str):
            raise UsageError(f"fix: give names in a list, ['{fix}'], or {{'{fix}': value}}")
        for name in fix or ():
            k = self._place(name)
            self.fixed[k] = 1
            if hasattr(fix, "items"):
                self._start(name, fix[name])
            elif k >= len(self.names) and np.isnan(self.linear_start[:, k - len(self.names)]).any():
                self._start(name, self.model.linear[k - len(self.names)].start)


class Fit:
    """The result of Model.fit.

    params, std, std_robust, at_bound, held
                          {name: number; for a parameter over an axis an array, one for each group}; with share,
                          "D0[45]" and the like in place of D0; params and std also contain tied parameters.  std_robust
                          holds for noise that pairs of frames share
    std_curvature         the same, from the curvature at the minimum, even where the cost is far from a paraboloid
    interval_68, interval_95   {name: (lower, upper), or an array of these}; NaN: an end that the data do not determine
    group_params          {name: array}: the model's own parameters in every group; arrays over groups have .coords
    tied                  {name: (value, error)}
    derived, derived_std, derived_std_robust, derived_interval_68, derived_interval_95, derived_units
                          {name: number, or array over the groups} of derived quantities (m.derived)
    names                 the full vector: D0, ..., contrast[0], offset[0], contrast[1], ...
    values, errors, covariance, covariance_robust, correlation   of the full vector
    converged, status, message, iterations, evaluations, seconds, threads
    device, device_text   the device that evaluated sums, or None; the reason why it was not used, or ""
    quality, quality_text   "good", "poor", ... as in fit.json, and an explanation
    chi2, residual_variance, npoint, nfree      the weighted sum of squares; the same divided by the degrees of freedom
    reduced_chi2          residual_variance divided by the variance of the noise; NaN if that is unknown, for the reason
                          in reduced_chi2_reason
    local_sigma           pairs of frames: the noise estimated from neighbouring values, without the model
    law, log_likelihood   for models with a noise distribution of their own ("poisson"); otherwise "" and NaN
    sigma, sigma_common, noise   standard deviation of the noise for each group and for all; its source
    coords                {axis: coordinates of the groups}

    std is NaN for parameters at a bound, for those that the data do not determine, and where the cost is so far from a
    paraboloid that a single number cannot describe the error; use the intervals there.
    """

    _known_places = None, None  # of which names; what _places() has found for them

    def __init__(self, model, problem, geometry, values, options, grid):
        self.model, self.coords, self.time, self.columns = model, problem.coords, geometry.time, geometry.columns
        self.data, self._grid, self._weighted = values, grid, bool(geometry.data.sigma)
        self.place, self.row_sigma = geometry.place, None if self.model.is_pairs else geometry.sigma
        lib = loaded()
        r = _Options(model, problem, **options).run(lib.fit_api_fit, lib.fit_api_result_free, problem)
        try:
            self._take(r.contents)
        finally:
            lib.fit_api_result_free(r)

    @classmethod
    def _of(cls, model, problem, geometry, values, grid, result):
        """The fit from which sampling started."""
        self = cls.__new__(cls)
        self.model, self.coords, self.time, self.columns = model, problem.coords, geometry.time, geometry.columns
        self.data, self._grid, self._weighted = values, grid, bool(geometry.data.sigma)
        self.place, self.row_sigma = geometry.place, None if self.model.is_pairs else geometry.sigma
        self._take(result)
        return self

    def _take(self, r):
        nf, n, m, ng = r.nfull, r.nparam, r.nlinear, r.ngroup
        self.converged, self.status, self.message = bool(r.converged), r.status.decode(), r.message.decode()
        self.iterations, self.evaluations = r.iterations, r.evaluations
        self.seconds, self.threads = r.seconds, r.threads
        self.chi2, self.residual_variance, self.reduced_chi2 = r.chi2, r.residual_variance, r.reduced_chi2
        self.reduced_chi2_reason, self.local_sigma = (r.reduced_chi2_reason or b"").decode(), r.local_sigma
        self.npoint, self.nfree = r.npoint, r.nfree
        self.quality, self.quality_text = r.quality.decode(), r.quality_text.decode()
        self.device, self.device_text = r.device and r.device.decode(), (r.device_text or b"").decode()
        self.law, self.log_likelihood = (r.law or b"").decode(), r.log_likelihood
        self.sigma, self.sigma_common, self.noise = copied(r.sigma, (ng,)), r.sigma_common, r.noise.decode()
        self.values = np.concatenate([copied(r.param, (n,)), copied(r.linear, (ng * m,))])
        self.errors, robust = copied(r.std, (nf,)), copied(r.std_robust, (nf,))
        self.covariance, self.covariance_robust = copied(r.covariance, (nf, nf)), copied(r.covariance_robust, (nf, nf))
        self.lower, self.upper = copied(r.lower, (nf,)), copied(r.upper, (nf,))
        bound = np.ctypeslib.as_array(r.at_bound, (nf,)).copy()
        held = ~(self.upper > self.lower)
        self.names = [r.name[k].decode() for k in range(nf)]
        self._n, self._linear = n, [name.split("[")[0] for name in self.names[n:n + m]]
        self.params, self.std = self._named(self.values), self._named(self.errors)
        self.std_robust, self.at_bound, self.held = self._named(robust), self._named(bound), self._named(held)
        self.std_curvature = self._named(copied(r.std_curvature, (nf,)))
        interval = copied(r.interval, (nf, 2, 2))
        ends = [[self._named(interval[:, level, end]) for end in (0, 1)] for level in (0, 1)]
        self.interval_68, self.interval_95 = (
            {n: np.stack([low[n], high[n]], -1) for n in low} for low, high in ends)
        own = copied(r.group_param, (ng, r.nmodel)), copied(r.group_linear, (ng, r.nmodel_linear))
        of_model = self.model.parameters, self.model.linear
        self.group_params = {p.name: PerGroup(own[i][:, k], self.coords) for i, items in enumerate(of_model)
                             for k, p in enumerate(items)}
        tied, tied_std = copied(r.tied, (r.ntied,)), copied(r.tied_std, (r.ntied,))
        self._take_derived(r)
        self.tied = {r.tied_name[k].decode(): (float(tied[k]), float(tied_std[k])) for k in range(r.ntied)}
        for name, (value, error) in self.tied.items():
            self.params[name], self.std[name], self.std_robust[name] = value, error, np.nan

    def _take_derived(self, r):
        nd = r.nderived
        self.derived_names = [r.derived_name[k].decode() for k in range(nd)]
        self._derived_places = {}
        for k, name in enumerate(self.derived_names):
            places, _ = self._derived_places.setdefault(name.split("[")[0], ([], r.derived_group[k] >= 0))
            places.append(k)
        self.derived, self.derived_std, self.derived_std_robust = (
            self._of_derived(copied(v, (nd,))) for v in (r.derived, r.derived_std, r.derived_std_robust))
        ends = np.moveaxis(copied(r.derived_interval, (nd, 2, 2)), 0, -1)
        self.derived_interval_68, self.derived_interval_95 = (
            {n: np.moveaxis(v, 0, -1) for n, v in self._of_derived(ends[i]).items()} for i in (0, 1))
        self.derived_units = {n: r.derived_unit[at[0]].decode() for n, (at, _) in self._derived_places.items()}

    def _of_derived(self, values):
        """{name: value}; those with one for each group as arrays over the groups; leading axes stay in front."""
        out = {}
        for name, (at, each) in self._derived_places.items():
            v = values[..., at if each else at[0]]
            out[name] = v if values.ndim > 1 else PerGroup(v, self.coords) if each else v.item()
        return out

    @property
    def correlation(self):
        with np.errstate(invalid="ignore", divide="ignore"):
            d = np.sqrt(np.diag(self.covariance))
            return self.covariance / np.outer(d, d)

    @property
    def _over(self):
        """Nonlinear parameters that the model declares over an axis (with a noise distribution of their own)."""
        return {p.name for p in self.model.parameters if p.per_group} if self.coords else set()

    def _places(self):
        """{name: places among the nonlinear ones}: one, or those of a parameter over an axis, in the order of the
        groups."""
        if self._known_places[0] is self.names:
            return self._known_places[1]
        names = self.names[:self._n]
        ngroup = next((c.size for c in self.coords.values()), 1)
        each = {o: [k for k, name in enumerate(names) if name.split("[")[0] == o] for o in self._over}
        each = {o: places for o, places in each.items() if len(places) == ngroup}  # else some are tied or shared
        places = {name.split("[")[0] if name.split("[")[0] in each else name: each.get(name.split("[")[0], [k])
                  for k, name in enumerate(names)}
        self._known_places = self.names, places
        return places

    def _named(self, full):
        """{name: value}, parameters over an axis as arrays over the groups; leading axes of `full` stay in front."""
        n, m = self._n, len(self._linear)
        out = {}
        for name, places in self._places().items():
            v = full[..., places if len(places) > 1 or name in self._over else places[0]]
            out[name] = v if full.ndim > 1 else v.item() if v.ndim == 0 else PerGroup(v, self.coords)
        groups = full[..., n:len(self.names)].reshape(*full.shape[:-1], -1, m) if m else None
        own = {name.split("[")[0] for name in self.names[n:] if "[" in name}  # of files, where the model has one value
        single = {q.name for q in self.model.linear if not q.per_group} - own
        for k, name in enumerate(self._linear):
            out[name] = groups[..., 0, k] if name in single else groups[..., k]
            if full.ndim == 1:
                out[name] = out[name].item() if name in single else PerGroup(out[name], self.coords)
        return out

    def mean(self):
        """The model at the result, in the shape of the values (frames that take part)."""
        grid, groups = dict(self._grid), self.group_params
        if "files" in grid:
            return self.model._mean_of_files(groups, grid)
        grid.update(frames=self.data.shape[-1]) if self.model.is_pairs else grid.update(values=self.data)
        return self.model.mean(groups, **grid)

    def residuals(self):
        """Values less the model; of two-time data every pair, both triangles and the diagonal."""
        data, use = self.data, self._grid.get("use")
        if use is not None:
            data = data[:, np.asarray(use)[:, None], np.asarray(use)[None, :]]
        return data - self.mean()

    def _repr_html_(self):
        rows = [(name, *self._span(name), with_error(0, np.max(self.std_robust[name]))[1], self._unit(name))
                for name in self.params]
        head = f"{self.model.name}: {self.status}; {self.npoint} values, {self._agreement()}; {self.quality}"
        return table(head, ("", "value", "error", "robust", "unit"), rows, self.converged)

    def _span(self, name):
        """Least and largest value of a parameter, and its largest error, as text."""
        value, error = self.params[name], np.max(self.std[name])
        (low, text), (high, _) = with_error(np.min(value), error), with_error(np.max(value), error)
        if np.all(np.asarray(self.held.get(name, False))):
            text = "held"
        return (f"{low} .. {high}" if np.size(value) > 1 else low), text

    def _agreement(self):
        if self.law:
            return f"log likelihood {self.log_likelihood:.6g}"
        agreement = f"chi2/dof {self.reduced_chi2:.4g}" if np.isfinite(self.reduced_chi2) else ""
        return agreement if self._weighted else ", ".join(filter(None, (f"noise {self.sigma_common:.4g}", agreement)))

    def _unit(self, name):
        items = {p.name: p for p in self.model.parameters + self.model.linear}
        unit = items[name.split("[")[0]].unit if name.split("[")[0] in items else "1"
        return "" if unit == "1" else unit

    def __repr__(self):
        lines = [f"{self.model.name}: {self.status} ({self.message}), {self.iterations} iterations, "
                 f"{self.seconds:.2f} s, {self.npoint} points, {self._agreement()}",
                 f"  {self.quality}: {self.quality_text}"]
        for name, value in self.params.items():
            unit, bound = self._unit(name), bool(np.any(self.at_bound.get(name, 0)))
            if np.size(value) > 1:
                span, error = self._span(name)
                text = " ".join(filter(None, (span, f"+- {error}" if error else "", unit, f"in {np.size(value)} groups",
                                              "(on a bound)" if bound else "")))
            else:
                ends = np.ravel(self.interval_95.get(name, (np.nan, np.nan)))
                text = value_text(np.ravel(value)[0], np.ravel(self.std[name])[0], ends, unit, bound)
            lines.append(f"  {name:<20} {text}{' (tied)' if name in self.tied else ''}")
        for name, value in self.derived.items():
            unit = "" if self.derived_units[name] == "1" else self.derived_units[name]
            for k, (x, error) in enumerate(zip(np.ravel(value), np.ravel(self.derived_std[name]))):
                text = value_text(x, error, (np.nan, np.nan), unit, False)
                lines.append(f"  {name + (f'[{k}]' if np.ndim(value) else ''):<20} {text} (derived)")
        return "\n".join(lines)

    def to_dataframe(self):
        """A DataFrame of pandas: a row for each parameter (and group): value, error, robust error, interval of 95 %,
        unit."""
        from ._frames import parameters
        return parameters(self)

    def plot(self):
        """Data, model and residuals, by matplotlib; returns the figure."""
        from . import _plot
        return _plot.fit_of_pairs(self) if self.model.is_pairs else _plot.fit_of_rows(self)

    def to_dict(self):
        """Everything in plain numbers, lists of them and words."""
        plain = {k: getattr(self, k) for k in ("converged", "status", "message", "iterations", "evaluations", "seconds",
                                               "chi2", "residual_variance", "reduced_chi2", "reduced_chi2_reason",
                                               "local_sigma", "npoint", "nfree", "sigma_common", "noise")}
        for k in ("params", "std", "std_robust", "std_curvature", "interval_68", "interval_95", "coords",
                  "derived", "derived_std", "derived_std_robust"):
            plain[k] = {name: np.asarray(v).tolist() for name, v in getattr(self, k).items()}
        return plain | {"model": self.model.name, "hash": self.model.hash, "names": self.names,
                        "covariance": self.covariance.tolist(), "sigma": self.sigma.tolist()}

    def to_inferencedata(self, draws=1000, chains=4, seed=0, robust=False):
        """Draws of the normal approximation at the result, as ArviZ's InferenceData (a dict of groups without arviz).

        It is not a sample of the posterior (the program: `homodyne fit --method nuts`, then load_posterior).
        robust: with the covariance for noise that pairs share.  Parameters without an error are constant.
        """
        covariance = self.covariance_robust if robust else self.covariance
        x = normal_draws(self.values, covariance, chains, draws, seed)
        axis = self.model.axes[0].name if self.model.axes else "group"
        posterior = self._named(x)
        per_group = [q for q, v in posterior.items() if v.ndim == 3]
        name = "c2" if self.model.is_pairs else next(c.name for c in self.model.columns if c.role == "value")
        observed = [axis, "t1", "t2"] if self.model.is_pairs else ["row"]
        return inference_data(
            {"posterior": posterior, "observed_data": {name: self.data}, "constant_data": dict(self.columns)},
            dims={**{q: [axis] for q in per_group}, name: observed, **{c: ["row"] for c in self.columns}},
            coords={axis: self.coords.get(axis, np.arange(self.sigma.size))},
            attrs={"inference_library": "homodyne-gen", "model_name": self.model.name, "model_sha256": self.model.hash,
                   "method": "normal approximation at the least-squares result", "status": self.status})
