//! Tendons: lengths and moment arms, springs, limits, and drives along them.

use core::f64::consts::{FRAC_PI_2, PI};

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use pliant_rigid::comfree::{ComFreeSettings, RigidSolver};
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_testing::Random;
use pliant_testing::mechanisms::mechanism;

const G: f64 = 9.81;

fn point(link: Option<usize>, x: f64, y: f64, z: f64) -> PathElement {
    PathElement::Point { link: link.map(LinkId), point: Point3::new(x, y, z) }
}

/// A surface at the world's origin.
fn surface(surface: WrapSurface, radius: f64, side: Option<[f64; 3]>) -> PathElement {
    let side = side.map(|side| (None, Point3::from(side)));
    PathElement::Surface { link: None, pose: Isometry3::identity(), surface, radius, side }
}

fn spatial(elements: Vec<PathElement>) -> Tendon {
    Tendon::new("string", TendonPath::Spatial(elements))
}

/// Length of a string between fixed points.
fn fixed_length(elements: Vec<PathElement>) -> f64 {
    let model = ModelBuilder::new(Vector3::zeros()).build().unwrap();
    let state = model.zero_configuration();
    let kinematics = Kinematics::new(&model);
    let tendon = spatial(elements);
    tendon.validate(&model).unwrap();
    tendon.length(&model, &kinematics, &state)
}

// Checks: a tight string around a circle is two tangents, of length sqrt(a^2 - r^2), and an arc of
// the angle between its ends less acos(r/a) at each. On a cylinder that is unrolled the string is
// straight: its length is the hypotenuse of that and the rise. Around the far side the arc is that
// of the rest of the turn. Between them nothing is touched.
#[test]
fn strings_around_surfaces_are_geodesics() {
    let (r, a) = (0.4, 1.0);
    for seed in 0..20 {
        let random = &mut Random::new(seed);
        let (half, rise) = (random.uniform(1.3, 1.5), random.uniform(-2.0, 2.0));
        let at = |angle: f64, z: f64| point(None, a * angle.sin(), a * angle.cos(), z);
        let (tangents, covered) = (2.0 * (a * a - r * r).sqrt(), 2.0 * (r / a).acos());
        let near = tangents + r * (2.0 * half - covered);
        let far = tangents + r * (2.0 * PI - 2.0 * half - covered);
        let straight = 2.0 * a * half.sin();
        let ball = |side| {
            let sphere = surface(WrapSurface::Sphere, r, side);
            fixed_length(vec![at(-half, 0.0), sphere, at(half, 0.0)])
        };
        let roll = |side| {
            let cylinder = surface(WrapSurface::Cylinder, r, side);
            fixed_length(vec![at(-half, 0.0), cylinder, at(half, rise)])
        };
        for (side, length) in [(None, near), (Some([0.0, 2.0, 0.0]), near), (Some([0.0, -2.0, 0.0]), far)] {
            assert!((ball(side) - length).abs() < 1e-14 * 10.0, "seed {seed}: {} {length}", ball(side));
            let helix = length.hypot(rise);
            assert!((roll(side) - helix).abs() < 1e-14 * 10.0, "seed {seed}: {} {helix}", roll(side));
        }
        // Above the surface: the line is free.
        let free = fixed_length(vec![at(-0.5, 0.0), surface(WrapSurface::Sphere, r, None), at(0.5, 0.0)]);
        assert!((free - 2.0 * 0.5_f64.sin()).abs() < 1e-15 * 10.0 && straight > 0.0);
    }
}

// Checks: a string through a ring that its straight line misses touches it once, in the middle by
// symmetry (Hero's problem). One whose line passes through is straight.
#[test]
fn strings_through_rings_touch_them_once() {
    let r = 0.3;
    let inside = Some([0.0, 0.1, 0.0]);
    for (height, length) in [(0.9, 2.0 * (0.36_f64 + 1.0).sqrt()), (0.2, 2.0)] {
        for kind in [WrapSurface::Sphere, WrapSurface::Cylinder] {
            let ends = [point(None, -1.0, height, 0.0), point(None, 1.0, height, 0.0)];
            let [first, last] = ends;
            let found = fixed_length(vec![first, surface(kind, r, inside), last]);
            assert!((found - length).abs() < 1e-14, "{kind:?} at {height}: {found} {length}");
        }
    }
}

