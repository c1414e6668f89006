//! The table of clients: moves, births, hazards, and what a new client is answered.

use loom_tests::{
    Call::{Check, Forget, ForgetAll, Many, Peek, Sweep},
    ENDLESS, SHORT, W, table_race as race,
};
use slidegate::WhenFull;

race! {
    /// One new client in two threads has one slot, not two.
    first_sight: run {
        preemptions: 3,
        limit: 1,
        before: &[Check(2, 1, 1)],
        threads: &[&[Check(1, 1, 1)], &[Check(1, 1, 1)]],
        after: &[Peek(1, 1, 0), Check(3, 1, 1)],
    }
}

race! {
    /// The same where there is no array yet.
    no_array_yet: run {
        preemptions: 3,
        limit: 1,
        threads: &[&[Check(1, 1, 1)], &[Peek(1, 1, 1), Check(1, 1, 1)]],
        after: &[Peek(1, 1, 0)],
    }
}

race! {
    /// Two new clients make the first array at the same time, and both are in it.
    no_array_yet_for_two: run {
        preemptions: 3,
        limit: 1,
        threads: &[&[Check(1, 1, 1)], &[Check(2, 1, 1), Check(1, 1, 1)]],
        after: &[Peek(1, 1, 0), Check(1, 1, 1), Check(2, 1, 1)],
    }
}

race! {
    /// Two new clients want the same slot.
    same_home_slot: run {
        preemptions: 3,
        limit: 1,
        before: &[Check(2, 1, 1)],
        threads: &[&[Check(1, 1, 1), Check(1, 1, 1)], &[Check(5, 1, 1), Check(5, 1, 1)]],
        after: &[Check(1, 1, 1), Check(5, 1, 1)],
    }
}

race! {
    /// A new client makes the array grow while a known one is checked.
    growth: run {
        preemptions: 1,
        slots: 8,
        before: &[Check(1, 1, 1), Check(2, 1, 1), Check(3, 1, 1)],
        threads: &[&[Check(4, 1, 2)], &[Check(1, 1, 1), Check(1, 1, 1)]],
        after: &[Check(1, 1, 1), Check(4, 1, 1), Peek(2, 1, 0), Peek(3, 1, 0)],
    }
}

race! {
    /// A check of a known client, frozen between its load and its exchange.
    a_check_meets_a_move: run {
        preemptions: 2,
        before: &[Check(1, 1, 1), Check(2, 1, 1)],
        threads: &[&[Forget(2, 1)], &[Check(1, 1, 1), Check(1, 1, 1)]],
        after: &[Peek(1, 1, 1), Check(1, 1, 1), Check(2, 1, 2)],
    }
}

race! {
    /// A check that one move after the other is about to freeze.
    a_check_meets_two_moves: run {
        preemptions: 3,
        before: &[Check(1, 1, 1), Check(2, 1, 1)],
        threads: &[&[Forget(2, 1)], &[Check(1, 1, 1)]],
        after: &[Peek(1, 1, 1)],
    }
}

race! {
    /// A slot claimed and written while a move freezes: the mover finds both or neither.
    a_new_client_meets_a_move: run {
        preemptions: 2,
        before: &[Check(2, 1, 1)],
        threads: &[&[Forget(2, 1)], &[Check(1, 1, 2)]],
        after: &[Check(1, 1, 1)],
    }
}

race! {
    /// Two moves with requests of their own: both are recorded.
    two_movers: run {
        before: &[Check(1, 1, 1), Check(2, 1, 1)],
        threads: &[&[Forget(2, 1), Check(1, 1, 1)], &[Forget(1, 1), Check(1, 1, 1)]],
        after: &[Check(1, 1, 1), Check(2, 1, 2)],
    }
}

race! {
    /// Two movers with different readings: the older keeps, or the younger leaves out under a later birth.
    two_movers_with_different_readings: run {
        slots: 2,
        before: &[Check(1, W - 1, 2)],
        threads: &[&[Check(2, 2 * W, 2), Check(2, 2 * W, 1)], &[Check(3, 3 * W, 1)]],
        after: &[Peek(1, W - 1, 1), Check(1, W, 1)],
    }
}

race! {
    /// Who moves finds a check of the same client in the array that he copies.
    own_request_in_the_copy: run {
        preemptions: 1,
        slots: 2,
        kind: SHORT,
        limit: 3,
        before: &[Check(1, 1, 1)],
        threads: &[&[Check(1, 2 * W, 1)], &[Check(1, W, 1)], &[Check(1, W, 1)]],
        after: &[Check(1, 1, 1)],
    }
}

