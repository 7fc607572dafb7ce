"""Scripted solutions of the tasks on a T-shirt and a bag."""

import numpy as np

from ..pickers import SPEED
from .pickers import action, go, wait


def fold_shirt(env):
    """Hem and cuff of the left side are grabbed and laid onto those of the right."""
    left, right = env.key[[0, 2]], env.key[[6, 8]]
    yield from go(env, env.pickers.vertices()[left] + [0.0, 0.0, 0.06], False, speed=1.0, tolerance=0.02)
    yield from go(env, env.pickers.vertices()[left], False)
    yield from wait(env, 1, True)
    start, end = env.pickers.places, env.lay[right] + [0.012, 0.0, 0.0]
    middle, radius = (start + end) / 2, (end - start) / 2
    for angle in np.linspace(0.0, np.pi, 13)[1:]:
        places = middle - radius * np.cos(angle)
        places[:, 2] = np.linalg.norm(radius, axis=1) * np.sin(angle) + 0.02 + 0.03 * angle / np.pi
        yield from go(env, places, True, speed=0.6, tolerance=0.02)
    yield from wait(env, 3, True)
    yield from wait(env, 1, False)
    yield from go(env, env.pickers.places + [0.0, 0.0, 0.12], False)


def bag_box(env):
    """The corners are grabbed, gathered above the box, and carried until the box is at the goal."""
    yield from go(env, env.pickers.vertices()[env.key[[0, 2, 6, 8]]], False)
    yield from wait(env, 1, True)
    corners = env.pickers.places
    x, y, _ = env.box.position
    for gather, height in ((0.75, 0.12), (0.55, 0.2), (0.45, 0.26)):
        places = np.array([x, y, 0.0]) + gather * (corners - [x, y, 0.0]) * [1.0, 1.0, 0.0] + [0.0, 0.0, height]
        yield from go(env, places, True, speed=0.5, tolerance=0.02)
    while True:
        way = env.goal - env.box.position
        step = 0.25 * way * min(1.0, 0.06 / max(np.linalg.norm(way), 1e-9))
        yield from wait(env, 1, True) if np.linalg.norm(way) < 0.01 else move(env, step)


def move(env, way):
    """One action that moves all pickers by a way [m], holding."""
    velocity = way / (SPEED * env.steps_per_action * env.world.dt)
    yield action(np.tile(velocity, (len(env.pickers.held), 1)), True)
