//! Particle arrays: NumPy views, without a copy, of memory that a world keeps for them.
//!
//! A quantity has one buffer. It is allocated when it is first asked for, has the same address from
//! then on, and is written again when it is asked for after a step. Views are read-only. They stay
//! valid for as long as they are there, also after the world is closed.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering};

use nalgebra::Matrix3;
use numpy::PyArrayDyn;
use numpy::ndarray::{ArrayView, IxDyn};
use pliant_coupling::World;
use pliant_mpm::BlockView;
use pyo3::prelude::*;

use crate::errors::{BackendError, OrRaise};

/// A quantity of each particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// \[m\]
    Positions,
    /// \[m/s\]
    Velocities,
    /// Elastic deformation gradient \[-\].
    DeformationGradients,
    /// Kirchhoff stress \[Pa\].
    Stresses,
    /// \[kg\]
    Masses,
    /// Volume at rest \[m^3\].
    Volumes,
    /// Affine velocity field, rows first \[1/s\].
    VelocityGradients,
    /// The model's history variable \[-\].
    Histories,
}

impl Field {
    const COUNT: usize = 8;

    /// Shape of the quantity of one particle.
    fn shape(self) -> &'static [usize] {
        match self {
            Self::Positions | Self::Velocities => &[3],
            Self::DeformationGradients | Self::Stresses | Self::VelocityGradients => &[3, 3],
            Self::Masses | Self::Volumes | Self::Histories => &[],
        }
    }

    /// Writes the quantity of particle `i` of a block.
    fn write(self, view: &BlockView<'_>, i: usize, out: &mut [f64]) {
        match self {
            Self::Positions => out.copy_from_slice(view.position(i).coords.as_slice()),
            Self::Velocities => out.copy_from_slice(view.velocity(i).as_slice()),
            // Rows first, as NumPy has them.
            Self::DeformationGradients => {
                out.copy_from_slice(view.deformation_gradient(i).transpose().as_slice());
            }
            Self::Stresses => out.copy_from_slice(kirchhoff_stress(view, i).as_slice()),
            Self::Masses => out[0] = view.mass(i),
            Self::Volumes => out[0] = view.volume(i),
            Self::VelocityGradients => out.copy_from_slice(view.affine(i).transpose().as_slice()),
            Self::Histories => out[0] = view.history(i),
        }
    }
}

/// Kirchhoff stress: energy per volume at rest.
fn kirchhoff_stress(view: &BlockView<'_>, i: usize) -> Matrix3<f64> {
    let [xx, yy, zz, xy, xz, yz] = view.stress_volume(i);
    Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) / view.volume(i)
}

#[derive(Default)]
struct Buffer {
    data: UnsafeCell<Vec<f64>>,
    /// One more than the state that it shows; 0 before the first.
    state: AtomicU64,
}

/// The memory of the arrays of one world.
#[pyclass(frozen, module = "pliant")]
#[derive(Default)]
pub struct Buffers {
    fields: [Buffer; Field::COUNT],
}

// SAFETY: a buffer is written in `view` only, whose caller holds the interpreter's lock and the lock
// of the world. Python reads it through read-only arrays with the interpreter's lock held. A NumPy
// operation that releases that lock while another thread asks for the same array of a world that was
// stepped meanwhile may read numbers of both states; each is a whole f64, and the length of a
// buffer never changes.
unsafe impl Sync for Buffers {}

/// The array of a field of a world in its `state`, which counts its changes.
pub fn view<'py>(
    buffers: &Bound<'py, Buffers>,
    field: Field,
    world: &mut World,
    state: u64,
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let (py, count) = (buffers.py(), world.particle_count());
    let width: usize = field.shape().iter().product();
    let buffer = &buffers.get().fields[field as usize];
    if buffer.state.load(Ordering::Relaxed) != state + 1 {
        world.refresh().or_raise::<BackendError>()?;
        // SAFETY: see `Sync` above.
        let data = unsafe { &mut *buffer.data.get() };
        if data.is_empty() {
            data.resize(count * width, 0.0);
        }
        for b in 0..world.mpm().block_count() {
            let block = world.mpm().block(b);
            for i in 0..block.len() {
                let id = block.id(i) as usize;
                field.write(&block, i, &mut data[id * width..(id + 1) * width]);
            }
        }
        buffer.state.store(state + 1, Ordering::Relaxed);
    }
    let mut shape = vec![count];
    shape.extend(field.shape());
    // SAFETY: the vector has this many numbers and is never resized again (`count` of a world does
    // not change); the array holds a reference to `buffers`, which owns it.
    let array = unsafe {
        let data: *const Vec<f64> = buffer.data.get();
        let memory = ArrayView::from_shape_ptr(IxDyn(&shape), (*data).as_ptr());
        PyArrayDyn::borrow_from_array(&memory, buffers.clone().into_any())
    };
    let flags = pyo3::types::PyDict::new(py);
    flags.set_item("write", false)?;
    array.call_method("setflags", (), Some(&flags))?;
    Ok(array)
}
