//! Explicit material point method (MPM): particles, constitutive models, sparse grid, transfers.
