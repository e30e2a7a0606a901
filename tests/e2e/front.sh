#!/bin/sh
# The program homodyne: choice of the fitter, command lines and configurations of the Python packages,
# validate, config, compare, models compiled when they are named, help and manual: front.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne
export XDG_CACHE_HOME="$dir/cache"

# ---- experiments
grid="--frames 80 --dt 0.1 --q 0.0054 --contrast 0.3 --offset 1 --noise 0.01 --quiet"
# shellcheck disable=SC2086  # lists of words
{
    expect 0 "$h" simulate --model laminar -o laminar.h5 $grid --gap '200 um' --phi=-45,-5,5,50,90 --seed 3 \
        --set D0=2000 --set alpha=-0.3 --set D_offset=100 --set gamma_dot_t0=0.004 --set beta=-0.4 --set phi0=-4
    expect 0 "$h" simulate --model static_isotropic -o static.h5 $grid --phi 0 --seed 4 \
        --set D0=2000 --set alpha=-0.3 --set D_offset=100
    expect 0 "$h" simulate --model two_component -o het.h5 $grid --phi 0,45,90 --seed 5
}

# ---- configurations of the packages, unchanged, with their command lines
cp "$here"/../data/front/* .
before=$(cat ./*.h5 | cksum)
run() { # run CONFIG MODEL OPTIONS...
    config=$1 model=$2
    shift 2
    got=0
    "$h" "$@" >out 2>err </dev/null || got=$?
    case $got in 0 | 2) ;; *) fail "$config: exit code $got" && cat err ;; esac
    [ -s "results_$config/fit.json" ] || fail "$config: no results"
    grep -q "\"name\": \"$model\"" "results_$config/fit.json" || fail "$config: not the model $model"
}
for c in homodyne_static homodyne_static_angles; do
    run $c static_anisotropic --config $c.yaml --method nlsq --output-dir results_$c
done
run homodyne_laminar_flow laminar --config homodyne_laminar_flow.yaml --method nlsq \
    --output-dir results_homodyne_laminar_flow \
    --output-format json --save-plots --no-jit
has err "no effect here: --output-format, --save-plots, --no-jit"
run heterodyne heterodyne -c heterodyne.yaml -m nlsq -o results_heterodyne --phi 0 45 90 --max-iterations 60
run xpcsjax_static_isotropic static_isotropic -c xpcsjax_static_isotropic.yaml -o results_xpcsjax_static_isotropic \
    --plot
run xpcsjax_static_anisotropic static_anisotropic -c xpcsjax_static_anisotropic.yaml \
    -o results_xpcsjax_static_anisotropic --no-plot
run xpcsjax_laminar_flow laminar -c xpcsjax_laminar_flow.yaml -o results_xpcsjax_laminar_flow \
    --initial-gamma-dot-t0 0.004 --multistart
run xpcsjax_two_component heterodyne -c xpcsjax_two_component.yaml -o results_xpcsjax_two_component --max-iterations 60
run homodyne_analysis laminar --config homodyne_analysis.json --output-dir results_homodyne_analysis
run minimal laminar minimal.yaml -o results_minimal
[ "$before" = "$(cat ./*.h5 | cksum)" ] || fail "a data file was changed"
[ "$(find . -name '*.h5' | grep -cv results)" -eq 3 ] || fail "files beside the data"

# homodyne's default file; a result to begin from
cp minimal.yaml homodyne_config.yaml
expect 0 "$h" --output-dir results_default --nlsq-result results_minimal
has err "homodyne_config.yaml is used"
has results_default/run.log "--start D0="
mkdir -p peer/nlsq
printf '{"analysis_mode": "laminar_flow", "chi_squared": 1.5, "convergence_status": "converged", "parameters": {%s}}' \
    '"contrast": {"value": 0.3, "uncertainty": 0.01}, "D0": {"value": 2000, "uncertainty": 20}, '\
'"phi0": {"value": -4, "uncertainty": 0.1}' \
    >peer/nlsq/parameters.json
expect 0 "$h" fit minimal.yaml --nlsq-result peer -o results_peer
has results_peer/run.log "--start D0=2000"
rm homodyne_config.yaml

# ---- refusals by name
expect 3 "$h" --config minimal.yaml --static-mode
has err "laminar"
has err "static"
expect 0 "$h" --config minimal.yaml --plot-experimental-data --output-dir drawn
[ "$(ls drawn/plots/experimental_data | wc -l)" -gt 1 ] || fail "no pictures of the data"
expect 3 "$h" --config minimal.yaml --outptu-dir x
has err "--output-dir"
expect 3 "$h" fti minimal.yaml
has err "did you mean 'fit'"
expect 3 "$h" fit nothing.yaml
sed 's/laminar_flow/laminer/' minimal.yaml >typo.yaml
expect 3 "$h" fit typo.yaml
has err "did you mean 'laminar'"
for evil in gen any report ../../../bin/sh 'x y' ''; do
    sed "s|laminar_flow|\"$evil\"|" minimal.yaml >evil.yaml
    expect 3 "$h" fit evil.yaml
done
expect 3 "$h" fit
has err "homodyne config"
expect 3 "$h" simulate -o x.h5
has err "--model"

# ---- validate: everything at once, with lines
expect 0 "$h" validate minimal.yaml
has out "good for laminar"
cat >wrong.yaml <<'END'
analysis_mode: laminar_flow
experimental_data: {file_path: laminar.h5}
analyser_parameters: {x: 1}
analyzer_parameters:
  dt: 0.2
  start_frame: 0
  scattering: {wavevector_q: 0.0154}
  geometry: {stator_rotor_gap: 200 um}
optimization: {nlsq: {loss: hubber}}
END
got=0
"$h" validate wrong.yaml >both 2>&1 || got=$?
tail -n 1 both | grep -q "fit would not run" || fail "the verdict is not the last line: $(cat both)"
expect 4 "$h" inspect laminer.h5
has err "did you mean 'laminar.h5'?"
expect 3 "$h" validate wrong.yaml
has err "wrong.yaml:3:1: error: unknown key 'analyser_parameters'; did you mean 'analyzer_parameters'?"
has err "wrong.yaml:6:"
has err "did you mean 'huber'"
has err "wrong.yaml:7: error: laminar.h5: nearest q bin is 0.0054"
has err "wrong.yaml:5: error: laminar.h5: frame"
has err "5 errors"
expect 3 "$h" validate minimal.yaml wrong.yaml
has out "1 of 2 configurations are good"
# an answer that is none: that alone is told
{
    cat minimal.yaml
    echo "phi_filtering: {enabled: yes please, target_ranges: [{min_angle: -10, max_angle: 10}]}"
} >please.yaml
expect 3 "$h" validate please.yaml
has err "yes please"
hasnot out "enabled is not given"
hasnot err "enabled is not given"

# data in the place of a configuration, by name or by what they are
cp laminar.h5 laminar_run
printf 'delay,g2\n1,1.2\n2,1.1\n' >table.csv
for data in laminar.h5 laminar_run table.csv; do
    expect 3 "$h" fit $data
    has err "$data: this is data, not a configuration: \`homodyne config --mode MODE --data $data -o my.yaml\`"
    has err "--data $data --model NAME"
    expect 3 "$h" validate $data
    has err "$data: this is data"
done
rm laminar_run

# data in doubt: neither good nor silent, the second time as the first
expect 0 "$h" simulate --model static_isotropic -o minus.h5 --frames 80 --dt 0.1 --q 0.0054 --contrast 0.3 --offset 0 \
    --phi 0,45,90 --noise 0.01 --quiet --set D0=20000
expect 0 "$h" config --mode static_isotropic --data minus.h5 -o minus.yaml
doubt="note: matrix c2_00001 (phi = 0) has the mean .* (so do 3 of 3 in all); c2 is near 1 when normalised: .* add 1"
expect 0 "$h" validate minus.yaml
grep -q "^$doubt" out || fail "validate says nothing of the mean"
has out "can be fitted with static_isotropic, but see the notes"
for time in first second; do
    expect 0 "$h" fit minus.yaml -o minus
    grep -q "^$doubt" err || fail "the $time fit says nothing of the mean"
done
has err "unchanged since the last fit"

sed 's/laminar.h5/gone.h5/' minimal.yaml >gone.yaml
expect 4 "$h" validate gone.yaml
has err "gone.yaml:3: error: gone.h5: no such file"

# ---- config
expect 0 "$h" config --mode laminar_flow --data laminar.h5 --gap '200 um' --dt 0.1 -o made.yaml
expect 0 "$h" validate made.yaml
[ "$(wc -l <made.yaml)" -le 50 ] || fail "the configuration is long"
expect 3 "$h" config --mode laminar_flow -o made.yaml
has err "--force"
expect 3 "$h" config --keys --json
has err "it has no --json"
expect 0 "$h" config --mode laminar_flow -o hole.yaml
expect 3 "$h" validate hole.yaml
has err "stator_rotor_gap"
expect 0 "$h" config --mode laminar_flow --data laminar.h5 -o hole.yaml --force
expect 3 "$h" validate hole.yaml
grep -q "^hole.yaml:[0-9]*:[0-9]*: error: no value for the setting 'gap'" err || fail "the line of the null is not told"
has err "hole.yaml: 1 error: fit"
expect 3 "$h" inspect laminar.h5 --dt 3
has err "it belongs to \`eval\`, \`simulate\`, \`fit\`"
for mode in static_isotropic static_anisotropic heterodyne laminar_theory kww; do
    expect 0 "$h" config --mode $mode -o - --quiet
    has out "analysis_mode: $mode"
done
expect 3 "$h" config --mode laminer -o x.yaml
has err "error: --mode: no model 'laminer'"
# ---- units that are far off, options without effect or in one, a gap that is missing
expect 3 "$h" fit --model laminar --data laminar.h5 --gap 5e9
has err "above 1e8 angstrom (1 cm)"
expect 3 "$h" fit --model laminar --data laminar.h5 -o gapless
has err 'write --gap "200 um"'
expect 3 "$h" fit --model laminar --data laminar.h5 --fix alpha=0,D_offset=0 --gap "200 um"
has err "repeat --fix"
expect 3 "$h" report few --html
has err "see homodyne report --help"
mkdir few # a standard model that was not built
ln "$h" few/homodyne 2>/dev/null || cp "$h" few/homodyne
expect 3 few/homodyne fit --model heterodyne --data laminar.h5
has err "build it: make model=heterodyne"
sed 's/laminar_flow/laminar_folw/' minimal.yaml >typo.yaml
expect 3 "$h" fit typo.yaml
has err "did you mean 'laminar_flow'?"
expect 0 "$h" models
has out "(analysis_mode laminar_flow)"
! grep -q '\.\.$' out || fail "titles that are cut: $(cat out)"
awk 'length > 80 { exit 1 }' out || fail "models is wider than 80 columns"
mkdir alone
cp "$bin/homodyne" "$bin/homodyne-gen" alone/
# a fitter that loads its kernels; files that hold none
expect 0 "$bin/homodyne-any" "$bin/../lib/homodyne-gen/kww.so" --version
has out "homodyne-kww"
expect 3 "$bin/homodyne-any" "$bin/../lib/libhomodyne-gen.so" info
has err "it holds no compiled model"
expect 3 alone/homodyne info --model "$here/../../models/kww.lua"
has err "homodyne-any is missing"
printf 'laminar.h5\n1\n\n\n200\n200 um\n2:60\n' >answers # no gap, one without its unit
got=0
"$h" config -i -o asked.yaml <answers >out 2>err || got=$?
[ $got -eq 0 ] || fail "config -i: $got"
has err "no file gives the gap"
expect 0 "$h" validate asked.yaml
has out "frames 2..60"
got=0
printf 'laminar.h5\n' | "$h" config -i -o half.yaml >out 2>err || got=$?
[ $got -eq 130 ] && [ ! -e half.yaml ] || fail "config without answers: $got"

# what the file does not have is told here, not by the fit
expect 4 "$h" config --mode laminar_flow --data laminar.h5 --q 5 -o far.yaml
has err "laminar.h5: nearest q bin is 0.0054 1/A, you asked for 5"
[ ! -e far.yaml ] || fail "config writes a q that the file has not"
expect 0 "$h" config --mode laminar_flow --data laminar.h5 --q 0.0053 --dt 100 -o near.yaml
has err "note: q = 0.0054 1/A, the bin nearest to 0.0053"
has err "note: dt = 100 s from the configuration; the file says 0.1 s"
has near.yaml "the data file says another: fit with --dt yaml"
expect 4 "$h" config --mode laminar_flow --data laminar.h5 --frames 90:100 -o far.yaml
printf '\n1\n5\n0.0054\n200 um\n90:100\n2:60\n' >answers # twice what is not there
got=0
timeout 60 "$h" config -i --data laminar.h5 -o again.yaml <answers >out 2>err || got=$?
[ $got -eq 0 ] || fail "config -i with second answers: $got"
has err "nearest q bin is 0.0054 1/A, you asked for 5"
has err "the file has 1..80"
grep -q "end_frame: 60" again.yaml || fail "config -i: not the second answer"
rm again.yaml
"$h" --help >out
has out "homodyne config --mode MODE --data data.h5 -o my.yaml"

# ---- what reads a configuration besides
expect 0 "$h" plan minimal.yaml --frames 1:100 --phi 0,45,90 --sigma 0.01
has out "D0"
has out "no value was given, the model's own is planned with"
expect 0 "$h" plan homodyne_laminar_flow.yaml --frames 1:100 --phi 0,45,90 --sigma 0.01
! grep -q "no value was given" out || fail "plan: the configuration has all values"
expect 0 "$h" plan --help
has out "--dt S"
expect 0 "$h" estimate minimal.yaml
has out "points"
expect 0 "$h" estimate minimal.yaml --ranks 4 --json
awk -F '[:,]' '{ v[$1] = $2 } END { e = v["  \"efficiency\""]; n = v["  \"points\""]; m = v["  \"rank_values\""]
    exit !(e > 0.01 && e <= 1 && m >= n / 4 && m < n) }' out || fail "estimate of four ranks: $(cat out)"
expect 0 "$h" simulate homodyne_laminar_flow.yaml -o again.h5 --noise 0.01 --set D0=3000
has out "5 angles, 80 frames, dt 0.1 s"
expect 0 "$h" fit homodyne_laminar_flow.yaml --data again.h5 -o again --fix D_offset=10 --fix alpha=-0.1 --loss linear
awk '/"D0": {/ { in_it = 1 } in_it && /"value"/ { v = $2 + 0 } in_it && /"std":/ { s = $2 + 0; exit }
    END { exit !(s > 0 && v - 3000 < 5 * s && 3000 - v < 5 * s) }' again/fit.json ||
        fail "simulate CONFIG: not what was asked"
sed 's/laminar.h5/gone.h5/' minimal.yaml >gone.yaml
expect 3 "$h" simulate gone.yaml -o x.h5
has err "--frames"
expect 0 "$h" simulate gone.yaml -o x.h5 --frames 30 --phi 0,90
rm again.h5 x.h5
expect 0 "$h" inspect laminar.h5
has out "phi -45"

# ---- a file without the frame period: who asks for it names the option, and the line left open
cp "$here/../data/nxxpcs.h5" open.h5
expect 0 "$h" inspect open.h5
has out "fit and config take it with --dt S"
expect 0 "$h" config --mode static_isotropic --data open.h5 -o open.yaml
has out "(dt, or give --dt S)"
open="open.yaml:$(grep -n ' dt: null' open.yaml | cut -d: -f1): "
wanted="open.h5 does not give the frame period; set analyzer_parameters.dt in s (or --dt)"
"$h" validate open.yaml >out 2>err && fail "validate without a frame period"
has err "${open}error: $wanted"
"$h" fit open.yaml -o open >out 2>err && fail "fit without a frame period"
has err "$open$wanted"
expect 0 "$h" validate open.yaml --dt 0.1
printf 'tau,g2\n1,1.2\n2,1.1\n' >mine.csv
expect 0 "$h" inspect mine.csv
has out "mine.csv: a table of"
has out "1 tau "
has out "homodyne fit --model MODEL --data FILE"

# ---- compare
expect 0 "$h" compare results_minimal results_minimal
has out "AGREE"
awk 'length > 80 { exit 1 }' out || fail "compare is wider than 80 columns"
expect 0 "$h" fit minimal.yaml --fix phi0=3 -o results_fixed --quiet
expect 2 "$h" compare results_minimal results_fixed
has out "DIFFERENT"
expect 2 "$h" compare results_minimal results_fixed --json
has out '"agree": false'
expect 2 "$h" compare results_minimal/fit.json results_fixed --quiet
[ ! -s out ] || fail "compare --quiet says something"
expect 0 "$h" compare peer results_minimal --sigma 50
has out "least squares +- "
expect 4 "$h" compare results_minimal nothing
# a posterior is compared by its mean, and the head says so
expect 0 "$h" fit minimal.yaml --method laplace --draws 200 -o results_drawn --quiet
expect 0 "$h" compare results_drawn results_drawn
has out "posterior mean +- sd     posterior mean +- sd"
expect 0 "$h" compare results_minimal results_drawn --json
has out '"least_squares"'
awk '$1 == "\"posterior\":" { inside = 1 } inside && $1 == "\"D0\":" { of = 1 } of && $1 == "\"mean\":" {
    print $2; exit }' results_drawn/fit.json |
    grep -qF "$(awk '$1 == "\"D0\":" { of = 1 } of && $1 == "\"value\":" { sub(/\]/, "", $3); print $3; exit }' out)" ||
    fail "compare does not take the mean of the posterior: $(grep -A2 '"D0"' out)"
# different models are told to differ, whatever the names of their parameters
expect 2 "$h" compare results_minimal results_heterodyne
has out "DIFFERENT: the models are laminar and heterodyne"
! grep -q '^  beta .* !' out || fail "an exponent of another quantity is compared"
expect 2 "$h" compare results_minimal results_heterodyne --json
has out '"same_model": false'
has out '"no_criteria": "the data are different"'
expect 3 "$h" compare results_minimal
# which model: AIC and BIC of the same values; of others there is a reason
kww=$here/../../examples/kww/data.csv
expect 0 "$h" fit --model kww --data "$kww" -o stretched --quiet
expect 0 "$h" fit --model double_exponential --data "$kww" -o two --quiet
expect 2 "$h" compare stretched two
awk 'NF == 3 { v[$1] = $2; w[$1] = $3 } END { n = log(v["points"])
    exit !(v["parameters"] == 4 && w["parameters"] == 5 && near(v["AIC"], v["chi2"] + 8) &&
        near(w["AIC"], w["chi2"] + 10) &&
           near(v["BIC"], v["chi2"] + 4 * n) && near(w["BIC"], w["chi2"] + 5 * n)) }
    function near(x, y) { return x - y < 0.011 && y - x < 0.011 }' out || fail "criteria: $(cat out)"
has out "AIC prefers stretched by "
awk 'length > 80 { exit 1 }' out || fail "compare of two models is wider than 80 columns"
expect 2 "$h" compare stretched two --json
has out '"likelihood": "chi2"'
expect 2 "$h" compare results_minimal results_fixed # the noise is estimated: RSS is that of fit.json, twice the cost
awk 'NR == FNR { gsub(/[",:]/, " "); if ($1 == "cost" && !rss) rss = 2 * $2; if ($1 == "n_points" && !n) n = $2
        if ($1 == "n_free") k = $2; next }
    NF == 3 && $1 == "AIC" { aic = $2 }
    END { x = n * log(rss / n) + 2 * (k + 1) - aic; exit !(x < 0.011 && x > -0.011) }' \
    results_minimal/fit.json out || fail "AIC with a noise that is estimated: $(cat out)"
has out "BIC prefers results_minimal by "
expect 0 "$h" simulate --model speckle_counts --x 0.03:2:60:log -o n.csv --seed 3 --quiet
expect 0 "$h" fit --model speckle_counts --data n.csv -o law --quiet
expect 0 "$h" fit --model speckle_counts --data n.csv --fix contrast=0.5 -o law_held --quiet
expect 0 "$h" compare law law_held
awk 'NR == FNR { gsub(/[",:]/, " "); if ($1 == "log_likelihood") l = $2; next }
    NF == 3 && $1 == "AIC" { x = -2 * l + 6 - $2; ok = x < 0.011 && x > -0.011 } END { exit !ok }' law/fit.json out ||
    fail "AIC of a law: $(cat out)"
has out "  -2 log L "
# values that are not independent: noise that frames share, and CLIC; a posterior brings its evidence
expect 0 "$h" simulate --model static_isotropic -o shared.h5 --frames 120 --dt 0.1 --q 0.0054 --phi 0 --set D0=1e5 \
    --set alpha=0 --set D_offset=0 --contrast 0.3 --noise speckle --pixels 1000 --seed 4 --config-out shared.yaml \
    --quiet
expect 0 "$h" fit shared.yaml --fix D_offset=0 --fix alpha=0 -o normal --quiet
expect 0 "$h" fit shared.yaml --fix D_offset=0 -o anomalous --quiet
"$h" compare normal anomalous >out 2>err || [ $? -eq 2 ] || fail "compare of correlated values"
has out "  CLIC "
has out "residuals are correlated: "
hasnot out "AIC"
hasnot out "prefers anomalous"
awk 'length > 80 { exit 1 }' out || fail "compare of correlated values is wider than 80 columns"
"$h" compare normal anomalous --json >out 2>err || [ $? -eq 2 ] || fail "compare --json of correlated values"
has out '"correlated": true'
for seed in 1 2 3 4 5 6; do # of independent values nothing is said to be correlated
    expect 0 "$h" simulate --model static_isotropic -o white.h5 --frames 40 --dt 0.1 --q 0.0054 --phi 0 --set D0=1e5 \
        --set alpha=0 --set D_offset=0 --contrast 0.3 --noise 0.02 --seed $seed --config-out white.yaml --quiet --force
    expect 0 "$h" fit white.yaml --fix D_offset=0 --fix alpha=0 -o white_normal --quiet
    expect 0 "$h" fit white.yaml --fix D_offset=0 -o white_free --quiet
    "$h" compare white_normal white_free >out 2>err || [ $? -eq 2 ] || fail "compare of independent values"
    has out "AIC prefers"
    hasnot out "correlated"
done
expect 0 "$h" fit white.yaml --fix D_offset=0 --fix alpha=0 -m laplace -o white_normal --quiet
expect 0 "$h" fit white.yaml --fix D_offset=0 -m laplace -o white_free --quiet
"$h" compare white_normal white_free >out 2>err || [ $? -eq 2 ] || fail "compare of two posteriors"
has out "  log evidence "
has out "evidence prefers white_"
expect 0 "$h" fit --model double_exponential --data "$kww" --loss soft_l1 -o robust_two --quiet
expect 2 "$h" compare stretched robust_two
has out "  a robust loss is not a likelihood"
sed '$d' "$kww" >shorter.csv
expect 0 "$h" fit --model double_exponential --data shorter.csv -o shorter --quiet
expect 2 "$h" compare stretched shorter
has out "  the data are different"

# ---- a model of one's own: compiled once, again when it changes, never when a file points at it
awk '/^```lua file=stretched_static.lua/ { p = 1; next } p && /^```/ { exit } p' "$here/../../docs/models.md" \
    >stretched_static.lua
# shellcheck disable=SC2086
expect 0 "$h" simulate --model stretched_static.lua -o s.h5 --config-out s.yaml --frames 60 --dt 0.1 --q 0.005 \
    --phi 0,90 --contrast 0.3 --offset 1 --set tau=2 --set beta=1.4 --noise 0.02
has err "compiling stretched_static.lua"
expect 0 "$h" fit --model stretched_static.lua s.yaml -o results_s
hasnot err "compiling"
[ "$(find cache -name '*.so' | wc -l)" -eq 1 ] || fail "not one kernel"
[ "$(stat -c %a cache/homodyne)" = 700 ] || fail "the cache is open to others"
# for another instruction set than the best of this machine
if [ "$(uname -m)" = x86_64 ]; then
    kept=$XDG_CACHE_HOME
    export XDG_CACHE_HOME=$PWD/levels
    FIT_ISA=v2 expect 0 "$h" info --model stretched_static.lua
    has out "fast x86-64-v2"
    expect 0 "$h" info --model stretched_static.lua --isa v2
    has out "fast x86-64-v2"
    hasnot err compiling
    FIT_ISA=v9 expect 3 "$h" info --model stretched_static.lua
    has err "no kernel of variant fast for v9"
    export XDG_CACHE_HOME=$kept
fi
# by a compiler that calls itself clang, which is not asked for vectors of SVE
cat >as_clang <<EOF
#!/bin/sh
[ "\$1" != --version ] || { echo clang version 14; exit; }
echo "\$*" >"$PWD/asked"
exec "${CC:-cc}" "\$@"
EOF
chmod +x as_clang
kept=$XDG_CACHE_HOME
export XDG_CACHE_HOME=$PWD/clang
CC=$PWD/as_clang expect 0 "$h" info --model stretched_static.lua
hasnot asked sve
if [ "$(uname -m)" = aarch64 ]; then
    FIT_ISA=base CC=$PWD/as_clang expect 0 "$h" info --model stretched_static.lua
    has out "fast aarch64-base"
    FIT_ISA=base expect 0 "$h" info --model stretched_static.lua
    has out "fast aarch64-base"
fi
export XDG_CACHE_HOME=$kept
sed 's/start = 1, bounds = {1e-3/start = 1.5, bounds = {1e-3/' stretched_static.lua >new.lua
mv new.lua stretched_static.lua
expect 0 "$h" info --model stretched_static.lua
has err "compiling"
[ "$(find cache -name '*.so' | wc -l)" -eq 2 ] || fail "a changed model was not compiled again"
CC=nocompiler expect 3 "$h" info --model stretched_static.lua
has err "needs a C compiler"
chmod g+w cache/homodyne
expect 3 "$h" info --model stretched_static.lua
has err "others may write"
chmod g-w cache/homodyne
# a folder above that the user's own group may write to (umask 002) is the user's; one of another group is not
if [ "$(id -un)" = "$(id -gn)" ]; then
    mkdir -m 775 -p above
    XDG_CACHE_HOME=$PWD/above expect 0 "$h" info --model stretched_static.lua
    if [ "$(id -u)" -eq 0 ]; then
        chgrp daemon above
        XDG_CACHE_HOME=$PWD/above expect 3 "$h" info --model stretched_static.lua
        has err "put another one in the place of"
    fi
fi
printf 'local m = model "broken" { title = "x" }\n' >broken.lua
expect 3 "$h" info --model broken.lua
has err "broken.lua"
[ -z "$(find cache -name '.making*')" ] || fail "a broken model leaves files"
expect 3 "$h" fit s.yaml
has err "--model FILE.lua"
expect 3 "$h" fit s.yaml stretched_static.lua
sed 's|stretched_static$|./stretched_static.lua|' s.yaml >points.yaml
expect 3 "$h" fit points.yaml
hasnot err "compiling"

# ---- help, manual, completions: from one table
expect 0 "$h" --help
[ "$(wc -l <out)" -le 24 ] || fail "the help is longer than a screen"
for c in fit validate config inspect plan simulate compare contin batch watch plot report view extract models info \
    demo estimate; do
    expect 0 "$h" $c --help
    [ "$(wc -l <out)" -le 24 ] || fail "$c --help is longer than a screen"
    awk 'length > 80 { exit 1 }' out || fail "$c --help is wider than 80 columns"
    "$h" manual $c >page.1
    for option in $(sed -n 's/^ *\(-[a-z], \)*--\([a-z-]*\).*/\2/p' out); do
        grep -q "$(printf '%s' "$option" | sed 's/-/.-/g')" page.1 || fail "man page of $c without --$option"
        "$h" completion bash | grep -q -- "--$option " || fail "bash completion without --$option"
        "$h" completion fish | grep -q -- "from $c' -l $option" || fail "fish completion without $option"
        "$h" completion zsh | grep -q -- "--$option\[\|--$option=" || fail "zsh completion without $option"
    done
