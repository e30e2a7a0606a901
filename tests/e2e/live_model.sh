#!/bin/sh
# The model in a page, in a browser with a real pointer: live_model.sh BINDIR LIVE_POINTS
# Sliders, keys and fingers move the model; its values are those of the kernels of this machine to 1e-12; a page without
# the kernel is as it always was. Needs Chromium, python3, and kernels as WebAssembly; else it is skipped.
set -eu
bin=$1 points=$2
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
[ -s "$bin/../share/homodyne-gen/live/laminar.wasm" ] ||
    { echo "SKIPPED: the build had no clang for WebAssembly"; exit 77; }

flow="--set D0=8000 --set alpha=-0.3 --set D_offset=100 --set gamma_dot_t0=0.003 --set beta=-0.2
    --set gamma_dot_t_offset=0.0003 --set phi0=5"
# shellcheck disable=SC2086  # a list of words
"$h" simulate --model laminar -o data.h5 --frames 256 --dt 0.1 --q 0.0054 --gap 2000000 --phi 0,30,90 --contrast 0.3 \
    --offset 1 \
    --noise 0.003 --seed 1 $flow --quiet --config-out my.yaml
expect 0 "$h" fit my.yaml -o result --quiet
expect 0 "$h" report result -o page.html --quiet
has page.html '"wasm":"'

# another model in that name: the hash is not that of the fit, the page has no kernel
sed 's/"hash": "[0-9a-f]*"/"hash": "0000"/' result/fit.json >result/fit.json.new
cp -r result other
mv result/fit.json.new other/fit.json
expect 0 "$h" report other -o static.html --quiet
hasnot static.html '"wasm":"'

# blocks of pairs: 23 angles of 1000 frames
# shellcheck disable=SC2086
"$h" simulate --model laminar -o big.h5 --frames 1000 --dt 0.1 --q 0.0054 --gap 2000000 --phi "$(seq -s, -88 8 88)" \
    --contrast 0.3 \
    --offset 1 --noise 0.01 --seed 2 $flow --quiet --config-out big.yaml
expect 0 "$h" fit big.yaml -o big --quiet
expect 0 "$h" report big -o big.html --quiet
[ "$(wc -c <big.html)" -lt 3000000 ] || fail "a report of 23 x 1000 has $(wc -c <big.html) bytes"

# tables, and parameters that are tied or of one file among several
examples=$here/../../examples
expect 0 "$bin/homodyne-kww" fit --data "$examples/kww/data.csv" -o kww --quiet
expect 0 "$h" report kww -o kww.html --quiet
expect 0 "$bin/homodyne-diffusion_q" fit --data "$examples/diffusion_q/data.csv" -o rings --quiet
expect 0 "$h" report rings -o rings.html --quiet
expect 0 "$h" fit my.yaml --tie "D_offset=0.01*D0" -o tied --quiet
expect 0 "$h" report tied -o tied.html --quiet
{ cat my.yaml && echo 'ties: {D_offset: "0.01*D0"}'; } >before.yaml
expect 0 "$h" report before.yaml -o before.html --quiet
# shellcheck disable=SC2086
"$h" simulate --model laminar -o other.h5 --force --frames 256 --dt 0.1 --q 0.0054 --gap 2000000 --phi 0,30,90 \
    --contrast 0.3 \
    --offset 1 --noise 0.003 --seed 5 $flow --set D0=12000 --quiet
expect 0 "$h" fit --config my.yaml --data data.h5 --data other.h5 --share D0=per_file -o two --quiet
expect 0 "$h" report two -o two.html --quiet

code=0
python3 "$here/live_model.py" "$dir" "$points" || code=$?
[ "$code" -ne 77 ] || exit 77
[ "$code" -eq 0 ] || fail "live_model.py: $code"
finish
