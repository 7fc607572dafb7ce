"""Scenes drawn at random: soft and rigid bodies that fly apart from each other."""

import math

import numpy as np

#: Largest sizes, densities, stiffnesses that are drawn, and the least [m, kg/m^3, Pa].
SIZES, DENSITIES, STIFFNESSES = (1e-3, 10.0), (10.0, 2e4), (1e3, 1e9)
STEPS = 6


def log_uniform(random, low, high):
    return float(math.exp(random.uniform(math.log(low), math.log(high))))


def direction(random):
    v = random.normal(size=3)
    return v / np.linalg.norm(v)


def quaternion(random):
    q = random.normal(size=4)
    return (q / np.linalg.norm(q)).tolist()


def case(random, *, soft=None, rigid=None, turning=False):
    """A scene of bodies that meet nothing within ``STEPS`` steps, each with a velocity of its own.

    The step is some 10 times as long as a wave takes through a cell, so that it has substeps.
    """
    size, density = log_uniform(random, *SIZES), log_uniform(random, *DENSITIES)
    stiffness = log_uniform(random, *STIFFNESSES)
    spacing = size / random.uniform(4.0, 8.0)
    dt = min(10.0 * spacing / math.sqrt(stiffness / density), 0.02)
    soft = int(random.integers(1, 4)) if soft is None else soft
    rigid = int(random.integers(0, 3)) if rigid is None else rigid
    # No body comes further than its own size: they are 6 sizes apart.
    fastest = min(size / (STEPS * dt), 100.0)
    pull = min(30.0, 0.5 * size / (STEPS * dt) ** 2)
    gravity = (direction(random) * random.uniform(0.0, pull)).tolist()
    middle = (direction(random) * random.uniform(0.0, 20.0 * size)).tolist()
    model = str(random.choice(["fixed-corotated", "neo-hookean", "linear-corotated"]))
    poisson = float(random.uniform(0.0, 0.45))
    scene = {
        "name": "random", "duration": STEPS * dt, "dt": dt, "grid_spacing": spacing, "gravity": gravity,
        "materials": {"m": {"model": model, "density": density, "youngs_modulus": stiffness, "poissons_ratio": poisson}},
        "soft": [], "bodies": [],
    }
    for k in range(soft + rigid):
        place = np.add(middle, [6.0 * size * k, 0.0, 0.0]).tolist()
        velocity = (direction(random) * random.uniform(0.0, fastest)).tolist()
        turn = (direction(random) * random.uniform(0.0, 1.0) / (STEPS * dt)).tolist() if turning else [0.0] * 3
        pose = {"position": place, "orientation": quaternion(random)}
        half = (0.5 * size * random.uniform(0.5, 1.0, 3)).tolist()
        shape = {"type": "box", "half_extents": half} if random.random() < 0.7 else {"type": "sphere", "radius": half[0]}
        if k < soft:
            scene["soft"].append({
                "name": f"soft{k}", "shape": shape, "pose": pose, "material": "m", "velocity": velocity,
                "angular_velocity": turn, "sampling": {"spacing": spacing / 2.0},
            })
        else:
            scene["bodies"].append({
                "name": f"rigid{k}",
                "motion": {
                    "type": "dynamic", "pose": pose, "joint": {"type": "free"}, "density": density,
                    "velocity": velocity, "angular_velocity": turn,
                },
                "geometries": [{"shape": shape}],
            })
    if not soft:
        del scene["grid_spacing"], scene["materials"]
    return scene


class Worst:
    """The case that comes nearest to its bound, or goes farthest beyond it."""

    def __init__(self):
        self.ratio, self.case = -1.0, None

    def see(self, error, bound, case):
        ratio = float(error) / float(bound) if bound > 0.0 else (math.inf if error > 0.0 else 0.0)
        if not ratio <= self.ratio:
            self.ratio, self.case = ratio, case
