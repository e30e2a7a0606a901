"""numpy arrays as the library takes them, and names as it knows them."""
import ctypes
import difflib
import math

import numpy as np

from ._library import DataError, UsageError, doubles
from ._units import plain


def array(values, what, shape=None, unit="1"):
    """A contiguous array of doubles in `unit`; DataError when it is none, has another shape or another kind of unit."""
    values = plain(values, what, unit)
    if np.iscomplexobj(values) or isinstance(values, (list, tuple)) and np.iscomplexobj(np.asarray(values)):
        raise DataError(f"{what}: complex numbers; give the real ones that were measured, numpy.abs(x)**2 or x.real")
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


class PerGroup(np.ndarray):
    """Values of a parameter `over` an axis, one for each group, that know where they belong: .coords, {axis:
    coordinates}.  What is computed of them, or cut from them, is a plain array, whose values are taken in the order in
    which they stand."""

    coords = None

    def __new__(cls, values, coords):
        self = np.array(values, dtype=np.float64).view(cls)
        self.coords = {axis: np.array(c, dtype=np.float64) for axis, c in coords.items()}
        return self

    def __array_wrap__(self, out, context=None, return_scalar=False):
        out = np.asarray(out)
        return out if out.ndim else out[()]

    def __getitem__(self, where):
        return np.asarray(self)[where]

    def __repr__(self):
        where = "".join(f", {axis}={c.tolist()}" for axis, c in (self.coords or {}).items())
        return f"PerGroup({np.asarray(self).tolist()}{where})"

    def __reduce__(self):
        return (PerGroup, (np.asarray(self), self.coords)) if self.coords else (np.array, (np.asarray(self),))

    def __copy__(self):
        return PerGroup(self, self.coords) if self.coords else np.array(self)

    def __deepcopy__(self, memo):
        return self.__copy__()

    def copy(self, order="C"):
        return self.__copy__()


def of_groups(value, name, coords, ngroup, unit="1"):
    """The value of parameter `name` for every group at coords: a number, an array in the order of the groups, or a
    PerGroup or {coordinate: value}, of which the coordinates decide."""
    if hasattr(value, "items"):
        if len(coords) != 1:
            raise UsageError(f"{name}: {{coordinate: value}} is for models with one axis; give an array")
        value = PerGroup(array(list(value.values()), name, None, unit), {next(iter(coords)): list(value)})
    where = getattr(value, "coords", None)
    if isinstance(value, PerGroup) and where and set(where) != set(coords):
        raise DataError(f"{name}: has a value for each {', '.join(where)}; the data are told apart by "
                        f"{', '.join(coords) or 'nothing'}")
    if isinstance(value, PerGroup) and where and not all(np.array_equal(where[a], coords[a]) for a in coords):
        return _matched(value, name, coords)
    value = array(value, name, None, unit)
    if value.shape not in ((), (1,), (ngroup,)):
        raise DataError(f"{name}: shape {value.shape}; one number, or ({ngroup},): one for each group")
    return np.broadcast_to(value, (ngroup,))


def _matched(value, name, coords):
    axes = list(coords)
    known = {}
    for number, at in zip(np.asarray(value), zip(*(value.coords[a] for a in axes))):
        if known.setdefault(at, number) != number:
            raise DataError(f"{name}: has several values at {_place(axes, at)}; give an array in the order of the "
                            "groups")
    for at in zip(*(coords[a] for a in axes)):
        if at not in known:
            raise DataError(f"{name}: has no value at {_place(axes, at)}; it has those at "
                            + "; ".join(_place(axes, other) for other in list(known)[:8])
                            + ("; ..." if len(known) > 8 else ""))
    return np.array([known[at] for at in zip(*(coords[a] for a in axes))])


def _place(axes, at):
    return ", ".join(f"{a} {x:.17g}" if float(f"{x:g}") != x else f"{a} {x:g}" for a, x in zip(axes, at))


def copied(where, shape):
    """A copy of doubles that the library owns."""
    n = math.prod(shape)
    out = np.empty(shape)
    if n and where:
        ctypes.memmove(out.ctypes.data, where, n * out.itemsize)
    return out


def check_name(name, known, what, where):
    """UsageError with the nearest name when `name` is not among those that are known."""
    if name in known:
        return
    near = difflib.get_close_matches(str(name), list(known), 1)
    hint = f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(known)}" if known else ""
    raise UsageError(f"{where}: no {what} '{name}'{hint}")
