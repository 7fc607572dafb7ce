"""Pliant: soft things and robots touching.

A :class:`World` is built of a scene, a name, a file or a dict, and stepped::

    import pliant

    world = pliant.World("soft-grasp")
    world.step(300)
    print(world.positions[world.soft["cube"]].mean(axis=0))
    world.show()

Units are SI, frames right-handed with z up, quaternions (w, x, y, z).
"""

from ._pliant import (
    GIT_COMMIT,
    BackendError,
    Body,
    BusyError,
    ClosedError,
    Error,
    ForkError,
    PictureError,
    Robot,
    RobotError,
    RunError,
    SceneError,
    StateError,
    StepError,
    StepReport,
    ValueError,
    World,
    __version__,
    estimate,
    gif,
    read_scene,
    run,
    scene_names,
    scene_schema,
    step_worlds,
)
from .builder import Scene, box, cylinder, sphere
from .notebook import Animation, animate, simulate

__all__ = [
    "GIT_COMMIT",
    "Animation",
    "BackendError",
    "Body",
    "BusyError",
    "ClosedError",
    "Error",
    "ForkError",
    "PictureError",
    "Robot",
    "RobotError",
    "RunError",
    "Scene",
    "SceneError",
    "StateError",
    "StepError",
    "StepReport",
    "ValueError",
    "World",
    "__version__",
    "animate",
    "box",
    "cylinder",
    "estimate",
    "gif",
    "read_scene",
    "run",
    "scene_names",
    "scene_schema",
    "simulate",
    "sphere",
    "step_worlds",
]
