"""Tasks that shape a block on the table: Torus, Writer, Pinch, RollingPin."""

from __future__ import annotations

import numpy as np

from ._dough import UNIT, Dough, product, rotated, turned


class _Block(Dough):
    """A flat block that sticks to the table, as published 0.3 x 0.3 x 0.1 units."""

    ground = {"type": "sticky"}

    def block(self):
        shape = {"type": "box", "half_extents": [0.15 * UNIT, 0.15 * UNIT, 0.05 * UNIT]}
        return self.soft("block", shape, (0.0, 0.0, 0.05), [214, 200, 110])


class Torus(_Block):
    """A ring is pressed into a block of plasticine at a target place.

    Published: the block sticks to the ground; radii of the ring 0.05 units and of its round section
    0.03; it starts 0.2 above the ground and stays 0.05 above it; it moves by 0.004 an action along
    an axis, here 0.02. Chosen here: the target is the imprint that a reference motion at half the
    fastest speed leaves, straight down at the goal and up again; the deepest place of the ring's
    middle is 0.055 to 0.065 units above the ground. The ring is made of twelve capsules.

    Action: velocity of the ring (3). Goal: deepest place of its middle (3).
    """

    action_size = 3
    goal_size = 3
    manipulators = ("ring",)
    ring, radius = 0.01, 0.006
    low = np.array([-0.1, -0.1, 0.01])

    def draw(self, random):
        return np.array([*random.uniform(-0.06, 0.06, 2), random.uniform(0.055, 0.065)])

    def scene(self):
        geometries = []
        for k in range(12):
            angle = np.pi * k / 6
            along = product(turned([0, 0, 1], angle + np.pi / 2), turned([0, 1, 0], np.pi / 2))
            place = self.ring * np.array([np.cos(angle), np.sin(angle), 0.0])
            shape = {"type": "capsule", "radius": self.radius, "half_length": self.ring * np.sin(np.pi / 12)}
            geometries.append({"shape": shape, "pose": {"position": place.tolist(), "orientation": along.tolist()}})
        return [self.block()], [self.manipulator("ring", geometries, (0.0, 0.0, 0.2))]

    def target(self, points):
        world, deep = self.world.branch(), UNIT * self.goal
        above = np.array([deep[0], deep[1], 0.2 * UNIT])
        self.visit(world, [above, deep, above])
        return world.positions

    def gaps(self, points):
        away = points - self.places()[0]
        across = np.hypot(away[:, 0], away[:, 1]) - self.ring
        return np.array([np.hypot(across, away[:, 2]).min() - self.radius])


class Writer(_Block):
    """A pen draws a line of two strokes into a block of plasticine.

    Published: an upright capsule of radius 0.03 units and length 0.06 without friction. Chosen here:
    the target is what a reference motion at half the fastest speed leaves, down at the first of
    three points, through the others and up; the tip goes 0.06 to 0.07 units deep.

    Action: velocity of the pen (3). Goal: the three points in the plane, and the depth of the tip (7).
    """

    action_size = 3
    goal_size = 7
    manipulators = ("pen",)
    radius, half = 0.006, 0.006
    low = np.array([-0.1, -0.1, 0.01])

    def draw(self, random):
        first = random.uniform(-0.08, 0.08, 2)
        points = [first]
        while len(points) < 3:
            point = random.uniform(-0.09, 0.09, 2)
            if 0.1 < np.linalg.norm(point - points[-1]) < 0.18:
                points.append(point)
        return np.append(np.ravel(points), random.uniform(0.06, 0.07))

    def scene(self):
        shape = {"type": "capsule", "radius": self.radius, "half_length": self.half}
        return [self.block()], [self.manipulator("pen", [{"shape": shape, "friction": 0.0}], (0.0, 0.0, 0.2))]

    def strokes(self):
        """Places of the pen's frame along the line: above, down, through, up [m]."""
        points = UNIT * self.goal[:6].reshape(3, 2)
        deep = UNIT * (0.1 - self.goal[6]) + self.radius + self.half
        line = [np.array([*point, deep]) for point in points]
        return [np.array([*points[0], 0.04]), *line, np.array([*points[2], 0.04])]

    def target(self, points):
        world = self.world.branch()
        self.visit(world, self.strokes())
        return world.positions

    def gaps(self, points):
        away = points - self.places()[0]
        away[:, 2] -= np.clip(away[:, 2], -self.half, self.half)
        return np.array([np.linalg.norm(away, axis=1).min() - self.radius])


