"""Counterparts of PlasticineLab's ten tasks on elastoplastic dough.

Huang, Hu, Du, Zhou, Su, Tenenbaum, Gan: PlasticineLab: A Soft-Body Manipulation Benchmark with
Differentiable Physics, ICLR 2021, arXiv:2104.03311. Lengths of bodies and manipulators are those of
its public configuration files, in a unit that is 0.2 m here; what each task chose otherwise is in
its description. The targets are defined here, so scores compare only in their measure.
"""

from ._grasps import Assembly, Move, Table, TripleMove
from ._presses import Pinch, RollingPin, Torus, Writer
from ._ropes import Chopsticks, Rope

__all__ = [
    "Assembly",
    "Chopsticks",
    "Move",
    "Pinch",
    "RollingPin",
    "Rope",
    "Table",
    "Torus",
    "TripleMove",
    "Writer",
]
