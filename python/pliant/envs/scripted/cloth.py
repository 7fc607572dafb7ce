"""Scripted solutions of the tasks on a sheet. They read the places of all vertices."""

import numpy as np

from .pickers import go, wait


def fold_cloth(env):
    """The two left corners are grabbed and laid onto the right ones on half a circle."""
    yield from grab(env, [(0, 0), (0, -1)])
    yield from fold_over(env)


def fold_over(env):
    corners = env.vertices()[[0, 0], [0, -1]].copy()
    ends = env.lay[[-1, -1], [0, -1]]
    middle, radius = (corners + ends) / 2, (ends - corners) / 2
    for angle in np.linspace(0.0, np.pi, 13)[1:]:
        places = middle - radius * np.cos(angle)
        places[:, 2] = np.linalg.norm(radius, axis=1) * np.sin(angle) * 0.95 + 0.012
        yield from go(env, places, True, speed=0.7, tolerance=0.02)
    yield from go(env, ends + [0.004, 0.0, 0.012], True, speed=0.3)
    yield from wait(env, 3, True)
    yield from leave(env)


def leave(env):
    """Lets go and rises."""
    yield from wait(env, 1, False)
    yield from go(env, env.pickers.places + [0.0, 0.0, 0.15], False)


def grab(env, corners):
    """Brings the pickers to vertices (i, j) and holds them."""
    rows, columns = zip(*corners, strict=True)
    rows, columns = list(rows), list(columns)
    above = env.vertices()[rows, columns] + [0.0, 0.0, 0.08]
    yield from go(env, above, False, speed=1.0, tolerance=0.03)
    yield from go(env, env.vertices()[rows, columns], False)
    yield from wait(env, 1, True)


def spread(env, rounds=5):
    """Pairs of vertices on the rim are grabbed and drawn to where they belong: first those across the
    sheet from each other that are farthest from there."""
    nx, ny = env.parts[0], env.parts[1]
    pairs = [((0, 0), (nx, ny)), ((0, ny), (nx, 0)), ((0, ny // 2), (nx, ny // 2)), ((nx // 2, 0), (nx // 2, ny))]
    last = None
    for turn in range(rounds):
        off = [sum(np.linalg.norm(env.vertices()[v] - env.rest[v]) for v in pair) for pair in pairs]
        if last is not None:
            off[last] = 0.0
        if turn < 2:
            off[2:] = 0.0, 0.0
        last = int(np.argmax(off))
        yield from draw(env, pairs[last])


def draw(env, pair, height=0.06):
    """Two vertices (i, j) are lifted, drawn apart to where they belong, and let go there."""
    rows, columns = map(list, zip(*pair, strict=True))
    goal = env.rest[rows, columns]
    outwards = goal / np.linalg.norm(goal[:, :2], axis=1)[:, None] * [1.0, 1.0, 0.0]
    yield from grab(env, pair)
    yield from go(env, env.pickers.places + [0.0, 0.0, height], True, speed=0.8, tolerance=0.02)
    yield from go(env, goal + 0.01 * outwards + [0.0, 0.0, height], True, speed=0.5, tolerance=0.01)
    yield from go(env, goal + 0.01 * outwards + [0.0, 0.0, 0.004], True, speed=0.5, tolerance=0.01)
    yield from wait(env, 1, False)
    yield from go(env, env.pickers.places + [0.0, 0.0, 0.1], False, speed=1.0, tolerance=0.03)


def spread_cloth(env):
    yield from spread(env, 8)


def fold_crumpled_cloth(env):
    yield from spread(env, 4)
    yield from fold_cloth(env)
