//! [`Gates`]: a gate for each client that has something to remember.

use slidegate::{Algorithm, BuildError, Decision, Gate, Nanos};

/// A gate for each client, made at its request and dropped when nothing is remembered any more: then a new one answers
/// the same, a log's may not be used longer, and clients long gone cost no memory.
pub(super) struct Gates<A: Algorithm, F> {
    make: F,
    seats: Vec<Seat<A>>,
    next_swept: usize,
}

struct Seat<A: Algorithm> {
    gate: Option<Box<Gate<A>>>,
    forgotten_at: Nanos,
}

impl<A: Algorithm, F: Fn() -> Result<Gate<A>, BuildError>> Gates<A, F> {
    /// Gates for clients 0 to `clients` - 1; `make` makes one.
    pub(super) fn new(clients: usize, make: F) -> Self {
        let seats = (0..clients).map(|_| Seat { gate: None, forgotten_at: Nanos::ZERO }).collect();
        Gates { make, seats, next_swept: 0 }
    }

    /// Whether the client's request is allowed. Times never decrease from call to call.
    pub(super) fn check(&mut self, client: u32, now: Nanos) -> Result<bool, String> {
        self.sweep_one(now);
        let seat = &mut self.seats[client as usize];
        if seat.forgotten_at <= now {
            seat.gate = None;
        }
        let gate = match &mut seat.gate {
            Some(gate) => gate,
            empty => empty.insert(Box::new((self.make)().map_err(|error| error.to_string())?)),
        };
        match gate.at(now).check() {
            Decision::Allowed(allowed) => {
                seat.forgotten_at = now.saturating_add(allowed.full_reset());
                Ok(true)
            }
            Decision::Refused(_) | Decision::Never(_) => Ok(false),
            Decision::Full(_) => Err("out of memory".to_owned()),
        }
    }

    /// Looks at one seat in turn, so that every gate is dropped some time.
    fn sweep_one(&mut self, now: Nanos) {
        let seat = &mut self.seats[self.next_swept];
        if seat.forgotten_at <= now {
            seat.gate = None;
        }
        self.next_swept = (self.next_swept + 1) % self.seats.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slidegate::{__tool::log_gate, Quota};

    const SECOND: u64 = 1_000_000_000;

    fn held<A: Algorithm, F>(gates: &Gates<A, F>) -> usize {
        gates.seats.iter().filter(|seat| seat.gate.is_some()).count()
    }

    fn many_clients<A: Algorithm>(make: impl Fn() -> Result<Gate<A>, BuildError>) {
        let mut gates = Gates::new(1_000, make);
        for client in 0..1_000 {
            assert!(gates.check(client, Nanos::from_nanos(u64::from(client))).unwrap());
        }
        assert!(held(&gates) > 990, "all of them are remembered");
        for row in 0..1_000 {
            gates.check(7, Nanos::from_nanos(60 * SECOND + row)).unwrap();
        }
        assert_eq!(held(&gates), 1, "only the last one is still there");
    }

    #[test]
    fn clients_long_gone_cost_nothing() {
        let quota = Quota::per_second(5);
        many_clients(|| log_gate(quota));
        many_clients(|| Gate::try_counter(quota));
        many_clients(|| Gate::try_fixed_window(quota));
    }

    #[test]
    fn a_gate_lives_until_its_last_unit_left() {
        let mut gates = Gates::new(1, || log_gate(Quota::per_second(1)));
        let answers = [0, SECOND, SECOND + 1, 2 * SECOND + 1, 2 * SECOND + 2]
            .map(|time| gates.check(0, Nanos::from_nanos(time)).unwrap());
        assert_eq!(answers, [true, false, true, false, true]);
    }

    #[test]
    fn whoever_comes_back_late_is_new() {
        // A log's stamps wrap at some power of two; kept for so long, a gate would take an old unit for a fresh one.
        for age in (31..64).map(|bits| 1_u64 << bits) {
            let mut gates = Gates::new(100, || log_gate(Quota::per_second(1)));
            let answers = [0, 1, age].map(|time| gates.check(99, Nanos::from_nanos(time)).unwrap());
            assert_eq!(answers, [true, false, true], "after {age} ns");
        }
    }
}
