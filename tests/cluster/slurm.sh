#!/usr/bin/env bash
# Runs the scripts of docs/cluster with Slurm, as a user would: a controller and two nodes run on this machine, for this
# test alone. Needs no root.
#
#   tests/cluster/slurm.sh [PROGRAM]
#
# On Debian: apt-get install slurmctld slurmd slurm-client munge procps
set -euo pipefail
shopt -s extglob

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$(realpath "${1:-$root/target/release/torrance}")
for tool in "$program" slurmctld slurmd sbatch munged; do
    command -v "$tool" >/dev/null || { printf 'missing: %s\n' "$tool" >&2; exit 1; }
done

say() {
    printf '[%3d s] %s\n' "$SECONDS" "$*"
}

fail() {
    say "$@" >&2
    exit 1
}

work=$(mktemp -d)
daemons=()
declare -A nodes=()

# Kills processes that this script has started.
kill_all() {
    kill -KILL "$@" 2>/dev/null || true
    while kill -0 "$@" 2>/dev/null; do
        sleep 0.1
    done
}

# The power of a node fails: its daemon ends, and every job with the step that runs it and what it has started.
fail_node() {
    local script processes=("${nodes[$1]}")
    for script in $(pgrep -f "$work/spool/$1/"); do
        mapfile -t -O "${#processes[@]}" processes < <(ps -o ppid= -p "$script"; echo "$script"; pgrep -P "$script")
    done
    kill -KILL "${processes[@]// /}" 2>/dev/null || true
    kill_all "${nodes[$1]}"
}

