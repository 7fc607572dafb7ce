"""Tasks on a rope of plasticine: Rope, Chopsticks."""

from __future__ import annotations

import numpy as np

from ._dough import UNIT, Dough, product, rotated, turned


class Rope(Dough):
    """Two balls wind a rope of plasticine around a pillar.

    Published: a rope of 0.6 x 0.06 x 0.06 units along x on a table with friction 0.3, a pillar of
    radius 0.2 that stands at another place in each configuration, two balls of radius 0.03 behind
    the ends of the rope. Chosen here: in the target the whole rope lies along the pillar.

    Action: velocities of the two balls (6). Goal: place of the pillar in the plane (2).
    """

    action_size = 6
    goal_size = 2
    manipulators = ("left", "right")
    radius = 0.006
    spacing = 0.003
    ground = {"type": "frictional", "friction": 0.3}
    low = np.array([-0.1, -0.12, 0.006])
    high = np.array([0.1, 0.12, 0.1])
    eye = [0.0, -0.12, 0.38]
    #: Place of the rope along y, and radius of the pillar, in units.
    line, pillar = 0.23, 0.2

    def draw(self, random):
        return np.array([random.uniform(-0.06, 0.06), random.uniform(-0.08, -0.01)])

    def scene(self):
        half = [0.3 * UNIT, 0.03 * UNIT, 0.03 * UNIT]
        rope = self.soft("rope", {"type": "box", "half_extents": half}, (0.0, self.line, 0.03), [70, 150, 90])
        shape = {"type": "cylinder", "radius": self.pillar * UNIT, "half_length": 0.1 * UNIT}
        pillar = {
            "name": "pillar",
            "motion": {"type": "fixed"},
            "geometries": [
                {
                    "shape": shape,
                    "pose": {"position": [*(UNIT * self.goal), 0.1 * UNIT]},
                    "friction": 0.9,
                    "color": [90, 95, 105],
                }
            ],
        }
        balls = [self.ball("left", (-0.28, self.line + 0.08, 0.03)), self.ball("right", (0.28, self.line + 0.08, 0.03))]
        return [rope], [*balls, pillar]

    def target(self, points):
        x, y = UNIT * self.goal
        radius = UNIT * (self.pillar + 0.03)
        angle = (points[:, 0] - x) / radius
        away = radius + points[:, 1] - UNIT * self.line
        return np.column_stack([x + away * np.sin(angle), y + away * np.cos(angle), points[:, 2]])


class Chopsticks(Dough):
    """Two chopsticks take a rope of plasticine in its middle and turn it on the table.

    Published: a rope of 0.6 x 0.04 x 0.04 units on a table without friction, two capsules of radius
    0.02 and length 0.2, 0.06 apart, that move and turn together and close. Chosen here: friction 0.1
    of the table, so that the rope does not glide on when it is let go; the target
    lies on the table, turned by 30 to 60 degrees and moved by up to 0.06 units, as a rope of this
    section does not hold its shape in the air under the earth's gravity.

    Action: velocity of the middle (3), rates of turn about x, y and z (at most 6 rad/s), speed at which
    each stick moves outwards (at most 0.05 m/s) (7). Goal: place of the rope's middle in the plane and
    angle of its turn [rad] (3).
    """

    action_size = 7
    goal_size = 3
    frame_size = 7
    manipulators = ("left", "right")
    radius, half = 0.004, 0.016
    spacing = 0.002
    yield_stress = 2000.0
    youngs_modulus = 5e4
    ground = {"type": "frictional", "friction": 0.1}
    turn, closing = 6.0, 0.05

    def draw(self, random):
        angle = random.choice([-1.0, 1.0]) * random.uniform(np.pi / 6, np.pi / 3)
        return np.array([*random.uniform(-0.06, 0.06, 2), angle])

    def scene(self):
        half = [0.02 * UNIT, 0.3 * UNIT, 0.02 * UNIT]
        rope = self.soft("rope", {"type": "box", "half_extents": half}, (0.0, 0.0, 0.02), [90, 130, 190])
        shape = {"type": "capsule", "radius": self.radius, "half_length": self.half}
        sticks = [
            self.manipulator(name, [{"shape": dict(shape), "friction": 2.0}], (0.05 * side, 0.0, 0.15))
            for name, side in (("left", -1), ("right", 1))
        ]
        return [rope], sticks

    def target(self, points):
        (x, y), angle = UNIT * self.goal[:2], self.goal[2]
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        return np.column_stack([points[:, :2] @ turn.T + [x, y], points[:, 2]])

    def grip(self, world=None):
        """Middle of the sticks [m], their orientation, and half of their distance [m]."""
        left, right = self.places(world)
        world = self.world if world is None else world
        return 0.5 * (left + right), world.body("left").orientation, 0.5 * float(np.linalg.norm(right - left))

    def drive(self, world, action):
        time = self.steps_per_action * world.dt
        middle, orientation, gap = self.grip(world)
        rate = self.turn * time * action[3:6]
        angle = float(np.linalg.norm(rate))
        if angle > 0.0:
            orientation = product(turned(rate / angle, angle), orientation)
            orientation /= np.linalg.norm(orientation)
        gap = float(np.clip(gap + self.closing * time * action[6], 0.005, 0.02))
        middle = middle + self.speed * time * action[:3]
        out, along = (rotated(orientation, np.array(v)) for v in ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]))
        lowest = self.radius + self.half * abs(along[2]) + gap * abs(out[2])
        middle = np.clip(middle, [-0.1, -0.1, lowest], [0.1, 0.1, 0.12])
        for name, side in (("left", -1.0), ("right", 1.0)):
            world.body(name).move_to(middle + side * gap * out, orientation, within=time)

    def frames(self):
        bodies = [self.world.body(name) for name in self.manipulators]
        return np.concatenate([np.append(body.position / UNIT, body.orientation) for body in bodies])

    def gaps(self, points):
        along = rotated(self.grip()[1], np.array([0.0, 0.0, 1.0]))
        found = []
        for place in self.places():
            away = points - place
            away = away - np.clip(away @ along, -self.half, self.half)[:, None] * along
            found.append(np.linalg.norm(away, axis=1).min() - self.radius)
        return np.array(found)
