//! Cloth in the reference's grid, see [`crate::cloth`] for the method and its sources.
//!
//! Within a substep: vertices scatter mass, momentum and the impulse of the elements' forces, faces
//! mass, momentum and the stress on their directors; pins act on the grid; vertices and faces
//! gather, agree on their velocities, and move; directors follow the velocity gradient and are
//! mapped back; yarns slip, and faces tear.

mod friction;
mod pins;
mod tearing;
mod tears;

use super::grid::Grid;
use super::particle::BodyForce;
use super::totals::ReferenceTotals;
use crate::bspline::INVERSE_SECOND_MOMENT;
use crate::cloth::bending_friction::serial::Friction;
use crate::cloth::model::{Polar, Qr};
use crate::cloth::{
    ClothError, ClothMaterial, ClothMesh, ClothModel, Gas, GasError, GasModel, Hinge, Pin,
    ShearFrictionModel, Sheet, SheetStretch, Stability, Stretch, YarnModel, bending, gas, stability,
};
use nalgebra::{Matrix2, Matrix3, Vector3};
use pliant_numeric::linalg::Vec3;
use tears::Tears;

/// A particle of cloth: a vertex or a face's centroid. Or a vertex of a rope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClothParticle {
    /// Position (m, world frame).
    pub position: Vector3<f64>,
    /// Velocity \[m/s\].
    pub velocity: Vector3<f64>,
    /// Affine velocity field C \[1/s\], damped: v(x) = v + C (x - x_p).
    pub affine: Matrix3<f64>,
    /// Mass \[kg\].
    pub mass: f64,
}

/// A face's deformation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClothFace {
    /// Its vertices.
    pub vertices: [usize; 3],
    /// Director d3 (no unit, world frame).
    pub director: Vector3<f64>,
    /// Inverse of the rest edges in the face's material frame \[1/m\].
    pub inverse_rest: Matrix2<f64>,
    /// Volume at rest, area x thickness \[m^3\].
    pub volume: f64,
}

/// Sweeps over the faces until the vertex-face constraints hold: a sweep leaves less than a seventh
/// of the residual (measured on rectangles; Gauss-Seidel on a matrix whose rows have 1.06 on the
/// diagonal and 0.28 beside it), so after 20 only rounding remains.
const VERTEX_FACE_SWEEPS: usize = 20;

/// A sheet of cloth with its state.
#[derive(Clone, Debug)]
pub struct ReferenceCloth {
    /// Vertex particles, in the order of the mesh's vertices.
    pub vertices: Vec<ClothParticle>,
    /// Centroid particles, in the order of the mesh's faces.
    pub centroids: Vec<ClothParticle>,
    /// The faces, in the same order.
    pub faces: Vec<ClothFace>,
    mesh: ClothMesh,
    material: ClothMaterial,
    model: ClothModel<f64>,
    /// Of a woven fabric: its yarns, and the warp's direction in each face.
    weave: Option<(YarnModel<f64>, Vec<[f64; 2]>)>,
    /// Friction of these yarns, and by how much each face has slipped (no unit).
    shear_friction: Option<(ShearFrictionModel<f64>, Vec<f64>)>,
    /// Energy that it took since the start \[J\].
    lost_to_shear_friction: f64,
    tears: Tears,
    stability: Stability,
    /// Length of the last substep; zero at the start \[s\].
    substep: f64,
    /// Gravity in the last substep \[m/s^2\].
    gravity: Vector3<f64>,
    hinges: Vec<Hinge>,
    friction: Friction,
    gas: Option<GasModel>,
    pins: Vec<Pin>,
    /// Inverse masses of the vertices in the substep, zero where a pin holds \[1/kg\].
    inverse_masses: Vec<f64>,
    support_impulse: Vector3<f64>,
}

