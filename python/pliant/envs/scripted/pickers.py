"""Pickers that go to places: what the scripted solutions with pickers are made of."""

import numpy as np

from ..pickers import SPEED


def go(env, places, hold, *, speed=0.8, tolerance=0.004, limit=40):
    """Actions that bring the pickers to places (pickers, 3) [m] on lines, all at the same time.

    ``hold`` says of each picker whether it holds; ``speed`` is that of the one with the longest way
    [m/s]; at most ``limit`` actions. It ends where what is held stops them.
    """
    places = np.clip(np.asarray(places, float), env.pickers.low, env.pickers.high)
    time = env.steps_per_action * env.world.dt
    for _ in range(limit):
        way = places - env.pickers.places
        longest = np.linalg.norm(way, axis=1).max()
        if longest < tolerance:
            return
        way *= min(1.0, speed * time / longest)
        before = env.pickers.places
        yield action(way / (SPEED * time), hold)
        if np.linalg.norm(env.pickers.places - before, axis=1).max() < 0.1 * tolerance:
            return


def action(velocities, hold):
    """An action of velocities (pickers, 3) as a fraction of the greatest, and what holds."""
    held = np.where(np.broadcast_to(hold, len(velocities)), 1.0, -1.0)
    return np.concatenate([velocities, held[:, None]], axis=1).ravel().astype(np.float32)


def wait(env, count, hold):
    """Actions that leave the pickers where they are."""
    for _ in range(count):
        yield action(np.zeros((len(env.pickers.held), 3)), hold)


def play(env, script, *, seed=None):
    """An episode of a task with a scripted solution; what the script leaves of it nobody acts in.

    Returns
    -------
    list of dict
        The ``info`` of :meth:`reset` and of each step.
    """
    _, info = env.reset(seed=seed)
    infos = [info]
    actions, over = script(env), False
    while not over:
        chosen = next(actions, None)
        if chosen is None:
            chosen = np.zeros(env.action_size, np.float32)
        _, _, terminated, truncated, info = env.step(chosen)
        infos.append(info)
        over = terminated or truncated
    return infos