done
expect 0 "$h" fit --help
has out "-o, --output-dir DIR"
has out "--data FILE"
has out "2 finished but not converged"
expect 0 "$h" compare --help
has out "2 they differ"
expect 0 "$h" inspect --help
! grep -q converged out || fail "inspect does not converge"
expect 3 "$h" fit minimal.yaml --ouput x
has err "did you mean --output? See homodyne fit --help"
expect 3 "$bin/homodyne-laminar" fit minimal.yaml --frobnicate x
has err "see homodyne-laminar fit --help"
"$h" completion bash >c.bash
if command -v bash >/dev/null; then
    bash -c '. ./c.bash; COMP_WORDS=(homodyne val); COMP_CWORD=1; _homodyne; echo "${COMPREPLY[@]}"' >out
    has out validate
    bash -c '. ./c.bash; COMP_WORDS=(homodyne fit --bou); COMP_CWORD=2; _homodyne; echo "${COMPREPLY[@]}"' >out
    has out --bounds
    bash -c '. ./c.bash; COMP_WORDS=(homodyne fit --loss hu); COMP_CWORD=3; _homodyne; echo "${COMPREPLY[@]}"' >out
    has out huber
fi
# the other shells, where they are: fish answers what it would offer, zsh in a terminal of its own
if command -v fish >/dev/null; then
    "$h" completion fish >c.fish
    HOME=$dir PATH=$bin:$PATH fish -c 'source c.fish
        complete -C "homodyne val"; complete -C "homodyne fit minimal.yaml --fix al"
        complete -C "homodyne fit --bou"' >out
    has out validate
    has out alpha
    has out "--bounds"
