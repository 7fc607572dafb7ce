//! Statics of cloth against closed forms: heavy strips that are clamped at an end, and hanging ones.

use nalgebra::Vector3;
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Pin, Sheet, Weave};
use pliant_mpm::material::Elastic;
use pliant_mpm::reference::{ReferenceCloth, ReferenceMpm};
use pliant_mpm::{InstructionSet, Mpm};
use pliant_testing::Random;

/// Gravity [m/s^2].
const GRAVITY: f64 = 10.0;

/// Which of the two paths.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Path {
    Reference,
    Fast,
}

/// Tip (x, drop) of a heavy elastica of length 1 that is clamped horizontally, for w L^3 / B: B
/// theta'' = -w (L - s) cos(theta), theta(0) = 0, theta'(L) = 0 (Euler's elastica under its own
/// weight; Wang 1986, "A critical review of the heavy elastica"), by shooting on theta'(0), and Runge
/// and Kutta's method of fourth order.
fn elastica(load: f64) -> [f64; 2] {
    let (_, end) = elastica_with_moment(load);
    [end[2], end[3]]
}

/// theta'(0), and at the tip theta, theta', x, drop, and the integral of x.
fn elastica_with_moment(load: f64) -> (f64, [f64; 5]) {
    let steps = 2000;
    let ds = 1.0 / f64::from(steps);
    let shoot = |start: f64| {
        let mut y = [0.0, start, 0.0, 0.0, 0.0];
        let slope =
            |s: f64, y: [f64; 5]| [y[1], -load * (1.0 - s) * y[0].cos(), y[0].cos(), y[0].sin(), y[2]];
        let after = |y: [f64; 5], k: [f64; 5], f: f64| core::array::from_fn(|n| y[n] + f * ds * k[n]);
        for step in 0..steps {
            let s = f64::from(step) * ds;
            let a = slope(s, y);
            let b = slope(s + 0.5 * ds, after(y, a, 0.5));
            let c = slope(s + 0.5 * ds, after(y, b, 0.5));
            let d = slope(s + ds, after(y, c, 1.0));
            y = core::array::from_fn(|n| y[n] + ds / 6.0 * (a[n] + 2.0 * b[n] + 2.0 * c[n] + d[n]));
        }
        y
    };
    let (mut low, mut high) = (0.0, load);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if shoot(middle)[1] > 0.0 { high = middle } else { low = middle }
    }
    (low, shoot(low))
}

/// The solution itself: for a small load the deflection is w L^4 / (8 B), and the moment at the clamp
/// is that of the weight, w times the integral of x.
#[test]
fn elastica_has_its_limits() {
    assert!((elastica(1e-3)[1] / 1.25e-4 - 1.0).abs() < 1e-5);
    for load in [0.3, 3.0, 30.0] {
        let (moment, end) = elastica_with_moment(load);
        assert!((moment / (load * end[4]) - 1.0).abs() < 1e-9, "{load}");
    }
}

/// Comes to rest under mass-proportional damping of `rate` \[1/s\], which has no effect on rest, in
/// `time` \[s\]; the vertices' positions \[m\].
fn at_rest(path: Path, sheet: Sheet, h: f64, rate: f64, time: f64) -> Vec<Vector3<f64>> {
    let gravity = -GRAVITY * Vector3::z();
    match path {
        Path::Reference => {
            let cloth = ReferenceCloth::new(sheet.mesh, sheet.material, sheet.pins, h).unwrap();
            let mut mpm = ReferenceMpm::new(h, gravity, vec![], vec![]).unwrap();
            let dt = cloth.stability().largest_substep(0.0);
            (mpm.cloths, mpm.mass_damping) = (vec![cloth], vec![rate]);
            while mpm.time < time {
                mpm.substep(dt, |_, _, _| {}).unwrap();
            }
            mpm.cloths[0].vertices.iter().map(|p| p.position).collect()
        }
        Path::Fast => {
            let mut mpm = Mpm::with_sheets(h, vec![], &[], &[sheet], &[], InstructionSet::detect()).unwrap();
            mpm.set_mass_damping(vec![rate]).unwrap();
            let dt = mpm.largest_stable_substep(0.0);
            let mut now = 0.0;
            while now < time {
                mpm.begin_step();
                mpm.particles_to_grid(dt, gravity);
                mpm.apply_pins(now, dt);
                mpm.grid_to_particles(dt).unwrap();
                now += dt;
            }
            let particles = mpm.particles();
            let vertices = mpm.sheet_particles()[0].vertices.clone();
            vertices.map(|id| particles[id].position.coords).collect()
        }
    }
}

