"""Comparison with MuJoCo: what it computes of a model, and what Pliant does."""

import numpy as np

import engines
from engines import mujoco

FREE, BALL, SLIDE, HINGE = range(4)
SIZES = {FREE: (7, 6), BALL: (4, 3), SLIDE: (1, 1), HINGE: (1, 1)}
OFF = mujoco.mjtDisableBit
# Without joints' limits, dry friction, equalities: the mechanism alone.
MECHANISM = (
    OFF.mjDSBL_CONTACT | OFF.mjDSBL_LIMIT | OFF.mjDSBL_EQUALITY | OFF.mjDSBL_FRICTIONLOSS | OFF.mjDSBL_ACTUATION
)
PASSIVE = OFF.mjDSBL_CONTACT | OFF.mjDSBL_ACTUATION
# A reference motion is taken with ever shorter steps [s] until that changes its end by less [m]:
# Runge-Kutta of fourth order; where damping is too stiff for it, implicit steps. Limits and soft
# equalities are not smooth, and make it settle slowly.
SETTLED = {"alone": 1e-7, "as written": 1e-5}
RUNGE_KUTTA = (2e-4, 1e-4, 5e-5, 2e-5)
IMPLICIT = (2e-5, 1e-5)


def compare(model, answer, ask):
    """Figures of one file; `ask` asks Pliant for more."""
    written = model.opt.disableflags
    joints = [(model.joint(j).name, SIZES[int(model.jnt_type[j])][1]) for j in range(model.njnt)]
    found = engines.matched(joints, answer)
    figures = {"reference_dofs": model.nv, "reasons": reasons(model) + engines.warned(answer)}
    if model.nv != answer["velocities"]:
        figures["dofs_differ"] = True
    links = [joint["link"] for joint in found] if found else []
    model.opt.disableflags = written | MECHANISM
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    figures |= masses(model, data, answer, links)
    if found is None or figures.get("dofs_differ"):
        figures["reasons"].insert(0, "the joints differ")
        return figures
    if model.nv == 0:
        return figures
    pose = Pose(model, found)
    random = np.random.default_rng(engines.SEED)
    states = [random_state(model, random) for _ in range(engines.STATES)]
    limited = np.any(model.jnt_limited) or np.any(model.tendon_limited)
    dry = np.any(model.dof_frictionloss) or np.any(model.tendon_frictionloss)
    has_constraints = bool(limited or dry or model.neq)
    begin = engines.pliant_parts(answer, engines.start_centers(answer))
    figures["place"] = apart(model, body_parts(model, data), begin, links)
    # At speeds that excite every joint.
    qpos, rates = within_limits(model), random.uniform(-1.0, 1.0, model.nv)
    start = pose.named(qpos, rates)
    motions = engines.mechanism_motions(start)
    free = moved(model, written | MECHANISM, qpos, rates)
    if has_constraints:
        if model.neq:
            # Speeds that the constraints forbid would be taken away at once by near-rigid ones.
            qpos, rates = model.qpos0, np.zeros(model.nv)
        start = pose.named(qpos, rates)
        step = engines.STEPS["simulation"]
        motions += [engines.motion(start, part * step, alone=False) for part in (1.0, 0.5)]
    answer = ask(states=[pose.named(q, v) for q, v in states], motions=motions)
    for (q, v), ours in zip(states, answer["states"]):
        figures = worse(figures, at_state(model, data, pose, answer, links, q, v, ours))

    def distance(reference):
        return lambda ours: apart(model, reference[0], engines.pliant_parts(answer, ours["centers"]), links)

    error = None if free is None else free[1]
    figures |= engines.deviations(answer["motions"], error, distance(free))
    if has_constraints:
        full, (coarse, ours) = moved(model, written | PASSIVE, qpos, rates), answer["motions"][4:]
        if full is None or not ours["ok"]:
            figures["motion_failed"] = ours.get("error", "the reference diverges")
        else:
            figures |= {"motion": distance(full)(ours), "motion_reference_error": full[1]}
            if coarse["ok"]:
                figures["motion_own_error"] = engines.own_error(coarse, ours)
    return figures


def worse(a, b):
    """The larger figure of two states."""
    return a | {key: max(a.get(key, 0.0), value) for key, value in b.items()}


