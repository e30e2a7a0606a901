#!/bin/sh
# Derived quantities: value and error of h(parameters) are those of a fit in which h is a parameter; what the data do
# not determine has no error, what they do has one although its parameters have none.  derived.sh BINDIR
set -eu
bin=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export HOME="$dir" XDG_CACHE_HOME="$dir/cache"

fail() {
    echo "FAILED: $*"
    exit 1
}

fit() { # fit MODEL OUT [options]
    model=$1 out=$2
    shift 2
    "$bin/homodyne" fit --model "$model.lua" --data "$data" --sigma 0.05 -o "$out" --quiet "$@" >"$out.log" 2>&1 || {
        cat "$out.log"
        fail "fit of $model"
    }
}

# number OUT SECTION NAME KEY: "" where there is none
number() {
    awk -v section="  \"$2\": {" -v name="\"$3\": {" -v key="\"$4\": " '
        index($0, section) == 1 { on = 1 }
        on && index($0, name) { inside = 1 }
        inside && index($0, key) { v = $0; sub(/.*": /, "", v); sub(/,$/, "", v); print v; exit }
        on && /^  }/ { exit }' "$1/fit.json"
}

# near WHAT A B TOLERANCE: relative
near() {
    awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN { d = a - b; if (d < 0) d = -d; if (b < 0) b = -b; exit !(d <= t * b) }' ||
        fail "$1: $2 is not $3"
}

cat >rate.lua <<'EOF'
local m = model "rate" { title = "A decay told by its rate" }
local t, y = m.columns({ "t", unit = "s", range = {0, 10} }, "y")
local T = m.setting("T", { unit = "K", default = 300 })
local rate = m.parameter("rate", { unit = "1/s", start = 1, bounds = {1e-3, 100} })
local A = m.parameter("A", { start = 1, linear = true })
m.observe(y, { mean = A * exp(-rate * t) })
m.derived("half_life", math.log(2) / rate)
m.derived("area", A / rate)
m.derived("speed", convert(rate * T, "kelvin/min"))
m.test { rate = 2, A = 3, T = 10, half_life = 0.34657359027997264, area = 1.5, speed = 1200 }
EOF
cat >half.lua <<'EOF'
local m = model "half" { title = "The same, told by its half-life and area" }
local t, y = m.columns({ "t", unit = "s", range = {0, 10} }, "y")
local half_life = m.parameter("half_life", { unit = "s", start = 1, bounds = {1e-3, 100} })
local area = m.parameter("area", { unit = "s", start = 1, linear = true })
m.observe(y, { mean = area * math.log(2) / half_life * exp(-math.log(2) * t / half_life) })
EOF
"$bin/homodyne" simulate --model rate.lua -o d.csv --x 0:5:120 --set rate=0.8 --set A=2 --noise 0.05 >/dev/null
data=d.csv
fit rate one
fit half two
for name in half_life area; do
    near "value of $name" "$(number one derived $name value)" "$(number two parameters $name value)" 1e-7
    near "error of $name" "$(number one derived $name std)" "$(number two parameters $name std)" 1e-5
    near "robust error of $name" "$(number one derived $name std_robust)" "$(number two parameters $name std_robust)" \
        1e-3
done
ends() { # ends OUT SECTION NAME: of 95 %, in one line
    awk -v section="  \"$2\": {" -v name="\"$3\": {" '
        index($0, section) == 1 { on = 1 }
        on && index($0, name) { inside = 1 }
        inside && /"interval_95"/ { take = 1; next }
        take && /\]/ { exit }
        take { gsub(/[ ,]/, ""); printf "%s ", $0 }' "$1/fit.json"
}
set -- $(ends one parameters rate) $(ends one derived half_life)
near "upper end of the half-life" "$4" "$(awk -v r="$1" 'BEGIN { printf "%.15g", log(2) / r }')" 1e-9
near "lower end of the half-life" "$3" "$(awk -v r="$2" 'BEGIN { printf "%.15g", log(2) / r }')" 1e-9
near "speed" "$(number one derived speed value)" \
    "$(awk -v r="$(number one parameters rate value)" 'BEGIN { printf "%.15g", r * 18000 }')" 1e-6
grep -q 'half_life .*+-.*derived' one/summary.txt || fail "the summary has no derived quantities"

# Mixtures, where exponentials overflow or vanish; digits by mpmath.
cat >mix.lua <<'EOF'
local m = model "mix" { title = "Mixtures" }
local x, y = m.columns({ "x", range = {0, 1} }, "y")
local w = m.parameter("w", { start = 0.5, bounds = {1e-4, 0.9999} })
local a = m.parameter("a", { start = 0, bounds = {-1000, 1000} })
local b = m.parameter("b", { start = 0, bounds = {-1000, 1000} })
m.observe(y, { mean = (w + a + b) * x, linear = {} })
m.derived("mix", log_mix(w, a, b))
m.derived("sum", log_sum_exp(a, b, b - 1))
m.test { w = 0.25, a = 1000, b = -1000, mix = 998.61370563888010938 }
m.test { w = 0.25, a = -1000, b = -999, mix = -999.17201106075713025 }
m.test { w = 0.25, a = 0.5, b = 0.75, mix = 0.69311234502046396851 }
m.test { w = 1e-3, a = 0, b = -5, mix = -4.8624900182531682092 }
m.test { a = 1000, b = 999, sum = 1000.4076059644443803 }
EOF
"$bin/homodyne-gen" mix.lua --check -o out >mix.log 2>&1 || {
    cat mix.log
    fail "log_mix"
}

