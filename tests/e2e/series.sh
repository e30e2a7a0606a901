#!/bin/sh
# homodyne batch and watch: one table of many fits, done only once, stopped and gone on with; a file that
# grows: series.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne

make() { # make FILE FRAMES SEED D0 [PHI [OFFSET]]
    "$h" simulate --model static_isotropic -o "$1" --frames "$2" --dt 0.1 --q 0.0054 --phi "${5:-0}" --contrast 0.3 \
        --offset "${6:-1}" --noise 0.01 --seed "$3" --set "D0=$4" --set alpha=-0.3 --set D_offset=100 --quiet \
        --config-out my.yaml --force
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
echo "no data" >bad.h5
expect 4 "$h" batch my.yaml a/run.h5 b/run.h5 c.h5 bad.h5 --jobs 2
has out "3 converged, 0 not, 1 failed"
has err "FAILED: bad.h5: is text"
[ "$(wc -l <batch/series.csv)" -eq 5 ] || fail "not four rows"
[ -s batch/series.h5 ] || fail "no series.h5"
[ "$(column status bad)" = failed ] || fail "bad.h5 did not fail: $(column status bad)"
# 60 frames do not determine D0 by itself: no error, but the interval of the profile, empty where it is open.
[ -z "$(column D0_std b_run)" ] || fail "D0 of b_run has an error: $(column D0 b_run) +- $(column D0_std b_run)"
awk -v a="$(column D0_lower95 b_run)" -v b="$(column D0_upper95 b_run)" \
    'BEGIN { exit !((a != "" || b != "") && (a == "" || a < 3000) && (b == "" || b > 3000)) }' ||
    fail "D0 of b_run: $(column D0 b_run), $(column D0_lower95 b_run) .. $(column D0_upper95 b_run)"
# each error has the name that it has in fit.json
for of in std std_robust; do
    told=$(awk -v key="\"$of\":" '$1 == "\"alpha\":" { of = 1 } of && $1 == key { sub(/,/, "", $2); print $2;
        exit }' batch/c/fit.json)
    [ "$(column alpha_$of c)" = "${told#null}" ] || fail "alpha_$of of c: $(column alpha_$of c), not $told"
done
# the page: a row for each fit, a figure for each parameter of all fits
if [ -x "$bin/homodyne-report" ]; then
    expect 0 "$h" report batch
    has out "batch/report.html"
    ! command -v xmllint >/dev/null || xmllint --noout batch/report.html ||
        fail "the page of the series is not well-formed"
    [ "$(grep -c '<tr><td class="n">' batch/report.html)" -eq 4 ] || fail "not four fits on the page"
    [ "$(grep -c '<figure>' batch/report.html)" -eq 3 ] || fail "not three figures on the page"
    has batch/report.html '<b>failed</b>'
    # over what is asked for: a table, times, numbers in names; what no fit tells is refused
    printf 'name;T (K)\na_run;290\nb_run;300\nc.h5;310\n' >temperatures.csv
    expect 0 "$h" report batch --axis T=temperatures.csv -o over_T.html --quiet
    has over_T.html 'Parameters versus T'
    has over_T.html '<i>T</i> (K)</th>'
    has over_T.html '<td class="n">310</td>'
    expect 0 "$h" report batch --axis time -o over_time.html --quiet
    has over_time.html 'Times are those of the data files'
    expect 0 "$h" report batch --axis D0 -o over_D0.html --quiet
    expect 3 "$h" report batch --axis T
    says "no number behind 'T'"
    expect 3 "$h" report batch --axis p=temperatures.csv
    says "no column p"
    expect 3 "$h" report batch/c --axis q
    says "belongs to the folder of a batch"
fi

# matrices by name, a fit for each of their wavevectors
if command -v python3 >/dev/null && python3 -c 'import h5py, numpy' 2>/dev/null; then
    python3 - <<'END'
import h5py
import numpy as np
t = np.arange(60)
with h5py.File("cube.h5", "w") as f:
    f["c2"] = np.stack([1 + 0.3 * np.exp(-q * abs(t[:, None] - t)) for q in (0.02, 0.05)], 2)
    f["q"], f["t"] = [0.002, 0.004], 0.1 * t
END
    expect 0 "$h" batch my.yaml cube.h5 --dataset /c2 --columns q=/q,t=/t --q all --list
    has out "cube_q0.002"
    has out "cube_q0.004"
fi

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
130)
    grep -q "0 failed, [123] left" out || fail "stopped: $(cat out)"
    [ "$(grep -c ',interrupted,\|,waiting,' stop/series.csv)" -ge 1 ] || fail "$(cat stop/series.csv)"
    ;;
0) echo "the batch ended before the signal" ;;
*) fail "exit code $got after SIGINT" ;;
esac
expect 0 "$h" batch my.yaml s1.h5 s2.h5 s3.h5 s4.h5 -o stop --multistart
has out "were done before"
[ "$(grep -c converged stop/series.csv)" -ge 4 ] || fail "not all converged: $(cat stop/series.csv)"