else
    echo "no fish: its completion was not tried"
fi
if command -v zsh >/dev/null; then
    "$h" completion zsh >_homodyne
    cat >z.zsh <<'END'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "fpath=($PWD \$fpath); autoload -U compinit; compinit -u -D; setopt no_beep; print -r -- rea'dy'"
out=''
for ((k = 0; k < 100; k++)); do
    while zpty -r -t z more; do out+=$more; done
    [[ $out == *ready* ]] && break
    sleep 0.1
done
zpty -w -n z "homodyne fit minimal.yaml --fix al"$'\t'
for ((k = 0; k < 100; k++)); do
    while zpty -r -t z more; do out+=$more; done
    [[ $out == *alpha* ]] && break
    sleep 0.1
done
zpty -d z
print -r -- $out
END
    HOME=$dir PATH=$bin:$PATH zsh z.zsh >out 2>&1 || fail "zsh: $(tail -3 out)"
    has out alpha
else
    echo "no zsh: its completion was not tried"
fi
if command -v groff >/dev/null; then
    for c in '' fit config gen; do
        # shellcheck disable=SC2086
        "$h" manual $c | groff -man -Tascii -ww >page 2>err
        [ ! -s err ] || fail "groff complains about $c: $(head -1 err)"
    done
fi
expect 0 "$h" --version
has out "homodyne "
grep -q "^## $(cut -d' ' -f2 out) " "$here/../../CHANGELOG.md" || fail "CHANGELOG.md does not know this version"
expect 0 "$h" --version --verbose
for word in "homodyne " "compiler   " "libraries  libhdf5 1." "system     " "processor  " "programs   $bin"; do
    has out "$word"
