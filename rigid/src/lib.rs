//! Rigid bodies, joints, geometry and signed distances.
