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
    lists = ["soft", "bodies", "cloths", "robots", "sensors", "goals"]
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
