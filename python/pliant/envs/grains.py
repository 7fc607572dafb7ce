"""Scooping and pouring of dry grains."""

from __future__ import annotations

import numpy as np

from .base import Task

#: Spacing of the grid, of the particles, thickness of walls [m].
GRID, SPACING, WALL = 0.024, 0.012, 0.008
#: Density in bulk [kg/m^3].
DENSITY = 1600.0
MATERIALS = {
    "grains": {
        "model": "drucker-prager",
        "density": DENSITY,
        "youngs_modulus": 5e4,
        "poissons_ratio": 0.3,
        "friction_angle": float(np.radians(30.0)),
    }
}


def tray(inside, open_end=False, color=(150, 158, 168), friction=0.4):
    """Geometries of a box without a lid, its frame in the middle of the inside's floor.

    ``inside`` is its length, width and height [m]; with ``open_end`` it has no wall towards +x.
    """
    a, b, c = inside[0] / 2, inside[1] / 2, inside[2] / 2
    w = WALL / 2
    boxes = [((0, 0, -w), (a + WALL, b + WALL, w)), ((-a - w, 0, c), (w, b, c))]
    if not open_end:
        boxes.append(((a + w, 0, c), (w, b, c)))
    boxes += [((0, side * (b + w), c), (a + WALL, w, c)) for side in (-1, 1)]
    return [
        {
            "shape": {"type": "box", "half_extents": list(half)},
            "pose": {"position": list(place)},
            "friction": friction,
            "color": list(color),
        }
        for place, half in boxes
    ]


def pitch(angle):
    """Quaternion (w, x, y, z) of a turn about y [rad]; positive turns x down."""
    return np.array([np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0])


def inside(places, position, angle, size):
    """Which places (n, 3) are within a tray of a size whose frame is at a position, turned by a pitch."""
    x, y, z = (places - position).T
    along, up = x * np.cos(angle) - z * np.sin(angle), x * np.sin(angle) + z * np.cos(angle)
    return (abs(along) < size[0] / 2) & (abs(y) < size[1] / 2) & (up > -WALL) & (up < size[2])


class VesselTask(Task):
    """A vessel of a prescribed motion in the plane of x and z.

    An action has the vessel's velocity along x and z, as a fraction of 0.25 m/s, and its rate of
    pitch, as a fraction of 2 rad/s, held for 80 ms. A subclass has its hollow, and the bounds of its
    place and pitch.
    """

    action_size = 3
    steps_per_action = 8
    speed, rate = 0.25, 2.0
    points = 200
    #: Inside of the vessel: length, width, height [m].
    hollow: tuple
    #: Bounds of x, z [m] and pitch [rad].
    low: tuple
    high: tuple
    start: tuple

    def scene(self, name, soft, fixed, vessel, camera):
        position = [self.start[0], 0.0, self.start[1]]
        return {
            "name": name,
            "duration": 1000.0,
            "dt": 0.01,
            "substeps": 24,
            "grid_spacing": GRID,
            "contact": {"stiction_tolerance": 0.001, "stiffness": 1000.0},
            "materials": MATERIALS,
            "soft": [{"name": "grains", "material": "grains", "color": [222, 190, 130], **soft}],
            "bodies": [
                {
                    "name": "table",
                    "motion": {"type": "fixed"},
                    "geometries": [{"shape": {"type": "half-space"}, "friction": 0.5, "color": [206, 200, 190]}],
                },
                *fixed,
                {
                    "name": "vessel",
                    "motion": {"type": "prescribed-poses", "keyframes": [{"time": 0.0, "position": position}]},
                    "geometries": vessel,
                },
            ],
            "output": {"camera": camera},
        }

    def begin(self, random):
        self.vessel = self.world.body("vessel")
        self.pose = np.array([*self.start, 0.0])
        self.masses = self.world.masses.copy()
        self.world.step(20)

    def apply(self, action):
        time = self.steps_per_action * self.world.dt
        wanted = self.pose + time * action * [self.speed, self.speed, self.rate]
        self.pose = np.clip(wanted, self.low, self.high)
        self.vessel.move_to([self.pose[0], 0.0, self.pose[1]], pitch(self.pose[2]), within=time)

    def held(self):
        """Which grains are in the vessel."""
        return inside(self.world.positions, [self.pose[0], 0.0, self.pose[1]], self.pose[2], self.hollow)

    def share(self, which):
        """Their part of the mass [-]."""
        return float(self.masses[which].sum() / self.masses.sum())


