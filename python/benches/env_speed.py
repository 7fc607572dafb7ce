"""Environment steps a second for 1, 2, 8 and 64 worlds at once.

    python env_speed.py [NAME] [ACTIONS] [REPEATS]

Random actions, seeded. An environment step is one action of one world. The same actions go to
environments one after the other on one thread, as the measure of what threads give; the turns
alternate, and medians are of several turns.
"""

import datetime
import os
import platform
import statistics
import sys
import time

import numpy as np

import pliant
import pliant.envs


def many(name, count, actions):
    """Steps a second of `count` environments whose worlds are stepped at once."""
    env = pliant.envs.make_vec(name, count)
    env.reset(seed=0)
    random = np.random.default_rng(1)
    low, high = env.action_space.low, env.action_space.high
    drawn = [random.uniform(low, high).astype(np.float32) for _ in range(actions)]
    started = time.perf_counter()
    for action in drawn:
        env.step(action)
    taken = time.perf_counter() - started
    env.close()
    return count * actions / taken


def one_by_one(name, count, actions):
    """The same, one environment after the other on one thread."""
    import gymnasium

    envs = [gymnasium.make(name).unwrapped for _ in range(count)]
    for k, env in enumerate(envs):
        env.reset(seed=k)
    random = np.random.default_rng(1)
    space = envs[0].action_space
    started = time.perf_counter()
    for _ in range(actions):
        for env in envs:
            _, _, terminated, truncated, _ = env.step(random.uniform(space.low, space.high).astype(np.float32))
            if terminated or truncated:
                env.reset()
    return count * actions / (time.perf_counter() - started)


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "pliant/PushCube-v0"
    actions = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    print(f"date {datetime.date.today()}, {platform.machine()}, {os.cpu_count()} cores, Pliant {pliant.GIT_COMMIT}")
    print(f"{name}, {actions} actions a world (fewer for many), {repeats} turns")
    counts = (1, 2, 8, 64)
    found = {count: [] for count in counts}
    for turn in range(repeats):
        for count in counts:
            each = max(4, actions * 8 // max(8, count))
            rates = (one_by_one(name, count, each), many(name, count, each))
            found[count].append(rates)
            print(f"turn {turn}, {count} worlds: one by one {rates[0]:.1f}, at once {rates[1]:.1f} steps a second", flush=True)
    print()
    print("| worlds | one by one, steps a second | at once, steps a second | ratio |")
    print("|---|---|---|---|")
    for count in counts:
        rows = found[count]
        ratio = statistics.median(b / a for a, b in rows)
        print(f"| {count} | {statistics.median(a for a, _ in rows):.1f} | {statistics.median(b for _, b in rows):.1f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