race! {
    /// Forgetting all against a check, a claim and a move.
    forget_all: run {
        before: &[Check(1, 1, 2), Check(2, 1, 1)],
        threads: &[&[ForgetAll(1)], &[Check(1, 1, 1), Check(3, 1, 1), Forget(2, 1)]],
        after: &[Check(1, 1, 2), Check(2, 1, 2), Check(3, 1, 2)],
    }
}

race! {
    /// Forgetting all keeps the time.
    forget_all_keeps_the_time: run {
        preemptions: 3,
        before: &[Check(9, 1, 1), Check(1, 3 * W, 2)],
        threads: &[&[ForgetAll(3 * W)], &[Check(1, W, 2)]],
        after: &[Check(1, W, 1), Peek(1, 3 * W, 0)],
    }
}

race! {
    /// A sweep takes what is dead and nothing else.
    sweep: run {
        before: &[Check(2, 1, 2), Check(1, W, 2)],
        threads: &[&[Sweep(2 * W)], &[Check(1, 2 * W, 1), Check(2, W + 2, 1)]],
        after: &[Peek(1, 2 * W, 1), Check(2, 2 * W, 1)],
    }
}

race! {
    /// A forgotten client comes back with a reading of the time before.
    a_forgotten_client_returns_late: run {
        kind: ENDLESS,
        limit: 1,
        preemptions: 3,
        before: &[Check(9, 1, 1), Check(1, 3 * W, 1)],
        threads: &[&[Forget(1, 3 * W)], &[Check(1, W, 1)]],
        after: &[Check(1, W, 1), Peek(1, 3 * W, 0)],
    }
}

race! {
    /// A client is forgotten by a thread whose reading is before its record.
    forgotten_by_a_late_thread: run {
        preemptions: 3,
        before: &[Check(9, 1, 1), Check(1, 3 * W, 2)],
        threads: &[&[Forget(1, W)], &[Check(1, W, 1), Check(1, 2 * W, 1)]],
        after: &[Check(1, W, 1), Peek(1, 3 * W, 0)],
    }
}

race! {
    /// The birth never falls, whatever later movers read.
    a_birth_outlives_late_movers: run {
        before: &[Check(9, 1, 1), Check(1, 3 * W, 2), Check(2, 2 * W, 1)],
        threads: &[&[Forget(1, 3 * W)], &[Forget(2, 2 * W), Check(1, W, 1)]],
        after: &[Check(1, W, 1), Check(2, W, 2), Peek(1, 3 * W + 2, 0)],
    }
}

race! {
    /// The slot of a returning client is claimed by one late thread and used by another.
    a_birth_binds_whoever_finds_the_tag: run {
        before: &[Check(1, 3 * W, 2), Forget(1, 3 * W)],
        threads: &[&[Check(1, W, 1)], &[Check(1, W, 1)]],
        after: &[Peek(1, 3 * W, 0), Peek(1, W, 0)],
    }
}

race! {
    /// More new clients than room, and one dead client: one comes in, the others are turned away, and all end.
    more_new_clients_than_room: run {
        preemptions: 1,
        slots: 2,
        before: &[Check(9, 1, 1)],
        threads: &[&[Check(1, 3 * W, 1)], &[Check(2, 3 * W, 1)], &[Check(3, 3 * W, 1)]],
        after: &[Check(1, 3 * W, 1), Check(2, 3 * W, 1), Check(3, 3 * W, 1)],
    }
}

race! {
    /// The same with two new clients, which takes more switches.
    two_new_clients_and_room_for_one: run {
        preemptions: 3,
        slots: 2,
        before: &[Check(9, 1, 1)],
        threads: &[&[Check(1, 3 * W, 2)], &[Check(3, 3 * W, 2)]],
        after: &[Check(1, 3 * W, 1), Check(3, 3 * W, 1)],
    }
}

race! {
    /// A segment full of live clients turns new ones away, and loses no count.
    full_of_live_clients: run {
        preemptions: 3,
        slots: 2,
        before: &[Check(9, 1, 1)],
        threads: &[&[Check(1, W, 1), Check(2, W, 1)], &[Check(9, W, 1), Check(9, W, 1)]],
        after: &[Peek(1, W, 1), Check(9, W, 1), Check(1, 4 * W, 1)],
    }
}

race! {
    /// A dead client makes room, also where it comes back at the same time.
    a_dead_client_makes_room: run {
        preemptions: 3,
        slots: 2,
        before: &[Check(9, 1, 2)],
        threads: &[&[Check(1, 2 * W, 2)], &[Check(9, W, 1)]],
        after: &[Check(1, 2 * W, 1), Peek(9, W, 1)],
    }
}

