"""The shared library libhomodyne-gen.so behind ctypes: structures and functions of fit_api.h, nothing more."""
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import threading
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_size_t, c_ubyte, c_uint32, c_uint64, c_void_p

VERSION = 1  # FIT_API_VERSION
NAMES = ("libhomodyne-gen.so", "libhomodyne-gen.so.1")
doubles = POINTER(c_double)


class Error(Exception):
    """What the library could not do; the message says where, what was wrong and what would be right."""


class UsageError(Error, ValueError):
    """Arguments, names of models, parameters and options."""


class DataError(Error, ValueError):
    """Values or shapes of arrays."""


class FileError(Error, OSError):
    """A file cannot be read or is of another kind."""


class NumericError(Error, ArithmeticError):
    """No finite value at these parameters."""


class Stopped(Error):
    """Work that `progress` or a time limit ended before there was a result."""


class LibraryMissing(Error, ImportError):
    """libhomodyne-gen.so was not found."""


_ERRORS = {1: UsageError, 2: UsageError, 3: DataError, 4: FileError, 5: MemoryError, 6: NumericError,
           8: Stopped}


class Sized(Structure):
    """A structure that begins with its size."""

    def __init__(self, **values):
        super().__init__(size=ctypes.sizeof(type(self)), **values)


class Item(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("unit", c_char_p), ("doc", c_char_p), ("start", c_double),
                ("lower", c_double), ("upper", c_double), ("per_group", c_int), ("role", c_int)]


class Data(Sized):
    _fields_ = [("size", c_size_t), ("setting", doubles), ("ngroup", c_size_t), ("coord", POINTER(doubles)),
                ("ntime", c_size_t), ("time", doubles), ("step", c_double), ("nframe", c_size_t),
                ("frame", POINTER(c_uint32)), ("nrow", c_size_t), ("column", POINTER(doubles)),
                ("axis", POINTER(doubles)), ("value", doubles), ("sigma", doubles), ("nfile", c_size_t),
                ("file", POINTER(c_uint32)), ("file_time", doubles), ("file_step", doubles)]


class Progress(Structure):
    _fields_ = [("size", c_size_t), ("phase", c_char_p), ("done", c_double), ("total", c_double), ("value", c_double),
                ("seconds", c_double)]


PROGRESS = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Progress))


class Options(Sized):
    _fields_ = [("size", c_size_t), ("start", doubles), ("lower", doubles), ("upper", doubles),
                ("fixed", POINTER(c_ubyte)), ("linear_start", doubles), ("linear_lower", doubles),
                ("linear_upper", doubles), ("linear_fixed", POINTER(c_ubyte)), ("sigma", doubles), ("loss", c_char_p),
                ("f_scale", c_double), ("scaling", c_char_p), ("max_iterations", c_size_t), ("max_seconds", c_double),
                ("start_only", c_int), ("multi_start", c_size_t), ("global_", c_int), ("seed", c_uint64),
                ("threads", c_int), ("interrupt", POINTER(c_int)), ("also", POINTER(c_char_p)),
                ("progress", PROGRESS), ("progress_user", c_void_p), ("device", c_char_p)]


class Result(Structure):
    _fields_ = [("size", c_size_t), ("nparam", c_size_t), ("nlinear", c_size_t), ("ngroup", c_size_t),
                ("nfull", c_size_t), ("npoint", c_size_t), ("nfree", c_size_t), ("converged", c_int),
                ("status", c_char_p), ("message", c_char_p), ("iterations", c_size_t), ("evaluations", c_size_t),
                ("chi2", c_double), ("residual_variance", c_double), ("reduced_chi2", c_double),
                ("sigma_common", c_double),
                ("seconds", c_double), ("threads", c_int), ("param", doubles), ("linear", doubles), ("std", doubles),
                ("std_robust", doubles), ("covariance", doubles), ("covariance_robust", doubles), ("lower", doubles),
                ("upper", doubles), ("at_bound", POINTER(ctypes.c_byte)), ("start", doubles), ("sigma", doubles),
                ("noise", c_char_p), ("name", POINTER(c_char_p)), ("ntied", c_size_t),
                ("tied_name", POINTER(c_char_p)), ("tied", doubles), ("tied_std", doubles), ("nmodel", c_size_t),
                ("nmodel_linear", c_size_t), ("group_param", doubles), ("group_linear", doubles),
                ("std_curvature", doubles), ("interval", doubles), ("quality", c_char_p), ("quality_text", c_char_p),
                ("law", c_char_p), ("log_likelihood", c_double), ("reduced_chi2_reason", c_char_p),
                ("local_sigma", c_double), ("nderived", c_size_t), ("derived_name", POINTER(c_char_p)),
                ("derived_unit", POINTER(c_char_p)), ("derived_group", POINTER(ctypes.c_long)), ("derived", doubles),
                ("derived_std", doubles), ("derived_std_robust", doubles), ("derived_interval", doubles),
                ("device", c_char_p), ("device_text", c_char_p)]


