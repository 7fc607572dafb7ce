"""A cord and two pickers: SoftGym's task on rope."""

from __future__ import annotations

import numpy as np

from .pickers import Pickers, PickerTask, bodies, table

#: Length and width of the cord, length of its parts, spacing of the grid [m].
LENGTH, WIDTH, EDGE, GRID = 0.5, 0.0125, 0.0125, 0.0125

MATERIAL = {
    "density": 500.0,
    "youngs_modulus": 2e5,
    "poissons_ratio": 0.0,
    "normal_stiffness": 2.5e4,
    "thickness": 0.002,
    "bending_stiffness": 2e-4,
    "damping": 0.5,
}


class StraightenRope(PickerTask):
    """A cord that lies crooked on a table is drawn straight.

    The cord is a flat strip of cloth, 0.5 m x 12.5 mm, with some bending stiffness, which pickers
    can hold; SoftGym's rope has 0.5 m. As there, it starts where four random picks of a vertex, each
    moved to another place, left it. Performance, and reward [m]: -|distance of the ends - 0.5 m|.
    Score, SoftGym's normalised performance: 1 + performance / 0.5 m, so it is not 0 at the start.
    Success, chosen here: 0.9.

    State: 10 vertices along the middle of the strip, pickers' places, whether each holds.
    """

    state_size = 10 * 3 + 2 * 4
    episode_length = 75
    success_score = 0.9
    points = 100
    low, high = (-0.5, -0.5, 0.03), (0.5, 0.5, 0.5)
    source = "Lin, Wang, Olkin and Held 2020, SoftGym, CoRL (arXiv 2011.07215)"
    parts = (round(LENGTH / EDGE), round(WIDTH / EDGE))

    def episode_scene(self, random):
        return {
            "name": "straighten-rope",
            "duration": 1000.0,
            "dt": 0.01,
            "substeps": 24,
            "grid_spacing": GRID,
            "contact": {"particle_radius": 0.004, "stiction_tolerance": 0.001},
            "solver": {"relative_tolerance": 0.05},
            "cloths": [
                {
                    "name": "cloth",
                    "shape": {"type": "rectangle", "size": [LENGTH, WIDTH], "parts": list(self.parts)},
                    "pose": {"position": [0.0, 0.0, 0.004]},
                    "material": MATERIAL,
                    "color": [190, 60, 50],
                    "back_color": [235, 200, 120],
                }
            ],
            "bodies": [table(), *bodies([[0.0, -0.05, 0.1], [0.0, 0.05, 0.1]])],
            "output": {"camera": {"position": [0.35, -0.6, 0.6], "target": [0.0, 0.0, 0.02], "field_of_view": 0.7}},
        }

    def begin(self, random):
        nx, ny = self.parts
        x, y = np.meshgrid(np.linspace(-LENGTH, LENGTH, nx + 1) / 2, np.linspace(-WIDTH, WIDTH, ny + 1) / 2)
        rest = np.stack([x.T, y.T, np.full_like(x.T, 0.004)], axis=-1).reshape(-1, 3)
        self.pickers = Pickers(self.world, "cloth", rest, self.low, self.high)
        self.key = np.linspace(0, nx, 10).round().astype(np.intp) * (ny + 1)
        self.world.step(4)
        self.tangle(random)
        self.pickers.place([[0.0, -0.05, 0.1], [0.0, 0.05, 0.1]])

    def tangle(self, random, picks=4):
        """Random vertices are lifted a little, moved by 10 to 25 cm, and let go."""
        for _ in range(picks):
            vertex = int(random.integers(len(self.pickers.rest)))
            angle, way = random.uniform(0.0, 2.0 * np.pi), random.uniform(0.1, 0.25)
            start = self.pickers.vertices()[vertex].copy()
            place = np.clip(start[:2] + way * np.array([np.cos(angle), np.sin(angle)]), -0.2, 0.2)
            for target, time in [((*start[:2], 0.05), 0.1), ((*place, 0.05), 0.4), ((*place, 0.03), 0.1)]:
                self.world.move_pin("cloth", vertex, target, within=time)
                self.world.step(round(time / self.world.dt))
            self.world.release_pin("cloth", vertex)
            self.world.step(10)

    def ends(self):
        """(2, 3), middles of the ends of the strip [m]."""
        vertices = self.pickers.vertices().reshape(self.parts[0] + 1, self.parts[1] + 1, 3)
        return vertices[[0, -1]].mean(axis=1)

    def performance(self):
        first, last = self.ends()
        return -abs(float(np.linalg.norm(last - first)) - LENGTH)

    def score(self):
        return 1.0 + self.performance() / LENGTH
