"""Reads exports back with the tools they are for and compares every number with the originals.

    python read_back.py --random SEEDS PATH_TO_export_run
    python read_back.py RUN_DIRECTORY PATH_TO_export_run

Needs usd-core vtk meshio trimesh pygltflib zarr numpy rerun-sdk av; without them it ends with 3.
32-bit copies must be equal; poses and colours equal within the rounding of their format; pictures
of a video within LEAST_RATIO of the run's.
"""

import csv
import glob
import os
import subprocess
import sys
import tempfile

try:
    import av
    import meshio
    import numpy as np
    import pygltflib
    import rerun
    import trimesh
    import vtk
    import zarr
    from pxr import Usd, UsdGeom
    from rerun.chunk import RrdReader
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError as missing:
    print(f"cannot read back: {missing}; pip install usd-core vtk meshio trimesh pygltflib zarr rerun-sdk av")
    sys.exit(3)

# Least signal-to-noise ratio of pictures [dB]: as in video.rs, where the reason is.
LEAST_RATIO = 36
FIELDS = ["J", "plastic_strain", "stress_norm", "mass", "volume"]


class Original:
    """Frames and tables as the run has them; PLY is read by a parser of six lines."""

    def __init__(self, folder):
        self.paths = sorted(glob.glob(os.path.join(folder, "frames", "*.ply")))
        self.frames = [parse_ply(path) for path in self.paths]
        rows = list(csv.DictReader(open(os.path.join(folder, "frames.csv"))))
        self.time = np.array([float(row["time"]) for row in rows])
        self.names, self.poses = [], np.zeros((len(rows), 0, 7))
        table = os.path.join(folder, "bodies.csv")
        if os.path.exists(table):
            rows = list(csv.DictReader(open(table)))
            count = len(rows) // len(self.time)
            self.names = [row["body"] for row in rows[:count]]
            keys = ["px", "py", "pz", "qw", "qx", "qy", "qz"]
            self.poses = np.array([[float(row[key]) for key in keys] for row in rows])
            self.poses = self.poses.reshape(len(self.time), count, 7)


def parse_ply(path):
    """Vertices as a structured array and triangles, without any library."""
    kinds = {"float": "<f4", "uint8": "u1", "uchar": "u1", "ushort": "<u2", "uint16": "<u2"}
    head, body = open(path, "rb").read().split(b"end_header\n", 1)
    vertex, faces, backs, element = [], 0, 0, None
    count = 0
    for words in (line.split() for line in head.decode().splitlines()):
        if words[0] == "element":
            element = words[1]
            count, faces = (int(words[2]), faces) if element == "vertex" else (count, int(words[2]))
        elif words[0] == "property" and element == "vertex":
            vertex.append((words[2], kinds[words[1]]))
        elif words[0] == "property" and words[1] != "list":
            backs += 1
    kind = np.dtype(vertex)
    points = np.frombuffer(body, kind, count)
    face = np.dtype([("n", "u1"), ("corners", "<i4", 3), ("back", "u1", backs)])
    return points, np.frombuffer(body, face, faces, count * kind.itemsize)["corners"]


def stack(points, names):
    """Columns of a structured array side by side."""
    return np.stack([points[name] for name in names], axis=-1)


def same(found, expected, what):
    """Fails unless the arrays are equal bit for bit."""
    found = np.asarray(found)
    assert found.shape == expected.shape, f"{what}: shape {found.shape}, not {expected.shape}"
    assert np.array_equal(found, expected), f"{what}: differs by {np.abs(found - expected).max()}"


def close(found, expected, what, within):
    """Fails unless the arrays agree within `within`."""
    worst = np.abs(np.asarray(found) - expected).max(initial=0)
    assert worst <= within, f"{what}: differs by {worst}"


def close_poses(found, expected, what, within):
    """As `close`; a quaternion and its negative are the same rotation."""
    found = np.array(found, dtype=float).reshape(expected.shape)
    flip = (found[..., 3:] * expected[..., 3:]).sum(-1) < 0
    found[flip, 3:] *= -1
    close(found, expected, what, within)


