"""Sweeps, data sets and vector environments on Ray.

    import pliant.ray, pliant.shards

    variants = pliant.shards.variants("dough-rolling", {"materials.dough.yield_stress": [500, 1000]})
    sweep = pliant.ray.sweep("sweeps/dough", variants)
    data = pliant.ray.gather("sweeps/dough", "sweeps/dough/data", variants)

Runs, names and tables are those of :mod:`pliant.shards`: a sweep that Ray began is continued by a
job array or by a single process, and the other way round. The folder must be the same on all
machines. Needs the package ``ray``, which ``import pliant`` does not.
"""

from __future__ import annotations

import os
import time
import warnings as python_warnings
from collections import Counter, deque
from dataclasses import dataclass

import ray
from ray import exceptions

import pliant

from . import shards
from .shards import RETRIES, Result

#: The process of a task is gone: killed, out of memory, or its machine is.
GONE = (
    exceptions.WorkerCrashedError,
    exceptions.NodeDiedError,
    exceptions.LocalRayletDiedError,
    exceptions.OutOfMemoryError,
    exceptions.ObjectLostError,
)
#: How long a task waits for a run that another process holds [s].
WAIT = 30.0
#: How long runs have for their checkpoints after an interrupt [s].
GRACE = 60.0


@dataclass
class Sweep:
    """What became of a sweep: a :class:`pliant.shards.Result` for each variant, in their order.

    ``kills`` and ``retries`` count processes that were gone and tries that were begun anew in this
    call; ``wall_s`` is its wall time [s], without the start of Ray.
    """

    results: list[Result]
    kills: int
    retries: int
    wall_s: float

    @property
    def completed(self):
        return all(result.state == "completed" for result in self.results)

    def __str__(self):
        return shards.summary(self.results)


def _start():
    if not ray.is_initialized():
        ray.init(log_to_driver=False)


def _run(folder, variant, options):
    return shards.run_variant(folder, variant, wait=WAIT, **options)


def _gather(folder, out, variants, shard, replace):
    return str(shards.gather(folder, out, variants, shard, replace=replace))


def sweep(
    folder,
    variants=None,
    *,
    retries=RETRIES,
    threads=1,
    backend="cpu",
    pictures=False,
    again=False,
    resources=None,
    at_once=None,
    progress=None,
):
    """Runs variants as Ray tasks, each into its run directory in ``folder``, and writes the table.

    Parameters
    ----------
    folder : path
        On a file system that all machines share, with locks (``flock``) that hold on all of them.
    variants : list of pliant.shards.Variant
        None for those of the plan in the folder.
    retries : int
        Tries of a variant whose process is killed, beyond the first; one that got to a newer
        checkpoint than the try before does not count. Then it is recorded as failed.
    threads, backend, pictures, again
        As for :func:`pliant.shards.run_variant`.
    resources : dict
        Options of the Ray task, such as ``{"num_gpus": 1}``; ``num_cpus`` is ``threads`` without one.
    at_once : int
        Tasks that Ray has at a time; None for four for each of the cluster's cores.
    progress : callable
        Called with each result and the number of results so far.

    Returns
    -------
    Sweep
        An interrupt from the keyboard ends the runs with checkpoints, writes the table, and goes on.
    """
    _start()
    folder = os.path.abspath(folder)
    variants = shards.read_plan(folder) if variants is None else shards.distinct(variants)
    shards.plan(folder, variants)
    task = ray.remote(_run).options(max_retries=0, **{"num_cpus": threads, **(resources or {})})
    options = {"retries": retries, "threads": threads, "backend": backend, "pictures": pictures, "again": again}
    at_once = at_once or max(4 * int(ray.cluster_resources().get("CPU", 1)), 1)
    waiting, going, results, held = deque(variants), {}, {}, Counter()
    kills = tries = 0
    began = time.perf_counter()

    def ended(result):
        results[result.name] = result
        if progress is not None:
            progress(result, len(results))

    try:
        while waiting or going:
            while waiting and len(going) < at_once:
                variant = waiting.popleft()
                going[task.remote(folder, variant, options)] = variant
            ray.wait(list(going), num_returns=1)
            for ref in ray.wait(list(going), num_returns=len(going), timeout=0)[0]:
                variant = going.pop(ref)
                try:
                    result = ray.get(ref)
                except GONE:
                    kills += 1
                    if shards.count_kill(folder, variant.name) > retries:
                        shards.give_up(folder, variant.name, shards.killed(retries))
                        ended(shards.look(folder, variant))
                    else:
                        tries += 1
                        waiting.append(variant)
                    continue
                except exceptions.RayError as error:
                    # The task itself is at fault: no Pliant on that machine, no machine for it.
                    ended(Result(variant, "failed", f"the task could not run: {str(error).strip().splitlines()[-1]}"))
                    continue
                held[result.name] += result.state == "running"
                if result.state == "running" and held[result.name] <= retries:
                    waiting.append(variant)
                else:
                    ended(result)
    except KeyboardInterrupt:
        for ref in going:
            ray.cancel(ref, force=False)
        ray.wait(list(going), num_returns=len(going), timeout=GRACE) if going else None
        shards.merge(folder, variants, results=list(results.values()))
        raise
    wall_s = time.perf_counter() - began
    found = shards.merge(folder, variants, results=list(results.values()))
    doubtful = [result for result in found if result.manifest and result.manifest["warnings"]]
    if doubtful:
        first = doubtful[0]
        text = f"{len(doubtful)} runs have warnings; {first.name}: {first.manifest['warnings'][0]}"
        python_warnings.warn(text, RuntimeWarning, stacklevel=2)
    return Sweep(found, kills, tries, wall_s)


def gather(folder, out, variants=None, *, parts=None, replace=False, retries=RETRIES):
    """Gathers the completed runs of a sweep to one data set, its parts as Ray tasks.

    ``parts`` is their number, None for one for each of the cluster's cores. Returns a
    :class:`pliant.dataset.DataSet` that was checked: each variant and each frame is in it once.
    """
    from .dataset import DataSet

    _start()
    folder, out = os.path.abspath(folder), os.path.abspath(out)
    variants = shards.read_plan(folder) if variants is None else shards.distinct(variants)
    parts = parts or max(1, min(len(variants), int(ray.cluster_resources().get("CPU", 1))))
    task = ray.remote(_gather).options(max_retries=retries, num_cpus=1)
    given = ray.put(variants)
    ray.get([task.remote(folder, out, given, shards.Shard(k + 1, parts), replace) for k in range(parts)])
    data = DataSet(out)
    if problems := data.problems():
        raise pliant.RunError(f"{out}: " + "; ".join(problems))
    return data


def __getattr__(name):
    # Gymnasium is needed for environments alone.
    if name == "RayVectorEnv":
        from ._ray_envs import RayVectorEnv

        return RayVectorEnv
    raise AttributeError(f"module 'pliant.ray' has no attribute '{name}'")
