//! Golden StableHLO text: one file for each op and for each composite, in `tests/golden`.
//!
//! `UPDATE_EXPECT=1 cargo test -p rectiflow-tests --test golden` rewrites the files.

mod composites;
mod ops;

use std::{collections::BTreeSet, path::PathBuf};

use expect_test::expect_file;
use rectiflow_hlo::{DType, Graph, Op, Row, Shape, Tensor};

/// A name, and how to record the program.
type Program = (&'static str, fn(&Graph) -> Vec<Tensor>);

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden")
}

fn parameter(graph: &Graph, dtype: DType, dims: &[i64]) -> Tensor {
    graph.parameter("x", Shape::new(dtype, dims))
}

fn assert_golden(name: &str, graph: &Graph, results: &[Tensor]) {
    let module = graph.finish(&results.iter().collect::<Vec<_>>()).expect("a valid program");
    let row = Op::TABLE.iter().find(|row| file_name(row.mnemonic) == name);
    let shown = |row: &Row| module.to_string().contains(&format!("\"{}\"", row.mnemonic));
    assert!(row.is_none_or(shown), "the program of {name} does not show it");
    expect_file![folder().join(format!("{name}.mlir"))].assert_eq(&module.to_string());
}

/// `add` for `stablehlo.add`.
fn file_name(mnemonic: &str) -> &str {
    mnemonic.split_once('.').map_or(mnemonic, |(_, name)| name)
}

/// Rows without attributes record themselves, so a new one needs a file and nothing here.
fn record_row(graph: &Graph, row: &Row, record: fn(&[&Tensor]) -> Tensor) -> Tensor {
    let preferred = [DType::F32, DType::I32, DType::Pred];
    let dtype = preferred.into_iter().find(|&dtype| row.dtypes.contains(dtype));
    let first = parameter(graph, dtype.or_else(|| row.dtypes.iter().next()).unwrap(), &[2, 3]);
    // A predicate chooses between values of another type; all other rows take one type.
    let rest = if row.mnemonic == "stablehlo.select" { DType::F32 } else { first.dtype() };
    let rest: Vec<Tensor> = row.operands.iter().map(|_| parameter(graph, rest, &[2, 3])).collect();
    record(&[&[&first][..], &rest.iter().collect::<Vec<_>>()].concat())
}

#[test]
fn every_op_has_a_golden_file() {
    let by_hand: BTreeSet<&str> = ops::PROGRAMS.iter().map(|(name, _)| *name).collect();
    let mut names = BTreeSet::new();
    for row in Op::TABLE {
        let name = file_name(row.mnemonic);
        names.insert(name.to_string());
        if let (Some(record), false) = (row.record, by_hand.contains(name)) {
            let graph = Graph::new();
            let result = record_row(&graph, row, record);
            assert_golden(name, &graph, &[result]);
        }
    }
    for (name, record) in ops::PROGRAMS.iter().chain(composites::PROGRAMS) {
        names.insert(name.to_string());
        let graph = Graph::new();
        let results = record(&graph);
        assert_golden(name, &graph, &results);
    }
    let files: BTreeSet<String> = std::fs::read_dir(folder())
        .expect("the folder of golden files")
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_string()))
        .collect();
    assert_eq!(files, names, "files in {} and programs", folder().display());
}

#[test]
fn names_are_unique_and_documented() {
    let mut mnemonics = BTreeSet::new();
    let mut methods = BTreeSet::new();
    for row in Op::TABLE {
        assert!(mnemonics.insert(row.mnemonic), "{} is declared twice", row.mnemonic);
        assert!(methods.insert(row.method), "{} is the method of two ops", row.method);
        assert!(row.doc.trim().ends_with('.'), "{} is documented in sentences", row.mnemonic);
    }
}
