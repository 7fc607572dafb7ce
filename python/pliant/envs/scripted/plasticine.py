"""Scripted and planned solutions of the tasks on plasticine: each yields the actions of an episode.

They read the world and the goal. ``chosen`` plans: it tries candidates on branches of the world and
takes the one with the best score at the end of the episode.
"""

from __future__ import annotations

import copy
import itertools

import numpy as np

from ..plasticine._dough import UNIT


def go(env, places, speed=1.0, tolerance=2e-4):
    """Brings all manipulators to places, (n, 3) [m], in straight lines, at most at a fraction of the fastest speed."""
    reach = env.speed * env.steps_per_action * env.world.dt
    for _ in range(200):
        way = np.asarray(places) - env.places()
        if np.abs(way).max() < tolerance:
            return
        yield (way / max(np.abs(way).max() / speed, reach)).ravel()


def wait(env, count):
    """Rests for a number of actions."""
    for _ in range(count):
        yield np.zeros(env.action_size)


def finished(env, solution):
    """Takes the actions of a solution and rests until the episode ends; gives the score."""
    for action in itertools.chain(solution(env), wait(env, env.episode_length)):
        _, _, _, truncated, info = env.step(action)
        if truncated:
            return info["score"]


def chosen(env, candidates):
    """The solution that scores best, each tried on a branch of the world."""
    scores = []
    for candidate in candidates:
        trial = copy.copy(env)
        trial.world = env.world.branch()
        scores.append(finished(trial, candidate))
        trial.world.close()
    return candidates[int(np.argmax(scores))]


def pair(middle, axis, half):
    """Places of two balls to both sides of a middle."""
    return np.array([middle - half * axis, middle + half * axis])


def middle_of(env, name):
    return np.asarray(env.world.positions)[env.world.soft[name]].mean(axis=0)


def move(env):
    """Squeezes, carries, and corrects the place by what it sees."""
    axis, half = np.array([1.0, 0.0, 0.0]), UNIT * env.goal[0] + env.radius - 0.008
    yield from go(env, pair(UNIT * env.goal[1:4], axis, half), 0.5)
    yield from go(env, pair(UNIT * env.goal[4:7], axis, half), 0.7)
    for _ in range(3):
        shift = UNIT * env.goal[4:7] - middle_of(env, "piece")
        yield from go(env, env.places() + shift, 0.5)
        yield from wait(env, 2)


def triple_move(env):
    """The same with three cubes at once."""
    axis, half = np.array([1.0, 0.0, 0.0]), 0.05 * UNIT + env.radius - 0.003
    names = [f"cube-{k}" for k in range(3)]
    ends = np.array([[UNIT * (-0.24 + 0.24 * k), 0.0, 0.05 * UNIT] for k in range(3)]) + UNIT * env.goal.reshape(3, 3)
    yield from go(env, np.concatenate([pair(middle_of(env, name), axis, half) for name in names]), 0.5)
    lifted = env.places() + [0.0, 0.0, 0.004]
    yield from go(env, lifted, 0.5)
    yield from go(env, np.concatenate([pair(end + [0.0, 0.0, 0.001], axis, half) for end in ends]), 0.7)
    for _ in range(3):
        shifts = np.repeat([end - middle_of(env, name) for end, name in zip(ends, names, strict=True)], 2, axis=0)
        yield from go(env, env.places() + shifts, 0.5)
        yield from wait(env, 2)


def table(env):
    """Pushes the leg outwards at full speed and goes back; how far is planned."""

    def push(share):
        def solution(env):
            for goal, speed in ((0.4, 1.0), (share, 0.8), (0.0, 1.0)):
                for action in go(env, [[*(goal * UNIT * env.goal), env.places()[0, 2]]], speed):
                    yield action[:2]

        return solution

    yield from chosen(env, [push(share) for share in (0.8, 0.9, 1.0, 1.1)])(env)


def assembly(env):
    """Squeezes the ball, lifts it over the block, sets it down and lets go."""
    axis, half = np.array([0.0, 1.0, 0.0]), 0.06 * UNIT + env.radius - 0.003
    end = UNIT * env.goal
    yield from go(env, pair(middle_of(env, "piece"), axis, half), 0.5)
    over = np.array([middle_of(env, "piece")[0], 0.0, end[2] + 0.006])
    yield from go(env, pair(over, axis, half), 0.7)
    yield from go(env, pair(np.array([end[0], end[1], over[2]]), axis, half), 0.8)
    shift = end - middle_of(env, "piece")
    yield from go(env, env.places() + shift, 0.3)
    yield from wait(env, 2)
    yield from go(env, env.places() + np.array([[0.0, -0.01, 0.0], [0.0, 0.01, 0.0]]), 0.2)


def torus(env):
    deep = UNIT * env.goal
    above = np.array([deep[0], deep[1], 0.13 * UNIT])
    for place in (above, deep, above):
        yield from go(env, [place])


def writer(env):
    for place in env.strokes():
        yield from go(env, [place])


