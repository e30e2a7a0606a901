"""Data files as arrays: two-time data of every layout that the programs know, and tables."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _library
from ._arrays import array, copied, pointer
from ._library import UsageError, failure, loaded
from ._notebook import table
from ._numbers import span_text

KINDS = {None: 0, "pairs": 1, "table": 2}


class Data:
    """Two-time data: what load_data read of a file; the first argument of Model.fit and Model.sample.

    values   (matrices, frames, frames); sigma: its standard deviation, or None
    q, phi   of each matrix, 1/angstrom and degrees (NaN: the file does not give)
    dt, time s; None where the file does not give
    layout, file, first_frame, notes
    """

    def __init__(self, file: str, c: Any):
        n, m = c.nframe, c.nmatrix
        self.file, self.layout, self.first_frame = file, c.layout.decode(), c.first
        self.values = copied(c.value, (m, n, n))
        self.sigma = copied(c.sigma, (m, n, n)) if c.sigma else None
        self.q, self.phi = copied(c.q, (m,)), copied(c.phi, (m,))
        self.time = copied(c.time, (n,)) if c.time else None
        self.dt: Optional[float] = None if np.isnan(c.dt) else c.dt
        self.notes: List[str] = [c.note[k].decode() for k in range(c.nnote)]

    def for_model(self, model: Any) -> Dict[str, Any]:
        """What fit() takes of it: dt, axes and settings of the model that the file tells."""
        given: Dict[str, Any] = {"dt": self.dt, "sigma": self.sigma}
        known = {"q": ("1/angstrom", self.q), "phi": ("deg", self.phi)}
        for item in model.axes + model.settings:
            if item.name not in known or not np.isfinite(known[item.name][1]).all():
                continue
            values = known[item.name][1]
            if item not in model.axes:
                if np.ptp(values) > 0:
                    raise UsageError(f"{self.file}: has q from {values.min():g} to {values.max():g} 1/angstrom, and "
                                     f"{model.name} is for one: load_data(..., q=)")
                values = values[0]
            given[item.name] = _Stated(values, known[item.name][0])
        return {k: v for k, v in given.items() if v is not None}

    def plot(self, axes: Any = None) -> Any:
        """Maps of the matrices, by matplotlib; returns the figure."""
        from ._plot import maps
        return maps(self.values, self._titles(), self._extent(), axes)

    def _titles(self) -> List[str]:
        return [", ".join(f"{n} = {v:g} {u}" for n, v, u in (("q", q, "Å⁻¹"), ("φ", p, "°")) if np.isfinite(v))
                for q, p in zip(self.q, self.phi)]

    def _extent(self) -> Any:
        return None if self.time is None else (self.time[0], self.time[-1])

    def _rows(self) -> List[Any]:
        return [("matrices", len(self.values), ""), ("frames", self.values.shape[1], ""),
                ("dt", "not told" if self.dt is None else f"{self.dt:.6g}", "s"),
                ("q", span_text(self.q), "1/angstrom"), ("phi", span_text(self.phi), "deg")]

    def __repr__(self) -> str:
        lines = [f"{self.file}: layout {self.layout}"]
        lines += [f"  {name:<10} {value} {unit}".rstrip() for name, value, unit in self._rows()]
        return "\n".join(lines + [f"  note: {n}" for n in self.notes])

    def _repr_html_(self) -> str:
        return table(f"{self.file}: {self.layout}", ("", "", "unit"), self._rows())


class _Stated:
    """Numbers with their unit, as _units.plain knows them."""

    def __init__(self, value: Any, unit: str):
        self.value, self.unit = value, unit


class Table(Mapping):
    """Columns of a file by name: what load_data read; the first argument of Model.fit of a model of tables.

    units    {name: unit} of columns that state one;  notes, file
    """

    def __init__(self, file: str, c: Any):
        self.file = file
        names = [c.column_name[k].decode() for k in range(c.ncolumn)]
        self._columns = {name or str(k + 1): copied(c.column[k], (c.nrow,)) for k, name in enumerate(names)}
        self.units = {names[k]: c.column_unit[k].decode() for k in range(c.ncolumn) if c.column_unit[k]}
        self.notes: List[str] = [c.note[k].decode() for k in range(c.nnote)]

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"no column '{name}'; there are {', '.join(self._columns)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def columns(self) -> List[str]:
        return list(self._columns)

    def to_dataframe(self) -> Any:
        """A DataFrame of pandas; units in its .attrs["units"]."""
        from ._frames import frame
        return frame(self._columns, units=self.units)

    def _rows(self) -> List[Any]:
        return [(name, span_text(v), self.units.get(name, "")) for name, v in self._columns.items()]

    def __repr__(self) -> str:
        rows = len(next(iter(self._columns.values()), ()))
        lines = [f"{self.file}: a table of {rows} rows"]
        lines += [f"  {name:<12} {value} {unit}".rstrip() for name, value, unit in self._rows()]
        return "\n".join(lines + [f"  note: {n}" for n in self.notes])

    def _repr_html_(self) -> str:
        return table(f"{self.file}: a table", ("", "", "unit"), self._rows())


def _words(pairs: Optional[Mapping[str, str]]) -> Any:
    words = [str(w).encode() for pair in dict(pairs or {}).items() for w in pair]
    return (ctypes.c_char_p * (len(words) + 1))(*words, None) if words else None


def load_data(file: Union[str, "os.PathLike[str]"], *, q: Any = None, phi: Optional[Sequence[float]] = None,
              frames: Optional[Sequence[int]] = None, dt: Any = None, dataset: Optional[str] = None,
              columns: Optional[Mapping[str, str]] = None, units: Optional[Mapping[str, str]] = None,
              layout: Optional[str] = None, kind: Optional[str] = None) -> Union[Data, Table]:
    """What a data file holds: two-time data as Data, a table as Table.

        d = load_data("E0173_results.h5", q=0.0054)
        r = load_model("laminar").fit(d, gap="200 um")

    q          1/angstrom, or a text with a unit: the nearest of the file; None: every q
    phi        degrees: the nearest azimuth to each; None: all
    frames     (first, last) rows of the matrices, from 1
    dt         s, where the file does not give it
    dataset    the matrices (or the table) in a file of no known layout; columns={"q": "/path", "phi": ..., "t": ...}
               and units={"q": "nm^-1"} what belongs to them
    kind       "pairs" or "table": what it must be
    """
    if kind not in KINDS:
        raise UsageError(f"kind: '{kind}'; 'pairs' and 'table' are known")
    name = os.fspath(file)
    angles = None if phi is None else np.atleast_1d(array(phi, "phi", None, "deg"))
    first, last = (0, 0) if frames is None else (int(frames[0]), int(frames[1]))
    keep = [_words(columns), _words(units), angles]
    options = _library.FileOptions(
        kind=KINDS[kind], layout=layout.encode() if layout else None, dataset=dataset.encode() if dataset else None,
        columns=keep[0], units=keep[1], q=np.nan if q is None else float(array(q, "q", (), "1/angstrom")),
        dt=np.nan if dt is None else float(array(dt, "dt", (), "s")), nphi=0 if angles is None else angles.size,
        phi=pointer(angles), first=first, last=last)
    c = loaded().fit_api_load(name.encode(), _library.byref(options))
    if not c:
        raise failure()
    try:
        return (Table if c.contents.layout == b"table" else Data)(name, c.contents)
    finally:
        loaded().fit_api_file_free(c)