done

# ---- the bundled experiment
expect 0 "$h" demo d
has out "off by"
has out "next, with"
[ -s d/report.html ] || fail "the demo has made no report"
value=$(awk '$1 == "alpha" && $3 == "+-" { print $2, $4; exit }' d/summary.txt)
[ -n "$value" ] && [ "$(awk '$1 == "alpha" { v = $3 " " $4 } END { print v }' out)" = "$value" ] ||
    fail "the demo writes alpha in two ways"
awk '$1 == "D0" && $2 == 6000 && (/inside its 95 %/ || ($5 > -4 && $5 < 4)) { n++ } END { exit n != 1 }' out ||
    fail "the demo: D0 is off: $(grep D0 out)"
expect 0 "$h" compare d d
value=$(awk '$1 == "alpha" && $3 == "+-" { print $2, $4; exit }' d/summary.txt)
awk -v value="$value" '$1 == "alpha" { exit !($2 " " $4 == value && $5 " " $7 == value) }' out ||
    fail "compare: $(grep alpha out)"
expect 0 "$h" demo d
awk '/^(alpha|D_offset|gamma|beta|phi0)/ { n++; if ($5 < -4 || $5 > 4) exit 1 } END { exit n != 6 }' out ||
    fail "the demo is far from the truth"

finish
