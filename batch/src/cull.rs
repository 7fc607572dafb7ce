//! Culling of pairs that cannot touch.

use super::kinematics::WorldLanes;
use super::layout::POSE;
use super::plan::ShapeClass;
use pliant_numeric::each;
use pliant_numeric::linalg::{Mat3, Vec3};
use pliant_numeric::scalar::{Mask, Real};
use pliant_numeric::simd::{Simd, Wide};

impl<S: Simd> WorldLanes<'_, '_, S> {
    /// Radius \[m\] of the bounding sphere of a geometry; 0 for a half-space, which has none.
    #[inline(always)]
    pub fn bounding_radius(&self, g: usize, shape: ShapeClass) -> Wide<S> {
        let size = Vec3(self.parameters(self.plan.layout.sizes + 3 * g));
        match shape {
            ShapeClass::HalfSpace => Wide::zero(),
            ShapeClass::Radius => size.0[0],
            ShapeClass::RadiusAndLength => size.0[0] + size.0[1],
            ShapeClass::Extents => size.norm(),
        }
    }

    #[inline(always)]
    fn centre(&self, g: usize) -> Vec3<Wide<S>> {
        self.workspace.vector(self.plan.layout.solids + POSE * g + 9)
    }

    #[inline(always)]
    fn axes(&self, g: usize) -> Mat3<Wide<S>> {
        self.workspace.matrix(self.plan.layout.solids + POSE * g)
    }

    /// Whether in any world the bounding sphere or extents of each geometry reach the other
    /// geometry.
    #[inline(always)]
    pub fn may_touch(&self, a: usize, b: usize) -> bool {
        let l = &self.plan.layout;
        let radii = [self.workspace.get(l.radii + a), self.workspace.get(l.radii + b)];
        let [first, second] = [self.plan.geometries[a].shape, self.plan.geometries[b].shape];
        if first != ShapeClass::HalfSpace && second != ShapeClass::HalfSpace {
            let apart = (self.centre(b) - self.centre(a)).norm_squared();
            if !apart.lt((radii[0] + radii[1]).squared()).any() {
                return false;
            }
        }
        let reached = self.reaches(a, first, b, radii[1]);
        reached.any() && (reached & self.reaches(b, second, a, radii[0])).any()
    }

    /// Half extents of a geometry along the columns of `axes` \[m\].
    #[inline(always)]
    fn extents(&self, g: usize, axes: &Mat3<Wide<S>>) -> [Wide<S>; 3] {
        let l = &self.plan.layout;
        match self.plan.geometries[g].shape {
            ShapeClass::HalfSpace | ShapeClass::Radius => [self.workspace.get(l.radii + g); 3],
            ShapeClass::RadiusAndLength => {
                let [radius, half] = self.parameters::<2>(l.sizes + 3 * g);
                let along = axes.apply_inverse(self.axes(g).column(2));
                each!(k in [0, 1, 2] radius + half * along.0[k].abs())
            }
            ShapeClass::Extents => {
                let half = self.parameters::<3>(l.sizes + 3 * g);
                let own = self.axes(g);
                let mut sum = [Wide::zero(); 3];
                for (j, half) in half.into_iter().enumerate() {
                    let along = axes.apply_inverse(own.column(j));
                    sum = each!(k in [0, 1, 2] sum[k] + half * along.0[k].abs());
                }
                sum
            }
        }
    }

    /// Whether the bounding sphere of `other`, or its extents along the axes of a box, reach
    /// geometry `g`. Always true without a bounding sphere.
    #[inline(always)]
    fn reaches(&self, g: usize, shape: ShapeClass, other: usize, radius: Wide<S>) -> <Wide<S> as Real>::Mask {
        let apart = self.centre(other) - self.centre(g);
        let sizes = self.plan.layout.sizes + 3 * g;
        if self.plan.geometries[other].shape == ShapeClass::HalfSpace {
            return radius.lt(Wide::one());
        }
        match shape {
            ShapeClass::HalfSpace => self.axes(g).column(2).dot(apart).lt(radius),
            ShapeClass::Radius => apart.norm_squared().lt((self.parameter(sizes) + radius).squared()),
            ShapeClass::RadiusAndLength => {
                let [own, half] = self.parameters::<2>(sizes);
                let axis = self.axes(g).column(2);
                let along = axis.dot(apart).clamp(-half, half);
                (apart - axis * along).norm_squared().lt((own + radius).squared())
            }
            ShapeClass::Extents => {
                let axes = self.axes(g);
                let (local, half) = (axes.apply_inverse(apart), self.parameters::<3>(sizes));
                let substep_states = self.extents(other, &axes);
                let over = each!(k in [0, 1, 2] local.0[k].abs().lt(half[k] + substep_states[k]));
                over[0] & over[1] & over[2]
            }
        }
    }
}