impl ReferenceCloth {
    /// An undeformed sheet in a grid of spacing `grid_spacing` \[m\].
    ///
    /// # Errors
    /// A material parameter out of range, a face that does not fit the grid
    /// ([`ClothMesh::check_spacing`]), a pin that is not at its vertex, or a face across the warp
    /// of a woven fabric.
    pub fn new(
        mesh: ClothMesh,
        material: ClothMaterial,
        pins: Vec<Pin>,
        grid_spacing: f64,
    ) -> Result<Self, ClothError> {
        let sheet = Sheet { pins, ..Sheet::new(mesh, material) };
        sheet.check(grid_spacing)?;
        let particle = |position: Vector3<f64>, volume: f64| ClothParticle {
            position,
            velocity: Vector3::zeros(),
            affine: Matrix3::zeros(),
            mass: volume * material.density,
        };
        let (of_vertices, of_faces) = sheet.volumes();
        let vertices =
            sheet.mesh.vertices().iter().zip(of_vertices).map(|(&x, v)| particle(x, v)).collect::<Vec<_>>();
        let (mut centroids, mut faces) = (Vec::new(), Vec::new());
        for (index, (&vertices, quarter)) in sheet.mesh.faces().iter().zip(of_faces).enumerate() {
            let rest = sheet.rest_face(index);
            centroids.push(particle(rest.centroid, quarter));
            let (inverse_rest, volume) = (rest.inverse_edges, rest.volume);
            faces.push(ClothFace { vertices, director: rest.normal, inverse_rest, volume });
        }
        let stability = Stability::new(&sheet, grid_spacing);
        let hinges = sheet.hinges();
        let friction = Friction::new(sheet.friction_faces());
        let weave = YarnModel::new(&material).zip(sheet.warps()?);
        let shear_friction =
            ShearFrictionModel::new(&material).map(|model| (model, vec![0.0; sheet.mesh.faces().len()]));
        let tears = Tears::new(&sheet);
        let Sheet { mesh, pins, .. } = sheet;
        let mut inverse_masses = vertices.iter().map(|p| 1.0 / p.mass).collect::<Vec<_>>();
        for pin in pins.iter().filter(|pin| pin.holds(0.0)) {
            inverse_masses[pin.vertex()] = 0.0;
        }
        let model = ClothModel::new(&material);
        let support_impulse = Vector3::zeros();
        Ok(Self {
            vertices,
            centroids,
            faces,
            mesh,
            material,
            model,
            weave,
            shear_friction,
            lost_to_shear_friction: 0.0,
            tears,
            stability,
            substep: 0.0,
            gravity: Vector3::zeros(),
            hinges,
            friction,
            gas: None,
            pins,
            inverse_masses,
            support_impulse,
        })
    }

    /// Fills the sheet with gas.
    ///
    /// # Errors
    /// [`GasError`]: a figure out of range, or a sheet that cannot hold it.
    pub fn fill(&mut self, gas: &Gas) -> Result<(), GasError> {
        self.gas = Some(GasModel::new(gas, &self.mesh, &self.material)?);
        Ok(())
    }

    /// Volume within the sheet now, which has a meaning where it is closed \[m^3\].
    pub fn enclosed_volume(&self) -> f64 {
        gas::enclosed_volume(self.mesh.faces(), &self.positions())
    }

    /// Forces of the gas on the vertices \[N\].
    pub fn gas_forces(&self) -> Vec<Vector3<f64>> {
        let mut forces = vec![Vector3::zeros(); self.vertices.len()];
        let Some(model) = &self.gas else { return forces };
        let pressure = model.gauge_pressure(self.enclosed_volume());
        for face in &self.faces {
            let force = pressure * gas::corner_area(face.vertices.map(|v| self.vertices[v].position));
            face.vertices.iter().for_each(|&v| forces[v] += force);
        }
        forces
    }

