//! An arm from a model file follows a path that was found by inverse kinematics:
//! `cargo run --release --example arm`.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant::planning::inverse_kinematics::{
    Chain, Orientation, PathKind, PlanSettings, SolveSettings, ToolGoal, Waypoint, WaypointTarget, plan,
};
use pliant::rigid::collision::CollisionModel;
use pliant::rigid::multibody::Kinematics;
use pliant::rigid::simulation::{Actuator, Collisions, Control, Integrator, Simulation};
use pliant::scenes::format::RobotModel;
use pliant::scenes::models;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A model that comes with the library; `pliant::import::load` reads a file of yours.
    let mut arm = models::import(RobotModel::Panda)?;
    let ready = arm.keyframe("ready").ok_or("no keyframe")?.state.clone();
    let flange = arm.system.model.link("flange").ok_or("no flange")?;

    // The joints that lead the flange, and a path straight down by 0.2 m.
    let chain = Chain::new(arm.system.model.links(), None, flange, &Isometry3::identity())?;
    let start = ready.q.clone();
    let pose = chain.pose(&start);
    let below = Point3::from(pose.translation.vector - Vector3::z() * 0.2);
    let goal = ToolGoal { position: below, orientation: Orientation::Full(pose.rotation) };
    let waypoint =
        Waypoint { time: 1.0, place: WaypointTarget::Tool(goal), path_kind: PathKind::Straight, pass: false };
    let settings = PlanSettings {
        begin: 0.0,
        interval: 0.01,
        rates: vec![2.0; chain.len()],
        rest: start.clone(),
        solve: SolveSettings::default(),
    };
    let path = plan(&chain, &start, &[waypoint], &settings)?;

    // A position motor on each joint in place of the file's torque motors.
    arm.system.actuators = (0..chain.len())
        .map(|joint| Actuator {
            link: chain.link(joint),
            dof: 0,
            control: Control::Position {
                stiffness: 1e5,
                damping: 1e3,
                target: start[joint],
                target_rate: 0.0,
            },
            effort_limit: 300.0,
            gravity_compensation: true,
        })
        .collect();

    let scene = CollisionModel::new(arm.geometries, &arm.system.model, &arm.excluded)?;
    let contacts = Collisions::new(scene, 1e-4); // stiction tolerance [m/s]
    let steps = Integrator::ErrorControlled { accuracy: 1e-3, max_step: 0.1 };
    let mut simulation = Simulation::new(arm.system, contacts, steps, ready)?;
    for ((time, configuration), rates) in path.times.iter().zip(&path.configurations).zip(&path.rates) {
        for (actuator, (q, rate)) in
            simulation.system_mut().actuators.iter_mut().zip(configuration.iter().zip(rates))
        {
            if let Control::Position { target, target_rate, .. } = &mut actuator.control {
                (*target, *target_rate) = (*q, *rate);
            }
        }
        simulation.advance_to(*time)?;
    }

    let mut kinematics = Kinematics::new(&simulation.system().model);
    kinematics.update(&simulation.system().model, simulation.state());
    let reached = kinematics.pose(flange).translation.vector;
    let error = (reached - below.coords).norm();
    println!("flange at {:.4} m, {:.3} mm from the goal", reached.z, 1e3 * error);
    for (joint, effort) in simulation.actuator_efforts().enumerate() {
        println!("motor {joint}: {effort:.2} N m");
    }
    Ok(())
}
