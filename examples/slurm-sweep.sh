#!/usr/bin/env bash
# A sweep as a Slurm job array: each task runs its part of the variants, all in one folder.
#
#     sbatch --array=1-8 examples/slurm-sweep.sh dough-rolling /scratch/dough \
#         --vary materials.dough.yield_stress=500,1000,2000,4000 --no-pictures
#
# The arguments are the scene, the folder, and options of `pliant sweep`. A minute before the time
# limit Slurm sends SIGTERM: the runs write their checkpoints, the command ends with exit code 3, and
# the task is queued again. Tasks that are preempted or whose node fails resume as well. When all
# have ended, `sweep.csv` and `sweep.parquet` in the folder have every variant. The file system of
# the folder must have locks (flock) that hold on all nodes.
#
# PLIANT names the command where it is not in the path.
#SBATCH --job-name=pliant-sweep
#SBATCH --cpus-per-task=2
#SBATCH --time=01:00:00
#SBATCH --signal=TERM@60
#SBATCH --requeue
#SBATCH --open-mode=append
set -u
if [ $# -lt 2 ] || [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
    echo "usage: sbatch --array=1-N $0 SCENE FOLDER [OPTIONS OF pliant sweep]" >&2
    exit 2
fi
scene=$1
folder=$2
shift 2
# Parts are numbered from 1, whatever the array's numbers are.
part=$(((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN) / ${SLURM_ARRAY_TASK_STEP:-1} + 1))
# srun, so that the command gets the signals itself.
srun "${PLIANT:-pliant}" sweep "$scene" --out "$folder" \
    --shard "$part/$SLURM_ARRAY_TASK_COUNT" --threads "${SLURM_CPUS_PER_TASK:-1}" "$@"
code=$?
if [ $code -eq 3 ]; then
    echo "stopped at the time limit; queued again"
    exec scontrol requeue "$SLURM_JOB_ID"
fi
exit $code
