//! What a graph says of mistakes, wherever they are made, and what becomes of what it records.

mod bodies;
mod eager;
mod functions;
mod graphs;
mod limits;
mod ops;
mod recording;

use std::panic::Location;

use expect_test::Expect;
use rectiflow_hlo::{DType, Error, Module, Shape};

fn f32(dims: &[i64]) -> Shape {
    Shape::new(DType::F32, dims)
}

/// The error names the caller's file and the line; `text` is the rest of its message.
#[track_caller]
fn refused(result: Result<Module, Error>, line: u32, text: Expect) {
    let error = result.expect_err("a mistake is refused");
    let at = error.location();
    assert_eq!((at.file(), at.line()), (Location::caller().file(), line), "{error}");
    let message = error.to_string();
    let rest = message.strip_prefix(&format!("{at}: ")).expect("the location comes first");
    text.assert_eq(rest);
}
