"""What the dough tasks share: scenes, targets on a mass grid, the soft IoU, manipulators."""

from __future__ import annotations

import numpy as np

import pliant

from ..base import Task

#: Side of the published unit cube [m]; published lengths are given in it.
UNIT = 0.2
#: The region that scores are computed in [m].
REGION = np.array([[-0.12, -0.12, -0.012], [0.12, 0.12, 0.132]])
SOURCE = (
    "Huang et al., PlasticineLab: A Soft-Body Manipulation Benchmark with Differentiable Physics, ICLR 2021, "
    "arXiv:2104.03311; sizes from its public configuration files"
)


class MassGrid:
    """Nodes that fill the region, on which masses are compared.

    Parameters
    ----------
    cell : float
        Spacing of the nodes [m].
    """

    def __init__(self, cell):
        self.cell = cell
        self.counts = np.round((REGION[1] - REGION[0]) / cell).astype(int) + 1

    def masses(self, points, masses):
        """Masses on the nodes, by quadratic B-splines, flat [kg].

        ``points`` are (n, 3) [m]; those outside the region count at its border.
        """
        scaled = np.clip((points - REGION[0]) / self.cell, 1.0, self.counts - 2.0)
        base = np.floor(scaled - 0.5).astype(np.intp)
        offset = scaled - base
        weights = np.stack([0.5 * (1.5 - offset) ** 2, 0.75 - (offset - 1.0) ** 2, 0.5 * (offset - 0.5) ** 2])
        first = (base[:, 0] * self.counts[1] + base[:, 1]) * self.counts[2] + base[:, 2]
        indices, shares = [], []
        for i in range(3):
            for j in range(3):
                pair = masses * weights[i, :, 0] * weights[j, :, 1]
                for k in range(3):
                    indices.append(first + (i * self.counts[1] + j) * self.counts[2] + k)
                    shares.append(pair * weights[k, :, 2])
        return np.bincount(np.concatenate(indices), np.concatenate(shares), int(np.prod(self.counts)))

    def distances(self, grid):
        """Distance of each node to the nearest that has mass in a grid, flat [m]."""
        axes = [REGION[0][a] + self.cell * np.arange(self.counts[a]) for a in range(3)]
        nodes = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
        inside = nodes[grid > 1e-3 * grid.max()]
        norms = (inside**2).sum(1)
        found = np.empty(len(nodes))
        for first in range(0, len(nodes), 4096):
            part = nodes[first : first + 4096]
            squares = (part**2).sum(1)[:, None] + norms - 2.0 * part @ inside.T
            found[first : first + 4096] = np.sqrt(np.maximum(squares.min(1), 0.0))
        found[found < 1e-6] = 0.0
        return found


def soft_iou(one, other):
    """The published soft intersection over union of two mass grids.

    Both are divided by their largest value; then it is the sum of the products over the sum of both
    less the products. Of a grid with itself it is less than 1, as the nodes at its surface are partly full.
    """
    one, other = one / one.max(), other / other.max()
    both = one @ other
    return float(both / (one.sum() + other.sum() - both))


def turned(axis, angle):
    """Unit quaternion (w, x, y, z) of a turn about a unit axis [rad]."""
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * np.asarray(axis, float)])


def product(one, other):
    """Product of two quaternions (w, x, y, z)."""
    (a, u), (b, v) = (one[0], one[1:]), (other[0], other[1:])
    return np.concatenate([[a * b - u @ v], a * v + b * u + np.cross(u, v)])


def rotated(quaternion, vector):
    """A vector turned by a unit quaternion."""
    w, u = quaternion[0], quaternion[1:]
    return vector + 2.0 * np.cross(u, np.cross(u, vector) + w * np.asarray(vector))


