//! What is read, and what is said about input that cannot be.

use crate::tool::{file, replay, report};
use flate2::{Compression, write::GzEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::{ffi::OsString, io::Write};

const SMALL: &[u8] = b"t_ms,client\n0,a\n1,a\n2,b\n";

fn gz(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn zst(plain: &[u8]) -> Vec<u8> {
    compress_to_vec(plain, CompressionLevel::Fastest)
}

fn access_line(client: &str, date: &str) -> String {
    format!("{client} - - [{date}] \"GET / HTTP/1.1\" 200 12\n")
}

/// A CSV longer than what is read at once, whose bytes do not compress away.
fn long_csv() -> Vec<u8> {
    let mut text = b"t_ms,client\n".to_vec();
    for row in 0..100_000_u64 {
        writeln!(text, "{row},{:x}", row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40).unwrap();
    }
    text
}

#[test]
fn compression_shows_in_the_bytes_and_not_in_the_name() {
    let plain = report("1/1s", SMALL);
    assert_eq!(plain["rows"], 3);
    assert_eq!(report("1/1s", &gz(SMALL)), plain);
    assert_eq!(report("1/1s", &zst(SMALL)), plain);
    let named_wrong = file("named-wrong.csv", &gz(SMALL));
    let mut from_file = replay(&["--limit", "1/1s", "--json", named_wrong.to_str().unwrap()], b"").json();
    from_file["input"] = plain["input"].clone();
    assert_eq!(from_file, plain);
}

#[test]
fn no_row_is_lost_in_a_long_file() {
    let text = long_csv();
    let plain = report("1/1s", &text);
    assert_eq!((&plain["rows"], &plain["span_ms"]), (&100_000.into(), &99_999.into()));
    assert_eq!(report("1/1s", &gz(&text)), plain);
    assert_eq!(report("1/1s", &zst(&text)), plain);
}

#[test]
fn all_members_and_frames_are_read() {
    for pack in [gz, zst] {
        let parts = [pack(b"t_ms,client\n0,a\n1"), pack(b""), pack(b",a\n2,b\n")].concat();
        assert_eq!(report("1/1s", &parts), report("1/1s", SMALL));
    }
}

#[test]
fn a_cut_file_gives_no_result() {
    let text = long_csv();
    for (name, packed) in [("cut.gz", gz(&text)), ("cut.zst", zst(&text))] {
        assert!(packed.len() > 100_000, "long enough to be read in several parts");
        for length in [5, packed.len() / 2, packed.len() - 1] {
            let path = file(name, &packed[..length]);
            let run = replay(&["--limit", "1/1s", path.to_str().unwrap()], b"");
            assert!(run.one_line(2).contains(&format!("{name}: the compressed data ends too early")), "{run:?}");
        }
    }
}

#[test]
fn a_damaged_file_gives_no_result() {
    let mut packed = gz(SMALL);
    let checksum = packed.len() - 8;
    packed[checksum] ^= 1;
    assert!(replay(&["--limit", "1/1s", "-"], &packed).one_line(2).starts_with("slidegate: -: "));
}

#[test]
fn input_without_requests_is_said() {
    for (input, said) in [
        (&b""[..], "the input has no requests"),
        (b"\n\r\n\n", "the input has no requests"),
        (b"\xef\xbb\xbf", "the input has no requests"),
        (b"t_ms,client\n", "the input has no requests"),
        (&gz(b""), "the input has no requests"),
    ] {
        assert!(replay(&["--limit", "1/1s", "-"], input).one_line(2).contains(said));
    }
    let run = replay(&["--limit", "1/1s", "-"], b"t_ms,client\nx,a\n,b\n");
    assert!(run.failure(2).ends_with("the input has no requests, only bad lines (2)"), "{run:?}");
}

#[test]
fn files_that_cannot_be_read_are_said() {
    let missing = replay(&["--limit", "1/1s", "no-such-file.csv"], b"");
    assert!(missing.one_line(2).starts_with("slidegate: no-such-file.csv: "), "{missing:?}");
    let folder = replay(&["--limit", "1/1s", env!("CARGO_TARGET_TMPDIR")], b"");
    assert!(folder.one_line(2).contains(env!("CARGO_TARGET_TMPDIR")), "{folder:?}");
    let odd = replay(&["--limit", "1/1s", "no\u{1b}[31m.csv"], b"");
    assert!(odd.one_line(2).starts_with("slidegate: no\\u{1b}[31m.csv: "), "{odd:?}");
}

#[test]
fn unknown_formats_are_said() {
    for input in ["hello\nworld\n", "{\"t_ms\": 1}\n", "\u{1}\u{2}\u{3}", "t_ms client\n1 a\n"] {
        assert!(replay(&["--limit", "1/1s", "-"], input.as_bytes()).one_line(2).contains("unknown format"), "{input}");
    }
}

#[test]
fn columns_are_found_by_name() {
    let input = b"status,when_us,\"api key\"\n200,1000,\"a, \"\"b\"\"\"\n200,2000,c\n";
    let missing = replay(&["--limit", "1/1s", "-"], input);
    assert!(missing.one_line(2).contains("no column `t_ms` in the header `status,when_us,\"api key\"`"), "{missing:?}");
    assert!(missing.err.contains("--time-column") && missing.err.contains("--key-column"));

    let args = ["--limit", "1/1s", "--json", "--time-column", "when_us", "--key-column", "api key", "-"];
    let found = replay(&args, input).json();
    assert_eq!((&found["rows"], &found["span_ms"], &found["bad_lines"]), (&2.into(), &1.into(), &0.into()));
    assert_eq!(found["algorithms"]["log"]["max_client"], "a, \"b\"");
}

#[test]
fn the_unit_of_the_time_is_never_guessed() {
    let input = b"time,client\n1700000000,a\n1700000002,a\n";
    let unsaid = replay(&["--limit", "1/1s", "--time-column", "time", "-"], input);
    assert!(unsaid.one_line(2).contains("--time-unit"), "{unsaid:?}");
    for (unit, span) in [("s", 2_000.0), ("ms", 2.0), ("us", 0.002), ("ns", 0.000_002)] {
        let args = ["--limit", "1/1s", "--json", "--time-column", "time", "--time-unit", unit, "-"];
        assert_eq!(replay(&args, input).json()["span_ms"].as_f64(), Some(span), "{unit}");
    }
    // What is said wins over the name.
    let args = ["--limit", "1/1s", "--json", "--time-unit", "s", "-"];
    assert_eq!(replay(&args, b"t_ms,client\n1,a\n3,a\n").json()["span_ms"], 2_000);
}

#[test]
fn rfc3339_dates_in_a_column() {
    let input =
        b"time,client\n2024-02-29T23:59:59.5Z,a\n2024-03-01T02:00:00+02:00,a\n2024-02-29T23:59:59,a\n1709251199,a\n";
    let run = replay(&["--limit", "1/1s", "--json", "--time-column", "time", "-"], input);
    assert_eq!(
        run.err,
        "-:4: the time is no RFC 3339 date with an offset: `2024-02-29T23:59:59`\n\
         -:5: the time is no RFC 3339 date with an offset: `1709251199`\n"
    );
    let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&report["rows"], &report["span_ms"], &report["resolution_ms"]), (&2.into(), &500.into(), &1.into()));
}

