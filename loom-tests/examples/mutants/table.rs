//! The faults, and what must see them.

/// One fault: a text that stands once in a file, what it is replaced by, and what fails then.
pub struct Mutant {
    pub name: &'static str,
    pub file: &'static str,
    pub find: &'static str,
    pub replace: &'static str,
    /// Each of them must fail.
    pub by: &'static [By],
    /// Why nothing can see it, if nothing can. Three of these at most.
    pub blind: Option<&'static str>,
}

/// What fails: a test of that name, where there are several files in that file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// In loom-tests/tests.
    Model(&'static str, &'static str),
    /// In tests.
    Test(&'static str, &'static str),
    /// In src.
    Unit(&'static str),
}

/// A mutant of a file that must die by all of these.
macro_rules! mutant {
    ($name:expr, $file:expr, $find:expr, $replace:expr, $($by:expr),+ $(,)?) => {
        Mutant { name: $name, file: $file, find: $find, replace: $replace, by: &[$($by),+], blind: None }
    };
}

macro_rules! word {
    ($name:expr, $find:expr, $replace:expr, $($model:expr),+ $(,)?) => {
        mutant!($name, "src/word.rs", $find, $replace, $(By::Model("words", $model)),+)
    };
}

macro_rules! window {
    ($name:expr, $find:expr, $replace:expr, $($model:expr),+ $(,)?) => {
        mutant!($name, "src/window.rs", $find, $replace, $(By::Model("words", $model)),+)
    };
}

macro_rules! log {
    ($name:expr, $find:expr, $replace:expr, $($model:expr),+ $(,)?) => {
        mutant!($name, "src/log.rs", $find, $replace, $(By::Model("log", $model)),+)
    };
}

macro_rules! ring {
    ($name:expr, $find:expr, $replace:expr, $($model:expr),+ $(,)?) => {
        mutant!($name, "src/ring.rs", $find, $replace, $(By::Model("log", $model)),+)
    };
}

