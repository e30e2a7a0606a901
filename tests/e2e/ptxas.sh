#!/bin/sh
# Kernels for accelerators as NVIDIA's assembler sees them: ptxas.sh BUILD SOURCE
# Prints registers and spills for compute capabilities 8.0 and 9.0.  Kernels of pairs may not spill; of those of tables
# one keeps a number in local memory (8 bytes of kww's cross sums on 9.0).
set -eu
models=$1/models
source=$2
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || :)
[ -n "$nvcc" ] || {
    echo "skipped: no nvcc, so no ptxas"
    exit 77
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
for arch in 80 90; do
    for model in laminar heterodyne kww; do
        [ -f "$models/$model/${model}_gpu.c" ] || continue
        "$nvcc" -x cu -arch=sm_$arch --fmad=false -diag-suppress 177 -cubin -Xptxas -v -I"$source/runtime/include" \
            -o "$dir/x.cubin" "$models/$model/${model}_gpu.c" >"$dir/said" 2>&1 || {
            cat "$dir/said"
            exit 1
        }
        awk -v arch="sm_$arch" '
            /Compiling entry function/ { split($0, part, "\047"); name = part[2] }
            /spill stores/ { spill = $0; sub(/^ *[0-9]* bytes stack frame, /, "", spill) }
            /Used [0-9]+ registers/ { for (k = 1; k < NF; k++) if ($k == "Used") print arch, name, $(k + 1), "registers,", spill }
        ' "$dir/said" >"$dir/table"
        [ "$(wc -l <"$dir/table")" -ge 5 ] || {
            echo "FAILED: $model: fewer kernels than expected"
            cat "$dir/said"
            failed=1
        }
        cat "$dir/table"
        most=0
        [ "$model" = kww ] && most=8
        if awk -v most="$most" '{ for (k = 2; k <= NF; k++) if ($k == "bytes" && $(k - 1) > most) bad = 1 } END { exit !bad }' \
            "$dir/table"; then
            echo "FAILED: $model spills on sm_$arch"
            failed=1
        fi
    done
done
exit $failed
