#!/bin/sh
# Times, in one run: what `make bench` shows.  Nothing is asserted; a shared machine gives shared times.
#
#   kernels   normal equations of the emitted laminar kernel (and the sums for its linear parameters) against
#             a kernel written by hand, laminar_hand.c in $FIT_SHARED/bench; then two threads against one.
#             Alternating, A B A B, and medians: what the machine does besides meets both.  Ratios of the least
#             times beside them: on a busy machine these come nearer to what it is by itself.
#   peak      operations and bytes per second of the machine, and which part of them the laminar kernels reach
#   heterodyne  its normal equations against the same by hand (bench/heterodyne_hand.c)
#   coreshell sums over the nodes of an average, the same (bench/coreshell_hand.c)
#   sasmodels the same beside the C library of sasmodels (bench/sasmodels_coreshell.py); skipped without it
#   rat43     a row kernel against what an expert writes by hand (bench/rat43_hand.c)
#   nist      digits of the 54 certified fits of the NIST data (all of them: tests/test_nist --table in the build
#             folder)
#   consensus  one shard of the consensus mode, from its values to the precision of its draws
#   many      fits a second of many small curves in one call, beside single ones and scipy's (bench/many_fits.py);
#             skipped without numpy; PYTHON names another python3
#   fits      whole programs, from the configuration to the written results
#   compiler  from a changed Lua file to the linked fitter
#
# BUILD       build folder (build)
# FIT_SHARED  folder with reference data (../shared beside the source); what needs it is skipped without
# FIT_LARGE   laminar_N1000x23.h5, if it was made before; else it is made with python3 and h5py
# ROUNDS      of the alternation (7)
set -eu
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-7}
source=$(dirname "$0")/..
shared=${FIT_SHARED:-$source/../shared}
laminar=$BUILD/bin/homodyne-laminar
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

median() {
    sort -g "$1" | awk '{ v[NR] = $1 } END { printf "%.4g", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}
least() { sort -g "$1" | head -n 1; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
field() { sed -n "s/.*\"$1\": *\([0-9.eE+-]*\).*/\1/p" "$2" | head -n 1; } # field KEY FILE: the first one
now() { date +%s.%N; }
# Processor seconds of finished children, in a file written by `times` (not in $(): a subshell has none).
cpu() { sed -n 's/s//g; 2s/m/ /gp' "$1" | awk '{ print 60 * ($1 + $3) + $2 + $4 }'; }

# ---- kernels: 23 angles x 1000 frames

# emitted THREADS: one run of the program, times added to files
emitted() {
    "$laminar" bench --frames 1000 --angles 23 --threads "$1" --json >"$dir/json"
    field value_ms "$dir/json" >>"$dir/value$1"
    field normal_ms "$dir/json" >>"$dir/normal$1"
    awk -v v="$(field value_ms "$dir/json")" -v n="$(field normal_ms "$dir/json")" \
        'BEGIN { print v + n }' >>"$dir/sum$1"
}

compile_hand() {
    cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$BUILD/CMakeCache.txt")
    if [ ! -f "$shared/bench/laminar_hand.c" ]; then
        echo "  skipped: hand-written kernel: no $shared/bench/laminar_hand.c (set FIT_SHARED)"
        return 1
    fi
    # The flags of its own opening comment.
    "$cc" -O3 -march=native -mprefer-vector-width=512 -ffast-math "$shared/bench/laminar_hand.c" -lm \
        -o "$dir/hand" 2>"$dir/log" || {
        echo "  skipped: hand-written kernel: $cc does not compile it: $(head -n 1 "$dir/log")"
        return 1
    }
}

load=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)
echo "kernels, laminar, 23 angles x 1000 frames, medians of $ROUNDS alternating runs (load average $load)"
hand=no
if compile_hand; then hand=yes; fi
two=no
[ "$(nproc 2>/dev/null || echo 1)" -lt 2 ] || two=yes
round=0
while [ "$round" -lt "$ROUNDS" ]; do
    emitted 1
    [ "$hand" = no ] || "$dir/hand" | sed -n 's/^factored: *\([0-9.]*\) ms.*/\1/p' >>"$dir/handms"
    [ "$two" = no ] || emitted 2
    round=$((round + 1))
done
pairs=$(field pairs "$dir/json")
normal1=$(median "$dir/normal1")
line() { # line NAME MS: also per pair and angle
    awk -v name="$1" -v ms="$2" -v n="$pairs" 'BEGIN {
        printf "  %-34s %8.2f ms  %6.3f ns per pair\n", name, ms, 1e6 * ms / n }'
}
line "normal equations, emitted" "$normal1"
line "moments, emitted" "$(median "$dir/value1")"
line "moments + normal, emitted" "$(median "$dir/sum1")"
if [ "$hand" = yes ]; then
    line "normal equations, by hand" "$(median "$dir/handms")"
    by_hand=$(median "$dir/handms")
    echo "  emitted / by hand                      $(ratio "$normal1" "$by_hand")" \
        " (of least times $(ratio "$(least "$dir/normal1")" "$(least "$dir/handms")"), aim: at most 0.7;" \
        "moments + normal: $(ratio "$(median "$dir/sum1")" "$by_hand"))"
