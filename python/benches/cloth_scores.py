"""Scores of the scripted solutions of the tasks on cloth, rope, bags, dough, grains and with an arm.

    python benches/cloth_scores.py [--seeds 5] [--tasks FoldCloth,SpreadCloth]

Prints a Markdown table: mean, standard deviation, least and greatest score at the episode's end over
the seeds, how many reached the task's success score, energy that the scheme created over that put in (worst
of the seeds), wall time of an episode with its reset on one thread. A published score is given only
where a figure is known; SoftGym's paper draws its results as curves.
"""

import argparse
import importlib
import time
import warnings

import numpy as np

from pliant.envs.scripted.pickers import play

#: Task: where it is, its script, what was published for the original.
TASKS = {
    "FoldCloth": ("cloth", "fold_cloth", "not known"),
    "FoldCrumpledCloth": ("cloth", "fold_crumpled_cloth", "not known"),
    "SpreadCloth": ("cloth", "spread_cloth", "not known"),
    "DropCloth": ("cloth", "drop_cloth", "not known"),
    "StraightenRope": ("rope", "straighten_rope", "not known"),
    "FoldShirt": ("garment", "fold_shirt", "none: defined here"),
    "BagBox": ("garment", "bag_box", "none: defined here"),
    "RollDough": ("rolling", "roll_dough", "none: defined here"),
    "ScoopGrains": ("grains", "scoop_grains", "none: defined here"),
    "PourGrains": ("grains", "pour_grains", "not known (PourWater, with water)"),
    "LiftCube": ("arm", "lift_cube", "none: defined here"),
}


def measured(name, seeds):
    """Final scores, worst energy gain, warnings and failures, seconds an episode."""
    module, script, _ = TASKS[name]
    env = getattr(importlib.import_module(f"pliant.envs.{module}"), name)()
    solution = getattr(importlib.import_module(f"pliant.envs.scripted.{module}"), script)
    scores, gains, told, began = [], [], [], time.perf_counter()
    for seed in range(seeds):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            infos = play(env, solution, seed=seed)
        scores.append(infos[-1]["score"])
        energy = env.world.energy()
        gains.append(energy["energy_gained"] / max(energy["energy_put_in"], 1e-12))
        told += [f"seed {seed}: {warning.message}" for warning in caught]
        if "failure" in infos[-1]:
            told.append(f"seed {seed}: {infos[-1]['failure']}")
    seconds = (time.perf_counter() - began) / seeds
    success = sum(score >= env.success_score for score in scores)
    env.close()
    return np.array(scores), success, max(gains), told, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tasks", default=",".join(TASKS))
    chosen = parser.parse_args()
    print("| task | score, mean | std | least | greatest | successes | energy gain | published | s an episode |")
    print("|---|---|---|---|---|---|---|---|---|")
    notes = []
    for name in chosen.tasks.split(","):
        scores, success, gain, told, seconds = measured(name, chosen.seeds)
        print(
            f"| {name} | {scores.mean():.3f} | {scores.std():.3f} | {scores.min():.3f} | {scores.max():.3f} "
            f"| {success} of {chosen.seeds} | {gain:.1e} | {TASKS[name][2]} | {seconds:.1f} |",
            flush=True,
        )
        notes += [f"{name}, {one}" for one in told]
    for note in notes:
        print("-", note)


if __name__ == "__main__":
    main()
