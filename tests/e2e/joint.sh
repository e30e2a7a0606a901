#!/bin/sh
# joint.sh BINDIR -- several data files in one fit: with all parameters their own the fits of each file, with shared
# ones those of one table with an axis, settings of each file, matrices of several q, errors, results, messages.
set -eu
bin=$(cd "$1" && pwd)
. "$(dirname "$0")/../support/test.sh"
export XDG_CACHE_HOME="$dir/cache"

# ---- tables --------------------------------------------------------------------------------------
for k in 1 2 3; do
    answers 0 "" simulate --model kww -o "k$k.csv" --x 0.001:10:60:log --set tau=0.$((2 * k)) --set beta=0.8 \
        --noise 0.003 --seed $k
    answers 0 "" fit --model kww --data "k$k.csv" -o "alone$k"
done
files="--data k1.csv --data k2.csv --data k3.csv"

# all its own: the fits of each file
own="--share tau=per_file --share beta=per_file --share contrast=per_file --share baseline=per_file"
answers 0 "180 points" fit --model kww $files $own -o own
for k in 1 2 3; do
    for p in tau beta; do
        near "$(value own "$p[$k]")" "$(value "alone$k" $p)" 1e-6 "$p of file $k"
        near "$(value own "$p[$k]" std)" "$(value "alone$k" $p std)" 1e-4 "error of $p of file $k"
    done
done
awk '/"chi2":/ { gsub(/[",:]/, ""); sum[FILENAME] = $2 } END { a = sum["own/fit.json"]
    b = sum["alone1/fit.json"] + sum["alone2/fit.json"] + sum["alone3/fit.json"]
    exit !(a - b < 1e-6 * b && b - a < 1e-6 * b) }' own/fit.json alone1/fit.json alone2/fit.json alone3/fit.json ||
    fail "chi2 is not the sum of those of the files"

# shared ones: those of one table with an axis
answers 0 "tau[2]" fit --model kww $files --share tau=per_file -o joint
cat >with_axis.lua <<'E'
local m = model "with_axis" { title = "The same with a column that tells the file" }
local run = m.axis("run", { unit = "1", range = {1, 3} })
local delay, g2, sigma = m.columns({ "delay", unit = "s", range = {1e-3, 10} }, "g2", "sigma")
local tau = m.parameter("tau", { unit = "s", start = 1, bounds = {1e-9, 1e6} })
local beta = m.parameter("beta", { start = 1, bounds = {0.05, 3} })
local contrast = m.parameter("contrast", { start = 0.2, bounds = {0, 2} })
local baseline = m.parameter("baseline", { start = 1, bounds = {0, 2} })
m.observe(g2, { mean = baseline + contrast * exp(-2 * (delay / tau)^beta), sigma = sigma })
E
awk 'FNR == 1 { f++ } /^#/ { next } /delay/ { if (f == 1) print "run," $0; next } { print f "," $0 }' k1.csv k2.csv \
    k3.csv >all.csv
answers 0 "" fit --model with_axis.lua --data all.csv --share tau=per_run -o column
for p in 'tau[1]' 'tau[2]' 'tau[3]' beta contrast baseline; do
    near "$(value joint "$p")" "$(value column "$p")" 1e-6 "$p"
    near "$(value joint "$p" std)" "$(value column "$p" std)" 1e-4 "error of $p"
done
grep -q '"file": "k3.csv"' joint/fit.json || fail "fit.json does not name the third file"
[ "$(sha256sum k3.csv | cut -c 1-64)" = \
    "$(grep -A1 '"file": "k3.csv"' joint/fit.json | sed -n 's/.*sha256": "\(.*\)".*/\1/p')" ] ||
    fail "SHA-256 of the third file"
"$bin/homodyne" report joint -o joint.html >out 2>&1 || fail "report: $(cat out)"
grep -q '<b>k1.csv, k2.csv, k3.csv</b>' joint.html || fail "the page does not name the files"

# the same bits for any number of threads
for t in 1 2 3; do
    answers 0 "" fit --model kww $files --share tau=per_file --threads $t -o "t$t"
    grep -E '"(value|std|chi2)"' "t$t/fit.json" >"bits$t"
done
cmp -s bits1 bits2 && cmp -s bits1 bits3 || fail "numbers depend on the number of threads"

# from a configuration, and a posterior
cat >joint.yaml <<'E'
analysis_mode: kww
experimental_data:
  file_path: [k1.csv, k2.csv, k3.csv]
share: {tau: per_file}
E
answers 0 "3 files: 180 rows" validate --model kww joint.yaml
answers 0 "" fit --model kww joint.yaml -o from_yaml
grep -E '"(value|std|chi2)"' from_yaml/fit.json >bits
cmp -s bits1 bits || fail "the configuration gives other numbers than the command line"
answers 0 "verdict: good" fit --model kww joint.yaml --method nuts --seed 1 -o draws
[ "$(sed -n '/^posterior/,$p' out | grep -c '^  contrast ')" = 1 ] ||
    fail "the posterior tells a shared contrast not once: $(cat out)"

# ---- settings of each file -------------------------------------------------------------------------
cat >heated.lua <<'E'
local m = model "heated" { title = "A decay whose rate follows the temperature" }
local x, y = m.columns({ "x", unit = "s", range = {0.1, 10} }, "y")
local T = m.setting("T", "K")
local E = m.parameter("E", { unit = "kJ/mol", start = 30, bounds = {1, 200} })
local k = m.parameter("k", { unit = "1/s", start = 0.5, bounds = {1e-3, 100}, doc = "rate at 300 K" })
local h = m.parameter("h", { start = 1 })
local R = 8.314462618e-3 * unit "kJ/(mol*K)"
local rate = k * exp(E / R * (1 / (300 * kelvin) - 1 / T))
m.observe(y, { mean = h * exp(-rate * x) })
m.derived("rate", rate, { doc = "at the temperature of the file" })
E
for T in 290 300 310; do
    answers 0 "" simulate --model heated.lua -o "h$T.csv" --x 0.1:10:40 --set T=$T --set E=50 --set k=0.5 --noise 0.01 \
        --seed $T
done
heated="--model heated.lua --data h290.csv --data h300.csv --data h310.csv"
answers 0 "T 290, 300, 310 K" fit $heated --set T=290,300,310 --share h=per_file -o heated
awk -v e="$(value heated E)" -v s="$(value heated E std)" 'BEGIN {
    exit !(e - 50 < 4 * s && 50 - e < 4 * s && s < 2) }' ||
    fail "E = $(value heated E) +- $(value heated E std), not 50"
