//! What is printed, and the exit codes.

use crate::tool::{command, replay, report};
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
    // Two counts of 25 bits leave a counter no room for 100 years of 10 ms.
    let limit = "20000000/10ms";
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
}

#[test]
fn the_json_has_these_fields_in_this_order() {
    let run = replay(&["--limit", "1/60s", "--json", "-"], SMALL);
    let contender = |name: &str, figures: &str| format!("    \"{name}\": {{\n{figures}\n    }}");
    let figures = r#"      "allowed": 2,
      "refused": 1,
      "refused_share": 0.3333333333333333,
      "clients_refused": 1,
      "max_in_window": 1,
      "max_client": "a",
      "max_at_ms": 0,
      "disagree": 0"#;
    let algorithms = ["log", "counter", "fixed"].map(|name| contender(name, figures)).join(",\n");
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

 algorithm   allowed   refused     share   clients    most in   by   at    unlike
                                           refused   a window             the log
──────────────────────────────────────────────────────────────────────────────────
 counter           2         2   50.00 %         2          1   a    0s         0
 log               2         2   50.00 %         2          1   a    0s         0

note: 1 bad line left out, see standard error
note: 2 rows stood behind a later one; all were sorted by time, equal stamps in the order of the input
"
    );
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
