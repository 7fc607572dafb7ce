"""Writes a Rerun recording (.rrd) from an NPZ export.

    python rerun_from_npz.py RUN.npz OUT.rrd

Needs numpy and rerun-sdk. A script, because the crate rerun 0.41 needs rustc 1.98.
Bodies are meshes that move, particles are points with their radii and colours, cloth is a mesh.
The timeline is `sim_time` [s]; z is up. Fields beyond velocity and radius are left out.
"""

import os
import sys

import numpy as np
import rerun as rr


def log_bodies(data):
    """Logs each body's mesh once, in the frame of the body."""
    names = [str(name) for name in data["body_names"]]
    paths = [rr.escape_entity_path_part(name) for name in names]
    owner, corners, colors = data["mesh_body"], data["mesh_triangles"], data["mesh_colors"]
    for number, path in enumerate(paths):
        mine = owner == number
        if not mine.any():
            continue
        # A vertex of its own for each corner, so that faces keep their colours.
        vertices = data["mesh_vertices"][corners[mine].reshape(-1)]
        indices = np.arange(len(vertices), dtype=np.uint32).reshape(-1, 3)
        mesh = rr.Mesh3D(
            vertex_positions=vertices,
            triangle_indices=indices,
            vertex_colors=np.repeat(colors[mine], 3, axis=0),
        )
        rr.log(f"world/bodies/{path}/mesh", mesh, static=True)
    return paths


def main(source, target):
    """Converts `source` into `target`, complete or not at all."""
    if os.path.lexists(target):
        sys.exit(f"{target}: exists already")
    partial = f"{target}.{os.getpid()}.tmp"
    data = dict(np.load(source))
    try:
        rr.init("pliant")
        rr.save(partial)
        rr.log("world", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
        paths = log_bodies(data)
        triangles = data["cloth_triangles"]
        corner = np.zeros(len(data["material"]), dtype=bool)
        corner[triangles.reshape(-1)] = True
        # Cloth is all that is no ball, as in the other formats.
        cloth_only = (data["radius"][0] == 0) | corner
        place = (np.cumsum(cloth_only) - 1).astype(np.uint32)
        for step, time in enumerate(data["time"]):
            rr.set_time("sim_time", duration=float(time))
            for path, pose in zip(paths, data["body_poses"][step]):
                turn = rr.Quaternion(xyzw=pose[[4, 5, 6, 3]])
                rr.log(f"world/bodies/{path}", rr.Transform3D(translation=pose[:3], quaternion=turn))
            positions, colors = data["positions"][step], data["colors"][step]
            balls = ~cloth_only
            if balls.any():
                points = rr.Points3D(
                    positions[balls], radii=data["radius"][step][balls], colors=colors[balls]
                )
                rr.log("world/particles", points)
            if len(triangles):
                cloth = rr.Mesh3D(
                    vertex_positions=positions[cloth_only],
                    triangle_indices=place[triangles],
                    vertex_colors=colors[cloth_only],
                )
                rr.log("world/cloth", cloth)
        rr.disconnect()
        os.rename(partial, target)
    except BaseException:
        if os.path.lexists(partial):
            os.remove(partial)
        raise


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