race! {
    /// A slot set aside by two threads of one new client is not missing to another.
    room_for_all_three: run {
        deep: true,
        preemptions: 1,
        before: &[Check(9, 1, 1)],
        threads: &[&[Check(1, 1, 1)], &[Check(1, 1, 1)], &[Check(2, 1, 1)]],
        after: &[Check(1, 1, 1), Check(2, 1, 1)],
    }
}

race! {
    /// The last slot is taken by one thread of a new client: the other finds it there.
    the_last_slot_is_its_own: run {
        preemptions: 3,
        slots: 2,
        before: &[Check(9, 1, 1), Sweep(3 * W)],
        threads: &[&[Check(1, 3 * W, 1)], &[Check(1, 3 * W, 1)]],
        after: &[Check(1, 3 * W, 1), Check(2, 3 * W, 1)],
    }
}

race! {
    /// The same while another client is turned away.
    the_last_slot_is_its_own_for_all: run {
        preemptions: 3,
        slots: 2,
        before: &[Check(9, 1, 1), Sweep(3 * W)],
        threads: &[&[Check(1, 3 * W, 1), Check(2, 3 * W, 1)], &[Check(1, 3 * W, 1)]],
        after: &[Check(1, 3 * W, 1), Check(2, 3 * W, 1)],
    }
}

race! {
    /// Where one thread takes it, another finds the array full, and a third, which is that client's too, has heard of
    /// neither.
    the_last_slot_is_its_own_for_three: run {
        preemptions: 1,
        slots: 2,
        before: &[Check(9, 1, 1), Sweep(3 * W)],
        threads: &[&[Check(1, 3 * W, 1)], &[Check(1, 3 * W, 1)], &[Check(2, 3 * W, 1)]],
        after: &[Check(1, 3 * W, 1), Check(2, 3 * W, 1)],
    }
}

race! {
    /// New clients without a slot share one count.
    sharing: run {
        slots: 2,
        when_full: WhenFull::Share,
        sharing: &[1, 2],
        before: &[Check(9, 1, 1)],
        threads: &[&[Check(1, 1, 1), Check(1, 1, 1)], &[Check(2, 1, 1)]],
        after: &[Check(1, 1, 1), Check(2, 1, 1), Check(9, 1, 1)],
    }
}

race! {
    /// What they share is carried by a move, whoever makes it.
    sharing_through_a_move: run {
        slots: 2,
        kind: SHORT,
        when_full: WhenFull::Share,
        sharing: &[1, 2],
        before: &[Check(9, 1, 1), Check(9, W + 1, 1), Check(1, W, 1)],
        threads: &[&[Check(9, 2 * W + 1, 1)], &[Check(2, 2 * W, 2), Check(2, 2 * W, 1)]],
        after: &[Check(1, 2 * W, 1), Peek(9, 2 * W + 1, 0)],
    }
}

race! {
    /// A client is recorded while a thread with a later reading looks into an array of one slot that is too old for it:
    /// nobody is in its way but itself.
    a_look_meets_a_record: run {
        kind: SHORT,
        slots: 1,
        before: &[Check(1, 0, 1)],
        threads: &[&[Check(1, 7, 1)], &[Peek(1, 8, 1)]],
        after: &[Peek(1, 8, 1)],
    }
}

race! {
    /// A horizon of 8 windows, all of them gone by without a request.
    idle_for_a_horizon: run {
        kind: SHORT,
        before: &[Check(1, 1, 2)],
        threads: &[&[Check(1, 8 * W + 1, 1)], &[Check(1, 8 * W + 1, 1)]],
        after: &[Check(1, 8 * W + 1, 1), Peek(1, 16 * W, 1)],
    }
}

race! {
    /// The same, and seven windows, with a peek and another client.
    idle_for_almost_a_horizon: run {
        kind: SHORT,
        slots: 2,
        before: &[Check(1, 1, 2)],
        threads: &[&[Peek(1, 7 * W, 1), Check(1, 7 * W, 1)], &[Check(2, 15 * W, 1)]],
        after: &[Check(1, 15 * W, 2), Check(2, 15 * W, 2)],
    }
}

race! {
    /// A thread that read its clock many windows ago meets an array moved by its age.
    late_by_a_horizon: run {
        kind: SHORT,
        before: &[Check(1, 1, 1)],
        threads: &[&[Check(1, 5 * W, 2)], &[Check(1, 1, 1), Check(1, 2 * W, 1)]],
        after: &[Check(1, 1, 1), Check(1, 5 * W, 1)],
    }
}

race! {
    /// An array is moved by its age while its client is live.
    moved_by_age: run {
        kind: SHORT,
        before: &[Check(1, 1, 1), Check(1, W + 1, 2)],
        threads: &[&[Check(1, 2 * W + 1, 1), Check(2, 2 * W + 1, 1)], &[Check(1, W + 2, 1), Check(1, 2 * W + 2, 1)]],
        after: &[Check(1, 2 * W + 2, 1), Check(1, W, 1)],
    }
}

