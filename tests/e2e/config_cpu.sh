#!/bin/sh
# homodyne-config-cpu: what it shows is what the fitters do; its file works; names and options of the Python
# packages: config_cpu.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
failed=0
number() { sed -n "s/.*\"$1\": \([0-9.]*\).*/\1/p" "$2"; } # number KEY FILE
unset OMP_NUM_THREADS XLA_FLAGS VIRTUAL_ENV CONDA_PREFIX

# what it tells is what a fitter takes (for enough values)
"$bin/homodyne-config-cpu" --json >"$dir/json"
"$bin/homodyne-laminar" bench --frames 1500 --angles 1 --repeat 1 --json >"$dir/bench"
[ "$(number default_threads "$dir/json")" = "$(number threads "$dir/bench")" ] ||
    fail "config-cpu tells $(number default_threads "$dir/json") threads," \
        "the fitter takes $(number threads "$dir/bench")"
"$bin/homodyne-config-cpu" --show >"$dir/show"
for what in processor cores "control group" memory "a fitter takes"; do
    grep -q "^$what " "$dir/show" || fail "--show says nothing about $what"
done

# machines with several nodes: machine FOLDER NODES CORES PU makes the part of /sys that tells of one
machine() {
    cores=$(($2 * $3))
    all=$((cores * $4))
    cpu=0
    while [ $cpu -lt $all ]; do
        core=$((cpu % cores))
        at=$1/sys/devices/system/cpu/cpu$cpu
        mkdir -p "$at/topology" "$at/node$((core / $3))"
        echo "$core,$((core + cores))" >"$at/topology/thread_siblings_list"
        echo "$((core / $3))" >"$at/topology/physical_package_id"
        cpu=$((cpu + 1))
    done
    echo "0-$((all - 1))" >"$1/sys/devices/system/cpu/online"
}
machine "$dir/m2" 2 16 2
machine "$dir/m4" 4 8 1
"$bin/homodyne-config-cpu" --root "$dir/m2" --json >"$dir/two"
for pair in cores:32 logical:64 packages:2 nodes:2 default_threads:32; do
    [ "$(number "${pair%:*}" "$dir/two")" = "${pair#*:}" ] || fail "two nodes of 16 cores: $(cat "$dir/two")"
done
"$bin/homodyne-config-cpu" --root "$dir/m2" --mode nlsq -o "$dir/two.sh" >/dev/null
grep -q 'OMP_NUM_THREADS=32' "$dir/two.sh" && grep -q 'OMP_PROC_BIND=spread' "$dir/two.sh" &&
    grep -q 'several NUMA nodes' "$dir/two.sh" || fail "32 threads on two nodes: $(cat "$dir/two.sh")"
"$bin/homodyne-config-cpu" --root "$dir/m2" --mode cmc -o "$dir/two.sh" >/dev/null
grep -q 'OMP_NUM_THREADS=4' "$dir/two.sh" && grep -q 'OMP_PROC_BIND=close' "$dir/two.sh" &&
    grep -q 'numactl --cpunodebind=0 --membind=0' "$dir/two.sh" || fail "4 threads on two nodes: $(cat "$dir/two.sh")"
"$bin/homodyne-config-cpu" --root "$dir/m4" --json >"$dir/four"
[ "$(number cores "$dir/four")" = 32 ] && [ "$(number nodes "$dir/four")" = 4 ] || fail "four nodes: $(cat "$dir/four")"
code=0
"$bin/homodyne-config-cpu" --root "$dir/none" >/dev/null 2>"$dir/err" || code=$?
[ $code = 3 ] && grep -q "no processors" "$dir/err" || fail "--root without a machine: $code, $(cat "$dir/err")"

# one processor only
if command -v taskset >/dev/null && taskset -c 0 true 2>/dev/null; then
    taskset -c 0 "$bin/homodyne-config-cpu" --json >"$dir/one"
    [ "$(number cores "$dir/one")" = 1 ] && [ "$(number default_threads "$dir/one")" = 1 ] ||
        fail "bound to one processor: $(cat "$dir/one")"
fi

# the file for the shell
for mode in auto nlsq cmc cmc-hpc; do
    "$bin/homodyne-config-cpu" --mode $mode -o "$dir/deep/er/cpu.sh" >"$dir/out"
    # shellcheck disable=SC1091
    set=$(. "$dir/deep/er/cpu.sh" && echo "$OMP_NUM_THREADS $OMP_PLACES $OPENBLAS_NUM_THREADS $OMP_PROC_BIND")
    threads=$("$bin/homodyne-config-cpu" --mode $mode --json | sed -n 's/.*"threads": \([0-9]*\), "default.*/\1/p')
    case $set in
    "$threads cores 1 close" | "$threads cores 1 spread") ;;
    *) fail "--mode $mode sets: $set" ;;
    esac
    grep -q "OMP_NUM_THREADS=$threads" "$dir/out" || fail "--mode $mode does not print what it writes"
done
(
    # shellcheck disable=SC1091
    . "$dir/deep/er/cpu.sh"
    OMP_NUM_THREADS=3
    "$bin/homodyne-laminar" bench --frames 1500 --angles 1 --repeat 1 --json >"$dir/bench"
)
[ "$(number threads "$dir/bench")" = 3 ] || fail "OMP_NUM_THREADS is not followed"
OMP_NUM_THREADS=3 "$bin/homodyne-config-cpu" | grep -q "takes *3 threads.*OMP_NUM_THREADS" ||
    fail "nothing about OMP_NUM_THREADS"

# where it goes by itself; the names and options of the packages
HOME=$dir XDG_CONFIG_HOME= VIRTUAL_ENV="$dir/venv" "$bin/homodyne-config-xla" --mode cmc >/dev/null
[ -f "$dir/venv/etc/homodyne/cpu.sh" ] || fail "no file in the virtual environment"
for name in homodyne-config-xla heterodyne-config-xla xpcsjax-config-xla ht-config-xla xj-config-xla hxla; do
    "$bin/$name" --show >"$dir/out" || fail "$name --show"
    grep -q "a fitter takes" "$dir/out" || fail "$name shows nothing"
done
"$bin/heterodyne-config-xla" --threads 2 --no-x64 --info >/dev/null || fail "options of heterodyne"
code=0
"$bin/homodyne-config-cpu" --mode fast >/dev/null 2>"$dir/err" || code=$?
[ $code = 3 ] && grep -q "cmc-hpc" "$dir/err" || fail "an unknown mode: exit code $code"
finish