grep -q '"T": 310' heated/fit.json || fail "fit.json does not hold the settings of the files"
cat >heated.yaml <<'E'
experimental_data: {file_path: [h290.csv, h300.csv, h310.csv]}
settings: {T: ["290 K", 300, 310]}
share: {h: per_file}
E
answers 0 "" fit --model heated.lua heated.yaml -o heated_yaml
near "$(value heated_yaml E)" "$(value heated E)" 1e-12 "E of the configuration"
answers 3 "T has 2 values for 3 data files" fit $heated --set T=290,300 -o none
answers 3 "no value for the setting 'T'" fit $heated -o none

# ---- matrices --------------------------------------------------------------------------------------
set -- --phi 0,90 --contrast 0.3 --offset 1 --set D0=3000 --set alpha=0 --set D_offset=0 --noise 0.02
answers 0 "" simulate --model static_anisotropic -o a.h5 --frames 60 --dt 0.1 --q 0.005 --seed 1 "$@"
answers 0 "" simulate --model static_anisotropic -o b.h5 --frames 80 --dt 0.1 --q 0.007 --seed 2 "$@"
answers 0 "" simulate --model static_anisotropic -o slow.h5 --frames 40 --dt 0.2 --q 0.007 --seed 3 "$@"
fix="--fix D_offset=0 --fix alpha=0"
for f in a b; do answers 0 "" fit --model static_anisotropic --data $f.h5 $fix -o "alone_$f"; done
answers 0 "q 0.005, 0.007 1/angstrom" fit --model static_anisotropic --data a.h5 --data b.h5 $fix -o both
answers 0 "D0[2]" fit --model static_anisotropic --data a.h5 --data b.h5 $fix --share D0=per_file -o each
near "$(value each 'D0[1]')" "$(value alone_a D0)" 1e-6 "D0 of a.h5"
near "$(value each 'D0[2]')" "$(value alone_b D0)" 1e-6 "D0 of b.h5"
awk -v a="$(value alone_a D0)" -v s="$(value alone_a D0 std)" -v b="$(value alone_b D0)" \
    -v t="$(value alone_b D0 std)" \
    -v c="$(value both D0)" -v u="$(value both D0 std)" 'BEGIN { w = 1 / s^2; v = 1 / t^2; m = (w * a + v * b) / (w + v)
    e = 1 / sqrt(w + v); exit !(c - m < 0.1 * e && m - c < 0.1 * e && u / e < 1.03 && u / e > 0.97) }' ||
    fail "D0 of both, $(value both D0) +- $(value both D0 std), is not the weighted mean of those of each"
[ "$(grep -c '"file": [12]' both/fit.json)" = 4 ] ||
    fail "groups do not tell their file: $(grep '"file":' both/fit.json)"
answers 0 "2 files: " validate --model static_anisotropic --data a.h5 --data b.h5
answers 0 "4 matrices" estimate --model static_anisotropic --data a.h5 --data b.h5
"$bin/homodyne" report both -o both.html >out 2>&1 || fail "report: $(cat out)"
grep -q '>φ</tspan> = 90°, file 2' both.html || fail "figures do not name the file"

answers 4 "hold the same values" fit --model static_anisotropic --data a.h5 --data a.h5 $fix -o none
answers 4 "hold the same values" fit $heated --set T=290 --data h290.csv --share h=per_file -o none

# ---- what cannot be -----------------------------------------------------------------------------------
two="--model static_anisotropic --data a.h5 --data b.h5"
answers 0 "dt 0.2 s" fit --model static_anisotropic --data a.h5 --data slow.h5 $fix -o periods
answers 3 "there is one data file" fit --model kww --data k1.csv --share tau=per_file -o none
answers 3 "not of 2 data files together" fit $two --sequence angle -o none
answers 3 "efficient estimates are of one data file" fit $two --estimator efficient -o none
answers 3 "2 data files" fit --model kww --data k1.csv --data k2.csv --each delay -o none
grep -v '^#' k2.csv | cut -d , -f 1,2 >bare.csv
answers 4 "bare.csv" fit --model kww --data k1.csv --data bare.csv -o none
answers 4 "gone.csv" fit --model kww --data k1.csv --data gone.csv -o none
[ ! -e none/fit.json ] || fail "results of a fit that cannot be"
finish