// Checks: branches count by the inverse of their pulley, and begin anew.
#[test]
fn pulleys_divide_the_branches_after_them() {
    let length = fixed_length(vec![
        point(None, 0.0, 0.0, 0.0),
        point(None, 3.0, 0.0, 0.0),
        PathElement::Pulley { divisor: 4.0 },
        point(None, 9.0, 0.0, 0.0),
        point(None, 9.0, 2.0, 0.0),
    ]);
    assert_eq!(length, 3.0 + 0.5);
}

/// A string over random points and surfaces of the links of a mechanism's first tree, and of the
/// world.
fn random_tendon(random: &mut Random, links: &[usize]) -> Tendon {
    let mut elements = Vec::new();
    for branch in 0..2 {
        if branch == 1 {
            elements.push(PathElement::Pulley { divisor: 2.0 });
        }
        for part in 0..3 {
            let link = random.choose(&[None, Some(links[0]), Some(links[1]), Some(links[2])]);
            if part != 1 {
                let p = random.vector() * 1.5;
                elements.push(point(link, p.x, p.y, p.z));
                continue;
            }
            let kind = if random.unit() < 0.5 { WrapSurface::Sphere } else { WrapSurface::Cylinder };
            let (p, q) = (random.vector(), random.vector() * random.choose(&[0.05, 2.0]));
            let side = (random.unit() < 0.5).then(|| (link.map(LinkId), Point3::from(p + q)));
            let pose = Isometry3::from_parts(p.into(), random.rotation());
            let radius = random.uniform(0.1, 0.6);
            elements.push(PathElement::Surface { link: link.map(LinkId), pose, surface: kind, radius, side });
        }
    }
    spatial(elements)
}

// Checks: moment arms are the derivatives of the length (central differences, whose error is of the
// third derivative: 1e-6 of lengths of order 1 with steps of 1e-5, and rounding 1e-11), along
// random velocities of a mechanism with every joint.
#[test]
fn moment_arms_are_the_derivatives_of_lengths() {
    let (mut all, mut off, mut wrapped) = (0, 0, 0);
    for seed in 0..300 {
        let random = &mut Random::new(seed);
        let (model, mut state) = mechanism(random);
        let tendon = random_tendon(random, &[2, 4, 5]);
        if tendon.validate(&model).is_err() {
            continue;
        }
        state.v.iter_mut().for_each(|v| *v = random.signed());
        let mut kinematics = Kinematics::new(&model);
        let mut length = |h: f64| {
            let mut moved = state.clone();
            model.advance(&mut moved.q, &state.v, h);
            kinematics.update(&model, &moved);
            tendon.length(&model, &kinematics, &moved)
        };
        let h = 1e-5;
        let slope = (length(h) - length(-h)) / (2.0 * h);
        let straight: f64 = length(0.0);
        kinematics.update(&model, &state);
        let mut jacobian = vec![0.0; model.velocities()];
        assert_eq!(tendon.moment_arms(&model, &kinematics, &state, &mut jacobian), straight);
        let rate: f64 = jacobian.iter().zip(&state.v).map(|(j, v)| j * v).sum();
        all += 1;
        off += usize::from((rate - slope).abs() > 1e-6 * (1.0 + rate.abs()));
        let points_only: Vec<_> = match &tendon.path {
            TendonPath::Spatial(path) => {
                path.iter().filter(|e| !matches!(e, PathElement::Surface { .. })).cloned().collect()
            }
            TendonPath::Joints(_) => Vec::new(),
        };
        let bare = spatial(points_only).length(&model, &kinematics, &state);
        wrapped += usize::from((bare - straight).abs() > 1e-9);
    }
    println!("{off} of {all} off, {wrapped} wrapped");
    assert!(all > 200 && wrapped > 40, "{wrapped} of {all} are wrapped");
    assert_eq!(off, 0);
}

