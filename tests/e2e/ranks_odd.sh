#!/bin/bash
# What goes wrong on clusters: ranks that see other files, other contents, other programs: ranks_odd.sh BINDIR
# SAME_NUMBERS. Such a job ends by itself, with one message that names the ranks, and writes no results.
set -eu
bin=$1 same=$2
. "$(dirname "$0")/../support/test.sh"
. "$here/../support/mpi.sh"

physics=(--set D0=2000 --set alpha=-0.3 --set D_offset=100)
simulate() { # simulate FILE SEED [WORDS..]
    file=$1 seed=$2
    shift 2
    "$bin/homodyne-static_isotropic" simulate -o "$file" --frames 30 --dt 0.1 --q 0.0054 --phi 0 "${physics[@]}" \
        --contrast 0.3 --noise 0.01 --seed "$seed" --quiet --force "$@"
}
mkdir own other
simulate own/d.h5 5 --config-out own/d.yaml
fit=("$bin/homodyne-static_isotropic" fit d.yaml --quiet --threads 1)

# The ranks run in `own`; before that, rank $WHO (1) does what $ODD says.
cat >odd.sh <<'END_OF_SCRIPT'
#!/bin/bash
cd own || exit 1
case ${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}} in ${WHO:-1}) eval "$ODD" ;; esac
exec "$@"
END_OF_SCRIPT
chmod +x odd.sh

# refused CODES TEXT WHAT-RANK-1-DOES PROGRAM..: three ranks under each MPI
refused() {
    code=$1 text=$2
    export ODD=$3
    at_once refused_under "${@:4}"
}

refused_under() {
    m=$1
    shift
    rm -rf "$dir/results$tag"
    got=0 begin=$(date +%s%N)
    timeout -k 5 60 "$(launcher "$m")" -n 3 "$dir/odd.sh" "$@" -o "$dir/results$tag" >"out$tag" 2>"err$tag" || got=$?
    ms=$((($(date +%s%N) - begin) / 1000000))
    case " $code " in *" $got "*) ;; *) fail "$m: $ODD: exit code $got, not $code: $(head -5 "err$tag")" ;; esac
    [ "$(grep -cF -- "$text" "err$tag")" = 1 ] || fail "$m: $ODD: not told once: $text: $(head -5 "err$tag")"
    [ "$(grep -c '^homodyne' "err$tag")" = 1 ] || fail "$m: $ODD: not one message: $(head -5 "err$tag")"
    [ ! -e "$dir/results$tag/fit.json" ] || fail "$m: $ODD: results were written"
    echo "$m: $ms ms: $(grep -m 1 '^homodyne' "err$tag" | cut -c 1-200)"
}
h=$(hostname | cut -c 1-63)

# ---- data and configuration
cp own/d.yaml other/
refused 4 "rank 1 ($h) cannot read the data file, which rank 0 ($h) can" 'cd ../other' "${fit[@]}"
simulate other/d.h5 6
refused 4 "the data file of rank 0 ($h)" 'cd ../other' "${fit[@]}"
cp own/d.h5 other/d.h5
printf odd | dd of=other/d.h5 bs=1 seek=$(($(wc -c <own/d.h5) / 2)) conv=notrunc 2>/dev/null
refused 4 "have the same size and different contents" 'cd ../other' "${fit[@]}"
cp own/d.h5 other/
rm other/d.yaml
refused 3 "d.yaml: rank 1 ($h) cannot read the configuration" 'cd ../other' "${fit[@]}"
sed 's/0\.1 /0.2 /' own/d.yaml >other/d.yaml
refused 3 "d.yaml: the configuration of rank 0 ($h) and of rank 1 ($h)" 'cd ../other' "${fit[@]}"

cp own/d.yaml other/
(cd own && "${fit[@]}" -o result)
(cd other && "${fit[@]}" -o result --bounds D0=100:900)
export ODD="cd ../other"
for m in $mpis; do
    expect 3 timeout -k 5 60 "$(launcher "$m")" -n 3 "$dir/odd.sh" "${fit[@]}" -o result --resume
    says "rank 0 ($h) and rank 1 ($h) start from different values: with --resume all ranks need the same fit.h5"
done

