//! [`Algorithm`]: the algorithms of the library, as the command line names them.

/// An algorithm of the library. A new one is one more variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Algorithm {
    /// The exact log
    Log,
    /// Two counts, the older one weighed
    Counter,
    /// One count
    Fixed,
}

impl Algorithm {
    /// Its name on the command line and in the output.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Algorithm::Log => "log",
            Algorithm::Counter => "counter",
            Algorithm::Fixed => "fixed",
        }
    }

    /// The algorithms of a list without those that it names again.
    pub(crate) fn distinct(list: &[Algorithm]) -> Vec<Algorithm> {
        let mut distinct = Vec::new();
        for &algorithm in list {
            if !distinct.contains(&algorithm) {
                distinct.push(algorithm);
            }
        }
        distinct
    }
}
