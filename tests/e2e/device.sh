#!/bin/sh
# Whole fits whose sums are taken by a device: device.sh BINDIR
# By OpenCL where there is one (pocl on a processor will do), else by the kernels as plain C.
set -eu
bin=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
failed=0
fail() {
    echo "FAILED: $*"
    failed=1
}
words=plain
if "$bin/homodyne" info --devices | grep -q '^  opencl:0 '; then
    words="plain opencl:0"
else
    echo "no OpenCL: kernels as plain C only"
fi

# close A B LIMIT: parameters differ by less than LIMIT standard deviations
close() {
    python3 - "$@" <<'PY'
import json, sys
a, b = (json.load(open(f + "/fit.json"))["parameters"] for f in sys.argv[1:3])
worst = max(abs(b[n]["value"] - p["value"]) / p["std"] for n, p in a.items() if p.get("std"))
print("%s against %s: %.1e sd" % (sys.argv[2], sys.argv[1], worst))
sys.exit(not worst < float(sys.argv[3]))
PY
}

# same A B: their numbers, as text
same() {
    for f in "$1" "$2"; do
        awk '/^  "/ { on = 0 } /^  "(parameters|correlation|identifiability)":/ { on = 1 }
             /^  "(cost|chi2|iterations|evaluations)":/ { on = 1 } on' "$f/fit.json" >"$f.numbers"
    done
    [ "$(wc -l <"$1.numbers")" -gt 30 ] || fail "$1: fit.json holds too little"
    cmp -s "$1.numbers" "$2.numbers" || fail "$1 and $2 differ"
}

"$bin/homodyne-static_isotropic" simulate -o still.h5 --frames 90 --dt 0.1 --q 0.0054 --phi 0,45,90 --set D0=2000 \
    --set alpha=-0.3 --set D_offset=100 --contrast 0.3 --noise 0.01 --seed 5 --config-out still.yaml --quiet
"$bin/homodyne-laminar" simulate -o flow.h5 --frames 80 --dt 0.1 --q 0.0054 --gap 2e6 --phi -5,50,90 --set D0=2000 \
    --set alpha=-0.3 --set D_offset=100 --set gamma_dot_t0=0.004 --set beta=-0.4 --set gamma_dot_t_offset=0.0003 \
    --set phi0=-4 --contrast 0.3 --noise 0.01 --seed 4 --config-out flow.yaml --quiet
"$bin/homodyne-kww" simulate -o curve.csv --x 1e-3:10:200:log --set tau=0.3 --set beta=0.7 --set contrast=0.3 \
    --set baseline=1 --noise 0.003 --quiet

fit() { # MODEL DATA OUT options
    model=$1 data=$2 out=$3
    shift 3
    case $data in
    *.yaml) "$bin/homodyne-$model" fit "$data" -o "$out" --quiet "$@" ;;
    *) "$bin/homodyne-$model" fit --data "$data" -o "$out" --quiet "$@" ;;
    esac
}

for case in "static_isotropic still.yaml" "laminar flow.yaml" "kww curve.csv"; do
    # shellcheck disable=SC2086  # two words
    set -- $case
    fit "$1" "$2" "cpu-$1"
    for word in $words; do
        fit "$1" "$2" "$1-$word" --device "$word"
        close "cpu-$1" "$1-$word" 1e-9 || fail "$1 by $word is not as by the processor"
    done
done
for word in $words; do
    # again, in pieces that the device holds one at a time, and with other threads: the same bits
    fit static_isotropic still.yaml again --device "$word" --threads 1
    same "static_isotropic-$word" again
    FIT_DEVICE_MB=0 fit static_isotropic still.yaml pieces --device "$word"
    same "static_isotropic-$word" pieces
    # devices that share the sums
    fit static_isotropic still.yaml together --device "plain+$word"
    same "static_isotropic-$word" together
    grep -q '"device": ".* + ' together/fit.json || fail "plain+$word: $(grep '"device"' together/fit.json)"
    # what a device does not do is done by the processor
    fit static_isotropic still.yaml robust --device "$word" --loss soft_l1
    fit static_isotropic still.yaml robust-cpu --loss soft_l1
    close robust-cpu robust 1e-6 || fail "soft_l1 with $word"
