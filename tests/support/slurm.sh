# slurm.sh -- a real SLURM of one node for tests, with all it writes below $dir: source it after test.sh.
#     slurm_up [CORES=4]     returns when the node is idle; without the programs, or not as root, the test is skipped
# It goes with the test.
skip() {
    echo "SKIPPED: $*"
    exit 77
}

slurm_down() {
    for pid in "$dir"/slurm/*.pid; do
        [ ! -s "$pid" ] || kill -KILL "$(cat "$pid")" 2>/dev/null || true
    done
    pkill -KILL -f "$dir/slurm" 2>/dev/null || true
    for pid in /proc/[0-9]*; do # programs of jobs
        case $(readlink "$pid/cwd" 2>/dev/null) in
        "$dir" | "$dir"/*) [ "$pid" = "/proc/$$" ] || kill -KILL "${pid#/proc/}" 2>/dev/null || true ;;
        esac
    done
    chmod -R u+rwx "$dir"
    rm -rf "$dir"
}

# Ends the daemons of a test that was killed, as by its limit of time, and so could not do it.
slurm_watch() {
    setsid sh -c 'cd /; while kill -0 "$1" 2>/dev/null; do sleep 1; done
        dir=$2
        . "$3"
        slurm_down' watch $$ "$dir" "$here/../support/slurm.sh" </dev/null >/dev/null 2>&1 &
}

slurm_up() {
    for program in slurmctld slurmd munged sbatch srun scontrol pkill; do
        command -v $program >/dev/null 2>&1 || [ -x /usr/sbin/$program ] ||
            skip "$program is not there (build-aux/install-deps --cluster)"
    done
    [ "$(id -u)" -eq 0 ] || skip "slurmd runs as root only"
    PATH=$PATH:/usr/sbin
    s=$dir/slurm host=$(hostname -s)
    trap slurm_down EXIT
    exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- # files of the caller, a lock for one, that daemons would keep open
    mkdir -p "$s/state" "$s/spool" "$s/munge"
    chmod 755 "$dir" "$s"
    dd if=/dev/urandom of="$s/munge/key" bs=1024 count=1 2>/dev/null
    chmod 400 "$s/munge/key"
    chmod 711 "$s/munge"
    slurm_watch
    munged --force --key-file="$s/munge/key" --socket="$s/munge/socket" --pid-file="$s/munged.pid" \
        --log-file="$s/munge/log" --seed-file="$s/munge/seed" 2>"$s/munge/err" ||
        skip "munged does not start: $(cat "$s/munge/err")"
    port=$((20000 + $$ % 20000))
    cat >"$s/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=cred_expire=5,socket=$s/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$s/state
SlurmdSpoolDir=$s/spool
SlurmctldPidFile=$s/slurmctld.pid
SlurmdPidFile=$s/slurmd.pid
SlurmctldLogFile=$s/slurmctld.log
SlurmdLogFile=$s/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=1
KillWait=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=${1:-4} RealMemory=100000 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
    export SLURM_CONF="$s/slurm.conf"
    slurmctld -f "$SLURM_CONF" && slurmd -f "$SLURM_CONF" || skip "SLURM does not start"
    tries=0
    until sinfo -h -o %T 2>/dev/null | grep -q idle; do
        tries=$((tries + 1))
        [ $tries -lt 80 ] || skip "SLURM's node is not idle after 20 s: $(tail -3 "$s/slurmd.log")"
        sleep 0.25
    done
}

# job_done JOB SECONDS: waits until all of it has left the queue
job_done() {
    waited=0
    while squeue -h -j "$1" 2>/dev/null | grep -q .; do
        waited=$((waited + 1))
        [ $waited -lt $((4 * $2)) ] || {
            squeue
            fail "job $1 is not done after $2 s"
            return
        }
        sleep 0.25
    done
}
