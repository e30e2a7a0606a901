"""Draws from the posterior of a model and arrays."""
from typing import Dict

import numpy as np

from ._arrays import copied
from ._inference import inference_data
from ._library import loaded
from ._notebook import table
from ._numbers import with_error
from .fit import Fit, _Options


class Draws:
    """The result of Model.sample.

    draws            {name: (chains, draws) or, for parameters over an axis and the noise `sigma`,
                     (chains, draws, groups)}; no `sigma` if the model has a noise distribution of its own
    robust           the same for noise that pairs of frames share, or None
    fit              the least-squares Fit from which sampling started
    verdict, verdict_text   "good", "doubtful" or "failed" (do not use the numbers), and the reason
    summary          {column: {"mean", "sd", "q025", "median", "q975", "r_hat", "ess_bulk", "ess_tail"}};
                     printed tables show the smaller ESS of the two
    max_r_hat, min_ess, divergences, pareto_k, seconds, seed, complete
    log_likelihood, predictive   (chains, kept, rows), of every step_kept-th draw: the log likelihood of each row of a
                     table; values drawn from the noise distribution, for models that have their own (otherwise None)
    stats            {"lp", "energy", "diverging", ...: (chains, draws)}
    """

    def __init__(self, model, problem, geometry, values, options, grid):
        lib = loaded()
        self.model = model
        r = _Options(model, problem, **options).run(lib.fit_api_sample, lib.fit_api_draws_free, problem)
        try:
            d = r.contents
            self.fit = Fit._of(model, problem, geometry, values, grid, d.fit.contents)
            self._take(d)
        finally:
            lib.fit_api_draws_free(r)

    def _take(self, d):
        shape, n = (d.chains, d.draws), d.ncolumn
        self.names = [d.name[k].decode() for k in range(n)]
        self.complete, self.verdict = bool(d.complete), d.verdict_word.decode()
        self.verdict_text = d.verdict_text.decode()
        self.max_r_hat, self.min_ess, self.divergences = d.max_r_hat, d.min_ess, d.divergences
        self.pareto_k, self.seconds, self.seed = d.pareto_k, d.seconds, d.seed
        self.draws = self._named(copied(d.x, (*shape, n)))
        self.robust = self._named(copied(d.x_robust, (*shape, n))) if d.x_robust else None
        kept = (d.chains, d.kept, d.nrow)
        self.log_likelihood, self.predictive = (copied(x, kept) if d.nrow and x else None
                                                for x in (d.log_likelihood, d.predictive))
        self.step_kept = d.step_kept
        keys = ("mean", "sd", "q025", "median", "q975", "r_hat", "ess_bulk", "ess_tail")
        columns = {key: copied(getattr(d, key), (n,)) for key in keys}
        self.summary = {name: {key: float(columns[key][k]) for key in keys} for k, name in enumerate(self.names)}
        self.stats = {"lp": copied(d.lp, shape)}
        for key, where in (("energy", d.energy), ("acceptance_rate", d.accept), ("step_size", d.step),
                           ("tree_depth", d.depth)):
            if where:
                self.stats[key] = copied(where, shape)
        if d.diverging:
            self.stats["diverging"] = np.ctypeslib.as_array(d.diverging, shape).astype(bool)

    def _named(self, x):
        f, first = self.fit, len(self.fit.names)
        last = x.shape[-1] - len(f.derived_names)
        sigma = {} if f.law else {"sigma": x[..., first:last] if self.model.axes else x[..., first]}
        return {**f._named(x), **sigma, **f._of_derived(x[..., last:])}

    def __getitem__(self, name: str) -> np.ndarray:
        return self.draws[name]

    def to_dict(self) -> Dict[str, np.ndarray]:
        """{name: draws}, as .draws."""
        return dict(self.draws)

    def to_inferencedata(self, robust: bool = False):
        """ArviZ's InferenceData; without arviz, a dict of its groups.

        The groups are posterior, sample_stats and observed_data; for tables also log_likelihood; for models with a
        noise distribution of their own also posterior_predictive, as in posterior.nc.  Parameters that were held, and
        known noise, are in constant_data.

        robust     True: the draws for noise that pairs of frames share
        """
        f, m = self.fit, self.model
        posterior = self.robust if robust and self.robust else self.draws
        axis = m.axes[0].name if m.axes else "group"
        name = "c2" if m.is_pairs else next(c.name for c in m.columns if c.role == "value")
        observed = [axis, "t1", "t2"] if m.is_pairs else ["row"]
        constant = {key: v[0, 0] for key, v in posterior.items() if np.all(v == v[0, 0])}
        per_group = {key: [axis] for key, v in posterior.items() if v.ndim == 3}
        return inference_data(
            {"posterior": {key: v for key, v in posterior.items() if key not in constant}, "sample_stats": self.stats,
             "observed_data": {name: f.data}, "constant_data": {**constant, **f.columns},
             "log_likelihood": {} if self.log_likelihood is None else {name: self.log_likelihood},
             "posterior_predictive": {} if self.predictive is None else {name: self.predictive}},
            dims={**per_group, name: observed, **{c: ["row"] for c in f.columns}},
            coords={axis: f.coords.get(axis, np.arange(f.sigma.size))},
            attrs={"inference_library": "homodyne-gen", "model_name": m.name, "model_sha256": m.hash,
                   "verdict": self.verdict, "verdict_text": self.verdict_text, "seed": int(self.seed)})

    def _rows(self):
        for name, s in self.summary.items():
            if not np.isnan(s["r_hat"]):
                mean, low, high = (with_error(s[key], s["sd"])[0] for key in ("mean", "q025", "q975"))
                yield (name, mean, with_error(s["mean"], s["sd"])[1], low, high, f"{s['r_hat']:.3f}",
                       f"{min(s['ess_bulk'], s['ess_tail']):.0f}", self.fit._unit(name))

    def __repr__(self):
        first = next(iter(self.draws.values()))
        lines = [f"{self.model.name}: {first.shape[0]} x {first.shape[1]} draws, {self.seconds:.2f} s; "
                 f"{self.verdict}: {self.verdict_text}",
                 f"  {'':<20} {'mean':>12} {'sd':>8} {'2.5 %':>10} {'97.5 %':>10} {'R-hat':>6} {'ESS':>6}"]
        lines += [f"  {r[0]:<20} {r[1]:>12} {r[2]:>8} {r[3]:>10} {r[4]:>10} {r[5]:>6} {r[6]:>6}  {r[7]}".rstrip()
                  for r in self._rows()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = ("", "mean", "sd", "2.5 %", "97.5 %", "R-hat", "ESS", "unit")
        return table(f"{self.model.name}: {self.verdict}: {self.verdict_text}", head, list(self._rows()),
                     self.verdict == "good")
