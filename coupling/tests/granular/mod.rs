//! Collapse of columns of grains on a floor: one sand for every case, and what is measured of the
//! deposit.

use super::common::{G, block, floor, run_for, snapshot};
use nalgebra::{Point3, Unit, Vector3};
use pliant_coupling::{Boundary, BoundaryKind, Material, ParticleSnapshot, Settings, World};
use pliant_mpm::material::{Elastic, GranularFlow, GranularWalls, Model};

/// Half width or radius of the column [m].
pub const R0: f64 = 0.1;

/// Thickness at which a deposit ends [R0]: one grain.
const ONE_GRAIN: f64 = 0.01;

/// Friction angle of the columns' sand in simple shear [degrees], one for all of them: of 29, 30
/// and 31, which is where those of the experiments lie, the one that divides the errors of both
/// geometries most evenly.
pub const DRY_SAND: f64 = 31.0;

/// Sand that rests at this angle [degrees] and flows fast at ten more: E 1e5 Pa, I_0 0.28, grains
/// of a millimetre.
pub fn sand(degrees: f64) -> Material {
    let flow = GranularFlow {
        elastic: Elastic { youngs_modulus: 1e5, poissons_ratio: 0.3 },
        friction_angle: degrees.to_radians(),
        fast_friction_angle: (degrees + 10.0).to_radians(),
        inertial_number: 0.28,
        grain_diameter: 1e-3,
        grain_density: 2650.0,
        walls: GranularWalls::Rough,
    };
    Material { density: 1500.0, model: Model::Granular(flow) }
}

/// A column and the grid that it falls on.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Height over R0.
    pub aspect: f64,
    /// Cells over R0; eight particles a cell.
    pub cells: usize,
    /// A cylinder, or else a strip in plane strain.
    pub is_round: bool,
    /// Friction of the floor, which is a body.
    pub floor: f64,
}

/// Planes of symmetry x = 0 and y = 0, and for plane strain the other side of a slice of one cell.
pub fn symmetry(grid_spacing: f64, is_round: bool) -> Vec<Boundary> {
    let slip = |point: Point3<f64>, normal: Vector3<f64>| Boundary {
        point,
        normal: Unit::new_normalize(normal),
        kind: BoundaryKind::Slip,
    };
    let mut planes = vec![slip(Point3::origin(), Vector3::x()), slip(Point3::origin(), Vector3::y())];
    if !is_round {
        planes.push(slip(Point3::new(0.0, grid_spacing, 0.0), -Vector3::y()));
    }
    planes
}

impl Column {
    /// Runout over R0 that was measured, (r_end - r_0)/r_0: round 1.24 a for a < 1.7 and 1.6
    /// sqrt(a) above (Lube, Huppert, Sparks and Hallworth 2004); plane 1.2 a for a < 1.8, 1.9
    /// a^(2/3) for a > 2.8 (Lube, Huppert, Sparks and Freundt 2005), and between them, where there
    /// is no law, what is linear in a.
    pub fn law(&self) -> f64 {
        let a = self.aspect;
        match (self.is_round, a) {
            (true, ..1.7) => 1.24 * a,
            (true, _) => 1.6 * a.sqrt(),
            (false, ..1.8) => 1.2 * a,
            (false, 2.8..) => 1.9 * a.powf(2.0 / 3.0),
            (false, _) => 2.16 + (a - 1.8) * (1.9 * 2.8_f64.powf(2.0 / 3.0) - 2.16),
        }
    }

    /// Its runout over R0.
    pub fn runout(&self) -> f64 {
        let h = R0 / self.cells as f64;
        front(&profile(&self.collapse(), h, self.is_round)) / R0 - 1.0
    }

    /// The deposit, when it has come to rest after 3.3 sqrt(h0/g) (Lube et al. 2005).
    fn collapse(&self) -> ParticleSnapshot {
        let (h, across) = (R0 / self.cells as f64, 2 * self.cells);
        let mut settings = Settings::new(h, 2e-3);
        settings.solver.relative_tolerance = 1e-2;
        settings.boundaries = symmetry(h, self.is_round);
        let mut builder = World::builder(settings);
        let material = builder.material(sand(DRY_SAND));
        let height = (self.aspect * across as f64).round() as usize;
        let counts = [across, if self.is_round { across } else { 2 }, height];
        let mut particles = block(material, [0.0; 3], counts, 0.5 * h, Vector3::zeros());
        if self.is_round {
            particles.positions.retain(|p| p.x.hypot(p.y) <= R0);
            particles.velocities.truncate(particles.positions.len());
            particles.volumes.truncate(particles.positions.len());
        }
        builder.particles(particles);
        builder.body(floor(self.floor)).unwrap();
        let mut world = builder.build().unwrap();
        run_for(&mut world, 4.0 * (self.aspect * R0 / G).sqrt(), |_, _| {});
        snapshot(&mut world)
    }
}

/// Thickness [m] of the deposit over the distance [m] from the axis, in rings or strips of half a
/// cell: volume over area.
pub fn profile(deposit: &ParticleSnapshot, h: f64, is_round: bool) -> Vec<(f64, f64)> {
    let width = 0.5 * h;
    let mut volumes: Vec<f64> = Vec::new();
    for (p, volume) in deposit.positions.iter().zip(&deposit.volume) {
        let ring = (if is_round { p[0].hypot(p[1]) } else { p[0] } / width) as usize;
        volumes.resize(volumes.len().max(ring + 1), 0.0);
        volumes[ring] += volume;
    }
    let thickness = |(n, volume): (usize, f64)| {
        let quarter_ring = std::f64::consts::FRAC_PI_4 * (2 * n + 1) as f64 * width * width;
        ((n as f64 + 0.5) * width, volume / if is_round { quarter_ring } else { width * h })
    };
    volumes.into_iter().enumerate().map(thickness).collect()
}

/// End of the deposit that hangs together [m]: where its thickness, smoothed over two rings, falls
/// below a grain.
fn front(profile: &[(f64, f64)]) -> f64 {
    let thick = |w: &&[(f64, f64)]| 0.25 * (w[0].1 + 2.0 * w[1].1 + w[2].1) >= ONE_GRAIN * R0;
    let rings = profile.windows(3).take_while(thick).count() + 1;
    profile[rings.min(profile.len() - 1)].0 + profile[0].0
}

/// Slope of the straight flank whose wedge has the deposit's area A and mean distance from the
/// middle, a third of its half width: 2 A/(9 mean^2) [rad]. It knows the whole deposit; a line
/// through the surface scatters by 3 degrees with the steps of the surface.
pub fn flank(profile: &[(f64, f64)]) -> f64 {
    let width = 2.0 * profile[0].0;
    let (area, moment) = profile.iter().fold((0.0, 0.0), |(a, m), (x, t)| (a + t * width, m + x * t * width));
    (2.0 * area / (9.0 * (moment / area).powi(2))).atan()
}
