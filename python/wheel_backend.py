"""Builds the wheel of homodyne_gen: `make wheel`, `pip install ./python`, or  wheel_backend.py FOLDER.

A wheel of a pure package is a zip of its files with four small texts (PEP 427, PEP 517); so nothing has to be fetched.
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

ctypes upon libhomodyne-gen.so, which is installed with homodyne-gen.
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: homodyne-gen\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def version():
    text = (HERE.parent / "CMakeLists.txt").read_text()
    return re.search(r"project\(homodyne-gen VERSION ([0-9.]+)", text).group(1)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info = f"homodyne_gen-{version()}.dist-info"
    files = {f"homodyne_gen/{p.name}": p.read_bytes() for p in sorted((HERE / "homodyne_gen").glob("*.py"))}
    files[f"{info}/METADATA"] = METADATA.format(version=version()).encode()
    files[f"{info}/WHEEL"] = WHEEL.encode()
    files[f"{info}/LICENSE"] = (HERE.parent / "LICENSE").read_bytes()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()

    folder = pathlib.Path(wheel_directory)
    folder.mkdir(parents=True, exist_ok=True)
    name = f"homodyne_gen-{version()}-py3-none-any.whl"
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as z:
        for path, data in files.items():  # with one date: equal sources give equal wheels
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            z.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return name


if __name__ == "__main__":
    print(pathlib.Path(sys.argv[1]) / build_wheel(sys.argv[1]))