/// A mass on a vertical slide.
fn slider(mass: f64, dof: Dof) -> Model {
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
    builder
        .add(Link {
            name: "mass".into(),
            parent: None,
            joint: JointKind::Prismatic { axis: Vector3::z_axis() },
            frame: Isometry3::identity(),
            inertia: RigidInertia::at_center(mass, Vector3::zeros(), Matrix3::identity() * 0.01),
            gravity: true,
            dofs: vec![dof],
        })
        .unwrap();
    builder.build().unwrap()
}

/// A string from 2 m above to the mass, with a spring.
fn hanging(stiffness: f64, damping: f64, rest: [f64; 2]) -> Tendon {
    let path = vec![point(None, 0.0, 0.0, 2.0), point(Some(0), 0.0, 0.0, 0.0)];
    Tendon { stiffness, damping, rest, ..spatial(path) }
}

fn run(system: System, integrator: Integrator, state: State, time: f64) -> Simulation<NoContacts> {
    let mut simulation = Simulation::new(system, NoContacts, integrator, state).unwrap();
    simulation.advance_to(time).unwrap();
    simulation
}

// Checks: a mass on a string with a spring oscillates about the stretch m g/k at the angular
// frequency sqrt(k/m); the trapezoid rule is of second order: a quarter of the error at half the
// step.
#[test]
fn a_mass_on_a_spring_of_a_string_oscillates() {
    let (m, k) = (2.0, 50.0);
    let omega = f64::sqrt(k / m);
    let error = |step: f64| {
        let mut system = System::new(slider(m, Dof::default()));
        system.tendons.push(hanging(k, 0.0, [2.0; 2]));
        let state = system.model.zero_configuration();
        let integrator = Integrator::Trapezoid { step, accuracy: None };
        let simulation = run(system, integrator, state, 1.0);
        let exact = -m * G / k * (1.0 - f64::cos(omega));
        (simulation.state().q[0] - exact).abs()
    };
    let (coarse, fine) = (error(0.01), error(0.005));
    assert!(coarse < 1e-3, "{coarse}");
    assert!((coarse / fine - 4.0).abs() < 0.4, "{coarse} {fine}");
}

// Checks: at rest the force of the string is the weight: m g = k (L - upper rest length). Between
// its rest lengths the spring is slack and the mass falls freely: at fixed steps the convex solver
// moves it by the exact parabola.
#[test]
fn springs_are_slack_between_their_rest_lengths() {
    let (m, k) = (1.5, 300.0);
    let mut system = System::new(slider(m, Dof::default()));
    system.tendons.push(hanging(k, 40.0, [1.5, 2.2]));
    let state = system.model.zero_configuration();
    let fixed = Integrator::Fixed { step: 1e-3 };
    let mut undamped = clone(&system);
    undamped.tendons[0].damping = 0.0;
    let falling = run(undamped, fixed, state.clone(), 0.1);
    assert!((falling.state().q[0] + 0.5 * G * 0.01).abs() < 1e-12, "{}", falling.state().q[0]);
    let resting = run(system, fixed, state, 5.0);
    assert!((resting.state().q[0] + 0.2 + m * G / k).abs() < 1e-9, "{}", resting.state().q[0]);
}

fn clone(system: &System) -> System {
    let mut copy = System::new(system.model.clone());
    copy.tendons.clone_from(&system.tendons);
    copy.drives.clone_from(&system.drives);
    copy
}

