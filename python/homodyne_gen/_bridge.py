"""A model on measured values for other programs: residuals for lmfit, scipy and bumps, log densities for emcee and
others."""
from __future__ import annotations

from typing import Any, List, Optional

import numpy as np

from ._arrays import array
from ._library import DataError, Error, UsageError


class LmfitMissing(Error, ImportError):
    """lmfit is not installed."""


class Objective:
    """What Model.objective returns: a function of one vector of all parameters.

        f = m.objective(values, sigma=s, delay=t)
        scipy.optimize.least_squares(f.residuals, f.start, jac=f.jacobian, bounds=(f.lower, f.upper))
        lmfit.minimize(f, f.lmfit_parameters())
        emcee.EnsembleSampler(32, f.ndim, f.log_density)

    names, units          of the vector: the nonlinear parameters, then the linear ones, "contrast[0]" of group 0
    start, lower, upper   the model's, in its units
    residuals(x)          (value - mean) / sigma of what is finite; of two-time data each pair once
    jacobian(x)           its derivatives
    log_density(x)        of the values, normal errors, with a flat prior between the bounds; -inf outside
    """

    def __init__(self, model: Any, problem: Any, geometry: Any, values: np.ndarray, noise: Any):
        self.model, self._problem, self._values = model, problem, values
        self._shape, self._keep = geometry.shape, geometry
        self._n, groups = len(model.parameters), problem.ngroup
        self._linear = [(k, g) for g in range(groups) for k, q in enumerate(model.linear) if q.per_group or g == 0]
        items = list(model.parameters) + [model.linear[k] for k, _ in self._linear]
        several = groups > 1 or bool(problem.coords)
        self.names: List[str] = [p.name for p in model.parameters] + [
            f"{model.linear[k].name}[{g}]" if several and model.linear[k].per_group else model.linear[k].name
            for k, g in self._linear]
        self.units: List[str] = [p.unit for p in items]
        self.start, self.lower, self.upper = (np.array([getattr(p, w) for p in items], dtype=float)
                                              for w in ("start", "lower", "upper"))
        self.ndim = len(self.names)
        self._weigh(geometry, noise)

    def _weigh(self, geometry: Any, noise: Any) -> None:
        """Errors of every value, and which values count."""
        data = self._values
        if geometry.use is not None:
            data = data[:, geometry.use[:, None], geometry.use[None, :]]
        sigma = geometry.sigma
        if sigma is not None and geometry.use is not None:
            sigma = sigma[:, geometry.use[:, None], geometry.use[None, :]]
        if sigma is None:
            if noise is None:
                raise UsageError(f"{self.model.name}: sigma= or noise= is missing: residuals and log densities need "
                                 "the standard deviation of the values (a fit estimates it: r.sigma)")
            each = of_noise(noise, self._problem.ngroup)
            if self.model.is_pairs:
                sigma = np.broadcast_to(each[:, None, None], data.shape)
            elif np.ptp(each) == 0:
                sigma = np.full(data.shape, each[0])
            else:
                raise DataError(f"noise: shape {each.shape}; one number, or sigma= with an error for each row")
        self._good = np.isfinite(data) & np.isfinite(sigma)
        if np.any(sigma[self._good] <= 0):
            raise DataError("sigma: a standard deviation is not positive; give those of values that do not count as "
                            "NaN")
        if self.model.is_pairs:
            self._good = self._good & np.triu(np.ones(data.shape[-2:], dtype=bool), 1)
        self._data, self._sigma = data[self._good], sigma[self._good]
        self._constant = -np.log(self._sigma).sum() - 0.5 * self._sigma.size * np.log(2 * np.pi)

    def _split(self, x: Any) -> Any:
        if hasattr(x, "valuesdict"):  # lmfit
            x = [x[self._lmfit_name(name)].value for name in self.names]
        elif hasattr(x, "keys"):
            x = [x[name] for name in self.names]
        x = array(x, "x", (self.ndim,))
        linear = np.empty((self._problem.ngroup, len(self.model.linear)))
        for value, (k, g) in zip(x[self._n:], self._linear):
            linear[slice(None) if not self.model.linear[k].per_group else g, k] = value
        return x[:self._n].copy(), linear

    def _mean(self, x: Any, derivatives: bool = False) -> Any:
        nonlinear, linear = self._split(x)
        mean = np.empty(self._shape)
        jac = np.empty((*self._shape, self._n + len(self.model.linear))) if derivatives else None
        self._problem.evaluate(nonlinear, linear, 0, mean, jac)
        return mean, jac

    def residuals(self, x: Any) -> np.ndarray:
        return (self._data - self._mean(x)[0][self._good]) / self._sigma

    __call__ = residuals

    def jacobian(self, x: Any) -> np.ndarray:
        if self.ndim > self._n and not self.model.is_pairs and self._problem.ngroup > 1:
            raise UsageError(f"{self.model.name}: derivatives of curves of several groups: Model.jacobian has them")
        jac = self._mean(x, True)[1]
        out = np.zeros((*self._shape, self.ndim))
        out[..., :self._n] = jac[..., :self._n]
        for at, (k, g) in enumerate(self._linear):
            own = slice(g, g + 1) if self.model.is_pairs and self.model.linear[k].per_group else slice(None)
            out[own, ..., self._n + at] = jac[own, ..., self._n + k]
        return -out[self._good] / self._sigma[:, None]

    def log_density(self, x: Any) -> float:
        try:
            nonlinear, linear = self._split(x)
        except DataError:
            raise
        full = np.concatenate([nonlinear, [linear[g, k] for k, g in self._linear]])
        if not np.all((full >= self.lower) & (full <= self.upper)):
            return -np.inf
        from ._library import NumericError
        try:
            r = self.residuals(x)
        except NumericError:
            return -np.inf
        return float(self._constant - 0.5 * r @ r)

    @staticmethod
    def _lmfit_name(name: str) -> str:
        return name.replace("[", "_").replace("]", "")

    def lmfit_parameters(self) -> Any:
        """Parameters of lmfit with starts and bounds; contrast[0] is called contrast_0 there."""
        try:
            import lmfit
        except ImportError:
            raise LmfitMissing("lmfit is needed for its Parameters: pip install lmfit") from None
        out = lmfit.Parameters()
        for name, start, low, high in zip(self.names, self.start, self.lower, self.upper):
            out.add(self._lmfit_name(name), value=start, min=low, max=high)
        return out

    def __repr__(self) -> str:
        lines = [f"{self.model.name} on {self._data.size} values: {self.ndim} parameters"]
        for name, start, low, high, unit in zip(self.names, self.start, self.lower, self.upper, self.units):
            lines.append(f"  {name:<20} {start:<10.6g} {low:g} .. {high:g}  {'' if unit == '1' else unit}".rstrip())
        return "\n".join(lines)


def of_noise(noise: Any, ngroup: int) -> np.ndarray:
    """Standard deviations of the groups: one number, or one for each."""
    noise = array(noise, "noise")
    if noise.shape not in ((), (1,), (ngroup,)):
        raise DataError(f"noise: shape {noise.shape}; one number, or ({ngroup},): one for each group. An error for "
                        "each value is sigma=")
    if not np.all(noise > 0):
        raise DataError("noise: a standard deviation is not positive")
    return np.ascontiguousarray(np.broadcast_to(noise, (ngroup,)))
