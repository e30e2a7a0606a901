#!/bin/sh
# PTX by nvcc, or by clang alone: nvptx.sh find | nvptx.sh nvcc|clang COMPILER INCLUDE TEXT.c OUT.ptx
# find prints a clang that makes PTX, or fails.  Clang reads the text as OpenCL C (fit/gpu.h); it needs nothing of CUDA.
# For compute capability 8.0 and later; no contraction, as the text wants it.  The names that nvcc gives to functions of
# a file contain a hash of its folder, which is taken out: the same text gives the same bytes everywhere.
set -eu

# by_nvcc NVCC INCLUDE TEXT OUT
by_nvcc() {
    "$1" -x cu -ptx -arch=compute_80 --fmad=false -diag-suppress 177 -I"$2" -o "$4.part" "$3"
    sed 's/_INTERNAL_[0-9a-f]\{8\}_/_INTERNAL_00000000_/g' "$4.part" >"$4"
    rm "$4.part"
}

# by_clang CLANG INCLUDE TEXT OUT
by_clang() {
    "$1" -x cl -cl-std=CL1.2 --target=nvptx64-nvidia-cuda -Xclang -target-cpu -Xclang sm_80 -Xclang -target-feature \
        -Xclang +ptx70 -ffp-contract=off -Wno-unused-value -I"$2" -O3 -S -o "$4" "$3"
}

if [ "$1" = find ]; then
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
    echo '__kernel void k(__global double *x) { x[0] = __builtin_fma(x[1], x[2], x[3]); }' >"$dir/k.c"
    for clang in clang clang-21 clang-20 clang-19 clang-18 clang-17 clang-16 clang-15 clang-14; do
        if command -v $clang >/dev/null && by_clang $clang "$dir" "$dir/k.c" "$dir/k.ptx" 2>/dev/null &&
            grep -q 'fma.rn.f64' "$dir/k.ptx"; then
            command -v $clang
            exit 0
        fi
    done
    exit 1
fi
by=by_$1
shift
$by "$@"