/// How a strip is cut from a woven fabric.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cut {
    /// Along the warp: ten times as stiff as along the weft and in twist.
    Warp,
    /// Along the weft: a tenth as stiff as along the warp, ten times as stiff as in twist.
    Weft,
    /// At 45 degrees, of a fabric that is as stiff along warp and weft, and has this part of it in
    /// twist.
    Bias(f64),
}

impl Cut {
    /// At 45 degrees, over the stiffness along warp and weft: with free edges, and with no
    /// curvature across the strip. The faces of one of both sides of the outermost rows have no
    /// hinge for that curvature, of all faces 1 / rows.
    fn bias(twist: f64, rows: usize) -> [f64; 2] {
        let (free, cylinder) = (2.0 * twist / (1.0 + twist), 0.5 * (1.0 + twist));
        let part = 1.0 / rows as f64;
        [free * (1.0 - part) + cylinder * part, cylinder]
    }

    /// Makes a material woven whose strips have its `bending_stiffness` as they are cut.
    fn make_woven(
        self,
        material: &mut ClothMaterial,
        along: Vector3<f64>,
        across: Vector3<f64>,
        rows: usize,
    ) {
        let (strip, elastic) = (material.bending_stiffness, material.elastic);
        let (warp, [of_warp, of_weft, of_twist]) = match self {
            Self::Warp => (along, [1.0, 0.1, 0.1]),
            Self::Weft => (across, [10.0, 1.0, 0.1]),
            Self::Bias(twist) => {
                let [free, _] = Self::bias(twist, rows);
                (along + across, [1.0 / free, 1.0 / free, twist / free])
            }
        };
        let mut weave = Weave::new(warp, elastic.youngs_modulus, 0.1 * elastic.shear_modulus());
        material.bending_stiffness = of_warp * strip;
        (weave.weft_bending_stiffness, weave.twist_stiffness) = (of_weft * strip, of_twist * strip);
        material.weave = Some(weave);
    }
}

/// A strip that is clamped horizontally.
#[derive(Clone, Debug)]
struct Strip {
    /// w L^3 / B.
    load: f64,
    /// Free length \[m\].
    length: f64,
    /// Rectangles along the free length, and across the strip.
    parts: [usize; 2],
    /// Side of a rectangle across the strip over that along it.
    aspect: f64,
    /// Side of the rectangles along the strip over the grid spacing.
    edge: f64,
    /// Mass per rest volume \[kg/m^3\], thickness \[m\], Poisson's ratio.
    density: f64,
    thickness: f64,
    poissons_ratio: f64,
    /// How it is cut; none is of an isotropic sheet.
    cut: Option<Cut>,
    /// Turn about the vertical, and place of the clamp in the grid \[rad, h\].
    turn: f64,
    place: Vector3<f64>,
}

impl Strip {
    fn new(load: f64, parts: [usize; 2], edge: f64) -> Self {
        Self {
            load,
            length: 1.0,
            parts,
            aspect: 1.0,
            edge,
            density: 1e2,
            thickness: 0.02,
            poissons_ratio: 0.0,
            cut: None,
            turn: 0.0,
            place: Vector3::zeros(),
        }
    }

