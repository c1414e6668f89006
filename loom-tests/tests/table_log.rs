//! Logs in the table: rings that are carried, started, doubled and left out while others read them.

use loom_tests::{
    Call::{Check, Forget, ForgetAll, Many, Peek, Sweep},
    Kind, LOG, SHORT_LOG, W, table_race as race,
};
use slidegate::WhenFull;

race! {
    /// A check meets a move that carries its client's ring.
    a_ring_is_carried: run {
        preemptions: 1,
        kind: LOG,
        limit: 3,
        before: &[Check(2, 1, 1), Check(1, 1, 1), Check(1, 2, 1)],
        threads: &[&[Forget(2, 2)], &[Check(1, 3, 1), Check(1, 4, 1)]],
        after: &[Peek(1, 5, 1), Check(1, 6, 1), Check(1, 7, 1)],
    }
}

race! {
    /// The same in a growing array.
    a_ring_is_carried_into_a_larger_array: run {
        preemptions: 1,
        kind: LOG,
        slots: 8,
        before: &[Check(1, 1, 1), Check(1, 2, 1), Check(2, 1, 1), Check(3, 1, 1)],
        threads: &[&[Check(4, 2, 2)], &[Check(1, 2, 1), Check(1, 3, 1)]],
        after: &[Check(1, 6, 1), Check(4, 3, 1), Peek(2, 2, 0)],
    }
}

race! {
    /// A ring starts in an array that is being moved.
    a_ring_starts_in_a_move: run {
        preemptions: 1,
        kind: LOG,
        limit: 3,
        before: &[Check(2, 1, 1), Check(1, 1, 1)],
        threads: &[&[Forget(2, 1)], &[Check(1, 2, 1), Check(1, 3, 1)]],
        after: &[Check(1, 3, 1), Check(1, 6, 1)],
    }
}

race! {
    /// A ring doubles in an array that is being moved.
    a_ring_doubles_in_a_move: run {
        preemptions: 1,
        kind: LOG,
        limit: 4,
        before: &[Check(2, 1, 1), Check(1, 1, 1), Check(1, 2, 1), Check(1, 3, 1)],
        threads: &[&[Forget(2, 1)], &[Check(1, 4, 1)]],
        after: &[Check(1, 5, 1), Check(1, 6, 1), Check(1, 7, 1)],
    }
}

race! {
    /// The ring of four turns under two threads while a third reads it: who writes a later lap has only heard of it.
    a_ring_turns_under_two: run {
        kind: LOG,
        limit: 3,
        before: &[Check(1, 0, 1), Check(1, 5, 1), Check(1, 7, 1), Check(1, 9, 1)],
        threads: &[&[Check(1, 12, 1)], &[Check(1, 14, 1)], &[Peek(1, 9, 0)]],
        after: &[Peek(1, 14, 1)],
    }
}

race! {
    /// A mover that is held up cannot undo in the ring what was settled there under the array that came instead of his.
    a_late_mover_undoes_nothing: run {
        preemptions: 1,
        kind: Kind::Log { stamp_bits: 6, preallocates: false },
        before: &[Check(2, 1, 1), Check(1, 10, 1), Check(1, 12, 1), Check(1, 15, 1)],
        threads: &[
            &[Check(1, 17, 1), Check(1, 20, 1), Check(1, 22, 1), Check(1, 25, 1), Check(1, 27, 1)],
            &[Check(1, 17, 1)],
        ],
        after: &[Peek(1, 30, 1), Check(1, 32, 1)],
    }
}

race! {
    /// Who reads the ring in an array that was replaced does not believe it.
    a_late_reader_in_a_replaced_array: run {
        kind: LOG,
        before: &[Check(2, 1, 1), Check(1, 0, 1), Check(1, 2, 1), Check(1, 5, 1)],
        threads: &[
            &[Forget(2, 5), Check(1, 7, 1), Check(1, 10, 1), Check(1, 12, 1), Check(1, 15, 1)],
            &[Peek(1, 6, 1)],
        ],
        after: &[Peek(1, 16, 1)],
    }
}

