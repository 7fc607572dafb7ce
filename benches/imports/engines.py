"""The reference engines, and what is common to comparisons with them."""

import numpy as np

try:
    import mujoco
except ImportError:
    raise SystemExit("MuJoCo is missing: pip install mujoco") from None
try:
    import pinocchio
except ImportError:
    raise SystemExit("Pinocchio is missing: pip install pin") from None

SEED = 20261123
STATES = 3
# Motions: length [s], and steps [s] of the Runge-Kutta rule and of Pliant's simulation. Each is
# taken again with half the step, which shows the error of the integration.
TIME = 0.5
STEPS = {"runge_kutta": 2e-4, "simulation": 4e-4}


def versions():
    """Versions of the engines."""
    return {"mujoco": mujoco.__version__, "pinocchio": pinocchio.__version__, "numpy": np.__version__}


def relative(reference, other):
    """Largest difference relative to the largest number of the reference."""
    reference, other = np.asarray(reference, float), np.asarray(other, float)
    if reference.size == 0:
        return 0.0
    scale = np.abs(reference).max()
    return float(np.abs(reference - other).max() / (scale if scale > 1e-12 else 1.0))


def rotation(quaternion):
    """The matrix of a quaternion (w, x, y, z)."""
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quaternion, float))
    return matrix.reshape(3, 3)


def random_quaternion(random):
    """Uniform over all rotations, (w, x, y, z)."""
    quaternion = random.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def parts(answer):
    """For each link the link that carries it: itself, or for a fixed one that of its parent; None
    for the world, and for what the user moves."""
    carriers = []
    for i, link in enumerate(answer["links"]):
        if link["joint"] == "prescribed":
            carriers.append(None)
        elif link["joint"] != "fixed":
            carriers.append(i)
        else:
            carriers.append(None if link["parent"] is None else carriers[link["parent"]])
    return carriers


def composed(masses, centers, carriers):
    """Mass and centre of mass of what each carrier carries: {carrier: (mass, centre)}. Without a
    mass the centre is None."""
    sums = {}
    for mass, center, carrier in zip(masses, centers, carriers):
        if carrier is not None:
            total, moment = sums.get(carrier, (0.0, np.zeros(3)))
            sums[carrier] = (total + mass, moment + mass * np.asarray(center, float))
    return {c: (m, moment / m if m > 0.0 else None) for c, (m, moment) in sums.items()}


def start_centers(answer):
    """Centres of mass of Pliant's links where its own initial state has them [m]."""
    links = answer["links"]
    return [rotation(l["pose"][:4]) @ np.array(l["center"]) + np.array(l["pose"][4:]) for l in links]


def pliant_parts(answer, centers):
    """`composed` of Pliant's links."""
    return composed([link["mass"] for link in answer["links"]], centers, parts(answer))


def warned(answer):
    """Known differences that Pliant warns of."""
    known = (
        ("left out of a ball joint", "springs of ball joints"),
        ("ball joints have no limits", "limits of ball joints"),
        ("springyield=", "springyield"),
    )
    text = "\n".join(answer["warnings"])
    return [reason for words, reason in known if words in text]


def motion(start, step, alone=True, by="simulation"):
    """A motion as Pliant is asked for it; `alone` is the mechanism without limits, equalities and dry
    friction."""
    on = not alone
    return {
        "start": start, "time": TIME, "step": step, "by": by,
        "limits": on, "equalities": on, "friction": on,
    }


def mechanism_motions(start):
    """The motions of the mechanism alone, each at two steps."""
    return [motion(start, part * step, by=by) for by, step in STEPS.items() for part in (1.0, 0.5)]


def deviations(motions, reference, distance):
    """How far Pliant's motions, by `mechanism_motions`, end from the reference [m], and by how much
    both engines' ends change with a halved step. `reference` is None where it diverges, else with
    its error; `distance(answer of the motion)` compares with it."""
    figures = {}
    for column, (coarse, fine) in (("free_motion", motions[:2]), ("simulated", motions[2:4])):
        failed = "the reference diverges: too stiff" if reference is None else None
        failed = failed or next((m["error"] for m in (coarse, fine) if not m["ok"]), None)
        if failed:
            figures[f"{column}_failed"] = failed
            continue
        figures[column] = distance(fine)
        figures[f"{column}_own_error"] = own_error(coarse, fine)
        figures[f"{column}_seconds"] = round(fine["seconds"], 3)
    if reference is not None:
        figures["reference_error"] = reference
    return figures


def own_error(coarse, fine):
    """How far the ends of a motion at two steps are apart [m]."""
    return float(np.linalg.norm(np.array(fine["centers"]) - np.array(coarse["centers"]), axis=1).max())


def mass_errors(reference, ours):
    """Relative errors of total mass and of the masses of parts, and their names: both {name:
    mass}."""
    total = sum(reference.values())
    error = relative([total], [sum(ours.values())])
    worst, name = 0.0, ""
    for part, mass in reference.items():
        off = abs(mass - ours.get(part, 0.0)) / max(mass, 1e-6 * total, 1e-12)
        if off > worst:
            worst, name = off, part
    return {"total_mass": total, "mass": error, "part_mass": worst, "worst_part": name}


def matched(joints, answer):
    """Pliant's joint for each of the engine's (name, number of velocities): by name, or where names
    are missing by order. None if they do not correspond."""
    ours = answer["joints"]
    by_name = {joint["name"]: joint for joint in ours}
    if all(name in by_name for name, _ in joints):
        found = [by_name[name] for name, _ in joints]
    elif len(ours) == len(joints):
        found = ours
        if any(name and name != joint["name"] for (name, _), joint in zip(joints, ours)):
            return None
    else:
        return None
    return found if all(j["velocities"] == n for (_, n), j in zip(joints, found)) else None