    /// Tip of the strip at rest (x, drop), over the length.
    fn tip(&self, path: Path) -> [f64; 2] {
        let a = self.length / self.parts[0] as f64;
        let h = a / self.edge;
        let weight = self.density * self.thickness * GRAVITY;
        // Its own weight stretches a hanging strip by 1 / 6000.
        let elastic = Elastic {
            youngs_modulus: 3e3 * self.density * GRAVITY * self.length,
            poissons_ratio: self.poissons_ratio,
        };
        // Its waves are no faster than those in the plane.
        let mut material =
            ClothMaterial::new(self.density, elastic, self.thickness, 0.1 * elastic.youngs_modulus);
        material.bending_stiffness = weight * self.length.powi(3) / self.load;
        let (sin, cos) = self.turn.sin_cos();
        let (along, across) = (Vector3::new(cos, sin, 0.0), Vector3::new(-sin, cos, 0.0));
        if let Some(cut) = self.cut {
            cut.make_woven(&mut material, along, across, self.parts[1]);
        }
        let width = a * self.aspect * self.parts[1] as f64;
        // A column of rectangles beyond the clamp is held.
        let parts = [self.parts[0] + 1, self.parts[1]];
        let clamp = self.place * h;
        let mesh = ClothMesh::rectangle(clamp - a * along, along * (self.length + a), across * width, parts)
            .unwrap();
        let rows = parts[1] + 1;
        let pins = (0..2 * rows).map(|v| Pin::fixed(v, mesh.vertices()[v]).unwrap()).collect();
        let sheet = Sheet { pins, ..Sheet::new(mesh, material) };
        // Critical damping of the first mode: that of a beam (Timoshenko), and of a chain where it has
        // no stiffness.
        let omega = ((3.516 * 3.516 / self.load + 1.44) * GRAVITY / self.length).sqrt();
        let vertices = at_rest(path, sheet, h, 2.0 * omega, 24.0 / omega);
        let tip = &vertices[vertices.len() - rows..];
        let mean = tip.iter().sum::<Vector3<f64>>() / rows as f64 - clamp - 0.5 * width * across;
        [mean.dot(&along) / self.length, -mean.z / self.length]
    }

    /// Distance of the tip from that of the elastica, over the way that its weight moved the tip.
    fn error(&self, path: Path) -> f64 {
        let ([x, drop], [expected_x, expected]) = (self.tip(path), elastica(self.load));
        (x - expected_x).hypot(drop - expected) / (1.0 - expected_x).hypot(expected)
    }

    /// Twice the error of the trapezoidal rule for the deflection of small loads, 1 / m^2 for m
    /// parts: the angle of a vertex's curvature is at the vertex. The clamp holds the curvature
    /// across a strip of the bias, which makes it a cylinder for half a width: of the deflection
    /// that part has the share 4 x its length over that of the strip.
    fn bound(&self) -> f64 {
        let of_mesh = 2.0 / (self.parts[0] * self.parts[0]) as f64;
        let Some(Cut::Bias(twist)) = self.cut else { return of_mesh };
        let [strip, cylinder] = Cut::bias(twist, self.parts[1]);
        let width = self.aspect * self.parts[1] as f64 / self.parts[0] as f64;
        of_mesh + 2.0 * width * (1.0 - strip / cylinder).abs()
    }
}

/// A strip that is clamped at an end is a heavy elastica at every stiffness, and the better the finer
/// its mesh.
#[test]
fn clamped_strip_is_an_elastica() {
    for path in [Path::Fast, Path::Reference] {
        for load in [0.3, 1.0, 3.0, 10.0, 30.0] {
            for parts in [[8, 2], [16, 2]] {
                let strip = Strip::new(load, parts, 1.0);
                let error = strip.error(path);
                println!("{path:?} w L^3 / B {load}, {parts:?}: {:.2} %", 100.0 * error);
                assert!(error < strip.bound(), "{path:?} {strip:?}: {error}");
            }
        }
    }
}