# ---- killed in the midst, with fits under way, gone on with: nothing done is done again, the tables are those of a
# batch that was never killed
killed="s1.h5 s2.h5 s3.h5 s4.h5"
# shellcheck disable=SC2086  # a list of words
{
    "$h" batch my.yaml $killed -o kill --jobs 2 --multistart >out 2>err &
    pid=$!
    n=0
    while ! grep -q '^\[1/4\]' err 2>/dev/null; do
        kill -0 $pid 2>/dev/null || break
        sleep 0.02
    done
    children=$(pgrep -P $pid || true)
    kill -KILL $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    for child in $children; do # its fits do not know that it is gone; what they leave is looked at again
        kill -KILL "$child" 2>/dev/null || true
    done
    # what there is of the table can be read
    if [ -e kill/series.csv ]; then
        awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }' kill/series.csv ||
            fail "a broken series.csv: $(cat kill/series.csv)"
    fi
    find kill -name '*tmp*' | grep . && echo "(temporary files of fits that were killed)"
    expect 0 "$h" batch my.yaml $killed -o kill --jobs 2 --multistart
    has out "before"
    [ "$(grep -c ',converged_' kill/series.csv)" -eq 4 ] || fail "not all converged: $(cat kill/series.csv)"
    expect 0 "$h" batch my.yaml $killed -o whole --jobs 1 --multistart
}
parameters() { # of a table, without folders and seconds
    awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) use[k] = $k ~ /^(D0|alpha|D_offset|status)/ }
        { line = $1; for (k = 2; k <= NF; k++) if (use[k]) line = line "," $k; print line }' "$1"
}
parameters kill/series.csv >a.csv
parameters whole/series.csv >b.csv
cmp a.csv b.csv || fail "killed and gone on with, the numbers are others: $(diff a.csv b.csv | head -4)"
expect 0 "$h" batch my.yaml $killed -o kill --jobs 2 --multistart
has out "4 were done before"
if python3 -c 'import h5py' 2>/dev/null; then
    python3 - <<'END' || fail "series.h5 and series.csv differ"
import csv

import h5py

rows = list(csv.DictReader(open("kill/series.csv")))
with h5py.File("kill/series.h5") as f:
    found = {}
    f.visititems(lambda name, d: found.setdefault(name.split("/")[-1], d[()]) if isinstance(d, h5py.Dataset) else None)
    quality = [q.decode() for q in f["series/quality"][()]]
    assert quality == [row["quality"] for row in rows], quality
    assert len(found["D0"]) == len(rows) == 4, (len(found["D0"]), len(rows))
    for row, value in zip(rows, found["D0"]):
        assert abs(float(row["D0"]) / value - 1) < 1e-6, (row["D0"], value)
END
else
    echo "no h5py: series.h5 is not read"
fi

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
awk 'length > 80 { exit 1 }' out || fail "lines of watch are long"
expect 0 "$h" watch grow.yaml -o watched --once
expect 3 "$h" watch grow.yaml --every x

# ---- watch, killed while it watches, begun anew: it goes on from the result that is there
cp g60.h5 again.h5 && mv again.h5 grow.h5
rm -rf watched
"$h" watch grow.yaml -o watched --every 0.1 --until-idle 60 >out 2>err &
pid=$!
wait_for out " 1770 "
kill -KILL $pid
wait $pid 2>/dev/null || true
[ -s watched/fit.json ] || fail "no result of the watch that was killed"
make g120.h5 120 5 2000
cp g120.h5 again.h5 && mv again.h5 grow.h5
"$h" watch grow.yaml -o watched --every 0.1 --until-idle 60 --json >out 2>err &
pid=$!
wait_for out '"n_points": 7140'
kill -INT $pid
got=0
wait $pid || got=$?
[ $got -eq 0 ] || fail "watch begun anew: exit code $got: $(cat err)"
python3 -c 'import json; [json.loads(line) for line in open("out")]' 2>/dev/null || ! command -v python3 >/dev/null ||
    fail "watch --json: not a value on each line: $(cat out)"

# ---- too few frames to know the noise: no chi2/dof is told
make few.h5 16 3 4000 0,20
expect 0 "$h" batch my.yaml few.h5 -o few
has err "few: converged, "
hasnot err "chi2/dof"
"$h" fit my.yaml --sequence angle -o few_angles >out 2>err || [ $? -eq 2 ] || fail "sequence of few frames: $(cat err)"
grep -qE '^ +20 .* -( not converged)?$' out || fail "no - for chi2/dof of an angle: $(cat out)"
hasnot out nan
"$h" watch my.yaml -o few_watched --once >out 2>err || [ $? -eq 2 ] || fail "watch of few frames: $(cat err)"
grep -qE '^[0-9:]+ +240 +- ' out || fail "watch: no - for chi2/dof: $(cat out)"

# ---- c2 - 1 converges, too: the line and the table say what that is worth
make minus.h5 60 7 2000 0 0
expect 0 "$h" batch my.yaml a/run.h5 minus.h5 -o worth
has err "minus: converged, poor, "
has err "D0 UNDETERMINED"
has out "quality: 1 partial, 1 poor"
head -n 1 worth/series.csv | grep -q '^name,file,status,quality,' || fail "no column quality"
awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) at[$k] = k }
    NR == 2 && !($at["quality"] == "partial" && $at["D0"] > 0) { exit 1 }
    NR == 3 && !($at["quality"] == "poor" && $at["D0"] == "") { exit 1 }' worth/series.csv ||
    fail "quality, and no value of what is not determined: $(cat worth/series.csv)"
expect 0 "$h" batch my.yaml a/run.h5 minus.h5 -o worth --json
has out '"poor": 1'

finish
