//! Contact parameters of surfaces.

use core::cmp::Ordering;

use crate::comfree::ImpedanceCurve;
use crate::out_of_range::OutOfRange;

/// How the coefficients of friction of two surfaces become that of their contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FrictionRule {
    /// 2 mu1 mu2/(mu1 + mu2), 0 where one is 0; as in Drake. It is the rule of two surfaces of
    /// different rules.
    #[default]
    HarmonicMean,
    /// The larger one, as in MuJoCo (documentation, "Computation", contact parameters).
    Larger,
}

/// Compliance and friction of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactMaterial {
    /// Stiffness of a contact \[N/m\], finite and positive.
    pub stiffness: f64,
    /// Hunt and Crossley's dissipation \[s/m\], finite and not negative.
    pub dissipation: f64,
    /// Coefficient of restitution, in [0, 1]: ratio of the normal speeds after and before an impact
    /// within a step. With 0 the rebound follows from the compliance, as far as steps resolve it.
    pub restitution: f64,
    /// Coefficient of friction at rest, finite and at least the dynamic one.
    pub static_friction: f64,
    /// Coefficient of friction in motion, finite and not negative.
    pub dynamic_friction: f64,
    /// Torsional friction: the moment about the normal is at most this length \[m\] times the
    /// normal force. Finite and not negative. Only the closed-form solver
    /// ([`comfree`](crate::comfree)) has it.
    pub torsional_friction: f64,
    /// Rolling friction, likewise \[m\].
    pub rolling_friction: f64,
    /// How its coefficients and lengths of friction combine with another's.
    pub friction_rule: FrictionRule,
    /// Impedance of the closed-form solver as a function of depth; the convex solver uses the
    /// stiffness alone.
    pub impedance: ImpedanceCurve,
    /// Distance \[m\] from the surface at which it acts on other bodies, finite and not negative;
    /// those of two surfaces add (MuJoCo 4.0.0). Particles touch the surface itself.
    pub margin: f64,
    /// Of two surfaces with different priorities that of the greater one is the contact's, all but
    /// the margin, as in MuJoCo (documentation, Modeling, contact parameters).
    pub priority: i32,
}

impl ContactMaterial {
    /// The figures that are out of range.
    pub fn out_of_range(&self) -> impl Iterator<Item = OutOfRange> {
        let (rest, motion) = (self.static_friction, self.dynamic_friction);
        let own = [
            OutOfRange::unless_not_negative("dynamic_friction", motion, ""),
            OutOfRange::unless_not_negative("dissipation", self.dissipation, "s/m"),
            OutOfRange::unless(
                (0.0..=1.0).contains(&self.restitution),
                "restitution",
                self.restitution,
                "",
                "in [0, 1]",
            ),
            OutOfRange::unless_positive("stiffness", self.stiffness, "N/m"),
            OutOfRange::unless_not_negative("margin", self.margin, "m"),
            OutOfRange::unless_not_negative("torsional_friction", self.torsional_friction, "m"),
            OutOfRange::unless_not_negative("rolling_friction", self.rolling_friction, "m"),
            OutOfRange::unless(
                rest.is_finite() && rest >= motion,
                "static_friction",
                rest,
                "",
                "finite and at least the dynamic one",
            ),
        ];
        own.into_iter().flatten().chain(self.impedance.out_of_range())
    }

    /// The usual stiffness of a surface [N/m]: two in series are 1e6, which a kilogram presses by a
    /// hundredth of a millimetre.
    pub const STIFFNESS: f64 = 2e6;
    /// The usual dissipation \[s/m\].
    pub const DISSIPATION: f64 = 10.0;

    /// The usual compliance, with one coefficient of friction.
    pub const fn with_friction(friction: f64) -> Self {
        Self {
            stiffness: Self::STIFFNESS,
            dissipation: Self::DISSIPATION,
            restitution: 0.0,
            static_friction: friction,
            dynamic_friction: friction,
            torsional_friction: 0.0,
            rolling_friction: 0.0,
            friction_rule: FrictionRule::HarmonicMean,
            impedance: ImpedanceCurve::MUJOCO,
            margin: 0.0,
            priority: 0,
        }
    }

    /// The contact of two surfaces: their springs and dampers in series, k = k1 k2/(k1 + k2) and d
    /// = (k2 d1 + k1 d2)/(k1 + k2), the mean of their restitutions with the same weights, since the
    /// softer one stores more of the energy, their coefficients and lengths of friction by their
    /// [`FrictionRule`], and means of their impedances (Elandt et al. 2019; Drake's
    /// `CalcContactFrictionFromSurfaceProperties`). One of a greater priority counts twice instead of
    /// the other. The margins add.
    pub fn combine(&self, other: &Self) -> Self {
        let margin = self.margin + other.margin;
        let both = match self.priority.cmp(&other.priority) {
            Ordering::Equal => self.in_series(other),
            Ordering::Greater => self.in_series(self),
            Ordering::Less => other.in_series(other),
        };
        Self { margin, ..both }
    }

    /// Two surfaces of equal priority; the margin is that of the first.
    fn in_series(&self, other: &Self) -> Self {
        // The softer one's share: k1/(k1 + k2), written so that it holds for stiffnesses of any
        // size.
        let share = 1.0 / (1.0 + other.stiffness / self.stiffness);
        let rule = if self.friction_rule == other.friction_rule {
            self.friction_rule
        } else {
            FrictionRule::default()
        };
        let friction = |a: f64, b: f64| match rule {
            FrictionRule::Larger => a.max(b),
            FrictionRule::HarmonicMean if a * b > 0.0 => 2.0 / (1.0 / a + 1.0 / b),
            FrictionRule::HarmonicMean => 0.0,
        };
        Self {
            stiffness: other.stiffness * share,
            dissipation: (1.0 - share) * self.dissipation + share * other.dissipation,
            restitution: (1.0 - share) * self.restitution + share * other.restitution,
            static_friction: friction(self.static_friction, other.static_friction),
            dynamic_friction: friction(self.dynamic_friction, other.dynamic_friction),
            torsional_friction: friction(self.torsional_friction, other.torsional_friction),
            rolling_friction: friction(self.rolling_friction, other.rolling_friction),
            friction_rule: rule,
            impedance: self.impedance.combine(&other.impedance),
            margin: self.margin,
            priority: self.priority,
        }
    }
}
