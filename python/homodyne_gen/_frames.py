"""DataFrames of pandas, where it is installed: out of results, and in as tables."""
from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

import numpy as np

from ._library import DataError, Error, UsageError
from ._units import plain


class PandasMissing(Error, ImportError):
    """pandas is not installed."""


def frame(columns: Mapping[str, Any], index: Any = None, units: Optional[Mapping[str, str]] = None) -> Any:
    """A DataFrame; units in .attrs["units"]."""
    try:
        import pandas
    except ImportError:
        raise PandasMissing("pandas is needed for a DataFrame: pip install pandas") from None
    out = pandas.DataFrame(dict(columns), index=index)
    out.attrs["units"] = dict(units or {})
    return out


def is_table(values: Any) -> bool:
    """A DataFrame, a Table, a dict: columns by name."""
    return hasattr(values, "keys") and hasattr(values, "__getitem__") and getattr(values, "ndim", 2) != 1


def _find(values: Any, name: str) -> Any:
    """(column, unit) for a column of the model: of that name, or of that name before a unit, "tau (ms)"; None: none."""
    units: Dict[str, str] = dict(getattr(values, "units", None) or getattr(values, "attrs", {}).get("units") or {})
    for key in values.keys():
        text = str(key)
        stem, _, rest = text.partition("(" if "(" in text else "[")
        if text == name or stem.strip() == name and rest.rstrip()[-1:] in (")", "]"):
            unit = rest.rstrip()[:-1].strip() if text != name else units.get(text)
            return np.asarray(values[key]), unit or None
    return None


class _Stated:
    def __init__(self, value: Any, unit: str):
        self.value, self.unit = value, unit


def split(model: Any, values: Any, sigma: Any, given: Mapping[str, Any]) -> Any:
    """(values, sigma, columns and axes) of a table, for Model.fit; what was given by name counts before it."""
    if model.is_pairs:
        raise UsageError(f"values: a table; {model.name} is fitted to two-time data: (matrices, frames, frames)")
    out, value = dict(given), None
    for item in [c for c in model.columns] + model.axes:
        found = None if out.get(item.name) is not None else _find(values, item.name)
        if found is None:
            continue
        column = found[0] if found[1] is None else plain(_Stated(*found), item.name, item.unit)
        if item.role == "value":
            value = column
        elif item.role == "sigma":
            sigma = column if sigma is None else sigma
        else:
            out[item.name] = column
    name = next(c.name for c in model.columns if c.role == "value")
    if value is None:
        raise DataError(f"values: the table has no column '{name}', which {model.name} is fitted to; it has "
                        f"{', '.join(map(str, values.keys()))}: rename it, as in "
                        f"table.rename(columns={{...: '{name}'}})")
    return value, sigma, out


def parameters(fit: Any) -> Any:
    """The parameters of a Fit or of Results, a row for each value."""
    index, rows, units = [], [], []
    for name, value in fit.params.items():
        values, unit = np.ravel(value), fit._unit(name) or "1"
        ends = np.reshape(np.asarray(fit.interval_95.get(name, (np.nan, np.nan)), dtype=float), (-1, 2))
        for k in range(values.size):
            index.append(name if np.ndim(value) == 0 else f"{name}[{k}]")
            rows.append((values[k], _at(fit.std.get(name), k), _at(fit.std_robust.get(name), k),
                         *(ends[k] if k < len(ends) else (np.nan, np.nan))))
            units.append(unit)
    columns = dict(zip(("value", "std", "std_robust", "low_95", "high_95"),
                       np.array(rows, dtype=float).reshape(-1, 5).T))
    return frame({**columns, "unit": units}, index=index)


def _at(values: Any, k: int) -> float:
    values = np.ravel(np.nan if values is None else values)
    return float(values[k]) if k < values.size else float("nan")
