"""A scripted solution of the task with an arm."""

import numpy as np

from ..arm import SPEED


def lift_cube(env):
    """Above the cube, down around it, close, up."""
    x, y, _ = env.cube()
    yield from go(env, (x, y, 0.12), False)
    yield from go(env, (x, y, 0.03), False, pace=0.6)
    for _ in range(25):
        yield np.array([0.0, 0.0, 0.0, 1.0], np.float32)
    yield from go(env, (x, y, 0.25), True, pace=0.6)
    while True:
        yield np.array([0.0, 0.0, 0.0, 1.0], np.float32)


def go(env, place, hold, pace=1.0, limit=100):
    """Actions that bring the tool to a place [m]."""
    for _ in range(limit):
        way = np.clip(place, env.low, env.high) - env.goal
        if np.linalg.norm(way) < 1e-3 and np.linalg.norm(env.tool() - env.goal) < 6e-3:
            break
        velocity = way / (SPEED * env.steps_per_action * env.world.dt)
        velocity *= min(1.0, pace / max(np.linalg.norm(velocity), 1e-9))
        yield np.array([*velocity, 1.0 if hold else -1.0], np.float32)