// Checks: a string of limited length holds a mass there, at every integrator; its depth is that of a
// near-rigid limit, below (0.1 h)^2 g (Castro et al. 2022).
#[test]
fn a_string_is_not_longer_than_its_range() {
    let step = 2e-3;
    for integrator in [Integrator::Fixed { step }, Integrator::Trapezoid { step, accuracy: None }] {
        let mut system = System::new(slider(1.0, Dof { damping: 2.0, ..Dof::default() }));
        let tendon = Tendon { range: [0.0, 2.3], ..hanging(0.0, 0.0, [0.0; 2]) };
        system.tendons.push(tendon);
        let state = system.model.zero_configuration();
        let simulation = run(system, integrator, state, 3.0);
        let depth = -0.3 - simulation.state().q[0];
        assert!(depth.abs() < (0.1 * step).powi(2) * G, "{integrator:?}: {depth}");
        assert!(simulation.state().v[0].abs() < 1e-9);
    }
}

/// A chain of rods with strings that have springs, over a surface, and along its joints.
fn chain(seed: u64, damping: f64) -> (System, State) {
    let random = &mut Random::new(seed);
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
    for i in 0..3_usize {
        let link = Link {
            name: i.to_string(),
            parent: i.checked_sub(1).map(LinkId),
            joint: if i == 1 { JointKind::Ball } else { JointKind::Revolute { axis: Vector3::y_axis() } },
            frame: Isometry3::translation(0.0, 0.0, if i == 0 { 0.0 } else { -0.5 }),
            inertia: RigidInertia::at_center(1.0, Vector3::new(0.0, 0.0, -0.25), Matrix3::identity() * 0.02),
            gravity: true,
            dofs: vec![Dof::default(); 3],
        };
        builder.add(link).unwrap();
    }
    let mut system = System::new(builder.build().unwrap());
    let mut state = system.model.zero_configuration();
    state.v.iter_mut().for_each(|v| *v = random.signed());
    let mut offset = || random.signed() * 0.2;
    let ends = [
        vec![point(None, 0.5, offset(), offset()), point(Some(1), offset(), 0.1, -0.3)],
        vec![
            point(Some(0), 0.15, offset(), -0.3),
            PathElement::Surface {
                link: Some(LinkId(1)),
                pose: Isometry3::identity(),
                surface: WrapSurface::Sphere,
                radius: 0.1,
                side: None,
            },
            point(Some(2), 0.1, 0.0, offset() - 0.3),
        ],
    ];
    for path in ends {
        system.tendons.push(Tendon { stiffness: 60.0, damping, rest: [0.3, 0.5], ..spatial(path) });
    }
    let terms = TendonPath::Joints(vec![(LinkId(0), 1.0), (LinkId(2), -0.5)]);
    system.tendons.push(Tendon { stiffness: 5.0, damping, ..Tendon::new("sum", terms) });
    (system, state)
}

fn energy(simulation: &Simulation<NoContacts>) -> f64 {
    let (system, state) = (simulation.system(), simulation.state());
    let mut kinematics = Kinematics::new(&system.model);
    kinematics.update(&system.model, state);
    kinetic_energy(&system.model, &kinematics, state)
        + potential_energy(&system.model, &kinematics, state)
        + system.tendon_energy(&kinematics, state)
}

