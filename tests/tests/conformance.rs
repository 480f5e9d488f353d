//! Every op's values on the CPU plugin against the references of `rectiflow_tests::conformance`.

use std::collections::BTreeSet;

use rectiflow_hlo::Op;
use rectiflow_tests::{check, conformance};

macro_rules! families {
    ($($family:ident),*) => {
        $(#[test]
        fn $family() {
            check(&conformance::$family::cases());
        })*

        #[test]
        fn every_family_is_run() {
            let run = [$(stringify!($family)),*];
            let declared: Vec<&str> = conformance::FAMILIES.iter().map(|(name, _)| *name).collect();
            assert_eq!(run.as_slice(), declared);
        }
    };
}

families!(
    collective,
    comparison,
    constant,
    contract,
    control,
    conversion,
    elementwise,
    index,
    order,
    random,
    reduce,
    shape
);

#[test]
fn every_op_has_a_case() {
    let cases: Vec<_> = conformance::FAMILIES.iter().flat_map(|(_, cases)| cases()).collect();
    let covered: BTreeSet<&str> = cases.iter().map(|case| case.op).collect();
    let table: BTreeSet<&str> = Op::TABLE.iter().map(|row| row.mnemonic).collect();
    println!("{} ops, {} conformance cases", table.len(), cases.len());
    assert_eq!(covered, table);
}