class ScoopGrains(VesselTask):
    """A scoop takes grains from a bin and lifts them out.

    Defined here. The bin is 0.3 m x 0.16 m, filled 66 to 76 mm deep; the scoop holds 0.1 m x 0.1 m x
    50 mm. Score: mass of the grains that are in the scoop and higher than 0.15 m, over that of a
    level scoop; at most 1. Success: 0.6. Reward: gain of the score.

    State: place and pitch of the scoop [m, rad], shares of the grains in it and outside the bin [-],
    the height of the grains at 10 places along the bin [m].
    """

    hollow = (0.1, 0.1, 0.05)
    low, high, start = (-0.2, 0.02, -1.0), (0.2, 0.3, 1.0), (-0.06, 0.2)
    state_size = 15
    episode_length = 60
    success_score = 0.6
    source = "Pliant"
    bin_size = (0.3, 0.16, 0.09)
    lifted = 0.15

    def episode_scene(self, random):
        depth = round(float(random.uniform(0.066, 0.076)), 3)
        a, b = self.bin_size[0] / 2, self.bin_size[1] / 2
        soft = {
            "shape": {"type": "box", "half_extents": [a - 0.001, b - 0.001, depth / 2]},
            "pose": {"position": [0.0, 0.0, WALL + depth / 2]},
            "sampling": {"spacing": SPACING, "jitter": 0.5},
        }
        floor = {"type": "fixed", "pose": {"position": [0.0, 0.0, WALL]}}
        fixed = [{"name": "bin", "motion": floor, "geometries": tray(self.bin_size, color=(150, 106, 66))}]
        handle = {
            "shape": {"type": "cylinder", "radius": 0.006, "half_length": 0.06},
            "pose": {"position": [-self.hollow[0] / 2 - 0.045, 0.0, 0.06], "orientation": pitch(-0.8).tolist()},
            "collision": False,
            "color": [52, 56, 62],
        }
        camera = {"position": [0.35, -0.6, 0.5], "target": [0.0, 0.0, 0.1], "field_of_view": 0.7}
        scoop = [*tray(self.hollow, open_end=True, friction=0.2), handle]
        return self.scene("scoop-grains", soft, fixed, scoop, camera)

    def score(self):
        carried = self.held() & (self.world.positions[:, 2] > self.lifted)
        return min(1.0, float(self.masses[carried].sum() / (DENSITY * np.prod(self.hollow))))

    def state(self):
        places = self.world.positions
        x, y, z = places.T
        half = np.array(self.bin_size) / 2
        contained = (abs(x) < half[0]) & (abs(y) < half[1])
        column = np.clip(((x + half[0]) / self.bin_size[0] * 10).astype(int), 0, 9)
        heights = np.zeros(10)
        np.maximum.at(heights, column[contained & ~self.held()], z[contained & ~self.held()])
        return np.concatenate([self.pose, [self.share(self.held()), self.share(~contained)], heights])


class PourGrains(VesselTask):
    """A cup of grains is poured into another one: SoftGym's PourWater with grains.

    As there, the cup moves along x and z and tilts, and the performance, score and reward of an
    action are the share of the mass that is in the other cup. That one is open by 0.1 m x 0.1 m, and its
    middle 0.17 to 0.22 m from the cup's. Success, chosen here: 0.9.

    State: place and tilt of the cup [m, rad], place of the other [m], shares of the grains in the
    cup, in the other one, and elsewhere [-].
    """

    hollow = (0.072, 0.072, 0.1)
    low, high, start = (-0.05, WALL, -0.2), (0.3, 0.3, 2.6), (0.0, WALL)
    target_size = (0.1, 0.1, 0.08)
    state_size = 7
    episode_length = 100
    success_score = 0.9
    source = "Lin, Wang, Olkin and Held 2020, SoftGym, CoRL (arXiv 2011.07215), PourWater"

    def episode_scene(self, random):
        self.target = round(float(random.uniform(0.17, 0.22)), 3)
        half = [self.hollow[0] / 2 - 0.001, self.hollow[1] / 2 - 0.001, 0.036]
        soft = {
            "shape": {"type": "box", "half_extents": half},
            "pose": {"position": [0.0, 0.0, WALL + half[2]]},
            "sampling": {"spacing": SPACING, "jitter": 0.5},
        }
        floor = {"type": "fixed", "pose": {"position": [self.target, 0.0, WALL]}}
        fixed = [{"name": "target", "motion": floor, "geometries": tray(self.target_size, color=(196, 90, 70))}]
        camera = {"position": [0.35, -0.6, 0.4], "target": [0.1, 0.0, 0.1], "field_of_view": 0.7}
        return self.scene("pour-grains", soft, fixed, tray(self.hollow), camera)

    def score(self):
        return self.share(self.poured())

    def reward(self, score, before):
        return score

    def poured(self):
        """Which grains are in the other cup."""
        return inside(self.world.positions, [self.target, 0.0, WALL], 0.0, self.target_size)

    def state(self):
        held, poured = self.held(), self.poured()
        shares = [self.share(held), self.share(poured), self.share(~held & ~poured)]
        return np.concatenate([self.pose, [self.target], shares])
