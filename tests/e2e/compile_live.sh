#!/bin/sh
# Kernels of a user's models for pages: compile_live.sh BINDIR
# A model that a page can show gets one; one of more linear parameters than a page eliminates gets none, so that nobody
# waits for it. Needs kernels as WebAssembly; else it is skipped.
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
[ -s "$bin/../share/homodyne-gen/live/laminar.wasm" ] || {
    echo "SKIPPED: the build had no clang for WebAssembly"
    exit 77
}
export XDG_CACHE_HOME="$dir/cache"

# sum of N amplitudes, each with its own decay
model() {
    cat >"$1.lua" <<EOF
local m = model "$1" { title = "A sum of decays" }
local x, y = m.columns({ "x", range = {0, 5} }, "y")
local mean = 0
for k = 1, $2 do
    local a = m.parameter("a" .. k, { start = 1, bounds = {-9, 9} })
    mean = mean + a * exp(-m.parameter("r" .. k, { start = k, bounds = {k - 0.4, k + 0.4} }) * x)
end
m.observe(y, { mean = mean })
EOF
    "$bin/homodyne" compile "$1.lua" --quiet >"$1.path" 2>"$1.err" || fail "compile $1: $(cat "$1.err")"
    kernel=$(cat "$1.path")
    [ -s "$kernel" ] || fail "$1: no kernel"
}

model four 4
[ -s "${kernel%.so}.wasm" ] || fail "four linear parameters: no kernel for pages"
model five 5
[ ! -e "${kernel%.so}.wasm" ] || fail "five linear parameters: a kernel that no page can use"
finish
