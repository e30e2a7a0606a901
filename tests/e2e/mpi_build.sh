#!/bin/bash
# The plugin that `homodyne mpi --build` makes for the MPI of a site: found first, and the fit over ranks is that of one
# process; what is said without a plugin, and with one of another MPI: mpi_build.sh BINDIR SAME_NUMBERS
set -eu
bin=$1 same=$2
. "$(dirname "$0")/../support/test.sh"
. "$here/../support/mpi.sh"
built=$XDG_CACHE_HOME/homodyne/mpi/libhomodyne-mpi.so

"$bin/homodyne" simulate --model static_isotropic -o still.h5 --frames 220 --dt 0.1 --q 0.0054 --phi 0 --set D0=2000 \
    --set alpha=-0.3 --set D_offset=100 --contrast 0.3 --noise 0.01 --seed 5 --config-out still.yaml --quiet
fit=("$bin/homodyne" fit still.yaml --threads 1 --quiet)
"${fit[@]}" -o alone

# compiler MPI: its mpicc; empty: it is not here
compiler() {
    command -v "mpicc.$1" || {
        [ "$mpis" != " $1" ] || command -v mpicc || true
    }
}

# refused MPI WORDS...: two copies with this environment end with 3, and say so
refused() {
    under=$1 text=$2 got=0
    shift 2
    rm -rf refused
    ranks "$under" 2 env "$@" "${fit[@]}" -o refused >out 2>err || got=$?
    [ "$got" -eq 3 ] || fail "$under, $*: exit code $got, not 3: $(head -3 err)"
    says "$text"
    [ ! -e refused/fit.json ] || fail "$under, $*: copies have written"
}

answers 4 "nowhere" mpi --build --mpicc nowhere
other=
cat >old.c <<'END_OF_TEXT'
#include <mpi.h>
static int begin(int *rank, int *size)
{
    *rank = *size = 0;
    return MPI_Init(NULL, NULL);
}
const struct {
    unsigned abi;
    int (*begin)(int *, int *);
} fit_ranks_plugin = {1, begin};
END_OF_TEXT
for m in $mpis; do
    cc=$(compiler "$m")
    [ -n "$cc" ] || {
        echo "$m: no compiler: not built"
        continue
    }
    rm -rf "$XDG_CACHE_HOME"
    answers 0 "$built" mpi --build --mpicc "$cc"
    answers 0 "$built" mpi
    rm -rf two
    ranks "$m" 2 "${fit[@]}" -o two || fail "$m: two ranks: exit code $?"
    same_as alone two "$m, the plugin built here"
    [ -z "$other" ] || refused "$other" "belongs to another MPI" HOMODYNE_MPI="$built"
    refused "$m" "HOMODYNE_MPI=none keeps them apart" HOMODYNE_MPI=none
    FIT_COPIES=each ranks "$m" 2 sh -c '"$0" "$@" -o "copy$$"' "${fit[@]}" ||
        fail "$m: each copy by itself: exit code $?"
    [ "$(find . -maxdepth 2 -path './copy*/fit.json' | wc -l)" -eq 2 ] ||
        fail "$m: each copy by itself: not two results"
    rm -rf copy*
    if [ -n "$other" ]; then # an old one, of another MPI, does not answer in place of the installed one
        "$(compiler "$other")" -shared -fPIC old.c -o "$built"
        rm -rf two
        ranks "$m" 2 "${fit[@]}" -o two 2>err || fail "$m: an old plugin of $other: exit code $?: $(head -3 err)"
        same_as alone two "$m, an old plugin of $other in the cache"
    fi
    other=$m
    echo "$m: built, found and used"
done
rm -rf "$XDG_CACHE_HOME"
for m in $mpis; do # a launcher's own MPI is named
    [ -e "$bin/../lib/homodyne-gen/mpi/libhomodyne-mpi-$m.so" ] || continue
    [ "$(ranks "$m" 2 "$bin/homodyne" mpi | grep -c "libhomodyne-mpi-$m.so")" -eq 2 ] ||
        fail "$m: \`homodyne mpi\` names another plugin"
done
[ -z "$other" ] || MPICC=$(compiler "$other") answers 0 "$built" mpi --build
finish
