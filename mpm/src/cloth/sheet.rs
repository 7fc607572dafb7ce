//! A sheet as input of a grid: mesh, material, pins; its masses and its faces at rest.

use super::bending::Hinge;
use super::bending_friction::FrictionFace;
use super::gas::{Gas, GasError, GasModel};
use super::mesh::{ClothMesh, MeshError};
use super::model::ClothMaterial;
use super::pin::{Pin, PinError};
use super::tear::TearingError;
use super::weave::WeaveError;
use crate::material::MaterialError;
use nalgebra::{Matrix2, Vector3};

/// Why a cloth is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ClothError {
    /// A material parameter is out of range.
    #[error("cloth: {0}")]
    Material(#[from] MaterialError),
    /// A face does not fit the grid.
    #[error("cloth: {0}")]
    Mesh(#[from] MeshError),
    /// The sheet cannot hold its gas.
    #[error("cloth: {0}")]
    Gas(#[from] GasError),
    /// The sheet cannot be woven.
    #[error("cloth: {0}")]
    Weave(#[from] WeaveError),
    /// The sheet cannot tear as it is asked to.
    #[error("cloth: {0}")]
    Tearing(#[from] TearingError),
    /// A pin is out of range.
    #[error("cloth: pins[{index}]: {source}")]
    Pin {
        /// Index of the pin, or of the second of two that disagree.
        index: usize,
        /// What is wrong.
        source: PinError,
    },
}

/// A sheet of cloth: undeformed, with a velocity.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Its mesh, at rest.
    pub mesh: ClothMesh,
    /// Its material.
    pub material: ClothMaterial,
    /// Vertices that are held.
    pub pins: Vec<Pin>,
    /// Gas that it holds, if it is closed.
    pub gas: Option<Gas>,
    /// Velocity of all of it at the start, world frame \[m/s\].
    pub velocity: Vector3<f64>,
}

/// A face at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestFace {
    /// Inverse of the edges in the face's material frame [1/m]: an upper triangle.
    pub inverse_edges: Matrix2<f64>,
    /// Area x thickness \[m^3\].
    pub volume: f64,
    /// Normal (no unit, world frame).
    pub normal: Vector3<f64>,
    /// Centroid (m, world frame).
    pub centroid: Vector3<f64>,
}

impl Sheet {
    /// A sheet without pins and gas, at rest.
    pub fn new(mesh: ClothMesh, material: ClothMaterial) -> Self {
        Self { mesh, material, pins: Vec::new(), gas: None, velocity: Vector3::zeros() }
    }

    /// Checks it against a grid of spacing `grid_spacing` \[m\].
    ///
    /// # Errors
    /// A material parameter out of range, a face that does not fit the grid
    /// ([`ClothMesh::check_spacing`]), a pin that is not at its vertex, a gas that it cannot hold,
    /// a face across the warp, or faces too large for the energy of a tear.
    pub fn check(&self, grid_spacing: f64) -> Result<(), ClothError> {
        self.material.validate()?;
        self.mesh.check_spacing(grid_spacing)?;
        for index in 0..self.pins.len() {
            Pin::check_all(&self.pins[..=index], self.mesh.vertices())
                .map_err(|source| ClothError::Pin { index, source })?;
        }
        self.gas_model()?;
        self.warps()?;
        TearingError::check(&self.mesh, &self.material)?;
        if self.material.tearing.is_some() && self.gas.is_some() {
            return Err(TearingError::Gas.into());
        }
        Ok(())
    }

    /// Cosine and sine of the warp's angle in the material frame of each face, if the fabric is
    /// woven.
    ///
    /// # Errors
    /// A face that is nearly across the warp ([`Weave::directions`](super::Weave::directions)).
    pub fn warps(&self) -> Result<Option<Vec<[f64; 2]>>, WeaveError> {
        self.material.weave.as_ref().map(|weave| weave.directions(&self.mesh)).transpose()
    }

    /// The hinges of a (valid) sheet; none without bending stiffness and friction.
    pub fn hinges(&self) -> Vec<Hinge> {
        let stiffnesses = self.material.bending_stiffnesses();
        let is_limp = stiffnesses.iter().all(|stiffness| *stiffness == 0.0);
        if is_limp && self.material.bending_friction.is_none() {
            return Vec::new();
        }
        match self.warps() {
            Ok(Some(warps)) if !is_limp => Hinge::woven(&self.mesh, stiffnesses, &warps),
            _ => Hinge::all(&self.mesh, self.material.bending_stiffness),
        }
    }

    /// The faces of a (valid) sheet with friction in bending; none without.
    pub fn friction_faces(&self) -> Vec<FrictionFace> {
        let law = self.material.bending_friction;
        law.map_or(Vec::new(), |law| FrictionFace::all(&self.mesh, law))
    }

    /// The law of its gas, if it holds any.
    ///
    /// # Errors
    /// A figure out of range, or a sheet that cannot hold gas ([`GasModel::new`]).
    pub fn gas_model(&self) -> Result<Option<GasModel>, GasError> {
        self.gas.as_ref().map(|gas| GasModel::new(gas, &self.mesh, &self.material)).transpose()
    }

    /// A face at rest.
    pub fn rest_face(&self, face: usize) -> RestFace {
        let [a, b, c] = self.mesh.corners(face);
        let (e, g) = (b - a, c - a);
        let normal = e.cross(&g);
        // An upper triangle, inverted by hand.
        let (d11, d12) = (e.norm(), e.dot(&g) / e.norm());
        let d22 = normal.norm() / d11;
        RestFace {
            inverse_edges: Matrix2::new(1.0 / d11, -d12 / (d11 * d22), 0.0, 1.0 / d22),
            volume: self.mesh.area(face) * self.material.thickness,
            normal: normal.normalize(),
            centroid: (a + b + c) / 3.0,
        }
    }

    /// Volumes of the particles \[m^3\], of the vertices and then of the centroids: a quarter of
    /// each face for each corner and for the centroid.
    pub fn volumes(&self) -> (Vec<f64>, Vec<f64>) {
        let mut vertices = vec![0.0; self.mesh.vertices().len()];
        let faces = self.mesh.faces().iter().enumerate();
        let centroids = faces
            .map(|(face, corners)| {
                let quarter = 0.25 * self.mesh.area(face) * self.material.thickness;
                corners.iter().for_each(|&vertex| vertices[vertex] += quarter);
                quarter
            })
            .collect();
        (vertices, centroids)
    }
}
