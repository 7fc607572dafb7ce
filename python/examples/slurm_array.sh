#!/usr/bin/env bash
# A sweep of Python variants as a Slurm job array: each task runs its part, all in one folder.
#
#     python -c 'import pliant.shards as s; s.plan("/scratch/dough", s.variants("dough-rolling",
#         {"materials.dough.yield_stress": [500, 1000, 2000, 4000]}))'
#     job=$(sbatch --parsable --array=1-4 python/examples/slurm_array.sh /scratch/dough)
#     sbatch --dependency=afterany:$job --wrap "python -m pliant.shards merge /scratch/dough"
#
# The arguments are the folder with the plan and options of `python -m pliant.shards run`. A minute
# before the time limit Slurm sends SIGTERM: the run writes its checkpoint, the command ends with exit
# code 3, and the task is queued again. A task whose process was killed is queued again too; a variant
# that was killed too often without getting further is recorded, so this ends. The file system of the
# folder must have locks (flock) that hold on all nodes. A task whose node failed is queued again by
# Slurm itself.
#
# PYTHON names the interpreter where it is not `python`.
#SBATCH --job-name=pliant-shards
#SBATCH --cpus-per-task=1
#SBATCH --time=01:00:00
#SBATCH --signal=TERM@60
#SBATCH --requeue
#SBATCH --open-mode=append
set -u
if [ $# -lt 1 ] || [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
    echo "usage: sbatch --array=1-N $0 FOLDER [OPTIONS OF python -m pliant.shards run]" >&2
    exit 2
fi
folder=$1
shift
# srun, so that the command gets the signals itself.
srun "${PYTHON:-python}" -m pliant.shards run "$folder" --slurm --threads "${SLURM_CPUS_PER_TASK:-1}" "$@"
code=$?
if [ $code -eq 3 ] || [ $code -ge 128 ]; then
    echo "stopped or killed (exit code $code); queued again"
    exec scontrol requeue "$SLURM_JOB_ID"
fi
exit $code
