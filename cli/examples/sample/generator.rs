//! Made-up traffic, the same bytes on every machine: whole numbers and a generator of our own.

use std::fmt::Write;

/// The CSV sample: ten minutes of steady clients, clients that come in bursts, and `edge`, who knows where the windows
/// of 10 s begin and spends a limit of 20 on both sides of the boundary.
pub(crate) fn csv() -> String {
    const SPAN: u64 = 600_000;
    let mut random = Random(1);
    let mut rows = vec![(0, "steady-00".to_owned())];
    for number in 0..16 {
        let client = format!("steady-{number:02}");
        let pause = random.between(2_000, 6_000);
        let mut time = random.below(pause);
        while time < SPAN {
            rows.push((time, client.clone()));
            time += pause / 2 + random.below(pause);
        }
    }
    for number in 0..6 {
        let client = format!("bursty-{number:02}");
        let mut time = random.below(30_000);
        while time < SPAN {
            for _ in 0..random.between(5, 30) {
                rows.push((time, client.clone()));
                time += random.between(1, 250);
            }
            time += random.between(5_000, 60_000);
        }
    }
    for boundary in (20_000..SPAN).step_by(20_000) {
        let before = (0..20).map(|_| boundary - random.between(1, 400));
        let before: Vec<u64> = before.collect();
        let after = (0..20).map(|_| boundary + random.below(400));
        rows.extend(before.into_iter().chain(after).map(|time| (time, "edge".to_owned())));
    }
    rows.sort();
    let mut text = "t_ms,client\n".to_owned();
    for (time, client) in rows {
        let _ = writeln!(text, "{time},{client}");
    }
    text
}

/// The access log sample: two hours of a small site in Combined Log Format. Servers write a line when the answer is
/// sent, with the time at which the request came, so some lines stand behind a later one.
pub(crate) fn access_log() -> String {
    const SPAN: u64 = 2 * 60 * 60 * 1000;
    let mut random = Random(2);
    let mut lines = Vec::new();
    for number in 0..60 {
        let visitor = match number % 4 {
            0 => format!("192.0.2.{}", number + 1),
            1 => format!("198.51.100.{}", number + 1),
            2 => format!("203.0.113.{}", number + 1),
            _ => format!("2001:db8:{:x}::{number:x}", random.below(0x1_0000)),
        };
        let agent = random.pick(&[
            "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)",
            "curl/8.7.1",
            "Example Reader \\\"home edition\\\" 1.2",
        ]);
        for _ in 0..random.between(1, 6) {
            let mut time = random.below(SPAN);
            for _ in 0..random.between(1, 25) {
                lines.push(line(&mut random, time, &visitor, agent));
                time += random.between(50, 8_000);
            }
        }
    }
    // Somebody tries passwords, fast.
    let mut time = 30 * 60 * 1000;
    for _ in 0..600 {
        let request = ("POST", "/login", 401, 180);
        lines.push(entry(&mut random, time, "203.0.113.250", request, "python-requests/2.32"));
        time += random.between(20, 900);
    }
    lines.retain(|&(_, start, _)| start < SPAN);
    lines.sort();
    lines.into_iter().map(|(_, _, line)| line).collect()
}

type Line = (u64, u64, String);

fn line(random: &mut Random, time: u64, visitor: &str, agent: &str) -> Line {
    let path = random.pick(&["/", "/about", "/articles/sliding-windows", "/style.css", "/logo.svg", "/search?q=a%20b"]);
    let (status, size) = match random.below(20) {
        0 => (404, 153),
        1 => (304, 0),
        _ => (200, random.between(400, 60_000)),
    };
    entry(random, time, visitor, ("GET", path, status, size), agent)
}

/// The end of the request, its start and its line.
fn entry(random: &mut Random, start: u64, visitor: &str, request: (&str, &str, u16, u64), agent: &str) -> Line {
    let (method, path, status, size) = request;
    let size = if size == 0 { "-".to_owned() } else { size.to_string() };
    let second = start / 1000;
    let date = format!("14/May/2024:{:02}:{:02}:{:02} +0200", 9 + second / 3600, second / 60 % 60, second % 60);
    let line = format!("{visitor} - - [{date}] \"{method} {path} HTTP/1.1\" {status} {size} \"-\" \"{agent}\"\n");
    let slow = if random.below(50) == 0 { random.between(1_000, 5_000) } else { random.below(80) };
    (start + slow, start, line)
}

/// SplitMix64, by its definition.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Less than `end`; the bias is of no matter here.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn between(&mut self, first: u64, end: u64) -> u64 {
        first + self.below(end - first)
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        let place = self.below(all.len() as u64);
        all[usize::try_from(place).expect("less than a length")]
    }
}