    /// How far it is stretched now.
    pub fn stretch(&self) -> SheetStretch {
        let mut faces = Stretch::NONE;
        // Of each vertex the volume of its faces, and its products with their squares.
        let mut sums = vec![(0.0, [0.0; 2]); self.vertices.len()];
        for (index, face) in self.faces.iter().enumerate() {
            if self.tears.is_torn(index) {
                continue;
            }
            let [f1, f2, _] = self.columns(face).map(|column| Vector3::from(column.0));
            let mean = 0.5 * (f1.norm_squared() + f2.norm_squared());
            let deviation = 0.5 * (f1.norm_squared() - f2.norm_squared());
            let squares = [mean + deviation.hypot(f1.dot(&f2)), f1.cross(&f2).norm_squared()];
            faces = faces.max(Stretch::of_squares(squares));
            for vertex in face.vertices {
                let (volume, sum) = &mut sums[vertex];
                *volume += face.volume;
                (0..2).for_each(|k| sum[k] += face.volume * squares[k]);
            }
        }
        for pin in &self.pins {
            sums[pin.vertex()] = (1.0, [1.0; 2]);
        }
        // Where all faces have torn there is no mean.
        let means = sums
            .iter()
            .filter(|(volume, _)| *volume > 0.0)
            .map(|(volume, sum)| Stretch::of_squares(sum.map(|s| s / volume)));
        SheetStretch { faces, vertices: means.fold(Stretch::NONE, Stretch::max) }
    }

    /// Largest substep for particles that move at up to `max_speed` \[m/s\]: that of
    /// [`Self::stability`] for the present stretch, and of the gas at the present volume \[s\].
    pub fn largest_substep(&self, max_speed: f64) -> f64 {
        let of_gas = self.gas.map_or(f64::INFINITY, |gas| gas.largest_substep(self.enclosed_volume()));
        self.stability.stretched(&self.stretch()).largest_substep(max_speed).min(of_gas)
    }

    /// The mesh at rest.
    pub fn mesh(&self) -> &ClothMesh {
        &self.mesh
    }

    /// Its material.
    pub fn material(&self) -> &ClothMaterial {
        &self.material
    }

    /// Limits of its substeps at rest.
    pub fn stability(&self) -> &Stability {
        &self.stability
    }

    /// Impulse of the pins on the sheet and on other particles at its nodes in the last substep
    /// \[N s\].
    pub fn support_impulse(&self) -> Vector3<f64> {
        self.support_impulse
    }

    /// Sets velocities from `field`(position in m) -> (velocity in m/s, its gradient in 1/s); exact
    /// for a linear field.
    pub fn set_velocity(&mut self, mut field: impl FnMut(&Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>)) {
        for p in self.vertices.iter_mut().chain(&mut self.centroids) {
            (p.velocity, p.affine) = field(&p.position);
        }
    }

    /// All particles: vertices, then centroids.
    pub fn particles(&self) -> impl Iterator<Item = &ClothParticle> {
        self.vertices.iter().chain(&self.centroids)
    }

    /// Deformation gradient of a face: columns f1, f2, f3 in the world frame, rows of its inverse
    /// rest in the face's (no unit).
    pub fn deformation_gradient(&self, face: usize) -> Matrix3<f64> {
        let f = self.columns(&self.faces[face]);
        Matrix3::from_columns(&f.map(|c| Vector3::from(c.0)))
    }

    fn columns(&self, face: &ClothFace) -> [Vec3<f64>; 3] {
        let [f1, f2] = face.edge_columns(face.vertices.map(|v| self.vertices[v].position));
        [f1, f2, Vec3(face.director.into())]
    }

    /// Elastic energy, with that of gas \[J\].
    pub fn elastic_energy(&self) -> f64 {
        let face =
            |index: usize| self.faces[index].volume * self.energy_density(index) * self.tears.left(index);
        let gas = self.gas.map_or(0.0, |gas| gas.energy(self.enclosed_volume()));
        (0..self.faces.len()).map(face).sum::<f64>() + self.bending_energy() + gas
    }

    /// The part of bending \[J\].
    fn bending_energy(&self) -> f64 {
        let (positions, held) = (self.positions(), self.held());
        bending::serial::energy(&self.hinges, &positions, &held)
            + self.friction.energy(&self.hinges, &positions, &held)
    }