done
if [ "$words" != plain ]; then
    same static_isotropic-plain static_isotropic-opencl:0
    same laminar-plain laminar-opencl:0
fi

# many small fits at a time: the numbers of one at a time, in fewer launches
python3 - <<'PY'
import math, random
random.seed(3)
with open("each.csv", "w") as f:
    print("curve,delay,g2,sigma", file=f)
    for c in range(12):
        for k in range(40):
            x = 1e-3 * 10 ** (0.1 * k)
            g2 = 1 + 0.3 * math.exp(-2 * (x / (0.2 + 0.05 * c)) ** 0.7) + random.gauss(0, 0.003)
            print("%d,%.9g,%.9g,0.003" % (c, x, g2), file=f)
PY
for word in $words; do
    for t in 1 2; do
        "$bin/homodyne-kww" fit --data each.csv --each curve -o "each-$t" --device "$word" --threads "$t" \
            -v >/dev/null \
            2>"each-$t.err" || [ $? = 2 ] || fail "--each by $word: $(cat "each-$t.err")"
    done
    cmp -s each-1/each.csv each-2/each.csv || fail "--each by $word: other numbers with other threads"
    awk -F, 'NR == 1 || $1 == 7' each.csv >seven.csv
    "$bin/homodyne-kww" fit --data seven.csv --each curve -o seven --device "$word" --quiet --threads 1 || :
    [ "$(grep '^7,' each-1/each.csv)" = "$(grep '^7,' seven/each.csv)" ] || fail "--each by $word: not the fit alone"
    sed -n 's/.* \([0-9]*\) sums in \([0-9]*\) launches/\1 \2/p' each-2.err | {
        read -r sums launches || :
        echo "--each by $word: $sums sums in $launches launches"
        [ "$word" = plain ] || [ "${sums:-0}" -gt $((launches + launches / 2)) ]
    } || fail "--each by $word: no common launches: $(cat each-2.err)"
    # replicates of a bootstrap, side by side and not
    for t in 1 2; do
        fit static_isotropic still.yaml "boot-$t" --device "$word" --frames 1:40 --bootstrap block:12 \
            --threads "$t" || fail "bootstrap by $word"
    done
    same boot-1 boot-2
    [ "$word" != plain ] || rm -rf seven each-1 each-2 boot-1 boot-2
done

# a batch: one process, common launches, the numbers of the fit alone; a file that is none fails alone
for k in 1 2 3 4 5 6; do
    "$bin/homodyne-static_isotropic" simulate -o "run$k.h5" --frames 60 --dt 0.1 --q 0.0054 --phi 0,90 \
        --set "D0=$((1500 + 200 * k))" --set alpha=-0.3 --set D_offset=100 --contrast 0.3 --noise 0.01 --seed "$k" \
        --config-out run.yaml --force --quiet
done
echo "no data" >run7.h5
for word in $words; do
    "$bin/homodyne" batch run.yaml run?.h5 -o "series-$word" --device "$word" -v >said 2>&1 &&
        fail "a batch with a bad file"
    grep -q '7 fits: 6 converged, 0 not, 1 failed' said || fail "a batch by $word: $(cat said)"
    grep -q 'run7: FAILED: run7.h5: is text' said || fail "a batch by $word: $(cat said)"
    fit static_isotropic run.yaml alone --data run4.h5 --device "$word" --threads 1
    same alone "series-$word/run4"
    rm -rf alone
    sed -n 's/.* \([0-9]*\) sums in \([0-9]*\) launches/\1 \2/p' said | {
        read -r sums launches || :
        echo "a batch by $word: $sums sums in $launches launches"
        [ "$word" = plain ] || [ "${sums:-0}" -gt $((launches + launches / 2)) ]
    } || fail "a batch by $word: no common launches: $(cat said)"