/// Strips that are cut along warp, weft and bias are elasticas of their own stiffness, whatever
/// that of other directions is. On the bias it is 2 B B_t / (B + B_t) with free edges, of which a
/// mesh of few rows misses a part that is known ([`Cut::bias`]).
#[test]
fn woven_strips_are_elasticas_of_their_direction() {
    for (path, cut) in [
        (Path::Fast, Cut::Warp),
        (Path::Fast, Cut::Weft),
        (Path::Fast, Cut::Bias(0.2)),
        (Path::Fast, Cut::Bias(2.0)),
        (Path::Reference, Cut::Bias(0.5)),
    ] {
        let strip = Strip { cut: Some(cut), turn: 0.4, ..Strip::new(3.0, [16, 2], 1.0) };
        let (error, bound) = (strip.error(path), strip.bound());
        println!("{path:?} {cut:?}: {:.2} % of {:.2} %", 100.0 * error, 100.0 * bound);
        assert!(error < bound, "{path:?} {strip:?}: {error}");
    }
}

/// The same for strips of several widths and meshes finer and coarser than the grid; the table is what
/// is recorded, with the loads between of `STRIP_CASES=30`.
#[test]
#[ignore = "slow tier"]
fn table_of_strips() {
    let loads: &[f64] =
        if std::env::var("STRIP_CASES").is_ok() { &[0.3, 1.0, 3.0, 10.0, 30.0] } else { &[0.3, 3.0, 30.0] };
    println!("| path | w L^3 / B | parts | edge [h] | x | elastica | drop | elastica | error [%] |");
    for (path, finest) in [(Path::Fast, 32), (Path::Reference, 16)] {
        for &load in loads {
            for (parts, edge) in [
                ([8, 2], 1.0),
                ([16, 2], 1.0),
                ([32, 2], 1.0),
                ([16, 1], 1.0),
                ([16, 6], 1.0),
                ([16, 2], 0.5),
                ([16, 2], 1.4),
            ] {
                if parts[0] > finest {
                    continue;
                }
                let strip = Strip::new(load, parts, edge);
                let ([x, drop], expected) = (strip.tip(path), elastica(load));
                let away = (x - expected[0]).hypot(drop - expected[1]);
                let error = 100.0 * away / (1.0 - expected[0]).hypot(expected[1]);
                println!(
                    "| {path:?} | {load} | {} x {} | {edge} | {x:.4} | {:.4} | {drop:.4} | {:.4} | {error:.2} |",
                    parts[0], parts[1], expected[0], expected[1]
                );
                assert!(error < 100.0 * strip.bound(), "{path:?} {strip:?}: {error} %");
            }
        }
    }
}

/// A random strip: all that the elastica does not depend on, and w L^3 / B in \[0.1, 30\]; at least six
/// rectangles along it, and meshes from 0.5 to 1.4 of the grid spacing (along and across).
fn random_strip(random: &mut Random) -> Strip {
    let aspect = random.uniform(0.7, 1.4);
    let parts = [6 + random.word() as usize % 11, 1 + random.word() as usize % 4];
    let edge = random.uniform(0.5, 1.0) / f64::max(1.0, aspect) * 1.4;
    Strip {
        load: random.log_uniform(0.1, 30.0),
        length: random.log_uniform(0.05, 2.0),
        parts,
        aspect,
        edge,
        density: random.log_uniform(50.0, 2000.0),
        thickness: random.log_uniform(2e-4, 2e-2),
        poissons_ratio: random.uniform(0.0, 0.45),
        cut: None,
        turn: random.uniform(0.0, core::f64::consts::TAU),
        place: random.vector() * 5.0,
    }
}

