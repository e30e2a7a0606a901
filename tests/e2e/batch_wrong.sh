#!/bin/sh
# Mistakes of one who uses homodyne batch: what is wrong for every fit is told once, with and without --slurm, and
# nothing is made or changed: no script, no folder, no row of an existing table. What is wrong with one file is its
# row: batch_wrong.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne
unset SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT SLURM_PROCID SLURM_STEP_NUM_TASKS FIT_COPIES 2>/dev/null || true

for k in 1 2 3; do
    "$h" simulate --model static_isotropic -o run$k.h5 --frames 60 --dt 0.1 --q 0.0054 --phi 0 --contrast 0.3 \
        --offset 1 --noise 0.01 --seed $k --set D0=${k}0000 --set alpha=0 --set D_offset=0 --quiet \
        --config-out my.yaml --force
done
echo "no data" >bad.h5
"$h" batch my.yaml run?.h5 --fix D_offset=0 -o series --quiet

# everything in this folder, with contents and times; not what `expect` writes
state() {
    find . -mindepth 1 ! -name out ! -name err ! -name before ! -name after -printf '%p %s %T@\n' | sort
    cat series/series.csv
}

# refused CODE TEXT WORDS..: for all fits, as a command and for a script
refused() {
    want=$1 text=$2
    shift 2
    for way in "" --slurm --slurm=2 --again; do
        state >before
        expect "$want" "$h" "$@" ${way:+$way}
        says "$text"
        [ ! -s out ] || fail "$* $way prints: $(head -2 out)"
        [ "$(grep -c "error: " err)" -le 2 ] || fail "$* $way: told more than once: $(cat err)"
        state >after
        cmp -s before after || fail "$* $way changes: $(diff before after)"
    done
}

# ---- options and configurations that no fit takes
b="batch my.yaml run1.h5 run2.h5 run3.h5"
for folder in series new; do
    # shellcheck disable=SC2086 # words
    refused 3 "did you mean 'D_offset'?" $b -o $folder --fix D_ofset=0
    # shellcheck disable=SC2086
    {
        refused 3 "this holds for every fit; none was begun and nothing was changed" $b -o $folder --fix D_ofset=0
        refused 3 "did you mean --threads?" $b -o $folder --thread 2
        refused 3 "unknown key 'foo.bar'" $b -o $folder --set foo.bar=3
        refused 3 "unknown word 'nonsense'" $b -o $folder --method nonsense
        refused 3 "'x' is not a whole number" $b -o $folder --chains x
        refused 3 "no parameter 'foo'" $b -o $folder --profile foo
        refused 3 "--device nonsense: must be cpu" $b -o $folder --device nonsense
        refused 3 "a device is missing beside +" $b -o $folder --device cuda+
        refused 3 "no kernel of variant fast for v9" $b -o $folder --isa v9
        refused 3 "no model 'nix' here" $b -o $folder --model nix
        refused 3 "lies outside its bounds" $b -o $folder --start D0=-5
        refused 3 "'A,b' is not a list of wavevectors" $b -o $folder --q A,b
        refused 3 "each has run.log and batch.log" $b -o $folder --log all.log
        refused 3 "homodyne fit --each" $b -o $folder --each file
        refused 3 "go on from the same state" $b -o $folder --optimizer adam --optimizer-state state
        refused 3 "--version" $b -o $folder --version
        # of the data: each file is asked
        refused 4 "no azimuth within 5 degrees of 77" $b -o $folder --phi 77
        refused 4 "each of the 3 fits is refused" $b -o $folder --phi 77
        refused 3 "leaves fewer than 4 clusters" $b -o $folder --cluster-length 900
        refused 3 "there is no optimizer 'foo'" $b -o $folder --optimizer foo
    }
done
[ ! -e new ] || fail "a folder was made"
sed 's/analysis_mode: .*/&\nno_such_section: {a: 1}/' my.yaml >odd.yaml
refused 3 "odd.yaml:" batch odd.yaml run1.h5 run2.h5 -o series
refused 3 "did you mean 'my.yaml'" batch mi.yaml run1.h5 -o series
mkdir configs
refused 3 "is a folder; a configuration is a file" batch configs run1.h5 -o series
refused 3 "this is data, not a configuration" batch run1.h5 run2.h5 -o series

