"""A vector environment whose workers are Ray actors; see :class:`RayVectorEnv`."""

from __future__ import annotations

import gymnasium
import numpy as np
import ray
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from ray import exceptions

import pliant
from pliant.envs.vector import JoinedVectorEnv


class _Worker:
    """Some of the environments, in a process of their own."""

    def __init__(self, make, count):
        from pliant.envs import Task

        self.envs = [make() for _ in range(count)]
        self.ended = [False] * count
        # Worlds of tasks are stepped at once on the threads of the worker.
        self.tasks = all(isinstance(env, Task) for env in self.envs)

    def about(self):
        first = self.envs[0]
        return first.action_space, first.observation_space, first.render_mode

    def reset(self, seeds, options):
        self.ended = [False] * len(self.envs)
        return [env.reset(seed=seed, options=options) for env, seed in zip(self.envs, seeds, strict=True)]

    def step(self, actions, threads):
        going = [k for k, ended in enumerate(self.ended) if not ended]
        results = [None] * len(self.envs)
        if self.tasks and going:
            for k in going:
                self.envs[k].prepare(actions[k])
            worlds = [self.envs[k].world for k in going]
            failures = pliant.step_worlds(worlds, self.envs[0].steps_per_action, threads=threads)
            for k, failure in zip(going, failures, strict=True):
                results[k] = self.envs[k].finish(failure)
        else:
            for k in going:
                results[k] = self.envs[k].step(actions[k])
        for k, env in enumerate(self.envs):
            if self.ended[k]:
                observation, info = env.reset()
                results[k] = (observation, 0.0, False, False, info)
            self.ended[k] = bool(results[k][2] or results[k][3])
        return results

    def render(self):
        return [env.render() for env in self.envs]

    def close(self):
        for env in self.envs:
            env.close()


class RayVectorEnv(JoinedVectorEnv):
    """``num_envs`` environments of one kind on the machines of a Ray cluster.

    Environment k has the same bits as alone with the same seed. Episodes that ended are reset by the
    next step (``AutoresetMode.NEXT_STEP``). Where a worker is killed, a new one takes its place: its
    environments end their episodes as truncated, with the last observation, no reward and
    ``info["failure"]``, and the next step resets them, with seeds that follow from the first ones.

    Parameters
    ----------
    make : callable or str
        Makes one environment (best a :class:`pliant.envs.Task`), or a name of ``gymnasium.make``.
    num_envs : int
        How many.
    workers : int, optional
        Ray actors, each with about the same number of environments; None for one for each of the
        cluster's cores.
    threads : int
        Threads, and cores that Ray counts, of a worker.
    retries : int
        How many workers may be killed before the next step raises :class:`pliant.Error`.
    resources : dict
        Options of the actors, such as ``{"num_gpus": 1}``.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": ["rgb_array"]}

    def __init__(self, make, num_envs, *, workers=None, threads=1, retries=3, resources=None):
        if num_envs < 1:
            raise pliant.ValueError(f"num_envs: {num_envs} environments; it must be 1 or more")
        if not ray.is_initialized():
            ray.init(log_to_driver=False)
        workers = workers or int(ray.cluster_resources().get("CPU", 1)) // threads
        workers = max(1, min(workers, num_envs))
        self._make = (lambda: gymnasium.make(make).unwrapped) if isinstance(make, str) else make
        self._options = {"num_cpus": threads, **(resources or {})}
        self._spans = [range(k * num_envs // workers, (k + 1) * num_envs // workers) for k in range(workers)]
        self._workers = [self._begin(span) for span in self._spans]
        self.num_envs, self.threads, self._left, self.kills = num_envs, threads, retries, 0
        action_space, observation_space, self.render_mode = ray.get(self._workers[0].about.remote())
        self.single_action_space, self.single_observation_space = action_space, observation_space
        self.action_space = batch_space(action_space, num_envs)
        self.observation_space = batch_space(observation_space, num_envs)
        self._seeds = [None] * num_envs
        self._last = [None] * num_envs
        self._fresh = [False] * workers

    def _begin(self, span):
        return ray.remote(_Worker).options(max_restarts=0, **self._options).remote(self._make, len(span))

    def _replace(self, worker):
        """A new worker for one that is gone."""
        self.kills += 1
        if self._left < 1:
            raise pliant.Error(f"{self.kills} workers were killed: no more are begun; the last had environments "
                               f"{self._spans[worker].start} to {self._spans[worker].stop - 1}")  # fmt: skip
        self._left -= 1
        self._workers[worker] = self._begin(self._spans[worker])

    def _reset_call(self, worker, options=None):
        return self._workers[worker].reset.remote([self._seeds[k] for k in self._spans[worker]], options)

    def _reset_result(self, worker, call, options=None):
        while True:
            try:
                return ray.get(call)
            except exceptions.RayActorError:
                self._replace(worker)
                call = self._reset_call(worker, options)

    def reset(self, *, seed=None, options=None):
        if seed is None or isinstance(seed, (int, np.integer)):
            seed = [None if seed is None else int(seed) + k for k in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise pliant.ValueError(f"seed: {len(seed)} seeds for {self.num_envs} environments")
        self._seeds = list(seed)
        calls = [self._reset_call(worker, options) for worker in range(len(self._workers))]
        results = [one for w, call in enumerate(calls) for one in self._reset_result(w, call, options)]
        self._fresh = [False] * len(self._workers)
        self._last = [observation for observation, _ in results]
        return self._joined(self._last), self._infos([info for _, info in results])

    def step(self, actions):
        actions = np.asarray(actions)
        if actions.shape != self.action_space.shape:
            raise pliant.ValueError(f"actions: their shape is {actions.shape}; it must be {self.action_space.shape}")
        calls = []
        for worker, span in enumerate(self._spans):
            if self._fresh[worker]:
                calls.append(self._reset_call(worker))
            else:
                calls.append(self._workers[worker].step.remote(actions[span.start : span.stop], self.threads))
        results = []
        for worker, (span, call) in enumerate(zip(self._spans, calls, strict=True)):
            if self._fresh[worker]:
                found = self._reset_result(worker, call)
                self._fresh[worker] = False
                results += [(observation, 0.0, False, False, info) for observation, info in found]
                continue
            try:
                results += ray.get(call)
            except exceptions.RayActorError as error:
                self._replace(worker)
                self._fresh[worker] = True
                for k in span:
                    if self._seeds[k] is not None:
                        new = np.random.SeedSequence([self._seeds[k], self.kills]).generate_state(1)
                        self._seeds[k] = int(new[0])
                info = {"failure": f"the worker was killed: {str(error).strip().splitlines()[0]}"}
                results += [(self._last[k], 0.0, False, True, dict(info)) for k in span]
        observations, rewards, terminated, truncated, infos = zip(*results, strict=True)
        self._last = list(observations)
        return (
            self._joined(observations),
            np.array(rewards, dtype=np.float64),
            np.array(terminated, dtype=bool),
            np.array(truncated, dtype=bool),
            self._infos(infos),
        )

    def render(self):
        return tuple(picture for worker in self._workers for picture in ray.get(worker.render.remote()))

    def close_extras(self, **kwargs):
        for worker in self._workers:
            ray.kill(worker)
