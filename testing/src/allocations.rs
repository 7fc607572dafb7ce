//! An allocator that counts, for tests that a step allocates nothing.
//!
//! ```
//! use pliant_testing::allocations::{Counting, on_this_thread};
//!
//! #[global_allocator]
//! static ALLOCATOR: Counting = Counting;
//!
//! let before = on_this_thread();
//! drop(std::hint::black_box(vec![1_u8; 100]));
//! assert_eq!(on_this_thread() - before, 1);
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator with a count of allocations.
pub struct Counting;

static ALL: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static ON_THREAD: Cell<usize> = const { Cell::new(0) };
}

/// Allocations of the calling thread since it began.
pub fn on_this_thread() -> usize {
    ON_THREAD.get()
}

/// Allocations of all threads since the program began.
pub fn on_all_threads() -> usize {
    ALL.load(Ordering::Relaxed)
}

// SAFETY: every call goes to `System` with the caller's arguments, so `System`'s guarantees are
// ours; counting neither allocates (the counters are constants without destructors) nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALL.fetch_add(1, Ordering::Relaxed);
        ON_THREAD.set(ON_THREAD.get() + 1);
        // SAFETY: the caller's promise about `layout` is the one that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `System` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}