# A test that names a wrong value is refused.
sed 's/half_life = 0.3465/half_life = 0.3466/' rate.lua >wrong.lua
if "$bin/homodyne-gen" wrong.lua --check -o out >wrong.log 2>&1; then fail "a wrong half-life is accepted"; fi
grep -q 'test point: half_life is 0.346573590279972' wrong.log || fail "the wrong half-life is not told"

# A parameter that is held, and one on its bound.
fit rate held --fix rate=0.8
[ "$(number held derived half_life std)" = 0 ] || fail "half_life of a rate that is held has an error"
fit rate bound --bounds rate=1:100
[ "$(number bound derived half_life std)" = null ] || fail "half_life of a rate on its bound has an error"
number bound derived half_life std_reason | grep -q 'rate stands on a bound' || fail "no reason for a rate on its bound"

# Only products are determined: of nonlinear parameters, of a linear and a nonlinear one.
cat >product.lua <<'EOF'
local m = model "product" { title = "Only products are determined" }
local t, y = m.columns({ "t", unit = "s", range = {0, 10} }, "y")
local a = m.parameter("a", { unit = "1/s", start = 1, bounds = {0.1, 10} })
local b = m.parameter("b", { start = 1, bounds = {0.1, 10} })
local A = m.parameter("A", { start = 1, linear = true })
local c = m.parameter("c", { start = 1, bounds = {0.1, 10} })
m.observe(y, { mean = A * c * exp(-a * b * t) })
m.derived("rate", a * b)
m.derived("height", A * c)
m.derived("area", A * c / (a * b))
m.derived("other", a / b)
m.derived("half", c * a * b)
EOF
fit product three
near "rate" "$(number three derived rate value)" "$(number one parameters rate value)" 1e-6
near "error of rate" "$(number three derived rate std)" "$(number one parameters rate std)" 1e-5
near "error of height" "$(number three derived height std)" "$(number one parameters A std)" 1e-5
near "error of area" "$(number three derived area std)" "$(number two parameters area std)" 1e-5
for name in other half; do
    [ "$(number three derived $name std)" = null ] || fail "$name has an error"
    number three derived $name std_reason | grep -q 'not determined' || fail "$name: no reason"
done

# One value for each group, by a linear parameter with a value for each, an axis, a nonlinear one that is not shared.
cat >groups.lua <<'EOF'
local m = model "groups" { title = "Several decays" }
local t, y = m.columns({ "t", unit = "s", range = {0, 10} }, "y")
local q = m.axis("q", "1/nm")
local rate = m.parameter("rate", { unit = "1/s", start = 1, bounds = {1e-3, 100} })
local A = m.parameter("A", { start = 1, linear = true, over = q })
m.observe(y, { mean = A * exp(-rate * t) })
m.derived("half_life", math.log(2) / rate)
m.derived("area", A / rate)
m.derived("D", rate / q^2)
EOF
{ echo q,t,y; awk -F, '/^[0-9]/ { print "1," $1 "," $2; print "2," $1 "," 2 * $2 }' d.csv; } >g.csv
data=g.csv
fit groups four
fit groups five --share rate=per_q
grep -A12 '"half_life": {' four/fit.json | grep -q '"interval_from"' || fail "half_life is not one number"
list() { # list OUT NAME KEY: in one line
    awk -v name="\"$2\": {" -v key="\"$3\": [" '
        /^  "derived"/ { on = 1 }
        on && index($0, name) { inside = 1 }
        inside && index($0, key) { take = 1; next }
        take && /\]/ { exit }
        take { gsub(/[ ,]/, ""); print }' "$1/fit.json"
}
ratio=$(list four area value | awk 'NR == 1 { a = $1 } NR == 2 { printf "%.15g", $1 / a }')
near "areas" "$ratio" 2 1e-5
ratio=$(list four D value | awk 'NR == 1 { a = $1 } NR == 2 { printf "%.15g", $1 / a }')
near "D over q" "$ratio" 0.25 1e-9
[ "$(list five half_life value | wc -l)" = 2 ] || fail "rates per q make no half-lives per q"
near "half-life of one q" "$(list five half_life value | head -1)" "$(number one derived half_life value)" 1e-5
near "its error" "$(list five half_life std | head -1)" "$(number one derived half_life std)" 0.2
# A draw of the posterior has them, too.
data=d.csv
fit rate six --method nuts --draws 200 --warmup 200 --seed 1
line=$(grep -A30 '^posterior' six/summary.txt | grep half_life) || fail "no half-life in the summary of the posterior"
near "mean of the draws" "$(echo "$line" | awk '{ print $2 }')" "$(number one derived half_life value)" 0.03
grep -q '"half_life": {' six/fit.json || fail "fit.json has no half_life of the posterior"
if grep -A40 '"posterior": {' six/fit.json | grep -A25 '"half_life": {' | grep -q '"prior"'; then
    fail "a derived quantity has a prior"
