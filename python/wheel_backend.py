"""Builds the wheel of homodyne_gen: `make wheel`, `pip install ./python`, or  wheel_backend.py FOLDER [ROOT [ARCH]].

A wheel of a pure package is a zip of its files with four small texts (PEP 427, PEP 517); so nothing has to be fetched.
ROOT: an installation of the programs (bin, lib, share) for the processor ARCH (x86_64, aarch64), which the wheel then
brings along, with the notices of the libraries inside (build-aux/wheel/wheel.sh).
"""
import base64
import hashlib
import pathlib
import re
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
METADATA = """\
Metadata-Version: 2.1
Name: homodyne-gen
Version: {version}
Summary: Compiled models of two-time correlation data and tables: values, derivatives, fits, results
License: BSD-3-Clause
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: results
Requires-Dist: h5py; extra == "results"
Requires-Dist: arviz; extra == "results"
{more}
{description}
"""
PURE = "ctypes upon libhomodyne-gen.so, which is installed with homodyne-gen."
BINARY = "The programs homodyne, homodyne-gen, fitters and the library; own models need a C compiler: gcc, or ziglang."
BINARY_EXTRA = 'Provides-Extra: compiler\nRequires-Dist: ziglang; extra == "compiler"\n'
PLATFORM = "manylinux_2_28_"
WHEEL = "Wheel-Version: 1.0\nGenerator: homodyne-gen\nRoot-Is-Purelib: {pure}\nTag: py3-none-{platform}\n"
# homodyne-cc: the C compiler of the extra [compiler] for models of one's own, where the system has none.
COMPILER = """#!python
import os
import sys

try:
    import ziglang  # noqa: F401
except ImportError:
    sys.exit("homodyne-cc: no C compiler: pip install 'homodyne-gen[compiler]', or install gcc")
words = [w.replace("-march=x86-64-v", "-march=x86_64_v") for w in sys.argv[1:]]
os.execv(sys.executable, [sys.executable, "-m", "ziglang", "cc", *words])
"""
# A name of another program: a wheel holds no links.
ALIAS = """#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/{target}" "$@"
"""


def version():
    text = (HERE.parent / "CMakeLists.txt").read_text()
    return re.search(r"project\(homodyne-gen VERSION ([0-9.]+)", text).group(1)


def installed(root, data):
    """{path in the wheel: bytes} of an installation below root; data: the wheel's folder of such files."""
    files = {f"{data}/scripts/homodyne-cc": COMPILER.encode()}
    for path in sorted((root / "bin").iterdir()):
        text = ALIAS.format(target=path.readlink().name).encode() if path.is_symlink() else path.read_bytes()
        files[f"{data}/scripts/{path.name}"] = text
    library = next((root / "lib").rglob("libhomodyne-gen.so"))
    files[f"{data}/data/lib/libhomodyne-gen.so"] = library.read_bytes()
    for path in sorted((library.parent / "homodyne-gen").glob("*.so")):
        files[f"{data}/data/lib/homodyne-gen/{path.name}"] = path.read_bytes()
    for path in sorted(p for p in (root / "share").rglob("*") if p.is_file() and "/doc/" not in p.as_posix()):
        files[f"{data}/data/{path.relative_to(root).as_posix()}"] = path.read_bytes()
    return files


def write_wheel(folder, root=None, arch="x86_64"):
    stem = f"homodyne_gen-{version()}"
    info, platform = f"{stem}.dist-info", PLATFORM + arch if root else "any"
    files = {f"homodyne_gen/{p.name}": p.read_bytes() for p in sorted((HERE / "homodyne_gen").iterdir())
             if p.suffix in (".py", ".typed")}
    if root:
        files.update(installed(root, f"{stem}.data"))
    more, description = (BINARY_EXTRA, BINARY) if root else ("", PURE)
    metadata = METADATA.format(version=version(), more=more, description=description)
    files[f"{info}/METADATA"] = metadata.encode()
    files[f"{info}/WHEEL"] = WHEEL.format(pure="false" if root else "true", platform=platform).encode()
    files[f"{info}/LICENSE"] = (HERE.parent / "LICENSE").read_bytes()
    for path in sorted((root / "notices").glob("*")) if root else []:
        files[f"{info}/licenses/{path.name}"] = path.read_bytes()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()

    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{stem}-py3-none-{platform}.whl"
    with zipfile.ZipFile(folder / name, "w") as z:
        for path, data in files.items():  # with one date: equal sources give equal wheels
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if ".data/scripts/" in path else 0o100644) << 16
            z.writestr(entry, data, zipfile.ZIP_DEFLATED, compresslevel=9)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory)


if __name__ == "__main__":
    print(pathlib.Path(sys.argv[1]) / write_wheel(sys.argv[1], *map(pathlib.Path, sys.argv[2:3]), *sys.argv[3:4]))
