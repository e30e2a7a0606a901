#!/bin/sh
# gpu.sh [DEVICE]  -- what a card does with the kernels of this checkout; DEVICE: gpu (default), cuda:N, plain.
#
# Needs a C compiler, nvcc (CUDA 11 or later, also in /usr/local/cuda/bin) or clang (14 or later), and the CUDA driver;
# no network.  Takes less than 5 minutes; with plain, which needs the C compiler alone, it runs a small part of it.
# Results: one JSON object for each size, and what ptxas says, in $OUT (default ./gpu-results).
# Where also cmake, ninja, Lua, libyaml, zlib and HDF5 are there, the fitter laminar is built and whole fits are timed.
set -eu
device=${1:-gpu}
cd "$(dirname "$0")/.."
source=$PWD
out=${OUT:-$PWD/gpu-results}
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=$(command -v gcc || command -v cc || command -v clang) || {
    echo "gpu.sh: no C compiler"
    exit 3
}
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || :)
{
    date -u
    nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,memory.total --format=csv 2>/dev/null ||
        echo "no nvidia-smi"
    grep -m1 'model name' /proc/cpuinfo || :
    "$cc" --version | head -1
    git rev-parse HEAD 2>/dev/null || :
} | tee "$out/machine.txt"

# ---- the harness: kernels alone
text=tests/golden/gpu
: >"$work/none.ptx"
ptx=$work/none.ptx
if [ -n "$nvcc" ]; then
    "$nvcc" -x cu -ptx -arch=compute_80 --fmad=false -diag-suppress 177 -Iruntime/include -o "$work/laminar.ptx" \
        $text/laminar_gpu.c
    ptx=$work/laminar.ptx
    for arch in 80 90; do
        "$nvcc" -x cu -arch=sm_$arch --fmad=false -diag-suppress 177 -cubin -Xptxas -v -Iruntime/include \
            -o "$work/x.cubin" $text/laminar_gpu.c 2>&1 | grep -E 'Compiling|registers|spill' >"$out/ptxas_sm_$arch.txt"
    done
elif clang=$(sh build-aux/nvptx.sh find); then
    echo "PTX by $clang" | tee -a "$out/machine.txt"
    sh build-aux/nvptx.sh clang "$clang" runtime/include $text/laminar_gpu.c "$work/laminar.ptx"
    ptx=$work/laminar.ptx
else
    echo "gpu.sh: neither nvcc nor clang: only DEVICE plain will do"
fi
flags="-std=gnu11 -Iruntime -Iruntime/include -I. -D_POSIX_C_SOURCE=200809L -w"
"$cc" $flags -O3 -march=native -fno-math-errno -fno-trapping-math -ffp-contract=fast \
    -DFIT_KERNEL_SYMBOL=laminar_kernel -DFIT_KERNEL_ISA='"native"' -DFIT_ISA_SUFFIX=_n -c $text/laminar.c \
    -o "$work/laminar.o"
"$cc" $flags -O2 -march=native -fno-math-errno -ffp-contract=off -DFIT_GPU_SYMBOL=laminar_program \
    -c $text/laminar_gpu.c -o "$work/laminar_gpu.o"
