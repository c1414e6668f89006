//! A user's own test of a rate-limited login, with a clock that the test moves.
//!
//! `cargo test --example testing`, or `cargo run --example testing`

use slidegate::{BuildError, Clock, Counter, FastClock, Limiter, Quota};
use std::time::Duration;

/// Five attempts a minute for each user name; a success clears them. Generic over the clock, so that a test can move it.
struct Login<C> {
    attempts: Limiter<str, Counter, C>,
}

#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Welcome,
    Wrong,
    Wait(Duration),
}

impl<C: Clock> Login<C> {
    fn new(clock: C) -> Result<Login<C>, BuildError> {
        Ok(Login { attempts: Limiter::<str>::counter(Quota::per_minute(5)).clock(clock).build()? })
    }

    fn attempt(&self, user: &str, password: &str) -> Answer {
        let client = self.attempts.client(user);
        if let Some(wait) = client.check().retry_after() {
            return Answer::Wait(wait);
        }
        if password != "correct horse" {
            return Answer::Wrong;
        }
        client.forget();
        Answer::Welcome
    }
}

fn main() -> Result<(), BuildError> {
    let login = Login::new(FastClock)?;
    for password in ["battery", "staple", "correct horse"] {
        println!("{:?}", login.attempt("ada", password));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use slidegate::ManualClock;

    #[test]
    fn the_sixth_attempt_waits() -> Result<(), BuildError> {
        let clock = ManualClock::new();
        let login = Login::new(clock.clone())?;
        for _ in 0..5 {
            assert_eq!(login.attempt("ada", "guess"), Answer::Wrong);
        }
        let Answer::Wait(wait) = login.attempt("ada", "correct horse") else { panic!("not limited") };
        assert_eq!(login.attempt("grace", "correct horse"), Answer::Welcome, "another user is not held up");
        clock.advance(wait);
        assert_eq!(login.attempt("ada", "correct horse"), Answer::Welcome);
        assert_eq!(login.attempt("ada", "guess"), Answer::Wrong, "a success cleared the attempts");
        Ok(())
    }
}
