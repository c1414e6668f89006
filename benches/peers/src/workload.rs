//! [`Workload`]: what is asked of everyone; [`all`]: the list.

use crate::{
    contender::Pace,
    keys::{Draw, Key},
};
use slidegate::Quota;
use std::{ops::Range, time::Duration};

/// So long that hardly a run sees a window turn.
const WINDOW: Duration = Duration::from_secs(1_000 * 60 * 60);

/// Out of reach of all checks of a run, and still so small that every word has bits to spare, as with the limits of real
/// services.
const OPEN: Quota = Quota::new((1 << 26) - 1, WINDOW);

/// Out of reach of a client among a million.
const AMPLE: Quota = Quota::new(1_000, WINDOW);

/// Out of reach of checks of one key, of which a hundred take more than a microsecond: a log turns over all the time.
const TURNING: Quota = Quota::new(100, Duration::from_micros(1));

/// A client among a million comes a few times in a window.
const SELDOM: Quota = Quota::new(100, Duration::from_secs(1));

/// Spent by the first request of a client.
const SHUT: Quota = Quota::new(1, WINDOW);

pub const MILLION: u64 = 1_000_000;

/// Keys in a batch.
pub const BATCH: usize = 1 << 14;

/// What is asked of everyone.
#[derive(Clone, Debug)]
pub struct Workload {
    pub name: &'static str,
    pub title: &'static str,
    pub measure: Measure,
    pub quota: Quota,
    /// What every check must be answered, once each client had its first.
    pub allowed: bool,
    pub clients: u64,
    pub keys: Keys,
    pub draw: Draw,
    pub pace: Pace,
    pub threads: usize,
    /// Checks of all threads in a repetition.
    pub checks: usize,
    pub repetitions: usize,
    /// For logs, and governor to compare with.
    pub of_logs: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    Times,
    Footprint,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keys {
    Numbers,
    Text,
}

/// How much time there is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Quick,
    Full,
}

/// Everything that is measured.
pub fn all(form: Form) -> Vec<Workload> {
    let (repetitions, hot_checks, cold_checks) = match form {
        Form::Quick => (7, 1 << 20, 1 << 18),
        Form::Full => (11, 1 << 21, 1 << 20),
    };
    let hot = Workload {
        name: "hot-allowed",
        title: "one key, allowed",
        measure: Measure::Times,
        quota: OPEN,
        allowed: true,
        clients: 1,
        keys: Keys::Numbers,
        draw: Draw::Uniform,
        pace: Pace::BackToBack,
        threads: 1,
        checks: hot_checks,
        repetitions,
        of_logs: false,
    };
    let cold = Workload {
        name: "cold",
        title: "1,000,000 keys, uniform",
        quota: AMPLE,
        clients: MILLION,
        checks: cold_checks,
        ..hot.clone()
    };
    let growth = Workload {
        name: "growth",
        title: "latency of first sights: two threads, from nobody to 1,000,000 clients",
        threads: 2,
        draw: Draw::EachOnce,
        pace: Pace::Stamped,
        ..cold.clone()
    };
    let memory = Workload {
        name: "memory",
        title: "memory for 1,000,000 clients, seen once",
        measure: Measure::Footprint,
        repetitions: 1,
        ..cold.clone()
    };
    vec![
        hot.clone(),
        Workload { name: "hot-refused", title: "one key, refused", quota: SHUT, allowed: false, ..hot.clone() },
        Workload { name: "warm", title: "1,000 keys, uniform", clients: 1_000, ..hot.clone() },
        cold.clone(),
        Workload {
            name: "cold-apart",
            title: "1,000,000 keys, uniform, one at a time",
            pace: Pace::OneAtATime,
            ..cold.clone()
        },
        Workload { name: "cold-text", title: "1,000,000 IPv4 addresses as text", keys: Keys::Text, ..cold.clone() },
        Workload { name: "first-sight", title: "first sight of 1,000,000 keys", draw: Draw::EachOnce, ..cold.clone() },
        Workload { name: "log-hot", title: "logs: one key, allowed", quota: TURNING, of_logs: true, ..hot.clone() },
        Workload {
            name: "log-cold",
            title: "logs: 1,000,000 keys, uniform, a few stamps of each",
            quota: SELDOM,
            of_logs: true,
            ..cold.clone()
        },
        Workload { name: "pair-hot", title: "two threads, one key", threads: 2, ..hot },
        Workload {
            name: "pair-cold",
            title: "two threads, each its half of 1,000,000 keys",
            threads: 2,
            ..cold.clone()
        },
        Workload {
            name: "latency",
            title: "latency of a check: two threads, each its half of 1,000,000 keys",
            threads: 2,
            pace: Pace::Stamped,
            ..cold.clone()
        },
        growth.clone(),
        memory.clone(),
        Workload {
            name: "zipf-10m",
            title: "10,000,000 keys, Zipf 0.99",
            quota: OPEN,
            draw: Draw::Zipf,
            clients: 10 * MILLION,
            ..cold
        },
        Workload {
            name: "growth-10m",
            title: "latency of first sights: two threads, from nobody to 10,000,000 clients",
            clients: 10 * MILLION,
            repetitions: 7,
            ..growth
        },
        Workload {
            name: "memory-10m",
            title: "memory for 10,000,000 clients, seen once",
            clients: 10 * MILLION,
            ..memory
        },
    ]
}

impl Workload {
    /// Whether each repetition begins with a limiter that has seen nobody.
    pub fn fresh(&self) -> bool {
        self.draw == Draw::EachOnce
    }

    /// The keys of each thread. Threads share nothing, unless there are fewer clients than threads.
    pub fn streams<K: Key>(&self) -> Vec<Vec<K>> {
        // A few keys come again and again from a short stream, so that the stream itself stays in a near cache.
        let count = self.checks_of_a_thread().min(64 * self.clients as usize).max(BATCH);
        (0..self.threads as u64).map(|thread| self.draw.stream(self.clients_of(thread), count, thread)).collect()
    }

    pub fn checks_of_a_thread(&self) -> usize {
        let checks = if self.fresh() { self.clients as usize } else { self.checks };
        checks / self.threads
    }

    fn clients_of(&self, thread: u64) -> Range<u64> {
        let share = self.clients / self.threads as u64;
        if share == 0 { 0..self.clients } else { thread * share..(thread + 1) * share }
    }
}
