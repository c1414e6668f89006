//! [`Outcome`]: an algorithm, measured.

use super::{
    keys::Keys,
    latency::{self, Latency},
    load::Load,
    throughput::{self, Throughput},
};
use crate::{algorithm::Algorithm, failure::Failure, progress::Progress, text::grouped};
use slidegate::{BuildError, Builder, Limiter};

/// What an algorithm did.
#[derive(Debug)]
pub(super) struct Outcome {
    /// In the phase without stamps.
    pub(super) throughput: Throughput,
    /// The bytes that its table took at the end of that phase.
    pub(super) bytes: usize,
    /// The clients of which something was remembered then.
    pub(super) tracked: usize,
    /// In the phase with stamps.
    pub(super) latency: Latency,
}

/// What a bench does with them.
impl Algorithm {
    /// Whether a limiter for this load can be built; the error says what to change.
    pub(super) fn try_load(self, load: &Load) -> Result<(), Failure> {
        match self {
            Algorithm::Log => sized(Limiter::log(load.quota), load).build().map(drop),
            Algorithm::Counter => sized(Limiter::counter(load.quota), load).build().map(drop),
            Algorithm::Fixed => sized(Limiter::fixed_window(load.quota), load).build().map(drop),
        }
        .map_err(|error| self.unusable(error))
    }

    /// Measures the algorithm.
    pub(super) fn measure(self, load: &Load, keys: &Keys, progress: &Progress) -> Result<Outcome, Failure> {
        match self {
            Algorithm::Log => self.phases(|| Limiter::log(load.quota), load, keys, progress),
            Algorithm::Counter => self.phases(|| Limiter::counter(load.quota), load, keys, progress),
            Algorithm::Fixed => self.phases(|| Limiter::fixed_window(load.quota), load, keys, progress),
        }
    }

    fn phases<A: slidegate::Algorithm + Send + Sync>(
        self,
        builder: impl Fn() -> Builder<u64, A>,
        load: &Load,
        keys: &Keys,
        progress: &Progress,
    ) -> Result<Outcome, Failure> {
        // A new one for each phase: what the first has used up, the second would only refuse.
        let limiter = || sized(builder(), load).build().map_err(|error| self.unusable(error));
        let first = limiter()?;
        let throughput = throughput::measure(&first, load, keys, progress)?;
        let (bytes, tracked) = (first.bytes_in_use(), first.tracked());
        drop(first);
        let latency = latency::measure(&limiter()?, load, keys, progress)?;
        Ok(Outcome { throughput, bytes, tracked, latency })
    }

    /// Why a limiter cannot be built, in terms of the options.
    fn unusable(self, error: BuildError) -> Failure {
        let name = self.name();
        Failure::unusable(match error {
            BuildError::TooManyClients { max_clients, bytes, .. } => {
                let bytes = bytes.map_or("more than there can be".to_owned(), |bytes| grouped(bytes as u64));
                let fewer = if max_clients > 0 { format!("--clients {max_clients}, ") } else { String::new() };
                format!(
                    "--algorithm {name}: the table could take {bytes} bytes, and 4 GiB are allowed: use {fewer}a smaller \
                     limit or another algorithm"
                )
            }
            other => format!("--limit: {name}: {other}"),
        })
    }
}

fn sized<A: slidegate::Algorithm>(builder: Builder<u64, A>, load: &Load) -> Builder<u64, A> {
    builder.max_clients(load.clients as usize)
}