def reasons(model):
    """What the motion as written has besides the mechanism, then what the engines do not both
    model."""
    found = []
    for is_so, text in (
        (np.any(model.jnt_limited) or np.any(model.tendon_limited), "limits"),
        (model.neq > 0, "equalities"),
        (np.any(model.dof_frictionloss) or np.any(model.tendon_frictionloss), "dry friction"),
        (model.ntendon > 0, "tendons"),
        (np.any(model.tendon_armature), "inertia of tendons"),
        (model.nflex > 0, "flex"),
        (model.nplugin > 0, "plugins"),
        (model.opt.density > 0 or model.opt.viscosity > 0, "air or water"),
    ):
        if is_so:
            found.append(text)
    return found


def carriers(model):
    """For each body the one that moves it, None for those that are static or moved by the user."""
    return [int(b) if model.body_dofnum[b] else None for b in model.body_weldid]


def body_parts(model, data):
    """Masses and centres of the moving parts: {body: (mass, centre)}."""
    return engines.composed(model.body_mass, data.xipos, carriers(model))


def link_of(model, body, links):
    """Pliant's link of a part: that of the last joint of its body."""
    return links[model.body_jntadr[body] + model.body_jntnum[body] - 1]


def masses(model, data, answer, links):
    """Masses in all, and of the parts."""
    theirs = body_parts(model, data)
    centers = [link["center"] for link in answer["links"]]
    ours = engines.pliant_parts(answer, centers)
    if not links:
        total, other = sum(m for m, _ in theirs.values()), sum(m for m, _ in ours.values())
        return {"total_mass": total, "mass": engines.relative([total], [other])}
    names = {body: model.body(body).name or f"body {body}" for body in theirs}
    reference = {names[body]: mass for body, (mass, _) in theirs.items()}
    # What a chain of joints carries besides its end has no mass.
    paired = {names[body]: ours.get(link_of(model, body, links), (0.0, None))[0] for body in theirs}
    figures = engines.mass_errors(reference, paired)
    figures["mass"] = engines.relative([sum(reference.values())], [sum(m for m, _ in ours.values())])
    return figures


class Pose:
    """Coordinates of MuJoCo as Pliant's."""

    def __init__(self, model, found):
        self.model, self.found = model, found

    def each(self):
        """Joint: its type, the places of its numbers in MuJoCo, and Pliant's joint."""
        model = self.model
        for j, ours in enumerate(self.found):
            kind = int(model.jnt_type[j])
            p, n = SIZES[kind]
            first, at = model.jnt_qposadr[j], model.jnt_dofadr[j]
            yield kind, slice(first, first + p), slice(at, at + n), ours

    def named(self, qpos, qvel):
        """Positions and velocities by the name of the joint."""
        state = {"q": {}, "v": {}}
        velocities = self.change(qpos) @ qvel
        for kind, q, _, ours in self.each():
            own = qpos[q]
            own = np.concatenate([own[3:], own[:3]]) if kind == FREE else own
            first = ours["first_velocity"]
            state["q"][ours["name"]] = own.tolist()
            state["v"][ours["name"]] = velocities[first : first + ours["velocities"]].tolist()
        return state

    def change(self, qpos):
        """Pliant's velocities for MuJoCo's: T of v = T u. Its rate adds no acceleration: angular
        velocities change in the turning axes as in those at rest."""
        size = self.model.nv
        matrix = np.zeros((size, size))
        for kind, q, v, ours in self.each():
            rows = slice(ours["first_velocity"], ours["first_velocity"] + ours["velocities"])
            if kind == FREE:
                block = np.zeros((6, 6))
                block[:3, 3:] = engines.rotation(qpos[q][3:])
                block[3:, :3] = np.eye(3)
            elif kind == BALL:
                block = engines.rotation(qpos[q])
            else:
                block = np.eye(1)
            matrix[rows, v] = block
        return matrix


