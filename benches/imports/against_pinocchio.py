"""Comparison with Pinocchio: what it computes of a URDF, and what Pliant does."""

import numpy as np

import engines
from engines import pinocchio as pin

# Steps of the reference motion [s]; half of it shows its error.
STEP = 1e-3
# Shorter ones are taken until the end changes by less [m].
SETTLED = 1e-9


def compare(model, answer, ask):
    """Figures of one file; `ask` asks Pliant for more."""
    kinds = [kind(joint) for joint in model.joints[1:]]
    figures = {"reference_dofs": model.nv, "reasons": reasons(model, answer) + engines.warned(answer)}
    if model.nv != answer["velocities"]:
        figures["dofs_differ"] = True
    joints = [(name, joint.nv) for name, joint in zip(model.names[1:], model.joints[1:])]
    found = engines.matched(joints, answer)
    if found is None or None in kinds:
        figures["reasons"].insert(0, "the joints differ")
        ours = engines.pliant_parts(answer, [link["center"] for link in answer["links"]])
        total, other = sum(i.mass for i in model.inertias[1:]), sum(m for m, _ in ours.values())
        return figures | {"total_mass": total, "mass": engines.relative([total], [other])}
    coordinates = Coordinates(model, kinds, found)
    centers = [link["center"] for link in answer["links"]]
    ours = engines.pliant_parts(answer, centers)
    reference = {model.names[j]: model.inertias[j].mass for j in range(1, model.njoints)}
    paired = {j["name"]: ours.get(j["link"], (0.0, None))[0] for j in found}
    figures |= engines.mass_errors(reference, paired)
    if model.nv == 0:
        return figures
    data = model.createData()
    random = np.random.default_rng(engines.SEED)
    states = [coordinates.random(random) for _ in range(engines.STATES)]
    pin.forwardKinematics(model, data, pin.neutral(model))
    begin = engines.pliant_parts(answer, engines.start_centers(answer))
    figures["place"] = apart(coordinates, joint_parts(model, data), begin)
    # The motion begins where the file is, at speeds that excite every joint.
    rates = random.uniform(-1.0, 1.0, model.nv)
    start = coordinates.named(pin.neutral(model), rates)
    motions = engines.mechanism_motions(start)
    answer = ask(states=[coordinates.named(q, v) for q, v in states], motions=motions)
    for (q, v), ours in zip(states, answer["states"]):
        for key, value in at_state(model, data, coordinates, answer, q, v, ours).items():
            figures[key] = max(figures.get(key, 0.0), value)
    return figures | deviation(model, coordinates, answer, rates)


def kind(joint):
    """The kind of a joint; None for one without a counterpart."""
    name = joint.shortname()
    if name in ("JointModelFreeFlyer", "JointModelPlanar", "JointModelSphericalZYX"):
        return {"JointModelFreeFlyer": "free", "JointModelPlanar": "planar"}.get(name)
    if (joint.nq, joint.nv) == (1, 1):
        return "scalar"
    # A continuous joint has the cosine and the sine of its angle.
    return "circle" if (joint.nq, joint.nv) == (2, 1) else None


def reasons(model, answer):
    """What the motion leaves out, on both sides."""
    found = []
    limits = any(np.isfinite(j["limits"][k]) for j in answer["joints"] for k in (0, 1) if j["limits"][k] is not None)
    for is_so, text in (
        (limits, "without limits"),
        (any(j["friction"] > 0 for j in answer["joints"]), "without dry friction"),
        (answer["equalities"] > 0, "without mimics"),
    ):
        if is_so:
            found.append(text)
    return found


class Coordinates:
    """Coordinates of Pinocchio as Pliant's."""

    def __init__(self, model, kinds, found):
        self.model, self.kinds, self.found = model, kinds, found

    def each(self):
        for kind, joint, ours in zip(self.kinds, self.model.joints[1:], self.found):
            q, v = slice(joint.idx_q, joint.idx_q + joint.nq), slice(joint.idx_v, joint.idx_v + joint.nv)
            yield kind, q, v, ours

    def random(self, random):
        """Positions within limits, and velocities up to 1."""
        model = self.model
        q, v = pin.neutral(model), random.uniform(-1.0, 1.0, model.nv)
        for kind, at, _, _ in self.each():
            if kind == "scalar":
                low, high = model.lowerPositionLimit[at][0], model.upperPositionLimit[at][0]
                # Without usable limits half a turn, or as many metres.
                low, high = (low, high) if -13 < low < high < 13 else (-np.pi, np.pi)
                q[at] = random.uniform(low, high)
            elif kind == "circle":
                angle = random.uniform(-np.pi, np.pi)
                q[at] = np.cos(angle), np.sin(angle)
            elif kind == "planar":
                angle = random.uniform(-np.pi, np.pi)
                q[at] = *random.uniform(-1.0, 1.0, 2), np.cos(angle), np.sin(angle)
            else:
                w, x, y, z = engines.random_quaternion(random)
                q[at] = *random.uniform(-1.0, 1.0, 3), x, y, z, w
        return q, v

    def named(self, q, v):
        """Positions and velocities by the name of the joint."""
        state = {"q": {}, "v": {}}
        velocities = self.change(q) @ v
        for kind, at, _, ours in self.each():
            own = q[at]
            if kind == "circle":
                own = [np.arctan2(own[1], own[0])]
            elif kind == "planar":
                own = [own[0], own[1], np.arctan2(own[3], own[2])]
            elif kind == "free":
                own = [own[6], *own[3:6], *own[:3]]
            first = ours["first_velocity"]
            state["q"][ours["name"]] = [float(x) for x in own]
            state["v"][ours["name"]] = velocities[first : first + ours["velocities"]].tolist()
        return state

    def blocks(self, q):
        """For each joint: rows and columns of its block, and the block of `change`."""
        for kind, at, columns, ours in self.each():
            rows = slice(ours["first_velocity"], ours["first_velocity"] + ours["velocities"])
            if kind == "free":
                x, y, z, w = q[at][3:]
                turn = engines.rotation([w, x, y, z])
                block = np.zeros((6, 6))
                block[:3, 3:] = block[3:, :3] = turn
            elif kind == "planar":
                c, s = q[at][2:]
                block = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
            else:
                block = np.eye(1)
            yield kind, rows, columns, block

    def change(self, q):
        """Pliant's velocities for Pinocchio's, which are in the moving axes: T of v = T u."""
        matrix = np.zeros((self.model.nv, self.model.nv))
        for _, rows, columns, block in self.blocks(q):
            matrix[rows, columns] = block
        return matrix

    def rate(self, q, v):
        """The rate of T times u: a linear velocity in moving axes changes as they turn."""
        out = np.zeros(self.model.nv)
        for kind, rows, columns, block in self.blocks(q):
            u = v[columns]
            if kind == "free":
                out[rows][3:] = block[3:, :3] @ np.cross(u[3:], u[:3])
            elif kind == "planar":
                out[rows] = block @ np.array([-u[2] * u[1], u[2] * u[0], 0.0])
        return out


