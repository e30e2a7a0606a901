#!/bin/sh
# Command lines of homodyne, heterodyne, xpcsjax, their helpers and aliases, under their own names: each works as it is
# or says what to use: peers.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
PATH=$bin:$PATH
export XDG_CACHE_HOME="$dir/cache"
grid="--frames 60 --dt 0.1 --q 0.0054 --contrast 0.3 --offset 1 --noise 0.01 --quiet"
# shellcheck disable=SC2086  # lists of words
{
    expect 0 homodyne simulate --model laminar -o laminar.h5 $grid --gap '200 um' --phi=-45,-5,5,50,90 --seed 3 \
        --set D0=2000 --set alpha=-0.3 --set D_offset=100 --set gamma_dot_t0=0.004 --set beta=-0.4 --set phi0=-4
    expect 0 homodyne simulate --model static_isotropic -o static.h5 $grid --phi 0 --seed 4 \
        --set D0=2000 --set alpha=-0.3 --set D_offset=100
    expect 0 homodyne simulate --model two_component -o het.h5 $grid --phi 0,45,90 --seed 5
}
cp "$here"/../data/front/* .
sed -i 's/end_frame.*/end_frame: 60/; s/"end_frame".*/"end_frame": 60,/' ./*.yaml ./*.json
cp homodyne_laminar_flow.yaml homodyne_config.yaml

lines=0
line() { # line CODES TEXT COMMAND...: its exit code is one of them; it prints the text
    codes=$1 text=$2 got=0
    shift 2
    lines=$((lines + 1))
    "$@" >out 2>err </dev/null || got=$?
    case " $codes " in
    *" $got "*) ;;
    *) fail "exit code $got, not $codes: $*" && tail -n 3 err ;;
    esac
    cat out err >both
    [ -z "$text" ] || has both "$text"
}
fits="0 2"

# ---- homodyne
line "$fits" "homodyne_config.yaml is used" homodyne
line "$fits" "-> r1" homodyne --config homodyne_laminar_flow.yaml --method nlsq --output-dir r1
line "$fits" "no effect here" homodyne --config homodyne_laminar_flow.yaml --output-dir r2 --output-format npz \
    --no-jit --threads 2
line "$fits" "-> r3" homodyne --config homodyne_laminar_flow.yaml --output-dir r3 --laminar-flow --initial-d0 3000 \
    --initial-phi0 -3
line "$fits" "-> r4" homodyne --config homodyne_laminar_flow.yaml --output-dir r4 --max-iterations 200 \
    --tolerance 1e-8 -v
line "$fits" "" homodyne --config homodyne_laminar_flow.yaml --output-dir r5 --quiet
line "$fits" "-> r6" homodyne --config homodyne_laminar_flow.yaml --output-dir r6 --nlsq-result r1
line "$fits" "-> r7" homodyne --config homodyne_static.yaml --method nlsq --output-dir r7 \
    --save-plots --plotting-backend matplotlib
line 3 "laminar" homodyne --config homodyne_laminar_flow.yaml --static-mode --output-dir r8
line 0 "" homodyne --config homodyne_laminar_flow.yaml --plot-experimental-data --output-dir r9
line 0 "" homodyne --config homodyne_laminar_flow.yaml --plot-simulated-data --contrast 0.3 --offset 1.0 \
    --phi-angles 0,45,90 --output-dir r10
line 3 "did you mean" homodyne --config homodyne_laminar_flow.yaml --method mcmc
line "$fits" "-> r11" hm --config homodyne_laminar_flow.yaml --output-dir r11
line "$fits" "-> r12" hm-nlsq --config homodyne_laminar_flow.yaml --output-dir r12
line "$fits" "consensus" hm-cmc --config homodyne_static.yaml --output-dir r13 --n-samples 40 --n-warmup 40 --n-chains 2
line "$fits" "-> r14" hc-flow --config homodyne_laminar_flow.yaml --output-dir r14
line "$fits" "-> r15" hc-stat --config homodyne_static.yaml --output-dir r15
line 0 "" hexp --config homodyne_laminar_flow.yaml --output-dir r16
[ -n "$(ls r16/plots/experimental_data 2>/dev/null)" ] || fail "hexp draws nothing"
line 0 "" hsim --config homodyne_laminar_flow.yaml --output-dir r17
[ -s r17/plots/simulated_data/simulated.h5 ] || fail "hsim keeps no data"
line 0 "my_flow.yaml" homodyne-config -m laminar_flow -o my_flow.yaml
line 0 "homodyne_laminar_flow_config.yaml" homodyne-config --mode laminar_flow
line 0 "homodyne_static_config.yaml" hconfig -m static -f
line 0 "good for laminar" homodyne-config --validate homodyne_laminar_flow.yaml
line 0 "good for laminar" homodyne-config -v homodyne_laminar_flow.yaml
line 0 "--filter has no effect" homodyne-config -m laminar_flow -o filtered.yaml --filter nlsq_only
line 0 "nothing to set up" homodyne-post-install -i --shell bash
line 0 "nothing to set up" hsetup
line 0 "nothing to clean" homodyne-cleanup -n
line 0 "nothing to clean" hclean
line 0 "" homodyne-config-xla --show