done
"$bin/homodyne" batch run.yaml run[1-6].h5 -o series-two --device "plain+$word" -v >said 2>&1 ||
    fail "a batch by two devices: $(cat said)"
[ "$(grep -c 'sums in' said)" = 2 ] || fail "a batch by two devices: one did nothing: $(cat said)"
for k in 1 2 3 4 5 6; do
    same "series-$word/run$k" "series-two/run$k"
done
sed 's/model "static_isotropic"/model "my_still"/' "$source/models/static_isotropic.lua" >my_still.lua
grep -v analysis_mode run.yaml >own.yaml
XDG_CACHE_HOME=$dir/cache "$bin/homodyne" batch own.yaml run[12].h5 --model my_still.lua -o series-own --device plain \
    --quiet || fail "a batch with a model of one's own: $(cat series-own/run1/batch.log)"
grep -q '^  "device"' series-own/run2/fit.json || fail "a batch with a model of one's own: no device"
"$bin/homodyne" batch run.yaml run[1-6].h5 -o x --device cuda --slurm=2 >job.sh
grep -q '^#SBATCH --gres=gpu:1$' job.sh || fail "batch --slurm --device cuda requests no card"
! grep -q -e --jobs job.sh || fail "batch --slurm --device cuda limits the fits at a time"
"$bin/homodyne" batch run.yaml run1.h5 -o x --device nonsense 2>said && fail "batch --device nonsense"
grep -q 'error: --device nonsense: must be cpu, gpu, auto' said || fail "batch --device nonsense: $(cat said)"

# its process dies, is asked to stop
"$bin/homodyne" batch run.yaml run[1-6].h5 -o dead --device plain --bootstrap block:2000 --jobs 2 --quiet 2>said &
job=$!
for k in $(seq 400); do # a fit is at work
    [ ! -e dead/run1/.homodyne.lock ] || break
    sleep 0.05
done
kill -KILL "$(pgrep -P $job)"
for k in $(seq 400); do # another process goes on
    ! grep -q 'signal 9' said || [ ! -e dead/run3/.homodyne.lock ] || break
    sleep 0.05
done
kill -INT $job
code=0
wait $job || code=$?
[ "$code" = 130 ] || fail "a batch that was stopped: exit code $code: $(cat said)"
grep -q 'FAILED: its process was ended by signal 9' said || fail "a batch whose process died: $(cat said)"
[ -z "$(pgrep -f 'static_isotropic fits plain 6' || :)" ] || fail "a batch that was stopped: its process is left"
"$bin/homodyne" batch run.yaml run[1-6].h5 -o dead --device plain --bootstrap block:20 --quiet || fail "a batch again"
ls dead/run[1-6]/fit.json >/dev/null || fail "a batch again"

"$bin/homodyne-kww" fit --data curve.csv -o x --device plain+gpu 2>said && fail "--device plain+gpu"
grep -q 'gpu is no device that shares sums' said || fail "--device plain+gpu: $(cat said)"
for word in +plain plain+ plain++plain; do
    "$bin/homodyne-kww" fit --data curve.csv -o x --device "$word" 2>said && fail "--device $word"
    grep -q 'a device is missing beside +' said || fail "--device $word: $(cat said)"
done
if [ "$words" != plain ]; then
    "$bin/homodyne-kww" fit --data curve.csv -o x --device opencl:0+plain+opencl:0 2>said && fail "a device twice"
    grep -q 'opencl:0 is named twice' said || fail "a device twice: $(cat said)"
fi

# one of several devices, by the number of this process on its machine
if POCL_DEVICES="pthread pthread" "$bin/homodyne" info --devices | grep -q '^  opencl:1 '; then
    for k in 0 1; do
        POCL_DEVICES="pthread pthread" SLURM_LOCALID=$k "$bin/homodyne-kww" fit --data curve.csv -o "local-$k" \
            --device opencl -v >/dev/null 2>said || fail "--device opencl: $(cat said)"
        grep -q "device opencl:$k:" said || fail "--device opencl takes another one than $k: $(cat said)"
    done