# ---- programs: a command of the shell that starts another one in rank 1
cat >start.sh <<'END_OF_SCRIPT'
#!/bin/bash
exec "${PROGRAM:-$1}" "${@:2}"
END_OF_SCRIPT
chmod +x start.sh
start=("$dir/start.sh" "${fit[@]}")
mkdir -p another/bin another/lib
ln -s "$bin/../lib/homodyne-gen" another/lib/
{ cat "$bin/homodyne-static_isotropic" && printf another; } >another/bin/homodyne-static_isotropic
chmod +x another/bin/*
refused 3 "rank 0 ($h) and rank 1 ($h) have different builds of the program" \
    "export PROGRAM=$dir/another/bin/homodyne-static_isotropic" "${start[@]}"
refused 3 "rank 0 ($h) and rank 1 ($h) have different models" "export PROGRAM=$bin/homodyne-laminar" "${start[@]}"
refused 3 "rank 0 ($h) and rank 1 ($h) have different command lines: the first has nothing more, the other '--seed 7'" \
    "set -- \"\$@\" --seed 7" "${fit[@]}"
refused 3 "lines: the first has '--threads 1', the other '--threads 2'" 'set -- "${@/#1/2}"' "${fit[@]}"
refused 3 "rank 0 ($h) and rank 1 ($h) have different FIT_ISA in their environment: the first has none, the other v2" \
    "export FIT_ISA=v2" "${fit[@]}"

# ---- a rank that ends before MPI begins is named; the others neither wait nor print errors of MPI
front=("$bin/homodyne" "${fit[@]:1}")
mkdir empty
refused 3 "rank 1 ($h): d.yaml: error: there is no such configuration file" 'cd ../empty' "${front[@]}"
export WHO=0
refused 3 "rank 0 ($h): d.yaml: error: there is no such configuration file" 'cd ../empty' "${front[@]}"
export WHO=1
refused 3 "rank 1 ($h): --model: no model 'nothing'" 'set -- "$@" --model nothing' "${front[@]}"
refused "3 4" "rank 1 ($h): " 'set -- "$@" --model ./nothing.lua' "${front[@]}"
for program in homodyne homodyne-static_isotropic; do
    refused 3 "rank 1 ($h): --sead: unknown option" 'set -- "$@" --sead 7' "$bin/$program" "${fit[@]:1}"
    refused 3 "$program: error: --sead: unknown option" '' "$bin/$program" "${fit[@]:1}" --sead 7
done
refused 3 "rank 1 ($h): HOMODYNE_MPI_SECONDS=words: not a whole number" 'export HOMODYNE_MPI_SECONDS=words' "${fit[@]}"
refused 3 "rank 1 ($h): fit: mpirun has started several copies" 'export HOMODYNE_MPI=none' "${fit[@]}"
# one that never begins
export HOMODYNE_MPI_SECONDS=2
refused "1 9" "rank 0 ($h) of 3 has waited 2 s for the others to begin" "exec sleep 10" "${fit[@]}"
unset HOMODYNE_MPI_SECONDS
# what never works over ranks
refused 3 "error: simulate: mpirun has started several copies" '' "$bin/homodyne-static_isotropic" simulate --quiet

# ---- variables with words that mean nothing; the copies here are started by no launcher
# odd_word RANK VARIABLE=WORD TEXT: what this rank tells
odd_word() {
    got=0
    (cd own && env PMI_SIZE=2 PMI_RANK="$1" "$2" "${fit[@]}" -o ../results) >out 2>err || got=$?
    [ "$got" -eq 3 ] || fail "$2: exit code $got, not 3: $(head -3 err)"
    [ "$(grep -cF "rank $1 ($h): $3" err)" = 1 ] || fail "rank $1, $2: does not say '$3', but: $(cat err)"
    [ "$(wc -l <err)" -eq 1 ] || fail "rank $1, $2: not one line: $(cat err)"
}
odd_word 0 HOMODYNE_MPI=nonsense \
    "HOMODYNE_MPI=nonsense: there is no plugin of this name; openmpi, mpich, none, or the path of a plugin"
odd_word 1 HOMODYNE_MPI=nonsense "HOMODYNE_MPI=nonsense: there is no plugin of this name"
odd_word 0 HOMODYNE_MPI=/nowhere/p.so "HOMODYNE_MPI=/nowhere/p.so: cannot be opened as a plugin for MPI: "
odd_word 0 HOMODYNE_MPI=./d.yaml "HOMODYNE_MPI=./d.yaml: cannot be opened as a plugin for MPI: "
for library in /lib/*/libz.so.1 /usr/lib/libz.so.1 /usr/lib64/libz.so.1; do
    [ ! -e "$library" ] || odd_word 0 HOMODYNE_MPI="$library" "HOMODYNE_MPI=$library: is no plugin for MPI"
done
odd_word 0 HOMODYNE_MPI=none "fit: mpirun has started several copies of this program (PMI_SIZE=2)"
has err "HOMODYNE_MPI=none keeps them apart: without it they are ranks of one fit"
for word in words -1 0 1e99 1e3 "5 " 99999999999999999999; do
    odd_word 0 HOMODYNE_MPI_SECONDS="$word" "HOMODYNE_MPI_SECONDS=$word: not a whole number of seconds from 1 to"
done
odd_word 0 FIT_COPIES=all "FIT_COPIES=all: the word is 'each'"

# all alike: the first speaks
echo 'const struct { unsigned abi; void *f[8]; } fit_ranks_plugin = {1};' >old.c
if cc -shared -fPIC old.c -o old.so 2>/dev/null; then
    cp old.so own/
    odd_word 0 HOMODYNE_MPI=./old.so "HOMODYNE_MPI=./old.so: made for interface 1"
fi
refused 3 "HOMODYNE_MPI=nonsense: there is no plugin of this name" "" env HOMODYNE_MPI=nonsense "${fit[@]}"

# ---- what may differ: numbers of threads, folders
export ODD=
(cd own && "${fit[@]}" -o ../alone --method nuts --draws 30 --warmup 30 --chains 3)
cp -r own elsewhere
for m in $mpis; do
    export ODD="export OMP_NUM_THREADS=1; cd ../elsewhere"
    rm -rf results
    timeout -k 5 60 "$(launcher "$m")" -n 3 "$dir/odd.sh" "$bin/homodyne-static_isotropic" fit d.yaml --quiet \
        -o "$dir/results" --method nuts --draws 30 --warmup 30 --chains 3 >out 2>err ||
        fail "$m: other threads in rank 1: exit code $?: $(head -5 err)"
    same_as alone results "$m: other threads and another folder in rank 1"
done

finish
