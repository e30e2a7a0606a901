#!/bin/sh
# The Python package: run.sh BUILD SOURCE.  Makes the wheel, unpacks it, runs the tests and the tutorial with it; then
# once more beside an installation, where the library is to be found without being told.
set -eu
build=$1 source=$2
python=${PYTHON:-python3}
command -v "$python" >/dev/null || { echo "skipped: no $python"; exit 77; }
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || { echo "skipped: Python older than 3.9"; exit 77; }
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: $python has no numpy"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PYTHONDONTWRITEBYTECODE=1

make -s -C "$source" wheel BUILD="$dir" PYTHON="$python"
wheel=$(echo "$dir"/dist/homodyne_gen-*.whl)
"$python" -m zipfile -e "$wheel" "$dir/site"
"$build/bin/homodyne-laminar" fit "$source/examples/laminar/experiment.yaml" -o "$dir/results" --method laplace --quiet

echo "tests of $("$python" --version), numpy $("$python" -c 'import numpy; print(numpy.__version__)')"
HOMODYNE_GEN_LIB=$build/lib PYTHONPATH=$dir/site "$python" "$source/tests/python/test_package.py" "$dir/results" \
    "$source"
HOMODYNE_GEN_LIB=$build/lib/libhomodyne-gen.so PYTHONPATH=$dir/site "$python" \
    "$source/python/tutorial.py" >"$dir/tour" ||
    { cat "$dir/tour"; echo "FAILED: tutorial.py"; exit 1; }
grep -q "did you mean 'D0'" "$dir/tour"

(cd "$source" &&
    HOMODYNE_GEN_LIB=$build/lib PYTHONPATH=$dir/site "$python" tests/python/run_notebook.py docs/notebook.ipynb)
[ -e "$dir/site/homodyne_gen/py.typed" ] || { echo "FAILED: py.typed is not in the wheel"; exit 1; }

# Beside an installation, and by pkg-config: no variable names the library.
unset HOMODYNE_GEN_LIB
cmake --install "$build" --prefix "$dir/prefix" >/dev/null

# A wheel that brings this installation along: every file with its hash, programs that may be run, no links, the notices
# of the libraries inside.
mkdir "$dir/prefix/notices"
echo "Copyright" >"$dir/prefix/notices/hdf5.txt"
binary=$("$python" "$source/python/wheel_backend.py" "$dir/binary" "$dir/prefix")
"$python" - "$binary" <<'PY'
import base64, csv, hashlib, io, sys, zipfile

wheel = zipfile.ZipFile(sys.argv[1])
names = set(wheel.namelist())
stem = next(n for n in names if n.endswith("/RECORD")).split(".dist-info")[0]
for name, digest, size in csv.reader(io.StringIO(wheel.read(f"{stem}.dist-info/RECORD").decode())):
    data = wheel.read(name)
    right = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    assert not digest or (digest == f"sha256={right}" and int(size) == len(data)), name
for name in ("homodyne", "homodyne-any", "homodyne-gen", "homodyne-laminar", "homodyne-cc", "hxla"):
    assert wheel.getinfo(f"{stem}.data/scripts/{name}").external_attr >> 16 & 0o111, name
for name in ("lib/libhomodyne-gen.so", "lib/homodyne-gen/laminar.so", "share/homodyne-gen/models/kww.lua"):
    assert f"{stem}.data/data/{name}" in names, name
assert wheel.read(f"{stem}.dist-info/licenses/hdf5.txt") == b"Copyright\n"
assert b"Root-Is-Purelib: false" in wheel.read(f"{stem}.dist-info/WHEEL")
print("binary wheel:", len(names), "files")
PY
mkdir -p "$dir/prefix/lib/python3/site-packages"
cp -r "$dir/site/." "$dir/prefix/lib/python3/site-packages"
where='import homodyne_gen as hg; print(hg.__version__, len(hg.models()), hg._library.loaded()._name)'
PYTHONPATH=$dir/prefix/lib/python3/site-packages "$python" -c "$where" | tee "$dir/where"
grep -q "$dir/prefix/" "$dir/where" || { echo "FAILED: found another library"; exit 1; }
PATH=$dir/prefix/bin:$PATH PYTHONPATH=$dir/site "$python" -c "$where" | tee "$dir/where"
grep -q "$dir/prefix/" "$dir/where" || { echo "FAILED: not found beside the programs in PATH"; exit 1; }
if command -v pkg-config >/dev/null; then
    pc=$(find "$dir/prefix" -name homodyne-gen.pc)
    PKG_CONFIG_PATH=${pc%/*} PYTHONPATH=$dir/site "$python" -c "$where" | tee "$dir/where"
    grep -q "$dir/prefix/" "$dir/where" || { echo "FAILED: not found by pkg-config"; exit 1; }
fi