/// Compares random strips with the elastica; prints them all and the worst.
fn judge(seed: u64, count: usize) {
    let mut random = Random::new(seed);
    let mut worst = (0.0, None);
    println!("seed {seed}");
    for number in 0..count {
        let strip = random_strip(&mut random);
        let error = strip.error(Path::Fast);
        let of_bound = error / strip.bound();
        println!("{number}: {:.2} %, {of_bound:.2} of the bound: {strip:?}", 100.0 * error);
        if of_bound > worst.0 {
            worst = (of_bound, Some(strip));
        }
    }
    println!("worst: {:.2} of the bound: {:?}", worst.0, worst.1);
    assert!(worst.0 < 1.0, "{worst:?}");
}

/// Strips of random size, material, mesh, grid and direction are elasticas.
#[test]
fn random_strips_are_elasticas() {
    judge(2501, 3);
}

/// More of them: `STRIP_CASES=30` takes thirty.
#[test]
#[ignore = "slow tier"]
fn more_random_strips_are_elasticas() {
    judge(2502, std::env::var("STRIP_CASES").map_or(12, |count| count.parse().unwrap()));
}

/// A hanging strip is displaced by u(x) = rho g (L x - x^2 / 2) / E at a distance x from its upper edge
/// (Timoshenko and Goodier), at every vertex. Vertices carry the weight of half the rectangles on both
/// sides, so the mesh is exact at its vertices; the bound is 3 % with 10 rectangles, and a fourth of it
/// with 20, as the grid's splines are of second order. Substeps are as long as stability allows, and
/// the mesh takes steps of its own in them: with up to eight instead of four the strip zigzags.
#[test]
fn hanging_strip_is_stretched_by_its_weight() {
    let (length, density, thickness) = (1.0, 1e3, 0.01);
    for path in [Path::Fast, Path::Reference] {
        for parts in [10, 20] {
            let h = length / parts as f64;
            let elastic = Elastic { youngs_modulus: 1e3 * density * GRAVITY * length, poissons_ratio: 0.0 };
            let material = ClothMaterial::new(density, elastic, thickness, 1e5);
            let down = -length * Vector3::z();
            let mesh =
                ClothMesh::rectangle(Vector3::zeros(), down, 3.0 * h * Vector3::y(), [parts, 3]).unwrap();
            let rest = mesh.vertices().to_vec();
            let pins = (0..4).map(|v| Pin::fixed(v, rest[v]).unwrap()).collect();
            let omega = 0.5 * core::f64::consts::PI / length * material.wave_speed();
            let moved =
                at_rest(path, Sheet { pins, ..Sheet::new(mesh, material) }, h, 2.0 * omega, 20.0 / omega);
            let scale = density * GRAVITY / elastic.youngs_modulus;
            let mut worst = 0.0_f64;
            for (now, rest) in moved.iter().zip(&rest) {
                let x = -rest.z;
                let expected = scale * (length * x - 0.5 * x * x);
                worst = worst.max((rest.z - now.z - expected).abs() / (0.5 * scale * length * length));
            }
            println!("{path:?}, {parts} parts: {:.2} % of the elongation", 100.0 * worst);
            assert!(worst < 3.0 / (parts * parts) as f64, "{path:?} {parts}: {worst}");
        }
    }
}

