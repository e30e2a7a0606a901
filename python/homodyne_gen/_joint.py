"""Several data files in one fit: their values side by side, each with its settings, told apart by the number of the
file."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Mapping

import numpy as np

from ._arrays import pointer, pointers
from ._frames import is_table
from ._library import DataError, UsageError
from ._library import Data as Spec
from ._load import Data


def is_several(values: Any) -> bool:
    """A list of what load_data read, of DataFrames, of dicts: files of one fit."""
    if not isinstance(values, (list, tuple)) or len(values) == 0:
        return False
    return all(isinstance(v, Data) or is_table(v) for v in values)


def _own(model: Any, given: Mapping[str, Any], f: int, n: int) -> Dict[str, Any]:
    """What was given by name, for file f of n: of a setting a list has a value for each."""
    settings = {s.name for s in model.settings}
    own = {}
    for name, value in given.items():
        several = name in settings and isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) == 1
        if several and len(value) != n:
            raise UsageError(f"{name}: {len(value)} values for {n} files; one number, or one for each file")
        own[name] = value[f] if several else value
    return own


def _part(model: Any, part: Any, options: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    """(geometry, values) of one file; a dict may hold the keywords of fit() as well: values, sigma, dt, time,
    settings."""
    here = dict(options)
    if is_table(part) and model.is_pairs:
        here = {**here, **part}
        if "values" not in here:
            raise DataError(f"values: a dict without 'values'; {model.name} is fitted to two-time data: "
                            "{'values': (matrices, frames, frames), 'dt': ...}")
        part, given = here.pop("values"), {**given, **{k: here.pop(k) for k in list(here) if k not in options}}
    elif isinstance(part, dict):
        settings = {s.name for s in model.settings}
        given = {**given, **{k: v for k, v in part.items() if k in settings}}
    values, sigma, dt, time, given = model._unpacked(part, here["sigma"], here["dt"], here["time"], given)
    return model._placed(values, sigma, dt, time, None, given)


def joined(model: Any, files: Any, options: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    """(geometry, values) of all files together; options: sigma, dt and time of all of them, or None."""
    parts = [_part(model, part, options, _own(model, given, f, len(files))) for f, part in enumerate(files)]
    has = [g.sigma is not None for g, _ in parts]
    if any(has) and not all(has):
        raise DataError(f"sigma: file {has.index(True) + 1} has standard deviations, file {has.index(False) + 1} has "
                        "none: files of one fit need them in all or in none")
    g, values = (_pairs if model.is_pairs else _rows)(model, parts)
    setting = np.concatenate([p.setting for p, _ in parts])
    g.setting, g.data.setting, g.data.nfile = setting, pointer(setting), len(parts)
    g.data.value, g.data.sigma = pointer(values), pointer(g.sigma)
    return g, values


def _geometry(parts: Any, data: Any, keep: List[Any], shape: Any, columns: Any, place: Any, sigma: Any,
              time: Any) -> Any:
    return type(parts[0][0])(data, keep, shape, time, columns, place, np.zeros(0), sigma)


def _numbers(parts: Any, sizes: List[int]) -> Any:
    return np.repeat(np.arange(len(parts), dtype=np.uint32), sizes)


def _rows(model: Any, parts: Any) -> Any:
    columns = {c: np.concatenate([g.columns[c] for g, _ in parts]) for c in parts[0][0].columns}
    place = {a: np.concatenate([g.place[a] for g, _ in parts]) for a in parts[0][0].place}
    values = np.concatenate([v for _, v in parts])
    sigma = None if parts[0][0].sigma is None else np.concatenate([g.sigma for g, _ in parts])
    file = _numbers(parts, [v.size for _, v in parts])
    keep = [pointers([columns.get(c.name) for c in model.columns]), pointers([place[a.name] for a in model.axes]), file,
            values, sigma, *columns.values(), *place.values()]
    data = Spec(nrow=values.size, column=keep[0], axis=keep[1], file=pointer(file, ctypes.POINTER(ctypes.c_uint32)))
    return _geometry(parts, data, keep, values.shape, columns, {**place, "file": file + 1.0}, sigma, None), values


def _padded(parts: Any, arrays: Any, n: int) -> np.ndarray:
    out = np.full((sum(len(a) for a in arrays), n, n), np.nan)
    at = 0
    for a in arrays:
        out[at:at + len(a), :a.shape[-1], :a.shape[-1]] = a
        at += len(a)
    return out


def _times(parts: Any, n: int) -> Any:
    """(files, n) times, NaN behind the last frame of a file, and the frame periods."""
    time = np.full((len(parts), n), np.nan)
    for f, (g, _) in enumerate(parts):
        time[f, :g.time.size] = g.time
    return time, np.array([g.data.step for g, _ in parts])


def _pairs(model: Any, parts: Any) -> Any:
    """As many frames as the longest file has; where files differ in their times, these are told for every matrix."""
    longest = max((g for g, _ in parts), key=lambda g: g.time.size)
    n = longest.time.size
    values = _padded(parts, [v for _, v in parts], n)
    sigma = None if parts[0][0].sigma is None else _padded(parts, [g.sigma for g, _ in parts], n)
    coord = [np.concatenate([g.coord[a] for g, _ in parts]) for a in range(len(model.axes))]
    file = _numbers(parts, [len(v) for _, v in parts])
    time, step = _times(parts, n)
    keep = [pointers(coord), time, step, file, values, sigma, *coord]
    data = Spec(ngroup=len(values), coord=keep[0], ntime=n, file_time=pointer(time), file_step=pointer(step),
                file=pointer(file, ctypes.POINTER(ctypes.c_uint32)))
    alike = all(np.allclose(g.time, longest.time[:g.time.size], rtol=1e-9) for g, _ in parts)
    return _geometry(parts, data, keep, values.shape, {}, {}, sigma, longest.time if alike else time[file]), values
