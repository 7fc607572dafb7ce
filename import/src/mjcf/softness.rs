//! Compliance of limits and equalities: `solref`, `solimp` and `margin`.

use nalgebra::{Isometry3, Point3};

use super::super::element::Element;
use super::super::error::ImportError;
use super::body::MjcfBody;
use super::compiler::Options;
use super::felt_inertia::{MassBlocks, inertia, mass_at};
use super::links::JointRecord;
use pliant_rigid::comfree::ImpedanceCurve;
use pliant_rigid::multibody::{Kinematics, LinkId, Model, State, point_jacobian};
use pliant_rigid::{Compliance, LimitCompliance};

/// MuJoCo's time step where a file has none \[s\].
const USUAL_STEP: f64 = 0.002;

/// What the compliance of constraints depends on: the mechanism in the configuration of the file.
pub(super) struct Softness {
    mass: MassBlocks,
    kinematics: Kinematics,
    velocities: usize,
    /// Smallest time constant \[s\].
    shortest: f64,
}

impl Softness {
    pub fn new(model: &Model, state: &State, options: &Options) -> Self {
        let mut kinematics = Kinematics::new(model);
        kinematics.update(model, state);
        let unsafe_times = options.hints.iter().any(|(name, value)| name == "refsafe" && value == "disable");
        let step = options.time_step.unwrap_or(USUAL_STEP);
        Self {
            mass: mass_at(model, state),
            kinematics,
            velocities: model.velocities(),
            shortest: if unsafe_times { 0.0 } else { 2.0 * step },
        }
    }

    /// Inverse of the inertia that a force with these moments feels \[1/kg\].
    pub fn mobility(&self, moments: &[f64]) -> f64 {
        let felt = inertia(&self.mass, moments);
        if felt > 0.0 { 1.0 / felt } else { 0.0 }
    }

    /// That of a degree of freedom.
    pub fn of_joint(&self, model: &Model, link: LinkId) -> f64 {
        let mut unit = vec![0.0; self.velocities];
        unit[model.velocities_of(link).start] = 1.0;
        self.mobility(&unit)
    }

    /// Mean mobilities of a body's centre of mass \[1/kg\] and of its turning \[1/(kg m^2)\] over
    /// three directions.
    pub fn of_body(&self, model: &Model, body: &MjcfBody) -> [f64; 2] {
        let Some(link) = body.link else { return [0.0; 2] };
        let frame: Isometry3<f64> = self.kinematics.pose(link) * body.in_link;
        let center = body.mass.as_ref().map_or(Point3::origin(), |(_, center)| Point3::from(*center));
        let jacobian = point_jacobian(model, &self.kinematics, link, &(frame * center).coords);
        let row = |i: usize| {
            let moments: Vec<f64> = jacobian.row(i).iter().copied().collect();
            self.mobility(&moments)
        };
        let mean = |first: usize| (first..first + 3).map(row).sum::<f64>() / 3.0;
        [mean(3), mean(0)]
    }

    /// The compliance of a constraint of mobility A \[1/kg\], from two attributes. The time constant
    /// is at least two steps of the file, as in MuJoCo with `refsafe`.
    pub fn read(
        &self,
        element: &Element,
        [solref, solimp]: [&'static str; 2],
        mobility: f64,
    ) -> Result<Compliance, ImportError> {
        let impedance = impedance(element, solimp)?;
        let given = element.numbers(solref, 1..=2)?.unwrap_or_default();
        let reference = [given.first().copied().unwrap_or(0.02), given.get(1).copied().unwrap_or(1.0)];
        let d = impedance.maximum;
        let flat = ImpedanceCurve { minimum: 0.5 * (impedance.minimum + d), ..impedance };
        let flat = ImpedanceCurve { maximum: flat.minimum, ..flat };
        // Without a width MuJoCo takes the mean of both ends.
        let curve = if impedance.width <= LEAST_WIDTH { flat } else { impedance };
        match reference {
            [time, ratio] if time > 0.0 && ratio > 0.0 => {
                let time = time.max(self.shortest);
                let compliance = Compliance::of_time_constant(time, ratio, impedance, mobility);
                Ok(Compliance { impedance: curve, ..compliance })
            }
            [k, b] if k <= 0.0 && b <= 0.0 => {
                Ok(Compliance { stiffness: -k / (d * d), damping: -b / d, impedance: curve, mobility })
            }
            _ => {
                let requirement = "a positive time constant (s) and damping ratio, or both not positive";
                Err(element.bad(solref, requirement))
            }
        }
    }

    /// The compliance of a limit, and the margin of that in `unit`.
    pub fn limit(&self, element: &Element, mobility: f64, unit: f64) -> Result<LimitCompliance, ImportError> {
        let compliance = self.read(element, ["solreflimit", "solimplimit"], mobility)?;
        let margin = element.not_negative("margin")?.unwrap_or(0.0) * unit;
        Ok(LimitCompliance { compliance, margin })
    }

    /// Sets the compliance of the limits of joints.
    pub fn joints(
        &self,
        bodies: &mut [MjcfBody],
        model: &Model,
        joints: &[JointRecord],
    ) -> Result<(), ImportError> {
        for joint in bodies.iter_mut().flat_map(|body| &mut body.joints) {
            if joint.dof.limits.iter().all(|limit| limit.is_infinite()) {
                continue;
            }
            let Some(record) = joints.iter().find(|record| record.name == joint.name) else { continue };
            let mobility = self.of_joint(model, record.link);
            joint.dof.limit_compliance = Some(self.limit(&joint.element, mobility, 1.0)?);
        }
        Ok(())
    }
}

/// Width below which an impedance is constant \[m\].
const LEAST_WIDTH: f64 = 1e-15;

/// An impedance from five numbers, brought into range as MuJoCo does it.
pub(super) fn impedance(element: &Element, attribute: &'static str) -> Result<ImpedanceCurve, ImportError> {
    let given = element.numbers(attribute, 1..=5)?.unwrap_or_default();
    let usual = ImpedanceCurve::default();
    let at = |i: usize, usual: f64| given.get(i).copied().unwrap_or(usual);
    let inside = |x: f64| x.clamp(1e-4, 0.9999);
    Ok(ImpedanceCurve {
        minimum: inside(at(0, usual.minimum)),
        maximum: inside(at(1, usual.maximum)),
        width: at(2, usual.width).max(LEAST_WIDTH),
        midpoint: inside(at(3, usual.midpoint)),
        power: at(4, usual.power).max(1.0),
    })
}
