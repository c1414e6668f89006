//! The algorithms that a trace can be replayed through.

use super::run::Run;
use crate::{failure::Failure, progress::Progress, trace::Trace};
use slidegate::{BuildError, Gate, Limiter, Quota};

pub(super) use crate::algorithm::Algorithm;

/// What a replay does with them.
impl Algorithm {
    /// Whether the algorithm can keep this quota; the error says what to change.
    pub(super) fn try_quota(self, quota: Quota) -> Result<(), BuildError> {
        match self {
            Algorithm::Log => Gate::try_log(quota).map(drop),
            Algorithm::Counter => Gate::try_counter(quota).map(drop),
            Algorithm::Fixed => Gate::try_fixed_window(quota).map(drop),
        }
    }

    /// Replays the trace through a limiter for so many clients.
    pub(super) fn run(
        self,
        quota: Quota,
        max_clients: usize,
        trace: &Trace,
        progress: &Progress,
    ) -> Result<Run, Failure> {
        let run = match self {
            Algorithm::Log => Run::new(Limiter::log(quota), quota, max_clients, trace, progress),
            Algorithm::Counter => Run::new(Limiter::counter(quota), quota, max_clients, trace, progress),
            Algorithm::Fixed => Run::new(Limiter::fixed_window(quota), quota, max_clients, trace, progress),
        };
        let unusable = |reason: String| Failure::unusable(format!("{}: {reason}", self.name()));
        match run {
            // A table for all clients does not get full: 8 standard deviations of how unevenly hashes fall are spare.
            // What is answered the same is an allocation that failed.
            Ok(run) if run.full > 0 && max_clients >= trace.names.len() => Err(unusable("out of memory".to_owned())),
            Ok(run) => Ok(run),
            Err(error) => Err(unusable(way_out(error))),
        }
    }
}

/// What to change where a limiter cannot be built.
fn way_out(error: BuildError) -> String {
    match error {
        // Its own way out is `max_bytes`, and that is as large as can be.
        BuildError::TooManyClients { asked, max_clients, .. } => {
            let fewer = if max_clients > 0 { format!("--max-clients {max_clients}, or ") } else { String::new() };
            format!(
                "a table for {asked} clients is larger than the address space when full: use {fewer}a smaller limit"
            )
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_beyond_the_address_space_names_the_options() {
        let error = |max_clients| BuildError::TooManyClients { asked: 5_000, max_clients, bytes: None, cells: true };
        let said = "a table for 5000 clients is larger than the address space when full: use ";
        assert_eq!(way_out(error(683)), format!("{said}--max-clients 683, or a smaller limit"));
        assert_eq!(way_out(error(0)), format!("{said}a smaller limit"));
    }
}
