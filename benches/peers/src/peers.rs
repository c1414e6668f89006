//! Who takes part: a file for each, and [`all`].

mod aerorate;
mod floor;
mod governor;
mod maps;
mod nothing;
mod pingora;
mod rate_net;
mod slidegate;
mod step;
mod timer;
mod trypema;

use crate::{
    contender::{Contender, Pace},
    keys,
    workload::Workload,
};
use ::slidegate::Quota;
use serde::Serialize;
use std::fmt;

/// The ones that all others are compared with.
pub const GOVERNOR: &str = "governor";
pub const FLOOR: &str = "floor";
pub const FLOOR_CACHED: &str = "floor-cached";

/// A key that every one of them takes.
pub trait Key: keys::Key + rate_net::Named {}

impl<K: keys::Key + rate_net::Named> Key for K {}

/// All, in the order of the tables: by the clock that they read.
pub fn all<K: Key>() -> Vec<Entry<K>> {
    let mut all = Vec::new();
    all.extend(slidegate::entries());
    all.extend(governor::entries());
    all.extend(maps::entries());
    all.extend(floor::entries());
    all.extend(aerorate::entries());
    all.extend(rate_net::entries());
    all.extend(trypema::entries());
    all.extend(pingora::entries());
    all.extend(nothing::entries());
    all.sort_by_key(|entry| entry.clock);
    all
}

/// One that takes part.
pub struct Entry<K> {
    pub name: &'static str,
    pub clock: Clock,
    pub notes: &'static [Note],
    pub build: fn(Setup) -> Box<dyn Contender<K>>,
}

impl<K> Entry<K> {
    fn new(
        name: &'static str,
        clock: Clock,
        notes: &'static [Note],
        build: fn(Setup) -> Box<dyn Contender<K>>,
    ) -> Entry<K> {
        Entry { name, clock, notes, build }
    }

    pub fn is(&self, note: Note) -> bool {
        self.notes.contains(&note)
    }

    /// Whether this one has something to say in a workload.
    pub fn suits(&self, workload: &Workload) -> bool {
        let stamped = workload.pace == Pace::Stamped;
        (!self.is(Note::NoLimiter) || stamped)
            // The thread behind such a clock would be seen in the slowest checks of everyone else.
            && (self.clock != Clock::Cached || !stamped)
            && (!self.is(Note::InBatches) || workload.pace == Pace::BackToBack)
            && (!self.is(Note::OneClient) || workload.clients == 1)
            && (!workload.of_logs || self.is(Note::Log) || self.name == GOVERNOR)
            && (!self.is(Note::Log) || workload.quota.limit() <= LONGEST_LOG)
    }
}

/// Who needs a log for limits above this is beyond help.
const LONGEST_LOG: u64 = 1_000;

/// What a limiter is built for.
#[derive(Clone, Copy)]
pub struct Setup {
    pub quota: Quota,
    pub clients: usize,
}

/// What is read at each check.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// The processor's counter, where the platform has a steady one.
    Counter,
    /// [`std::time::Instant`].
    System,
    /// A word that a thread writes each millisecond.
    Cached,
    None,
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Clock::Counter => "counter",
            Clock::System => "system",
            Clock::Cached => "cached",
            Clock::None => "none",
        })
    }
}

/// What sets one apart from a limiter that keeps every client and its key, and answers exactly.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    HashOnly,
    FixedSize,
    Log,
    InBatches,
    Sketch,
    OneClient,
    NoLimiter,
}

impl Note {
    pub fn letter(self) -> char {
        match self {
            Note::HashOnly => 'h',
            Note::FixedSize => 'f',
            Note::Log => 'l',
            Note::InBatches => 'b',
            Note::Sketch => 's',
            Note::OneClient => 'o',
            Note::NoLimiter => 'n',
        }
    }

    pub fn meaning(self) -> &'static str {
        match self {
            Note::HashOnly => "knows a client by a 64-bit hash, and does not keep its key",
            Note::FixedSize => "made for so many clients once and for all: never grows, forgets nobody",
            Note::Log => "keeps the time of every request; only where the limit is 1,000 or less",
            Note::InBatches => "asks for sixteen keys at a time, at one reading of the clock",
            Note::Sketch => "keeps no client: counts are shared, and answers are wrong where clients are many",
            Note::OneClient => "for a single client, looks up no key",
            Note::NoLimiter => "allows everything: what the loop and the stamps cost by themselves",
        }
    }
}
