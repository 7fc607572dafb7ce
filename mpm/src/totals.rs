//! Totals of the particles: mass, momenta and energies, summed in f64 in a fixed order.

use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;

use crate::constitutive::{AnyModel, Constitutive};
use crate::engine::Mpm;
use crate::g2p::load_gradient;
use crate::material::{Material, Model};
use crate::tiles::{DeformationTile, KinematicsTile, ParticleBlock, deformation, kinematics};
use crate::view::BlockView;
use pliant_numeric::linalg::Mat3;
use pliant_numeric::scalar::Real;
use pliant_numeric::simd::{F32x16, Kernel, LANES, Lanes, Simd};

/// Sums over particles, world frame, angular parts about the world's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Mass \[kg\].
    pub mass: f64,
    /// First moment of mass \[kg m\].
    pub first_moment: Vector3<f64>,
    /// Linear momentum \[N s\].
    pub linear_momentum: Vector3<f64>,
    /// Angular momentum, with the affine field's share m h^2/4 axial(C) (Jiang et al. 2015) and the spins of
    /// ropes \[N m s\].
    pub angular_momentum: Vector3<f64>,
    /// Kinetic energy, with the affine field's share m h^2/8 |C|^2 and the spins of ropes \[J\].
    pub kinetic_energy: f64,
    /// What the forces of the present positions and gravity do on the present velocities in half of the last
    /// substep \[J\]. Substeps are those of leapfrog: velocities are half a substep behind the positions. With
    /// this work the kinetic energy is that at the time of the positions, to second order in the substep; without
    /// it the sum of all energies swings by half of the phase of a vibration in a substep (Hairer, Lubich and
    /// Wanner 2003, "Geometric numerical integration illustrated by the Stoermer-Verlet method").
    /// Zero before the first substep.
    pub kinetic_lag: f64,
    /// Elastic energy, with `gas_energy` \[J\].
    pub elastic_energy: f64,
    /// The part of it that gas in closed cloths has, a potential whose zero is arbitrary \[J\].
    pub gas_energy: f64,
}

impl core::ops::AddAssign for Totals {
    fn add_assign(&mut self, o: Self) {
        self.mass += o.mass;
        self.first_moment += o.first_moment;
        self.linear_momentum += o.linear_momentum;
        self.angular_momentum += o.angular_momentum;
        self.kinetic_energy += o.kinetic_energy;
        self.kinetic_lag += o.kinetic_lag;
        self.elastic_energy += o.elastic_energy;
        self.gas_energy += o.gas_energy;
    }
}

impl Mpm {
    /// Sums over all particles; `scratch` is kept between calls so that none allocates.
    pub fn totals(&self, scratch: &mut Vec<Totals>) -> Totals {
        let blocks = &self.store.blocks;
        scratch.resize(blocks.len(), Totals::default());
        scratch.par_iter_mut().zip(blocks.par_iter().enumerate()).for_each(|(sum, (b, block))| {
            *sum = self.motion_totals(b);
            sum.elastic_energy = self.level.run(ElasticEnergy {
                block,
                kinematics: &self.store.kinematics[block.range()],
                deformation: &self.store.deformation[block.range()],
                materials: &self.materials,
            });
        });
        let mut total = Totals::default();
        for sum in scratch {
            total += *sum;
        }
        if let Some(sheets) = &self.sheets {
            total.elastic_energy += sheets.elastic_energy();
            total.gas_energy = sheets.gas_energy();
            let (momentum, energy) = sheets.spin_totals();
            total.angular_momentum += momentum;
            total.kinetic_energy += energy;
            total.kinetic_lag += 0.5 * self.last_substep * sheets.spin_power();
        }
        total.kinetic_lag += self.last_substep().kinetic_lag(0.0, &total.linear_momentum);
        total
    }

