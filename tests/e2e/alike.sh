#!/bin/sh
# alike.sh BIN: a model with many terms that are alike is emitted as loops, and its kernel has the values and
# derivatives of the compiler's interpreter.
set -eu
bin=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_CACHE_HOME="$dir/cache"
mkdir -m 700 "$XDG_CACHE_HOME"
cd "$dir"
fail() {
    echo "FAIL: $1"
    exit 1
}
# A parameter is called as the compiler would call its loop.
cat >alike.lua <<'END'
local m = model "alike" { title = "Peaks that are alike on a slope" }
local x, y = m.columns({ "x", range = {0, 25} }, "y")
local turn = m.parameter("turn", { start = 0.01, bounds = {0, 0.1} })
local mean = 1 + sin(turn * x)
for k = 1, 24 do
    local a = m.parameter("a" .. k, { start = 1, bounds = {0, 10} })
    local c = m.parameter("c" .. k, { start = k, bounds = {k - 0.4, k + 0.4} })
    local u = (x - c) / (0.2 + 0.01 * k)
    mean = mean + a * (exp(-u^2 / 2) + 0.1 * sin(u) * exp(-u^2) + 0.1 * tanh(u) / (1 + u^2))
end
m.observe(y, { mean = mean })
END
"$bin/homodyne-gen" alike.lua -o . || fail "homodyne-gen"
loops=$(grep -c '^ *for (size_t turn = 0; turn < ' alike.c) || true
[ "$loops" -ge 5 ] || fail "$loops loops"
"$bin/homodyne" compile alike.lua >log 2>&1 || { cat log; fail "the kernel"; }
echo "good: $loops loops"