fi
if [ "$two" = yes ]; then
    line "normal equations, two threads" "$(median "$dir/normal2")"
    echo "  one thread / two threads               $(ratio "$normal1" "$(median "$dir/normal2")")" \
        " (of least times $(ratio "$(least "$dir/normal1")" "$(least "$dir/normal2")"), aim: at least 1.9)"
else
    echo "  skipped: two threads: one processor"
fi

# ---- the machine's peak; operations as the compiler counts them, of the normal equations and of the moments

"$laminar" info --json >"$dir/info"
cost() { # cost PER_PAIR PER_PAIR_GROUP: for 23 angles
    awk -v p="$(field "$1" "$dir/info")" -v g="$(field "$2" "$dir/info")" 'BEGIN { print p / 23 + g }'
}
per_point() { awk -v ms="$1" -v n="$pairs" 'BEGIN { print 1e6 * ms / n }'; }
echo "peak of the machine, and of it (8 bytes of data per pair and angle)"
set --
for cores in 1 2; do
    [ -f "$dir/normal$cores" ] || continue
    set -- "$@" "normal equations, laminar" "$cores" "$(per_point "$(median "$dir/normal$cores")")" \
        "$(cost per_pair per_pair_group)" 8
    set -- "$@" "moments, laminar" "$cores" "$(per_point "$(median "$dir/value$cores")")" \
        "$(field value_per_pair_group "$dir/info")" 8
done
"$BUILD/bench/bench-peak" "$@"

echo "heterodyne, normal equations of 600 frames, one core, least of 9 for each tile"
"$BUILD/bench/bench-heterodyne"

echo "rat43, residual and Jacobian of 1000 points, one core, least of 400"
"$BUILD/bench/bench-rat43"

echo "core-shell spheres, 200 values of q, 40 radii, one core, least of 400"
"$BUILD/bench/bench-coreshell"

echo "nist, log relative errors (at most 11)"
"$BUILD/tests/test_nist" --table | sed -n 's/^mean of /  /p'

echo "consensus, 4 chains of 500 + 1500 iterations"
"$BUILD/bench/bench-shard"

python=${PYTHON:-python3}
if "$python" -c 'import numpy' 2>/dev/null; then
    echo "many small fits, one call"
    HOMODYNE_GEN_LIB=$(cd "$BUILD" && pwd)/lib PYTHONPATH=$source/python PYTHONDONTWRITEBYTECODE=1 \
        "$python" "$source/bench/many_fits.py"
else
    echo "many small fits: skipped: $python has no numpy"
fi
if "$python" -c 'import sasmodels' 2>/dev/null; then
    PYTHONDONTWRITEBYTECODE=1 "$python" "$source/bench/sasmodels_coreshell.py" "$BUILD/bench/bench-coreshell"
else
    echo "core-shell spheres beside sasmodels: skipped: $python has no sasmodels"
fi

# ---- fits

fit() { # fit NAME PROGRAM ARGUMENTS...: from fit.json; the wall time is that of the process
    name=$1
    program=$2
    shift 2
    begin=$(now)
    code=0
    "$program" fit "$@" -o "$dir/out" --quiet 2>"$dir/log" || code=$?
    end=$(now)
    if [ ! -f "$dir/out/fit.json" ]; then
        echo "  $name: exit code $code: $(head -n 1 "$dir/log")"
        return
    fi
    awk -v name="$name" -v wall="$(awk -v a="$begin" -v b="$end" 'BEGIN { print b - a }')" -v code="$code" \
        -v load="$(field load "$dir/out/fit.json")" -v start="$(field start "$dir/out/fit.json")" \
        -v fit="$(field fit "$dir/out/fit.json")" -v rss="$(field peak_rss_mb "$dir/out/fit.json")" 'BEGIN {
        printf "  %-22s %7.2f s  (load %.2f, start %.2f, fit %.2f)  %5.0f MB%s\n", name, wall, load, start, fit, rss,
            code ? "  exit code " code : "" }'
    rm -rf "$dir/out"
}

