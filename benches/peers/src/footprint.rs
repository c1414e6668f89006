//! [`Footprint`]: the memory of a contender, measured in a process of its own.

use crate::{peers, trial, workload::Workload};
use memory_stats::memory_stats;
use serde::{Deserialize, Serialize};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    env,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

/// Bytes for each client.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Footprint {
    /// What was asked of the allocator and not given back.
    pub allocated: f64,
    /// What the process grew by.
    pub resident: f64,
}

/// Measures a contender: this program starts itself for it, so that no memory is there that another one freed.
pub fn measured(contender: &str, workload: &Workload) -> Result<Footprint, String> {
    let itself = env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(itself)
        .args(["--footprint", "--only", workload.name, "--contenders", contender])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| error.to_string())?;
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| Err(output.status.to_string()))
}

/// What the process that was started prints.
pub fn of_this_process(contender: &str, workload: &Workload) -> Result<Footprint, String> {
    let mut entries = peers::all::<u64>().into_iter();
    let entry = entries.find(|entry| entry.name == contender).ok_or("no such contender")?;
    let resident = || memory_stats().map_or(0, |stats| stats.physical_mem);
    let before = resident();
    COUNTING.store(true, Relaxed);
    let contender = trial::filled(&entry, workload)?;
    let (allocated, resident) = (ALLOCATED.load(Relaxed), resident().saturating_sub(before));
    drop(contender);
    let clients = workload.clients as f64;
    Ok(Footprint { allocated: allocated as f64 / clients, resident: resident as f64 / clients })
}

/// The system's allocator, which counts once it is told to: elsewhere a count would slow those that allocate.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static COUNTING: AtomicBool = AtomicBool::new(false);

/// Wraps around, so that what was allocated before the count began may be freed in it.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

fn count(added: usize, freed: usize) {
    if COUNTING.load(Relaxed) {
        ALLOCATED.fetch_add(added.wrapping_sub(freed), Relaxed);
    }
}

// SAFETY: `System` does everything.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: what holds for the caller's call holds for this one.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the same.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the same.
        unsafe { System.realloc(memory, layout, size) }
    }
}
