#!/bin/sh
# The eight templates of the Python packages, put together again from the tables of every key in
# spec/data-config-cli.md, run with nothing edited but file, frame period, frames and q, by least squares and by
# sampling: templates.sh BINDIR
# FIT_DRAWS: draws of a chain, and as many before them (40).
# Skips (77) without the specification, the samples or Python with PyYAML.
set -eu
bin=$1
here=$(cd "$(dirname "$0")" && pwd)
shared=${FIT_SHARED:-$here/../../../shared}
spec=$shared/spec/data-config-cli.md
[ -f "$spec" ] && [ -d "$shared/samples" ] || {
    echo "skipped: no $spec, or no samples (set FIT_SHARED to the folder with reference data)"
    exit 77
}
python3 -c 'import yaml' 2>/dev/null || {
    echo "skipped: no python3 with yaml"
    exit 77
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 "$here/templates.py" "$spec" "$shared/samples"
draws=${FIT_DRAWS:-40}
failed=0
n=0
for config in *.yaml; do
    got=0
    "$bin/homodyne" --config "$config" --method nlsq --output-dir "${config%.yaml}" >out 2>err </dev/null || got=$?
    [ $got -eq 0 ] || {
        echo "FAILED: $config: exit code $got"
        cat err
        failed=1
    }
    n=$((n + 1))
    # the same file by sampling, shortly: 2 when so few draws have not converged
    got=0
    "$bin/homodyne" --config "$config" --method cmc --n-samples "$draws" --n-warmup "$draws" --n-chains 2 \
        --output-dir "${config%.yaml}_cmc" >/dev/null 2>err_cmc </dev/null || got=$?
    case $got in
    0 | 2) [ -s "${config%.yaml}_cmc/posterior.nc" ] || { echo "FAILED: $config: no posterior"; failed=1; } ;;
    *)
        echo "FAILED: $config --method cmc: exit code $got"
        cat err_cmc
        failed=1
        ;;
    esac
    grep -q 'keys have no effect here' err ||
        { echo "FAILED: $config: nothing said about keys without effect"; failed=1; }
done
[ $n -eq 8 ] || { echo "FAILED: $n templates"; failed=1; }
[ "$failed" -eq 0 ] && echo "all is well"
exit $failed
