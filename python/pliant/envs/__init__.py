"""Tasks on soft things as Gymnasium environments.

``gymnasium.make("pliant/NAME-v0")`` makes one of :func:`names` once this module is imported, and
:class:`WorldsVectorEnv` steps many at once.
"""

import gymnasium

from .base import OBSERVATIONS, Task
from .vector import WorldsVectorEnv

__all__ = ["OBSERVATIONS", "Task", "WorldsVectorEnv", "make_vec", "names"]

#: The tasks: name and where its class is.
TASKS: dict[str, str] = {
    "PushCube": "pliant.envs.push:PushCube",
    "Move": "pliant.envs.plasticine:Move",
    "TripleMove": "pliant.envs.plasticine:TripleMove",
    "Torus": "pliant.envs.plasticine:Torus",
    "Rope": "pliant.envs.plasticine:Rope",
    "Writer": "pliant.envs.plasticine:Writer",
    "Pinch": "pliant.envs.plasticine:Pinch",
    "RollingPin": "pliant.envs.plasticine:RollingPin",
    "Chopsticks": "pliant.envs.plasticine:Chopsticks",
    "Table": "pliant.envs.plasticine:Table",
    "Assembly": "pliant.envs.plasticine:Assembly",
    "FoldCloth": "pliant.envs.cloth:FoldCloth",
    "FoldCrumpledCloth": "pliant.envs.cloth:FoldCrumpledCloth",
    "SpreadCloth": "pliant.envs.cloth:SpreadCloth",
    "DropCloth": "pliant.envs.cloth:DropCloth",
    "StraightenRope": "pliant.envs.rope:StraightenRope",
    "FoldShirt": "pliant.envs.garment:FoldShirt",
    "BagBox": "pliant.envs.garment:BagBox",
    "RollDough": "pliant.envs.rolling:RollDough",
    "ScoopGrains": "pliant.envs.grains:ScoopGrains",
    "LiftCube": "pliant.envs.arm:LiftCube",
    "PourGrains": "pliant.envs.grains:PourGrains",
}


def names():
    """The names of the tasks, as ``gymnasium.make`` takes them."""
    return [f"pliant/{name}-v0" for name in TASKS]


def make_vec(name, num_envs, *, threads=None, **arguments):
    """``num_envs`` environments of a task on threads."""
    return WorldsVectorEnv(lambda: gymnasium.make(name, **arguments).unwrapped, num_envs, threads=threads)


for _name, _entry in TASKS.items():
    gymnasium.register(id=f"pliant/{_name}-v0", entry_point=_entry)