pub const MUTANTS: &[Mutant] = &[
    // The engine of the words.
    word!(
        "word-store",
        "match self.0.compare_exchange_weak(seen, next, Relaxed, Relaxed) {",
        "match { self.0.store(next, Relaxed); Ok::<u64, u64>(seen) } {",
        "one_unit_left",
    ),
    word!("word-lost-is-won", "Err(newer) => seen = newer,", "Err(_) => return decision,", "one_unit_left", "turnover_with_a_running_clock"),
    word!("word-retry-with-the-old", "Err(newer) => seen = newer,", "Err(_) => {}", "one_unit_left"),
    word!("forget-writes-0", "algorithm.forgotten(seen)", "algorithm.forgotten(seen) * 0", "forgetting_races_checks"),
    word!(
        "forget-store",
        "while let Err(newer) = self.0.compare_exchange_weak(seen, algorithm.forgotten(seen), Relaxed, Relaxed) {",
        "while let Err(newer) = { self.0.store(algorithm.forgotten(seen), Relaxed); Ok::<u64, u64>(0) } {",
        "forgetting_races_a_turnover",
    ),
    word!(
        "peek-cached",
        "algorithm.step(self.0.load(Relaxed), now, cost).decision",
        "{
            std::thread_local!(static SEEN: std::cell::Cell<(u64, u64)> = const { std::cell::Cell::new((0, 0)) });
            let here = (std::ptr::from_ref(self) as u64, self.0.load(Relaxed));
            if SEEN.get().0 != here.0 {
                SEEN.set(here);
            }
            algorithm.step(SEEN.get().1, now, cost).decision
        }",
        "no_request_reads_a_stale_count",
    ),
    word!(
        "word-locked",
        "match self.0.compare_exchange_weak(seen, next, Relaxed, Relaxed) {",
        "while self.0.load(Relaxed) & FROZEN != 0 {}
            match self.0.compare_exchange_weak(seen, seen | FROZEN, Relaxed, Relaxed).inspect(|_| self.0.store(next, Relaxed)) {",
        "a_thread_stops",
    ),
    // The clamp.
    window!("clamp-dropped", "if age <= self.mask >> 1 {", "if age <= self.mask {", "late_by_one_window", "late_by_two_windows", "late_by_many_windows", "fixed_window_late_and_fresh"),
    window!("late-by-two-only", "if age <= self.mask >> 1 {", "if age <= self.mask - 2 {", "late_by_three_windows"),
    window!("late-keeps-its-reading", "Place { now: start, epoch,", "Place { now, epoch,", "late_by_one_window"),
    // Orderings of the log.
    log!(
        "top-load-relaxed",
        "let seen = stamps.top.load(Acquire);",
        "let seen = stamps.top.load(Relaxed);",
        "log_ring_starts",
    ),
    log!(
        "top-exchange-relaxed",
        "Ok(stamps.top.compare_exchange_weak(seen, self.pack(next), Release, Relaxed).is_ok())",
        "Ok(stamps.top.compare_exchange_weak(seen, self.pack(next), Relaxed, Relaxed).is_ok())",
        "log_ring_starts",
    ),
    log!(
        "grow-exchange-relaxed",
        "let _ = stamps.top.compare_exchange_weak(seen, self.pack(next), Release, Relaxed);",
        "let _ = stamps.top.compare_exchange_weak(seen, self.pack(next), Relaxed, Relaxed);",
        "log_ring_starts_late",
    ),
    log!(
        "cell-load-relaxed",
        "self.unpack_cell(ring.cell(top.index.wrapping_sub(back)).load(Acquire))",
        "self.unpack_cell(ring.cell(top.index.wrapping_sub(back)).load(Relaxed))",
        "log_ring_of_four_wraps",
    ),
    log!(
        "settle-load-relaxed",
        "let mut found = cell.load(Acquire);",
        "let mut found = cell.load(Relaxed);",
        "log_settles_the_whole_tick",
    ),
    log!(
        "settle-exchange-relaxed",
        "match cell.compare_exchange_weak(found, settled, Release, Acquire) {",
        "match cell.compare_exchange_weak(found, settled, Relaxed, Acquire) {",
        "log_ring_of_four_wraps",
    ),
    log!(
        "settle-failure-relaxed",
        "match cell.compare_exchange_weak(found, settled, Release, Acquire) {",
        "match cell.compare_exchange_weak(found, settled, Release, Relaxed) {",
        "log_settles_the_whole_tick",
    ),
    // Re-checks of the log.
    log!("refuse-without-reload", "} else if stamps.top.load(Relaxed) == seen {", "} else {", "log_ring_of_four_wraps"),
    log!("settle-without-reload", "if self.top.load(Relaxed) != seen {", "if false {", "log_settles_the_whole_tick"),
    // Exchanges of the log made stores.
    log!(
        "top-store",
        "Ok(stamps.top.compare_exchange_weak(seen, self.pack(next), Release, Relaxed).is_ok())",
        "stamps.top.store(self.pack(next), Release);\n        Ok(true)",
        "log_one_unit_left",
    ),
    log!(
        "grow-store",
        "let _ = stamps.top.compare_exchange_weak(seen, self.pack(next), Release, Relaxed);",
        "stamps.top.store(self.pack(next), Release);",
        "log_ring_starts",
    ),
    log!(
        "settle-store",
        "match cell.compare_exchange_weak(found, settled, Release, Acquire) {",
        "match { cell.store(settled, Release); Ok::<u64, u64>(0) } {",
        "log_settles_the_whole_tick",
    ),
    // Steps of the log left out or put in another order.
    log!(
        "not-settled",
        "if !stamps.settle(ring.base(), base, seen) || !stamps.settle(ring.cell(top.index), self.cell_of(seen), seen)
            {",
        "if !stamps.settle(ring.base(), base, seen) {",
        "log_ring_of_four_wraps",
    ),
    log!(
        "settled-after-the-exchange",
        "            if !stamps.settle(ring.base(), base, seen) || !stamps.settle(ring.cell(top.index), self.cell_of(seen), seen)
            {
                return Ok(false);
            }
            Top { stamp: view.stamp, cum, index: (top.index + 1) & ones(self.index_bits), class: top.class }",
        "            let next = Top { stamp: view.stamp, cum, index: (top.index + 1) & ones(self.index_bits), class: top.class };
            let won = stamps.settle(ring.base(), base, seen)
                && stamps.top.compare_exchange_weak(seen, self.pack(next), Release, Relaxed).is_ok();
            if won {
                ring.cell(top.index).store(self.cell_of(seen), Release);
            }
            return Ok(won);",
        "log_ring_of_four_wraps",
        "log_ring_starts",
        "log_equal_stamps_and_mixed_costs",
        "log_with_a_running_clock",
        "no_request_reads_a_stale_log",
        "log_grows_late",
    ),
    log!(
        "log-locked",
        "Ok(stamps.top.compare_exchange_weak(seen, self.pack(next), Release, Relaxed).is_ok())",
        "while stamps.top.load(Acquire) & FROZEN != 0 {}
        if stamps.top.compare_exchange_weak(seen, seen | FROZEN, Acquire, Relaxed).is_err() {
            return Ok(false);
        }
        stamps.top.store(self.pack(next), Release);
        Ok(true)",
        "log_a_thread_stops_in_a_turn",
        "log_a_thread_stops_where_the_ring_starts",
        "log_a_thread_stops_where_the_ring_doubles",
    ),
    log!("grown-unsettled", "if !stamps.settle(larger.cell(position), cell, seen) {", "if false {", "log_grows"),
    log!(
        "ring-without-room-for-the-base",
        "Some(ring) if view.live + 1 < ring.capacity() as u64 => ring,",
        "Some(ring) if view.live < ring.capacity() as u64 => ring,",
        "log_grows",
    ),
    log!("half-open", "tick(back).age > self.window)", "tick(back).age >= self.window)", "log_ring_starts"),
    log!("base-trusted", "first(0, base, expired)\n", "base\n", "log_ring_of_four_wraps"),
    log!("log-clamp-dropped", "} else if age > ones(self.stamp_bits) >> 1 {", "} else if false {", "log_late_readings"),
    // The rings.
    ring!(
        "ring-published-twice",
        "let header = allocate(largest, capacity)?;",
        "let largest = self.largest();\n            let header = allocate(largest, capacity)?;",
        "log_ring_starts",
    ),
    ring!(
        "ring-store",
        "match self.largest.compare_exchange(largest, header.as_ptr(), Release, Relaxed) {",
        "match { self.largest.store(header.as_ptr(), Release); Ok::<*mut Header, *mut Header>(largest) } {",
        "log_ring_starts",
    ),
    ring!(
        "ring-publication-relaxed",
        "match self.largest.compare_exchange(largest, header.as_ptr(), Release, Relaxed) {",
        "match self.largest.compare_exchange(largest, header.as_ptr(), Relaxed, Relaxed) {",
        "log_ring_starts",
    ),
    ring!("ring-load-relaxed", "self.largest.load(Acquire)", "self.largest.load(Relaxed)", "log_ring_starts"),
    // Arithmetic, which needs no threads.
    mutant!(
        "log-half-open",
        "src/log.rs",
        "} else if age > self.window {",
        "} else if age >= self.window {",
        By::Test("cases", "log::b01_both_sides_of_the_window_edge"),
    ),
    mutant!(
        "log-base-left-behind",
        "src/log.rs",
        "if !stamps.settle(ring.base(), base, seen) || !stamps.settle(ring.cell(top.index), self.cell_of(seen), seen)",
        "let _ = base;
            if !stamps.settle(ring.cell(top.index), self.cell_of(seen), seen)",
        By::Unit("log::tests::a_sparse_client_turns_dense"),
    ),
    mutant!(
        "log-late-settler-undoes",
        "src/log.rs",
        "if self.top.load(Relaxed) != seen {",
        "if false {",
        By::Unit("log::tests::a_late_thread_undoes_nothing"),
    ),
    mutant!(
        "counter-floored",
        "src/counter.rs",
        "self.prev as u128 * self.left as u128 <= room as u128 * self.window as u128",
        "(self.prev as u128 * self.left as u128) / self.window as u128 <= room as u128",
        By::Test("cases", "counter::x3_the_previous_part_is_not_floored"),
    ),
    mutant!(
        "counter-remaining-floored",
        "src/counter.rs",
        "(self.prev as u128 * self.left as u128).div_ceil(self.window as u128)",
        "(self.prev as u128 * self.left as u128) / (self.window as u128)",
        By::Test("vectors", "all_vectors"),
    ),
    mutant!(
        "counter-in-64-bits",
        "src/counter.rs",
        "self.prev as u128 * self.left as u128 <= room as u128 * self.window as u128",
        "self.prev as u64 * self.left <= room * self.window",
        By::Test("cases", "config::b31_count_times_time_does_not_overflow"),
    ),
    mutant!(
        "refused-charges",
        "src/word.rs",
        "let Some(next) = next else { return decision };",
        "let next = next.unwrap_or(seen.wrapping_add(1));",
        By::Test("cases", "rules::peeks_and_refusals_change_nothing"),
    ),
];
