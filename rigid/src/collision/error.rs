//! Errors of a collision model.

use pliant_geometry::GeometryError;

/// A collision model whose contacts cannot be computed. Geometries are numbered from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CollisionError {
    /// The sizes of a shape.
    #[error("geometry {geometry} '{name}': {source}")]
    Shape {
        /// Its number.
        geometry: usize,
        /// Its name.
        name: String,
        /// What is wrong.
        source: GeometryError,
    },
    /// A value of a geometry is out of range.
    #[error("geometry {geometry} '{name}', {field}: {value} {unit} must be {requirement}")]
    Value {
        /// Its number.
        geometry: usize,
        /// Its name.
        name: String,
        /// Name of the value.
        field: &'static str,
        /// Its value.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// What it must be.
        requirement: &'static str,
    },
    /// A pair that no two geometries are.
    #[error("pair {pair}: geometries {first} and {second} must be two different ones below {geometries}")]
    NoPair {
        /// Its number.
        pair: usize,
        /// Number of the first geometry.
        first: usize,
        /// Number of the second.
        second: usize,
        /// Number of geometries.
        geometries: usize,
    },
    /// A link that the model does not have.
    #[error("{what}: there is no link {link} in a model of {links}")]
    NoLink {
        /// The part that refers to it.
        what: String,
        /// Its number.
        link: usize,
        /// Number of links.
        links: usize,
    },
    /// Two geometries may touch, but contact of their shapes is not supported.
    #[error(
        "geometries {first} '{first_name}' ({first_shape}) and {second} '{second_name}' \
         ({second_shape}) may collide, but contact between these shapes is not supported: exclude \
         the pair by its links, groups or masks, or use convex pieces"
    )]
    UnsupportedPair {
        /// Number of the first.
        first: usize,
        /// Its name.
        first_name: String,
        /// Its kind of shape.
        first_shape: &'static str,
        /// Number of the second.
        second: usize,
        /// Its name.
        second_name: String,
        /// Its kind of shape.
        second_shape: &'static str,
    },
}
