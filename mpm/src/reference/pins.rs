//! Pins: impulses that make the grid move with the held vertices, and the exact positions of these
//! vertices.

use super::grid::Grid;
use crate::cloth::Pin;
use nalgebra::Vector3;

/// Residual of the pins' velocities at which their impulses are found, over that without impulses.
const PIN_TOLERANCE: f64 = 1e-13;

/// How much pins yield: part of the diagonal of their matrix that is added to it \[-\]. Above the rounding
/// of f64 as that of the fast path is above that of f32.
const YIELD: f64 = 1e-12;

/// Most iterations per pin. Conjugate gradients need one at most, but for rounding.
const ITERATIONS_PER_PIN: usize = 4;

/// Applies the impulses that give the grid the pins' velocities at the pins, in a substep of
/// `substep` \[s\] from `time` \[s\].
///
/// A pin that only set its vertex's position would carry only that vertex's mass: the pull of a
/// face on it acts on the same nodes as the opposite force on its neighbours. So the pins are
/// constraints on the grid's velocity, sum_i w_ip v_i = v_p, satisfied by impulses J_p distributed
/// with w_ip: v_i += sum_p w_ip J_p / m_i with sum_q (sum_i w_ip w_iq / m_i) J_q = v_p - sum_i w_ip
/// v_i. All of them hold at once: what is left moves the free vertices against those that are held,
/// in every substep anew, and where the mesh is finer than the grid nothing resists it.
///
/// The matrix is symmetric and not negative, and more pins than nodes make it singular. [`YIELD`] of
/// its diagonal is added, so that what no impulse can give is not asked for with ever larger ones
/// (Tikhonov and Arsenin 1977). Conjugate gradients (Hestenes and Stiefel 1952), scaled by the
/// diagonal.
///
/// Returns the sum of the impulses \[N s\].
pub(super) fn apply_to_grid(
    pins: &[Pin],
    position: impl Fn(usize) -> Vector3<f64>,
    grid: &mut Grid,
    time: f64,
    substep: f64,
) -> Vector3<f64> {
    let pins: Vec<&Pin> = pins.iter().filter(|pin| pin.holds(time)).collect();
    let held: Vec<Vector3<f64>> = pins.iter().map(|pin| position(pin.vertex())).collect();
    // A node at the edge of its stencil has no mass if no other particle reaches it.
    let stencils: Vec<Vec<(usize, f64)>> = held
        .iter()
        .map(|x| grid.stencil(x).map(|(node, weight, _)| (node, weight)).collect::<Vec<_>>())
        .map(|all| all.into_iter().filter(|s| grid.nodes()[s.0].mass > 0.0).collect())
        .collect();
    let masses: Vec<f64> = grid.nodes().iter().map(|node| node.mass).collect();
    let spread = |impulses: &[Vector3<f64>]| {
        let mut changes = vec![Vector3::zeros(); masses.len()];
        for (stencil, impulse) in stencils.iter().zip(impulses) {
            for &(node, weight) in stencil {
                changes[node] += impulse * (weight / masses[node]);
            }
        }
        changes
    };
    let sample = |velocities: &dyn Fn(usize) -> Vector3<f64>| -> Vec<Vector3<f64>> {
        let at = |stencil: &Vec<(usize, f64)>| stencil.iter().map(|&(n, w)| w * velocities(n)).sum();
        stencils.iter().map(at).collect()
    };
    let dot = |a: &[Vector3<f64>], b: &[Vector3<f64>]| a.iter().zip(b).map(|(a, b)| a.dot(b)).sum::<f64>();
    let scales: Vec<f64> =
        stencils.iter().map(|s| s.iter().map(|&(n, w)| w * w / masses[n]).sum::<f64>().recip()).collect();
    let scaled = |r: &[Vector3<f64>]| r.iter().zip(&scales).map(|(r, s)| r * *s).collect::<Vec<_>>();

    let wanted = pins.iter().zip(&held).map(|(pin, x)| (pin.position(time + substep) - x) / substep);
    let before = sample(&|n| grid.nodes()[n].velocity);
    let mut residual: Vec<_> = wanted.zip(before).map(|(wanted, before)| wanted - before).collect();
    let mut impulses = vec![Vector3::zeros(); pins.len()];
    let mut direction = scaled(&residual);
    let mut size = dot(&residual, &direction);
    let enough = size * PIN_TOLERANCE * PIN_TOLERANCE;
    for _ in 0..ITERATIONS_PER_PIN * pins.len() {
        let changes = spread(&direction);
        let mut image = sample(&|n| changes[n]);
        for n in 0..pins.len() {
            image[n] += direction[n] * (YIELD / scales[n]);
        }
        let curvature = dot(&direction, &image);
        if size <= enough || curvature <= 0.0 {
            break;
        }
        let step = size / curvature;
        for n in 0..pins.len() {
            impulses[n] += step * direction[n];
            residual[n] -= step * image[n];
        }
        let next = scaled(&residual);
        let new_size = dot(&residual, &next);
        for (d, next) in direction.iter_mut().zip(next) {
            *d = next + *d * (new_size / size);
        }
        size = new_size;
    }
    let changes = spread(&impulses);
    for (node, change) in grid.nodes_mut().iter_mut().zip(changes) {
        node.velocity += change;
    }
    impulses.iter().sum()
}