stop() {
    local code=$? node
    trap - EXIT
    for node in "${!nodes[@]}"; do
        fail_node "$node"
    done
    kill_all "${daemons[@]}"
    if ((code != 0)); then
        tail -v -n 40 "$work"/log/* "$work"/user/*.log || true
    fi
    rm -rf "$work"
    ((code == 0)) || say 'FAILED'
    exit "$code"
}
trap stop EXIT
trap 'exit 1' INT TERM HUP
# So that it is cleared away even if nobody reads the log any more.
trap '' PIPE

# Waits until a command succeeds, for so many seconds at most.
await() {
    local limit=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < limit)) || fail "waited in vain: $*"
        sleep 0.2
    done
}

# The cluster.

# One that this may run in has nothing to do with it.
unset "${!SLURM_@}" "${!SBATCH_@}"
# munged insists that anyone can reach its socket.
chmod 711 "$work"
mkdir "$work"/{munge,state,spool,log,user}
dd if=/dev/urandom of="$work/munge/key" bs=128 count=1 status=none
chmod 400 "$work/munge/key"
port=$((20000 + RANDOM % 10000))
cat >"$work/slurm.conf" <<END
ClusterName=test
SlurmctldHost=localhost
SlurmctldPort=$port
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
# A task that is queued again waits until its credential has expired.
AuthInfo=socket=$work/munge/socket,cred_expire=5
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool/%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmctldLogFile=$work/log/slurmctld
SlurmdLogFile=$work/log/slurmd-%n
JobCompType=jobcomp/filetxt
JobCompLoc=$work/jobs
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
# How soon a node that does not answer is down.
SlurmdTimeout=5
ReturnToService=2
# As many CPUs as the scripts ask for, whatever this machine has; tasks go to the node that has fewer.
SlurmdParameters=config_overrides
NodeName=one NodeHostname=localhost Port=$((port + 1)) CPUs=8
NodeName=two NodeHostname=localhost Port=$((port + 2)) CPUs=8
PartitionName=all Nodes=one,two Default=YES LLN=YES
END
export SLURM_CONF=$work/slurm.conf

start_node() {
    slurmd -D -N "$1" >/dev/null 2>&1 &
    nodes[$1]=$!
    disown
}

are_idle() {
    [[ $(sinfo -h -t idle -o %N 2>/dev/null) == one,two ]]
}

munged --foreground --key-file="$work/munge/key" --socket="$work/munge/socket" --pid-file="$work/munge/pid" \
    --log-file="$work/log/munged" --seed-file="$work/munge/seed" >/dev/null 2>&1 &
daemons+=($!)
disown
await 10 test -S "$work/munge/socket"
slurmctld -D -c >/dev/null 2>&1 &
daemons+=($!)
disown
start_node one
start_node two
await 20 are_idle
say "$(sinfo -V), nodes: $(sinfo -h -o '%N %T, %c CPUs')"

# A user, with the program in the path.

PATH=$(dirname "$program"):$PATH
export PATH
cd "$work/user"
scripts=$root/docs/cluster
scene=$root/scenes/glass.toml
options=(--size 512x512 --checkpoint 1)

has_ended() {
    [[ -z $(squeue -h -j "$1") ]]
}

# Waits for a job, or for all tasks of one, which have to succeed.
completed() {
    local states
    await 90 has_ended "$1"
    states=$(scontrol -o show job "$1" | grep -o 'JobState=[A-Z_]*' | sort | uniq -c | tr -s ' \n' ' ')
    say "job $1:$states"
    [[ $states =~ ^\ [0-9]+\ JobState=COMPLETED\ $ ]] || fail "job $1 did not complete"
}

was_requeued() {
    scontrol show job "$1" | grep -q Restarts=1
}

all_ended() {
    [[ -z $(squeue -h) ]]
}

# Whether two images are the same to the last bit, with their standard errors.
same() {
    local layer
    for layer in '' --layer=stderr; do
        [[ $(torrance compare "$1" "$2" $layer) == *'All values that were compared are equal.'* ]] || return 1
    done
}

say 'an array of 2 tasks: one meets its time limit, and the node of the other fails'
job=$(sbatch --parsable --cpus-per-task=1 --array=0-1 "$scripts/slurm-samples.sbatch" \
    "$scene" 896 failing "${options[@]}")
await 20 test -e failing/shard-0.exr.checkpoint
await 20 test -e failing/shard-1.exr.checkpoint
on_two=$(squeue -h -w two -o %K)
fail_node two
say "node two is without power, and with it task $on_two"
scancel --batch --signal=USR1 "${job}_$((1 - on_two))"
say 'meanwhile, all samples in one render, to compare with'
torrance render "$scene" --spp 896 "${options[@]}" -o single.exr --quiet
await 60 was_requeued "${job}_$on_two"
say "node two is $(scontrol show node two | grep -o 'State=\S*'), and task $on_two queued again"
start_node two
say 'node two is back'
completed "$job"
for task in 0 1; do
    sed "s/^/    task $task: /" "torrance-${job}_$task.log"
    was_requeued "${job}_$task" || fail "task $task was not queued again"
    grep -q 'going on with' "torrance-${job}_$task.log" || fail "task $task did not go on from its checkpoint"
done
torrance merge failing/shard-*.exr -o failing.exr
same failing.exr single.exr || fail 'the image is not the same after failures'

say 'an array of 7 tasks, and a job that merges'
job=$(sbatch --parsable --cpus-per-task=1 --array=0-6 "$scripts/slurm-samples.sbatch" \
    "$scene" 896 shards "${options[@]}")
# shellcheck disable=SC2016 # The node expands it.
merge=$(sbatch --parsable --dependency="afterok:$job" --wrap 'torrance merge $(seq -f shards/shard-%g.exr 0 6) -o image.exr')
completed "$job"
completed "$merge"
cat "slurm-$merge.out"
same image.exr single.exr || fail 'the image of the array is not that of one render'

say 'control: without the fourth of 7 shards'
torrance merge shards/shard-[!3].exr -o gap.exr --json >gap.json
grep -A 2 '"gaps"' gap.json
grep -q '384\.\.512' gap.json || fail 'the gap is not reported'
! same gap.exr single.exr || fail 'an image without a shard passes for the whole'

say 'rounds until the relative standard error is 3.5 %, but 128 samples at most'
sbatch --output=first.log "$scripts/slurm-noise.sbatch" "$scene" 0.035 128 2 noise "${options[@]}"
await 60 all_ended
grep -h 'too noisy' torrance-+([0-9]).log || fail 'the limit was not kept'
say 'the same with 2048 samples at most'
sbatch --output=second.log "$scripts/slurm-noise.sbatch" "$scene" 0.035 2048 2 noise "${options[@]}"
await 60 all_ended
rounds=$(cat {first,second}.log torrance-+([0-9]).log | grep 'relative standard error' | sort -nu)
printf '%s\n' "$rounds"
(($(wc -l <<<"$rounds") >= 2)) || fail 'there was no second round'
read -r samples _ _ _ _ _ _ error _ <<<"${rounds##*$'\n'}"
awk -v error="${error%,}" 'BEGIN { exit !(error <= 0.035) }' || fail 'the noise was not reached'
torrance render "$scene" --spp "$samples" "${options[@]}" -o rounds.exr --quiet
same noise/image.exr rounds.exr || fail 'the image of all rounds is not that of one render'

say 'what Slurm has run:'
awk '{
    split("", job)
    for (i = 1; i <= NF; i++) { key = $i; sub(/=.*/, "", key); sub(/^[^=]*=/, "", $i); job[key] = $i }
    sub(/.*T/, "", job["StartTime"]); sub(/.*T/, "", job["EndTime"])
    task = "ArrayTaskId" in job ? job["ArrayJobId"] "_" job["ArrayTaskId"] : job["JobId"]
    printf "    %s to %s  node %s  job %-5s %s\n", job["StartTime"], job["EndTime"], job["NodeList"], task, job["JobState"]
}' "$work/jobs"
say 'passed'
