//! A backend for tests of what is refused before it is used.

use nalgebra::{Isometry3, Point3};
use pliant_coupling::{Backend, BackendError, ContactCacheState, SubstepPlan, SubstepsResult};
use pliant_mpm::Mpm;
use pliant_rigid::{Bodies, SpatialImpulse};

/// A backend that is never asked for anything.
pub struct Idle;

impl Backend for Idle {
    fn advance(
        &mut self,
        _: &SubstepPlan<'_>,
        _: &mut [SpatialImpulse],
        _: &mut [Point3<f64>],
        _: &mut [Isometry3<f64>],
    ) -> Result<SubstepsResult, BackendError> {
        unreachable!()
    }

    fn take_friction(&mut self, _: &Bodies) -> Result<(), BackendError> {
        unreachable!()
    }

    fn read_particles(&mut self, _: &mut Mpm) -> Result<(), BackendError> {
        unreachable!()
    }

    fn read_contact_cache(&mut self) -> Result<ContactCacheState, BackendError> {
        unreachable!()
    }

    fn load(&mut self, _: &Mpm, _: &ContactCacheState) -> Result<(), BackendError> {
        unreachable!()
    }
}
