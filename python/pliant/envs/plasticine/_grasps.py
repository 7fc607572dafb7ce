"""Tasks of balls that push and grasp: Move, TripleMove, Table, Assembly."""

from __future__ import annotations

import numpy as np

from ._dough import UNIT, Dough

BALL = 0.006


class Move(Dough):
    """Two balls grasp a ball of plasticine and carry it to a target place above the table.

    Published: radius of the plasticine 0.10 to 0.12 units, two balls of radius 0.03. Chosen here:
    it lies on the table, as gravity is that of the earth; the balls start 1 mm beside it, not inside
    it; the target is 0.15 to 0.3 units away in the plane and 0.1 to 0.25 higher.

    Action: velocities of the two balls (6). Goal: radius of the plasticine, middle at the start and
    middle of the target (7).
    """

    action_size = 6
    goal_size = 7
    manipulators = ("left", "right")
    radius = BALL
    spacing = 0.003
    youngs_modulus, yield_stress = 5e4, 2000.0
    low = np.array([-0.1, -0.1, BALL])

    def draw(self, random):
        radius = random.uniform(0.10, 0.12)
        start = np.array([*random.uniform(-0.12, 0.12, 2), radius])
        way, angle = random.uniform(0.15, 0.3), random.uniform(0, 2 * np.pi)
        shift = [way * np.cos(angle), way * np.sin(angle), random.uniform(0.1, 0.25)]
        return np.concatenate([[radius], start, start + shift])

    def scene(self):
        radius, (x, y, z) = self.goal[0], self.goal[1:4]
        piece = self.soft("piece", {"type": "sphere", "radius": UNIT * radius}, (x, y, z), [214, 96, 77])
        aside = radius + 0.035
        return [piece], [self.ball("left", (x - aside, y, z)), self.ball("right", (x + aside, y, z))]

    def target(self, points):
        return points + UNIT * (self.goal[4:7] - self.goal[1:4])


class TripleMove(Dough):
    """Three pairs of balls move three cubes of plasticine to three targets.

    Published: cubes of 0.1 units in a row, six balls of radius 0.03. Chosen here: cubes 0.24 units
    apart instead of 0.2, so that the balls start beside the cubes and not inside them; a target is
    up to 0.04 units away along the row, 0.1 to 0.2 across it, and up to 0.1 higher.

    Action: velocities of the six balls (18). Goal: shifts of the three cubes (9).
    """

    action_size = 18
    goal_size = 9
    manipulators = ("left-0", "right-0", "left-1", "right-1", "left-2", "right-2")
    radius = BALL
    low = np.array([-0.1, -0.1, BALL])

    def draw(self, random):
        sides = random.choice([-1.0, 1.0], 3)
        columns = [random.uniform(-0.04, 0.04, 3), sides * random.uniform(0.1, 0.2, 3), random.uniform(0.0, 0.1, 3)]
        return np.column_stack(columns).ravel()

    def scene(self):
        soft, bodies = [], []
        colors = ([214, 96, 77], [233, 203, 150], [90, 160, 110])
        for k, x in enumerate((-0.24, 0.0, 0.24)):
            shape = {"type": "box", "half_extents": [0.05 * UNIT] * 3}
            soft.append(self.soft(f"cube-{k}", shape, (x, 0.0, 0.05), colors[k]))
            bodies += [self.ball(f"left-{k}", (x - 0.085, 0.0, 0.05)), self.ball(f"right-{k}", (x + 0.085, 0.0, 0.05))]
        return soft, bodies

    def target(self, points):
        points = points.copy()
        for k in range(3):
            points[self.world.soft[f"cube-{k}"]] += UNIT * self.goal[3 * k : 3 * k + 3]
        return points