simulated() { # simulated NAME PROGRAM FRAMES PHI [options]: when there are no reference data
    name=$1
    program=$2
    frames=$3
    phi=$4
    shift 4
    "$program" simulate -o "$dir/sim.h5" --config-out "$dir/sim.yaml" --frames "$frames" --dt 0.1 --q 0.0054 \
        --phi "$phi" --contrast 0.3 --offset 1 --noise 0.01 --seed 1 --set D0=2000 --set alpha=-0.3 \
        --set D_offset=100 "$@" --quiet --force
    fit "$name" "$program" "$dir/sim.yaml"
    rm -f "$dir/sim.h5"
}

shear="--gap 2e6 --set gamma_dot_t0=0.004 --set beta=-0.4 --set gamma_dot_t_offset=3e-4 --set phi0=-4"
phi23=$(awk 'BEGIN { for (k = 0; k < 23; k++) printf "%s%.3f", k ? "," : "", 180 * k / 23 }')

large_file() { # prints the path of laminar_N1000x23.h5, or says why there is none
    if [ -n "${FIT_LARGE:-}" ] && [ -f "$FIT_LARGE" ]; then
        echo "$FIT_LARGE"
    elif [ -f "$shared/samples/make_large.py" ] && python3 -c 'import h5py, numpy' 2>/dev/null; then
        python3 "$shared/samples/make_large.py" laminar_N1000x23 "$dir"
    fi
}

echo "fits, whole programs, all cores (wall; of which; peak memory)"
if [ -d "$shared/samples" ]; then
    fit "static N=200" "$BUILD/bin/homodyne-static_isotropic" "$shared/samples/h_static_N200_lin.yaml"
    fit "laminar 200 x 5" "$laminar" "$shared/samples/h_laminar_N200x5.yaml" --loss linear
    large=$(large_file)
    if [ -n "$large" ]; then
        fit "laminar 1000 x 23" "$laminar" "$shared/samples/h_laminar_N1000x23.yaml" --loss linear --data "$large"
    fi
else
    large=
    echo "  simulated, since there is no $shared/samples (set FIT_SHARED)"
    simulated "static N=200" "$BUILD/bin/homodyne-static_isotropic" 200 0
    # shellcheck disable=SC2086  # a list of words
    simulated "laminar 200 x 5" "$laminar" 200 0,45,90,135,170 $shear
fi
if [ -z "$large" ]; then
    # shellcheck disable=SC2086
    simulated "laminar 1000 x 23, sim." "$laminar" 1000 "$phi23" $shear
fi

# ---- compiler

touch "$source/models/laminar.lua"
begin=$(now)
times >"$dir/before"
if ${MAKE:-make} -s -C "$source" BUILD="$(cd "$BUILD" && pwd)" model=laminar >"$dir/log" 2>&1; then
    end=$(now)
    times >"$dir/after"
    awk -v a="$begin" -v b="$end" -v c="$(cpu "$dir/before")" -v d="$(cpu "$dir/after")" 'BEGIN {
        printf "compiler, models/laminar.lua to fitter  %.2f s, %.2f s of processor time", b - a, d - c }'
    begin=$(now)
    "$BUILD/bin/homodyne-gen" "$source/models/laminar.lua" -o "$dir" >/dev/null
    end=$(now)
    awk -v a="$begin" -v b="$end" 'BEGIN { printf "  (one variant, Lua to C: %.3f s)\n", b - a }'
else
    echo "compiler: make model=laminar failed:"
    tail -n 3 "$dir/log"
fi

# ---- compiler, models with 200 parameters: the generator, then one instruction-set level of the kernel

cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$BUILD/CMakeCache.txt")
for name in many_modes many_peaks; do
    times >"$dir/before"
    "$BUILD/bin/homodyne-gen" "$source/tests/scale/$name.lua" -o "$dir"
    times >"$dir/between"
    "$cc" -std=gnu11 -O3 -fno-math-errno -fno-trapping-math -ffp-contract=fast -I"$source/runtime/include" \
        -DFIT_KERNEL_SYMBOL=k -DFIT_KERNEL_ISA='"baseline"' -DFIT_ISA_SUFFIX=_k -c "$dir/$name.c" -o "$dir/$name.o"
    times >"$dir/after"
    awk -v name="$name" -v a="$(cpu "$dir/before")" -v b="$(cpu "$dir/between")" -v c="$(cpu "$dir/after")" 'BEGIN {
        printf "  %s, 200 parameters: Lua to C %.2f s, C to object %.1f s of processor time\n", name, b - a, c - b }'
done
