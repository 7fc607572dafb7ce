"""A scene built step by step, with the scene format's own words.

    scene = pliant.Scene("drop", duration=1.0, dt=2e-3, grid_spacing=0.02)
    rubber = scene.material("rubber", model="fixed-corotated", density=1000, youngs_modulus=1e5, poissons_ratio=0.3)
    scene.soft("cube", pliant.box(0.05, 0.05, 0.05), rubber, position=(0, 0, 0.2))
    scene.body("floor", [{"shape": {"type": "half-space"}, "friction": 0.5}])
    world = scene.world()

Every keyword is a field of the scene format, so :func:`pliant.scene_schema` describes them all. A
keyword that the format does not have is refused where it is given; values are checked when the scene
is read, by :meth:`Scene.check`, :meth:`Scene.world` or :func:`pliant.run`.
"""

import copy
import difflib
import functools

from ._json import plain
from ._pliant import SceneError, World, read_scene, scene_schema

#: Lists of a scene, with the definition of their items in the schema.
_LISTS = {
    "soft": "SoftBodySpec",
    "bodies": "BodySpec",
    "cloths": "ClothSpec",
    "ropes": "RopeSpec",
    "robots": "Robot",
    "sensors": "Sensor",
    "goals": "Goal",
    "tasks": "Task",
    "constraints": "Constraint",
    "actuators": "Actuator",
    "controllers": "Controller",
    "forces": "Force",
    "boundaries": "Boundary",
}


@functools.cache
def _known_fields(definition):
    """The fields that a definition of the schema has in any of its variants; of the scene for None."""
    schema = scene_schema()
    node = schema if definition is None else schema["$defs"][definition]
    found = set()

    def collect(node):
        found.update(node.get("properties", ()))
        for part in (*node.get("oneOf", ()), *node.get("anyOf", ()), *node.get("allOf", ())):
            collect(part)
        if "$ref" in node:
            collect(schema["$defs"][node["$ref"].rsplit("/", 1)[1]])

    collect(node)
    return frozenset(found)


def _checked(what, definition, fields):
    known = _known_fields(definition)
    for name in fields:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise SceneError(f"{what}: there is no field '{name}'{hint} Fields: {', '.join(sorted(known))}")
    return plain(fields)


def _pose(position, orientation):
    return {"position": list(position), "orientation": list(orientation)}


def box(x, y, z):
    """A box by half of its edges [m]."""
    return {"type": "box", "half_extents": [x, y, z]}


def sphere(radius):
    """A sphere by its radius [m]."""
    return {"type": "sphere", "radius": radius}


def cylinder(radius, half_length):
    """A cylinder about z by its radius and half of its length [m]."""
    return {"type": "cylinder", "radius": radius, "half_length": half_length}


class Scene:
    """A scene: what there is, how it starts, and for how long it runs.

    ``duration`` and ``dt`` in seconds, ``grid_spacing`` in metres (needed with particles); ``fields``
    are others of the format, such as ``gravity``, ``substeps``, ``seed``, ``solver``, ``output``.
    """

    def __init__(self, name, *, duration, dt, **fields):
        fields = _checked(f"scene '{name}'", None, fields)
        self._scene = {"name": name, "duration": duration, "dt": dt, **fields}

    @classmethod
    def of(cls, scene, changes=None):
        """A scene to change: a built-in name, a file or a dict, as :func:`pliant.read_scene` reads it."""
        made = cls.__new__(cls)
        made._scene = read_scene(scene, changes)
        return made

    def _add(self, field, name, **fields):
        what = field if name is None else f"{field} '{name}'"
        item = _checked(what, _LISTS[field], fields if name is None else {"name": name, **fields})
        items = self._scene.setdefault(field, [])
        if name is not None and any(other.get("name") == name for other in items):
            raise SceneError(f"{what}: the scene has one of this name")
        items.append(item)
        return name

    def material(self, name, *, model, **fields):
        """A material of particles; returns its name. Density [kg/m^3], moduli [Pa]."""
        materials = self._scene.setdefault("materials", {})
        if name in materials:
            raise SceneError(f"material '{name}': the scene has one of this name")
        materials[name] = _checked(f"material '{name}'", "Material", {"model": model, **fields})
        return name

    def soft(self, name, shape, material, *, position=(0, 0, 0), orientation=(1, 0, 0, 0), **fields):
        """A shape filled with particles of a material, at a pose in the world [m; w, x, y, z]."""
        pose = _pose(position, orientation)
        return self._add("soft", name, shape=shape, material=material, pose=pose, **fields)

    def body(self, name, geometries, *, motion="fixed", position=(0, 0, 0), orientation=(1, 0, 0, 0), **fields):
        """A rigid body of shapes. ``motion``: ``"fixed"``, ``"dynamic"`` (it is free; ``fields`` then has
        its ``density`` or ``mass`` and what else the format gives such a motion), or a dict."""
        if isinstance(motion, dict):
            if fields:
                raise SceneError(f"bodies '{name}': with a motion as a dict its fields belong into it: {list(fields)}")
            described = motion
        else:
            described = {"type": motion, "pose": _pose(position, orientation), **fields}
            if motion == "dynamic":
                described.setdefault("joint", {"type": "free"})
        return self._add("bodies", name, geometries=geometries, motion=described)

    def cloth(self, name, **fields):
        """A sheet of cloth."""
        return self._add("cloths", name, **fields)

    def rope(self, name, **fields):
        """A rope or cable."""
        return self._add("ropes", name, **fields)

    def robot(self, name, **fields):
        """A robot: ``file``, a path of a MJCF or URDF file, or ``model``, one that comes along."""
        return self._add("robots", name, **fields)

    def sensor(self, name, *, type="tactile-pad", **fields):
        """A tactile pad."""
        return self._add("sensors", name, type=type, **fields)

    def goal(self, name, **fields):
        """A condition that the run is judged by."""
        return self._add("goals", name, **fields)

    def task(self, **fields):
        """What a robot does, through waypoints."""
        self._add("tasks", fields.pop("name", None), **fields)

    def constraint(self, **fields):
        """A constraint between bodies."""
        self._add("constraints", fields.pop("name", None), **fields)

    def actuator(self, **fields):
        """A motor of a joint of the scene."""
        self._add("actuators", fields.pop("name", None), **fields)

    def controller(self, **fields):
        """A controller of a robot."""
        self._add("controllers", fields.pop("name", None), **fields)

    def force(self, **fields):
        """A load on a body."""
        self._add("forces", fields.pop("name", None), **fields)

    def boundary(self, point, normal, **fields):
        """A plane that particles do not cross: a point [m] and the normal towards them."""
        self._add("boundaries", None, point=point, normal=normal, **fields)

    def set(self, **fields):
        """Sets fields of the scene itself, such as ``gravity``."""
        self._scene.update(_checked(f"scene '{self._scene['name']}'", None, fields))
        return self

    def to_dict(self):
        """The scene as written so far; a copy."""
        return copy.deepcopy(self._scene)

    def check(self):
        """Reads the scene as a run would and returns it whole, with its defaults.

        Raises :class:`pliant.SceneError`, which names each field that is wrong.
        """
        return read_scene(self.to_dict())

    def world(self, changes=None, **options):
        """A world of it; arguments as those of :class:`pliant.World`."""
        return World(self.to_dict(), changes, **options)

    def __repr__(self):
        counts = [f"{len(self._scene[field])} {field}" for field in _LISTS if self._scene.get(field)]
        return f"<pliant.Scene '{self._scene['name']}': {', '.join(counts) or 'empty'}>"