fi

last=plain
for word in $words; do last=$word; done

# a model of one's own: its kernels are compiled when a device is asked for
sed 's/model "kww"/model "my_kww"/' "$source/models/kww.lua" >my_kww.lua
for word in cpu $words; do
    XDG_CACHE_HOME=$dir/cache "$bin/homodyne" fit --model my_kww.lua --data curve.csv -o "own-$word" --device "$word" \
        --quiet || fail "a model of one's own by $word"
    [ "$word" = cpu ] || {
        close own-cpu "own-$word" 1e-9 || fail "a model of one's own by $word"
        grep -q '^  "device"' "own-$word/fit.json" || fail "a model of one's own: $word was not used"
    }
done

# an image, and points of a survey: the numbers of the processor, the same for any number of threads
obs=$source/tests/data/imaging/gauss1600.h5
image="--image $obs:/grid/prior --prior $obs:/grid/prior --term vis=1 --regularizer simple=1,tv=1
    --eps-tv 1e-10 --quiet"
axis=tv=0.5,1,2,4,8,16
# shellcheck disable=SC2086  # words
for word in cpu $words; do
    "$bin/homodyne-imaging" eval "$obs" $image --device "$word" >"eval-$word" || fail "an image by $word"
    cmp -s eval-cpu "eval-$word" || fail "an image by $word: $(cat "eval-$word")"
done
# shellcheck disable=SC2086
for threads in 1 3; do
    "$bin/homodyne-imaging" survey "$obs" $image --axis "$axis" --maxiter 10 --device "$last" --threads $threads \
        -o "survey-$threads.h5" || [ $? = 2 ] || fail "a survey by $last" # 2: ten iterations are not enough
done
cmp -s survey-1.h5 survey-3.h5 || fail "a survey by $last: other bytes with other threads"
# shellcheck disable=SC2086
"$bin/homodyne-imaging" survey "$obs" ${image% --quiet} --axis "$axis" --maxiter 10 --device "plain+$last" \
    --threads 3 -v -o survey-two.h5 >said 2>&1 || [ $? = 2 ] || fail "a survey by two devices: $(cat said)"
cmp -s survey-1.h5 survey-two.h5 || fail "a survey by two devices: other bytes"
[ "$(grep -c 'sums in' said)" = 2 ] || fail "a survey by two devices: one did nothing: $(cat said)"

# chains: the same draws again, all of them in common launches
for run in one two; do
    fit static_isotropic still.yaml "chains-$run" --device "$last" --method nuts --chains 3 --warmup 40 --draws 30 \
        --threads 2
done
for run in one two; do
    grep '^  ' "chains-$run/summary.txt" >"chains-$run.text" || fail "chains-$run: no table"
done
cmp -s chains-one.text chains-two.text || fail "chains by $last differ from run to run"

# words
"$bin/homodyne-kww" fit --data curve.csv -o x --device nonsense 2>said && fail "--device nonsense"
grep -q 'must be cpu, gpu, auto' said || fail "--device nonsense: $(cat said)"
"$bin/homodyne-kww" fit --data curve.csv -o x --device opencl:77 2>said && fail "--device opencl:77"
grep -q 'there is no such device' said || fail "--device opencl:77: $(cat said)"
if ! "$bin/homodyne" info --devices | grep -q '^  cuda:'; then
    "$bin/homodyne-kww" fit --data curve.csv -o gpu --device gpu >/dev/null 2>said || fail "--device gpu without a card"
    grep -q 'the processor is used' said || fail "--device gpu says nothing: $(cat said)"
    close cpu-kww gpu 1e-15 || fail "--device gpu without a card"
fi
"$bin/homodyne" info --devices --json | python3 -c 'import json, sys; json.load(sys.stdin)["devices"]' ||
    fail "info --devices --json"
"$bin/homodyne-laminar" estimate flow.yaml --device "$last" | grep -q '^faster' || fail "estimate --device"
exit $failed
