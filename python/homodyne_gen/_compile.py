"""Model files, *.lua, compiled by the program `homodyne`."""
import os
import pathlib
import shutil
import subprocess
import sys

from ._library import Error, FileError, UsageError, loaded


def _program():
    """`homodyne` of the same installation as the library, else of the path: another package has a program of
    that name."""
    library = pathlib.Path(str(loaded()._name)).resolve()
    folders = [p / "bin" for p in list(library.parents)[1:4]] + [pathlib.Path(sys.prefix) / "bin"]
    found = shutil.which("homodyne-gen")
    folders += [pathlib.Path(found).parent] if found else []
    for folder in folders:
        if (folder / "homodyne").exists() and (folder / "homodyne-gen").exists():
            return str(folder / "homodyne")
    raise FileError("a model file is compiled by the programs `homodyne` and `homodyne-gen`, which are not beside "
                    f"{library.parent}: install homodyne-gen, or load a model that is installed")


def compiled(name):
    """Path of the kernel of the model file `name`."""
    if not os.path.exists(name):
        raise FileError(f"{name}: no such model file")
    done = subprocess.run([_program(), "compile", name], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        return done.stdout.strip()
    message = done.stderr.strip()
    raise (UsageError if done.returncode == 3 else Error)(message.removeprefix("homodyne: error: "))
