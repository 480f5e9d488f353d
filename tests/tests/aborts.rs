//! What ends the process in the CPU plugin, so that no conformance case may ask for it. Each is run in
//! a process of its own, to see when it has been mended.

use std::process::Command;

use rectiflow_hlo::DType;
use rectiflow_tests::{Case, check, conformance::shape::window};

/// Everything known, by a name without spaces.
fn aborting() -> Vec<(String, Case)> {
    let join = |&dtype: &DType| (format!("concatenate-{dtype}"), window::concatenation_of(dtype));
    window::ABORTS_CONCATENATION.iter().map(join).collect()
}

#[test]
fn what_aborts_still_does() {
    for (name, _) in aborting() {
        let child = Command::new(std::env::current_exe().expect("the path of this test"))
            .args(["--exact", "aborts", "--ignored"])
            .env("ABORTING", &name)
            .output()
            .expect("a child process");
        assert!(!child.status.success(), "{name} works now: make it a conformance case");
        let log = String::from_utf8_lossy(&child.stderr);
        assert!(log.contains("Check failed"), "{name} fails in another way: {log}");
    }
}

#[test]
#[ignore = "the plugin ends the process; run by the test above in one of its own"]
fn aborts() {
    let name = std::env::var("ABORTING").expect("which");
    let (_, case) = aborting().into_iter().find(|case| case.0 == name).expect("a known one");
    check(&[case]);
}
