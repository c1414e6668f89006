//! What is printed, and the exit codes.

use crate::tool::{command, replay, report};
use serde_json::Value;
use std::{io::Write, process::Stdio};

const SMALL: &[u8] = b"t_ms,client\n0,a\n1,a\n2,b\n";

#[test]
fn limits_that_cannot_be_are_said_in_one_line() {
    for limit in
        ["", "5", "5/0s", "5/", "/1s", "-5/1s", "5/1", "5/1y", "5.5/1s", "18446744073709551616/1s", "5/1\u{1b}s"]
    {
        let run = replay(&[&format!("--limit={limit}"), "-"], SMALL);
        assert!(run.one_line(2).starts_with("slidegate: --limit: "), "{run:?}");
        assert!(!run.err.contains('\u{1b}'), "{run:?}");
    }
}

#[test]
fn a_limit_too_large_for_an_algorithm_names_the_way_out() {
    // Two counts of 30 bits leave a counter no room for the number of its window.
    let limit = "1000000000/10ms";
    let said = replay(&["--limit", limit, "--algorithm", "counter", "-"], SMALL);
    assert!(said.one_line(2).contains("counter: use a limit of at most"), "{said:?}");
}

#[test]
fn every_limit_that_the_algorithms_keep_is_replayed() {
    for limit in ["0/1s", "1/1us", "5/250ms", "1000/36500d"] {
        assert_eq!(report(limit, SMALL)["rows"], 3, "{limit}");
    }
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for args in [&["-"][..], &["--limit", "1/1s"], &["--limit", "1/1s", "--algorithm", "abacus", "-"], &["--what"]] {
        assert_eq!(replay(args, SMALL).code, Some(2), "{args:?}");
    }
}

#[test]
fn the_help_tells_the_exit_codes() {
    let run = replay(&["--help"], b"");
    assert_eq!(run.code, Some(0));
    assert!(run.out.contains("Exit codes:") && run.out.contains("--max-errors"), "{run:?}");
    assert!(run.out.contains("\n  3  the result was printed, but clients were turned away"), "{run:?}");
}

#[test]
fn the_json_has_these_fields_in_this_order() {
    let run = replay(&["--limit", "1/60s", "--json", "-"], SMALL);
    let contender = |name: &str, bytes: &str| format!("    \"{name}\": {{\n{FIGURES}\n{bytes}\n    }}");
    const FIGURES: &str = r#"      "allowed": 2,
      "refused": 1,
      "refused_share": 0.3333333333333333,
      "clients_refused": 1,
      "max_in_window": 1,
      "max_client": "a",
      "max_at_ms": 0,
      "disagree": 0,
      "full": 0,
      "clients_full": 0,"#;
    let bytes = |most: u64, each: &str| {
        format!("      \"max_bytes\": {most},\n      \"max_tracked\": 2,\n      \"bytes_per_client\": {each}")
    };
    let (log, word) = (bytes(264, "132.0"), bytes(168, "84.0"));
    let algorithms = [contender("log", &log), contender("counter", &word), contender("fixed", &word)].join(",\n");
    let expected = format!(
        r#"{{
  "input": [
    "-"
  ],
  "rows": 3,
  "clients": 2,
  "span_ms": 2,
  "resolution_ms": 1,
  "limit": 1,
  "window_ms": 60000,
  "algorithms": {{
{algorithms}
  }},
  "bad_lines": 0,
  "out_of_order": 0
}}
"#
    );
    assert_eq!(run.out, expected);
}

#[test]
fn the_table_has_the_same_figures() {
    let input = b"t_ms,client\n1000,b\n0,a\n0,a\n1010,b\n9,\"x\n";
    let run = replay(&["--limit", "1/1s", "--algorithm", "counter,log", "-"], input);
    assert_eq!(
        run.out,
        "\
-: 4 rows, 2 clients, 1s 10ms, stamps in steps of 1ms; limit 1/1s

 algorithm   allowed   refused     share   clients    most in   by   at    unlike   bytes per
                                           refused   a window             the log      client
──────────────────────────────────────────────────────────────────────────────────────────────
 counter           2         2   50.00 %         2          1   a    0s         0          84
 log               2         2   50.00 %         2          1   a    0s         0         132

note: 1 bad line left out, see standard error
note: 2 rows stood behind a later one; all were sorted by time, equal stamps in the order of the input
"
    );
}

