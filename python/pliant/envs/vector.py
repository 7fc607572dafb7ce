"""Many environments of one task, whose worlds are stepped at once on threads."""

from __future__ import annotations

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array

import pliant


class JoinedVectorEnv(VectorEnv):
    """What environments that are made one by one need to be seen as many."""

    def _joined(self, observations):
        space = self.single_observation_space
        return concatenate(space, observations, create_empty_array(space, self.num_envs))

    def _infos(self, infos):
        joined = {}
        for k, info in enumerate(infos):
            joined = self._add_info(joined, info, k)
        return joined


class WorldsVectorEnv(JoinedVectorEnv):
    """``num_envs`` environments of one kind, each with a world of its own.

    A step takes each world through its steps on one thread, as many worlds at once as there are
    threads; environment k takes the same steps, with the same bits, as alone. Episodes that ended
    are reset by the next step, as Gymnasium's ``AutoresetMode.NEXT_STEP`` says.

    Parameters
    ----------
    make : callable
        Makes one environment (a :class:`pliant.envs.Task`).
    num_envs : int
        How many.
    threads : int, optional
        Threads; none for all of the machine's.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": ["rgb_array"]}

    def __init__(self, make, num_envs, *, threads=None):
        if num_envs < 1:
            raise pliant.ValueError(f"num_envs: {num_envs} environments; it must be 1 or more")
        self.envs = [make() for _ in range(num_envs)]
        first = self.envs[0]
        self.num_envs, self.threads = num_envs, threads
        self.render_mode = first.render_mode
        self.single_action_space, self.single_observation_space = first.action_space, first.observation_space
        self.action_space = batch_space(first.action_space, num_envs)
        self.observation_space = batch_space(first.observation_space, num_envs)
        self._ended = np.zeros(num_envs, dtype=bool)

    def reset(self, *, seed=None, options=None):
        seeds = seed if isinstance(seed, (list, tuple)) else [None if seed is None else seed + k for k in range(self.num_envs)]
        if len(seeds) != self.num_envs:
            raise pliant.ValueError(f"seed: {len(seeds)} seeds for {self.num_envs} environments")
        results = [env.reset(seed=one, options=options) for env, one in zip(self.envs, seeds, strict=True)]
        self._ended[:] = False
        return self._joined([o for o, _ in results]), self._infos([info for _, info in results])

    def step(self, actions):
        actions = np.asarray(actions)
        if actions.shape != self.action_space.shape:
            raise pliant.ValueError(f"actions: their shape is {actions.shape}; it must be {self.action_space.shape}")
        going = [k for k in range(self.num_envs) if not self._ended[k]]
        for k in going:
            self.envs[k].prepare(actions[k])
        failures = [None] * self.num_envs
        if going:
            steps = self.envs[0].steps_per_action
            worlds = [self.envs[k].world for k in going]
            for k, failure in zip(going, pliant.step_worlds(worlds, steps, threads=self.threads), strict=True):
                failures[k] = failure
        results = []
        for k, env in enumerate(self.envs):
            if self._ended[k]:
                observation, info = env.reset()
                results.append((observation, 0.0, False, False, info))
            else:
                results.append(env.finish(failures[k]))
        observations, rewards, terminated, truncated, infos = zip(*results, strict=True)
        terminated, truncated = np.array(terminated, dtype=bool), np.array(truncated, dtype=bool)
        self._ended = terminated | truncated
        return self._joined(observations), np.array(rewards), terminated, truncated, self._infos(infos)

    def render(self):
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **kwargs):
        for env in self.envs:
            env.close()
