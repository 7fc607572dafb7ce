"""A T-shirt to fold, and a box to lift in a sheet of cloth: tasks of pickers beyond SoftGym's."""

from __future__ import annotations

import numpy as np

from .cloth import EDGE, GRID, LIES, MATERIAL, rectangle
from .pickers import Pickers, PickerTask, bodies, table

#: A child's shirt: the library's T-shirt at three quarters of its size, with longer sleeves [m].
SHIRT = {
    "chest_width": 0.3,
    "length": 0.33,
    "neck_width": 0.1125,
    "front_neck_depth": 0.045,
    "back_neck_depth": 0.015,
    "sleeve_drop": 0.041,
    "sleeve_length": 0.05,
    "sleeve_opening": 0.075,
}

#: A stout canvas, 1 kg/m^2, for the bag.
CANVAS = {**MATERIAL, "density": 500.0, "thickness": 0.002, "damping": 0.2}


def scene(name, cloth, others, camera):
    return {
        "name": name,
        "duration": 1000.0,
        "dt": 0.01,
        "substeps": 32,
        "grid_spacing": GRID,
        "contact": {"particle_radius": 0.002, "stiction_tolerance": 0.001},
        "solver": {"relative_tolerance": 0.05},
        "cloths": [{"name": "cloth", "material": MATERIAL, **cloth}],
        "bodies": [table(), *others],
        "output": {"camera": camera},
    }


class FoldShirt(PickerTask):
    """A T-shirt that lies flat is folded in half, its left side onto its right one.

    Defined here, after FoldCloth. Each vertex on the left belongs to the one on the same panel
    that is nearest to its mirror image. Performance, and reward [m]: -(mean distance, seen from
    above, of the left vertices from theirs) - 1.2 (that of the right ones from where they lay).
    Score: 0 at the start, 1 where it is zero. Success: 0.7. The shirt lies up to 2 cm off the
    middle and is turned by up to 0.2 rad.

    State: 12 vertices, pickers' places, whether each holds.
    """

    state_size = 12 * 3 + 2 * 4
    episode_length = 100
    success_score = 0.7
    source = "Pliant"
    low, high = (-0.4, -0.4, 0.012), (0.4, 0.4, 0.5)
    #: Points of the state in the shirt's frame [m]: hem, waist, cuffs, shoulders, chest.
    keys = ((0.15, -0.165), (0.15, 0.0), (0.2, 0.055), (0.2, 0.115), (0.06, 0.16), (0.06, 0.0))

    def episode_scene(self, random):
        self._turn = float(random.uniform(-0.2, 0.2))
        self._middle = random.uniform(-0.02, 0.02, 2)
        half = self._turn / 2
        cloth = {
            "shape": {"type": "t-shirt", **SHIRT},
            "pose": {
                "position": [*self._middle.tolist(), 0.016],
                "orientation": [float(np.cos(half)), 0.0, 0.0, float(np.sin(half))],
            },
            "color": [226, 232, 238],
            "back_color": [70, 120, 176],
        }
        camera = {"position": [0.35, -0.55, 0.55], "target": [0.0, 0.0, 0.03], "field_of_view": 0.7}
        return scene("fold-shirt", cloth, bodies([[-0.2, -0.05, 0.1], [-0.2, 0.05, 0.1]]), camera)

    def own(self, places):
        """Places in the shirt's frame at the start [m]."""
        cos, sin = np.cos(self._turn), np.sin(self._turn)
        x, y = (places[:, :2] - self._middle).T
        return np.column_stack([x * cos + y * sin, y * cos - x * sin, places[:, 2]])

    def begin(self, random):
        rest = self.world.positions[self.world.cloth("cloth")["vertices"]].copy()
        self.pickers = Pickers(self.world, "cloth", rest, self.low, self.high)
        own = self.own(rest)
        both = [(side * x, y) for side in (-1, 1) for x, y in self.keys]
        self.key = np.array([np.linalg.norm(own[:, :2] - point, axis=1).argmin() for point in both])
        self._left, right = np.flatnonzero(own[:, 0] < -0.01), np.flatnonzero(own[:, 0] > 0.01)
        mirrored = own[self._left] * [-1.0, 1.0, 1.0]
        distance = np.linalg.norm((mirrored[:, None] - own[right]) * [1.0, 1.0, 4.0], axis=2)
        self._right = right[distance.argmin(axis=1)]
        self.world.step(30)
        self.lay = self.pickers.vertices().copy()
        self.first_performance = self.performance()

    def performance(self):
        places = self.pickers.vertices()[:, :2]
        apart = np.linalg.norm(places[self._left] - places[self._right], axis=1).mean()
        moved = np.linalg.norm(places[self._right] - self.lay[self._right, :2], axis=1).mean()
        return -float(apart + 1.2 * moved)

    def score(self):
        return 1.0 - self.performance() / self.first_performance


