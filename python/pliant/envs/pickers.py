"""Points that grab the nearest vertex of a cloth, as in SoftGym, and what tasks with them share."""

from __future__ import annotations

import numpy as np

from .base import Task

#: Fastest motion of a picker along an axis [m/s], as in SoftGym (0.01 m in a step of 0.01 s).
SPEED = 1.0
#: A picker grabs the nearest vertex within this [m]; SoftGym has 0.061 (0.05 + 0.00625 + 0.005).
REACH = 0.06
#: Two held vertices go no farther apart than this times their distance at rest, as in SoftGym's rope.
STRETCH = 1.2
#: A vertex slips from a picker when an edge at it is this times as long as at rest.
SLIP = 1.5
#: Radius at which a picker is drawn [m].
RADIUS = 0.012


class Pickers:
    """Pickers of one cloth. A picker is a point without contact; a vertex that it holds keeps its
    distance from it.

    Parameters
    ----------
    world : pliant.World
        Its world, with bodies "picker 0", "picker 1", ... (:func:`bodies`).
    rest : (vertices, 3)
        Places of the cloth's vertices when it is flat and free of stress [m].
    low, high : (3,)
        Bounds of their places [m].
    """

    def __init__(self, world, cloth, rest, low, high, count=2):
        self.world, self.cloth, self.rest = world, cloth, rest
        self.first = world.cloth(cloth)["vertices"].start
        self.low, self.high = np.asarray(low, float), np.asarray(high, float)
        faces = world.cloth(cloth)["faces"] - self.first
        self._edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
        self._bodies = [world.body(f"picker {k}") for k in range(count)]
        self.held: list[int | None] = [None] * count

    @property
    def places(self):
        """(pickers, 3) [m]"""
        return np.array([body.position for body in self._bodies])

    def vertices(self):
        """(vertices, 3), places of the cloth's vertices [m]."""
        return self.world.positions[self.first : self.first + len(self.rest)]

    def place(self, places):
        """Moves the pickers without what they hold; takes one step."""
        for body, place in zip(self._bodies, np.asarray(places, float), strict=True):
            body.move_to(place, within=self.world.dt)
        self.world.step()

    def hold(self, picker, vertex):
        """A vertex is held where it is."""
        self.held[picker] = int(vertex)
        self.world.move_pin(self.cloth, int(vertex), self.vertices()[vertex], within=self.world.dt)

    def release(self, picker):
        if self.held[picker] is not None:
            self.world.release_pin(self.cloth, self.held[picker])
            self.held[picker] = None

    def grab(self, picker):
        """Holds the nearest vertex within reach that no other picker holds."""
        distance = np.linalg.norm(self.vertices() - self.places[picker], axis=1)
        distance[[v for v in self.held if v is not None]] = np.inf
        if distance.min() <= REACH:
            self.hold(picker, distance.argmin())

    def _slips(self, picker):
        """Whether the cloth is drawn so hard at what a picker holds that it slips."""
        vertex = self.held[picker]
        if vertex is None:
            return False
        edges = self._edges[(self._edges == vertex).any(axis=1)]
        now, rest = (p[edges[:, 0]] - p[edges[:, 1]] for p in (self.vertices(), self.rest))
        return bool((np.linalg.norm(now, axis=1) > SLIP * np.linalg.norm(rest, axis=1)).any())

    def apply(self, action, time):
        """For each picker the velocity, as a fraction of :data:`SPEED`, and whether it holds (above 0)."""
        action = np.asarray(action, float).reshape(-1, 4)
        places = self.places
        for k, one in enumerate(action):
            if one[3] <= 0.0 or self._slips(k):
                self.release(k)
            elif self.held[k] is None:
                self.grab(k)
        wanted = np.clip(places + SPEED * time * action[:, :3], self.low, self.high)
        vertices = self.vertices().copy()
        for k, a in enumerate(self.held):
            for j, b in list(enumerate(self.held))[k + 1 :]:
                if a is None or b is None:
                    continue
                rest = np.linalg.norm(self.rest[a] - self.rest[b])
                moved = vertices[a] + wanted[k] - places[k] - (vertices[b] + wanted[j] - places[j])
                if np.linalg.norm(moved) > max(STRETCH * rest, np.linalg.norm(vertices[a] - vertices[b])):
                    wanted[[k, j]] = places[[k, j]]
        for k, vertex in enumerate(self.held):
            self._bodies[k].move_to(wanted[k], within=time)
            if vertex is not None:
                self.world.move_pin(self.cloth, vertex, vertices[vertex] + wanted[k] - places[k], within=time)


def bodies(places):
    """The bodies of a scene that show pickers at places (pickers, 3) [m]; they touch nothing."""
    colors = ([200, 60, 50], [60, 140, 70], [170, 120, 40], [120, 70, 160])
    return [
        {
            "name": f"picker {k}",
            "motion": {
                "type": "prescribed-poses",
                "keyframes": [{"time": 0.0, "position": [float(x) for x in place]}],
            },
            "geometries": [
                {"shape": {"type": "sphere", "radius": RADIUS}, "collision": False, "color": colors[k % 4]}
            ],
        }
        for k, place in enumerate(places)
    ]


class PickerTask(Task):
    """A task of two pickers on a cloth called "cloth".

    An action has four numbers for each picker: its velocity along x, y and z as a fraction of
    1 m/s, held for an action's time, and whether it holds (above 0). As in SoftGym a step takes
    10 ms, and an action 8 steps.

    A subclass sets ``self.pickers`` and ``self.key`` in ``begin``: the vertices of the state. State:
    their places (3 each), the pickers' places (3 each) [m], whether each holds (1 each).
    """

    action_size = 8
    steps_per_action = 8
    count = 2

    def apply(self, action):
        self.pickers.apply(action, self.steps_per_action * self.world.dt)

    def state(self):
        held = [0.0 if vertex is None else 1.0 for vertex in self.pickers.held]
        keys = self.pickers.vertices()[self.key]
        return np.concatenate([keys.ravel(), self.pickers.places.ravel(), held])

    def reward(self, score, before):
        """The performance, as in SoftGym; its unit depends on the task."""
        return self.performance()

    def performance(self):
        """What SoftGym calls so: the score before it is normalised."""
        raise NotImplementedError


def table(friction=0.6):
    """A table, for a scene's bodies: everything below z = 0."""
    geometry = {"shape": {"type": "half-space"}, "friction": friction, "color": [206, 200, 190]}
    return {"name": "table", "motion": {"type": "fixed"}, "geometries": [geometry]}
