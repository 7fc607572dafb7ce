"""Scores of the scripted and planned solutions of the tasks on plasticine.

    python plasticine_scores.py [NAMES] [CONFIGURATIONS]

NAMES are separated by commas; none for all. An episode differs from another of its task only in
its configuration, so the five configurations are all there is. The score is that at the end of the
episode, after 50 actions, unclamped. Planning is part of the wall time of an episode, the motion
that defines its target is not.
"""

import datetime
import os
import platform
import sys
import time
import warnings

import numpy as np

import pliant
from pliant.envs import plasticine
from pliant.envs.scripted.plasticine import SOLUTIONS, finished


def main():
    names = sys.argv[1].split(",") if len(sys.argv) > 1 and sys.argv[1] else plasticine.__all__
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(f"date {datetime.date.today()}, {platform.machine()}, {os.cpu_count()} cores, Pliant {pliant.GIT_COMMIT}")
    print(f"{count} configurations of each task, one thread")
    rows = []
    for name in names:
        env = getattr(plasticine, name)()
        scores, walls, idle = [], [], []
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for k in range(count):
                env.reset(seed=k, options={"configuration": k})
                started = time.perf_counter()
                for _ in range(3):
                    env.step(np.zeros(env.action_size))
                idle.append((time.perf_counter() - started) / 3)
                env.reset(seed=k, options={"configuration": k})
                started = time.perf_counter()
                scores.append(finished(env, SOLUTIONS[name]))
                walls.append(time.perf_counter() - started)
        rows.append((name, env.world.particle_count, scores, walls, idle, len(told)))
        env.close()
        print(f"{name}: {' '.join(f'{score:.3f}' for score in scores)}", *(str(w.message) for w in told), flush=True)
    print()
    print("| task | particles | score, mean | std | least | episode, s | step at rest, s | energy warnings |")
    print("|---|---|---|---|---|---|---|---|")
    for name, particles, scores, walls, idle, told in rows:
        print(
            f"| {name} | {particles} | {np.mean(scores):.2f} | {np.std(scores):.2f} | {min(scores):.2f} "
            f"| {np.mean(walls):.1f} | {np.median(idle):.3f} | {told} |"
        )
    print()
    print("Published scores: not known here; the targets differ from the published ones.")


if __name__ == "__main__":
    main()
