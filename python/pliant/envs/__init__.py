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
}


def names():
    """The names of the tasks, as ``gymnasium.make`` takes them."""
    return [f"pliant/{name}-v0" for name in TASKS]


def make_vec(name, num_envs, *, threads=None, **arguments):
    """``num_envs`` environments of a task on threads."""
    return WorldsVectorEnv(lambda: gymnasium.make(name, **arguments).unwrapped, num_envs, threads=threads)


for _name, _entry in TASKS.items():
    gymnasium.register(id=f"pliant/{_name}-v0", entry_point=_entry)
