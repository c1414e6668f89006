//! [`Millis`]: a time, as JSON has it.

use serde::{Serialize, Serializer};

/// A time in nanoseconds; in JSON a number of milliseconds, whole where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Millis(pub(crate) u128);

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NANOS: u128 = 1_000_000;
        match u64::try_from(self.0 / NANOS) {
            Ok(millis) if self.0.is_multiple_of(NANOS) => serializer.serialize_u64(millis),
            // The nearest double: to the nanosecond for the first 100 days.
            _ => serializer.serialize_f64(self.0 as f64 / NANOS as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_whole_where_they_are() {
        let json = |nanos| serde_json::to_string(&Millis(nanos)).unwrap();
        assert_eq!(json(0), "0");
        assert_eq!(json(60_000_000_000), "60000");
        assert_eq!(json(1_500_000), "1.5");
        assert_eq!(json(1), "1e-6");
        assert_eq!(json(u128::from(u64::MAX)), "18446744073709.55");
    }
}
