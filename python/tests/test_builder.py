"""Scenes built step by step."""

import random

import numpy as np
import pytest

import pliant

SEED = 20261126


def cube(**fields):
    scene = pliant.Scene("drop", duration=0.2, dt=2e-3, grid_spacing=0.02, **fields)
    rubber = scene.material(
        "rubber", model="fixed-corotated", density=1000, youngs_modulus=1e5, poissons_ratio=0.3
    )
    scene.soft("cube", pliant.box(0.05, 0.05, 0.05), rubber, position=(0, 0, 0.2))
    scene.body("floor", [{"shape": {"type": "half-space"}, "friction": 0.5}])
    return scene


# Newton's law of free fall: z = z0 - g t^2/2, to the semi-implicit step's g t dt/2 and rounding.
def test_a_built_scene_runs():
    world = cube().world(threads=1)
    world.step(40)
    t, g = world.time, 9.81
    fallen = 0.2 - world.positions[:, 2].mean()
    assert abs(fallen - 0.5 * g * t * t) < g * t * world.dt


# Definition: the parts of a scene, taken apart and added again in any order of the kinds, are that scene.
def test_built_in_scenes_can_be_built_again():
    generator = random.Random(SEED)
    lists = ["soft", "bodies", "cloths", "ropes", "robots", "sensors", "goals"]
    for name in pliant.scene_names():
        whole = pliant.read_scene(name)
        parts = {field: whole.pop(field, None) or [] for field in lists}
        materials = whole.pop("materials", None) or {}
        fields = {k: v for k, v in whole.items() if k not in ("name", "duration", "dt")}
        scene = pliant.Scene(whole["name"], duration=whole["duration"], dt=whole["dt"], **fields)
        generator.shuffle(lists)
        for field in lists:
            for item in parts[field]:
                scene._add(field, **item)
        for material, described in materials.items():
            scene.material(material, **described)
        assert scene.check() == pliant.read_scene(name), (SEED, name)


def test_dynamic_bodies_are_free():
    scene = pliant.Scene("ball", duration=1.0, dt=1e-3)
    scene.body("ball", [{"shape": pliant.sphere(0.05)}], motion="dynamic", position=np.array([0, 0, 1.0]), density=500)
    world = scene.world(threads=1)
    world.step(100)
    assert abs(world.body("ball").linear_velocity[2] + 9.81 * 0.1) < 1e-9


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda s: s.set(gravty=[0, 0, 0]), ["gravty", "did you mean 'gravity'"]),
        (lambda s: s.material("rubber", model="fixed-corotated"), ["rubber", "one of this name"]),
        (lambda s: s.material("foam", model="fixed-corotated", youngs=1e4), ["foam", "youngs"]),
        (lambda s: s.soft("cube", pliant.box(1, 1, 1), "rubber"), ["soft 'cube'", "one of this name"]),
        (lambda s: s.cloth("sheet", colour=[1, 2, 3]), ["cloths 'sheet'", "colour", "color"]),
        (lambda s: s.set(dt=float("nan")), ["a number", "not finite"]),
        (lambda s: s.body("b", [], motion={"type": "fixed"}, density=3), ["bodies 'b'", "density"]),
        (lambda s: s.soft("c", pliant.box(-0.1, 1, 1), "rubber").join(s.check()), ["half_extents"]),
        (lambda s: s.soft("c", pliant.box(0.1, 0.1, 0.1), "lead").join(s.check()), ["lead"]),
    ],
)
def test_wrong_fields_are_named(act, words):
    scene = cube()
    before = scene.to_dict()
    with pytest.raises((pliant.Error, pliant.ValueError)) as caught:
        act(scene)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    # What only the whole scene tells is found by check(), after it was added.
    if words not in (["half_extents"], ["lead"]):
        assert scene.to_dict() == before


def test_a_scene_is_a_copy():
    scene = cube()
    written = scene.to_dict()
    written["soft"].clear()
    assert len(scene.to_dict()["soft"]) == 1
    again = pliant.Scene.of("hold", {"dt": 0.001})
    assert again.to_dict()["dt"] == 0.001 and "hold" in repr(again)


# Statics: a hanging rope at rest carries in each segment the weight of the vertices below it. What is left
# of its vibrations after 1 s is exp(-10 s^-1 t); measured: 1.3e-4 of the whole weight.
def test_a_hanging_rope_carries_its_weight():
    scene = pliant.Scene("hang", duration=2, dt=5e-3, grid_spacing=0.02)
    density, radius, length, segments = 1000.0, 0.004, 0.3, 20
    cord = scene.rope(
        "cord",
        shape={"type": "line", "from": [0, 0, 0], "to": [0, 0, -length]},
        segments=segments,
        mass_damping=20.0,
        material={"density": density, "radius": radius, "youngs_modulus": 1e6},
        pins=[{"at": {"type": "start"}}],
    )
    scene.goal("hangs", rope=cord, quantity={"type": "end-to-end"}, min=length)
    world = scene.world(threads=1)
    world.step(200)
    assert world.ropes == ["cord"] and world.cloths == []
    rope = world.rope(cord)
    vertices = world.positions[rope["vertices"]]
    assert len(vertices) == segments + 1 and rope["radius"] == radius
    weight = density * np.pi * radius**2 * length * 9.81
    below = weight * (segments - np.arange(segments) - 0.5) / segments
    assert np.abs(rope["tension"] - below).max() < 1e-3 * weight
    assert np.allclose(rope["tangent"], [0, 0, -1], atol=1e-3)
    assert np.allclose((rope["tangent"] * rope["director"]).sum(axis=1), 0, atol=1e-12)
    assert np.abs(rope["twist"]).max() < 1e-3 and rope["torque"].shape == (segments - 1,)
    # The end is held where it is told, and let go.
    to = vertices[-1] + [0.01, 0, 0.01]
    world.move_pin(cord, segments, to, within=10 * world.dt)
    world.step(10)
    assert np.allclose(world.positions[rope["vertices"]][-1], to, atol=1e-6)
    world.release_pin(cord, segments)
    world.step(10)
    assert world.positions[rope["vertices"]][-1][2] < to[2]
    with pytest.raises(pliant.SceneError, match="there is no rope 'cable'; known: cord"):
        world.rope("cable")
    with pytest.raises(pliant.SceneError, match="there is no cloth or rope 'cable'; known: cord"):
        world.move_pin("cable", 0, to, within=1.0)
