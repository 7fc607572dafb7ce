//! Laws of scenes and of saved states, which need whole worlds. As `fuzz/src/checks`.

pub mod scene;
pub mod state;
