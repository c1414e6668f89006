//! What cannot be measured, and what is said about it.

use crate::tool::{bench, file};

#[test]
fn limits_that_cannot_be_are_said_in_one_line() {
    for limit in ["", "5", "5/0s", "-5/1s", "5/1y", "5/1\u{1b}s", "20000000/10ms", "5/40000d"] {
        let run = bench(&[&format!("--limit={limit}")]);
        let said = run.failure(2);
        assert!(said.starts_with("slidegate: --limit: ") && said.lines().count() == 1, "{run:?}");
        assert!(!said.contains('\u{1b}'), "{run:?}");
    }
    // The limit that one of the algorithms cannot keep is no hindrance for the others.
    assert_eq!(bench(&["--limit", "20000000/10ms", "--algorithm", "fixed", "--seconds", "0.01"]).code, Some(0));
}

#[test]
fn a_table_that_takes_too_much_names_the_options() {
    let too_much = ["--limit", "100000/1m", "--seconds", "0.01", "--clients"];
    let run = bench(&[&too_much[..], &["1000000"]].concat());
    let said = run.failure(2);
    assert!(
        said.starts_with("slidegate: --algorithm log: the table could take ") && said.lines().count() == 1,
        "{run:?}"
    );
    let (_, ways_out) = said.split_once("use --clients ").unwrap();
    let (fewer, others) = ways_out.split_once(", ").unwrap();
    assert_eq!(others, "a smaller limit or another algorithm");
    // Each of them works, and one client more does not.
    bench(&[&too_much[..], &[fewer]].concat()).result();
    bench(&[&too_much[..], &["1000000", "--algorithm", "counter"]].concat()).result();
    let more = (fewer.parse::<u32>().unwrap() + 1).to_string();
    bench(&[&too_much[..], &[&more]].concat()).failure(2);
}

#[test]
fn values_out_of_range_name_the_option() {
    for (option, value) in [
        ("--clients", "0"),
        ("--clients", "10000001"),
        ("--skew", "-1"),
        ("--skew", "nan"),
        ("--threads", "0"),
        ("--threads", "1025"),
        ("--seconds", "0"),
        ("--seconds", "3601"),
        ("--seconds", "soon"),
        ("--rate", "0"),
        ("--rate", "1.5"),
        ("--rate", "1000000001"),
        ("--algorithm", "abacus"),
    ] {
        let run = bench(&[&format!("{option}={value}")]);
        let said = run.failure(2);
        assert!(said.starts_with("error: ") && said.contains(option), "{run:?}");
    }
    assert!(bench(&["--seconds", "0"]).failure(2).contains("use seconds from 0.001 to 3600"));
    assert!(bench(&["--skew", "inf"]).failure(2).contains("use a number from 0 (all clients alike) to 100"));
    bench(&["what"]).failure(2);
}

#[test]
fn a_distribution_needs_one_algorithm_and_a_file() {
    let several = bench(&["--hgrm", file("several.hgrm").to_str().unwrap()]);
    assert!(
        several.failure(2).starts_with("slidegate: --hgrm: a file has the latencies of one algorithm; "),
        "{several:?}"
    );
    assert!(!file("several.hgrm").exists());
    let nowhere = file("no such folder").join("\u{1b}x.hgrm");
    let run = bench(&["--algorithm", "log", "--hgrm", nowhere.to_str().unwrap()]);
    let said = run.failure(2);
    assert!(said.starts_with("slidegate: --hgrm: ") && said.contains("\\u{1b}x.hgrm: "), "{run:?}");
    assert_eq!(said.lines().count(), 1);
}

#[test]
fn help_says_what_the_figures_are() {
    let run = bench(&["--help"]);
    for said in ["closed loop", "coordinated omission", "p99 = 250", "Exit codes:", "[default: 100/1m]"] {
        assert!(run.result().contains(said), "{said}: {run:?}");
    }
}