// Checks: without damping a chain with springs of strings keeps its energy, up to the error of the
// trapezoid rule, which falls at least with the step (the strings touch and leave a surface, where
// forces have kinks); with damping it has less at the end of every tenth of a second, and what is
// gone is what the flows say.
#[test]
fn energy_of_springs_is_conserved_and_damping_takes_it() {
    for seed in 0..4 {
        let drift = |step: f64| {
            let (system, state) = chain(seed, 0.0);
            let integrator = Integrator::Trapezoid { step, accuracy: None };
            let mut simulation = Simulation::new(system, NoContacts, integrator, state).unwrap();
            let before = energy(&simulation);
            simulation.advance_to(2.0).unwrap();
            (energy(&simulation) - before).abs()
        };
        let (coarse, fine) = (drift(2e-3), drift(5e-4));
        println!("seed {seed}: {coarse:.2e} {fine:.2e}");
        assert!(fine < 2e-3 && fine < coarse.max(1e-5), "seed {seed}: {coarse} {fine}");
        for integrator in
            [Integrator::Fixed { step: 1e-3 }, Integrator::Trapezoid { step: 1e-3, accuracy: None }]
        {
            let (system, state) = chain(seed, 3.0);
            let mut simulation = Simulation::new(system, NoContacts, integrator, state).unwrap();
            let (start, mut last) = (energy(&simulation), energy(&simulation));
            let mut lost = 0.0;
            for tenth in 1..=20 {
                let summary = simulation.advance_to(0.1 * f64::from(tenth)).unwrap();
                lost += summary.energy.joint_damping - summary.energy.potential_offset;
                let now = energy(&simulation);
                assert!(now < last + 1e-3, "seed {seed}, {integrator:?}: {last} {now}");
                last = now;
            }
            println!("seed {seed}: {start} {last} {lost}");
            assert!(
                (start - last - lost).abs() < 0.02 * (start - last),
                "seed {seed}: {start} {last} {lost}"
            );
        }
    }
}

// Checks: statics. A horizontal rod on a hinge is held by a string from its end to a point straight
// above the hinge. Moments about the hinge: T sin(alpha) l = m g l/2. Forces: the hinge pushes with
// T cos(alpha) along the rod and carries m g - T sin(alpha).
#[test]
fn a_string_loads_the_joints_of_what_it_holds() {
    let (m, l, height) = (3.0, 0.8, 0.6);
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
    builder
        .add(Link {
            name: "rod".into(),
            parent: None,
            joint: JointKind::Revolute { axis: Vector3::y_axis() },
            frame: Isometry3::identity(),
            inertia: RigidInertia::at_center(m, Vector3::new(l / 2.0, 0.0, 0.0), Matrix3::identity() * 0.1),
            gravity: true,
            dofs: vec![Dof { damping: 5.0, ..Dof::default() }],
        })
        .unwrap();
    let mut system = System::new(builder.build().unwrap());
    let length = f64::hypot(l, height);
    let path = vec![point(None, 0.0, 0.0, height), point(Some(0), l, 0.0, 0.0)];
    system.tendons.push(Tendon { range: [0.0, length], ..spatial(path) });
    let state = system.model.zero_configuration();
    for integrator in [Integrator::Fixed { step: 1e-3 }, Integrator::Trapezoid { step: 1e-3, accuracy: None }]
    {
        let simulation = run(clone(&system), integrator, state.clone(), 2.0);
        let tension = m * G / 2.0 * length / height;
        let hinge = simulation.joint_reactions()[0];
        let expected = Vector3::new(tension * l / length, 0.0, m * G / 2.0);
        assert!((hinge.linear - expected).norm() < 1e-3 * expected.norm(), "{integrator:?}: {hinge:?}");
    }
}

// Checks: a drive of a force F on a string with a gear g accelerates a mass by g F/m against its
// length, clamped to the force range, which need not be symmetric.
#[test]
fn drives_pull_strings_within_their_range() {
    for (control, force) in [(10.0, 10.0), (-10.0, -2.0)] {
        let mut system = System::new(slider(2.0, Dof::default()));
        system.model.gravity = Vector3::zeros();
        system.tendons.push(hanging(0.0, 0.0, [0.0; 2]));
        let mut drive = Drive::new("pull", Transmission::Tendon { tendon: 0, gear: 3.0 });
        (drive.control, drive.force_range) = (control, [-2.0, 20.0]);
        system.drives.push(drive);
        let state = system.model.zero_configuration();
        let simulation = run(system, Integrator::Fixed { step: 1e-3 }, state, 0.5);
        let speed = -3.0 * force / 2.0 * 0.5;
        assert!((simulation.state().v[0] - speed).abs() < 1e-10, "{} {speed}", simulation.state().v[0]);
    }
}

