"""Numbers that say their unit: texts ("0.054 nm^-1"), and quantities of astropy, pint and xarray."""
import ctypes

import numpy as np

from ._library import DataError, failure, loaded


def _of_text(text, what, unit):
    value = ctypes.c_double()
    if loaded().fit_api_quantity(text.encode(), unit.encode(), ctypes.byref(value)):
        raise DataError(f"{what}: {failure()}")
    return value.value


def _stated(values):
    """(numbers, unit) of an object that knows its unit; None for any other."""
    for unit, numbers in (("unit", "value"), ("units", "magnitude")):
        if hasattr(values, unit) and hasattr(values, numbers):
            return getattr(values, numbers), str(getattr(values, unit))
    attributes = getattr(values, "attrs", None)
    if isinstance(attributes, dict) and hasattr(values, "values"):
        unit = attributes.get("units", attributes.get("unit"))
        if isinstance(unit, dict):  # a column of a DataFrame that has those of all
            unit = unit.get(getattr(values, "name", None))
        return None if unit is None else (values.values, str(unit))
    return None


def plain(values, what, unit):
    """The numbers of `values` in `unit`; those that state none are in it already."""
    if isinstance(values, (str, bytes)):
        return _of_text(values if isinstance(values, str) else values.decode(), what, unit)
    if isinstance(values, (list, tuple)) and all(type(v) in (int, float) for v in values):
        return values
    if isinstance(values, (list, tuple)) or isinstance(values, np.ndarray) and values.dtype.kind in "USO":
        return [plain(v, what, unit) for v in values]
    stated = _stated(values)
    if stated is None:
        return values
    times, over = ctypes.c_double(), ctypes.c_double()
    if loaded().fit_api_unit(stated[1].encode(), unit.encode(), ctypes.byref(times), ctypes.byref(over)):
        raise DataError(f"{what}: {failure()}")
    return np.asarray(stated[0], dtype=np.float64) * times.value / over.value
