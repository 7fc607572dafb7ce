"""Scripted solutions of the tasks on grains."""

import numpy as np


def lead(env, poses, pace=1.0, limit=60):
    """Actions that take the vessel to poses (x, z [m], pitch [rad]), one after the other, on lines,
    at a fraction of the greatest velocity."""
    time = env.steps_per_action * env.world.dt
    reach = pace * time * np.array([env.speed, env.speed, env.rate])
    for pose in poses:
        for _ in range(limit):
            way = np.clip(pose, env.low, env.high) - env.pose
            if (abs(way) < 1e-3).all():
                break
            yield (way / max(1.0, (abs(way) / reach).max()) / reach * pace).astype(np.float32)


def scoop_grains(env):
    """The edge is stuck into the grains and drawn forwards while the scoop turns up below them."""

    def at(x, z, angle):
        half = env.hollow[0] / 2
        return x - half * np.cos(angle), z + half * np.sin(angle), angle

    yield from lead(env, [at(-0.06, 0.11, 0.9), at(-0.06, 0.035, 0.9)])
    turns = [at(-0.02, 0.03, 0.6), at(0.04, 0.03, 0.2), at(0.08, 0.045, -0.2), at(0.09, 0.075, -0.45)]
    yield from lead(env, turns, 0.4)
    yield from lead(env, [(0.0, 0.22, -0.45)], 0.5)


def pour_grains(env):
    """Up, until the lip is above the other cup's edge, and over, slowly."""
    half, reach = env.hollow[0] / 2, env.hollow[2]
    yield from lead(env, [(0.0, 0.14, 0.0)])
    for angle in np.linspace(0.0, 2.4, 40)[1:]:
        # The lip, at (36 mm, 100 mm) in the cup's frame, stays above the other cup's middle.
        along = half * np.cos(angle) + reach * np.sin(angle)
        up = reach * np.cos(angle) - half * np.sin(angle)
        yield from lead(env, [(max(0.0, env.target - 0.02 - along), max(0.14, 0.125 - up), angle)])
    for _ in range(5):
        yield np.array([0.0, 0.0, 0.0], np.float32)
