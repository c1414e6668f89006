//! [`Report`]: the result of a replay, as `--json` prints it.

use super::{algorithm::Algorithm, run::Run, tally::Tally};
use crate::{input::Input, trace::Trace};
use serde::{Serialize, Serializer};
use slidegate::Quota;

pub(super) use crate::millis::Millis;

/// The result of a replay. The fields and their order are the JSON's.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// The files as they were named.
    pub(super) input: Vec<String>,
    /// Requests read.
    pub(super) rows: u64,
    /// Clients that made them.
    pub(super) clients: u64,
    /// From the first request to the last.
    #[serde(rename = "span_ms")]
    pub(super) span: Millis,
    /// The step that all stamps are multiples of.
    #[serde(rename = "resolution_ms")]
    pub(super) resolution: Millis,
    /// Units per window.
    pub(super) limit: u64,
    /// The length of the window.
    #[serde(rename = "window_ms")]
    pub(super) window: Millis,
    /// What each algorithm did, under its name.
    #[serde(rename = "algorithms", serialize_with = "by_name")]
    pub(super) contenders: Vec<Contender>,
    /// Lines that were reported and left out.
    pub(super) bad_lines: u64,
    /// Rows that had to be sorted: they stood behind a later one.
    pub(super) out_of_order: u64,
    /// What was replayed, for the eye.
    #[serde(skip)]
    pub(super) quota: Quota,
    /// The first stamp, in nanoseconds since the Unix epoch, where all stamps are dates.
    #[serde(skip)]
    pub(super) origin: Option<i64>,
}

/// What one algorithm did.
#[derive(Debug, Serialize)]
pub(super) struct Contender {
    /// Which one it is.
    #[serde(skip)]
    pub(super) algorithm: Algorithm,
    /// Requests allowed.
    pub(super) allowed: u64,
    /// Requests refused.
    pub(super) refused: u64,
    /// Refused, of all: 0 to 1.
    pub(super) refused_share: f64,
    /// Clients refused at least once.
    pub(super) clients_refused: u64,
    /// The most units that one client was allowed in any closed window.
    pub(super) max_in_window: u64,
    /// Who that was first.
    pub(super) max_client: Option<Client>,
    /// When, since the first request.
    #[serde(rename = "max_at_ms")]
    pub(super) max_at: Option<Millis>,
    /// Requests answered unlike the exact log.
    pub(super) disagree: u64,
    /// Requests turned away at a full table; they are refused, too.
    pub(super) full: u64,
    /// Clients turned away at least once.
    pub(super) clients_full: u64,
    /// The most bytes that the limiter took.
    pub(super) max_bytes: usize,
    /// The most clients of which it remembered something at once.
    pub(super) max_tracked: usize,
    /// The one by the other. Not by all clients of the log: of most of them nothing is remembered most of the time, and
    /// the longer the log the less a client would seem to take.
    pub(super) bytes_per_client: Option<f64>,
}

impl Report {
    /// Puts the parts together.
    pub(super) fn new(input: &Input, quota: Quota, contenders: Vec<Contender>) -> Report {
        let trace = &input.trace;
        Report {
            input: input.names.clone(),
            rows: trace.times.len() as u64,
            clients: trace.names.len() as u64,
            span: Millis(trace.span().into()),
            resolution: Millis(trace.resolution.into()),
            limit: quota.limit(),
            window: Millis(quota.window().as_nanos()),
            contenders,
            bad_lines: input.bad_lines,
            out_of_order: trace.out_of_order,
            quota,
            origin: input.dated.then_some(trace.origin),
        }
    }
}

impl Contender {
    /// Names the client of the tally's peak.
    pub(super) fn new(algorithm: Algorithm, run: &Run, tally: &Tally, trace: &Trace) -> Contender {
        let peak = tally.peak;
        let name = |client: u32| trace.names.get_index(client as usize).cloned().unwrap_or_default();
        Contender {
            algorithm,
            allowed: tally.allowed,
            refused: tally.refused,
            refused_share: tally.refused as f64 / (tally.allowed + tally.refused) as f64,
            clients_refused: tally.clients_refused,
            max_in_window: peak.map_or(0, |peak| peak.units),
            max_client: peak.map(|peak| Client(name(peak.client))),
            max_at: peak.map(|peak| Millis(peak.at.into())),
            disagree: tally.disagree,
            full: run.full,
            clients_full: run.clients_full,
            max_bytes: run.max_bytes,
            max_tracked: run.max_tracked,
            bytes_per_client: (run.max_tracked > 0).then(|| run.max_bytes as f64 / run.max_tracked as f64),
        }
    }
}

fn by_name<S: Serializer>(contenders: &[Contender], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(contenders.iter().map(|contender| (contender.algorithm.name(), contender)))
}

/// A name of a client, any bytes; in JSON what is not UTF-8 becomes U+FFFD.
#[derive(Debug)]
pub(super) struct Client(pub(super) Box<[u8]>);

impl Serialize for Client {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&String::from_utf8_lossy(&self.0))
    }
}