# ---- data files that are none
refused 4 "gone.h5: no such file" batch my.yaml run1.h5 gone.h5 run2.h5 -o series
refused 4 "gone.h5: no such file, or no permission to read it; and 2 more of 4 files" \
    batch my.yaml run1.h5 gone.h5 gone2.h5 gone3.h5 -o series
refused 4 "nix*.h5: no file matches this pattern" batch my.yaml 'nix*.h5' -o series
refused 4 "here 3" batch my.yaml 'run*.h5' -o series
refused 4 "configs: is a folder; name the files in it, as configs/*.h5" batch my.yaml configs -o series
refused 3 "a second configuration, after my.yaml" batch my.yaml odd.yaml run1.h5 -o series
refused 4 "no such file" batch my.yaml '' -o series
expect 4 "$h" batch my.yaml 'nix*.h5' --list
refused 4 "here 3" batch my.yaml 'run*.h5' run1.h5 -o series --part 1/2
refused 4 "nix*.h5: no file matches this pattern" batch my.yaml 'nix*.h5' run1.h5 -o series --part 1/2
[ ! -s out ] || fail "--list shows a pattern as a fit"

# ---- folders
: >file
refused 4 "file: a file of this name is in the way" batch my.yaml run1.h5 run2.h5 -o file
refused 4 "file/x: cannot make this folder" batch my.yaml run1.h5 run2.h5 -o file/x
refused 3 "the name of the folder is empty" batch my.yaml run1.h5 -o ''
refused 3 "one of them can hold" batch my.yaml run1.h5 -o new --output newer
refused 3 "one of them can hold" batch my.yaml run1.h5 -o new --output-dir newer
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
    chmod 755 . series
    if $nobody "$h" models >/dev/null 2>&1; then # it may run the program
        for folder in new/deeper series; do
            for way in --slurm --quiet; do
                expect 4 $nobody "$h" batch my.yaml run1.h5 -o $folder $way
                says "Permission denied"
                [ ! -s out ] || fail "a script for a folder that cannot be written"
            done
        done
    fi
fi

# ---- --slurm: the number behind a blank; scripts that are good, but in vain
expect 3 "$h" batch my.yaml run1.h5 run2.h5 -o new --slurm 2
says "did you mean --slurm=2?"
expect 3 "$h" batch --slurm 2 my.yaml run1.h5 run2.h5 -o new
says "did you mean --slurm=2?"
for wrong in 0 -1 x 1.5 '' 99999999999; do
    expect 3 "$h" batch my.yaml run1.h5 run2.h5 -o new "--slurm=$wrong"
    says "--slurm: '$wrong' is not a whole number from 1"
done
expect 0 "$h" batch my.yaml run?.h5 -o deeper/new --slurm
[ ! -e deeper ] || fail "--slurm has left a folder"
expect 0 "$h" batch my.yaml run?.h5 --fix D_offset=0 -o series --slurm
says "note: all 3 fits are done"
mkdir many
k=0
while [ $k -lt 1002 ]; do
    k=$((k + 1))
    ln run1.h5 many/$k.h5