/// A hanging strip of a woven fabric, at any angle between it and the warp: with the compliances
/// S_11 = 1 / E, S_12 and S_16 of its direction (contraction and shear over stress along it),
///
/// u = q (S_11 (L x - x^2 / 2) + S_12 y^2 / 2), v = q (S_12 (L - x) y + S_16 (L x - x^2 / 2)), q =
/// rho g,
///
/// has no stress but q (L - x) along the strip (for S_16 = 0: Timoshenko and Goodier, stretching of
/// a bar by its own weight). The upper edge is held at that. The bound is that of the isotropic
/// strip, with an error of second order in the rows across, which shear of the elements makes, and
/// what the weight of a strip that moves aside adds.
#[test]
fn hanging_woven_strip_is_stretched_by_its_weight() {
    let (length, density, thickness) = (1.0, 1e3, 0.01);
    for (path, degrees, parts) in [
        (Path::Fast, 0.0, 16),
        (Path::Fast, 30.0, 16),
        (Path::Fast, 45.0, 16),
        (Path::Fast, 60.0, 16),
        (Path::Fast, 60.0, 32),
        (Path::Fast, 90.0, 16),
        (Path::Reference, 75.0, 16),
    ] {
        let (h, rows) = (length / parts as f64, parts / 4);
        let q = density * GRAVITY;
        let (e1, e2, ratio) = (1.5e4 * q * length, 5e3 * q * length, 0.3);
        let shear_modulus = 0.2 * e2;
        let (s, c) = f64::to_radians(degrees).sin_cos();
        let (cc, ss, cs) = (c * c, s * s, c * s);
        // Stress along the strip on the axes of the weave: c^2, s^2 and shear c s.
        let strains = [cc / e1 - ss * ratio / e1, ss / e2 - cc * ratio / e1, cs / shear_modulus];
        let along = strains[0] * cc + strains[1] * ss + strains[2] * cs;
        let across = strains[0] * ss + strains[1] * cc - strains[2] * cs;
        let shear = 2.0 * cs * (strains[1] - strains[0]) + strains[2] * (cc - ss);
        let elastic = Elastic { youngs_modulus: e1, poissons_ratio: ratio };
        // x is down. Seen from y, the strip is at the angle from the warp towards the weft.
        let down = -Vector3::z();
        let warp = down * c - Vector3::y() * s;
        let material = ClothMaterial {
            weave: Some(Weave::new(warp, e2, shear_modulus)),
            ..ClothMaterial::new(density, elastic, thickness, 1e5)
        };
        let width = rows as f64 * h;
        let mesh = ClothMesh::rectangle(
            -0.5 * width * Vector3::y(),
            down * length,
            width * Vector3::y(),
            [parts, rows],
        )
        .unwrap();
        let rest = mesh.vertices().to_vec();
        let moved = |x: f64, y: f64| {
            let fallen = length * x - 0.5 * x * x;
            [q * (along * fallen + 0.5 * across * y * y), q * (across * (length - x) * y + shear * fallen)]
        };
        let to = |x: &Vector3<f64>| {
            let [u, v] = moved(-x.z, x.y);
            x + down * u + Vector3::y() * v
        };
        let pin = |v: usize| Pin::new(v, vec![(0.0, rest[v]), (0.01, to(&rest[v]))], f64::INFINITY).unwrap();
        let pins = (0..=rows).map(pin).collect();
        // The slowest vibration is that of the strip as a beam in its plane: 3.5 w / (sqrt(12) L^2)
        // c.
        let wave = (1.0 / (along * density)).sqrt();
        let omega = width / (length * length) * wave;
        let found = at_rest(path, Sheet { pins, ..Sheet::new(mesh, material) }, h, 2.0 * omega, 16.0 / omega);
        let scale = 0.5 * q * along * length * length;
        let worst =
            found.iter().zip(&rest).map(|(now, rest)| (now - to(rest)).norm() / scale).fold(0.0, f64::max);
        // The weight, whose line moves aside with the strip, bends it by at most 2 q S_11 L (L /
        // w)^2 of that.
        let side = q * shear.abs() * 0.5 * length * length / scale;
        let of_mesh = 3.0 / (parts * parts) as f64 + 1.0 / (rows * rows) as f64;
        let bound = of_mesh + 2.0 * q * along * length * (length / width).powi(2) * side;
        println!(
            "{path:?} {degrees} {parts}: {:.2} % of {:.2} %; aside {side:.2}",
            100.0 * worst,
            100.0 * bound
        );
        assert!(worst < bound, "{path:?} {degrees}: {worst}");
    }
}