#[test]
fn access_log_dates_are_instants() {
    // The same second three times, then an odd one: the leap second counts as the one before it.
    let dates = [
        "01/Jan/2017:00:59:59 +0100",
        "31/Dec/2016:23:59:59 +0000",
        "31/Dec/2016:20:29:59 -0330",
        "31/Dec/2016:23:59:60 +0000",
        "01/Jan/2017:00:00:00 +0000",
    ];
    let log: String = dates.iter().map(|date| access_line("192.0.2.1", date)).collect();
    let found = report("2/1s", log.as_bytes());
    assert_eq!((&found["span_ms"], &found["out_of_order"]), (&1_000.into(), &0.into()));
    assert_eq!(found["algorithms"]["log"]["refused"], 3);

    let odd = ["29/Feb/2023:10:00:00 +0000", "31/Nov/2024:10:00:00 +0000", "01/Jan/2024:25:00:00 +0000"];
    let log: String = odd.iter().chain(&dates[..1]).map(|date| access_line("192.0.2.1", date)).collect();
    let run = replay(&["--limit", "2/1s", "--format", "access-log", "-"], log.as_bytes());
    assert_eq!(run.code, Some(0));
    for (number, date) in (1..).zip(odd) {
        assert!(run.err.contains(&format!("-:{number}: no such date: `{date}`\n")), "{run:?}");
    }
}

