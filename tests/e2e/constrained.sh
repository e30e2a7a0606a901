#!/bin/sh
# Parameters that are bound to each other: bounds that are formulas, values in order, parts of a whole, correlated
# values of groups.  Least squares against closed forms (the projection upon the half plane, upon values in order by
# pooling, upon the simplex); posteriors against integrals of the densities that are meant, by Gauss-Legendre rules in
# the values themselves: uniform where 0 < a < b < 1 given a, uniform where 0 < c1 < c2 < c3 < 1, normal and half
# normal, Dirichlet (2, 1, 1), and the determinant of the correlation matrix (LKJ, eta = 2).  constrained.sh BINDIR
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

# number OUT SECTION NAME KEY: sections of the file, "" within one of them
number() {
    awk -v section="\"$2\": {" -v name="\"$3\": {" -v key="\"$4\": " '
        index($0, section) { on = 1 }
        on && index($0, name) { inside = 1 }
        inside && index($0, key) { v = $0; sub(".*" key, "", v); sub(/[,}].*/, "", v); print v; exit }' "$1/fit.json"
}

# value OUT NAME EXPECTED: of the fit, to 1e-6
value() {
    v=$(number "$1" derived "$2" value)
    awk -v a="$v" -v b="$3" 'BEGIN { d = a - b; exit !(a != "" && d < 1e-6 && d > -1e-6) }' || fail "$2 is $v, not $3"
}

# drawn OUT NAME MEAN SD: within 5 errors of their estimates by so many effective draws
drawn() {
    mean=$(number "$1" posterior "$2" mean) sd=$(number "$1" posterior "$2" sd) \
        ess=$(number "$1" posterior "$2" ess_bulk)
    awk -v m="$mean" -v s="$sd" -v n="$ess" -v rm="$3" -v rs="$4" 'BEGIN {
        d = (m - rm) / rs * sqrt(n); e = (s / rs - 1) * sqrt(n)
        exit !(n > 300 && d < 5 && d > -5 && e < 5 && e > -5) }' ||
        fail "$2 has mean $mean and sd $sd of $ess draws, not $3 and $4"
}

cat >bound.lua <<'EOF'
local m = model "bound" { title = "Bounds that depend, values in order, parts of a whole" }
local k, y, s = m.columns({ "k", range = {1, 10} }, { "y", range = {0, 1} }, { "s", range = {0.1, 0.5} })
local a = m.parameter("a", { start = 0.3, bounds = {0, 1} })
local b = m.parameter("b", { start = 0.6, bounds = {a, 1} })
local c = m.ordered("c", 3, { start = {0.2, 0.5, 0.7}, bounds = {0, 1} })
local d = m.ordered("d", 2, { start = {0, 1}, prior = {"normal", 0, 1}, gap = {"half_normal", 1} })
local w = m.simplex("w", 3, { prior = {"dirichlet", 2, 1, 1} })
local list, mean = { a, b, c[1], c[2], c[3], d[1], d[2], w[1], w[2], w[3] }, 0
for j, p in ipairs(list) do mean = mean + where(lt(abs(k - j), 0.5), p, 0) end
m.observe(y, { mean = mean, noise = gaussian { sd = s } })
EOF
cat >bound.csv <<'EOF'
k,y,s
1,0.6,0.2
2,0.5,0.2
3,0.5,0.3
4,0.4,0.3
5,0.6,0.3
6,0.8,0.5
7,0.2,0.5
8,0.2,0.15
9,0.5,0.15
10,0.4,0.15
EOF
"$bin/homodyne" fit --model bound.lua --data bound.csv --method nuts --seed 5 -o b --quiet >b.log 2>&1 ||
    [ $? -eq 2 ] || {
    cat b.log
    fail "fit of bound"
}
value b b 0.55
value b c2 0.45
value b c3 0.6
value b d2 0.5
value b w1 0.16666666667
value b w3 0.36666666667
drawn b a 0.5081467 0.1646604
drawn b b 0.6721683 0.1514459
drawn b c1 0.2852792 0.1663200
drawn b c2 0.4839951 0.1734554
drawn b c3 0.7197137 0.1670083
drawn b d1 0.2886495 0.3565534
drawn b d2 0.6391881 0.3689731
drawn b w1 0.2460290 0.1011986
drawn b w2 0.4261971 0.1169366
drawn b w3 0.3277739 0.1160393

cat >lkj.lua <<'EOF'
local m = model "lkj" { title = "Three correlated values of each group" }
local id = m.axis("id", { unit = "1", range = {1, 8} })
local k, y = m.columns({ "k", range = {1, 3} }, { "y", range = {-2, 2} })
local e = m.correlated("e", { over = id, mean = {0, 0, 0}, sd = {1, 1, 1}, lkj = 2 })
local mean = where(lt(k, 1.5), e[1], where(lt(k, 2.5), e[2], e[3]))
m.observe(y, { mean = mean, noise = gaussian { sd = 0.3 } })
EOF
cat >lkj.csv <<'EOF'
id,k,y
1,1,-0.01
1,2,-0.098
1,3,-1.08
2,1,0.335
2,2,1.227
2,3,0.077
3,1,-0.539
3,2,-0.588
3,3,-1.626
4,1,0.501
4,2,0.562
4,3,-0.822
5,1,-0.207
5,2,0.552
5,3,0.734
6,1,-0.96
6,2,0.093
6,3,1.416
7,1,0.746
7,2,2.72
7,3,0.844
8,1,-0.279
8,2,0.889
8,3,1.219
EOF
"$bin/homodyne" fit --model lkj.lua --data lkj.csv --method nuts --seed 5 -o l --quiet >l.log 2>&1 || [ $? -eq 2 ] || {
    cat l.log
    fail "fit of lkj"
}
drawn l e_cor12 0.2960709 0.2852539
drawn l e_cor13 -0.1618727 0.3091740
drawn l e_cor23 0.2697447 0.2376548
