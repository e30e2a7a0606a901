#!/bin/sh
# Runs every fuzz target for SECONDS: run.sh BUILD/tests/fuzz SECONDS [TARGET ...]
# New inputs are kept in BUILD/tests/fuzz/found/TARGET; an input that ends in a crash, a hang, a leak
# or more than 2 GB is left as BUILD/tests/fuzz/TARGET-crash-..., -timeout-..., -leak-..., -oom-... .
set -u
build=$1 seconds=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
cd "$build" || exit 1
[ $# -gt 0 ] || set -- $(ls "$here/corpus")
bad=0
for target; do
    mkdir -p "found/$target"
    echo "$target: $seconds s"
    ./fuzz_$target -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -max_len=16384 \
        -artifact_prefix="$target-" $([ -f "$here/$target.dict" ] && echo "-dict=$here/$target.dict") \
        "found/$target" "$here/corpus/$target" >"$target.log" 2>&1 || {
        bad=1
        echo "$target: failed; see $build/$target.log"
    }
    grep -a "^Done\|^stat::\|^SUMMARY\|Test unit written" "$target.log"
done
exit $bad