    /// Energy per rest volume of a face that is whole \[J/m^3\].
    fn energy_density(&self, face: usize) -> f64 {
        let qr = Qr::new(&self.columns(&self.faces[face]));
        let polar = Polar::new(&qr);
        let mut density = self.model.energy_density(&qr);
        if let Some((yarns, warps)) = &self.weave {
            density += yarns.energy_density(&polar, warps[face]);
            if let Some((friction, slipped)) = &self.shear_friction {
                let shear = ShearFrictionModel::shear(&polar, warps[face]);
                density += friction.energy_density(shear, slipped[face]);
            }
        }
        density
    }

    /// Forces of the elements and of gas on the vertices \[N\] and, for each face, minus the
    /// derivative of its energy with respect to its director \[J\].
    pub fn elastic_forces(&self) -> (Vec<Vector3<f64>>, Vec<Vector3<f64>>) {
        self.mean_forces(0.0)
    }

    /// The same with the mean of the in-plane stresses over a substep of `substep` \[s\], see
    /// [`crate::cloth::stability`].
    pub fn mean_forces(&self, substep: f64) -> (Vec<Vector3<f64>>, Vec<Vector3<f64>>) {
        let mut on_vertices = self.gas_forces();
        let biot = self.mean_biot(substep, &on_vertices);
        let mut on_directors = Vec::with_capacity(self.faces.len());
        for (index, (face, biot)) in self.faces.iter().zip(biot).enumerate() {
            let left = self.tears.left(index);
            let qr = Qr::new(&self.columns(face));
            let stress = self.model.first_piola_with(&qr, &Polar::new(&qr), biot);
            let [p1, p2, p3] = stress.map(|column| column * left);
            face.add_forces(&[p1, p2], &mut on_vertices);
            on_directors.push(-face.volume * Vector3::from(p3.0));
        }
        let (positions, held) = (self.positions(), self.held());
        let of_friction = self.friction.moments(&self.hinges, &positions, &held);
        bending::serial::add_forces((&self.hinges, &of_friction), &positions, &held, &mut on_vertices);
        (on_vertices, on_directors)
    }

    /// Biot stress of a face \[Pa\].
    fn biot(&self, face: usize, polar: &Polar<f64>) -> [f64; 3] {
        let sheet = self.model.biot(polar);
        let Some((yarns, warps)) = &self.weave else { return sheet };
        let warp = warps[face];
        let of_yarns = yarns.biot(polar, warp);
        let of_friction = self.shear_friction.as_ref().map_or([0.0; 3], |(friction, slipped)| {
            friction.biot(ShearFrictionModel::shear(polar, warp), slipped[face], warp)
        });
        core::array::from_fn(|n| sheet[n] + of_yarns[n] + of_friction[n])
    }

    fn positions(&self) -> Vec<Vector3<f64>> {
        self.vertices.iter().map(|p| p.position).collect()
    }

    /// Which vertices pins hold.
    fn held(&self) -> Vec<bool> {
        self.inverse_masses.iter().map(|inverse| *inverse == 0.0).collect()
    }