class BagBox(PickerTask):
    """A box that lies on a sheet is bagged: four pickers take the corners, lift, and carry it.

    Defined here, after the built-in scene box-bagging. The sheet is 0.4 m x 0.4 m, the box has edges of
    6 cm and 0.1 kg and lies up to 2 cm off the middle of the sheet. Score: one less the distance of the box's
    middle from the goal over that at the start. Success: 0.85. Reward: gain of the score.

    An action has velocity and hold for each of the four pickers. State: 3 x 3 vertices, the box's
    place, the goal, the pickers' places (3 each) [m], whether each holds (1 each).
    """

    count = 4
    action_size = 16
    state_size = 9 * 3 + 6 + 4 * 4
    episode_length = 60
    success_score = 0.85
    source = "Pliant"
    low, high = (-0.5, -0.5, 0.012), (0.5, 0.5, 0.7)
    parts = (20, 20)
    half = 0.03

    def episode_scene(self, random):
        side = [n * EDGE for n in self.parts]
        place, turn = random.uniform(-0.02, 0.02, 2).tolist(), float(random.uniform(-0.4, 0.4))
        self.goal = np.array([*random.uniform(-0.15, 0.15, 2), random.uniform(0.2, 0.3)]).round(3)
        cloth = {
            "shape": {"type": "rectangle", "size": side, "parts": list(self.parts)},
            "material": CANVAS,
            "pose": {"position": [0.0, 0.0, LIES]},
            "color": [70, 130, 180],
            "back_color": [235, 200, 120],
        }
        box = {
            "name": "box",
            "motion": {
                "type": "dynamic",
                "pose": {
                    "position": [*place, 2 * LIES + self.half],
                    "orientation": [float(np.cos(turn / 2)), 0.0, 0.0, float(np.sin(turn / 2))],
                },
                "joint": {"type": "free"},
                "mass": 0.1,
            },
            "geometries": [
                {"shape": {"type": "box", "half_extents": [self.half] * 3}, "friction": 0.4, "color": [196, 64, 52]}
            ],
        }
        goal = {
            "name": "goal",
            "motion": {"type": "fixed", "pose": {"position": self.goal.tolist()}},
            "geometries": [
                {"shape": {"type": "sphere", "radius": 0.008}, "collision": False, "color": [240, 210, 60]}
            ],
        }
        corners = [[x, y, 0.1] for x in (-side[0] / 2, side[0] / 2) for y in (-side[1] / 2, side[1] / 2)]
        camera = {"position": [0.6, -0.9, 0.75], "target": [0.0, 0.0, 0.15], "field_of_view": 0.7}
        return scene("bag-box", cloth, [box, goal, *bodies(corners)], camera)

    def begin(self, random):
        rest = rectangle(self.parts).reshape(-1, 3)
        self.pickers = Pickers(self.world, "cloth", rest, self.low, self.high, self.count)
        self.box = self.world.body("box")
        ny = self.parts[1]
        self.key = np.array([i * (ny + 1) + j for i in (0, 10, 20) for j in (0, 10, 20)])
        self.world.step(20)
        self._start = float(np.linalg.norm(self.box.position - self.goal))

    def state(self):
        state = super().state()
        return np.concatenate([state[: 9 * 3], self.box.position, self.goal, state[9 * 3 :]])

    def score(self):
        return 1.0 - float(np.linalg.norm(self.box.position - self.goal)) / self._start

    def reward(self, score, before):
        return score - before
