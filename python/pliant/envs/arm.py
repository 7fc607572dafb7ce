"""A robot's arm and gripper on a soft thing."""

from __future__ import annotations

import numpy as np

from .base import Task

#: Half edge of the cube [m].
HALF = 0.03
#: Fastest motion of the tool along an axis [m/s].
SPEED = 0.25
#: Joints at the start [rad]: the hand points down, 0.27 m above the table.
READY = (0.0, 0.25, 0.0, -2.2, 0.0, 2.45, 0.7854)
#: Distance of the pads' middle from the hand's frame [m].
TOOL = 0.088


class LiftCube(Task):
    """A seven-axis arm with a parallel gripper grasps a soft cube and lifts it.

    Defined here, with the cube of the built-in scene soft-grasp: foam of 6 cm, 0.108 kg, held by
    friction alone. It lies up to 5 cm from x = 0.5 m, y = 0. Score: the height by which the cube's
    middle has risen over 0.15 m, from 0 to 1. Success: 0.9. Reward: gain of the score.

    An action has the tool's velocity along x, y and z as a fraction of 0.25 m/s, and whether the
    gripper closes (above 0). It is held for 20 ms. The tool keeps pointing down. The joints' torques
    are computed torque (K_p 100/s^2, K_d 20/s) once an action; the joints that are wanted follow the
    tool by damped least squares on the arm's Jacobian.

    State: the tool's place, the cube's middle [m], the cube's velocity [m/s], openings of the
    fingers [m], angles of the joints [rad].
    """

    action_size = 4
    state_size = 3 + 3 + 3 + 2 + 7
    steps_per_action = 10
    episode_length = 250
    success_score = 0.9
    source = "Pliant"
    rise = 0.15
    low, high = np.array([0.4, -0.15, 0.025]), np.array([0.62, 0.15, 0.35])

    def episode_scene(self, random):
        place = [*(np.array([0.5, 0.0]) + random.uniform(-0.05, 0.05, 2)).round(4).tolist(), HALF]
        foam = {"model": "fixed-corotated", "density": 500.0, "youngs_modulus": 5e4, "poissons_ratio": 0.3}
        return {
            "name": "lift-cube",
            "duration": 1000.0,
            "dt": 0.002,
            "grid_spacing": 0.015,
            "contact": {"stiction_tolerance": 0.001},
            "materials": {"foam": foam},
            "soft": [
                {
                    "name": "cube",
                    "shape": {"type": "box", "half_extents": [HALF] * 3},
                    "pose": {"position": place},
                    "material": "foam",
                    "color": [236, 160, 60],
                }
            ],
            "bodies": [
                {
                    "name": "table",
                    "motion": {"type": "fixed", "pose": {"position": [0.3, 0.0, -0.02]}},
                    "geometries": [
                        {
                            "shape": {"type": "box", "half_extents": [0.55, 0.5, 0.02]},
                            "friction": 0.6,
                            "color": [190, 164, 130],
                        }
                    ],
                }
            ],
            "robots": [
                {"name": "arm", "model": "panda", "positions": {f"joint{k + 1}": q for k, q in enumerate(READY)}},
                {
                    "name": "hand",
                    "model": "parallel_gripper",
                    "parent": "arm/flange",
                    "pose": {"orientation": [0.923879532511, 0.0, 0.0, -0.382683432365]},
                    "keyframe": "open",
                },
            ],
            "output": {"camera": {"position": [1.2, -0.8, 0.6], "target": [0.35, 0.0, 0.2], "field_of_view": 0.6}},
        }

    def begin(self, random):
        self.arm, self.hand = self.world.robot("arm"), self.world.robot("hand")
        self.wanted = np.array(READY)
        self.goal = self.tool()
        self._height = float(self.cube()[2])

    def tool(self):
        """Place of the pads' middle [m]."""
        place, turn = self.hand.pose("hand")
        return place + TOOL * self._axis(turn)

    def cube(self):
        """Middle of the cube [m]."""
        masses = self.world.masses
        return masses @ self.world.positions / masses.sum()

    def apply(self, action):
        time = self.steps_per_action * self.world.dt
        self.goal = np.clip(self.goal + SPEED * time * action[:3], self.low, self.high)
        # The wanted joints go from where they are towards the goal, the hand upright.
        jacobian = self.arm.jacobian("flange", [0.0, 0.0, TOOL])
        down = self._axis(self.hand.pose("hand")[1])
        error = np.concatenate([np.cross(down, [0.0, 0.0, -1.0]), self.goal - self.tool()])
        ahead = np.concatenate([np.zeros(3), SPEED * action[:3]])
        inverse = jacobian.T @ np.linalg.inv(jacobian @ jacobian.T + 1e-4 * np.eye(6))
        rates = inverse @ (np.clip(5.0 * error, -0.5, 0.5) + ahead)
        self.wanted = np.clip(self.wanted + time * rates, self.arm.positions - 0.1, self.arm.positions + 0.1)
        acceleration = 100.0 * (self.wanted - self.arm.positions) + 20.0 * (rates - self.arm.velocities)
        efforts = self.arm.mass_matrix @ acceleration + self.arm.bias
        self.arm.set_efforts(efforts.tolist())
        opening = 0.02 if action[3] > 0.0 else 0.04
        self.hand.set_controls([opening, opening])

    def state(self):
        masses = self.world.masses
        velocity = masses @ self.world.velocities / masses.sum()
        return np.concatenate([self.tool(), self.cube(), velocity, self.hand.positions, self.arm.positions])

    def score(self):
        return float(np.clip((self.cube()[2] - self._height) / self.rise, 0.0, 1.0))

    def camera(self):
        return [1.2, -0.8, 0.6], [0.35, 0.0, 0.2], 0.6

    @staticmethod
    def _axis(turn):
        """The z axis of a frame, from its quaternion."""
        w, x, y, z = turn
        return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