/// A thousand clients at once, of which the last comes again, and once more when all others are forgotten.
fn a_thousand_at_once() -> Vec<u8> {
    let rows: String = (1..=1_000).map(|client| format!("0,{client}\n")).collect();
    format!("t_ms,client\n{rows}5,1000\n9000,1000\n").into_bytes()
}

#[test]
fn a_full_table_is_said_everywhere() {
    // The smallest table has room for 896.
    let args = ["--limit", "1/1s", "--max-clients", "1", "--algorithm", "counter,fixed", "-"];
    let run = replay(&args, &a_thousand_at_once());
    assert_eq!(
        run.out,
        "\
-: 1,002 rows, 1,000 clients, 9s, stamps in steps of 1ms; limit 1/1s

 algorithm   allowed   refused     share   clients    most in   by   at    unlike   bytes per     found
                                           refused   a window             the log      client   no room
────────────────────────────────────────────────────────────────────────────────────────────────────────
 counter         897       105   10.48 %       104          1   1    0s       104          19       105
 fixed           897       105   10.48 %       104          1   1    0s       104          19       105

note: who found no room was turned away, and counts as refused; see standard error
"
    );
    assert_eq!(
        (run.code, run.err.as_str()),
        (
            Some(3),
            "slidegate: no room: counter turned away 105 requests of 104 clients, fixed turned away 105 requests of 104 \
             clients; raise --max-clients, now 1, or leave it out to make room for all 1,000\n"
        )
    );
    let json = replay(&[&args[..], &["--json"]].concat(), &a_thousand_at_once());
    assert_eq!((json.code, json.err), (Some(3), run.err));
    let report: Value = serde_json::from_str(&json.out).unwrap();
    for name in ["counter", "fixed"] {
        let figures = &report["algorithms"][name];
        assert_eq!((&figures["full"], &figures["clients_full"]), (&105.into(), &104.into()));
        assert_eq!(figures["max_tracked"], 896);
    }
}

#[test]
fn the_log_is_the_reference_and_has_room_whatever_is_said() {
    let args = ["--limit", "1/1s", "--max-clients", "1", "--algorithm", "log", "--json", "-"];
    let run = replay(&args, &a_thousand_at_once());
    assert_eq!(run.code, Some(3));
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(
        (&report["algorithms"]["log"]["full"], &report["algorithms"]["log"]["disagree"]),
        (&105.into(), &104.into())
    );
}

#[test]
fn room_for_all_is_the_default_and_more_changes_no_answer() {
    let usual = report("1/1s", &a_thousand_at_once());
    for max_clients in ["1000", "4294967295"] {
        let args = ["--limit", "1/1s", "--json", "--max-clients", max_clients, "-"];
        let with = replay(&args, &a_thousand_at_once()).json();
        for name in ["log", "counter", "fixed"] {
            let figures =
                |report: &Value| ["refused", "full", "max_tracked"].map(|key| report["algorithms"][name][key].clone());
            assert_eq!(figures(&usual), [1, 0, 1_000].map(Value::from));
            assert_eq!(figures(&with), figures(&usual));
        }
    }
    for wrong in ["0", "-1", "4294967296", "all"] {
        assert_eq!(replay(&["--limit=1/1s", &format!("--max-clients={wrong}"), "-"], SMALL).code, Some(2), "{wrong}");
    }
}

#[test]
fn bytes_are_of_those_who_are_remembered() {
    // One after the other, so never more than two are remembered at a time, in tables with room for all of them.
    let rows: String = (0..50_000).map(|row| format!("{},{row}\n", 1_000 * row)).collect();
    let found = report("1/1s", format!("t_ms,client\n{rows}").as_bytes());
    for name in ["log", "counter", "fixed"] {
        let figures = &found["algorithms"][name];
        assert!(figures["max_tracked"].as_u64().unwrap() <= 2, "{figures}");
        assert!(figures["max_bytes"].as_u64().unwrap() < 50_000, "less than one byte for each of the log: {figures}");
    }
}

