//! The committed samples are what the generator makes.

use crate::tool;
use std::fs;

#[path = "../../examples/sample/generator.rs"]
mod generator;

#[test]
fn the_samples_are_what_the_generator_makes() {
    for (name, made) in [("requests.csv", generator::csv()), ("access.log", generator::access_log())] {
        let committed = fs::read_to_string(tool::sample(name)).unwrap();
        assert!(committed == made, "samples/{name} differs: see samples/README.md");
    }
}

#[test]
fn on_the_sample_the_algorithms_differ_as_they_should() {
    let path = tool::sample("requests.csv");
    let report = tool::replay(&["--limit", "20/10s", "--json", path.to_str().unwrap()], b"").json();
    let most = |name: &str| report["algorithms"][name]["max_in_window"].as_u64().unwrap();
    assert_eq!(most("log"), 20);
    assert!((21..40).contains(&most("counter")));
    assert_eq!(most("fixed"), 40);
    assert_eq!(report["algorithms"]["fixed"]["max_client"], "edge");
}
