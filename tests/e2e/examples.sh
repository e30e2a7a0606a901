#!/bin/sh
# The bundled examples: each fit converges to what the data were simulated with.  examples.sh BINDIR [EXAMPLES]
# The truth stands in the first lines of data.csv ("# name = value unit") or in truth.txt ("name value unit");
# several values, split by commas, belong to the groups.  Within 3.5 standard deviations; reduced chi2 within
# 0.65 and 1.45, which is 3.5 standard deviations of it for 60 degrees of freedom.
set -eu
bin=$1
examples=$(cd "${2:-$(dirname "$0")/../../examples}" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# compare TRUTH FIT.json
compare() {
    awk '
        # where no standard error is told the interval of 95 %, three times as wide, holds the truth
        function within(v, low, high, t) {
            return low != "null" && high != "null" && t >= v - 3 * (v - low) && t <= v + 3 * (high - v)
        }
        function verdict(what, v, s, t) {
            d = v - t; if (d < 0) d = -d
            if (!(s > 0 && d <= 3.5 * s)) {
                printf "  %s = %g +- %g, truth %g\n", what, v, s, t
                bad = 1
            }
            n++
        }
        FNR == NR && /^#.* = / { sub(/^# /, ""); truth[$1] = $3; next }
        FNR == NR && /^[A-Za-z]/ && !/,[a-zA-Z]/ { truth[$1] = $2; next }
        FNR == NR { next }
        { key = $1; gsub(/[":]/, "", key); value = $2; sub(/,$/, "", value) }
        /^  "[a-z_0-9]+":/ { part = key }
        part == "reduced_chi2" && key == part { chi2 = value }
        part == "parameters" && $2 == "{" { name = key }
        part == "parameters" && key == "value" { v = value }
        part == "parameters" && key == "std" { std = value }
        part == "parameters" && key == "std" && std != "null" && name in truth && split(truth[name], t, ",") == 1 {
            verdict(name, v, value, t[1]) }
        part == "parameters" && key == "interval_95" && std == "null" && name in truth {
            gsub(/[][,]/, "")
            if (within(v, $2, $3, truth[name]))
                n++
            else
                verdict(name " in " $2 " .. " $3, v, 0, truth[name]) }
        part == "scaling" && $1 == "{" { group++ }
        part == "scaling" && key in truth { of = key; v = value }
        part == "scaling" && of != "" && key == of "_std" {
            many = split(truth[of], t, ",")
            verdict(of "[" group - 1 "]", v, value, t[many == 1 ? 1 : group]) }
        END {
            if (!(chi2 > 0.65 && chi2 < 1.45)) {
                printf "  reduced chi2 %g\n", chi2
                bad = 1
            }
            if (n < 3) {
                print "  fewer than three values compared"
                bad = 1
            }
            exit bad
        }' "$1" "$2"
}

for config in "$examples"/*/*.yaml; do
    example=$(dirname "$config")
    name=$(basename "$example")
    [ -x "$bin/homodyne-$name" ] || continue
    truth=$example/truth.txt
    [ -f "$truth" ] || truth=$example/data.csv
    if "$bin/homodyne-$name" fit "$config" -o "$dir/out" --quiet && compare "$truth" "$dir/out/fit.json"; then
        echo "$name: the truth was found"
    else
        echo "FAILED: $name"
        failed=1
    fi
    rm -rf "$dir/out"
done
exit $failed
