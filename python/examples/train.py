"""Trains a policy that pushes a soft cube to a goal, with Stable-Baselines3, on two cores in minutes.

    pip install './python[train]' matplotlib
    python python/examples/train.py [STEPS] [SEED] [FOLDER]

Writes the policy, the successes over time as CSV, and their curve as PNG.
"""

import csv
import pathlib
import sys
import time

import gymnasium
import numpy as np
from stable_baselines3 import SAC
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor

import pliant.envs  # noqa: F401 - registers the tasks


class Curve(BaseCallback):
    """Score and success of each episode that ended."""

    def __init__(self):
        super().__init__()
        self.rows, self.started = [], time.monotonic()

    def _on_step(self):
        for info, done in zip(self.locals["infos"], self.locals["dones"], strict=True):
            if done:
                row = (self.num_timesteps, time.monotonic() - self.started, info["score"], info["is_success"])
                self.rows.append(row)
                if len(self.rows) % 25 == 0:
                    last = np.array([r[2:] for r in self.rows[-25:]], dtype=float)
                    print(
                        f"{row[0]} actions, {row[1]:.0f} s: score {last[:, 0].mean():.2f}, "
                        f"success {last[:, 1].mean():.2f} over 25 episodes",
                        flush=True,
                    )
        return True


def evaluate(model, seeds):
    """Mean score and part of successes of the policy without noise."""
    env = gymnasium.make("pliant/PushCube-v0")
    results = []
    for seed in seeds:
        observation, _ = env.reset(seed=seed)
        done = False
        while not done:
            action, _ = model.predict(observation, deterministic=True)
            observation, _, terminated, truncated, info = env.step(action)
            done = terminated or truncated
        results.append((info["score"], info["is_success"]))
    env.close()
    return np.array(results, dtype=float).mean(axis=0)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 15000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    folder = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else "runs/train")
    folder.mkdir(parents=True, exist_ok=True)
    # The gains of the score are a few hundredths; the learner's entropy is for rewards of about one.
    env = gymnasium.wrappers.TransformReward(gymnasium.make("pliant/PushCube-v0"), lambda reward: 50.0 * reward)
    env = Monitor(env)
    model = SAC("MlpPolicy", env, seed=seed, learning_starts=500, batch_size=128, gamma=0.95, ent_coef="auto_0.2",
                policy_kwargs={"net_arch": [64, 64]}, device="cpu")
    before = evaluate(model, range(1000, 1010))
    curve = Curve()
    model.learn(steps, callback=curve)
    after = evaluate(model, range(1000, 1030))
    print(f"before: score {before[0]:.2f}, success {before[1]:.2f}; after: score {after[0]:.2f}, success {after[1]:.2f}")
    model.save(folder / "policy.zip")
    with open(folder / "curve.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["actions", "seconds", "score", "success"])
        writer.writerows(curve.rows)
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return
    rows = np.array(curve.rows, dtype=float)
    window = min(25, len(rows))
    mean = np.convolve(rows[:, 2], np.ones(window) / window, mode="valid")
    figure, axes = plt.subplots(figsize=(6, 3.5))
    axes.plot(rows[:, 0], rows[:, 2], ".", ms=3, alpha=0.4, label="episode")
    axes.plot(rows[window - 1 :, 0], mean, label=f"mean of {window}")
    axes.set(xlabel="actions", ylabel="score", ylim=(-1, 1.05), title=f"PushCube, SAC, {rows[-1, 1] / 60:.1f} min")
    axes.legend()
    figure.tight_layout()
    figure.savefig(folder / "curve.png", dpi=120)


if __name__ == "__main__":
    main()
