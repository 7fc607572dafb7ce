"""Dough that is rolled out to a disc."""

from __future__ import annotations

import numpy as np

from .base import Task

#: Spacing of the grid and of the particles, radius of the ball, of the pin, half of its length [m].
GRID, SPACING, BALL, PIN, HALF = 0.016, 0.008, 0.04, 0.025, 0.11
#: Radius and height of the disc [m]: it holds 1.2 times the dough.
DISC_RADIUS, DISC_HEIGHT = 0.08, 0.016


class RollDough(Task):
    """A ball of dough is rolled out to a disc with a rolling pin.

    Defined here. Dough: von Mises, 1000 kg/m^3, 20 kPa, yield stress 1 kPa, as in the built-in
    scene dough-pin; a ball of radius 4 cm. The disc has a radius of 8 cm and a height of 16 mm, and
    1.2 times the dough's volume. Score: (m - m0) / (1 - m0), where m is the share of the dough's mass in
    the disc and m0 that at the start. Success: 0.8. Reward: gain of the score.

    An action has the pin's velocity along x, y and z as a fraction of 0.3 m/s and its rate of yaw
    as a fraction of 2 rad/s, held for 80 ms. The pin spins as if it rolled on the dough below it.

    State: the pin's place [m], sine and cosine of its yaw, the share in the disc, and of 16 sectors
    about the disc's middle the share of the mass and the mean distance [m].
    """

    action_size = 4
    state_size = 6 + 2 * 16
    steps_per_action = 8
    episode_length = 150
    success_score = 0.8
    source = "Pliant"
    speed, rate = 0.3, 2.0
    low, high = np.array([-0.12, -0.12, 0.03]), np.array([0.12, 0.12, 0.2])

    def episode_scene(self, random):
        place = random.uniform(-0.01, 0.01, 2).round(4).tolist()
        return {
            "name": "roll-dough",
            "duration": 1000.0,
            "dt": 0.01,
            "substeps": 12,
            "grid_spacing": GRID,
            "contact": {"stiffness": 2000.0, "stiction_tolerance": 0.001, "particle_radius": 0.0},
            "boundaries": [{"point": [0, 0, 0], "normal": [0, 0, 1], "kind": {"type": "frictional", "friction": 1.0}}],
            "materials": {
                "dough": {
                    "model": "von-mises",
                    "density": 1000.0,
                    "youngs_modulus": 2e4,
                    "poissons_ratio": 0.4,
                    "yield_stress": 1000.0,
                }
            },
            "soft": [
                {
                    "name": "dough",
                    "shape": {"type": "sphere", "radius": BALL},
                    "pose": {"position": [*place, BALL]},
                    "material": "dough",
                    "sampling": {"spacing": SPACING},
                    "color": [233, 203, 150],
                }
            ],
            "bodies": [
                {
                    "name": "table",
                    "motion": {"type": "fixed"},
                    "geometries": [{"shape": {"type": "half-space"}, "collision": False, "color": [206, 200, 190]}],
                },
                {
                    "name": "pin",
                    "motion": {
                        "type": "prescribed-poses",
                        "keyframes": [{"time": 0.0, "position": [0.0, 0.0, 0.13]}],
                    },
                    "geometries": [self.cylinder(PIN, HALF, [176, 118, 70]), self.cylinder(0.01, 0.16, [120, 72, 40])],
                },
            ],
            "output": {"camera": {"position": [0.3, -0.45, 0.4], "target": [0.0, 0.0, 0.03], "field_of_view": 0.6}},
        }

    def cylinder(self, radius, half, color):
        """A cylinder along y, which collides if it is the pin."""
        root = float(np.sqrt(0.5))
        return {
            "shape": {"type": "cylinder", "radius": radius, "half_length": half},
            "pose": {"orientation": [root, -root, 0.0, 0.0]},
            "friction": 0.6,
            "collision": radius == PIN,
            "color": color,
        }

    def begin(self, random):
        self.pin = self.world.body("pin")
        self.place, self.yaw, self._spin = np.array([0.0, 0.0, 0.13]), 0.0, 0.0
        self.masses = self.world.masses.copy()
        self._share = self.share()
        self.world.step(10)

    def apply(self, action):
        time = self.steps_per_action * self.world.dt
        place = np.clip(self.place + self.speed * time * action[:3], self.low, self.high)
        self.yaw += self.rate * time * action[3]
        across = np.array([np.cos(self.yaw), np.sin(self.yaw)])
        self._spin += float((place - self.place)[:2] @ across) / PIN
        self.place = place
        # Spin about the pin's own axis (y), then yaw about z.
        a, b = self._spin / 2, self.yaw / 2
        turned = [np.cos(b) * np.cos(a), -np.sin(b) * np.sin(a), np.cos(b) * np.sin(a), np.sin(b) * np.cos(a)]
        self.pin.move_to(place, turned, within=time)

    def share(self):
        """Share of the dough's mass in the disc [-]."""
        x, y, z = self.world.positions.T
        within = (np.hypot(x, y) < DISC_RADIUS) & (z < DISC_HEIGHT)
        return float(self.masses[within].sum() / self.masses.sum())

    def score(self):
        return (self.share() - self._share) / (1.0 - self._share)

    def state(self):
        x, y, _ = self.world.positions.T
        sector = ((np.arctan2(y, x) + np.pi) / (2 * np.pi) * 16).astype(int) % 16
        mass = np.bincount(sector, self.masses, 16)
        distance = np.bincount(sector, self.masses * np.hypot(x, y), 16) / np.maximum(mass, 1e-12)
        pin = [*self.place, np.sin(self.yaw), np.cos(self.yaw), self.share()]
        return np.concatenate([pin, mass / self.masses.sum(), distance])
