//! Saved states of worlds. Files of the runner join here.

use std::cell::RefCell;

use pliant_scenes::Scenario;
use pliant_scenes::format::parse_scene;

use crate::checks::message;

/// A world with particles, a free body on a floor, a jointed one and contacts.
const SCENE: &str = include_str!("state.json");

/// A world, and its state at time 0.
struct Saved {
    scenario: Scenario,
    state: Vec<u8>,
}

impl Saved {
    fn new() -> Self {
        let scene = match parse_scene(SCENE) {
            Ok(scene) => scene,
            Err(error) => panic!("{error}"),
        };
        let scenario = match Scenario::new(&scene) {
            Ok(scenario) => scenario,
            Err(error) => panic!("{error}"),
        };
        let mut saved = Self { scenario, state: Vec::new() };
        saved.state = saved.write();
        saved
    }

    fn write(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let written = self.scenario.world.write_state(&mut bytes);
        assert!(written.is_ok(), "the state cannot be written: {written:?}");
        bytes
    }

    fn check(&mut self, bytes: &[u8]) {
        match self.scenario.world.read_state(&mut &*bytes) {
            Ok(()) => {
                let first = self.write();
                let read = self.scenario.world.read_state(&mut &*first);
                assert!(read.is_ok(), "the state that was written cannot be read: {read:?}");
                assert!(self.write() == first, "the state changed when it was written and read");
                if let Err(error) = self.scenario.step() {
                    message::check(&error.to_string());
                }
            }
            Err(error) => message::check(&error.to_string()),
        }
        let read = self.scenario.world.read_state(&mut &*self.state);
        assert!(read.is_ok(), "the first state does not fit any more: {read:?}");
        let now = self.write();
        assert!(now == self.state, "another state left something behind");
    }
}

/// The state of a world at the start, and after some steps.
pub fn examples() -> Vec<Vec<u8>> {
    let mut saved = Saved::new();
    let mut states = vec![saved.state.clone()];
    for _ in 0..3 {
        if let Err(error) = saved.scenario.step() {
            panic!("{error}");
        }
        states.push(saved.write());
    }
    states
}

/// A saved state of a small world. What is accepted is written and read again without a change, and
/// the world takes a step or says why it cannot; after that, and after what is refused, the first
/// state can be taken again and is what it was.
pub fn checkpoint(bytes: &[u8]) {
    thread_local! {
        static SAVED: RefCell<Option<Saved>> = const { RefCell::new(None) };
    }
    SAVED.with_borrow_mut(|saved| saved.get_or_insert_with(Saved::new).check(bytes));
}