race! {
    /// Two movers whose client has one tick: each starts a ring in his copy, and one of the two stays.
    two_movers_start_a_ring: run {
        preemptions: 1,
        kind: SHORT_LOG,
        limit: 3,
        before: &[Check(2, 1, 1), Check(1, 8, 1)],
        threads: &[&[Check(1, 2 * W + 1, 1)], &[Check(1, 2 * W + 2, 1)]],
        after: &[Check(1, 11, 1), Check(1, 12, 1), Check(1, 13, 1)],
    }
}

race! {
    /// Two movers whose client has a full ring: one doubles it, the other need not.
    two_movers_double_a_ring: run {
        preemptions: 1,
        kind: SHORT_LOG,
        limit: 4,
        before: &[Check(2, 1, 1), Check(1, 5, 1), Check(1, 6, 1), Check(1, 7, 1)],
        threads: &[&[Check(1, 2 * W + 1, 1)], &[Check(1, 2 * W + 2, 1)]],
        after: &[Check(1, 10, 1), Check(1, 11, 1), Check(1, 12, 1)],
    }
}

race! {
    /// Two movers with different readings settle in one ring, where the base is not in the same place for both.
    two_movers_in_one_ring: run {
        preemptions: 1,
        kind: SHORT_LOG,
        before: &[Check(2, 1, 1), Check(1, 3, 1), Check(1, 5, 1), Check(1, 8, 1)],
        threads: &[&[Check(1, 2 * W + 2, 1)], &[Check(1, 3 * W + 1, 1)]],
        after: &[Check(1, 13, 1), Check(1, 14, 1), Check(1, 15, 1)],
    }
}

race! {
    /// A client with a ring is forgotten while another thread reads it.
    a_ring_is_forgotten: run {
        preemptions: 1,
        kind: LOG,
        limit: 3,
        before: &[Check(1, 1, 1), Check(1, 2, 1)],
        threads: &[&[Check(1, 3, 1), Peek(1, 3, 1)], &[Forget(1, 3), Check(1, 3, 1), Check(1, 4, 1)]],
        after: &[Check(1, 2, 1), Peek(1, 5, 1)],
    }
}

race! {
    /// So are all clients.
    all_rings_are_forgotten: run {
        preemptions: 1,
        kind: LOG,
        limit: 3,
        before: &[Check(1, 1, 1), Check(1, 2, 1), Check(2, 1, 1), Check(2, 3, 2)],
        threads: &[&[ForgetAll(3)], &[Check(1, 3, 1), Peek(2, 3, 1)]],
        after: &[Check(1, 2, 3), Check(2, 4, 1)],
    }
}

race! {
    /// A client with a ring is swept, since nothing in it counts any more, while another thread still reads it.
    a_ring_is_swept: run {
        preemptions: 1,
        kind: LOG,
        before: &[Check(1, 1, 1), Check(1, 2, 1), Check(2, 3, 2)],
        threads: &[&[Sweep(7)], &[Peek(1, 3, 1), Check(1, 6, 1)]],
        after: &[Check(1, 7, 1), Check(2, 7, 1)],
    }
}

race! {
    /// A ring is read that a larger one replaced, and then its client is forgotten.
    a_ring_behind_another_is_forgotten: run {
        kind: LOG,
        limit: 4,
        before: &[Check(1, 1, 1), Check(1, 2, 1), Check(1, 3, 1)],
        threads: &[&[Peek(1, 4, 1)], &[Check(1, 4, 1), Forget(1, 4)]],
        after: &[Check(1, 4, 4)],
    }
}

race! {
    /// A ring is forgotten before the thread that starts it has settled anything in it.
    a_ring_is_forgotten_where_it_starts: run {
        preemptions: 1,
        kind: LOG,
        limit: 3,
        before: &[Check(1, 1, 1)],
        threads: &[&[Check(1, 2, 1)], &[Forget(1, 2), Check(1, 3, 1)]],
        after: &[Check(1, 3, 1), Check(1, 4, 1)],
    }
}

race! {
    /// Who has read a ring reads another, with no fence between, while the first is forgotten.
    a_ring_is_forgotten_that_was_read: run {
        kind: LOG,
        before: &[Check(1, 1, 1), Check(1, 2, 1), Check(2, 1, 1), Check(2, 2, 1)],
        threads: &[&[Many(&[1, 2], 3)], &[Forget(1, 3)]],
        after: &[Peek(1, 3, 1)],
    }
}