fi
if [ -x "$bin/homodyne-report" ]; then
    "$bin/homodyne" report six >/dev/null 2>&1 || fail "report"
    grep -q '>half_life</code></th>' six/report.html || fail "the report has no half_life"
fi
"$bin/homodyne" compare one six >compare.log 2>&1 || true
grep -q 'half_life' compare.log || {
    cat compare.log
    fail "the comparison has no half_life"
}
if command -v h5dump >/dev/null; then
    h5dump -d /posterior/half_life six/posterior.nc >/dev/null || fail "posterior.nc has no half_life"
fi

# The profile of a function of several parameters is that of a fit in which it is a parameter.
cat >both.lua <<'E'
local m = model "both" { title = "Two rates of one decay" }
local t, y = m.columns({ "t", unit = "s", range = {0, 10} }, "y")
local a = m.parameter("a", { start = 1, bounds = {0.01, 10} })
local k1 = m.parameter("k1", { unit = "1/s", start = 1, bounds = {0.5, 100} })
local k2 = m.parameter("k2", { unit = "1/s", start = 0.2, bounds = {1e-3, 0.45} })
local b = m.parameter("b", { start = 1, linear = true })
m.observe(y, { mean = b * (exp(-k1 * t) + a * exp(-k2 * t)) })
m.derived("ratio", k1 / k2)
m.derived("area", b * (1 / k1 + a / k2))
E
sed 's/"both"/"inside"/; /m.derived/d
    s|^local k2 =.*|local ratio = m.parameter("ratio", { start = 7, bounds = {1, 1000} }) local k2 = k1 / ratio|' \
        both.lua >inside.lua
"$bin/homodyne" simulate --model both.lua -o e.csv --x 0:10:60 --set k1=1.5 --set k2=0.2 --set a=0.7 --set b=2 \
    --noise 0.05 --seed 2 >both.log 2>&1 || fail "simulate: $(cat both.log)"
data=e.csv
fit both seven --profile ratio,area
fit inside eight --profile ratio
ends() { # ends OUT KEY: lower and upper end of that interval of the profile
    awk -v key="\"$2\": {" '/"profiles"/ { on = 1 } on && /"ratio": \{/ { in_ = 1 } in_ && index($0, key) { got = 1 }
        got && /"lower":|"upper":/ { sub(/.*: /, ""); sub(/,$/, ""); print; if (++n == 2) exit }' "$1/fit.json"
}
for key in interval_68 interval_95; do
    near "$key, lower end" "$(ends seven $key | head -1)" "$(ends eight $key | head -1)" 1e-5
    near "$key, upper end" "$(ends seven $key | tail -1)" "$(ends eight $key | tail -1)" 1e-5
done
grep -q 'none, for it contains b, which is linear' seven/fit.json || fail "the area has a profile"
got=0
"$bin/homodyne" fit --model both.lua --data e.csv --profile rato -o nine >nine.log 2>&1 || got=$?
[ "$got" = 3 ] || fail "a profile of nothing: exit code $got"

# a quantity whose error is withheld has a profile, though others, of which it knows nothing, are not determined at all
cat >open.lua <<'LUA'
local m = model "open" { title = "A decay that is hardly seen, above a product of which neither factor is" }
local x, y = m.columns({ "x", unit = "s", range = {0, 4} }, "y")
local tau = m.parameter("tau", { unit = "s", start = 8, bounds = {0.1, 10000} })
local p = m.parameter("p", { start = 1, bounds = {0.01, 100} })
local q = m.parameter("q", { start = 1, bounds = {0.01, 100} })
m.observe(y, { mean = p * q * x / second + exp(-x / tau) })
m.derived("half_life", math.log(2) * tau)
LUA
awk 'BEGIN { srand(11); print "x,y"; for (k = 0; k < 40; k++) { x = 0.1 * k
    printf "%.8g,%.10g\n", x, 0.3 * x + exp(-x / 10) + 0.05 * sqrt(-2 * log(rand() + 1e-9)) * cos(6.283 * rand()) } }' \
        >open.csv
data=open.csv
fit open ten --profile half_life
[ "$(number ten derived half_life std)" = null ] || fail "half_life has an error: $(number ten derived half_life std)"
grep -q 'half_life: 68 %: .* (not further)' ten/summary.txt || fail "no profile of half_life: $(cat ten/summary.txt)"
echo ok