def linear(colors):
    """sRGB as linear light."""
    c = colors / 255.0
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def check_arrays(original, data, names, what):
    """The arrays of NPZ and Zarr."""
    same(data["time"][:], original.time, f"{what} time")
    close_poses(data["body_poses"][:], original.poses, f"{what} poses", 1e-15)
    assert list(names) == original.names, f"{what} names"
    positions, velocities = data["positions"][:], data["velocities"][:]
    radius, colors = data["radius"][:], data["colors"][:]
    extra = {name: data[name][:] for name in [*FIELDS, "affine"] if name in data}
    for step, (points, corners) in enumerate(original.frames):
        same(positions[step], stack(points, "xyz"), f"{what} positions")
        same(velocities[step], stack(points, ["vx", "vy", "vz"]), f"{what} velocities")
        same(radius[step], points["radius"], f"{what} radius")
        same(colors[step], stack(points, ["red", "green", "blue"]), f"{what} colors")
        same(data["material"][:], points["material"], f"{what} material")
        same(data["cloth_triangles"][:], corners, f"{what} cloth")
        for name in FIELDS:
            assert (name in extra) == (name in points.dtype.names), f"{what} {name}"
            if name in extra:
                same(extra[name][step], points[name], f"{what} {name}")
        if "affine" in extra:
            nine = stack(points, [f"affine_{i}{j}" for i in "xyz" for j in "xyz"])
            same(extra["affine"][step].reshape(-1, 9), nine, f"{what} affine")


def check_meshio(original):
    """meshio reads our frames: points, properties and triangles."""
    for path, (points, corners) in zip(original.paths, original.frames):
        mesh = meshio.read(path)
        same(mesh.points, stack(points, "xyz"), "meshio points")
        for name in points.dtype.names[3:]:
            same(mesh.point_data[name], points[name], f"meshio {name}")
        found = [block.data for block in mesh.cells]
        same(np.concatenate(found) if found else np.zeros((0, 3), int), corners, "meshio triangles")


def read_vtp(path):
    """A file of polygons as VTK reads it."""
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(path)
    reader.Update()
    assert reader.GetErrorCode() == 0, path
    return reader.GetOutput()


def turned(vertices, poses):
    """Vertices [m] moved by poses, one each."""
    w, axis = poses[:, 3:4], poses[:, 4:]
    return vertices + 2 * np.cross(axis, np.cross(axis, vertices) + w * vertices) + poses[:, :3]


def check_vtk_bodies(original, data, folder):
    """Each triangle of each body where its pose puts it; meshes are those of the NPZ file."""
    triangles, owner = data["mesh_triangles"].astype(int), data["mesh_body"].astype(int)
    assert open(f"{folder}/body_names.txt").read().split("\n")[:-1] == original.names, "vtk names"
    vertices = data["mesh_vertices"].astype(float)
    owners = np.zeros(len(vertices), int)
    owners[triangles] = owner[:, None]
    for step, poses in enumerate(original.poses):
        path = f"{folder}/bodies_{step:06}.vtp"
        if not len(triangles):
            assert not os.path.exists(path), "vtk: bodies of no shape"
            continue
        found = read_vtp(path)
        cells = found.GetCellData()
        same(vtk_to_numpy(cells.GetArray("body")), data["mesh_body"], "vtk bodies")
        same(vtk_to_numpy(cells.GetArray("color")), data["mesh_colors"], "vtk colours of bodies")
        corners = vtk_to_numpy(found.GetPolys().GetConnectivityArray()).reshape(-1, 3)
        same(corners, triangles, "vtk triangles of bodies")
        # Vertices and points have 32 bits: the rounding of the farthest, twice.
        expected = turned(vertices, poses[owners])
        within = 2**-23 * (np.abs(expected).max() + np.abs(vertices).max())
        close(vtk_to_numpy(found.GetPoints().GetData()), expected, "vtk points of bodies", within)


def check_vtk(original, folder):
    """Particles and cloth by their numbers."""
    for step, (points, corners) in enumerate(original.frames):
        seen = np.zeros(len(points), int)
        for name in ["particles", "cloth"]:
            path = f"{folder}/{name}_{step:06}.vtp"
            if not os.path.exists(path):
                continue
            data = read_vtp(path)
            arrays = data.GetPointData()
            index = vtk_to_numpy(arrays.GetArray("particle"))
            seen[index] += 1
            mine = points[index]
            same(vtk_to_numpy(data.GetPoints().GetData()), stack(mine, "xyz"), "vtk points")
            velocity = vtk_to_numpy(arrays.GetArray("velocity"))
            same(velocity, stack(mine, ["vx", "vy", "vz"]), "vtk velocity")
            for field in ["radius", "material", *FIELDS]:
                if field in points.dtype.names:
                    same(vtk_to_numpy(arrays.GetArray(field)), mine[field], f"vtk {field}")
            if name == "cloth" and len(corners):
                found = vtk_to_numpy(data.GetPolys().GetConnectivityArray()).reshape(-1, 3)
                same(index[found], corners, "vtk triangles")
        assert (seen == 1).all(), "vtk: each particle is in one file"


