//! What can go wrong with contact on a device.

use crate::error::DeviceError;

/// Bodies or contacts that the device cannot take.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ContactError {
    /// A size of a shape that single precision does not hold.
    #[error(
        "body '{body}', geometry {geometry} ({shape}): a size of {value:.3e} m is not within 1e-9 m and 1e9 m, \
         which single precision can work with"
    )]
    Size {
        /// The body's name.
        body: String,
        /// Index among the body's geometries.
        geometry: usize,
        /// The kind of shape.
        shape: &'static str,
        /// The size \[m\].
        value: f64,
    },
    /// More triangles than a device can number.
    #[error(
        "body '{body}', geometry {geometry} ({shape}): all bodies together have {triangles} \
         triangles; at most {most} are supported"
    )]
    Triangles {
        /// The body's name.
        body: String,
        /// Index among the body's geometries.
        geometry: usize,
        /// The kind of shape.
        shape: &'static str,
        /// Triangles so far.
        triangles: usize,
        /// The most there can be.
        most: usize,
    },
    /// More contacts in a substep than there is memory for.
    #[error("{contacts} contacts in a substep; the capacity is {capacity}")]
    Capacity {
        /// The most contacts that a substep had.
        contacts: u32,
        /// Contacts that there is memory for.
        capacity: u32,
    },
    /// A particle touches more geometries than it can remember.
    #[error("a particle touches {geometries} geometries at once; at most {most} are supported")]
    TooManyGeometries {
        /// Geometries that it touches.
        geometries: u32,
        /// The most there can be.
        most: u32,
    },
    /// A saved list of contacts that is none.
    #[error(
        "saved contact {entry} refers to particle {particle}, which does not exist, or whose \
         contacts are not consecutive"
    )]
    Memory {
        /// Index in the list.
        entry: usize,
        /// Its particle's id.
        particle: u32,
    },
    /// Poses that are not those of all bodies.
    #[error(
        "{given} poses given; one for each of {bodies} bodies and each of up to {substeps} substeps is needed"
    )]
    Poses {
        /// Poses given.
        given: usize,
        /// Number of bodies.
        bodies: usize,
        /// Substeps that there is memory for.
        substeps: usize,
    },
    /// A failure of the device.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