#[test]
fn common_and_combined_lines_and_what_is_neither() {
    let common = access_line("2001:db8::1", "14/May/2024:09:00:00 +0000");
    let combined = format!("{} \"https://example.org/\" \"curl \\\"8\\\"\"\n", common.trim_end());
    let broken = common.replace(" 200 12", " 200 ");
    let log = [&common, &combined, &broken, "\n", &common].concat();
    let run = replay(&["--limit", "2/1s", "--json", "-"], log.as_bytes());
    assert_eq!(run.err.lines().count(), 1, "{run:?}");
    assert!(run.err.starts_with("-:3: not an access log line (no status and size after the request): `2001:db8::1"));
    let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&report["rows"], &report["bad_lines"]), (&3.into(), &1.into()));
}

#[test]
fn any_line_end_and_a_byte_order_mark() {
    let mixed = b"\xef\xbb\xbft_ms,client\r\n0,a\n1,a\r\n\r\n2,b";
    assert_eq!(report("1/1s", mixed), report("1/1s", SMALL));
}

#[test]
fn clients_are_bytes() {
    let input = b"t_ms,client\n0,\xff\n1,\xff\n2,\xfe\n3,\xc3\xa9\n";
    let found = report("5/1s", input);
    assert_eq!((&found["clients"], &found["algorithms"]["log"]["max_client"]), (&3.into(), &"\u{fffd}".into()));
    let table = replay(&["--limit", "5/1s", "-"], input);
    assert!(table.out.contains("\\xff"), "{table:?}");
}

#[test]
fn a_line_of_a_megabyte() {
    let long = "x".repeat(1_000_000);
    let input = format!("t_ms,client\n0,{long}\n{long}\n1,{long}\n2,{long}y\n");
    let run = replay(&["--limit", "1/1s", "--json", "-"], input.as_bytes());
    assert!(run.err.starts_with("-:3: the row does not have 2 fields as the header does, but 1: `xxx"), "{}", run.err);
    assert!(run.err.len() < 300, "{}", run.err.len());
    let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&report["rows"], &report["clients"]), (&3.into(), &2.into()));
    assert_eq!(report["algorithms"]["log"]["max_client"], long);
    let table = replay(&["--limit", "1/1s", "-"], input.as_bytes());
    assert!(table.out.len() < 2_000, "{}", table.out.len());
}

#[test]
fn bad_lines_are_counted_from_the_start_of_each_file() {
    let first = file("bad-1.csv", b"t_ms,client\n0,a\nx,a\n\n1\n");
    let second = file("bad-2.csv", b"t_ms,client\r\n5,\r\n7,b\r\n8,\"c\r\n");
    let paths = [&first, &second].map(|path| path.to_str().unwrap());
    let run = replay(&["--limit", "1/1s", "--json", paths[0], paths[1]], b"");
    assert_eq!(run.code, Some(0));
    let reasons = [
        (paths[0], 3, "the time is no number: `x`"),
        (paths[0], 5, "the row does not have 2 fields as the header does, but 1: `1`"),
        (paths[1], 2, "the client is empty"),
        (paths[1], 4, "a quote is not closed on its line: `8,\"c`"),
    ];
    let said: Vec<&str> = run.err.lines().collect();
    assert_eq!(said.len(), reasons.len(), "{run:?}");
    for (said, (path, number, reason)) in said.into_iter().zip(reasons) {
        assert_eq!(said, format!("{path}:{number}: {reason}"));
    }
    let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&report["rows"], &report["bad_lines"]), (&2.into(), &4.into()));
}

