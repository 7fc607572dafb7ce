"""A scripted solution of rolling dough out."""

import numpy as np

from ..rolling import PIN


def roll_dough(env, heights=(0.036, 0.022, 0.015, 0.0125)):
    """Passes across the dough in turned directions, each time lower."""
    for turn, height in enumerate(heights):
        for part in range(2):
            yaw = (2 * turn + part) * 0.4 * np.pi % np.pi
            across = np.array([np.cos(yaw), np.sin(yaw)])
            reach = min(0.05 + 0.01 * turn, 0.08)
            # Pressed down in the middle and rolled outwards to either side.
            for side in (1, -1):
                yield from go(env, (0.0, 0.0), height + PIN + 0.015, yaw)
                yield from go(env, (0.0, 0.0), height + PIN, yaw, 0.8)
                yield from go(env, side * reach * across, height + PIN, yaw, 0.8)


def go(env, place, height, yaw, pace=1.0, limit=30):
    """Actions that bring the pin to a place [m], height [m] and yaw [rad] on a line."""
    time = env.steps_per_action * env.world.dt
    reach = pace * time * np.array([env.speed] * 3 + [env.rate])
    goal = np.clip([*place, height], env.low, env.high)
    for _ in range(limit):
        turn = (yaw - env.yaw + np.pi / 2) % np.pi - np.pi / 2
        way = np.append(goal - env.place, turn)
        if (abs(way) < 2e-3).all():
            break
        yield (way / max(1.0, (abs(way) / reach).max()) / reach * pace).astype(np.float32)