race! {
    /// A reader in an array that others replace, twice: nobody frees what is read.
    hazards: run {
        before: &[Check(1, 1, 1), Check(2, 1, 1)],
        threads: &[&[Check(1, 1, 1), Peek(1, 1, 0)], &[Forget(2, 1), Check(2, 1, 1), Forget(2, 1)]],
        after: &[Check(1, 1, 1)],
    }
}

race! {
    /// The same with a reader of its own in each of two publishers.
    hazards_of_publishers: run {
        preemptions: 1,
        before: &[Check(1, 1, 1), Check(2, 1, 1)],
        threads: &[&[Forget(1, 1), Check(1, 1, 1)], &[Forget(2, 1), Check(2, 1, 1)]],
        after: &[Check(1, 1, 1), Check(2, 1, 1)],
    }
}

race! {
    /// Two threads end one after the other, and others take over their records.
    records_pass_on: run {
        preemptions: 1,
        slots: 2,
        before: &[Check(1, 1, 1)],
        threads: &[&[Forget(1, 1)], &[Check(1, 1, 1)], &[Forget(1, 1)]],
        after: &[Check(1, 1, 2), Forget(1, 1), Check(1, 1, 2)],
    }
}

race! {
    /// A thread that stops for ever anywhere in a check of a known client.
    stopped_in_a_check: run_with_a_stop {
        preemptions: 1,
        before: &[Check(1, 1, 1), Check(2, 1, 1)],
        threads: &[&[Forget(2, 1), Check(1, 1, 1)], &[Check(1, 1, 1)]],
        after: &[Check(1, 1, 1), Forget(1, 1), Check(1, 1, 2), Check(2, 1, 2)],
    }
}

race! {
    /// In a claim.
    stopped_in_a_claim: run_with_a_stop {
        preemptions: 1,
        before: &[Check(2, 1, 1)],
        threads: &[&[Check(1, 1, 1), Check(5, 1, 1)], &[Check(1, 1, 1)]],
        after: &[Check(1, 1, 1), Forget(1, 1), Check(1, 1, 2), Check(2, 1, 1)],
    }
}

race! {
    /// In a claim of the last slot, or of one more than there are.
    stopped_in_a_claim_of_the_last_slot: run_with_a_stop {
        preemptions: 1,
        slots: 2,
        before: &[Check(9, 1, 1)],
        threads: &[&[Check(1, 3 * W, 1)], &[Check(2, 3 * W, 1)]],
        after: &[Check(3, 6 * W, 2), Check(3, 6 * W, 1)],
    }
}

race! {
    /// In a move.
    stopped_in_a_move: run_with_a_stop {
        preemptions: 1,
        before: &[Check(1, 1, 1), Check(2, 1, 1)],
        threads: &[&[Check(1, 1, 1)], &[Forget(2, 1)]],
        after: &[Check(1, 1, 1), Forget(1, 1), Check(1, 1, 2), Check(2, 1, 1)],
    }
}

race! {
    /// Several at once against a move: two clients of one segment, and in their order.
    a_batch_meets_a_move: run {
        before: &[Check(1, 1, 1), Check(2, 1, 1)],
        threads: &[&[Forget(2, 1)], &[Many(&[1, 1, 2], 1)]],
        after: &[Check(1, 1, 1), Check(2, 1, 1)],
    }
}

race! {
    /// Several at once, a new client among them, where others are new too.
    a_batch_of_new_clients: run {
        slots: 2,
        before: &[Check(9, 1, 1), Forget(9, 1)],
        threads: &[&[Check(3, 1, 1)], &[Many(&[1, 1, 3], 1)]],
        after: &[Check(1, 1, 1), Check(3, 1, 2)],
    }
}

race! {
    /// A batch reads two arrays at a time: nobody frees either.
    hazards_of_a_batch: run {
        before: &[Check(1, 1, 2), Check(2, 1, 2)],
        threads: &[&[Many(&[1, 2, 1, 2], 1)], &[Forget(2, 1)]],
        after: &[Check(1, 1, 1)],
    }
}

race! {
    /// Through handles, whose records outlive a request.
    handles: run {
        preemptions: 1,
        handles: true,
        before: &[Check(1, 1, 1), Check(2, 1, 1)],
        threads: &[&[Check(1, 1, 1), Forget(2, 1)], &[Check(2, 1, 1), Many(&[1, 2], 1)]],
        after: &[Check(1, 1, 1), Check(2, 1, 1)],
    }
}
