#!/bin/sh
# page-stand-ins.sh BINDIR SOURCE FOLDER -- commands that take the place of others while pages are tested (page.sh).
#   git clone    links the sources and programs that there are
#   make         runs the demo; of a model: the build must have made a program, from the same text
#   sbatch       parses a script and its #SBATCH lines, runs it once for each element of its array, 200 at most
#   srun         runs the command; xdg-open: does nothing
set -eu
bin=$1 source=$2 stand=$3
mkdir -p "$stand"

cat >"$stand/git" <<STAND
#!/bin/sh
[ "\$1" = clone ] || exit 1
mkdir homodyne-gen homodyne-gen/build
ln -s "$bin" homodyne-gen/build/bin
for name in examples tests build-aux models docs python; do ln -s "$source/\$name" homodyne-gen/\$name; done
STAND

cat >"$stand/make" <<STAND
#!/bin/sh
case "\$*" in
"" | test | install | "install PREFIX="* | deb | docs | wheel) exit 0 ;;
demo) exec build/bin/homodyne demo build/demo ;;
model=*.lua)
    file=\${1#model=} name=\$(basename "\${1#model=}" .lua)
    cmp -s "\$file" "$(dirname "$bin")/tests/guide/\$name.lua" || {
        echo "the build has not made a program from the text of \$file"
        exit 1
    }
    [ -x "$bin/homodyne-\$name" ]
    ;;
model=*) [ -x "$bin/homodyne-\${1#model=}" ] ;;
*) exit 1 ;;
esac
STAND

cat >"$stand/sbatch" <<'STAND'
#!/bin/bash
parsable=
for script; do [ "$script" = --parsable ] && parsable=1; done # the last word is the script
bash -n "$script" || exit 1
head -1 "$script" | grep -q '^#!' || { echo "sbatch: $script does not begin with #!"; exit 1; }
known='^#SBATCH --(job-name|array|cpus-per-task|mem|time|signal|output|requeue|ntasks|nodes|open-mode|hint)([= ]|$)'
if grep '^#SBATCH' "$script" | grep -Ev -- "$known"; then exit 1; fi
range=$(sed -nE 's/^#SBATCH --array=([0-9]+)-([0-9]+).*/\1 \2/p' "$script")
export SLURM_JOB_ID=4711 SLURM_ARRAY_JOB_ID=4711 SLURM_CPUS_PER_TASK=1
# shellcheck disable=SC2086  # two words
set -- ${range:-0 0}
export SLURM_ARRAY_TASK_MIN=$1 SLURM_ARRAY_TASK_COUNT=$(($2 - $1 + 1))
[ -n "$range" ] || unset SLURM_ARRAY_TASK_MIN SLURM_ARRAY_TASK_COUNT
# shellcheck disable=SC2086  # two words
for SLURM_ARRAY_TASK_ID in $(seq ${range:-0 0} | head -200); do
    export SLURM_ARRAY_TASK_ID
    said=slurm-${SLURM_JOB_ID}_$SLURM_ARRAY_TASK_ID.out
    bash "$script" >"$said" 2>&1 || {
        echo "sbatch: exit status $?"
        cat "$said"
        exit 1
    }
done
if [ -n "$parsable" ]; then echo $SLURM_JOB_ID; else echo "Submitted batch job $SLURM_JOB_ID"; fi
STAND

printf '#!/bin/sh\nexec "$@"\n' >"$stand/srun"
printf '#!/bin/sh\n[ -f "$1" ]\n' >"$stand/xdg-open"
chmod +x "$stand"/*
