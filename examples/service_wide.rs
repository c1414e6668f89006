//! A limit for a service as a whole: one static gate in front of everything.
//!
//! `cargo run --example service_wide`

use slidegate::{Counter, Decision, FastClock, Gate, Quota};

/// 1,000 requests a second, whoever makes them.
static ALL: Gate<Counter> = Gate::counter(Quota::per_second(1_000));

fn serve(request: u32) -> String {
    match ALL.check() {
        Decision::Allowed(allowed) => format!("200 served {request}, {} more right now", allowed.remaining()),
        Decision::Refused(refused) => format!("503 again in {:?}", refused.retry_after()),
        Decision::Never(_) | Decision::Full(_) => unreachable!("a cost of 1, and room for one client"),
    }
}

fn main() {
    FastClock::calibrate(); // once, before the first request
    for request in 0..1_002 {
        let answer = serve(request);
        if request % 500 == 0 || request > 999 {
            println!("{answer}");
        }
    }
}
