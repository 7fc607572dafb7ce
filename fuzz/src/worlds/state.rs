//! Saved states of worlds.

use std::cell::RefCell;

use pliant_scenes::Scenario;
use pliant_scenes::format::parse_scene;

use crate::checks::changes::changes;
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

/// Number of states that [`examples`] gives.
const EXAMPLES: usize = 4;

/// The states of a world at the start and after each of three steps.
pub fn examples() -> Vec<Vec<u8>> {
    let mut saved = Saved::new();
    let mut states = vec![saved.state.clone()];
    while states.len() < EXAMPLES {
        if let Err(error) = saved.scenario.step() {
            panic!("{error}");
        }
        states.push(saved.write());
    }
    states
}

/// A state with changes: `bytes[0] % 4` is the example. `bytes[0] & 4` corrects the length of the JSON
/// that the state begins with, `bytes[0] & 8` cuts the state at the last place instead of changing
/// it.
fn changed(bytes: &[u8], examples: &[Vec<u8>]) -> Vec<u8> {
    let Some((&first, rest)) = bytes.split_first() else { return Vec::new() };
    let mut state = examples[first as usize % EXAMPLES].clone();
    let json = |state: &[u8]| state.first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
    let mut length = json(&state);
    for change in changes(rest) {
        let range = change.range(state.len());
        if first & 8 != 0 && change.is_last {
            state.truncate(range.start);
            break;
        }
        if (8..8 + length).contains(&(range.start as u64)) {
            length = (length + change.new.len() as u64).saturating_sub(range.len() as u64);
        }
        state.splice(range, change.new.iter().copied());
    }
    if first & 4 != 0 && state.len() >= 8 {
        state[..8].copy_from_slice(&length.to_le_bytes());
    }
    state
}

/// A saved state of a small world: changes of one that it wrote, or `bytes` as they are if the
/// first is 128 or more. What is accepted is written and read again without a change, and the world
/// takes a step or says why it cannot; after that, and after what is refused, the first state can
/// be taken again and is what it was.
pub fn checkpoint(bytes: &[u8]) {
    thread_local! {
        static SAVED: RefCell<Option<(Saved, Vec<Vec<u8>>)>> = const { RefCell::new(None) };
    }
    SAVED.with_borrow_mut(|saved| {
        let (saved, examples) = saved.get_or_insert_with(|| (Saved::new(), examples()));
        match bytes.split_first() {
            Some((128.., raw)) => saved.check(raw),
            _ => saved.check(&changed(bytes, examples)),
        }
    });
}
