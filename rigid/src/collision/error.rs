//! What can be wrong with a scene.

use pliant_geometry::GeometryError;

/// A scene in which contacts cannot be found. Geometries are named and numbered from 0.
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
    /// A figure of a geometry is out of range.
    #[error("geometry {geometry} '{name}', {field}: {value} {unit} must be {requirement}")]
    Value {
        /// Its number.
        geometry: usize,
        /// Its name.
        name: String,
        /// The figure.
        field: &'static str,
        /// Its value.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// What it must be.
        requirement: &'static str,
    },
    /// A link that the model does not have.
    #[error("{what}: there is no link {link} in a model of {links}")]
    NoLink {
        /// Where it is named.
        what: String,
        /// Its number.
        link: usize,
        /// How many there are.
        links: usize,
    },
    /// Two geometries may meet between whose shapes contacts cannot be found.
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
