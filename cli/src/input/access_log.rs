//! [`AccessLog`]: the Common and Combined Log Format of web servers.

use super::{
    format::{Format, Request},
    stamp,
};
use crate::escape::Shown;
use memchr::{memchr, memchr_iter, memchr2};

/// `client ident user [date] "request" status bytes`, and after it nothing (Common), `"referer" "agent"` (Combined) or
/// those and one more in quotes (nginx's `main`: the forwarded-for). Quotes hold escapes as in `\"`.
#[derive(Debug)]
pub(super) struct AccessLog;

impl AccessLog {
    /// Whether this is a good line.
    pub(super) fn knows(line: &[u8]) -> bool {
        parse(line).is_ok()
    }
}

impl Format for AccessLog {
    fn request<'l>(&'l mut self, line: &'l [u8]) -> Result<Option<Request<'l>>, String> {
        if line.is_empty() {
            return Ok(None);
        }
        parse(line).map(Some)
    }

    fn dated(&self) -> bool {
        true
    }
}

fn parse(line: &[u8]) -> Result<Request<'_>, String> {
    let wrong = |what: &str| format!("not an access log line ({what}): `{}`", Shown(line));
    let client = &line[..memchr(b' ', line).unwrap_or(line.len())];
    if client.is_empty() || client.len() == line.len() {
        return Err(wrong("no client before a space"));
    }
    let (date, rest) = dated(&line[client.len()..]).ok_or_else(|| wrong("no `ident user [date]` after the client"))?;
    let rest = quoted(rest).ok_or_else(|| wrong("no request in quotes after the date"))?;
    let rest = answer(rest).ok_or_else(|| wrong("no status and size after the request"))?;
    if !only_quoted(rest) {
        return Err(wrong("not just `\"referer\" \"agent\"` after the size"));
    }
    Ok(Request { time: stamp::access_log(date)?, client })
}

/// The date of ` ident user [date] …`, and what stands behind it.
fn dated(text: &[u8]) -> Option<(&[u8; 26], &[u8])> {
    memchr_iter(b'[', text).find_map(|bracket| {
        let names = text[..bracket].strip_prefix(b" ")?.strip_suffix(b" ")?;
        let (date, rest) = text[bracket + 1..].split_first_chunk::<26>()?;
        let rest = rest.strip_prefix(b"] ")?;
        are_names(names).then_some((date, rest))
    })
}

/// Whether this is `ident user`. The user's name may have spaces if the ident is `-`, as it is nowadays; otherwise
/// `vhost:80 client - -` would pass, and the site for the client.
fn are_names(text: &[u8]) -> bool {
    match memchr(b' ', text) {
        Some(space) if space > 0 => {
            let (ident, user) = (&text[..space], &text[space + 1..]);
            !user.is_empty() && (ident == b"-" || memchr(b' ', user).is_none())
        }
        _ => false,
    }
}

/// What stands behind a text in quotes.
fn quoted(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text.strip_prefix(b"\"")?;
    loop {
        let end = memchr2(b'"', b'\\', rest)?;
        let after = &rest[end + 1..];
        match rest[end] {
            b'"' => return Some(after),
            _ => rest = after.get(1..)?,
        }
    }
}

/// What stands behind ` 200 2326` or ` 304 -`.
fn answer(text: &[u8]) -> Option<&[u8]> {
    let (status, rest) = text.strip_prefix(b" ")?.split_first_chunk::<3>()?;
    let rest = rest.strip_prefix(b" ")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let size = if digits == 0 { usize::from(rest.starts_with(b"-")) } else { digits };
    (status.iter().all(u8::is_ascii_digit) && size > 0).then(|| &rest[size..])
}