done
expect 0 "$h" batch my.yaml many/*.h5 -o new --slurm=1001
says "MaxArraySize"
expect 0 "$h" batch my.yaml many/*.h5 -o new --slurm=1000
hasnot err "MaxArraySize"
# words that begin with a minus, behind --: the options of the script are still options
ln run1.h5 ./-1.h5
expect 0 "$h" batch my.yaml -o minus --slurm --jobs 1 -- -1.h5 "run2.h5"
sed -n 's/^srun //p' out >words
expect 0 env SLURM_ARRAY_TASK_ID=1 sh words
has out "2 fits: 2 converged"
[ -s minus/series.csv ] || fail "the script of a list behind -- has another folder"

# ---- what is wrong with one file is its row; the others are fitted, also when it is the first
expect 4 "$h" batch my.yaml bad.h5 run1.h5 -o rows --fix D_offset=0
has out "1 converged, 0 not, 1 failed"
says "bad: FAILED: bad.h5: is text"
expect 0 "$h" batch my.yaml bad.h5 run1.h5 -o rows_later --slurm
refused 4 "the only fit is refused" batch my.yaml bad.h5 -o series
printf 'delay,g2\n1,2\n' >table.csv # a file that another kind of model fits
expect 3 "$h" batch my.yaml table.csv run1.h5 -o kinds
has out "1 converged, 0 not, 1 failed"
refused 3 "each of the 2 fits is refused" batch my.yaml table.csv ./bad.h5 -o series
# a name that looks like a variable
cp run1.h5 'of $HOME and `ls`.h5'
expect 0 "$h" batch my.yaml './of $HOME and `ls`.h5' -o named
# beside fits that are done with the same settings it fails again, and keeps its row
expect 4 "$h" batch my.yaml bad.h5 run1.h5 -o rows --fix D_offset=0
has out "1 were done before"
grep -q '^bad,failed' rows/series.csv || grep -q '^bad,.*failed' rows/series.csv || fail "no row of bad.h5"
# a share fails at a file that has vanished while it waited
expect 4 "$h" batch my.yaml run1.h5 vanished.h5 -o vanished --part 1/2
says "vanished: FAILED: vanished.h5: no such file"
has out "1 converged, 0 not, 1 failed"
expect 4 env SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=2 \
    "$h" batch my.yaml run2.h5 vanished.h5 -o vanished_too
says "vanished: FAILED: vanished.h5: no such file"
# copies that a launcher starts are the first to look
expect 4 env SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 "$h" batch my.yaml run1.h5 gone.h5 -o new
says "gone.h5: no such file"
hasnot err "FAILED"

# ---- twice in the list: fitted once, under its own name
ln -s run1.h5 latest.h5
expect 0 "$h" batch my.yaml latest.h5 run1.h5 ./run1.h5 "$dir/run1.h5" run2.h5 -o twice --list
says "note: run1.h5 is in the list twice, also as latest.h5, as are 2 more; each is fitted once"
[ "$(cut -d ' ' -f 1 out | xargs)" = "run1 run2" ] || fail "the list: $(cat out)"
expect 0 "$h" batch my.yaml run1.h5 run1.h5 -o twice
says "note: run1.h5 is in the list twice; each is fitted once"
has out "1 fits: 1 converged"
expect 0 "$h" batch my.yaml run1.h5 run1.h5 -o twice --quiet
hasnot err "twice"
expect 0 "$h" batch my.yaml run1.h5 --q 0.0054,0.0054 --list
says "note: run1.h5 at q = 0.0054 is in the list twice"
[ "$(wc -l <out)" -eq 1 ] || fail "a q twice: $(cat out)"
expect 0 "$h" batch my.yaml many/1.h5 many/2.h5 --list
[ ! -s err ] || fail "hard links are one file: $(cat err)"
expect 0 "$h" batch my.yaml --list
says "note: no data files are named; that of my.yaml"

# ---- --dry-run: what would be fitted, checked
expect 0 "$h" batch my.yaml run?.h5 -o dry --dry-run
[ "$(wc -l <out)" -eq 3 ] && [ ! -e dry ] || fail "--dry-run: $(cat out)"
expect 3 "$h" batch my.yaml run?.h5 -o dry --dry-run --fix D_ofset=0

# ---- estimate --ranks: none, more than there is work for
expect 3 "$h" estimate my.yaml --ranks 0
says "--ranks: '0' is not a whole number from 1"
expect 3 "$h" estimate my.yaml --ranks 2000000
says "2000000 is more than 1000000"
expect 0 "$h" estimate my.yaml --ranks 7
has out "idle              6 ranks, which get no leaf; the largest useful number is 1"
expect 0 "$h" estimate my.yaml --ranks 1 --json
has out '"most_ranks": 1'
expect 0 "$h" estimate my.yaml --ranks 1
hasnot out "idle"

finish
