"""Compiled models of two-time correlations and of tables: values, derivatives, fits of arrays, results of fits.

    import homodyne_gen as hg

    m = hg.load_model("laminar")
    c2 = m.mean({"D0": 6000, "alpha": -0.3}, frames=200, dt=0.1, q=0.0054, gap=2e6, phi=[0, 45, 90])
    r = m.fit(measured, dt=0.1, q=0.0054, gap=2e6, phi=[0, 45, 90])
    print(r)
    draws = m.sample(measured, dt=0.1, q=0.0054, gap=2e6, phi=[0, 45, 90])
    idata = draws.to_inferencedata()

    d = hg.load_data("E0173_results.h5", q=0.0054)     # any layout that the programs know; also tables
    r = hg.load_model("laminar").fit(d, gap="200 um")
    r.plot(); r.to_dataframe()                  # matplotlib, pandas

    own = hg.load_model("my_model.lua")         # compiled when it is first loaded

    results = hg.load_results("results")        # the folder that `homodyne fit` wrote
    idata = hg.load_posterior("results")        # its posterior.nc
"""
from . import _library
from ._library import DataError, Error, FileError, LibraryMissing, NumericError, Stopped, UsageError
from .model import Item, Model, load_model, models
from ._bridge import Objective
from ._load import Data, Table, load_data
from .draws import Draws
from .fit import Fit
from .many import ManyFits
from .results import Results, load_posterior, load_results

__all__ = ["Data", "DataError", "Draws", "Error", "FileError", "Fit", "Item", "LibraryMissing", "ManyFits", "Model",
           "NumericError", "Objective", "Results", "Stopped", "Table", "UsageError", "load_data", "load_model",
           "load_posterior", "load_results", "models"]


def __getattr__(name):
    if name != "__version__":
        raise AttributeError(f"module 'homodyne_gen' has no attribute '{name}'")
    from importlib import metadata
    try:
        return metadata.version("homodyne-gen")
    except metadata.PackageNotFoundError:  # run from its sources
        return _library.loaded().fit_api_release().decode()
