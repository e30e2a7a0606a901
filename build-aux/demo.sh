#!/bin/sh
# Fits the bundled experiment and sets the truth beside the result: what `make demo` runs.
# The data are simulated, five azimuths of 200 frames; results are left in $BUILD/demo.
set -eu
BUILD=${BUILD:-build}
program=$BUILD/bin/homodyne-laminar
example=$(dirname "$0")/../examples/laminar

echo "+ $program fit examples/laminar/experiment.yaml -o $BUILD/demo"
"$program" fit "$example/experiment.yaml" -o "$BUILD/demo"

printf '\n%-20s %12s %12s %12s %10s\n' parameter truth fit error 'off by'
grep -v '^#' "$example/truth.txt" | while read -r name truth unit; do
    # as the summary writes them, "  D0   6557 +- 542", and all digits from fit.json, one key a line
    awk -v name="$name" -v truth="$truth" -v unit="$unit" '
        $1 == name && $3 == "+-" { value = $2; error = $4 }
        $1 == "\"" name "\":" { inside = 1 }
        inside && $1 == "\"value\":" { exact = $2 + 0 }
        inside && $1 == "\"std\":" { std = $2 + 0; inside = 0 }
        END {
            printf "%-20s %12g %12s %12s %7.1f std  %s\n", name, truth, value, error, (exact - truth) / std, unit
        }' "$BUILD/demo/summary.txt" "$BUILD/demo/fit.json"
done

printf '\nThe report, with all figures (one file, for any browser):\n'
"$BUILD/bin/homodyne-report" report "$BUILD/demo" | sed 's/^/    /'

printf '\nnext, with data of your own: make model=laminar (seconds), then docs/start.md\n'
