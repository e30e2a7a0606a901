"""Pictures by matplotlib, where it is installed."""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any, List, Sequence

import numpy as np

from ._library import DataError, Error


class MatplotlibMissing(Error, ImportError):
    """matplotlib is not installed."""


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MatplotlibMissing("matplotlib is needed to plot: pip install matplotlib") from None
    return pyplot


def _range(values: np.ndarray) -> Any:
    """Colours from the least to the most but for a few, the diagonal left out."""
    off = values[..., ~np.eye(values.shape[-1], dtype=bool)]
    off = off[np.isfinite(off)]
    return tuple(np.quantile(off, (0.002, 0.998))) if off.size else (0.0, 1.0)


def _map(ax: Any, values: np.ndarray, extent: Any, limits: Any, colours: str) -> Any:
    box = None if extent is None else (*extent, *extent)
    return ax.imshow(values, origin="lower", extent=box, vmin=limits[0], vmax=limits[1], cmap=colours)


def _label(ax: Any, extent: Any, title: str, left: bool, bottom: bool) -> None:
    unit = "frame" if extent is None else "s"
    ax.set_title(title, fontsize=9)
    if bottom:
        ax.set_xlabel(f"$t_2$ ({unit})")
    if left:
        ax.set_ylabel(f"$t_1$ ({unit})")


def maps(values: np.ndarray, titles: Sequence[str], extent: Any = None, axes: Any = None) -> Any:
    """Matrices side by side, one colour bar."""
    n = len(values)
    if axes is None:
        columns = min(n, 4)
        figure, axes = _pyplot().subplots(-(-n // columns), columns, figsize=(3 * columns, 2.8 * -(-n // columns)),
                                          squeeze=False, layout="constrained")
    axes = np.ravel(axes)
    limits, last = _range(values), None
    for k, ax in enumerate(axes):
        if k >= n:
            ax.set_axis_off()
            continue
        last = _map(ax, values[k], extent, limits, "viridis")
        _label(ax, extent, titles[k], k == 0, True)
    axes[0].figure.colorbar(last, ax=list(axes[:n]), label="$c_2$")
    return axes[0].figure


def fit_of_pairs(fit: Any) -> Any:
    """Data, model and residuals of each group, one row each."""
    model, residual = fit.mean(), fit.residuals()
    data, n = model + residual, len(model)
    figure, axes = _pyplot().subplots(n, 3, figsize=(9, 2.6 * n), squeeze=False, layout="constrained")
    times = None if fit.time is None else np.broadcast_to(fit.time, (n, np.shape(fit.time)[-1]))
    limits, size = _range(data), _range(np.abs(residual))[1]
    for k in range(n):
        t = None if times is None else times[k][np.isfinite(times[k])]
        extent = None if t is None else (t[0], t[-1])
        where = ", ".join(f"{a} = {c[k]:g}" for a, c in fit.coords.items())
        rows = ((data[k], f"data {where}", limits, "viridis"), (model[k], "model", limits, "viridis"),
                (residual[k], "residual", (-size, size), "RdBu_r"))
        for j, (values, title, lim, colours) in enumerate(rows):
            shown = _map(axes[k, j], values if t is None else values[:t.size, :t.size], extent, lim, colours)
            _label(axes[k, j], extent, title, j == 0, k == n - 1)
            if j:
                figure.colorbar(shown, ax=axes[k, j])
    return figure


def results_of_pairs(results: Any) -> Any:
    """The maps of fit.h5: data, model and residuals of each matrix."""
    maps = results.arrays.get("data", {})
    if "c2" not in maps:
        raise DataError(f"{results.folder}: fit.h5 holds no maps; `homodyne report` draws a table")
    data = np.asarray(maps["c2"])
    model = np.asarray(maps.get("c2_model", np.full(data.shape, np.nan)))
    t1 = np.asarray(maps.get("t_of_group", maps.get("t1", [])))
    shown = SimpleNamespace(mean=lambda: model, residuals=lambda: data - model, time=t1 if t1.size else None,
                            coords=results.coords or {"matrix": np.arange(len(data))})
    return fit_of_pairs(shown)


def _curves(fit: Any) -> List[np.ndarray]:
    """Rows of each group."""
    place = fit.place
    if not place:
        return [np.arange(len(fit.data))]
    keys = list(zip(*(v.tolist() for v in place.values())))
    return [np.array([i for i, key in enumerate(keys) if key == one]) for one in dict.fromkeys(keys)]


def fit_of_rows(fit: Any) -> Any:
    """Data with errors, the model, and residuals below, over the first column."""
    name = next(iter(fit.columns), None)
    x = fit.columns[name] if name else np.arange(len(fit.data))
    figure, (top, low) = _pyplot().subplots(2, 1, sharex=True, figsize=(6, 5), layout="constrained",
                                            gridspec_kw={"height_ratios": (3, 1)})
    mean, errors = fit.mean(), fit.row_sigma
    for k, rows in enumerate(_curves(fit)):
        rows = rows[np.argsort(x[rows], kind="stable")]
        bars = None if errors is None else np.broadcast_to(errors, len(x))[rows]
        top.errorbar(x[rows], fit.data[rows], bars, fmt=".", color=f"C{k}", ms=4, lw=0.8, zorder=1)
        top.plot(x[rows], mean[rows], color=f"C{k}" if k else "k", zorder=2)
        low.errorbar(x[rows], fit.data[rows] - mean[rows], bars, fmt=".", color=f"C{k}", ms=4, lw=0.8)
    low.axhline(0, color="0.6", lw=0.8)
    positive = x[np.isfinite(x)]
    if positive.size and positive.min() > 0 and positive.max() > 30 * positive.min():
        low.set_xscale("log")
    unit = {c.name: c.unit for c in fit.model.columns}
    value = next(c.name for c in fit.model.columns if c.role == "value")
    low.set_xlabel(f"{name or 'row'}" + (f" ({unit[name]})" if name and unit[name] != "1" else ""))
    top.set_ylabel(value + (f" ({unit[value]})" if unit[value] != "1" else ""))
    low.set_ylabel("residual")
    return figure