def random_state(model, random):
    """Positions within limits, and velocities up to 1."""
    qpos, qvel = model.qpos0.copy(), random.uniform(-1.0, 1.0, model.nv)
    for j in range(model.njnt):
        kind, first = int(model.jnt_type[j]), model.jnt_qposadr[j]
        if kind == FREE:
            qpos[first : first + 3] = random.uniform(-1.0, 1.0, 3)
            qpos[first + 3 : first + 7] = engines.random_quaternion(random)
        elif kind == BALL:
            qpos[first : first + 4] = engines.random_quaternion(random)
        else:
            reach = np.pi if kind == HINGE else 0.5
            low, high = model.jnt_range[j] if model.jnt_limited[j] else (-reach, reach)
            qpos[first] = random.uniform(max(low, -4 * reach), min(high, 4 * reach))
    return qpos, qvel


def within_limits(model):
    """The configuration of the file; coordinates near or beyond a limit are moved a tenth of the
    range inside."""
    qpos = model.qpos0.copy()
    for j in range(model.njnt):
        if model.jnt_limited[j] and int(model.jnt_type[j]) in (SLIDE, HINGE):
            low, high = model.jnt_range[j]
            margin = 0.1 * (high - low)
            qpos[model.jnt_qposadr[j]] = np.clip(qpos[model.jnt_qposadr[j]], low + margin, high - margin)
    return qpos


def at_state(model, data, pose, answer, links, qpos, qvel, ours):
    """Figures of one state."""
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(model, data)
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, full)
    change = pose.change(qpos)
    matrix = change.T @ np.array(ours["mass_matrix"], float) @ change
    # A body whose gravity is compensated has no weight in Pliant.
    bias = data.qfrc_bias - data.qfrc_gravcomp
    acceleration = np.linalg.solve(change, np.array(ours["acceleration"], float))
    return {
        "mass_matrix": engines.relative(full, matrix),
        "bias": engines.relative(bias, change.T @ np.array(ours["bias"], float)),
        "acceleration": engines.relative(data.qacc_smooth, acceleration),
        "condition": float(np.linalg.cond(full)),
        "place": apart(model, body_parts(model, data), engines.pliant_parts(answer, ours["centers"]), links),
    }


def apart(model, theirs, ours, links):
    """Largest distance of the centres of mass of moving parts [m]."""
    worst = 0.0
    for body, (_, center) in theirs.items():
        _, other = ours.get(link_of(model, body, links), (0.0, None))
        if center is not None and other is not None:
            worst = max(worst, float(np.linalg.norm(center - other)))
    return worst


def keep_time_constants(model):
    """Writes down the time constants that MuJoCo takes at the step of the file, of which they are at
    least twice as long: shorter steps would leave others."""
    if model.opt.disableflags & OFF.mjDSBL_REFSAFE:
        return
    for solref in (model.jnt_solref, model.eq_solref, model.tendon_solref_lim):
        times = solref[:, 0]
        times[times > 0.0] = np.maximum(times[times > 0.0], 2.0 * model.opt.timestep)


def moved(model, flags, qpos, rates):
    """The parts after the motion, and the change by the last shortening of the step [m]; None if no
    step is short enough."""
    settled = SETTLED["alone" if flags & OFF.mjDSBL_LIMIT else "as written"]
    keep_time_constants(model)
    kept = (model.opt.timestep, model.opt.integrator, model.opt.disableflags)
    model.opt.disableflags = flags
    best = None
    kinds = mujoco.mjtIntegrator
    for integrator, steps in ((kinds.mjINT_RK4, RUNGE_KUTTA), (kinds.mjINT_IMPLICITFAST, IMPLICIT)):
        last = None
        for step in steps:
            model.opt.timestep, model.opt.integrator = step, integrator
            data = mujoco.MjData(model)
            data.qpos[:], data.qvel[:] = qpos, rates
            mujoco.mj_step(model, data, nstep=round(engines.TIME / step))
            if not np.all(np.isfinite(data.qpos)) or data.time < engines.TIME * 0.99:
                last = None
                continue
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            parts = body_parts(model, data)
            if last is not None:
                error = max(
                    (float(np.linalg.norm(parts[b][1] - last[b][1])) for b in parts if parts[b][1] is not None),
                    default=0.0,
                )
                if best is None or error < best[1]:
                    best = (parts, error)
                if error < settled:
                    break
            last = parts
        if best is not None and best[1] < settled:
            break
    model.opt.timestep, model.opt.integrator, model.opt.disableflags = kept
    return best
