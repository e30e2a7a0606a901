#!/bin/sh
# homodyne batch and watch: one table of many fits, done only once, stopped and gone on with; a file that
# grows: series.sh BINDIR
set -eu
bin=$1
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
h=$bin/homodyne
failed=0

fail() {
    echo "FAILED: $*"
    failed=1
}

expect() { # expect CODE COMMAND...; output is kept in `out` and `err`
    code=$1
    shift
    got=0
    "$@" >out 2>err </dev/null || got=$?
    [ "$got" -eq "$code" ] || {
        fail "exit code $got, not $code: $*"
        cat err
    }
}

has() {
    grep -qF -- "$2" "$1" || {
        fail "$1 does not say: $2"
        head -5 "$1"
    }
}

make() { # make FILE FRAMES SEED D0
    "$h" simulate --model static_isotropic -o "$1" --frames "$2" --dt 0.1 --q 0.0054 --phi 0 --contrast 0.3 --offset 1 \
        --noise 0.01 --seed "$3" --set "D0=$4" --set alpha=-0.3 --set D_offset=100 --quiet --config-out my.yaml
}

column() { # column NAME ROW: of batch/series.csv
    awk -F, -v name="$1" -v row="$2" 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == name) c = k }
        $1 == row { print $c }' batch/series.csv
}

# ---- a series of files
mkdir a b
make a/run.h5 60 1 2000
make b/run.h5 60 2 3000
make c.h5 60 3 4000
expect 0 "$h" batch my.yaml a/run.h5 b/run.h5 c.h5 --list
has out "a_run"
[ ! -e batch ] || fail "--list writes"
expect 4 "$h" batch my.yaml a/run.h5 b/run.h5 c.h5 gone.h5 --jobs 2
has out "3 converged, 0 not, 1 failed"
has err "FAILED: gone.h5: no such file"
[ "$(wc -l <batch/series.csv)" -eq 5 ] || fail "not four rows"
[ -s batch/series.h5 ] || fail "no series.h5"
[ "$(column status gone)" = failed ] || fail "gone.h5 did not fail: $(column status gone)"
# 60 frames do not determine D0 by itself: no error, but the interval of the profile, empty where it is open.
[ -z "$(column D0_std b_run)" ] || fail "D0 of b_run has an error: $(column D0 b_run) +- $(column D0_std b_run)"
awk -v a="$(column D0_lower95 b_run)" -v b="$(column D0_upper95 b_run)" \
    'BEGIN { exit !((a != "" || b != "") && (a == "" || a < 3000) && (b == "" || b > 3000)) }' ||
    fail "D0 of b_run: $(column D0 b_run), $(column D0_lower95 b_run) .. $(column D0_upper95 b_run)"
# the numbers are those of a fit of its own
expect 0 "$h" fit my.yaml --data c.h5 -o own --quiet
expect 0 "$h" compare own batch/c --sigma 1e-6

# what is done is not done again; what changed is
expect 0 "$h" batch my.yaml a/run.h5 b/run.h5 c.h5
has out "3 were done before"
expect 0 "$h" batch my.yaml a/run.h5 b/run.h5 c.h5 --verbose --threads 2 --jobs 1
has out "3 were done before"
make c.h5 60 4 4000
expect 0 "$h" batch my.yaml a/run.h5 b/run.h5 c.h5 --json
has out '"done_before": 2'
expect 0 "$h" batch my.yaml a/run.h5 b/run.h5 c.h5 --fix D_offset=100
has out "0 failed"
! grep -q "done before" out || fail "another option, the same result"
echo '# a remark' >>my.yaml
expect 0 "$h" batch my.yaml a/run.h5 --quiet
[ ! -s out ] && [ ! -s err ] || fail "--quiet says something"
expect 0 "$h" batch my.yaml a/run.h5 --again
expect 3 "$h" batch my.yaml --data a/run.h5
has err "plain words"
expect 3 "$h" batch my.yaml a/run.h5 --jobs 0
expect 3 "$h" batch
! grep -q "$(printf '\033')" err || fail "escape codes in a file"

# ---- rings of one file: three of q with one, two and three azimuths
sed 's/dt: .*/dt: 0.003/' my.yaml >rings.yaml
expect 0 "$h" batch rings.yaml "$here/../data/aps_u_lzf.h5" --q all --list
[ "$(wc -l <out)" -eq 3 ] || fail "not three rings"
has out "aps_u_lzf_q0.005"
"$h" batch rings.yaml "$here/../data/aps_u_lzf.h5" --q 0.003,0.008 -o rings --max-iterations 3 >out 2>err || true
[ "$(wc -l <rings/series.csv)" -eq 3 ] || fail "not two rows of rings"
expect 3 "$h" batch rings.yaml a/run.h5 --q 0.003,x

# ---- stopped by a signal, gone on with
for k in 1 2 3 4; do cp a/run.h5 s$k.h5; done
"$h" batch my.yaml s1.h5 s2.h5 s3.h5 s4.h5 -o stop --jobs 1 --multistart >out 2>err &
pid=$!
while ! grep -q '^\[1/4\]' err 2>/dev/null; do
    kill -0 $pid 2>/dev/null || break
    sleep 0.02
done
kill -INT $pid 2>/dev/null || true
got=0
wait $pid || got=$?
case $got in
130) has out "left" ;;
0) echo "the batch ended before the signal" ;;
*) fail "exit code $got after SIGINT" ;;
esac
expect 0 "$h" batch my.yaml s1.h5 s2.h5 s3.h5 s4.h5 -o stop --multistart
has out "were done before"
[ "$(grep -c converged stop/series.csv)" -ge 4 ] || fail "not all converged: $(cat stop/series.csv)"

# ---- watch: the file comes, is half written, and grows
sed 's/c\.h5/grow.h5/' my.yaml >grow.yaml
make g60.h5 60 5 2000
make g90.h5 90 5 2000
cp g60.h5 grow.h5
"$h" watch grow.yaml -o watched --every 0.1 --until-idle 60 >out 2>err &
pid=$!
wait_for() { # wait_for FILE TEXT
    n=0
    while ! grep -qF "$2" "$1" 2>/dev/null; do
        n=$((n + 1))
        [ $n -lt 300 ] && kill -0 $pid 2>/dev/null || { fail "watch never said: $2"; break; }
        sleep 0.1
    done
}
wait_for out " 1770 " # 60 frames, 59 x 60 / 2 pairs
head -c 2000 g90.h5 >part.h5 && mv part.h5 grow.h5
wait_for err "no fit"
cp g90.h5 new.h5 && mv new.h5 grow.h5
wait_for out " 4005 "
kill -INT $pid
got=0
wait $pid || got=$?
[ $got -eq 0 ] || fail "watch: exit code $got after Ctrl-C"
has out "moved"
has out "2 fits -> watched"
awk 'length > 100 { exit 1 }' out || fail "lines of watch are long"
expect 0 "$h" watch grow.yaml -o watched --once
expect 3 "$h" watch grow.yaml --every x

[ "$failed" -eq 0 ] && echo "all is well"
exit $failed
