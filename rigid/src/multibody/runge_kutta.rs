//! Embedded Runge-Kutta pairs.

/// Most stages of a pair.
pub(super) const STAGES: usize = 7;

/// An embedded Runge-Kutta pair whose last stage is the first of the next step.
pub(super) struct RungeKuttaPair {
    /// Of the solution that is kept.
    pub order: f64,
    pub times: &'static [f64],
    /// One row a stage after the first; the last is the solution.
    pub rows: &'static [&'static [f64]],
    /// The solution less the one of lower order.
    pub error: &'static [f64],
}

pub(super) const BOGACKI_SHAMPINE: RungeKuttaPair = RungeKuttaPair {
    order: 3.0,
    times: &[0.5, 0.75, 1.0],
    rows: &[&[0.5], &[0.0, 0.75], &[2.0 / 9.0, 1.0 / 3.0, 4.0 / 9.0]],
    error: &[-5.0 / 72.0, 1.0 / 12.0, 1.0 / 9.0, -0.125],
};

pub(super) const DORMAND_PRINCE: RungeKuttaPair = RungeKuttaPair {
    order: 5.0,
    times: &[0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0],
    rows: &[
        &[0.2],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
        &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
        &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    ],
    error: &[
        71.0 / 57600.0,
        0.0,
        -71.0 / 16695.0,
        71.0 / 1920.0,
        -17253.0 / 339_200.0,
        22.0 / 525.0,
        -1.0 / 40.0,
    ],
};
