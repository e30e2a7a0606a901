#!/bin/sh
# Kernels for accelerators as NVIDIA's assembler sees them: ptxas.sh BUILD SOURCE
# Prints registers and spills for compute capabilities 8.0 and 9.0, of PTX by nvcc and by clang alone.  Nothing may be
# wanted of a library, for there is none; nothing may be spilled, but for one pass of heterodyne by clang, which has all
# 255 registers and keeps one number in memory.
set -eu
models=$1/models
source=$2
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || :)
ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null || :)
[ -n "$ptxas" ] || {
    echo "skipped: no ptxas"
    exit 77
}
clang=$(sh "$source/build-aux/nvptx.sh" find || :)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# ptx COMPILER TEXT: to $dir/x.ptx
ptx() {
    if [ "$1" = nvcc ]; then by=$nvcc; else by=$clang; fi
    sh "$source/build-aux/nvptx.sh" "$1" "$by" "$source/runtime/include" "$2" "$dir/x.ptx"
}

# judge COMPILER MODEL ARCH
judge() {
    "$ptxas" -v -arch="sm_$3" -o "$dir/x.cubin" "$dir/x.ptx" >"$dir/said" 2>&1 || {
        cat "$dir/said"
        exit 1
    }
    awk -v who="$1 sm_$3" '
        /Compiling entry function/ { split($0, part, "\047"); name = part[2]; entry = 1 }
        /spill stores/ && entry { spill = $0; sub(/^ *[0-9]* bytes stack frame, /, "", spill); entry = 0 }
        /Used [0-9]+ registers/ {
            for (k = 1; k < NF; k++)
                if ($k == "Used") print who, name, $(k + 1), "registers,", spill
        }
    ' "$dir/said" >"$dir/table"
    cat "$dir/table"
    [ "$(wc -l <"$dir/table")" -ge 5 ] || {
        echo "FAILED: $1, $2: fewer kernels than expected"
        cat "$dir/said"
        failed=1
    }
    most=0
    [ "$1.$2" = clang.heterodyne ] && most=8
    if ! awk -v most="$most" '
        { for (k = 2; k <= NF; k++) if ($k == "bytes" && $(k - 1) > most) bad = 1 }
        END { exit bad }' "$dir/table"; then
        echo "FAILED: $2 by $1 spills on sm_$3"
        failed=1
    fi
}

for compiler in ${nvcc:+nvcc} ${clang:+clang}; do
    for model in laminar heterodyne kww speckle_counts imaging; do
        text=$models/$model/${model}_gpu.c
        [ -f "$text" ] || continue
        [ "$compiler.$model" = nvcc.imaging ] && continue # a minute; what it wants of others is the same
        ptx "$compiler" "$text"
        if grep '^\.extern' "$dir/x.ptx"; then
            echo "FAILED: $model by $compiler wants functions that are not there"
            failed=1
        fi
        [ "$model" = imaging ] && continue # its phases are small
        judge "$compiler" "$model" 80
        judge "$compiler" "$model" 90
    done
done
exit $failed