class Table(Dough):
    """A ball pushes one leg of a table of plasticine outwards.

    Published: four legs of 0.04 x 0.04 x 0.1 units under a top of 0.2 x 0.2 x 0.05, and a ball of
    radius 0.04 between the legs that moves in the plane, by 0.03 an action along an axis; friction
    0.3; a leg has as many particles as the top, so it is denser. Chosen here: the legs stand on the
    ground and are 0.15 long, so that the ball pushes near the foot, as it does in the published
    scene, whose legs end above the ground; the table settles under its weight before the episode;
    legs are 5 times as dense as the top; the target is what a reference motion at half the fastest
    speed leaves, out along a diagonal and back.

    Action: velocity of the ball along x and y, at most 0.3 m/s (2). Goal: farthest place of the ball (2).
    """

    action_size = 2
    goal_size = 2
    manipulators = ("ball",)
    radius = 0.008
    spacing = 0.008 / 3
    youngs_modulus, yield_stress = 5e4, 1000.0
    densities = {"plasticine": 1500.0, "light": 300.0}
    settle = 80
    dt, steps_per_action = 0.0025, 8
    speed = 0.3
    ground = {"type": "frictional", "friction": 0.3}
    low, high = np.array([-0.1, -0.1, 0.009]), np.array([0.1, 0.1, 0.009])

    def draw(self, random):
        angle = np.pi / 4 + np.pi / 2 * int(random.integers(4)) + random.uniform(-0.15, 0.15)
        return random.uniform(0.09, 0.11) * np.array([np.cos(angle), np.sin(angle)])

    def scene(self):
        color = [190, 140, 90]
        leg = {"type": "box", "half_extents": [0.02 * UNIT, 0.02 * UNIT, 0.075 * UNIT]}
        top = {"type": "box", "half_extents": [0.1 * UNIT, 0.1 * UNIT, 0.025 * UNIT]}
        places = [(0.075 * a, 0.075 * b, 0.075) for a, b in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
        soft = [self.soft(f"leg-{k}", leg, place, color) for k, place in enumerate(places)]
        soft.append(self.soft("top", top, (0.0, 0.0, 0.175), [200, 200, 110], "light"))
        return soft, [self.ball("ball", (0.0, 0.0, 0.045))]

    def target(self, points):
        world, first = self.world.branch(), self.places()[0]
        self.visit(world, [np.append(UNIT * self.goal, first[2]), first], 0.15)
        return world.positions

    def drive(self, world, action):
        super().drive(world, np.append(action, 0.0))


class Assembly(Dough):
    """Two balls grasp a ball of plasticine and put it on a block of plasticine.

    Published: a block of 0.16 units, a ball of radius 0.06 beside it, two balls of radius 0.04. In
    the published targets the ball is also deformed; chosen here: it is not, and its place on the
    block is up to 0.03 units off the middle; the ground has friction 1, as the ball would tear off
    a sticky one. The manipulators start beside the ball. On the grid two soft bodies come to rest
    0.8 cells (4 mm) apart, and the target has them touch, so a ball set down exactly scores 0.86.

    Action: velocities of the two balls (6). Goal: middle of the ball in the target (3).
    """

    action_size = 6
    goal_size = 3
    manipulators = ("left", "right")
    radius = 0.008
    youngs_modulus, yield_stress = 5e4, 2000.0
    low = np.array([-0.1, -0.1, 0.008])
    ground = {"type": "frictional", "friction": 1.0}

    def draw(self, random):
        return np.array([0.1, 0.0, 0.22]) + np.append(random.uniform(-0.03, 0.03, 2), 0.0)

    def scene(self):
        block = {"type": "box", "half_extents": [0.08 * UNIT] * 3}
        soft = [
            self.soft("block", block, (0.1, 0.0, 0.08), [233, 203, 150]),
            self.soft("piece", {"type": "sphere", "radius": 0.06 * UNIT}, (-0.2, 0.0, 0.06), [160, 110, 190]),
        ]
        return soft, [self.ball("left", (-0.2, -0.105, 0.06)), self.ball("right", (-0.2, 0.105, 0.06))]

    def target(self, points):
        points = points.copy()
        points[self.world.soft["piece"]] += UNIT * (self.goal - [-0.2, 0.0, 0.06])
        return points