class Draws(Structure):
    _fields_ = [("size", c_size_t), ("fit", POINTER(Result)), ("chains", c_size_t), ("draws", c_size_t),
                ("warmup", c_size_t), ("ncolumn", c_size_t), ("name", POINTER(c_char_p)), ("x", doubles),
                ("x_robust", doubles), ("lp", doubles), ("energy", doubles), ("accept", doubles), ("step", doubles),
                ("depth", doubles), ("diverging", POINTER(c_ubyte)), ("mean", doubles), ("sd", doubles),
                ("q025", doubles), ("median", doubles), ("q975", doubles), ("r_hat", doubles), ("ess_bulk", doubles),
                ("ess_tail", doubles), ("complete", c_int), ("verdict", c_int), ("verdict_word", c_char_p),
                ("verdict_text", c_char_p), ("max_r_hat", c_double), ("min_ess", c_double), ("divergences", c_double),
                ("pareto_k", c_double), ("seconds", c_double), ("seed", c_uint64), ("nrow", c_size_t),
                ("kept", c_size_t), ("step_kept", c_size_t), ("log_likelihood", doubles), ("predictive", doubles),
                ("p_scatter", c_double)]


class ManyData(Sized):
    _fields_ = [("size", c_size_t), ("setting", doubles), ("ncurve", c_size_t), ("nrow", c_size_t),
                ("column", POINTER(doubles)), ("own", POINTER(c_ubyte)), ("axis", POINTER(doubles)), ("value", doubles),
                ("sigma", doubles), ("sigma_shared", c_int)]


class Many(Structure):
    _fields_ = [("size", c_size_t), ("ncurve", c_size_t), ("nparam", c_size_t), ("nlinear", c_size_t),
                ("ngroup", c_size_t), ("nfull", c_size_t), ("name", POINTER(c_char_p)), ("value", doubles),
                ("std", doubles), ("std_robust", doubles), ("interval", doubles), ("covariance", doubles),
                ("chi2", doubles), ("reduced_chi2", doubles), ("residual_variance", doubles),
                ("sigma_common", doubles), ("npoint", POINTER(c_size_t)), ("nfree", POINTER(c_size_t)),
                ("iterations", POINTER(c_size_t)), ("evaluations", POINTER(c_size_t)), ("code", POINTER(c_int)),
                ("converged", POINTER(c_int)), ("status", POINTER(c_char_p)), ("message", POINTER(c_char_p)),
                ("quality", POINTER(c_char_p)), ("quality_text", POINTER(c_char_p)), ("nderived", c_size_t),
                ("derived_name", POINTER(c_char_p)), ("derived", doubles), ("derived_std", doubles),
                ("nfailed", c_size_t), ("threads", c_int), ("seconds", c_double), ("device", c_char_p),
                ("device_text", c_char_p), ("device_sums", c_size_t), ("device_launches", c_size_t)]


class FileOptions(Sized):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("layout", c_char_p), ("dataset", c_char_p),
                ("columns", POINTER(c_char_p)), ("units", POINTER(c_char_p)), ("q", c_double), ("dt", c_double),
                ("nphi", c_size_t), ("phi", doubles), ("first", ctypes.c_long), ("last", ctypes.c_long)]


class File(Structure):
    _fields_ = [("size", c_size_t), ("layout", c_char_p), ("nmatrix", c_size_t), ("nframe", c_size_t),
                ("value", doubles), ("sigma", doubles), ("q", doubles), ("phi", doubles), ("time", doubles),
                ("dt", c_double), ("first", ctypes.c_long), ("nrow", c_size_t), ("ncolumn", c_size_t),
                ("column_name", POINTER(c_char_p)), ("column_unit", POINTER(c_char_p)), ("column", POINTER(doubles)),
                ("nnote", c_size_t), ("note", POINTER(c_char_p))]


