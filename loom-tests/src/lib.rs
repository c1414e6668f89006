//! What the models share: the runner, the clock, the sequential truth and the search for an order that explains what
//! the threads were answered.

#[cfg(not(slidegate_loom))]
compile_error!("run from loom-tests/ without RUSTFLAGS, or add `--cfg slidegate_loom` to them");

mod clock;
mod history;
mod race;
mod table;
mod truth;

pub use clock::{nothing_stale, with_a_running_clock};
pub use history::{Answer, Ask, Client, History, Record};
pub use race::Race;
pub use table::{Call, ENDLESS, Kind, LOG, LONG, RACE, SHORT, SHORT_LOG, TableRace, Told, W};
pub use truth::Truth;

use std::sync::{Arc, atomic};

/// Runs `body` in every interleaving, and with every stale value that the memory model lets a thread read; tells how
/// many executions that took.
///
/// With `preemptions` it stops at so many switches away from a thread that could go on; without, it is exhaustive. A run
/// with failing exchanges takes one switch less, a deep one one more.
fn explore(preemptions: Option<usize>, body: impl Fn() + Sync + Send + 'static) -> u64 {
    let mut builder = loom::model::Builder::new();
    let one_less = usize::from(slidegate::__loom::spurious());
    builder.preemption_bound = preemptions.map(|bound| (bound + usize::from(deep())).saturating_sub(one_less));
    // A livelock would branch for ever. No model needs a tenth of this.
    builder.max_branches = 10_000;
    let executions = Arc::new(atomic::AtomicU64::new(0));
    let counted = Arc::clone(&executions);
    builder.check(move || {
        counted.fetch_add(1, atomic::Ordering::Relaxed);
        body();
    });
    executions.load(atomic::Ordering::Relaxed)
}

/// Whether the models may take hours.
pub fn deep() -> bool {
    std::env::var_os("SLIDEGATE_LOOM_DEEP").is_some()
}

fn report(name: &str, executions: u64) {
    let spurious = if slidegate::__loom::spurious() { ", weak exchanges failing" } else { "" };
    println!("{name}: {executions} executions{spurious}");
}
