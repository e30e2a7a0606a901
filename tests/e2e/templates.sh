#!/bin/sh
# The eight templates of the Python packages, put together again from the tables of every key in
# spec/data-config-cli.md, run with nothing edited but file, frame period, frames and q: templates.sh BINDIR
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
    grep -q 'keys have no effect here' err || { echo "FAILED: $config: nothing said about keys without effect"; failed=1; }
done
[ $n -eq 8 ] || { echo "FAILED: $n templates"; failed=1; }
[ "$failed" -eq 0 ] && echo "all is well"
exit $failed
