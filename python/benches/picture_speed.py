"""Environment steps a second with pictures as observations, and what a picture costs beside a step.

    python picture_speed.py [NAME] [ACTIONS] [REPEATS]

Random actions, seeded. An environment step is one action of one world. Medians are of several turns;
the load of the machine is told.
"""

import datetime
import os
import statistics
import sys
import time

import numpy as np

import pliant
import pliant.envs


def rate(name, count, actions, **options):
    """Environment steps a second of `count` worlds."""
    env = pliant.envs.make_vec(name, count, **options)
    env.reset(seed=0)
    random = np.random.default_rng(1)
    low, high = env.action_space.low, env.action_space.high
    started = time.perf_counter()
    for _ in range(actions):
        env.step(random.uniform(low, high).astype(np.float32))
    taken = time.perf_counter() - started
    env.close()
    return count * actions / taken


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "pliant/PushCube-v0"
    actions = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    load = ", ".join(f"{x:.2f}" for x in os.getloadavg())
    print(f"date {datetime.date.today()}, {os.cpu_count()} cores, load {load}, Pliant {pliant.GIT_COMMIT}")
    print("| observation | size | worlds | steps a second | one step and picture [ms] |")
    print("|---|---|---|---|---|")
    for observation, size in (("state", 64), ("rgb", 64), ("rgb", 128), ("rgbd", 64), ("rgbd", 128)):
        for count in (1, 8):
            each = max(4, actions // count)
            options = dict(observation=observation, size=(size, size))
            found = statistics.median(rate(name, count, each, **options) for _ in range(repeats))
            print(f"| {observation} | {size} | {count} | {found:.1f} | {1e3 / found:.1f} |", flush=True)


if __name__ == "__main__":
    main()