// Checks: a filter's activation is 1 - exp(-t/T) after a control of 1, with any step; an integral
// stops at its range; and a simulation goes on with the same bits from a snapshot.
#[test]
fn activations_are_kept_and_restored() {
    let make = || {
        let mut system = System::new(slider(2.0, Dof::default()));
        let joint = Transmission::Joint { link: LinkId(0), dof: 0, gear: 1.0 };
        let filter = Drive {
            activation: Activation::Filter { time_constant: 0.2 },
            control: 1.0,
            ..Drive::new("filter", joint.clone())
        };
        let integral = Drive {
            activation: Activation::Integral,
            control: 1.0,
            activation_range: [0.0, 0.25],
            gain: ForceLaw::Affine([30.0, 0.0, 0.0]),
            bias: ForceLaw::Affine([0.0, -30.0, -4.0]),
            ..Drive::new("integral", joint)
        };
        system.drives = vec![filter, integral];
        system
    };
    for integrator in [
        Integrator::Fixed { step: 0.01 },
        Integrator::ErrorControlled { accuracy: 1e-3, max_step: 0.05 },
        Integrator::Trapezoid { step: 0.01, accuracy: None },
    ] {
        let state = make().model.zero_configuration();
        let mut simulation = run(make(), integrator, state, 0.3);
        let [filter, integral] = simulation.external_state() else { panic!() };
        assert!((filter - (1.0 - f64::exp(-1.5))).abs() < 1e-13, "{filter}");
        assert_eq!(*integral, 0.25);
        let saved = simulation.save();
        simulation.advance_to(0.5).unwrap();
        let first = simulation.save();
        simulation.restore(&saved).unwrap();
        simulation.advance_to(0.5).unwrap();
        assert_eq!(simulation.save(), first);
    }
}

// Checks: a servo on a string whose stiffness no explicit step of this length could take, since
// h sqrt(k/m) = 30, comes to rest at its target.
#[test]
fn servos_on_strings_are_implicit() {
    let (m, k) = (1.0, 9e6);
    for integrator in [Integrator::Fixed { step: 0.01 }, Integrator::Trapezoid { step: 0.01, accuracy: None }]
    {
        let mut system = System::new(slider(m, Dof::default()));
        system.model.gravity = Vector3::zeros();
        system.tendons.push(hanging(0.0, 0.0, [0.0; 2]));
        system.drives.push(Drive {
            gain: ForceLaw::Affine([k, 0.0, 0.0]),
            bias: ForceLaw::Affine([0.0, -k, -2.0 * f64::sqrt(k * m)]),
            control: 1.7,
            ..Drive::new("servo", Transmission::Tendon { tendon: 0, gear: 1.0 })
        });
        let state = system.model.zero_configuration();
        let simulation = run(system, integrator, state, 2.0);
        assert!((simulation.state().q[0] - 0.3).abs() < 1e-6, "{integrator:?}: {}", simulation.state().q[0]);
    }
}

// Checks: a force at a site is that of a wrench in its axes: a thrust across a rod's end turns it
// with the angular acceleration F l/I.
#[test]
fn drives_push_at_sites() {
    let (l, inertia, force) = (0.5, 0.3, 2.0);
    let mut builder = ModelBuilder::new(Vector3::zeros());
    builder
        .add(Link {
            name: "rod".into(),
            parent: None,
            joint: JointKind::Revolute { axis: Vector3::z_axis() },
            frame: Isometry3::identity(),
            inertia: RigidInertia::at_center(1.0, Vector3::zeros(), Matrix3::identity() * inertia),
            gravity: false,
            dofs: vec![Dof::default()],
        })
        .unwrap();
    let mut system = System::new(builder.build().unwrap());
    // The site's x axis is the rod's y axis.
    let frame = Isometry3::new(Vector3::new(l, 0.0, 0.0), Vector3::z() * FRAC_PI_2);
    let gear = ForceVector::new(Vector3::new(0.0, 0.0, 0.25), Vector3::x());
    let site = Transmission::Site { link: Some(LinkId(0)), frame, gear };
    system.drives.push(Drive { control: force, ..Drive::new("thrust", site) });
    let state = system.model.zero_configuration();
    let simulation = run(system, Integrator::Fixed { step: 1e-3 }, state, 1.0);
    let rate = force * (l + 0.25) / inertia;
    assert!((simulation.state().v[0] - rate).abs() < 1e-9, "{} {rate}", simulation.state().v[0]);
}

