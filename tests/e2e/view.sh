#!/bin/sh
# `homodyne view`: it answers on 127.0.0.1 alone and only who knows the token; a real pointer chooses data, moves the
# model, fits, lays results side by side, writes a configuration; `watch --view`: view.sh BINDIR
# SECONDS_OF_NOISE=600 tests/e2e/view.sh build/bin: damaged requests for ten minutes. Needs python3; the browser's part,
# Chromium.
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne pids=
trap 'for p in $pids; do kill -INT "$p" 2>/dev/null || true; done; wait
    chmod -R u+rwx "$dir" || true; rm -rf "$dir" || true' EXIT
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
expect 3 "$h" view
if [ ! -x "$bin/homodyne-view" ]; then
    expect 3 "$h" view "$dir"
    says "apt-get install libmicrohttpd-dev"
    echo "SKIPPED: the build had no libmicrohttpd"
    exit 77
fi
"$h" simulate --model laminar -o data.h5 --frames 100 --dt 0.1 --q 0.0054 --gap 2000000 --phi 0,30,90 --contrast 0.3 \
    --offset 1 \
    --noise 0.003 --seed 1 --set D0=8000 --set alpha=-0.3 --set D_offset=100 --set gamma_dot_t0=0.003 --set beta=-0.2 \
    --set gamma_dot_t_offset=0.0003 --set phi0=5 --quiet --config-out my.yaml
expect 0 "$h" fit my.yaml -o result --quiet

# serve WORDS: begins `homodyne view`; its address is then in $url
serve() {
    rm -f address
    "$h" "$@" --quiet >address 2>serve.err &
    pids="$pids $!"
    n=0
    until grep -q http address 2>/dev/null; do
        n=$((n + 1))
        [ $n -lt 200 ] || { fail "no address: $(cat serve.err)"; finish; }
        sleep 0.1
    done
    url=$(grep http address | head -1)
}

expect 4 "$h" view nothing.h5
says "no such file"
expect 4 "$h" view data.h5 --model kww
says "is two-time data"
expect 4 "$h" view "$here/../../examples/kww/data.csv" --model laminar
says "is text; two-time data are"
expect 3 "$h" view my.yaml --port 0
mkdir made
serve view my.yaml -o made/seen
python3 "$here/view_attack.py" "$url" "$dir/made/seen" "${SECONDS_OF_NOISE:-3}" || fail "view_attack.py"
# a name that is taken stays as it is
python3 - "$url" <<'E' || fail "writing twice"
import json, sys, urllib.request, urllib.error
def write():
    r = urllib.request.Request(sys.argv[1] + "api/write", b'{"name": "once", "frames": [1, 50]}',
                               {"Content-Type": "application/json"})
    try:
        return json.load(urllib.request.urlopen(r))
    except urllib.error.HTTPError as e:
        return json.load(e)
assert write()["written"].endswith("/made/seen/once.yaml")
assert "error" in write()
E
expect 0 "$h" validate made/seen/once.yaml
grep -q 'end_frame: 50' made/seen/once.yaml || fail "the configuration has not the frames of the page"
kill -INT $!
wait $! || fail "Ctrl-C: exit code $?"
[ -z "$(find made -name '.view*')" ] || fail "what was only needed is left: $(find made -name '.view*')"

code=0
serve view result -o seen
python3 "$here/view.py" view "$dir" "$url" || code=$?
[ $code -ne 0 ] || {
    expect 0 "$h" validate seen/mine.yaml
    expect 0 "$h" fit seen/mine.yaml -o again --quiet
    has again/fit.json '"first_frame": 11'
}
[ $code -eq 0 ] || [ $code -eq 77 ] || fail "view.py view: $code"

# data alone, and a measurement that grows
[ $code -eq 77 ] || {
    serve view data.h5 --model static_isotropic -o alone
    python3 "$here/view.py" data "$dir" "$url" || fail "view.py data: $?"
    serve view "$here/../../examples/kww/data.csv" --model kww -o table
    python3 "$here/view.py" table "$dir" "$url" || fail "view.py table: $?"
    cp data.h5 grow.h5
    serve watch my.yaml --data grow.h5 -o grown --every 0.3 --view
    python3 "$here/view.py" watch "$dir" "$url" || fail "view.py watch: $?"
}
[ $code -ne 77 ] || [ $failed -ne 0 ] || { echo "SKIPPED: the part with a browser"; exit 77; }
finish