    fn motion_totals(&self, b: usize) -> Totals {
        let mut sum = Totals::default();
        let view = self.block(b);
        let inertia = self.grid_spacing * self.grid_spacing / 4.0;
        for i in 0..view.len() {
            let (m, x, v, c) = (view.mass(i), view.position(i).coords, view.velocity(i), view.affine(i));
            let axial = Vector3::new(c[(2, 1)] - c[(1, 2)], c[(0, 2)] - c[(2, 0)], c[(1, 0)] - c[(0, 1)]);
            sum.mass += m;
            sum.first_moment += m * x;
            sum.linear_momentum += m * v;
            sum.angular_momentum += m * (x.cross(&v) + inertia * axial);
            sum.kinetic_energy += 0.5 * m * (v.norm_squared() + inertia * c.norm_squared());
            sum.kinetic_lag += 0.5 * self.last_substep * self.internal_power(&view, i);
        }
        sum
    }

    /// Power of the internal forces on a particle's velocity field v + C (x - x_p), as P2G applies them: f . v -
    /// C : (V tau) \[W\].
    fn internal_power(&self, view: &BlockView<'_>, i: usize) -> f64 {
        let (v, c) = (view.velocity(i), view.affine(i));
        let [xx, yy, zz, xy, xz, yz] = view.stress_volume(i);
        let stress = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        let of_stress = -c.dot(&stress);
        let Some((force, moment)) = view.cloth_forces(i) else { return of_stress };
        let axial = Vector3::new(c[(2, 1)] - c[(1, 2)], c[(0, 2)] - c[(2, 0)], c[(1, 0)] - c[(0, 1)]);
        of_stress + force.dot(&v) - moment.dot(&axial)
    }
}

/// Elastic energy of a block \[J\].
struct ElasticEnergy<'a> {
    block: &'a ParticleBlock,
    kinematics: &'a [KinematicsTile],
    deformation: &'a [DeformationTile],
    materials: &'a [Material],
}

impl Kernel for ElasticEnergy<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self) -> f64 {
        use deformation::{MASS, STATE};
        let mut sum = 0.0;
        for (m, material) in self.materials.iter().enumerate() {
            if matches!(material.model, Model::NeoHookean(_)) {
                sum += self.in_double(m, material);
                continue;
            }
            let model = AnyModel::<Lanes<S>>::new(&material.model);
            for (t, (motion, strain)) in self.kinematics.iter().zip(self.deformation).enumerate() {
                let is_this = |l: usize| motion[kinematics::MATERIAL].0[l].to_bits() as usize == m;
                if !(0..LANES).any(is_this) {
                    continue;
                }
                let f = load_gradient::<S>(strain);
                let density = model.energy_density(&f, Lanes::load(&strain[STATE]));
                let mut row = F32x16::ZERO;
                (density * Lanes::load(&strain[MASS]) * Lanes::splat(1.0 / material.density)).store(&mut row);
                let lanes = (0..self.block.lanes(t)).filter(|&l| is_this(l));
                sum += lanes.map(|l| f64::from(row.0[l])).sum::<f64>();
            }
        }
        sum
    }
}

impl ElasticEnergy<'_> {
    /// Of the particles of material `m`, in f64: where the energy is the difference of numbers that
    /// are not small, as the neo-Hookean's (|F|^2 - 3)/2 - ln J, rounding in f32 is as large as
    /// that of a strain of 3e-4.
    #[inline(never)]
    fn in_double(&self, m: usize, material: &Material) -> f64 {
        let model = AnyModel::<f64>::new(&material.model);
        let mut sum = 0.0;
        for (t, (motion, strain)) in self.kinematics.iter().zip(self.deformation).enumerate() {
            let of = |row: usize, l: usize| f64::from(strain[row].0[l]);
            let is_this = |l: &usize| motion[kinematics::MATERIAL].0[*l].to_bits() as usize == m;
            for l in (0..self.block.lanes(t)).filter(is_this) {
                let gradient = [0, 1, 2].map(|i| [0, 1, 2].map(|j| of(deformation::GRADIENT + i * 3 + j, l)));
                let density = model.energy_density(&Mat3(gradient), of(deformation::STATE, l));
                sum += density * of(deformation::MASS, l) / material.density;
            }
        }
        sum
    }
}