    /// Biot stresses of the faces, a weighted mean over the steps that the mesh takes from rest in
    /// `substep` \[s\] under constant `loads` \[N\].
    fn mean_biot(&self, substep: f64, loads: &[Vector3<f64>]) -> Vec<[f64; 3]> {
        let (steps, step) = self.stability.stretched(&self.stretch()).mesh_substeps(substep);
        let mut positions = self.positions();
        let mut velocities = vec![Vector3::zeros(); self.vertices.len()];
        let mut mean = vec![[0.0; 3]; self.faces.len()];
        for k in 0..steps {
            let weight = stability::weight(k, steps);
            let mut forces = loads.to_vec();
            for (index, (face, mean)) in self.faces.iter().zip(&mut mean).enumerate() {
                let [f1, f2] = face.edge_columns(face.vertices.map(|v| positions[v]));
                // The in-plane stress does not depend on the director.
                let qr = Qr::new(&[f1, f2, f1.cross(f2)]);
                let polar = Polar::new(&qr);
                let biot = self.biot(index, &polar);
                for (mean, biot) in mean.iter_mut().zip(biot) {
                    *mean += weight * biot;
                }
                let left = self.tears.left(index);
                face.add_forces(&polar.plane_piola(&qr, biot).map(|column| column * left), &mut forces);
            }
            // Leapfrog from rest: half a step first.
            let impulse_step = if k == 0 { 0.5 * step } else { step };
            for (vertex, force) in forces.into_iter().enumerate() {
                let inverse_mass = self.inverse_masses[vertex];
                if inverse_mass > 0.0 {
                    velocities[vertex] +=
                        impulse_step * (stability::MOBILITY * inverse_mass * force + self.gravity);
                    positions[vertex] += step * velocities[vertex];
                }
            }
        }
        mean
    }

    /// Adds mass and momentum, with the impulse of elastic forces over `kick` and of body forces over
    /// `substep` \[s\], to the grid.
    pub(super) fn particles_to_grid(
        &self,
        grid: &mut Grid,
        [kick, substep]: [f64; 2],
        time: f64,
        body_force: Option<&BodyForce>,
    ) {
        let (on_vertices, on_directors) = self.mean_forces(self.substep);
        let h = grid.spacing();
        let inverse_moment = INVERSE_SECOND_MOMENT / (h * h);
        let body = |p: &ClothParticle| {
            body_force.map_or_else(Vector3::zeros, |b| substep * p.mass * b(&p.position, time))
        };
        for (p, force) in self.vertices.iter().zip(&on_vertices) {
            p.scatter(grid, kick * force + body(p), Matrix3::zeros());
        }
        for ((p, face), force) in self.centroids.iter().zip(&self.faces).zip(&on_directors) {
            p.scatter(grid, body(p), kick * inverse_moment * force * face.director.transpose());
        }
    }

    /// Gathers, moves by `substep` \[s\] from `time` \[s\] on, and maps directors back.
    pub(super) fn grid_to_particles(&mut self, grid: &Grid, time: f64, substep: f64, gravity: Vector3<f64>) {
        (self.substep, self.gravity) = (substep, gravity);
        for p in self.vertices.iter_mut().chain(&mut self.centroids) {
            p.gather(grid);
        }
        self.apply_pins_to_vertices(time, substep);
        self.solve_vertex_face_constraints();
        for face in (0..self.faces.len()).filter(|face| !self.tears.is_torn(*face)) {
            let (affine, director) = (self.centroids[face].affine, self.faces[face].director);
            let half_way = director + 0.5 * substep * (affine * director);
            self.faces[face].director += substep * (affine * half_way);
        }
        for p in &mut self.vertices {
            p.position += substep * p.velocity;
        }
        for index in 0..self.faces.len() {
            if self.tears.is_torn(index) {
                // Nothing holds its particle.
                let own = &mut self.centroids[index];
                own.position += substep * own.velocity;
                continue;
            }
            let face = &self.faces[index];
            let centroid =
                face.vertices.iter().map(|&v| self.vertices[v].position).sum::<Vector3<f64>>() / 3.0;
            let mapped = self.model.return_mapping(&Qr::new(&self.columns(face)));
            self.centroids[index].position = centroid;
            self.faces[index].director = mapped.director().0.into();
        }
        self.slip_yarns();
        self.tear();
        let (positions, held) = (self.positions(), self.held());
        self.friction.slip(&self.hinges, &positions, &held);
        for p in self.vertices.iter_mut().chain(&mut self.centroids) {
            p.damp(self.material.damping);
        }
    }

