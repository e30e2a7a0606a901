#!/bin/sh
# Tables with an axis: groups are fitted together, whatever the order of their rows.  groups.sh BINDIR
set -eu
bin=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
data=$(cd "$(dirname "$0")/../../examples/diffusion_q" && pwd)/data.csv
cd "$dir"

fail() {
    echo "FAILED: $*"
    exit 1
}

fit() { # fit FILE OUT [options]
    file=$1 out=$2
    shift 2
    "$bin/homodyne-diffusion_q" fit --data "$file" -o "$out" --quiet "$@"
}

number() { # number OUT NAME KEY: of a parameter
    awk -v name="\"$2\": {" -v key="\"$3\":" '
        index($0, name) { inside = 1 }
        inside && index($0, key) { v = $2; sub(/,$/, "", v); print v; exit }' "$1/fit.json"
}

# near A B TOLERANCE
near() {
    awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= t) }'
}

head=$(grep -c '^#' "$data")
head=$((head + 1))

# Rows backwards: groups in another order, the same answer but for rounding.
fit "$data" forward
{ head -n $head "$data"; tail -n +$((head + 1)) "$data" | sort -t, -k2,2gr -k1,1g; } >mixed.csv
fit mixed.csv mixed
for name in D power; do
    s=$(number forward $name std)
    near "$(number forward $name value)" "$(number mixed $name value)" "$(awk -v s="$s" 'BEGIN { print 1e-6 * s }')" ||
        fail "$name depends on the order of the rows"
    near "$s" "$(number mixed $name std)" "$(awk -v s="$s" 'BEGIN { print 1e-6 * s }')" ||
        fail "the error of $name depends on the order of the rows"
done

# The same bits for any number of threads.
fit "$data" one --threads 1
fit "$data" four --threads 4
for part in parameters scaling; do
    for n in one four; do
        awk -v part="  \"$part\":" 'index($0, part) == 1 { on = 1 } on { print } on && /^  []}]/ { exit }' \
            $n/fit.json >$n.$part
    done
    cmp -s one.$part four.$part || fail "$part depends on the number of threads"
done

# One curve alone: D at its q, with the same contrast as in the joint fit within the errors of both.
grep -E '^(#|q,|0\.009,)' "$data" >single.csv
fit single.csv single --fix power="$(number forward power value)"
near "$(number single D value)" "$(number forward D value)" \
    "$(awk -v s="$(number single D std)" 'BEGIN { print 4 * s }')" ||
    fail "one curve and all of them disagree"

# Errors: the column missing; q that is not the same in all rows of a curve.
sed 's/^q,/Q1,/' "$data" >unnamed.csv
if fit unnamed.csv none 2>message; then fail "a table without q was fitted"; fi
grep -q "no column 'q'; there are 'Q1', 'delay', 'g2'" message || fail "message: $(cat message)"
awk -F, '/^[0-9]/ { printf "%.10f,%s,%s,%s\n", $1 * (1 + NR * 1e-6), $2, $3, $4; next } { print }' "$data" >drift.csv
if fit drift.csv none 2>message; then fail "every row was taken for a curve"; fi
grep -q "must have the same q to the last digit" message || fail "message: $(cat message)"
printf 'experimental_data: {file_path: unnamed.csv}\ndata: {columns: {q: Q1}}\n' >named.yaml
"$bin/homodyne-diffusion_q" fit named.yaml -o named --quiet || fail "a column named in the configuration"
fit unnamed.csv set --set 'data.columns={q: Q1}' || fail "a column named on the command line"

# Simulated with a contrast for each curve; chi2 per point is against the errors in the file.
"$bin/homodyne-diffusion_q" simulate -o curves.csv --x 1e-3:10:100:log --groups 0.002,0.004,0.008 \
    --set contrast=0.1,0.2,0.3 --noise 0.01 --quiet
fit curves.csv curves
awk '/"contrast": / { n++; v = $2; sub(/,/, "", v); d = v - 0.1 * n; if (d < -0.02 || d > 0.02) bad = 1 }
     END { exit bad || n != 3 }' curves/fit.json || fail "the contrasts of three curves"
[ "$(grep -o '"chi2_per_point": [0-9.]*' curves/fit.json | sort -u | wc -l)" -eq 3 ] ||
    fail "chi2 per point is that of the residuals themselves"
sed 's/,0\.01$/,0.02/' curves.csv >doubled.csv
fit doubled.csv doubled
awk -v a="$(grep -o '"chi2_per_point": [0-9.]*' curves/fit.json | head -n 1 | awk '{ print $2 }')" \
    -v b="$(grep -o '"chi2_per_point": [0-9.]*' doubled/fit.json | head -n 1 | awk '{ print $2 }')" \
    'BEGIN { r = a / b; exit !(r > 3.999 && r < 4.001) }' || fail "errors twice as large: chi2 per point"
if "$bin/homodyne-diffusion_q" simulate -o no.csv --x 0:1:9 --groups 1,2,3 --set contrast=1,2 2>message; then
    fail "two contrasts for three curves"
fi
grep -q "2 numbers for 3 q; give 1 or 3" message || fail "message: $(cat message)"

# What is possible for a parameter is said with the name of the axis.
if fit curves.csv none --share D=per_temperature 2>message; then fail "a word that there is not"; fi
grep -q "possible are shared, per_q" message || fail "message: $(cat message)"
fit curves.csv each --share D=per_q
grep -q '"D\[0.004\]"' each/fit.json || fail "no value of each curve"
echo "groups: sorted, joined, the same for any number of threads"