_SIGNATURES = {
    "fit_api_version": (c_int, []),
    "fit_api_release": (c_char_p, []),
    "fit_api_message": (c_char_p, []),
    "fit_api_status": (c_int, []),
    "fit_api_open": (c_void_p, [c_char_p, c_char_p]),
    "fit_api_close": (None, [c_void_p]),
    "fit_api_folder": (c_char_p, []),
    "fit_api_text": (c_char_p, [c_void_p, c_int]),
    "fit_api_is_pairs": (c_int, [c_void_p]),
    "fit_api_count": (c_size_t, [c_void_p, c_int]),
    "fit_api_item": (c_int, [c_void_p, c_int, c_size_t, POINTER(Item)]),
    "fit_api_quantity": (c_int, [c_char_p, c_char_p, doubles]),
    "fit_api_load": (POINTER(File), [c_char_p, POINTER(FileOptions)]),
    "fit_api_file_free": (None, [POINTER(File)]),
    "fit_api_unit": (c_int, [c_char_p, c_char_p, doubles, doubles]),
    "fit_api_problem_new": (c_void_p, [c_void_p, POINTER(Data)]),
    "fit_api_problem_free": (None, [c_void_p]),
    "fit_api_groups": (c_size_t, [c_void_p]),
    "fit_api_coord": (doubles, [c_void_p, c_size_t]),
    "fit_api_evaluate": (c_int, [c_void_p, doubles, doubles, c_int, doubles, doubles]),
    "fit_api_fit": (POINTER(Result), [c_void_p, POINTER(Options)]),
    "fit_api_result_free": (None, [POINTER(Result)]),
    "fit_api_fit_many": (POINTER(Many), [c_void_p, POINTER(ManyData), POINTER(Options)]),
    "fit_api_many_free": (None, [POINTER(Many)]),
    "fit_api_sample": (POINTER(Draws), [c_void_p, POINTER(Options)]),
    "fit_api_draws_free": (None, [POINTER(Draws)]),
}


def _pkg_config():
    try:
        done = subprocess.run(["pkg-config", "--variable=libdir", "homodyne-gen"], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() or None


def _candidates():
    """Paths in order of trial: HOMODYNE_GEN_LIB (file or folder) alone when it is set; below the prefix of Python, of
    the package and of the programs in PATH; where pkg-config says; what the loader of the system finds."""
    given = os.environ.get("HOMODYNE_GEN_LIB")
    if given:
        folder = pathlib.Path(given)
        yield from ((folder / name for name in NAMES) if folder.is_dir() else (folder,))
        return
    prefixes = [pathlib.Path(sys.prefix), *pathlib.Path(__file__).resolve().parents]
    programs = filter(None, map(shutil.which, ("homodyne-gen", "homodyne")))  # another package has a homodyne, too
    prefixes += [pathlib.Path(program).resolve().parent.parent for program in programs]
    folders = [p / lib for p in prefixes for lib in ("lib", "lib64")]
    folders += sorted(f for p in prefixes if (p / "lib").is_dir() for f in (p / "lib").glob("*-linux-gnu"))
    told = _pkg_config()
    for folder in folders + ([pathlib.Path(told)] if told else []):
        for name in NAMES:
            if (folder / name).exists():
                yield folder / name
    yield from map(pathlib.PurePath, NAMES)


def _load():
    tried = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(str(path))
        except OSError as why:
            tried.append(str(why))
            continue
        for name, (result, arguments) in _SIGNATURES.items():
            try:
                function = getattr(library, name)
            except AttributeError:
                raise LibraryMissing(f"{path}: has no function {name}: not libhomodyne-gen.so, or an older "
                                     "one") from None
            function.restype, function.argtypes = result, arguments
        if library.fit_api_version() != VERSION:
            raise LibraryMissing(f"{path}: interface {library.fit_api_version()}, this package needs {VERSION}: "
                                 "install both from one version of homodyne-gen")
        return library
    raise LibraryMissing("libhomodyne-gen.so was not found (" + "; ".join(tried) + "): install homodyne-gen and "
                         "have its programs in PATH, or set HOMODYNE_GEN_LIB to the library or its folder")


_lock = threading.Lock()
_library = None


def loaded():
    """The library, loaded when it is first needed."""
    global _library
    with _lock:
        if _library is None:
            _library = _load()
        return _library


def failure():
    """The exception for the last call of this thread that failed."""
    lib = loaded()
    kind = _ERRORS.get(lib.fit_api_status(), Error)
    return kind(lib.fit_api_message().decode())


__all__ = ["Data", "DataError", "Draws", "Error", "File", "FileError", "FileOptions", "Item", "LibraryMissing", "Many",
           "ManyData",
           "NumericError", "Options", "PROGRESS", "Result", "Stopped", "UsageError", "byref", "doubles", "failure",
           "loaded"]
