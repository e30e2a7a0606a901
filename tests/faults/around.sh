#!/bin/sh
# Faults around a fit that need more than a shell (tests/e2e/faults.sh has the others): a time of day that
# jumps, calls of the system that are interrupted, descriptors that run out, folders and files that go
# while it runs, links that wait under temporary names.
#     around.sh BINDIR fail_clock.so fail_signal.so
set -u
bin=$1/homodyne-static_isotropic gen=$1/homodyne-gen clock=$2 signal=$3
. "$(dirname "$0")/../support/test.sh"
models=$here/../../models

numbers() {
    grep -E '"(status|cost|value|std)":' "$1/fit.json"
}

expect 0 "$bin" simulate --frames 40 --dt 0.1 --q 0.01 --phi 0 --noise 0.01 --seed 3 -o e.h5 --config-out c.yaml
fit() {
    "$bin" fit c.yaml --quiet --threads 1 "$@"
}
expect 0 fit -o right

# The time of day goes back and forth by days: limits and checkpoints go by the other clock.
jumping() { LD_PRELOAD=$clock "$bin" fit c.yaml --quiet --threads 1 "$@"; }
expect 0 jumping -o jump
numbers jump >a
numbers right | cmp -s - a || fail "a clock that jumps changed the numbers"
begin=$(date +%s)
expect 2 jumping -o limit --method nuts --draws 300000 --chains 2 --max-seconds 2
[ $(($(date +%s) - begin)) -lt 60 ] || fail "--max-seconds 2 took longer than a minute"
grep -q '"posterior"' limit/fit.json || fail "no posterior at the limit of time"
no_pieces limit

# Interrupted and shortened calls change nothing.
storm() { LD_PRELOAD=$signal "$bin" fit c.yaml --quiet --threads 2 "$@"; }
expect 0 storm -o storm
numbers storm >a
numbers right | cmp -s - a || fail "signals changed the numbers"
no_pieces storm
expect 0 storm -o storm2 --stream on
numbers storm2 >a
numbers right | cmp -s - a || fail "signals changed the numbers of a streamed fit"

# Few descriptors: a message, never half a result.
for most in 3 4 5 6 8; do
    few() (
        ulimit -n $most
        fit -o "few$most"
    )
    few >out 2>err
    got=$?
    case $got in
    0 | 3 | 4) ;;
    127) grep -q "shared libraries" err || fail "$most descriptors: exit code 127" ;; # before it began
    *) fail "$most descriptors: exit code $got" ;;
    esac
    [ $got -eq 0 ] || [ -s err ] || [ $most -lt 4 ] || fail "$most descriptors: no message"
    [ $got -eq 0 ] || [ ! -e "few$most/fit.json" ] || fail "$most descriptors: a result and an error"
    no_pieces "few$most"
done

# The folder of the results goes while it runs: made again, or told.
fit -o gone --method nuts --draws 20000 >out 2>err &
run=$!
sleep 0.5
kill -0 $run || fail "it ended before its folder went"
rm -rf gone
got=0
wait $run || got=$?
case $got in
0 | 2) [ -f gone/fit.json ] || fail "the folder went: exit code $got without results" ;;
4) says "gone/" ;;
*) fail "the folder went: exit code $got" ;;
esac
no_pieces gone

# The data are cut or replaced while it reads them in every pass.
"$bin" simulate --frames 1500 --dt 0.1 --q 0.01 --phi 0 --noise 0.01 --seed 3 -o big.h5 >/dev/null || exit 1
for how in cut replaced; do
    cp big.h5 moving.h5
    fit --data moving.h5 --stream on -o "$how" --method nuts --draws 5000 >out 2>err &
    run=$!
    sleep 1
    if [ $how = cut ]; then
        truncate -s 100000 moving.h5
    else
        cp e.h5 other.h5 && mv other.h5 moving.h5
    fi
    got=0
    wait $run || got=$?
    [ $got -eq 4 ] || fail "data $how while it reads: exit code $got"
    says "moving.h5"
    [ ! -e "$how/fit.json" ] || fail "data $how while it reads: results"
    no_pieces "$how"
done

# A link under a temporary name is not followed; the numbers of processes are guessed.
echo precious >precious
mkdir trap
sh -c 'for k in $(seq 0 40); do
           for name in fit.json fit.h5 summary.txt run.log config.effective.yaml; do
               ln -sf ../precious "trap/.$name.$(($$ + k)).part"
           done
       done
       exec "$@"' sh "$bin" fit c.yaml --quiet --threads 1 -o trap >out 2>err || fail "links in the way: $?"
[ "$(cat precious)" = precious ] || fail "a link under a temporary name was followed"
[ -f trap/fit.json ] || fail "no result beside links"
for name in fit.json fit.h5 run.log; do
    [ ! -L "trap/$name" ] || fail "trap/$name is a link"
done

# Permissions of results are those that umask leaves.
(umask 077 && fit -o private) >out 2>err || fail "umask 077: $?"
[ "$(stat -c %a private/fit.json)" = 600 ] || fail "umask 077: fit.json has $(stat -c %a private/fit.json)"
[ "$(stat -c %a private/fit.h5)" = 600 ] || fail "umask 077: fit.h5 has $(stat -c %a private/fit.h5)"

# Two compilers at once into one folder: one whole file.
mkdir both
"$gen" "$models/laminar.lua" -o both >out 2>err &
run=$!
"$gen" "$models/laminar.lua" -o both >/dev/null 2>err2 || fail "two compilers: $(cat err2)"
wait $run || fail "two compilers: the first"
"$gen" "$models/laminar.lua" -o alone >/dev/null || fail "compiler alone"
cmp both/laminar.c alone/laminar.c || fail "two compilers: another file"
[ -z "$(find both -name '*.part')" ] || fail "two compilers: a temporary file"

finish