// Checks: the knots of a muscle's curves as MuJoCo documents them: full active force at the optimal
// length and at rest, half midway to the ends of its range, none there and beyond; none at the
// fastest shortening, and FVMAX while it is stretched fast; passive force FPMAX/2 at the knee.
#[test]
fn muscles_have_the_documented_curves() {
    let muscle = Muscle {
        lengths: [0.2, 0.6],
        operating_range: [0.5, 1.5],
        peak_force: 100.0,
        active_range: [0.5, 1.6],
        fastest: 1.5,
        passive: 1.3,
        stretched: 1.2,
    };
    // A length in optimal ones; those are 0.4 m.
    let at = |l: f64| 0.2 + (l - 0.5) * 0.4;
    for (l, part) in [(1.0, 1.0), (0.75, 0.5), (1.3, 0.5), (0.5, 0.0), (1.6, 0.0), (0.3, 0.0)] {
        let force = muscle.active_force(at(l), 0.0);
        assert!((force + 100.0 * part).abs() < 1e-10, "{l}: {force}");
    }
    for (v, part) in [(-1.0, 0.0), (-0.5, 0.25), (0.2, 1.2), (3.0, 1.2)] {
        let force = muscle.active_force(at(1.0), v * 1.5 * 0.4);
        assert!((force + 100.0 * part).abs() < 1e-10, "{v}: {force}");
    }
    for (l, part) in [(0.9, 0.0), (1.3, 0.65), (1.6, 1.95)] {
        let force = muscle.passive_force(at(l));
        assert!((force + 100.0 * part).abs() < 1e-10, "{l}: {force}");
    }
    let times = ActivationTimes { rise: 0.01, fall: 0.04, smoothing: 0.0 };
    assert!((times.time_constant(1.0, 0.5) - 0.01 * 1.25).abs() < 1e-15);
    assert!((times.time_constant(0.0, 0.5) - 0.04 / 1.25).abs() < 1e-15);
}

// Checks: what cannot be simulated is refused by name.
#[test]
fn tendons_that_cannot_be_are_refused() {
    let mut builder = ModelBuilder::new(Vector3::zeros());
    for i in 0..3 {
        let mut link = slider(1.0, Dof::default()).links()[0].clone();
        link.name = i.to_string();
        builder.add(link).unwrap();
    }
    let model = builder.build().unwrap();
    let ends = |n: usize| (0..n).map(|i| point(Some(i), 0.0, 0.0, 0.0)).collect::<Vec<_>>();
    let refused = |system: System| system.validate().unwrap_err().to_string();
    let with = |tendon: Tendon| {
        let mut system = System::new(model.clone());
        system.tendons.push(tendon);
        system
    };
    assert!(with(spatial(ends(2))).validate().is_ok());
    assert!(refused(with(spatial(ends(3)))).contains("trees"));
    let mut path = ends(1);
    path.push(surface(WrapSurface::Sphere, 0.1, None));
    assert!(refused(with(spatial(path))).contains("after a surface"));
    assert!(refused(with(Tendon { stiffness: -1.0, ..spatial(ends(2)) })).contains("stiffness"));
    let mut closed = with(spatial(ends(2)));
    closed.solver = RigidSolver::ComFree(ComFreeSettings::default());
    assert!(refused(closed).contains("closed-form"));
    let mut drives = with(spatial(ends(2)));
    drives.drives.push(Drive::new("pull", Transmission::Tendon { tendon: 1, gear: 1.0 }));
    assert!(refused(drives).contains("a tendon of the system"));
}
