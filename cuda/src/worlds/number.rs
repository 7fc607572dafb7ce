//! The two precisions.

use crate::kernels::{
    WORLDS_THREADS, WorldsAdvanceF32Parameters, WorldsAdvanceF64Parameters, WorldsContactF32Parameters,
    WorldsContactF64Parameters, WorldsCorrectF32Parameters, WorldsCorrectF64Parameters, WorldsF32, WorldsF64,
    WorldsGatherF32Parameters, WorldsGatherF64Parameters, WorldsPlan, WorldsSmoothF32Parameters,
    WorldsSmoothF64Parameters,
};
use crate::layout::{DeviceType, Span};
use crate::{Commands, Launch};

/// The numbers of worlds in device memory.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<T> {
    pub(super) constants: Span<T>,
    pub(super) states: Span<T>,
    pub(super) targets: Span<T>,
    pub(super) parameters: Span<T>,
    pub(super) scratch: Span<T>,
    pub(super) contacts: Span<T>,
}

/// A step in a precision.
pub trait Issue: DeviceType {
    /// Appends a step of all worlds.
    fn issue(commands: &mut Commands, plan: WorldsPlan, numbers: Numbers<Self>);
}

/// A precision that worlds can have: `f32` or `f64`.
pub trait WorldsNumber: Issue {
    /// Rounded from a number of the host.
    fn narrow(x: f64) -> Self;
    /// As a number of the host.
    fn wide(self) -> f64;
}

/// A launch with a thread for each of `items` and each world.
fn launch(plan: &WorldsPlan, items: u32) -> Launch {
    Launch::new(items.max(1) * plan.worlds.div_ceil(WORLDS_THREADS), WORLDS_THREADS)
}

macro_rules! precision {
    ($real:ty, $worlds:ident, $smooth:ident, $contact:ident, $gather:ident, $correct:ident, $advance:ident) => {
        impl WorldsNumber for $real {
            fn narrow(x: f64) -> Self {
                x as $real
            }

            fn wide(self) -> f64 {
                f64::from(self)
            }
        }

        impl Issue for $real {
            fn issue(commands: &mut Commands, plan: WorldsPlan, numbers: Numbers<Self>) {
                let worlds = $worlds {
                    plan,
                    constants: numbers.constants,
                    states: numbers.states,
                    targets: numbers.targets,
                    parameters: numbers.parameters,
                    scratch: numbers.scratch,
                    contacts: numbers.contacts,
                };
                let (trees, dofs) = (launch(&plan, plan.trees.len()), launch(&plan, plan.dofs.len()));
                commands.launch(trees, &$smooth { worlds });
                if !plan.pairs.is_empty() {
                    commands
                        .launch(launch(&plan, plan.pairs.len()), &$contact { worlds })
                        .launch(dofs, &$gather { worlds });
                }
                commands.launch(trees, &$correct { worlds }).launch(trees, &$advance { worlds });
            }
        }
    };
}

precision!(
    f32,
    WorldsF32,
    WorldsSmoothF32Parameters,
    WorldsContactF32Parameters,
    WorldsGatherF32Parameters,
    WorldsCorrectF32Parameters,
    WorldsAdvanceF32Parameters
);
precision!(
    f64,
    WorldsF64,
    WorldsSmoothF64Parameters,
    WorldsContactF64Parameters,
    WorldsGatherF64Parameters,
    WorldsCorrectF64Parameters,
    WorldsAdvanceF64Parameters
);