def check_usd(original, folder):
    """Each particle by its number and each body by its name, at every frame."""
    stage = Usd.Stage.Open(f"{folder}/stage.usda")
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1 and UsdGeom.GetStageUpAxis(stage) == "Z"
    bodies = stage.GetPrimAtPath("/World/Bodies").GetChildren()
    assert [prim.GetAttribute("pliant:name").Get() for prim in bodies] == original.names, "usd names"
    soft = stage.GetPrimAtPath("/World/Soft")
    groups = soft.GetChildren() if soft else []
    for step, (points, corners) in enumerate(original.frames):
        code = original.time[step] * stage.GetTimeCodesPerSecond()
        for prim, pose in zip(bodies, original.poses[step]):
            move = UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(code)
            q = move.ExtractRotationQuat()
            found = [*move.ExtractTranslation(), q.GetReal(), *q.GetImaginary()]
            close_poses(np.array(found), pose, "usd pose", 1e-7)
        seen = np.zeros(len(points), int)
        for prim in groups:
            is_cloth = prim.GetTypeName() == "Mesh"
            index = prim.GetAttribute("primvars:particle" if is_cloth else "ids").Get()
            index = np.array(index, dtype=int)
            seen[index] += 1
            mine = points[index]
            get = lambda name: np.array(prim.GetAttribute(name).Get(code))  # noqa: E731
            same(get("points"), stack(mine, "xyz"), "usd points")
            same(get("velocities"), stack(mine, ["vx", "vy", "vz"]), "usd velocities")
            color = stack(mine, ["red", "green", "blue"])
            close(get("primvars:displayColor"), linear(color), "usd color", 1e-6)
            if is_cloth:
                found = np.array(prim.GetAttribute("faceVertexIndices").Get(), dtype=int)
                same(index[found.reshape(-1, 3)], corners, "usd triangles")
            else:
                same(get("widths"), 2 * mine["radius"], "usd widths")
            box = UsdGeom.Boundable.ComputeExtentFromPlugins(UsdGeom.Boundable(prim), code)
            close(get("extent"), np.array(box), "usd extent", 1e-6 * np.abs(np.array(box)).max())
            for field in FIELDS:
                if field in points.dtype.names:
                    same(get(f"primvars:{field}"), mine[field], f"usd {field}")
        assert (seen == 1).all(), "usd: each particle is in one prim"


def check_gltf(original, path):
    """The animation of bodies, particles and cloth; scene graphs of pygltflib and trimesh."""
    document = pygltflib.GLTF2().load(path)
    blob = document.binary_blob()

    def values(number):
        accessor = document.accessors[number]
        view = document.bufferViews[accessor.bufferView]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor.type]
        start = view.byteOffset + (accessor.byteOffset or 0)
        return np.frombuffer(blob, "<f4", accessor.count * width, start).reshape(-1, width)

    motion, times = {}, {}
    for animation in document.animations:
        for channel in animation.channels:
            sampler = animation.samplers[channel.sampler]
            key = (document.nodes[channel.target.node].name, channel.target.path)
            motion[key], times[key] = values(sampler.output), values(sampler.input)[:, 0]
    for number, name in enumerate(original.names):
        turn = motion[name, "rotation"]
        assert ((turn[1:] * turn[:-1]).sum(1) >= 0).all(), "gltf: the quaternion's sign jumps"
        found = np.concatenate([motion[name, "translation"], turn[:, [3, 0, 1, 2]]], axis=1)
        close_poses(found, original.poses[:, number], "gltf pose", 1e-6)
    points, corners = original.frames[0]
    cloth = points["radius"] == 0
    cloth[corners.reshape(-1)] = True
    # Particles are ordered by material, then by number.
    balls = np.flatnonzero(~cloth)
    balls = balls[np.argsort(points["material"][balls], kind="stable")]
    for name, index in [("particles", balls), ("cloth", np.flatnonzero(cloth))]:
        node = next((node for node in document.nodes if node.name == name), None)
        assert (node is not None) == (len(index) > 0), f"gltf: node of {name}"
        if node is not None:
            check_morphs(original, document, node, index, values, motion, times)
            if name == "cloth" and len(corners):
                primitive = document.meshes[node.mesh].primitives[0]
                view = document.bufferViews[document.accessors[primitive.indices].bufferView]
                found = np.frombuffer(blob, "<u4", 3 * len(corners), view.byteOffset).reshape(-1, 3)
                same(index[found], corners, "gltf triangles")
    if original.names or len(points):
        assert len(trimesh.load(path).geometry) > 0, "trimesh finds nothing"


