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

/// A mutant of the table that must die by models of counters in it.
macro_rules! table {
    ($name:expr, $file:expr, $find:expr, $replace:expr, $($model:expr),+ $(,)?) => {
        mutant!($name, concat!("src/", $file, ".rs"), $find, $replace, $(By::Model("table", $model)),+)
    };
}

/// By models of logs in it.
macro_rules! table_log {
    ($name:expr, $file:expr, $find:expr, $replace:expr, $($model:expr),+ $(,)?) => {
        mutant!($name, concat!("src/", $file, ".rs"), $find, $replace, $(By::Model("table_log", $model)),+)
    };
}

/// By models of a gate with a log.
macro_rules! log {
    ($name:expr, $file:expr, $find:expr, $replace:expr, $($model:expr),+ $(,)?) => {
        mutant!($name, concat!("src/", $file, ".rs"), $find, $replace, $(By::Model("log", $model)),+)
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
    mutant!(
        "forget-writes-0",
        "src/algorithm.rs",
        "self.forgotten(seen)",
        "self.forgotten(seen) * 0",
        By::Model("words", "forgetting_races_checks"),
    ),
    mutant!(
        "forget-store",
        "src/algorithm.rs",
        "while let Err(newer) = word.compare_exchange_weak(seen, self.forgotten(seen), Relaxed, Relaxed) {",
        "while let Err(newer) = { word.store(self.forgotten(seen), Relaxed); Ok::<u64, u64>(0) } {",
        By::Model("words", "forgetting_races_a_turnover"),
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
        "array",
        "let word = self.word.fetch_or(FROZEN, Acquire) & !FROZEN;",
        "let word = self.word.load(Acquire) & !FROZEN;",
        "a_check_meets_a_move",
    ),
    table!(
        "own-word-frozen-only",
        "moving",
        "let remembered = slot.freeze();",
        "let remembered = if slot.tag.load(Relaxed) == key { slot.freeze() } else { slot.frozen() };",
        "a_check_meets_a_move",
    ),
    table!(
        "freeze-store",
        "array",
        "let word = self.word.fetch_or(FROZEN, Acquire) & !FROZEN;",
        "let word = self.word.load(Acquire) & !FROZEN;
        self.word.store(word | FROZEN, Relaxed);",
        "a_check_meets_a_move",
    ),
    table!(
        "copy-of-the-word-before",
        "array",
        "let word = self.word.fetch_or(FROZEN, Acquire) & !FROZEN;",
        "let word = self.word.load(Acquire) & !FROZEN;
        if self.word.fetch_or(FROZEN, Acquire) & !FROZEN != word {
            self.word.store(word | FROZEN, Relaxed);
        }",
        "a_check_meets_a_move",
    ),
    table!(
        "tag-read-before-the-freeze",
        "moving",
        "let remembered = slot.freeze();",
        "let tag = slot.tag.load(Relaxed);
            let remembered = slot.freeze();
            if tag == 0 {
                slot.word.store(FROZEN, Relaxed);
            }",
        "a_new_client_meets_a_move",
    ),
    table!(
        "frozen-not-looked-at",
        "word",
        "if seen & FROZEN != 0 {
            return None;
        }",
        "",
        "a_check_meets_a_move",
    ),
    table!(
        "word-store-in-a-table",
        "word",
        "match word.compare_exchange_weak(seen, next, Release, Relaxed) {",
        "match { word.store(next, Release); Ok::<u64, u64>(seen) } {",
        "first_sight",
        "a_check_meets_a_move",
    ),
    table!(
        "publication-store",
        "moving",
        "if held.pointer().compare_exchange(held.array(), new, Release, Relaxed).is_err() {",
        "held.pointer().store(new, Release);
        if false {",
        "two_movers",
        "no_array_yet_for_two",
    ),
    table!(
        "loser-publishes",
        "moving",
        "if held.pointer().compare_exchange(held.array(), new, Release, Relaxed).is_err() {",
        "let mut expected = held.array();
        while let Err(newer) = held.pointer().compare_exchange(expected, new, Release, Relaxed) {
            expected = newer;
        }
        if false {",
        "two_movers",
        "no_array_yet_for_two",
    ),
    table!(
        "claim-store",
        "claim",
        "match slot.tag.compare_exchange(0, key, Relaxed, Relaxed) {",
        "match { slot.tag.store(key, Relaxed); Ok::<u64, u64>(0) } {",
        "same_home_slot",
    ),
    table!(
        "lost-claim-not-compared",
        "claim",
        "Err(winner) => tag = winner,",
        "Err(_) => continue,",
        "first_sight",
    ),
    table!(
        "dead-slot-given-away",
        "claim",
        "        if !array.reserve(most) {",
        "        for slot in array.slots() {
            let word = slot.word.load(Relaxed);
            if word >> 63 == 0 && word != 0 && self.until(word, *array.birth()) <= ask.now {
                slot.tag.store(key, Relaxed);
                return Ok(slot);
            }
        }
        if !array.reserve(most) {",
        "two_new_clients_and_room_for_one",
    ),
    table!(
        "set-aside-is-taken",
        "claim",
        "if seen < full_at(array.capacity()) {",
        "if seen < 1 {",
        "stopped_in_a_claim",
    ),
    table!(
        "full-without-a-look-for-the-dead",
        "claim",
        "if until <= ask.now || tag == key {",
        "if tag == key {",
        "a_dead_client_makes_room",
    ),
    table!(
        "full-without-a-look-for-its-own",
        "claim",
        "if until <= ask.now || tag == key {",
        "if until <= ask.now {",
        "the_last_slot_is_its_own",
    ),
    table!(
        "full-before-a-death-without-a-look-for-its-own",
        "claim",
        "return array.find(key).is_none().then(|| self.turned_away(ask.limit));",
        "return Some(self.turned_away(ask.limit));",
        "the_last_slot_is_its_own_for_all",
    ),
    // Births.
    table!(
        "no-birth",
        "moving",
        "Private::new(self.fitting(frozen.live + more), frozen.birth, &self.usage)?",
        "Private::new(self.fitting(frozen.live + more), 0, &self.usage)?",
        "a_forgotten_client_returns_late",
        "forget_all_keeps_the_time",
    ),
    table!(
        "birth-not-used",
        "algorithm",
        "{ visit.for_new() } else { visit.for_known() }",
        "{ visit.for_known() } else { visit.for_known() }",
        "a_forgotten_client_returns_late",
    ),
    table!(
        "birth-used-by-the-claimer-only",
        "table",
        "Some(slot) => slot,",
        "Some(slot) => return self.algorithm.decide(slot, Visit { birth: &0, ..visit }),",
        "a_birth_binds_whoever_finds_the_tag",
    ),
    table!(
        "birth-falls",
        "moving",
        "birth: now.max(old_birth), live: 0",
        "birth: now, live: 0",
        "a_birth_outlives_late_movers",
    ),
    table!(
        "birth-before-the-forgotten",
        "moving",
        "frozen.birth = frozen.birth.max(self.newest(remembered.word, old_birth));",
        "let _ = self.newest(remembered.word, old_birth);",
        "forgotten_by_a_late_thread",
    ),
    table!(
        "judged-by-a-later-clock",
        "moving",
        "self.until(slot.frozen().word, birth) > frozen.birth",
        "self.until(slot.frozen().word, birth) > frozen.birth + 4",
        "sweep",
    ),
    table!(
        "dropped-a-window-early",
        "counter",
        "            _ => 2,
        };
        Span",
        "            _ => 1,
        };
        Span",
        "moved_by_age",
    ),
    table_log!(
        "log-dropped-at-its-window",
        "log",
        "until: instant(newest.saturating_add(self.window + 1))",
        "until: instant(newest.saturating_add(self.window))",
        "a_ring_is_swept",
    ),
    table!(
        "forget-writes-0-in-place",
        "moving",
        "if !used || self.leave_out(held, now, LeftOut::Client(key)) {",
        "let own = array.probe(key).filter(|slot| slot.tag.load(Relaxed) == key);
            own.for_each(|slot| slot.word.store(0, Relaxed));
            if now > 0 || used {",
        "a_forgotten_client_returns_late",
    ),
    table!(
        "forget-all-to-null",
        "moving",
        "if held.array().is_null() || self.leave_out(held, now, LeftOut::All) {",
        "let _ = now;
                let null = held.pointer().compare_exchange(held.array(), null_mut(), Release, Relaxed);
                if held.array().is_null() || null.is_ok() {",
        "forget_all_keeps_the_time",
    ),
    table!(
        "epoch-against-the-bare-reading",
        "algorithm",
        "if self.lasts { self.ask } else { self.for_new() }",
        "self.ask",
        "late_by_a_horizon",
    ),
    table!(
        "copy-read-from-the-reading",
        "moving",
        "self.until(slot.frozen().word, birth) > frozen.birth",
        "self.until(slot.frozen().word, birth.max(frozen.birth)) > frozen.birth",
        "idle_for_a_horizon",
    ),
    table!(
        "look-finds-itself-in-the-way",
        "moving",
        "![0, key].contains(&slot.tag.load(Relaxed))",
        "slot.tag.load(Relaxed) != 0",
        "a_look_meets_a_record",
    ),
    table!(
        "no-move-by-age",
        "table",
        "if !visit.lasts && visit.for_new().now - array.birth() >= self.longest_life {",
        "if false {",
        "idle_for_a_horizon",
    ),
    table_log!(
        "no-move-of-a-log-by-age",
        "table",
        "if !visit.lasts && visit.for_new().now - array.birth() >= self.longest_life {",
        "if false {",
        "logs_idle_for_a_horizon",
    ),
    // The mover's own request.
    table!(
        "mover-retries",
        "moving",
        "        let decision = self.algorithm.decide(copy.open(tag), visit)?;
        // What is frozen was the state at an instant of this call: what records nothing may be answered from it.
        (!ask.records(&decision) || self.publish(held, &frozen, copy)).then_some(decision)",
        "        let _ = (tag, visit, &mut copy);
        self.publish(held, &frozen, copy);
        None",
        "two_new_clients_and_room_for_one",
    ),
    table!(
        "known-mover-retries",
        "moving",
        "let decision = self.algorithm.decide(copy.open(tag), visit)?;",
        "if frozen.has_own {
            self.publish(held, &frozen, copy);
            return None;
        }
        let decision = self.algorithm.decide(copy.open(tag), visit)?;",
        "a_check_meets_two_moves",
    ),
    table!(
        "own-record-left-out",
        "moving",
        "let decision = self.algorithm.decide(copy.open(tag), visit)?;",
        "let decision = self.algorithm.decide(&Slot::new(), visit)?;",
        "no_array_yet",
        "two_new_clients_and_room_for_one",
    ),
    table!(
        "shared-not-carried",
        "moving",
        "copy.share(shared);",
        "let _ = shared;",
        "sharing_through_a_move",
    ),
    table!(
        "shared-not-frozen",
        "moving",
        "array.shared().freeze())",
        "array.shared().frozen())",
        "sharing_through_a_move",
    ),
    // Several at once.
    table!(
        "undecided-does-not-stop-the-batch",
        "table",
        "        let mut decided = 0;
        for (held, &key) in held.iter().zip(keys) {
            // Once one takes a move, the others come after it: a client may be among them again.
            let Some(decision) = held.and_then(|held| self.attempt(held, key, ask)) else { break };
            decisions[decided] = decision;
            decided += 1;
        }
        record.release_all();
        for (decision, &key) in decisions.iter_mut().zip(keys).skip(decided) {
            *decision = self.check(record, key, ask);
        }",
        "        let mut undecided = [false; BATCH];
        for (index, (held, &key)) in held.iter().zip(keys).enumerate() {
            match held.and_then(|held| self.attempt(held, key, ask)) {
                Some(decision) => decisions[index] = decision,
                None => undecided[index] = true,
            }
        }
        record.release_all();
        for (index, &key) in keys.iter().enumerate().filter(|(index, _)| undecided[*index]) {
            decisions[index] = self.check(record, key, ask);
        }",
        "a_batch_meets_a_move",
    ),
    table!(
        "batch-released-early",
        "table",
        "        let mut decided = 0;
",
        "        record.release_all();
        let mut decided = 0;
",
        "hazards_of_a_batch",
    ),
    table!(
        "batch-not-validated",
        "hazard",
        "(pointer.load(Acquire) == array).then_some(",
        "(pointer.load(Acquire) == array || true).then_some(",
        "hazards_of_a_batch",
    ),
    table!(
        "fence-of-the-batch-dropped",
        "hazard",
        "// As in `protect`.
        of_reader();",
        "",
        "hazards_of_a_batch",
    ),
    table!(
        "batch-hazards-relaxed",
        "hazard",
        "hazard.store(*seen, Release);",
        "hazard.store(*seen, Relaxed);",
        "hazards_of_a_batch",
    ),
    table!(
        "batch-release-relaxed",
        "hazard",
        "hazard.store(null_mut(), Release);",
        "hazard.store(null_mut(), Relaxed);",
        "hazards_of_a_batch",
    ),
    // Hazards.
    table!(
        "released-before-the-publication",
        "moving",
        "let old_birth = array.map_or(0, |array| *array.birth());",
        "held.record().release();
        let old_birth = array.map_or(0, |array| *array.birth());",
        "hazards_of_publishers",
    ),
    table!(
        "freed-without-a-look",
        "hazard",
        "if !hazard.is_null() {
                    unread",
        "if false {
                    unread",
        "hazards",
        "stopped_in_a_check",
        "handles",
    ),
    table!(
        "hazard-not-validated",
        "hazard",
        "let present = pointer.load(Acquire);",
        "let present = seen;",
        "hazards",
    ),
    table!(
        "fence-of-the-reader-dropped",
        "hazard",
        "// Pairs with the fence in `retire`.
            of_reader();",
        "",
        "hazards",
    ),
    table!(
        "fence-of-the-publisher-dropped",
        "hazard",
        "        if !of_mover() {
            return self.kept.set(unread.0);
        }",
        "",
        "hazards",
    ),
    table!(
        "hazard-relaxed",
        "hazard",
        "self.arrays[0].store(seen, Release);",
        "self.arrays[0].store(seen, Relaxed);",
        "hazards",
    ),
    table!(
        "release-relaxed",
        "hazard",
        "self.arrays[0].store(null_mut(), Release);",
        "self.arrays[0].store(null_mut(), Relaxed);",
        "hazards",
    ),
    table!(
        "hazard-load-relaxed",
        "hazard",
        "let hazard = hazard.load(Acquire);",
        "let hazard = hazard.load(Relaxed);",
        "hazards",
    ),
    table!(
        "record-given-back-relaxed",
        "hazard",
        "self.0.taken.store(0, Release);",
        "self.0.taken.store(0, Relaxed);",
        "records_pass_on",
    ),
    table!(
        "record-added-relaxed",
        "hazard",
        "match records().compare_exchange(first, new.as_ptr(), Release, Relaxed) {",
        "match records().compare_exchange(first, new.as_ptr(), Relaxed, Relaxed) {",
        "hazards",
    ),
    table!(
        "records-load-relaxed",
        "hazard",
        "record(records().load(Acquire))",
        "record(records().load(Relaxed))",
        "hazards",
    ),
    Mutant {
        name: "pointer-load-relaxed",
        file: "src/hazard.rs",
        find: "let present = pointer.load(Acquire);",
        replace: "let present = pointer.load(Relaxed);",
        by: &[By::Model("table", "no_array_yet")],
        blind: Some(
            "the fence makes the first load an Acquire, so this one matters only where a freed address is used again \
             between the two; in the models a freed block stays, so no address is",
        ),
    },
    Mutant {
        name: "record-taken-relaxed",
        file: "src/hazard.rs",
        find: "record.taken.compare_exchange(0, 1, Acquire, Relaxed)",
        replace: "record.taken.compare_exchange(0, 1, Relaxed, Relaxed)",
        by: &[By::Model("table", "records_pass_on")],
        blind: Some(
            "in the models the fence of the next request makes up for it; where the kernel runs that fence for the \
             readers, nothing does",
        ),
    },
    Mutant {
        name: "batch-pointer-load-relaxed",
        file: "src/hazard.rs",
        find: "(pointer.load(Acquire) == array).then_some(",
        replace: "(pointer.load(Relaxed) == array).then_some(",
        by: &[By::Model("table", "hazards_of_a_batch")],
        blind: Some(
            "the fence makes the first load an Acquire, so this one matters only where a freed address is used again \
             between the two; in the models a freed block stays, so no address is",
        ),
    },
    // Orderings of the table.
    table!(
        "freeze-relaxed",
        "array",
        "let word = self.word.fetch_or(FROZEN, Acquire) & !FROZEN;",
        "let word = self.word.fetch_or(FROZEN, Relaxed) & !FROZEN;",
        "a_new_client_meets_a_move",
    ),
    table!(
        "word-exchange-relaxed",
        "word",
        "match word.compare_exchange_weak(seen, next, Release, Relaxed) {",
        "match word.compare_exchange_weak(seen, next, Relaxed, Relaxed) {",
        "a_new_client_meets_a_move",
    ),
    table!(
        "publication-relaxed",
        "moving",
        "if held.pointer().compare_exchange(held.array(), new, Release, Relaxed).is_err() {",
        "if held.pointer().compare_exchange(held.array(), new, Relaxed, Relaxed).is_err() {",
        "no_array_yet",
    ),
    table!(
        "earliest-death-load-relaxed",
        "claim",
        "array.none_dies_before().load(Acquire)",
        "array.none_dies_before().load(Relaxed)",
        "the_last_slot_is_its_own_for_all",
    ),
    table!(
        "earliest-death-store-relaxed",
        "claim",
        "array.none_dies_before().store(earliest, Release);",
        "array.none_dies_before().store(earliest, Relaxed);",
        "the_last_slot_is_its_own_for_three",
    ),
    // Rings in the table.
    table_log!(
        "cells-not-final",
        "ring",
        "if is_final(seen) || self.0.compare_exchange(seen, done, Release, Relaxed).is_ok() {",
        "if is_final(seen) || !done.is_null() {",
        "a_ring_starts_in_a_move",
        "a_ring_doubles_in_a_move",
    ),
    table_log!(
        "cells-final-before-the-word-is",
        "array",
        "let word = self.word.fetch_or(FROZEN, Acquire) & !FROZEN;
        Remembered { word, cells: self.cells.freeze() }",
        "let cells = self.cells.freeze();
        let word = self.word.fetch_or(FROZEN, Acquire) & !FROZEN;
        Remembered { word, cells }",
        "a_ring_starts_in_a_move",
    ),
    table_log!(
        "log-frozen-not-looked-at",
        "log",
        "if seen & FROZEN != 0 {
            return Err(Miss::Elsewhere);
        }",
        "",
        "a_ring_is_carried",
    ),
    table_log!(
        "settled-in-a-replaced-array",
        "log",
        "if !self.visit.held.is_present() {",
        "if false {",
        "a_late_mover_undoes_nothing",
        "a_late_reader_in_a_replaced_array",
    ),
    table_log!(
        "cells-not-protected",
        "hazard",
        "self.protect_new_cells(cells);
        // Pairs",
        "let _ = cells;
        // Pairs",
        "a_ring_is_forgotten",
    ),
    table_log!(
        "cells-not-validated",
        "hazard",
        "of_reader();
        self.is_present()",
        "of_reader();
        true",
        "a_ring_is_forgotten",
    ),
    table_log!(
        "fence-of-the-cells-dropped",
        "hazard",
        "// Pairs with the fence in `retire`.
        of_reader();",
        "",
        "a_ring_is_forgotten",
    ),
    table_log!(
        "cells-hazard-relaxed",
        "hazard",
        "self.record.cells.store(cells, Release);",
        "self.record.cells.store(cells, Relaxed);",
        "a_ring_is_forgotten_that_was_read",
    ),
    table_log!(
        "cells-release-relaxed",
        "hazard",
        "self.cells.store(null_mut(), Release);",
        "self.cells.store(null_mut(), Relaxed);",
        "a_ring_is_forgotten",
    ),
    table_log!(
        "new-cells-not-protected",
        "ring",
        "visit.held.protect_new_cells(first);",
        "",
        "a_ring_is_forgotten_where_it_starts",
    ),
    table_log!(
        "cells-behind-not-looked-at",
        "hazard",
        "let is_read = iter::successors(Some(block), behind).any(|block| block.as_ptr() == hazard);",
        "let is_read = iter::successors(Some(block), behind).take(1).any(|block| block.as_ptr() == hazard);",
        "a_ring_behind_another_is_forgotten",
    ),
    table_log!(
        "rings-of-the-left-out-freed-at-once",
        "moving",
        "unsafe { held.record().retire(cells.chain([array.as_raw()])) };",
        "unsafe {
                cells.for_each(|block| crate::block::free_down_to(block.as_ptr(), null_mut()));
                held.record().retire([array.as_raw()].into_iter());
            }",
        "a_ring_is_forgotten",
    ),
    table_log!(
        "rings-of-the-left-out-lost",
        "moving",
        "unsafe { held.record().retire(cells.chain([array.as_raw()])) };",
        "unsafe { held.record().retire(cells.take(0).chain([array.as_raw()])) };",
        "a_ring_is_forgotten",
        "a_ring_is_swept",
        "all_rings_are_forgotten",
    ),
    table_log!(
        "shared-ring-lost",
        "moving",
        ".filter(|_| frozen.shared.is_none());",
        ".filter(|_| frozen.shared.is_none() && false);",
        "a_shared_ring_is_forgotten",
    ),
    table_log!(
        "rings-of-the-kept-retired",
        "moving",
        "let left_out = array.slots().filter(|slot| !self.is_kept(frozen, *array.birth(), slot));",
        "let left_out = array.slots();",
        "a_ring_is_carried",
        "a_preallocated_ring",
    ),
    table_log!(
        "rings-not-carried",
        "moving",
        "copy.insert(slot.tag.load(Relaxed), slot.frozen());",
        "copy.insert(slot.tag.load(Relaxed), Remembered { cells: null_mut(), ..slot.frozen() });",
        "a_ring_is_carried",
        "logs_moved_by_age",
        "a_ring_is_carried_into_a_larger_array",
        "two_movers_in_one_ring",
    ),
    table_log!(
        "shared-ring-not-carried",
        "moving",
        "copy.share(shared);",
        "copy.share(Remembered { cells: null_mut(), ..shared });",
        "logs_share_through_a_move",
    ),
    table_log!(
        "ring-of-the-loser-lost",
        "array",
        "unsafe { free_down_to(slot.cells.first(), carried) };",
        "unsafe { free_down_to(carried, carried) };
            let _ = slot;",
        "two_movers_start_a_ring",
    ),
    table_log!(
        "ring-of-the-loser-freed-with-those-behind",
        "array",
        "unsafe { free_down_to(slot.cells.first(), carried) };",
        "unsafe { free_down_to(slot.cells.first(), null_mut()) };
            let _ = carried;",
        "two_movers_double_a_ring",
        "a_ring_is_carried",
    ),
    table_log!(
        "ring-too-late-freed-with-those-behind",
        "ring",
        "unsafe { free_down_to(first, seen) };",
        "unsafe { free_down_to(first, null_mut()) };",
        "a_ring_doubles_in_a_move",
    ),
    table_log!(
        "top-store-in-the-table",
        "log",
        "let moved = self.slot.word.compare_exchange_weak(seen, next, Release, Relaxed);",
        "self.slot.word.store(next, Release);
        let moved = Ok::<u64, u64>(seen);",
        "logs_share",
    ),
    table_log!(
        "log-locked-in-the-table",
        "log",
        "let moved = self.slot.word.compare_exchange_weak(seen, next, Release, Relaxed);",
        "while self.slot.word.load(Acquire) & FROZEN != 0 {}
        let moved = self.slot.word.compare_exchange_weak(seen, seen | FROZEN, Acquire, Relaxed);
        if moved.is_ok() {
            self.slot.word.store(next, Release);
        }",
        "stopped_with_a_ring",
    ),
    // Orderings of the log.
    log!(
        "top-load-relaxed",
        "log",
        "match self.answer(&here, slot.word.load(Acquire), ask) {",
        "match self.answer(&here, slot.word.load(Relaxed), ask) {",
        "log_ring_starts",
    ),
    log!(
        "top-exchange-relaxed",
        "log",
        "let moved = self.slot.word.compare_exchange_weak(seen, next, Release, Relaxed);",
        "let moved = self.slot.word.compare_exchange_weak(seen, next, Relaxed, Relaxed);",
        "log_ring_starts",
    ),
    log!(
        "grow-exchange-relaxed",
        "log",
        "here.move_on(seen, self.pack(next))?;
        Err(Miss::Again)",
        "here.slot.word.compare_exchange_weak(seen, self.pack(next), Relaxed, Relaxed).map_err(|_| Miss::Again)?;
        Err(Miss::Again)",
        "log_ring_starts_late",
    ),
    log!(
        "cell-load-relaxed",
        "log",
        "self.unpack_cell(ring.cell(top.index.wrapping_sub(back)).load(Acquire))",
        "self.unpack_cell(ring.cell(top.index.wrapping_sub(back)).load(Relaxed))",
        "log_ring_of_four_wraps",
    ),
    log!(
        "settle-load-relaxed",
        "log",
        "let mut found = cell.load(Acquire);",
        "let mut found = cell.load(Relaxed);",
        "log_settles_the_whole_tick",
    ),
    table_log!(
        "settle-exchange-relaxed",
        "log",
        "match cell.compare_exchange_weak(found, settled, Release, Acquire) {",
        "match cell.compare_exchange_weak(found, settled, Relaxed, Acquire) {",
        "a_ring_turns_under_two",
    ),
    log!(
        "settle-failure-relaxed",
        "log",
        "match cell.compare_exchange_weak(found, settled, Release, Acquire) {",
        "match cell.compare_exchange_weak(found, settled, Release, Relaxed) {",
        "log_settles_the_whole_tick",
    ),
    // Re-checks of the log.
    log!(
        "refuse-without-reload",
        "log",
        "return here.confirm(seen).map(|()| decision);",
        "return Ok(decision);",
        "log_ring_of_four_wraps",
    ),
    log!(
        "settle-without-reload",
        "log",
        "self.confirm(seen)?;",
        "let _ = seen;",
        "log_settles_the_whole_tick",
    ),
    // Exchanges of the log made stores.
    log!(
        "top-store",
        "log",
        "let moved = self.slot.word.compare_exchange_weak(seen, next, Release, Relaxed);",
        "self.slot.word.store(next, Release);
        let moved = Ok::<u64, u64>(seen);",
        "log_one_unit_left",
    ),
    log!(
        "grow-store",
        "log",
        "here.move_on(seen, self.pack(next))?;
        Err(Miss::Again)",
        "here.slot.word.store(self.pack(next), Release);
        Err(Miss::Again)",
        "log_ring_starts",
    ),
    log!(
        "settle-store",
        "log",
        "match cell.compare_exchange_weak(found, settled, Release, Acquire) {",
        "match { cell.store(settled, Release); Ok::<u64, u64>(0) } {",
        "log_settles_the_whole_tick",
    ),
    // Steps of the log left out or put in another order.
    log!(
        "not-settled",
        "log",
        "            here.settle(ring.cell(top.index), self.cell_of(seen), seen)?;
",
        "",
        "log_ring_of_four_wraps",
    ),
    log!(
        "settled-after-the-exchange",
        "log",
        "            here.settle(ring.cell(top.index), self.cell_of(seen), seen)?;
            Top { stamp: view.stamp, cum, index: (top.index + 1) & ones(self.index_bits), class: top.class }",
        "            let next = Top { stamp: view.stamp, cum, index: (top.index + 1) & ones(self.index_bits), class: top.class };
            here.move_on(seen, self.pack(next))?;
            ring.cell(top.index).store(self.cell_of(seen), Release);
            return Ok(());",
        "log_ring_of_four_wraps",
        "log_ring_starts",
        "log_equal_stamps_and_mixed_costs",
        "log_with_a_running_clock",
        "no_request_reads_a_stale_log",
        "log_grows_late",
    ),
    log!(
        "log-locked",
        "log",
        "let moved = self.slot.word.compare_exchange_weak(seen, next, Release, Relaxed);",
        "while self.slot.word.load(Acquire) & FROZEN != 0 {}
        let moved = self.slot.word.compare_exchange_weak(seen, seen | FROZEN, Acquire, Relaxed);
        if moved.is_ok() {
            self.slot.word.store(next, Release);
        }",
        "log_a_thread_stops_in_a_turn",
        "log_a_thread_stops_where_the_ring_starts",
    ),
    log!(
        "grown-unsettled",
        "log",
        "here.settle(larger.cell(position), cell, seen)?;",
        "let _ = (position, cell);",
        "log_grows",
        "log_a_thread_stops_where_the_ring_doubles",
    ),
    log!(
        "ring-without-room-for-the-base",
        "log",
        "Some(ring) if view.live + 1 < ring.capacity() as u64 => ring,",
        "Some(ring) if view.live < ring.capacity() as u64 => ring,",
        "log_grows",
    ),
    log!(
        "half-open",
        "log",
        "tick(back).age > self.window)",
        "tick(back).age >= self.window)",
        "log_ring_starts",
    ),
    log!(
        "base-trusted",
        "log",
        "first(0, base, expired)
",
        "base
",
        "log_ring_of_four_wraps",
    ),
    log!(
        "log-clamp-dropped",
        "log",
        "} else if age > ones(self.stamp_bits) >> 1 {
            // The reading is behind the newest tick.",
        "} else if false {
            // The reading is behind the newest tick.",
        "log_late_readings",
    ),
    // The rings.
    log!(
        "ring-published-twice",
        "ring",
        "let seen = largest.address();",
        "let seen = self.first();
        let _ = largest.address();",
        "log_ring_starts",
    ),
    log!(
        "ring-store",
        "ring",
        "if self.0.compare_exchange(seen, first, Release, Relaxed).is_err() {",
        "self.0.store(first, Release);
        if false {",
        "log_ring_starts",
    ),
    log!(
        "ring-publication-relaxed",
        "ring",
        "if self.0.compare_exchange(seen, first, Release, Relaxed).is_err() {",
        "if self.0.compare_exchange(seen, first, Relaxed, Relaxed).is_err() {",
        "log_ring_starts",
    ),
    table_log!(
        "ring-load-relaxed",
        "ring",
        "address(self.0.load(Acquire))",
        "address(self.0.load(Relaxed))",
        "a_ring_starts_in_a_move",
    ),
    table_log!(
        "freeze-of-the-cells-not-release",
        "ring",
        "if is_final(seen) || self.0.compare_exchange(seen, done, Release, Relaxed).is_ok() {",
        "if is_final(seen) || self.0.compare_exchange(seen, done, Relaxed, Relaxed).is_ok() {",
        "a_ring_starts_in_a_move",
    ),
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
        "here.settle(ring.base(), base, seen)?;",
        "let _ = base;",
        By::Unit("log::tests::a_sparse_client_turns_dense"),
    ),
    mutant!(
        "log-late-settler-undoes",
        "src/log.rs",
        "self.confirm(seen)?;",
        "let _ = seen;",
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