def pinch(env):
    for place in env.dents():
        yield from go(env, [place])


def rolling_pin(env):
    """Rolls to and fro across the block, lower the second time; how deep and how far is planned."""

    def roll(depth, length):
        def solution(env):
            z = env.radius + UNIT * 0.1 * env.goal[2] * depth
            yield from lower(env, 0.5 * (z + env.radius + 0.1 * UNIT))
            yield from roll_to(env, length)
            yield from lower(env, z)
            yield from roll_to(env, -length)
            yield from roll_to(env, length)
            yield from lower(env, 0.035)

        return solution

    yield from chosen(env, [roll(depth, length) for depth in (0.75, 0.9, 1.05) for length in (0.03, 0.04)])(env)


def lower(env, height, speed=0.5):
    reach = env.speed * env.steps_per_action * env.world.dt
    while abs(height - env.places()[0, 2]) > 2e-4:
        yield np.array([0.0, 0.0, np.clip((height - env.places()[0, 2]) / reach, -speed, speed)])


def roll_to(env, x):
    """Rolls until the pin's middle is at x."""
    reach = env.speed * env.steps_per_action * env.world.dt
    for _ in range(100):
        way = x - env.places()[0, 0]
        if abs(way) < 2e-4:
            return
        yield np.array([np.clip(way / reach, -1.0, 1.0), 0.0, 0.0])


def rope(env):
    """The balls push the rope at its quarters until it touches the pillar; then each goes to its end and
    follows the involute that the end describes around the pillar."""
    x, y = env.goal
    radius, off = env.pillar + 0.03, 0.06
    reach = 0.28

    def places(angle):
        found = []
        for side, length in ((-1.0, reach + x), (1.0, reach - x)):
            a = min(angle, length / radius)
            straight = length - radius * a
            across = (radius + off) * np.sin(a) + straight * np.cos(a)
            ahead = (radius + off) * np.cos(a) - straight * np.sin(a)
            found.append([UNIT * (x + side * across), UNIT * (y + ahead), 0.03 * UNIT])
        return np.array(found)

    touch = y + radius + off
    for ahead in (0.31, touch):
        yield from go(env, [[side * 0.15 * UNIT, ahead * UNIT, 0.03 * UNIT] for side in (-1.0, 1.0)], 0.6)
    away = env.places()
    away[:, 1] += 0.01 * UNIT
    away[:, 0] = [-reach * UNIT, reach * UNIT]
    yield from go(env, away)
    yield from go(env, places(0.0), 0.5)
    for angle in np.linspace(0.0, (reach + abs(x)) / radius, 12)[1:]:
        yield from go(env, places(angle), 0.6, 1e-3)
    yield from go(env, places(10.0), 0.5)


def chopsticks(env):
    """Turns the rope between the sticks; how much less they turn than the goal, as it glides on, is planned."""
    yield from chosen(env, [turned_by(less) for less in (0.0, 0.025, 0.05)])(env)


def turned_by(less):
    def solution(env):
        """Stands the sticks on both sides of the rope, apart along it, so that turning them turns the rope."""
        time = env.steps_per_action * env.world.dt
        side, angle = np.sign(env.goal[2]), abs(env.goal[2]) - less
        first, down, lead = 1.13, env.radius + env.half, 0.0
        while lead < first - 1e-6 or env.grip()[2] < 0.02 - 1e-6:
            step = min(first - lead, env.turn * time)
            lead += step
            yield np.array([0, 0, 0, 0, 0, side * step / (env.turn * time), 1.0])
        while env.grip()[0][2] > down + 1e-5:
            yield np.array([0, 0, max((down - env.grip()[0][2]) / (env.speed * time), -1.0), 0, 0, 0, 0])
        count = 34
        start, end, done = env.grip()[0][:2].copy(), UNIT * env.goal[:2], 0.0
        for k in itertools.count(1):
            phase = np.pi * min(k / count, 1.0)
            share, pace = 0.5 - 0.5 * np.cos(phase), 0.5 * np.sin(phase) * np.pi / (count * time)
            done = side * yaw_of(env, side * done)
            rate = pace * angle + 5.0 * (share * angle - done)
            shift = (start + share * (end - start) - env.grip()[0][:2]) / (env.speed * time)
            yield np.array([*shift, 0, 0, 0, side * np.clip(rate / env.turn, 0.0, 0.6), 0])

    return solution


def yaw_of(env, near):
    """Angle of the rope's line from y about the vertical, the one nearest to an angle [rad]."""
    points = np.asarray(env.world.positions)[:, :2]
    line = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2][0]
    found = np.arctan2(-line[0], line[1])
    return found + np.pi * np.round((near - found) / np.pi)


#: The solution of each task.
SOLUTIONS = {
    "Assembly": assembly,
    "Chopsticks": chopsticks,
    "Move": move,
    "Pinch": pinch,
    "RollingPin": rolling_pin,
    "Rope": rope,
    "Table": table,
    "Torus": torus,
    "TripleMove": triple_move,
    "Writer": writer,
}