def check_morphs(original, document, node, index, values, motion, times):
    """Positions at the times of the kept frames, and half way between them, as viewers add them up."""
    primitive = document.meshes[node.mesh].primitives[0]
    base = values(primitive.attributes.POSITION)
    targets = [values(target["POSITION"]) for target in primitive.targets or []]
    kept = node.extras["frames_kept"]
    assert node.extras["frames"] == len(original.time) and len(targets) == kept - 1, "gltf: frames"
    steps = [k * (len(original.time) - 1) // max(kept - 1, 1) for k in range(kept)]
    frames = [stack(original.frames[step][0][index], "xyz") for step in steps]
    same(base, frames[0], f"gltf {node.name}")
    if not targets:
        return
    key = (node.name, "weights")
    close(times[key], original.time[steps] - original.time[0], "gltf times", 1e-6 * times[key].max())
    weights = motion[key].reshape(kept, len(targets))
    # Displacements and sums have 32 bits: a rounding each.
    within = 2**-23 * max(np.abs(frame).max() for frame in frames) * 2
    moved = [base + np.einsum("t,tpi->pi", row, np.array(targets)) for row in weights]
    for found, frame in zip(moved, frames):
        close(found, frame, f"gltf {node.name} moved", within)
    for row, following, frame, later in zip(weights, weights[1:], frames, frames[1:]):
        found = base + np.einsum("t,tpi->pi", 0.5 * (row + following), np.array(targets))
        close(found, 0.5 * (frame + later), f"gltf {node.name} half way", within)


def pictures(path):
    """Pictures of a file as RGB, and the times at which they are shown [s]."""
    with av.open(path) as file:
        shown = [(frame.to_ndarray(format="rgb24"), frame.time) for frame in file.decode(video=0)]
        length = float(file.streams.video[0].duration * file.streams.video[0].time_base)
    return [picture for picture, _ in shown], np.array([time for _, time in shown]), length


def check_video(original, path, drawn):
    """Number, times and colours of the pictures; `drawn` has PNG files by their place in the run."""
    found, times, length = pictures(path)
    time = original.time - original.time[0]
    kept, due = [], -np.inf
    for step, now in enumerate(time):
        if now >= due or step == len(time) - 1:
            kept.append(step)
            due = now + 0.99 / 30
    assert len(found) == len(kept), f"video: {len(found)} pictures, not {len(kept)}"
    close(times, time[kept], "video times", 1e-4)
    last = times[-1] - times[-2] if len(times) > 1 else 1.0
    close(np.array([length]), times[-1] + last, "video length", 1e-4)
    with av.open(path) as file:
        context = file.streams.video[0].codec_context
        # BT.709 as colours, curve and matrix; limited range.
        flags = (context.color_primaries, context.color_trc, context.colorspace, context.color_range)
        assert flags == (1, 1, 1, 1), f"video: colours {flags}"
    for place, png in drawn.items():
        with av.open(png) as file:
            expected = next(file.decode(video=0)).to_ndarray(format="rgb24").astype(float)
        noise = ((found[place] - expected) ** 2).mean()
        ratio = 10 * np.log10(255**2 / noise)
        assert ratio >= LEAST_RATIO, f"video: picture {place} has {ratio:.1f} dB"
        print(f"video: picture {place} {ratio:.1f} dB", end="; ")


def rerun_rows(target):
    """Rows of a recording by entity, component and time [s]."""
    rows = {}
    for chunk in RrdReader(target).stream().to_chunks():
        batch = chunk.to_record_batch()
        if "sim_time" not in batch.schema.names:
            continue
        times = batch.column("sim_time").cast("int64").to_pylist()
        for name in batch.schema.names:
            if ":" in name:
                for time, value in zip(times, batch.column(name)):
                    flat = value.values
                    while hasattr(flat, "flatten") and hasattr(flat.type, "value_type"):
                        flat = flat.flatten()
                    key = (str(chunk.entity_path), name.split(":")[1], time)
                    rows[key] = flat.to_numpy(zero_copy_only=False)
    return rows


def check_rerun(original, folder):
    """The script's recording: each particle and pose at each time."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rerun_from_npz.py")
    target = f"{folder}/export.rrd"
    subprocess.run([sys.executable, script, f"{folder}/export.npz", target], check=True)
    rows = rerun_rows(target)
    corner = np.zeros(len(original.frames[0][0]), bool)
    corner[original.frames[0][1].reshape(-1)] = True
    cloth = corner | (original.frames[0][0]["radius"] == 0)
    times = sorted({key[2] for key in rows})
    assert len(times) == len(original.time), "rerun: number of times"
    close(np.array(times) * 1e-9, original.time, "rerun time", 1e-9)
    for time, (points, corners), poses in zip(times, original.frames, original.poses):
        if (~cloth).any():
            found = rows["/world/particles", "positions", time].reshape(-1, 3)
            same(found, stack(points[~cloth], "xyz"), "rerun positions")
            same(rows["/world/particles", "radii", time], points[~cloth]["radius"], "rerun radii")
        if len(corners):
            found = rows["/world/cloth", "vertex_positions", time].reshape(-1, 3)
            same(found, stack(points[cloth], "xyz"), "rerun cloth")
        for name, pose in zip(original.names, poses):
            path = "/world/bodies/" + rerun.escape_entity_path_part(name)
            turn = rows[path, "quaternion", time].reshape(4)[[3, 0, 1, 2]]
            found = np.concatenate([rows[path, "translation", time].reshape(3), turn])
            close_poses(found, pose, "rerun pose", 1e-6)


def check(originals, exports, drawn):
    """All formats of one recording; `drawn` are pictures of frames by their place in the video."""
    original = Original(originals)
    check_meshio(original)
    data = dict(np.load(f"{exports}/export.npz"))
    check_arrays(original, data, data["body_names"], "npz")
    group = zarr.open_group(f"{exports}/export.zarr", mode="r")
    check_arrays(original, group, group.attrs["body_names"], "zarr")
    same(group["diagnostics"][:].view("u8"), data["diagnostics"].view("u8"), "diagnostics")
    assert list(data["diagnostics_columns"]) == group.attrs["diagnostics_columns"]
    check_vtk(original, f"{exports}/export_vtk")
    check_vtk_bodies(original, data, f"{exports}/export_vtk")
    check_usd(original, f"{exports}/export_usd")
    check_gltf(original, f"{exports}/export.glb")
    check_rerun(original, exports)
    check_video(original, f"{exports}/export.mp4", drawn)
    print(f"{originals}: {len(original.frames)} frames, {len(original.frames[0][0])} particles, ", end="")
    print(f"{len(original.names)} bodies agree in all formats")


def main(arguments):
    """Makes the exports and checks them."""
    if len(arguments) == 3 and arguments[0] == "--random":
        for seed in range(int(arguments[1])):
            with tempfile.TemporaryDirectory() as folder:
                print(f"seed {seed}")
                subprocess.run([arguments[2], "--random", str(seed), folder], check=True)
                check(folder, folder, {0: f"{folder}/first.png", -1: f"{folder}/last.png"})
    elif len(arguments) == 2:
        with tempfile.TemporaryDirectory() as folder:
            for name, ending in zip(
                ["usd", "vtk", "gltf", "npz", "zarr", "mp4"],
                ["_usd", "_vtk", ".glb", ".npz", ".zarr", ".mp4"],
            ):
                out = f"{folder}/export{ending}"
                subprocess.run([arguments[1], arguments[0], name, out], check=True)
            preview = f"{arguments[0]}/preview.png"
            check(arguments[0], folder, {-1: preview} if os.path.exists(preview) else {})
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
