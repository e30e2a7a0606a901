#!/bin/sh
# The texts that bench/gpu.sh compiles are those that the compiler writes: gpu_texts.sh BINDIR SOURCE
# UPDATE=1 writes them anew.
set -eu
bin=$1
kept=$2/tests/golden/gpu
if [ "${UPDATE:-}" ]; then
    "$bin/homodyne-gen" "$2/models/laminar.lua" -o "$kept" --emit=c,gpu
    exit
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$bin/homodyne-gen" "$2/models/laminar.lua" -o "$dir" --emit=c,gpu
for file in laminar.c laminar_gpu.c; do
    cmp "$dir/$file" "$kept/$file" || {
        echo "FAILED: tests/golden/gpu/$file is not what homodyne-gen writes; UPDATE=1 writes it anew"
        exit 1
    }
done
