//! An event loop with a time of its own: the clock is read once per turn, and the loop holds a handle.
//!
//! `cargo run --example embed`

use slidegate::{BuildError, Decision, Limiter, Nanos, Quota};
use std::collections::VecDeque;

/// What the loop takes off its queue.
struct Event {
    connection: u64,
    bytes: u64,
}

/// The events of a turn, as a poll would give them: connection 7 sends far more than the others.
fn poll(turn: u64) -> VecDeque<Event> {
    (0..4).map(|nth| Event { connection: if nth < 3 { 7 } else { turn % 5 }, bytes: 400 + 100 * nth }).collect()
}

fn main() -> Result<(), BuildError> {
    // 10,000 bytes a second for each connection.
    let limiter = Limiter::<u64>::counter(Quota::per_second(10_000)).max_clients(10_000).build()?;
    let handle = limiter.handle();
    let (mut served, mut late) = (0, VecDeque::<(Nanos, Event)>::new());
    for turn in 0..200 {
        let now = limiter.now();
        let due = late.partition_point(|(when, _)| *when <= now);
        let again = late.drain(..due).map(|(_, event)| event).collect::<Vec<_>>();
        for event in again.into_iter().chain(poll(turn)) {
            match handle.client(&event.connection).at(now).cost(event.bytes).check() {
                Decision::Allowed(_) => served += event.bytes,
                Decision::Refused(refused) => {
                    let place = late.partition_point(|(when, _)| *when <= refused.retry_at());
                    late.insert(place, (refused.retry_at(), event));
                }
                Decision::Never(_) | Decision::Full(_) => eprintln!("connection {} is dropped", event.connection),
            }
        }
    }
    println!("{served} bytes served, {} events wait, {} connections known", late.len(), limiter.tracked());
    if let Some((when, event)) = late.front() {
        println!("connection {} is next, in {:?}", event.connection, when.saturating_since(limiter.now()));
    }
    Ok(())
}