class Dough(Task):
    """A task on plasticine with manipulators that move along their axes.

    An episode has one of five configurations, drawn by the seed, or asked for by
    ``reset(options={"configuration": k})``; all else is the same in each.

    Score: the published normalised incremental IoU, (IoU - IoU at the start) / (IoU of the target
    with itself - IoU at the start), of masses on nodes as far apart as those of the simulation, two
    spacings of particles. It is 1 at the target; but the published IoU, of products, is not largest
    there, so near it a score can be a few hundredths above 1. The published score is clamped to
    0 to 1; this one is not.

    Where a target is what a reference motion leaves, the motion is run once for each configuration, at
    the first reset that needs it, and a solution that repeats it at another speed scores nearly 1.

    Reward: how much of a loss is gone, as a fraction of that at the start. The loss has the three
    published terms: mass in the wrong place, mean distance of mass to the target, and squared
    distances from manipulators to the dough. Their weights here are 1, 5 and 5, lengths in units.

    State: 200 particles, as published: places and velocities (1200), then the frames of the
    manipulators (3 or 7 each), then the goal; places in units from the middle, velocities in the
    fastest speed of a manipulator. Success: a score of 0.8, chosen here.

    A unit is 0.2 m. An action takes 20 ms; a manipulator moves at most 0.2 m/s along each axis. An
    episode has 50 actions, as published.
    """

    #: Step of the world [s].
    dt = 0.005
    steps_per_action = 4
    episode_length = 50
    success_score = 0.8
    source = SOURCE
    #: Different targets of a task.
    configurations = 5
    #: Names of the manipulators, radius of each [m], lowest and highest place of their frames [m].
    manipulators: tuple[str, ...]
    radius: float
    low = np.array([-0.1, -0.1, 0.0])
    high = np.array([0.1, 0.1, 0.12])
    #: Fastest motion along an axis [m/s].
    speed = 0.2
    #: Length of the goal, and numbers of the frame of a manipulator in the state.
    goal_size: int
    frame_size = 3
    #: Spacing of particles [m] and plasticine: Young's modulus, yield stress [Pa], densities [kg/m^3].
    spacing = 0.0025
    youngs_modulus, yield_stress = 2e4, 800.0
    densities: dict = {"plasticine": 1000.0}
    #: Steps in which the plasticine settles before an episode.
    settle = 0
    ground: dict = {"type": "frictional", "friction": 0.5}
    #: Where pictures are taken from [m].
    eye = [0.02, -0.25, 0.2]
    _targets: dict = {}

    def __init_subclass__(cls):
        super().__init_subclass__()
        if hasattr(cls, "goal_size"):
            cls.state_size = 1200 + len(cls.manipulators) * cls.frame_size + cls.goal_size

    # What a task has.

    def draw(self, random: np.random.Generator) -> np.ndarray:
        """The goal of a configuration, in units."""
        raise NotImplementedError

    def scene(self) -> tuple[list[dict], list[dict]]:
        """The soft bodies and the bodies of a configuration, whose goal is :attr:`goal`."""
        raise NotImplementedError

    def target(self, points: np.ndarray) -> np.ndarray:
        """Places of all particles in the target [m], from those at the start."""
        raise NotImplementedError

    # What they share.

    def reset(self, *, seed=None, options=None):
        asked = (options or {}).get("configuration")
        if asked is not None and asked not in range(self.configurations):
            raise pliant.ValueError(f"configuration: {asked} must be from 0 to {self.configurations - 1}")
        self._asked = asked
        return super().reset(seed=seed, options=options)

    def episode_scene(self, random):
        drawn = int(random.integers(self.configurations))
        self.configuration = drawn if self._asked is None else int(self._asked)
        letters = [ord(letter) for letter in type(self).__name__]
        self.goal = self.draw(np.random.default_rng([*letters, self.configuration]))
        soft, bodies = self.scene()
        return {
            "name": "plasticine",
            "duration": 100.0,
            "dt": self.dt,
            "grid_spacing": 2 * self.spacing,
            "boundaries": [{"point": [0, 0, 0], "normal": [0, 0, 1], "kind": self.ground}],
            "materials": {
                name: {
                    "model": "von-mises",
                    "density": density,
                    "youngs_modulus": self.youngs_modulus,
                    "poissons_ratio": 0.3,
                    "yield_stress": self.yield_stress,
                }
                for name, density in self.densities.items()
            },
            "soft": soft,
            "bodies": bodies,
            "output": {
                "camera": {"position": self.eye, "target": [0.0, 0.0, 0.02], "field_of_view": 0.55},
                "picture_size": [640, 480],
            },
        }

    def soft(self, name, shape, position, color, material="plasticine"):
        """A piece of plasticine; ``position`` in units."""
        return {
            "name": name,
            "shape": shape,
            "pose": {"position": [UNIT * c for c in position]},
            "material": material,
            "sampling": {"spacing": self.spacing},
            "color": color,
        }

    def manipulator(self, name, geometries, position, orientation=(1, 0, 0, 0)):
        """A body that actions move; ``position`` in units."""
        pose = {"time": 0.0, "position": [UNIT * c for c in position], "orientation": list(orientation)}
        for geometry in geometries:
            geometry.update(friction=geometry.get("friction", 0.9), color=[130, 135, 140])
        return {"name": name, "motion": {"type": "prescribed-poses", "keyframes": [pose]}, "geometries": geometries}

    def ball(self, name, position):
        """A manipulator that is a ball."""
        return self.manipulator(name, [{"shape": {"type": "sphere", "radius": self.radius}}], position)

    def begin(self, random):
        self._masses = np.array(self.world.masses)
        self._nodes = MassGrid(2 * self.spacing)
        if self.settle:
            self.world.step(self.settle)
        key = (type(self), self.configuration)
        if key not in self._targets:
            points = np.array(self.target(np.array(self.world.positions)))
            grid = self._nodes.masses(points, self._masses)
            self._targets[key] = (points, grid, soft_iou(grid, grid), self._nodes.distances(grid))
        #: Places of all particles in the target [m].
        self.target_points, self._grid, self._best, self._distances = self._targets[key]
        self._start = soft_iou(self._nodes.masses(self.world.positions, self._masses), self._grid)
        self._first_loss = self._loss = self.loss()

    def places(self, world=None):
        """Places of the manipulators' frames, (n, 3) [m]."""
        world = self.world if world is None else world
        return np.array([world.body(name).position for name in self.manipulators])

    def apply(self, action):
        self.drive(self.world, action)

    def drive(self, world, action):
        """Moves the manipulators of a world by an action."""
        time = self.steps_per_action * world.dt
        for name, part in zip(self.manipulators, action.reshape(-1, 3), strict=True):
            body = world.body(name)
            body.move_to(np.clip(body.position + self.speed * time * part, self.low, self.high), within=time)

    def score(self):
        return self.score_of(self.world.positions)

    def score_of(self, points):
        """The score if the particles were at ``points``, (n, 3) [m]."""
        iou = soft_iou(self._nodes.masses(points, self._masses), self._grid)
        return (iou - self._start) / (self._best - self._start)

    def reward(self, score, before):
        loss, self._loss = self._loss, self.loss()
        return (loss - self._loss) / self._first_loss

    def loss(self):
        """The loss that the reward is made of [-]."""
        grid, total = self._nodes.masses(self.world.positions, self._masses), self._masses.sum()
        wrong = 0.5 * np.abs(grid - self._grid).sum() / total
        away = grid @ self._distances / total / UNIT
        gaps = np.maximum(self.gaps(np.asarray(self.world.positions)), 0.0) / UNIT
        return float(wrong + 5.0 * away + 5.0 * (gaps**2).sum())

    def gaps(self, points):
        """Distance of the dough from each manipulator [m]; here they are balls."""
        return np.array([np.linalg.norm(points - place, axis=1).min() - self.radius for place in self.places()])

    def frames(self):
        """Frames of the manipulators, as the state has them."""
        return self.places() / UNIT

    def state(self):
        chosen = self._chosen()
        parts = [self.world.positions[chosen] / UNIT, self.world.velocities[chosen] / self.speed]
        return np.concatenate([np.ravel(part) for part in (*parts, self.frames(), self.goal)])

    def visit(self, world, places, speed=0.1):
        """Takes the only manipulator of a world through places [m] in straight lines [m/s]: a reference
        motion, for targets that only such a motion can define."""
        body = world.body(self.manipulators[0])
        for place in places:
            steps = max(1, int(np.ceil(np.linalg.norm(place - body.position) / speed / world.dt)))
            body.move_to(place, within=steps * world.dt)
            world.step(steps)
        world.step(20)
