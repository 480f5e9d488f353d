//! What ends the process in the CPU plugin, so that no conformance case may ask for it.

use std::process::Command;

use rectiflow_tests::{check, conformance::shape::window};

#[test]
fn concatenation_of_two_bit_integers_still_aborts() {
    for &dtype in window::ABORTS_CONCATENATION {
        let child = Command::new(std::env::current_exe().expect("the path of this test"))
            .args(["--exact", "concatenates", "--ignored"])
            .env("CONCATENATED", dtype.mlir())
            .output()
            .expect("a child process");
        assert!(!child.status.success(), "concatenating {dtype} works now: make it a case");
        let log = String::from_utf8_lossy(&child.stderr);
        assert!(log.contains("Check failed"), "{dtype} fails in another way: {log}");
    }
}

#[test]
#[ignore = "the plugin ends the process; run by the test above in one of its own"]
fn concatenates() {
    let name = std::env::var("CONCATENATED").expect("the dtype");
    let dtype = window::ABORTS_CONCATENATION.iter().find(|dtype| dtype.mlir() == name);
    check(&[window::concatenation_of(*dtype.expect("one that aborts"))]);
}
