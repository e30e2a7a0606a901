"""numpy arrays as the library takes them, and names as it knows them."""
import ctypes
import difflib

import numpy as np

from ._library import DataError, UsageError, doubles


def array(values, what, shape=None):
    """A contiguous array of doubles; DataError when it is none, or has another shape."""
    try:
        out = np.asarray(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as why:
        raise DataError(f"{what}: not an array of numbers: {why}") from None
    if shape is not None and out.shape != tuple(shape):
        raise DataError(f"{what}: shape {out.shape}; {tuple(shape)} would be right")
    return out


def pointer(values, kind=doubles):
    return None if values is None else values.ctypes.data_as(kind)


def pointers(arrays):
    """An array of pointers; None becomes NULL."""
    return (doubles * max(len(arrays), 1))(*(pointer(a) or doubles() for a in arrays))


def copied(where, shape):
    """A copy of doubles that the library owns."""
    n = int(np.prod(shape))
    if n == 0 or not where:
        return np.empty(shape)
    return np.ctypeslib.as_array(ctypes.cast(where, doubles), (n,)).reshape(shape).copy()


def check_name(name, known, what, where):
    """UsageError with the nearest name when `name` is not among those that are known."""
    if name in known:
        return
    near = difflib.get_close_matches(str(name), list(known), 1)
    hint = f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(known)}" if known else ""
    raise UsageError(f"{where}: no {what} '{name}'{hint}")
