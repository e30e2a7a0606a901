#!/bin/bash
# test-wheel.sh WHEEL.whl [SUITE ...]: tries the binary wheel in bare Debians (default: bullseye bookworm trixie).
#
# Each is made by debootstrap in a temporary folder, with Python, pip and nothing else: no compiler, no HDF5, no Lua.
# An ordinary user installs the wheel in an environment of its own, runs the demo, a fit, a posterior, a report and the
# viewer, uses the Python package, is told what a model of one's own needs, gets it by pip, and compiles one.  A wheel
# for aarch64 is tried in Debians of arm64, by qemu-user where this machine is another (Debian: qemu-user-static).
# Needs root and a network.
set -euo pipefail
wheel=$(readlink -f "$1")
shift
suites=${*:-bullseye bookworm trixie}
mirror=${MIRROR:-http://deb.debian.org/debian}
case $wheel in *_aarch64.whl) arch=arm64 ;; *) arch=amd64 ;; esac
[ "$(id -u)" -eq 0 ] || { echo "test-wheel: needs root" >&2; exit 1; }

try() { # in the chroot, as the user
    cat <<'TRY'
set -eu
cd
python3 -m venv env
. env/bin/activate
pip install --quiet --no-cache-dir /tmp/*.whl numpy
homodyne --version
for name in hdf5 libyaml zlib lua5.4 libmicrohttpd; do
    [ -s env/lib/python3*/site-packages/homodyne_gen-*.dist-info/licenses/$name.txt ]
done
homodyne demo demo | tail -4
homodyne fit env/share/homodyne-gen/examples/laminar/experiment.yaml -o fitted --quiet --method nuts --draws 100 \
    --warmup 100 || [ $? -eq 2 ]
[ -s fitted/fit.json ] && [ -s fitted/posterior.nc ]
homodyne report fitted
grep -q "</html>" fitted/report.html
homodyne view env/share/homodyne-gen/examples/laminar/experiment.yaml -o viewed -q >address &
viewer=$!
for k in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -s address ] || sleep 1; done
python3 -c "import sys, urllib.request as u
page = u.urlopen(open('address').readline().strip(), timeout=20).read()
sys.exit(b'<title>homodyne view' not in page)"
kill $viewer
homodyne-kww info >info.txt
cat >try.py <<'PY'
import numpy as np
import homodyne_gen as hg
m, x = hg.load_model("kww"), np.logspace(-3, 1, 80)
y = m.mean({"tau": 0.5, "beta": 0.7, "contrast": 0.2, "baseline": 1}, delay=x) + 1e-3 * np.sin(7.0 * np.arange(80))
r = m.fit(y, sigma=1e-3, delay=x, progress=False)
assert r.converged and abs(r.params["tau"] - 0.5) < 0.05
print("Python:", hg.__version__, len(hg.models()), "models", r.params["tau"])
PY
python3 try.py
cat >own.lua <<'LUA'
local m = model "own" { title = "A decay of one's own" }
local t, y = m.columns({ "t", unit = "s", range = {0, 50} }, "y")
local tau = m.parameter("tau", { unit = "s", start = 10, bounds = {0.1, 1000} })
m.observe(y, { mean = exp(-t / tau) })
LUA
python3 >own.csv -c "import math
print('t,y')
for k in range(40): print(k, math.exp(-k / 8) + 1e-3 * math.sin(9 * k), sep=',')"
if homodyne fit --model own.lua --data own.csv -o own 2>err; then echo "a compiler where there is none?"; exit 1; fi
grep -q "homodyne-gen\[compiler\]" err || { cat err; exit 1; }
pip install --quiet --no-cache-dir "$(echo /tmp/*.whl)[compiler]"
homodyne fit --model own.lua --data own.csv -o own --quiet
python3 -c "import json
tau = json.load(open('own/fit.json'))['parameters']['tau']['value']
print('own model: tau', tau)
assert abs(tau - 8) < 0.02"
TRY
}

for suite in $suites; do
    root=$(mktemp -d)
    chmod 755 "$root"
    debootstrap --arch=$arch --variant=minbase --include=python3,python3-venv,ca-certificates "$suite" "$root" \
        "$mirror" >/dev/null
    for file in /etc/resolv.conf /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
        [ ! -e $file ] || cp -L $file "$root$file"
    done
    mount --bind /proc "$root/proc"
    trap 'umount "$root/proc"; rm -rf "$root"' EXIT
    cp "$wheel" "$root/tmp/"
    try >"$root/tmp/try.sh"
    chroot "$root" useradd -m tester
    echo "== $suite, $(chroot "$root" ldd --version | head -1)"
    kept=$(env | grep -i '^\(pip_\|https\?_proxy\|no_proxy\|ssl_cert\|requests_ca\)' || true)
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin $kept \
        chroot "$root" su -m tester -c 'HOME=/home/tester sh /tmp/try.sh'
    umount "$root/proc"
    rm -rf "$root"
    trap - EXIT
    echo "== $suite: good"
done
