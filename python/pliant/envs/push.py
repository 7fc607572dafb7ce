"""A soft cube is pushed to a goal: the smallest task here, to train on in minutes."""

from __future__ import annotations

import numpy as np

from .base import Task

#: Half edge of the cube, radius of the pusher, half edge of the field that both stay in [m].
HALF, RADIUS, FIELD = 0.02, 0.015, 0.15
#: Fastest motion of the pusher along an axis [m/s].
SPEED = 0.25


class PushCube(Task):
    """A round pusher pushes a foam cube over a table so that its middle comes to lie on a goal.

    Defined here; it has no published counterpart. An action is the velocity of the pusher along x
    and y, as a fraction of 0.25 m/s, for 50 ms. The cube starts within 1 cm of the middle, the goal
    7 to 10 cm away in a sector of 60 degrees about x, and the pusher behind the cube.

    State: from the pusher to the cube (2) [m], from the cube to the goal (2) [m], velocity of the
    cube (2) [m/s], place of the pusher (2) [m]; lengths in units of 0.1 m. Score: one less the
    distance to the goal over that at the start. Success: 0.85. Reward: gain of the score.
    """

    action_size = 2
    state_size = 8
    steps_per_action = 10
    episode_length = 40
    success_score = 0.85
    source = "Pliant"
    points = 32

    def episode_scene(self, random):
        return {
            "name": "push-cube",
            "duration": 10.0,
            "dt": 0.005,
            "grid_spacing": 0.02,
            "materials": {
                "foam": {"model": "fixed-corotated", "density": 300.0, "youngs_modulus": 3e4, "poissons_ratio": 0.3}
            },
            "soft": [
                {
                    "name": "cube",
                    "shape": {"type": "box", "half_extents": [HALF] * 3},
                    "pose": {"position": [0.0, 0.0, HALF]},
                    "material": "foam",
                    "sampling": {"spacing": 0.01},
                    "color": [235, 160, 60],
                }
            ],
            "bodies": [
                {
                    "name": "table",
                    "motion": {"type": "fixed"},
                    "geometries": [{"shape": {"type": "half-space"}, "friction": 0.3, "color": [200, 200, 195]}],
                },
                {
                    "name": "pusher",
                    "motion": {
                        "type": "prescribed-poses",
                        "keyframes": [{"time": 0.0, "position": [-HALF - RADIUS - 0.02, 0.0, 0.025]}],
                    },
                    "geometries": [
                        {
                            "shape": {"type": "cylinder", "radius": RADIUS, "half_length": 0.02},
                            "friction": 0.3,
                            "color": [60, 120, 180],
                        }
                    ],
                },
            ],
            "output": {"camera": {"position": [-0.25, -0.28, 0.3], "target": [0.03, 0.0, 0.0], "field_of_view": 0.7}},
        }

    def begin(self, random):
        self._pusher = self.world.body("pusher")
        distance, angle = random.uniform(0.07, 0.10), random.uniform(-np.pi / 6, np.pi / 6)
        self.goal = self._cube() + distance * np.array([np.cos(angle), np.sin(angle)])
        self._start = distance
        place = self._pusher.position
        place[:2] += random.uniform(-0.01, 0.01, 2)
        self._pusher.move_to(place, within=self.world.dt)
        self.world.step()

    def apply(self, action):
        time = self.steps_per_action * self.world.dt
        place = self._pusher.position
        place[:2] = np.clip(place[:2] + SPEED * time * action, -FIELD, FIELD)
        self._pusher.move_to(place, within=time)

    def state(self):
        cube, pusher = self._cube(), self._pusher.position[:2]
        masses = self.world.masses
        velocity = (masses @ self.world.velocities)[:2] / masses.sum()
        return np.concatenate([(cube - pusher) / 0.1, (self.goal - cube) / 0.1, velocity / 0.1, pusher / 0.1])

    def score(self):
        return 1.0 - float(np.linalg.norm(self.goal - self._cube())) / self._start

    def _cube(self):
        masses = self.world.masses
        return (masses @ self.world.positions)[:2] / masses.sum()