/// None, two or three texts in quotes, each after a space, and nothing else.
fn only_quoted(mut text: &[u8]) -> bool {
    let mut count = 0;
    while let Some(rest) = text.strip_prefix(b" ").and_then(quoted) {
        text = rest;
        count += 1;
    }
    text.is_empty() && matches!(count, 0 | 2 | 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: i64 = 971_211_336_000_000_000;

    fn client(line: &str) -> Result<String, String> {
        let request = parse(line.as_bytes())?;
        assert_eq!(request.time, TIME);
        Ok(String::from_utf8(request.client.to_vec()).unwrap())
    }

    #[test]
    fn good_lines() {
        for (line, expected) in [
            (r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326"#, "127.0.0.1"),
            (
                r#"2001:db8::1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 304 - "-" "curl/8 \"odd\" \\""#,
                "2001:db8::1",
            ),
            (r#"host.example - - [10/Oct/2000:13:55:36 -0700] "-" 400 0 "" """#, "host.example"),
            (r#"a - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5 "-" "curl" "198.51.100.7, 192.0.2.1""#, "a"),
            (r#"a ident user [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5"#, "a"),
            (r#"a - John [x] Doe [10/Oct/2000:13:55:36 -0700] "\x16\x03" 400 0"#, "a"),
        ] {
            assert_eq!(client(line), Ok(expected.to_owned()));
        }
    }

    #[test]
    fn bad_lines_say_what_is_missing() {
        for (line, reason) in [
            ("hello", "no client"),
            (r#" - - [10/Oct/2000:13:55:36 -0700] "GET /" 200 1"#, "no client"),
            (r#"a - [10/Oct/2000:13:55:36 -0700] "GET /" 200 1"#, "ident user"),
            (r#"a  - [10/Oct/2000:13:55:36 -0700] "GET /" 200 1"#, "ident user"),
            (r#"a - - [10/Oct/2000:13:55:36] "GET /" 200 1"#, "ident user"),
            (r#"vhost:80 a - - [10/Oct/2000:13:55:36 -0700] "GET /" 200 1"#, "ident user"),
            (r#"a - - [99/Oct/2000:13:55:36 -0700] "GET /" 200 1"#, "no such date"),
            (r#"a - - [10/Oct/2000:13:55:36 -0700] GET / 200 1"#, "no request"),
            (r#"a - - [10/Oct/2000:13:55:36 -0700] "GET / 200 1"#, "no request"),
            (r#"a - - [10/Oct/2000:13:55:36 -0700] "GET / 200 1\"#, "no request"),
            (r#"a - - [10/Oct/2000:13:55:36 -0700] "GET /"x" 200 1"#, "no status"),
            (r#"a - - [10/Oct/2000:13:55:36 -0700] "GET /" 2000 1"#, "no status"),
            (r#"a - - [10/Oct/2000:13:55:36 -0700] "GET /" 200"#, "no status"),
            (r#"a - - [10/Oct/2000:13:55:36 -0700] "GET /" 200 "#, "no status"),
            (r#"a - - [10/Oct/2000:13:55:36 -0700] "GET /" 200 1 "-""#, "after the size"),
            (r#"a - - [10/Oct/2000:13:55:36 -0700] "GET /" 200 1 "-" "curl"#, "after the size"),
            (r#"a - - [10/Oct/2000:13:55:36 -0700] "GET /" 200 1 "-" "curl" 0.5"#, "after the size"),
            (r#"a - - [10/Oct/2000:13:55:36 -0700] "GET /" 200 1x"#, "after the size"),
        ] {
            let error = client(line).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn no_line_can_be_cut_short_unseen() {
        let line = br#"a - - [10/Oct/2000:13:55:36 -0700] "GET /" 200 123 "-" "curl""#;
        let common = line.len() - r#" "-" "curl""#.len();
        for length in 0..line.len() {
            // A Combined line cut behind its size, or within it, is a good Common line.
            let good = (common - 2..=common).contains(&length);
            assert_eq!(AccessLog::knows(&line[..length]), good, "{}", Shown(&line[..length]));
        }
    }
}
