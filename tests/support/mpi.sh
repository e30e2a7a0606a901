# mpi.sh -- MPIs for tests, after support/test.sh:
#     . "$here/../support/mpi.sh"
# $mpis are those of openmpi and mpich that are installed and have a plugin in the build; none: the test is skipped,
# with the reason.  `ranks MPI R PROGRAM...` starts R ranks; `at_once FUNCTION WORDS..` runs the MPIs side by side.
#
# HWLOC_COMPONENTS: the parts of hwloc that look for displays and OpenCL take seconds; our plugin leaves them out, too.
export HWLOC_COMPONENTS=-gl,-opencl
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export XDG_CACHE_HOME=$dir/cache # no plugin of the user
unset HOMODYNE_MPI FIT_COPIES OMP_NUM_THREADS FIT_ISA

# launcher MPI: its command; empty: it is not here
launcher() {
    command -v "mpiexec.$1" 2>/dev/null && return
    command -v mpiexec >/dev/null 2>&1 || return 0
    case $(mpiexec --version 2>&1) in
    *"Open MPI"* | *OpenRTE*) [ "$1" != openmpi ] || command -v mpiexec ;;
    *HYDRA* | *mpich*) [ "$1" != mpich ] || command -v mpiexec ;;
    esac
}

mpis= tag=
for mpi in openmpi mpich; do
    if [ -z "$(launcher $mpi)" ]; then
        echo "$mpi: not installed"
    elif [ ! -e "$bin/../lib/homodyne-gen/mpi/libhomodyne-mpi-$mpi.so" ]; then
        echo "$mpi: there is no plugin in the build: its mpicc was not there when it was configured"
    else
        mpis="$mpis $mpi"
    fi
done
[ -n "$mpis" ] || {
    echo "skipped: there is no MPI; build-aux/install-deps --cluster installs two"
    exit 77
}

ranks() {
    mpi=$1 size=$2
    shift 2
    "$(launcher "$mpi")" -n "$size" "$@"
}

# at_once FUNCTION WORDS..: FUNCTION MPI WORDS.. under each of $mpis, side by side, because jobs of MPI wait half of
# their time for its start and its end; each writes files of its own, whose names end with $tag
at_once() {
    jobs=
    for m in $mpis; do
        (
            tag=.$m failed=0
            "$1" "$m" "${@:2}"
            exit $failed
        ) &
        jobs="$jobs $!"
    done
    for job in $jobs; do
        wait "$job" || failed=1
    done
}

# programs FOLDER: process numbers of the ranks that were started with -o FOLDER
programs() {
    pgrep -f -- "-o $1( |\$)" | while read -r p; do
        case $(readlink "/proc/$p/exe") in */homodyne-*) echo "$p" ;; esac
    done
}

# numbers FOLDER: lines of fit.json that must not depend on how the run was started (memory is that of a rank)
numbers() {
    awk '/"(phases|seconds)": *{/ { skip = 1 } skip && /}/ { skip = 0; next }
         skip ||
             /"(run_id|wall_seconds|peak_rss_mb|memory_estimate_mb|command_line|begin|end|host|threads|seconds)":/ {
                 next } { print }' \
        "$1/fit.json"
}

# same_as ONE OTHER WORDS: every number of the results of two folders
same_as() {
    numbers "$1" >"one.numbers$tag"
    numbers "$2" >"other.numbers$tag"
    [ "$(wc -l <"one.numbers$tag")" -gt 40 ] || fail "$1/fit.json holds too little"
    cmp -s "one.numbers$tag" "other.numbers$tag" ||
        fail "$3: fit.json: $(diff "one.numbers$tag" "other.numbers$tag" | head -6)"
    for file in fit.h5 posterior.nc; do
        [ -e "$1/$file" ] || continue
        "$same" "$1/$file" "$2/$file" threads time sampling_time start_time end_time >"differences$tag" || {
            fail "$3: $file: $(head -4 "differences$tag")"
        }
    done
}