#[test]
fn too_many_bad_lines_end_the_run() {
    let bad = |count: usize| format!("t_ms,client\n0,a\n{}1,a\n", "x,a\n".repeat(count));
    let enough = replay(&["--limit", "1/1s", "-"], bad(100).as_bytes());
    assert_eq!((enough.code, enough.err.lines().count()), (Some(0), 100));
    assert!(enough.out.contains("note: 100 bad lines left out"), "{enough:?}");

    let too_many = replay(&["--limit", "1/1s", "-"], bad(5_000).as_bytes());
    let said = too_many.failure(1);
    assert_eq!(said.lines().count(), 102);
    assert_eq!(said.lines().last(), Some("slidegate: more bad lines than --max-errors 100 allows; stopped there"));

    let none = replay(&["--limit", "1/1s", "--max-errors", "0", "-"], bad(1).as_bytes());
    assert!(none.failure(1).starts_with("-:3: "), "{none:?}");
    assert_eq!(replay(&["--limit", "1/1s", "--max-errors", "0", "-"], SMALL).code, Some(0));
    assert_eq!(replay(&["--limit", "1/1s", "--max-errors", "5000", "-"], bad(5_000).as_bytes()).code, Some(0));
}

#[test]
fn several_files_are_one_input() {
    let first = file("part-1.csv", b"t_ms,client\n5,a\n9,b\n");
    let second = file("part-2.csv.gz", &gz(b"client,t_ms\na,6\na,0\n"));
    let empty = file("part-3.csv", b"");
    let paths = [first, second, empty].map(|path| path.to_str().unwrap().to_owned());
    let args = ["--limit", "2/1s", "--json", &paths[0], &paths[1], &paths[2]];
    let mut several = replay(&args, b"").json();
    assert_eq!(several["input"], serde_json::json!(paths));
    let mut one = report("2/1s", b"t_ms,client\n5,a\n9,b\n6,a\n0,a\n");
    several["input"].take();
    one["input"].take();
    assert_eq!(several, one);
    assert_eq!(several["out_of_order"], 2);
}

#[test]
fn rows_with_equal_stamps_keep_their_order() {
    let found = report("1/1s", b"t_ms,client\n5,late\n0,first\n0,second\n0,first\n");
    assert_eq!(found["algorithms"]["log"]["max_client"], "first");
    assert_eq!((&found["algorithms"]["log"]["refused"], &found["out_of_order"]), (&1.into(), &3.into()));
}

#[test]
fn stamps_before_zero_and_far_from_it() {
    let found = report("1/1s", b"t_ms,client\n-9000000000000,a\n9000000000000,a\n");
    assert_eq!(found["span_ms"], 18_000_000_000_000_u64);
    let run = replay(&["--limit", "1/1s", "-"], b"t_ms,client\n0,a\n9999999999999999,a\n");
    assert!(run.err.starts_with("-:3: the time is more than 292 years from zero"), "{run:?}");
}

#[cfg(unix)]
#[test]
fn names_of_files_are_bytes_too() {
    use std::os::unix::ffi::OsStringExt;
    let name = OsString::from_vec(b"no-such-\xff.csv".to_vec());
    let run = replay(&["--limit".into(), "1/1s".into(), name], b"");
    assert!(run.one_line(2).starts_with("slidegate: no-such-\\xff.csv: "), "{run:?}");
}