race! {
    /// A ring that comes with the first tick, in a slot and in a copy.
    a_preallocated_ring: run {
        preemptions: 1,
        kind: Kind::Log { stamp_bits: 63, preallocates: true },
        before: &[Check(2, 1, 1)],
        threads: &[&[Forget(2, 1), Check(2, 2, 1)], &[Check(1, 1, 1), Check(1, 2, 1)]],
        after: &[Check(1, 3, 1), Check(2, 3, 1)],
    }
}

race! {
    /// New clients without a slot share one log, ring and all.
    logs_share: run {
        kind: LOG,
        slots: 2,
        when_full: WhenFull::Share,
        sharing: &[1, 2],
        before: &[Check(9, 5, 1)],
        threads: &[&[Check(1, 5, 1), Check(1, 6, 1)], &[Check(2, 6, 1)]],
        after: &[Check(1, 9, 1), Check(2, 9, 1), Check(9, 9, 1)],
    }
}

race! {
    /// What they share is carried by a move, or forgotten with all.
    logs_share_through_a_move: run {
        preemptions: 1,
        kind: SHORT_LOG,
        slots: 2,
        limit: 3,
        when_full: WhenFull::Share,
        sharing: &[1, 2],
        before: &[Check(9, 1, 1), Check(9, 6, 1), Check(1, 7, 1), Check(2, 8, 1)],
        threads: &[&[Check(9, 2 * W + 1, 1)], &[Check(2, 2 * W + 1, 1)]],
        after: &[Check(1, 10, 1), Peek(9, 10, 0)],
    }
}

race! {
    /// What they share is left out with its ring.
    a_shared_ring_is_forgotten: run {
        kind: LOG,
        slots: 2,
        when_full: WhenFull::Share,
        sharing: &[1, 2],
        before: &[Check(9, 5, 1), Check(1, 5, 1), Check(2, 6, 1)],
        threads: &[&[ForgetAll(6)], &[Peek(2, 7, 1)]],
        after: &[Peek(1, 7, 1)],
    }
}

race! {
    /// An array is moved by its age while its client is live, and a late thread meets it.
    logs_moved_by_age: run {
        preemptions: 1,
        kind: SHORT_LOG,
        before: &[Check(1, 1, 1), Check(1, 5, 1), Check(1, 7, 1)],
        threads: &[&[Check(1, 2 * W + 1, 1), Check(1, 2 * W + 2, 1)], &[Check(1, 6, 1), Check(1, 2 * W + 3, 1)]],
        after: &[Check(1, 12, 1), Check(1, W, 1)],
    }
}

race! {
    /// A horizon of 32 ticks, all of them gone by without a request.
    logs_idle_for_a_horizon: run {
        preemptions: 1,
        kind: SHORT_LOG,
        before: &[Check(1, 1, 1), Check(1, 2, 1)],
        threads: &[&[Check(1, 8 * W + 2, 1)], &[Check(1, 8 * W + 1, 1), Peek(1, 1, 1)]],
        after: &[Check(1, 8 * W + 2, 1), Peek(1, 16 * W, 1)],
    }
}

race! {
    /// A thread that stops for ever anywhere in a check that reads and settles a ring.
    stopped_with_a_ring: run_with_a_stop {
        preemptions: 1,
        kind: LOG,
        limit: 3,
        before: &[Check(1, 1, 1), Check(1, 2, 1)],
        threads: &[&[Check(1, 3, 1)], &[Check(1, 3, 1)]],
        after: &[Check(1, 4, 1), Forget(1, 4), Check(1, 4, 2), Check(1, 100, 3)],
    }
}

race! {
    /// In a move in whose copy a ring starts.
    stopped_in_a_move_with_a_ring: run_with_a_stop {
        preemptions: 1,
        kind: SHORT_LOG,
        limit: 3,
        before: &[Check(1, 1, 1), Check(1, 8, 1)],
        threads: &[&[Peek(1, 8, 1)], &[Check(1, 2 * W + 1, 1)]],
        after: &[Check(1, 11, 1), Check(1, 100, 3)],
    }
}
