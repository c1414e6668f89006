//! [`Load`]: who asks, how often, and under which limit.

use super::Args;
use slidegate::Quota;
use std::{num::NonZero, thread, time::Duration};

/// Who asks, how often, and under which limit; the same for every algorithm.
#[derive(Debug)]
pub(super) struct Load {
    /// The limit of each client.
    pub(super) quota: Quota,
    /// Clients that ask.
    pub(super) clients: u32,
    /// The exponent of Zipf's law.
    pub(super) skew: f64,
    /// Threads that ask.
    pub(super) threads: usize,
    /// Cores that this process may use.
    pub(super) cores: usize,
    /// How long a phase lasts.
    pub(super) time: Duration,
    /// Requests per second of the latency phase; `None`: as fast as they can.
    pub(super) rate: Option<u64>,
}

impl Load {
    /// The load that the arguments ask for.
    pub(super) fn new(quota: Quota, args: &Args) -> Load {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Load {
            quota,
            clients: args.clients,
            skew: args.skew,
            threads: args.threads.map_or(cores, usize::from),
            cores,
            time: args.seconds,
            rate: args.rate,
        }
    }
}
