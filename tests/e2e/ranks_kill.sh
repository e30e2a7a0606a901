#!/bin/bash
# A rank is killed, at a random moment of each phase of a run: ranks_kill.sh BINDIR SAME_NUMBERS
# The job ends soon, with an error unless its results were already whole; no rank is left; results are whole or absent;
# the same command, with another number of ranks, gives every number of one process.
set -eu
bin=$1 same=$2
. "$(dirname "$0")/../support/test.sh"
. "$here/../support/mpi.sh"
KILLS=${KILLS:-6} # for each MPI at least; more, until each phase was hit, as far as the tries reach
SOON=5000         # ms
phases=(start load minimum errors bootstrap write)

"$bin/homodyne-static_isotropic" simulate -o middle.h5 --frames 700 --dt 0.1 --q 0.0054 --phi 0 --set D0=2000 \
    --set alpha=-0.3 --set D_offset=100 --contrast 0.3 --noise 0.01 --seed 5 --config-out middle.yaml --quiet
run=("$bin/homodyne-static_isotropic" fit middle.yaml --quiet --threads 1 --bootstrap block:40)
"${run[@]}" -o whole || fail "one process: exit code $?"

# phase: the one that the log tells last
phase() {
    [ -e log ] || { echo start && return; }
    awk 'BEGIN { p = "start" } /memory: / { p = "load" } / loaded in / { p = "minimum" } /converged/ { p = "bootstrap" }
         /errors of the parameters/ { p = "errors" } /bootstrap: / { p = "write" } END { print p }' log
}

# begin MPI: three ranks; job, ranks <- their numbers
begin() {
    rm -rf killed log
    ranks "$1" 3 "${run[@]}" -o killed --log log >out 2>err &
    job=$!
    pids=()
    for _ in $(seq 200); do
        mapfile -t pids < <(programs killed)
        [ ${#pids[@]} -lt 3 ] || return 0
        sleep 0.005
    done
}

# seconds PHASE: of an undisturbed run under $1, from its log; the start and the end are not in it
measure() {
    begin "$1"
    wait $job || fail "$1: undisturbed: exit code $?: $(head -3 err)"
    awk '/memory: / { load = $1 } / loaded in / { minimum = $1 } /errors of the parameters/ { errors = $1 }
         /converged/ { bootstrap = $1 } /bootstrap: / { write = $1 } { last = $1 }
         END { print "start", 0.15; print "load", minimum - load; print "minimum", errors - minimum
               print "errors", bootstrap - errors; print "bootstrap", write - bootstrap
               print "write", last - write }' log
}

# wait_for_phase WORD: until the log has come to it, or the job has ended
wait_for_phase() {
    for _ in $(seq 6000); do
        [ "$(phase)" != "$1" ] || return 0
        kill -0 $job 2>/dev/null || return 1
        sleep 0.001
    done
    return 1
}

# kill_in MPI PHASE SECONDS: one try; hit <- the phase in which a rank was killed, empty: it had ended
kill_in() {
    begin "$1"
    hit=
    [ "$2" = start ] || wait_for_phase "$2" || true
    sleep "$(awk -v s="$3" -v r=$RANDOM 'BEGIN { r /= 32768; print 0.9 * s * r * r }')"
    victim=${pids[RANDOM % ${#pids[@]}]-}
    moment=$(date +%s%N)
    [ -z "$victim" ] || ! kill -KILL "$victim" 2>/dev/null || hit=$(phase)
    got=0
    wait $job || got=$?
    ms=$((($(date +%s%N) - moment) / 1000000))
}

# nothing is half; then the command again
check() {
    left=$(programs killed)
    [ -z "$left" ] || fail "$1: ranks are left: $left"
    [ "$got" -ne 0 ] || [ -e killed/fit.json ] || fail "$1: a killed rank was not noticed"
    [ "$ms" -lt $SOON ] || fail "$1: the job ended $ms ms after a rank was killed"
    [ ! -e killed/fit.json ] || same_as whole killed "$1: results of a killed job"
    ranks "$m" 2 "${run[@]}" -o killed >out 2>err || fail "$1: again: exit code $?: $(head -3 err)"
    no_pieces killed
    same_as whole killed "$1: again"
}

# rarest: the phase in which the fewest ranks have been killed
rarest() {
    for p in "${phases[@]}"; do
        echo "$(grep -c "^$p\$" hits) $p"
    done | sort -s -n -k 1,1 | head -n 1
}

for m in $mpis; do
    measure "$m" >seconds
    : >hits
    for try in $(seq $((3 * KILLS + 6))); do
        read -r least want < <(rarest)
        kill_in "$m" "$want" "$(awk -v p="$want" '$1 == p { print $2 }' seconds)"
        [ -n "$hit" ] || continue
        echo "$hit" >>hits
        echo "$m: killed rank $victim in phase $hit ($want was meant): exit code $got after $ms ms," \
            "results $([ -e killed/fit.json ] && echo whole || echo absent)"
        check "$m, $hit"
        read -r least want < <(rarest)
        [ "$(wc -l <hits)" -lt "$KILLS" ] || [ "$least" -lt $((KILLS >= ${#phases[@]})) ] || break
    done
    [ "$(wc -l <hits)" -ge "$KILLS" ] || fail "$m: only $(wc -l <hits) ranks were killed in $try tries"
    echo "$m: $(wc -l <hits) of $try jobs lost a rank; phases: $(sort hits | uniq -c | xargs)"
done
finish
