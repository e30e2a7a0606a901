#!/bin/sh
# optimizers.sh BINDIR -- fits of tables and of two-time data with optimizers by name: the minimum of nlsq; a user's own
# in Lua; runs that go on; what cannot be is refused by name.
set -eu
. "$(dirname "$0")/../support/test.sh"
bin=$1
kww=$bin/homodyne-kww laminar=$bin/homodyne-laminar

awk 'BEGIN { srand(7); print "delay (s),g2"
    for (k = 0; k < 60; k++) { t = 10 ^ (-3 + k / 12); u = rand(); v = rand(); if (u < 1e-9) u = 1e-9
        printf "%.8g,%.10g\n", t,
            1 + 0.3 * exp(-2 * (t / 1.5) ^ 0.8) + 0.003 * sqrt(-2 * log(u)) * cos(6.283185 * v) } }' >k.csv
cat >descent.lua <<'E'
return function(value_gradient, x, options)
    local f, g = value_gradient(x)
    local step = 1
    for _ = 1, options.maxiter do
        local y, size = {}, 0
        for k = 1, #x do y[k] = x[k] - step * g[k]; size = size + g[k] * g[k] end
        if size < 1e-16 then return x, true end
        local f_new, g_new = value_gradient(y)
        if f_new < f then x, f, g, step = y, f_new, g_new, step * 1.5 else step = step / 2 end
        if options.iteration(x, f, g) then return x, false end
    end
    return x, false
end
E
# FILE NAME: value and error of a parameter
number() { awk -v name="\"$2\":" '$1 == name { f = 1 } f &&
    $1 == "\"'"$3"'\":" { gsub(",", "", $2); print $2; exit }' "$1/fit.json"; }
# both within a part of the error
same() {
    for p in $4; do
        awk -v a="$(number "$1" "$p" value)" -v b="$(number "$2" "$p" value)" -v s="$(number "$1" "$p" std)" \
            -v part="$3" \
            'BEGIN { d = a - b; if (d < 0) d = -d; exit !(s > 0 && d <= part * s) }' ||
            fail "$2: $p is $(number "$2" "$p" value), not $(number "$1" "$p" value) +- $(number "$1" "$p" std)"
    done
}

expect 0 "$kww" fit --data k.csv -o nlsq --quiet
for o in lbfgsb adam rmsprop sgd descent.lua; do
    expect 0 "$kww" fit --data k.csv -o "k_$o" --optimizer "$o" --quiet
    same nlsq "k_$o" 1e-5 "tau beta contrast baseline"
    grep -q '"converged": true' "k_$o/fit.json" || fail "$o has not converged"
done

"$laminar" simulate -o l.h5 --gap 2e6 --frames 60 --dt 0.1 --q 0.005 --phi 0,45,90 --contrast 0.3 --offset 1 \
    --noise 0.01 \
    --set D0=2000 --set alpha=0 --set gamma_dot_t0=0.02 --set phi0=12 --seed 1 --config-out my.yaml --force --quiet
hold="--fix alpha=0 --fix D_offset=0 --fix beta=0 --fix gamma_dot_t_offset=0"
expect 0 "$laminar" fit my.yaml --data l.h5 $hold -o l_nlsq --quiet
expect 0 "$laminar" fit my.yaml --data l.h5 $hold -o l_lbfgsb --optimizer lbfgsb --quiet
for p in D0 gamma_dot_t0 phi0; do
    awk -v a="$(number l_nlsq $p value)" -v b="$(number l_lbfgsb $p value)" \
        'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= 1e-6 * (a < 0 ? -a : a)) }' ||
        fail "lbfgsb: $p is $(number l_lbfgsb $p value), not $(number l_nlsq $p value)"
done

# a run in two pieces; what has not converged is not called so
fit_adam() { # CODE FOLDER OPTIONS
    code=$1 folder=$2
    shift 2
    expect "$code" "$laminar" fit my.yaml --data l.h5 $hold -o "$folder" --optimizer adam --quiet "$@"
}
fit_adam 2 whole --max-iterations 9
says "not converged"
grep -q '"converged": false' whole/fit.json || fail "9 steps of adam are called converged"
fit_adam 2 first --max-iterations 4 --optimizer-state s
ls s.* >/dev/null || fail "no state was kept"
fit_adam 2 pieces --max-iterations 9 --optimizer-state s
for p in D0 gamma_dot_t0 phi0; do
    [ "$(number whole $p value)" = "$(number pieces $p value)" ] || fail "a run in two pieces ends elsewhere: $p"
done

# a function that never ends, and calls no pass over the data, is stopped; so is a file, by itself
cat >endless.lua <<'E'
return function(value_gradient, x, options)
    while true do pcall(function() while true do end end) end
end
E
expect 130 timeout --preserve-status -k 30 -s INT 2 "$kww" fit --data k.csv -o stopped --optimizer endless.lua --quiet
echo "while true do end" >loads.lua

wrong() {
    text=$1
    shift
    expect 3 "$laminar" fit my.yaml --data l.h5 -o bad --quiet "$@"
    says "$text"
}
wrong "did you mean 'lbfgsb'?" --optimizer lbfsgb
wrong "loads.lua:1: more than 20 million steps while the file is loaded" --optimizer loads.lua
wrong "optimizer lbfgs-zoom keeps no bounds, and 'D0' has some" --optimizer lbfgs-zoom
wrong "optimizer adam: with loss linear only" --optimizer adam --loss soft_l1
wrong "optimizer_state: nlsq keeps none" --optimizer-state s
wrong "keeps no state from which a run could go on" --optimizer descent.lua --optimizer-state s
finish
