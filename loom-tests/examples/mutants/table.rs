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

macro_rules! table {
    ($name:expr, $find:expr, $replace:expr, $($model:expr),+ $(,)?) => {
        mutant!($name, "src/table.rs", $find, $replace, $(By::Model("table", $model)),+)
    };
}

macro_rules! hazard {
    ($name:expr, $find:expr, $replace:expr, $($model:expr),+ $(,)?) => {
        mutant!($name, "src/hazard.rs", $find, $replace, $(By::Model("table", $model)),+)
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
        "match word.compare_exchange_weak(seen, next, Release, Relaxed) {",
        "match { word.store(next, Release); Ok::<u64, u64>(seen) } {",
        "one_unit_left",
    ),
    word!("word-lost-is-won", "Err(newer) => seen = newer,", "Err(_) => return Some(decision),", "one_unit_left", "turnover_with_a_running_clock"),
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
        "let mut seen = word.load(Relaxed);",
        "let mut seen = word.load(Relaxed);
        if !ask(seen).recording {
            std::thread_local!(static SEEN: std::cell::Cell<(u64, u64)> = const { std::cell::Cell::new((0, 0)) });
            let here = (std::ptr::from_ref(word) as u64, seen);
            if SEEN.get().0 != here.0 {
                SEEN.set(here);
            }
            seen = SEEN.get().1;
        }",
        "no_request_reads_a_stale_count",
    ),
    word!(
        "word-locked",
        "if seen & FROZEN != 0 {
            return None;
        }",
        "while seen & FROZEN != 0 {
            seen = word.load(Relaxed);
        }
        if word.compare_exchange_weak(seen, seen | FROZEN, Relaxed, Relaxed).is_ok() {
            word.store(next, Relaxed);
            return Some(decision);
        }",
        "a_thread_stops",
    ),
    // The clamp.
    window!("clamp-dropped", "if age <= self.mask >> 1 {", "if age <= self.mask {", "late_by_one_window", "late_by_two_windows", "late_by_many_windows", "fixed_window_late_and_fresh"),
    window!("late-by-two-only", "if age <= self.mask >> 1 {", "if age <= self.mask - 2 {", "late_by_three_windows"),
    window!("late-keeps-its-reading", "Place { now: start, epoch,", "Place { now, epoch,", "late_by_one_window"),
    // The moves of the table.
    table!(
        "words-not-frozen",
        "slot.word.fetch_or(FROZEN, Acquire);",
        "slot.word.load(Acquire);",
        "a_check_meets_a_move",
    ),
    table!(
        "own-word-frozen-only",
        "let word = slot.word.fetch_or(FROZEN, Acquire);",
        "let own = matches!(purpose, Purpose::Decide(key, _) if key == slot.tag.load(Relaxed));
                let word = if own { slot.word.fetch_or(FROZEN, Acquire) } else { slot.word.load(Acquire) };",
        "a_check_meets_a_move",
    ),
    table!(
        "freeze-store",
        "let word = slot.word.fetch_or(FROZEN, Acquire);",
        "let word = slot.word.load(Acquire);
                slot.word.store(word | FROZEN, Relaxed);",
        "a_check_meets_a_move",
    ),
    table!(
        "tag-read-before-the-freeze",
        "let word = slot.word.fetch_or(FROZEN, Acquire);",
        "let tag = slot.tag.load(Relaxed);
                let word = slot.word.fetch_or(FROZEN, Acquire);
                if tag == 0 {
                    slot.word.store(FROZEN, Relaxed);
                }",
        "a_new_client_meets_a_move",
    ),
    mutant!(
        "frozen-not-looked-at",
        "src/word.rs",
        "if seen & FROZEN != 0 {
            return None;
        }",
        "",
        By::Model("table", "a_check_meets_a_move"),
    ),
    mutant!(
        "word-store-in-a-table",
        "src/word.rs",
        "match word.compare_exchange_weak(seen, next, Release, Relaxed) {",
        "match { word.store(next, Release); Ok::<u64, u64>(seen) } {",
        By::Model("table", "first_sight"),
        By::Model("table", "a_check_meets_a_move"),
    ),
    table!(
        "publication-store",
        "if segment.compare_exchange(address, new, Release, Relaxed).is_err() {",
        "let _ = address;
        segment.store(new, Release);
        if false {",
        "two_movers",
        "no_array_yet_for_two",
    ),
    table!(
        "loser-publishes",
        "if segment.compare_exchange(address, new, Release, Relaxed).is_err() {",
        "let mut expected = address;
        while let Err(newer) = segment.compare_exchange(expected, new, Release, Relaxed) {
            expected = newer;
        }
        if false {",
        "two_movers",
        "no_array_yet_for_two",
    ),
    table!(
        "claim-store",
        "match slot.tag.compare_exchange(0, key, Relaxed, Relaxed) {",
        "match { slot.tag.store(key, Relaxed); Ok::<u64, u64>(0) } {",
        "same_home_slot",
    ),
    table!("lost-claim-not-compared", "Err(winner) => tag = winner,", "Err(_) => continue,", "first_sight"),
    table!(
        "dead-slot-given-away",
        "            if tag == key {
                place = Place::Slot(slot);",
        "            if tag != key && ask.recording && self.until(slot.word.load(Relaxed), array.birth()) <= ask.now {
                slot.tag.store(key, Relaxed);
                tag = key;
            }
            if tag == key {
                place = Place::Slot(slot);",
        "two_new_clients_and_room_for_one",
    ),
    table!(
        "set-aside-is-taken",
        "if seen < full_at(array.capacity()) {",
        "if seen < 1 {",
        "room_for_all_three",
        "stopped_in_a_claim",
    ),
    table!("full-without-a-look-for-the-dead", "if until <= now || tag == key {", "if tag == key {", "a_dead_client_makes_room"),
    // Births.
    table!(
        "no-birth",
        "match Private::new(self.fitting(count), birth, &self.usage) {",
        "match Private::new(self.fitting(count), 0, &self.usage) {",
        "a_forgotten_client_returns_late",
        "forget_all_keeps_the_time",
    ),
    table!(
        "birth-not-used",
        "{ ask } else { ask.not_before(birth) }",
        "{ ask } else { let _ = birth; ask }",
        "a_forgotten_client_returns_late",
        "late_by_a_horizon",
    ),
    table!(
        "birth-before-the-forgotten",
        "birth = birth.max(self.span(word, old_birth).map_or(0, |span| span.newest));",
        "let _ = word;",
        "forgotten_by_a_late_thread",
    ),
    table!(
        "judged-by-a-later-clock",
        "let lives = |word: u64| self.until(word, old_birth) > birth;",
        "let lives = |word: u64| self.until(word, old_birth) > birth + 4;",
        "sweep",
    ),
    mutant!(
        "dropped-a-window-early",
        "src/counter.rs",
        "            _ => 2,
        };
        Span",
        "            _ => 1,
        };
        Span",
        By::Model("table", "moved_by_age"),
    ),
    table!(
        "forget-writes-0-in-place",
        "if !used || self.renew(record, segment, Some(array), now, Purpose::Forget(key)).is_some() {",
        "let own = array.probe(key).filter(|slot| slot.tag.load(Relaxed) == key);
            own.for_each(|slot| slot.word.store(0, Relaxed));
            if now > 0 || used {",
        "a_forgotten_client_returns_late",
    ),
    table!(
        "forget-all-to-null",
        "if self.renew(record, segment, Some(array), now, Purpose::ForgetAll).is_some() {",
        "let _ = now;
                if segment.compare_exchange(array.as_raw().as_ptr(), null_mut(), Release, Relaxed).is_ok() {",
        "forget_all_keeps_the_time",
    ),
    table!(
        "copy-read-from-the-reading",
        "let lives = |word: u64| self.until(word, old_birth) > birth;",
        "let lives = |word: u64| self.until(word, birth) > birth;",
        "idle_for_a_horizon",
    ),
    table!(
        "no-move-by-age",
        "now - array.birth() >= self.longest_life",
        "now - array.birth() >= self.longest_life && now == u64::MAX",
        "idle_for_a_horizon",
    ),
    // The mover's own request.
    table!(
        "mover-retries",
        "        if let Some((key, word)) = own {
            copy.insert(key, word);
        }
        copy.array().shared().store(shared_next, Relaxed);
        self.publish(record, segment, old, copy).then_some(decision)",
        "        if let Some((key, _)) = own {
            if let Some(slot) = live().find(|slot| slot.tag.load(Relaxed) == key) {
                copy.insert(key, slot.word.load(Relaxed) & !FROZEN);
            }
        }
        let _ = shared_next;
        copy.array().shared().store(shared, Relaxed);
        let published = self.publish(record, segment, old, copy);
        (published && !matches!(purpose, Purpose::Decide(..))).then_some(decision)",
        "two_new_clients_and_room_for_one",
    ),
    table!(
        "known-mover-retries",
        "        if let Some((key, word)) = own {
            copy.insert(key, word);
        }
        copy.array().shared().store(shared_next, Relaxed);
        self.publish(record, segment, old, copy).then_some(decision)",
        "        let mut known = false;
        if let Some((key, mut word)) = own {
            if let Some(slot) = live().find(|slot| slot.tag.load(Relaxed) == key) {
                known = true;
                word = slot.word.load(Relaxed) & !FROZEN;
            }
            copy.insert(key, word);
        }
        copy.array().shared().store(shared_next, Relaxed);
        (self.publish(record, segment, old, copy) && !known).then_some(decision)",
        "a_check_meets_a_move",
    ),
    table!(
        "own-record-left-out",
        "        if let Some((key, word)) = own {
            copy.insert(key, word);
        }",
        "",
        "no_array_yet",
        "two_new_clients_and_room_for_one",
    ),
    table!(
        "shared-not-carried",
        "copy.array().shared().store(shared_next, Relaxed);",
        "let _ = shared_next;",
        "sharing_through_a_move",
    ),
    table!(
        "shared-not-frozen",
        "let shared = old.shared().fetch_or(FROZEN, Acquire);",
        "let shared = old.shared().load(Acquire);",
        "sharing_through_a_move",
    ),
    // Hazards.
    table!(
        "released-before-the-publication",
        "let old_birth = old.map_or(0, Array::birth);",
        "record.release();
        let old_birth = old.map_or(0, Array::birth);",
        "hazards_of_publishers",
    ),
    hazard!("freed-without-a-look", "if self.is_read(retired.as_ptr()) {", "if false {", "hazards", "stopped_in_a_check"),
    hazard!("hazard-not-validated", "let present = pointer.load(Acquire);", "let present = seen;", "hazards"),
    hazard!(
        "fence-of-the-reader-dropped",
        "// SeqCst: pairs with the fence in `retire`.
            fence(SeqCst);",
        "",
        "hazards",
    ),
    hazard!(
        "fence-of-the-publisher-dropped",
        "// SeqCst: pairs with the fence in `protect`. It comes after the exchange that took the pointer away.
        fence(SeqCst);",
        "",
        "hazards",
    ),
    hazard!(
        "record-given-back-relaxed",
        "self.0.taken.store(0, Release);",
        "self.0.taken.store(0, Relaxed);",
        "records_pass_on",
    ),
    Mutant {
        name: "pointer-load-relaxed",
        file: "src/hazard.rs",
        find: "let present = pointer.load(Acquire);",
        replace: "let present = pointer.load(Relaxed);",
        by: &[By::Model("table", "no_array_yet")],
        blind: Some(
            "the fence makes the first load an Acquire, so this one matters only where a freed address is used again \
             between the two; in the models a freed array stays, so no address is",
        ),
    },
    // Orderings of the table.
    table!(
        "freeze-relaxed",
        "slot.word.fetch_or(FROZEN, Acquire);",
        "slot.word.fetch_or(FROZEN, Relaxed);",
        "a_new_client_meets_a_move",
    ),
    mutant!(
        "word-exchange-relaxed",
        "src/word.rs",
        "match word.compare_exchange_weak(seen, next, Release, Relaxed) {",
        "match word.compare_exchange_weak(seen, next, Relaxed, Relaxed) {",
        By::Model("table", "a_new_client_meets_a_move"),
    ),
    table!(
        "publication-relaxed",
        "if segment.compare_exchange(address, new, Release, Relaxed).is_err() {",
        "if segment.compare_exchange(address, new, Relaxed, Relaxed).is_err() {",
        "no_array_yet",
    ),
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
        "let Some(next) = next.filter(|_| ask.recording) else { return Some(decision) };",
        "let next = next.unwrap_or(seen.wrapping_add(1));",
        By::Test("cases", "rules::peeks_and_refusals_change_nothing"),
    ),
];
