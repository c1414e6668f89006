//! Real traces against integers that were computed elsewhere.

use crate::tool;
use serde_json::Value;
use std::{env, fs, path::Path};

/// Needs the folder of the traces and of their `expected.json`, which is not part of the repository.
#[test]
fn real_traces_give_the_expected_integers() {
    let Some(folder) = env::var_os("SLIDEGATE_TRAFFIC") else {
        println!("skipped: SLIDEGATE_TRAFFIC does not name the folder with the traces");
        return;
    };
    let folder = Path::new(&folder);
    let expected: Value = serde_json::from_slice(&fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let mut compared = 0;
    for (trace, expected) in expected.as_object().unwrap() {
        let path = folder.join(format!("{trace}.csv.gz"));
        for (limit, algorithms) in expected["limits"].as_object().unwrap() {
            let report = tool::replay(&["--limit", limit, "--json", path.to_str().unwrap()], b"").json();
            assert_eq!(report["rows"], expected["rows"], "{trace}");
            assert_eq!(report["clients"], expected["clients"], "{trace}");
            for (name, figures) in algorithms.as_object().unwrap() {
                for (figure, value) in figures.as_object().unwrap() {
                    assert!(value.is_u64(), "{figure}");
                    assert_eq!(report["algorithms"][name][figure], *value, "{trace} {limit} {name} {figure}");
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} integers compared");
    assert!(compared > 0);
}