of_device=$(ls runtime/device/*.c | grep -v report.c) # for people, by the program's JSON
# shellcheck disable=SC2086  # many words
"$cc" $flags -O2 -ffp-contract=off bench/gpu/harness.c $of_device runtime/base/status.c \
    runtime/base/clock.c runtime/machine/team.c runtime/machine/topology.c common/regular.c common/text.c \
    "$work/laminar.o" "$work/laminar_gpu.o" -o "$work/harness" -ldl -lpthread -lm
run() {
    echo "$2 frames x $3 angles"
    "$work/harness" "$device" "$2" "$3" "$ptx" >"$out/$1.json" && cat "$out/$1.json"
}
if [ "$device" = plain ]; then
    run plain 120 5
    exit
fi
run small 200 5
run experiment 1000 23
run large 3000 23
free_kb=$(awk '/MemAvailable/ { print $2 }' /proc/meminfo)
if [ "$free_kb" -gt 12000000 ]; then
    run billion 9325 23
else
    echo "1e9 values: this machine has not the memory"
fi

# ---- whole fits, where the fitter can be built
lacks=
for word in cmake ninja; do command -v $word >/dev/null || lacks="$lacks $word"; done
for header in lua.h yaml.h hdf5.h zlib.h; do
    find /usr/include -name $header 2>/dev/null | grep -q . || lacks="$lacks $header"
done
if [ -n "$lacks" ]; then
    echo "whole fits are left out; this machine lacks:$lacks" | tee "$out/fits.txt"
    exit
fi
# seconds COMMAND...: how long it took
seconds() {
    begin=$(date +%s.%N)
    "$@" || echo "exit code $?"
    awk "BEGIN { printf \"  %.2f s\\n\", $(date +%s.%N) - $begin }"
}
cmake -S . -B "$work/build" -G Ninja -DBUILD_TESTING=OFF >/dev/null
timeout 150 ninja -C "$work/build" homodyne-laminar homodyne-imaging >/dev/null || {
    echo "the programs were not built in 150 s" | tee "$out/fits.txt"
    exit
}
bin=$work/build/bin
cd "$work"
"$bin/homodyne-laminar" simulate -o d.h5 --frames 1000 --dt 0.1 --q 0.0054 --gap 2e6 \
    --phi "$(awk 'BEGIN { for (k = 0; k < 23; k++) printf "%s%g", k ? "," : "", -90 + 180 * k / 23 }')" \
    --set D0=2000 --set alpha=-0.3 --set D_offset=100 --set gamma_dot_t0=0.004 --set beta=-0.4 \
    --set gamma_dot_t_offset=0.0003 --set phi0=-4 --contrast 0.3 --noise 0.01 --seed 4 --config-out c.yaml --quiet
{
    for where in cpu "$device" "$device"; do
        echo "least squares, 11.5 M values, --device $where"
        # shellcheck disable=SC2086
        "$bin/homodyne-laminar" fit c.yaml -o "r_$where" --device "$where" | grep -E 'steps,|^  (D0|alpha|beta) '
    done
    echo "4 chains, --device $device"
    timeout 70 "$bin/homodyne-laminar" fit c.yaml -o chains --device "$device" --method nuts --chains 4 --warmup 300 \
        --draws 1000 | tail -12
    "$bin/homodyne-laminar" simulate -o s.h5 --frames 200 --dt 0.1 --q 0.0054 --gap 2e6 --phi=-60,-5,20,50,90 \
        --set D0=2000 --set alpha=-0.3 --set D_offset=100 --set gamma_dot_t0=0.004 --set beta=-0.4 \
        --set gamma_dot_t_offset=0.0003 --set phi0=-4 --contrast 0.3 --noise 0.01 --seed 5 --config-out s.yaml --quiet
    obs=$source/tests/data/imaging/gauss1600.h5
    for where in cpu "$device"; do
        echo "1000 fits of 200 x 5 (parametric bootstrap), --device $where"
        seconds timeout 60 "$bin/homodyne-laminar" fit s.yaml -o "b_$where" --device "$where" \
            --bootstrap parametric:1000 -v \
            --quiet
        echo "image of 1600 pixels, 200 iterations, --device $where"
        seconds timeout 30 "$bin/homodyne-imaging" fit "$obs" --image "$obs:/grid/prior" --prior "$obs:/grid/prior" \
            --term vis=1 --regularizer simple=1,tv=1 --eps-tv 1e-10 --device "$where" -o "i_$where.h5" --quiet
    done
    echo "least squares, 11.5 M values in pieces of 16 MB, --device $device"
    FIT_DEVICE_MB=32 "$bin/homodyne-laminar" fit c.yaml -o pieces --device "$device" |
        grep -E 'steps,|^  (D0|alpha|beta) '
} 2>&1 | tee "$out/fits.txt"
