#!/bin/sh
# PTX by clang alone: nvptx.sh find | nvptx.sh CLANG INCLUDE TEXT.c OUT.ptx
# find prints a clang that makes PTX, or fails.  The text is read as OpenCL C (fit/gpu.h); nothing of CUDA is needed.
# For compute capability 8.0 and later; no contraction, as the text wants it.
set -eu

# make CLANG INCLUDE TEXT OUT
make() {
    "$1" -x cl -cl-std=CL1.2 --target=nvptx64-nvidia-cuda -Xclang -target-cpu -Xclang sm_80 -Xclang -target-feature \
        -Xclang +ptx70 -ffp-contract=off -Wno-unused-value -I"$2" -O3 -S -o "$4" "$3"
}

if [ "$1" = find ]; then
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
    echo '__kernel void k(__global double *x) { x[0] = __builtin_fma(x[1], x[2], x[3]); }' >"$dir/k.c"
    for clang in clang clang-21 clang-20 clang-19 clang-18 clang-17 clang-16 clang-15 clang-14; do
        if command -v $clang >/dev/null && make $clang "$dir" "$dir/k.c" "$dir/k.ptx" 2>/dev/null &&
            grep -q 'fma.rn.f64' "$dir/k.ptx"; then
            command -v $clang
            exit 0
        fi
    done
    exit 1
fi
make "$@"