    /// Gives each centroid the mean velocity of its vertices, by impulses between them: opposite
    /// ones at the centroid and, in thirds, at the vertices keep linear and angular momentum.
    /// Sweeps over the faces solve for all of them.
    fn solve_vertex_face_constraints(&mut self) {
        for _ in 0..VERTEX_FACE_SWEEPS {
            for (index, (face, centroid)) in self.faces.iter().zip(&mut self.centroids).enumerate() {
                if self.tears.is_torn(index) {
                    continue;
                }
                let mean =
                    face.vertices.iter().map(|&v| self.vertices[v].velocity).sum::<Vector3<f64>>() / 3.0;
                let of_vertices = face.vertices.iter().map(|&v| self.inverse_masses[v]).sum::<f64>() / 9.0;
                let impulse = (centroid.velocity - mean) / (1.0 / centroid.mass + of_vertices);
                centroid.velocity -= impulse / centroid.mass;
                for &v in &face.vertices {
                    self.vertices[v].velocity += impulse * (self.inverse_masses[v] / 3.0);
                    if self.inverse_masses[v] == 0.0 {
                        self.support_impulse -= impulse / 3.0;
                    }
                }
            }
        }
    }

    /// Mass, momenta and energies.
    pub fn totals(&self, grid_spacing: f64) -> ReferenceTotals {
        let points = self
            .particles()
            .map(|p| ReferenceTotals::of_point(p.mass, &p.position, &p.velocity, &p.affine, grid_spacing));
        ReferenceTotals::sum(
            points.chain([ReferenceTotals {
                elastic_energy: self.elastic_energy(),
                ..ReferenceTotals::default()
            }]),
        )
    }
}

impl ClothFace {
    /// The edges' columns of F, for corners at these positions \[m\].
    fn edge_columns(&self, [a, b, c]: [Vector3<f64>; 3]) -> [Vec3<f64>; 2] {
        let (d1, d2) = (b - a, c - a);
        let inverse = &self.inverse_rest;
        [d1 * inverse.m11, d1 * inverse.m12 + d2 * inverse.m22].map(|column| Vec3(column.into()))
    }

    /// Adds the forces of a stress (Pa, by columns) on its vertices \[N\], by the chain rule from F
    /// = d D^-1.
    fn add_forces(&self, stress: &[Vec3<f64>; 2], forces: &mut [Vector3<f64>]) {
        let [p1, p2] = stress.map(|column| -self.volume * Vector3::from(column.0));
        let inverse = &self.inverse_rest;
        let of_d1 = p1 * inverse.m11 + p2 * inverse.m12;
        let of_d2 = p2 * inverse.m22;
        let [a, b, c] = self.vertices;
        forces[a] -= of_d1 + of_d2;
        forces[b] += of_d1;
        forces[c] += of_d2;
    }
}

impl ClothParticle {
    /// Adds its mass and momentum, an impulse \[N s\], and an impulse with this `gradient`
    /// \[N s/m\] around it.
    pub(super) fn scatter(&self, grid: &mut Grid, impulse: Vector3<f64>, gradient: Matrix3<f64>) {
        let momentum = self.mass * self.velocity + impulse;
        let gradient = self.mass * self.affine + gradient;
        for (node, weight, offset) in grid.stencil(&self.position) {
            let target = &mut grid.nodes_mut()[node];
            target.mass += weight * self.mass;
            target.momentum += weight * (momentum + gradient * offset);
        }
    }

    /// Keeps a part of the symmetric part of its affine field.
    pub(super) fn damp(&mut self, kept: f64) {
        let own = self.affine * (0.5 * (kept + 1.0));
        self.affine = own + self.affine.transpose() * (0.5 * (kept - 1.0));
    }

    /// Velocity and affine field, not yet damped.
    pub(super) fn gather(&mut self, grid: &Grid) {
        let inverse_moment = INVERSE_SECOND_MOMENT / (grid.spacing() * grid.spacing());
        self.velocity = Vector3::zeros();
        self.affine = Matrix3::zeros();
        for (node, weight, offset) in grid.stencil(&self.position) {
            let velocity = grid.nodes()[node].velocity;
            self.velocity += weight * velocity;
            self.affine += weight * inverse_moment * velocity * offset.transpose();
        }
    }
}