class Pinch(Dough):
    """A ball makes two dents in a cube of plasticine: one in its top, one in a side.

    Published: a cube of 0.2 units that sticks to the ground, a ball of radius 0.04 that starts 0.35
    above the ground. Chosen here: the target is what a reference motion at half the fastest speed
    leaves; a dent is 0.04 to 0.06 units deep.

    Action: velocity of the ball (3). Goal: for each dent the place of the ball's middle before it
    and at its deepest (12).
    """

    action_size = 3
    goal_size = 12
    manipulators = ("ball",)
    radius = 0.008
    spacing = 0.003
    ground = {"type": "sticky"}
    low = np.array([-0.1, -0.1, 0.008])

    def draw(self, random):
        top = np.array([*random.uniform(-0.04, 0.04, 2), 0.26])
        deep = top - [0.0, 0.0, 0.02 + random.uniform(0.04, 0.06)]
        angle = np.pi / 2 * int(random.integers(4))
        out = np.array([np.cos(angle), np.sin(angle), 0.0]).round()
        beside = 0.16 * out + random.uniform(-0.04, 0.04) * np.array([-out[1], out[0], 0.0])
        beside[2] = random.uniform(0.08, 0.12)
        return np.concatenate([top, deep, beside, beside - (0.02 + random.uniform(0.04, 0.06)) * out])

    def scene(self):
        cube = {"type": "box", "half_extents": [0.1 * UNIT] * 3}
        return [self.soft("cube", cube, (0.0, 0.0, 0.1), [120, 170, 120])], [self.ball("ball", (0.0, 0.0, 0.35))]

    def dents(self):
        """Places of the ball's middle along the motion [m]."""
        top, deep, beside, inside = UNIT * self.goal.reshape(4, 3)
        over = np.array([beside[0], beside[1], top[2]])
        return [top, deep, top, over, beside, inside, beside]

    def target(self, points):
        world = self.world.branch()
        self.visit(world, self.dents())
        return world.positions


class RollingPin(_Block):
    """A rolling pin flattens a block of plasticine.

    Published: a pin of radius 0.03 units and length 0.3 that rolls across its axis, turns about the
    vertical and is raised and lowered. Chosen here: length 0.44, so that it is longer than the block is
    wide; the pin turns as it rolls, without slip; the target is the block flattened to 0.65 to 0.8
    of its height, longer across the pin and wider along it, of the same volume.

    Action: velocity across the axis, rate of turn about the vertical (at most 3 rad/s), velocity
    along the vertical (3). Goal: the three factors of the block's lengths (3).
    """

    action_size = 3
    goal_size = 3
    frame_size = 7
    manipulators = ("pin",)
    radius, half = 0.006, 0.044
    spacing = 0.003
    ground = {"type": "frictional", "friction": 1.5}
    low = np.array([-0.1, -0.1, 0.009])
    turn = 3.0

    def draw(self, random):
        height, share = random.uniform(0.65, 0.8), random.uniform(0.75, 0.85)
        return np.array([(1 / height) ** share, (1 / height) ** (1 - share), height])

    def scene(self):
        across = turned([1, 0, 0], np.pi / 2)
        shape = {"type": "cylinder", "radius": self.radius, "half_length": self.half}
        pin = self.manipulator("pin", [{"shape": shape}], (0.0, 0.0, 0.135), across)
        return [self.block()], [pin]

    def target(self, points):
        return points * self.goal

    def heading(self, world=None):
        """Angle of the direction that the pin rolls in, about the vertical from x [rad]."""
        world = self.world if world is None else world
        axis = rotated(world.body("pin").orientation, np.array([0.0, 0.0, -1.0]))
        return float(np.arctan2(-axis[0], axis[1]))

    def drive(self, world, action):
        time, body = self.steps_per_action * world.dt, world.body("pin")
        angle = self.heading(world) + 0.5 * self.turn * time * action[1]
        ahead = np.array([np.cos(angle), np.sin(angle), 0.0])
        start = body.position
        place = np.clip(start + self.speed * time * (action[0] * ahead + [0, 0, action[2]]), self.low, self.high)
        roll = turned([-ahead[1], ahead[0], 0.0], (place - start) @ ahead / self.radius)
        yaw = turned([0, 0, 1], self.turn * time * action[1])
        orientation = product(yaw, product(roll, body.orientation))
        body.move_to(place, orientation / np.linalg.norm(orientation), within=time)

    def frames(self):
        body = self.world.body("pin")
        return np.concatenate([body.position / UNIT, body.orientation])

    def gaps(self, points):
        away, angle = points - self.places()[0], self.heading()
        axis = np.array([-np.sin(angle), np.cos(angle), 0.0])
        away -= np.clip(away @ axis, -self.half, self.half)[:, None] * axis
        return np.array([np.linalg.norm(away, axis=1).min() - self.radius])
