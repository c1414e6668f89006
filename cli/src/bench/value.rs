//! Values of options that are no whole numbers.

use std::time::Duration;

/// The exponent of Zipf's law.
pub(super) fn skew(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(skew) if (0.0..=100.0).contains(&skew) => Ok(skew),
        _ => Err("use a number from 0 (all clients alike) to 100, as in 1.1".to_owned()),
    }
}

/// How long a phase lasts.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(seconds) if (0.001..=3_600.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("use seconds from 0.001 to 3600, as in 0.5".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_used() {
        assert_eq!(["0", "1.1", "1e2"].map(|text| skew(text).unwrap()), [0.0, 1.1, 100.0]);
        assert_eq!(["0.001", "2", "3600"].map(|text| seconds(text).unwrap().as_millis()), [1, 2_000, 3_600_000]);
        for text in ["", "-1", "nan", "inf", "1e3000", "one"] {
            assert!(skew(text).is_err() && seconds(text).is_err(), "{text}");
        }
        assert!(seconds("0").is_err() && seconds("3601").is_err() && skew("100.1").is_err());
    }
}