# ---- heterodyne
line "$fits" "-> h1" heterodyne -c heterodyne.yaml -m nlsq -o h1 --max-iterations 60
line "$fits" "-> h2" ht -c heterodyne.yaml -o h2 --phi 0 45 --max-iterations 60
line "$fits" "-> h3" heterodyne -c heterodyne.yaml -o h3 --initial-D0-ref 2000 --initial-v0 5 --initial-f0 0.5 \
    --max-iterations 60
line "$fits" "-> h4" ht -c heterodyne.yaml -o h4 --multistart --multistart-n 3 --max-iterations 60
line 0 "" ht -c heterodyne.yaml -o h5 --plot-simulated-data --offset-sim 1.0 --contrast 0.3
line 0 "het.yaml" heterodyne-config -o het.yaml --data het.h5 --q 0.0054 --dt 0.1 --time-length 60 --overwrite
line 0 "heterodyne" ht-config --show-template --mode minimal
line 0 "good for heterodyne" heterodyne-config -V -o heterodyne.yaml
line 0 "homodyne demo" heterodyne-validate --quick
line 0 "homodyne demo" ht-validate --json
line 0 "nothing to set up" heterodyne-post-install --no-completion

# ---- xpcsjax
line "$fits" "-> x1" xpcsjax -c xpcsjax_laminar_flow.yaml -o x1 --no-multistart
line "$fits" "-> x2" xj -c xpcsjax_static_isotropic.yaml -o x2 --output-format both --no-plot
line "$fits" "-> x3" xj -c xpcsjax_laminar_flow.yaml -o x3 --mode laminar_flow --initial-gamma-dot-t0 0.004
line 0 "" xjexp -c xpcsjax_laminar_flow.yaml -o x4
line 0 "" xjsim -c xpcsjax_laminar_flow.yaml -o x5
line 0 "two.yaml" xpcsjax-config --mode two_component -o two.yaml
line 0 "good for laminar" xj-config -V -o xpcsjax_laminar_flow.yaml
line 0 "good for laminar" xpcsjax-validate xpcsjax_laminar_flow.yaml
line 0 "homodyne validate" xpcsjax-validate --test all
line 0 "nothing to clean" xj-cleanup --dry-run
line 0 "homodyne fit" xj --help
[ $lines -ge 40 ] || fail "only $lines command lines"

# no configuration: the help, as before
rm homodyne_config.yaml
line 3 "homodyne config" heterodyne
# none of these names is a model
expect 0 homodyne models
hasnot out "post-install"
! grep -qE '^(config|cleanup|view) ' out || fail "a name that is no model: $(cat out)"

# ---- names of parameters for completions
expect 0 homodyne completion parameters fit homodyne_laminar_flow.yaml --fix
has out gamma_dot_t0
has out contrast
expect 0 homodyne completion parameters fit --model static_isotropic --data x.h5 --start
has out D_offset
hasnot out gamma_dot_t0
expect 0 homodyne completion parameters fit nowhere.yaml --fix
[ ! -s out ] || fail "names of no model"
if command -v bash >/dev/null; then
    homodyne completion bash >c.bash
    bash -c '. ./c.bash; COMP_WORDS=(homodyne fit homodyne_laminar_flow.yaml --fix gam)
        COMP_CWORD=4; _homodyne; echo "${COMPREPLY[@]}"' >out
    has out "gamma_dot_t0 gamma_dot_t_offset"
fi
finish