def joint_parts(model, data):
    """Masses and centres of the moving parts by joint."""
    return {
        j: (model.inertias[j].mass, data.oMi[j].act(model.inertias[j].lever)) for j in range(1, model.njoints)
    }


def at_state(model, data, coordinates, answer, q, v, ours):
    """Figures of one state."""
    mass = np.array(pin.crba(model, data, q))
    mass = np.triu(mass) + np.triu(mass, 1).T + np.diag(model.armature)
    bias = np.array(pin.nonLinearEffects(model, data, q, v))
    free = -np.linalg.solve(mass, bias)
    pin.forwardKinematics(model, data, q)
    change, rate = coordinates.change(q), coordinates.rate(q, v)
    matrix = np.array(ours["mass_matrix"], float)
    other_bias = change.T @ (np.array(ours["bias"], float) + matrix @ rate)
    acceleration = np.linalg.solve(change, np.array(ours["free_acceleration"], float) - rate)
    return {
        "mass_matrix": engines.relative(mass, change.T @ matrix @ change),
        "bias": engines.relative(bias, other_bias),
        "acceleration": engines.relative(free, acceleration),
        "condition": float(np.linalg.cond(mass)),
        "place": apart(coordinates, joint_parts(model, data), engines.pliant_parts(answer, ours["centers"])),
    }


def apart(coordinates, theirs, ours):
    """Largest distance of the centres of mass of moving parts [m]."""
    worst = 0.0
    for j, joint in enumerate(coordinates.found, 1):
        mass, center = theirs[j]
        _, other = ours.get(joint["link"], (0.0, None))
        if mass > 0.0 and other is not None:
            worst = max(worst, float(np.linalg.norm(center - other)))
    return worst


def moved(model, step, damping, rates):
    """The parts after the passive motion, by the Runge-Kutta rule of fourth order."""
    data = model.createData()
    q, v = pin.neutral(model), rates

    def acceleration(q, v):
        return np.array(pin.aba(model, data, q, v, -damping * v))

    for _ in range(round(engines.TIME / step)):
        k1 = acceleration(q, v)
        v2 = v + 0.5 * step * k1
        k2 = acceleration(pin.integrate(model, q, 0.5 * step * v), v2)
        v3 = v + 0.5 * step * k2
        k3 = acceleration(pin.integrate(model, q, 0.5 * step * v2), v3)
        v4 = v + step * k3
        k4 = acceleration(pin.integrate(model, q, step * v3), v4)
        q = pin.integrate(model, q, step / 6 * (v + 2 * v2 + 2 * v3 + v4))
        v = v + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if not np.all(np.isfinite(v)) or np.abs(v).max() > 1e8:
            return None
    pin.forwardKinematics(model, data, q)
    return joint_parts(model, data)


def deviation(model, coordinates, answer, rates):
    """How far Pliant's motions end from the reference [m]."""
    # Pinocchio reads the damping of the file, and leaves it to the caller.
    damping = np.array(model.damping)
    fine, error = None, None
    for step in (STEP, STEP / 4, STEP / 16):
        # Stiff damping needs steps below 2.8 over its rate.
        coarse, fine = fine, moved(model, step, damping, rates)
        if coarse is not None and fine is not None:
            error = max((float(np.linalg.norm(fine[j][1] - coarse[j][1])) for j in fine if fine[j][0] > 0.0), default=0.0)
            if error < SETTLED:
                break

    def distance(ours):
        return apart(coordinates, fine, engines.pliant_parts(answer, ours["centers"]))

    return engines.deviations(answer["motions"], error if fine is not None else None, distance)