#[test]
fn coarse_stamps_are_noted() {
    let dated = "192.0.2.1 - - [14/May/2024:09:00:01 +0200] \"GET / HTTP/1.1\" 200 12\n";
    let coarse = replay(&["--limit", "5/5s", "-"], dated.as_bytes());
    assert!(coarse.out.contains("note: the stamps are multiples of 1s: too coarse for a window of 5s"), "{coarse:?}");
    assert!(coarse.out.contains("2024-05-14T07:00:01Z"), "{coarse:?}");
    assert!(!replay(&["--limit", "5/10s", "-"], dated.as_bytes()).out.contains("note"));
}

#[test]
fn only_the_algorithms_asked_for_are_shown() {
    let keys = |algorithms: &str| -> Vec<String> {
        let report = replay(&["--limit", "1/10s", "--json", "--algorithm", algorithms, "-"], SMALL).json();
        report["algorithms"].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(keys("fixed"), ["fixed"]);
    assert_eq!(keys("log,fixed,log"), ["fixed", "log"]); // as the parser of this test sorts them
    // The log is the reference although it is not shown: at 10 ms the fixed window starts anew, the log does not.
    let input = b"t_ms,client\n0,z\n9,a\n10,a\n";
    let report = replay(&["--limit", "1/10ms", "--json", "--algorithm", "fixed", "-"], input).json();
    assert_eq!(report["algorithms"]["fixed"]["disagree"], 1);
}

#[test]
fn a_limit_of_zero_refuses_everything() {
    let found = report("0/1s", SMALL);
    for name in ["log", "counter", "fixed"] {
        let figures = &found["algorithms"][name];
        assert_eq!((&figures["refused"], &figures["max_in_window"]), (&3.into(), &0.into()));
        assert!(figures["max_client"].is_null() && figures["max_at_ms"].is_null());
        assert_eq!(figures["refused_share"], 1.0);
        assert!(figures["max_tracked"] == 0 && figures["bytes_per_client"].is_null());
    }
}

#[test]
fn text_of_the_log_does_nothing_to_a_terminal() {
    let evil = "\u{1b}]0;evil\u{7}\u{9b}31m\u{202e}\u{7f}";
    let input = format!("t_ms,client\n0,{evil}\n{evil},x\n1,\"{evil}\n2,{evil},{evil}\n");
    let columns = format!("{evil},client\n0,a\n");
    let line = format!("{evil} - - [14/May/2024:09:00:00 +0200] \"GET / HTTP/1.1\" 200 12\n{evil} {evil}\n");
    for (args, input) in [
        (&["--limit", "1/1s", "-"][..], &input),
        (&["--limit", "1/1s", "--json", "-"], &input),
        (&["--limit", "1/1s", "-"], &columns),
        (&["--limit", "1/1s", "--time-column", evil, "-"], &columns),
        (&["--limit", "1/1s", "--key-column", evil, "-"], &columns),
        (&["--limit", "1/1s", "-"], &line),
        (&["--limit", "1/1s", "--json", "-"], &line),
    ] {
        let run = replay(args, input.as_bytes());
        assert!(!run.out.is_empty() || !run.err.is_empty());
        for text in [&run.out, &run.err] {
            let bad = |character: char| (character.is_control() && character != '\n') || character == '\u{202e}';
            assert!(!text.contains(bad), "{args:?}: {text:?}");
        }
    }
    assert_eq!(report("1/1s", format!("t_ms,client\n0,{evil}\n").as_bytes())["algorithms"]["log"]["max_client"], evil);
}

#[test]
fn a_reader_who_goes_away_is_no_failure() {
    let mut child = command()
        .args(["--limit", "1/1s", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(SMALL).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}
