//! Inputs from files, and every way in which they may not fit.

use safetensors::Dtype;

use crate::files::{f32s, npy, safetensors, tensor};
use crate::programs::gelu_inputs;
use crate::sandbox::{Sandbox, fixture, has};

#[test]
fn npy_files_are_parameters_in_their_order() {
    let sandbox = Sandbox::new();
    gelu_inputs(&sandbox);
    let program = fixture("gelu.mlir");
    let program = program.display();
    sandbox.run(&format!("run {program} --input in.safetensors --output a.safetensors")).ok();

    // The same x column by column, and w with its bytes swapped.
    npy(&sandbox, "x.npy", "<f4", "True", "(2, 3)", &f32s(&[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]));
    let w: Vec<u8> = [0.1f32; 6].iter().flat_map(|w| w.to_be_bytes()).collect();
    npy(&sandbox, "w.npy", ">f4", "False", "(3, 2)", &w);
    npy(&sandbox, "b.npy", "<f4", "False", "(2,)", &f32s(&[0.5, -0.5]));
    let inputs = "--input x.npy --input w.npy --input b.npy";
    sandbox.run(&format!("run {program} {inputs} --output b.safetensors")).ok();
    for result in ["0", "1"] {
        let [a, b] =
            ["a", "b"].map(|file| tensor(&sandbox.path(&format!("{file}.safetensors")), result));
        assert_eq!(a, b);
    }
    let swapped = "--input w.npy --input x.npy --input b.npy";
    let error = sandbox.run(&format!("run {program} {swapped}")).failed(1);
    has(&error, &["parameter 0: expected f32[2, 3], found f32[3, 2] (w.npy)", "parameter 1"]);
}

#[test]
fn parameters_may_be_spread_over_safetensors_files() {
    let sandbox = Sandbox::new();
    sandbox.write("sub.mlir", SUB);
    let of = |name, number| [(name, Dtype::F32, &[][..], f32s(&[number]))];
    safetensors(&sandbox, "b.safetensors", &of("1", 2.0));
    safetensors(&sandbox, "a.safetensors", &of("0", 5.0));
    let line = "run sub.mlir --input b.safetensors --input a.safetensors";
    assert_eq!(sandbox.run(line).ok(), "0: f32[]\n3\n");
    let line = "run sub.mlir --input a.safetensors --input a.safetensors";
    has(&sandbox.run(line).failed(1), &["tensor `0` of a.safetensors", "give each parameter once"]);
}

const SUB: &str = "func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.subtract %a, %b : tensor<f32>
    return %0 : tensor<f32>
}";

#[test]
fn all_that_does_not_fit_is_in_one_error() {
    let sandbox = Sandbox::new();
    let tensors = [
        ("0", Dtype::F64, &[2, 3][..], vec![0; 48]),
        ("1", Dtype::F32, &[2, 3][..], vec![0; 24]),
        ("w", Dtype::F32, &[2][..], vec![0; 8]),
        ("3", Dtype::I8, &[1][..], vec![0]),
    ];
    safetensors(&sandbox, "in.safetensors", &tensors);
    let program = fixture("gelu.mlir");
    let line = "--input in.safetensors --output out.safetensors --report report.json";
    let error = sandbox.run(&format!("run {} {line}", program.display())).failed(1);
    has(
        &error,
        &[
            "`gelu`, which takes 3 parameters",
            "parameter 0: expected f32[2, 3], found f64[2, 3] (tensor `0` of in.safetensors)",
            "parameter 1: expected f32[3, 2], found f32[2, 3] (tensor `1` of in.safetensors)",
            "parameter 2: expected f32[2], found no input `2`",
            "tensor `w` of in.safetensors: there is no such parameter",
            "tensor `3` of in.safetensors: there is no such parameter",
            "tensors named 0, 1, ...",
        ],
    );
    assert_eq!(error.matches("rectiflow:").count(), 1, "one error: {error}");
    assert_eq!(sandbox.files(), ["in.safetensors"], "nothing was executed");
}

#[test]
fn a_program_without_parameters_takes_no_input() {
    let sandbox = Sandbox::new();
    sandbox.write("iota.mlir", crate::programs::IOTA);
    safetensors(&sandbox, "in.safetensors", &[("0", Dtype::U8, &[1][..], vec![0])]);
    let error = sandbox.run("run iota.mlir --input in.safetensors").failed(1);
    has(&error, &["takes 0 parameters", "run it without --input"]);
    // And one with parameters needs it.
    sandbox.write("sub.mlir", SUB);
    has(&sandbox.run("run sub.mlir").failed(1), &["parameter 0: ", "parameter 1: "]);
}

#[test]
fn files_that_are_no_inputs_say_why() {
    let sandbox = Sandbox::new();
    sandbox.write("sub.mlir", SUB);
    let refused = |line: &str| sandbox.run(&format!("run sub.mlir {line}")).failed(1);
    has(&refused("--input none.npy"), &["cannot read the input none.npy"]);
    sandbox.write("text", "no numbers");
    has(&refused("--input text"), &["neither a .npy file nor a whole safetensors file"]);

    npy(&sandbox, "a.npy", "<f4", "False", "()", &f32s(&[1.0]));
    safetensors(&sandbox, "b.safetensors", &[("1", Dtype::F32, &[][..], f32s(&[1.0]))]);
    has(&refused("--input a.npy --input b.safetensors"), &["a.npy", "b.safetensors", "or all as"]);
    has(&refused("--input b.safetensors --input a.npy"), &["a.npy", "b.safetensors", "or all as"]);

    npy(&sandbox, "short.npy", "<f4", "False", "(3,)", &f32s(&[1.0, 2.0]));
    has(&refused("--input short.npy"), &["short.npy", "should have 12 bytes", "has 8"]);
    npy(&sandbox, "text.npy", "<U5", "False", "()", &[0; 20]);
    has(&refused("--input text.npy"), &["`<U5`", "expected booleans, integers"]);
    npy(&sandbox, "objects.npy", "|O", "False", "()", &[0; 8]);
    has(&refused("--input objects.npy"), &["objects.npy"]);
    let whole = std::fs::read(sandbox.path("b.safetensors")).unwrap();
    sandbox.write("cut.safetensors", &whole[..whole.len() - 1]);
    has(&refused("--input cut.safetensors"), &["cut.safetensors", "whole safetensors file"]);
}

#[test]
fn a_boolean_must_be_one() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "not.mlir",
        "func.func @main(%a: tensor<2xi1>) -> tensor<2xi1> {
            %0 = stablehlo.not %a : tensor<2xi1>
            return %0 : tensor<2xi1>
        }",
    );
    npy(&sandbox, "right.npy", "|b1", "False", "(2,)", &[0, 1]);
    assert_eq!(sandbox.run("run not.mlir --input right.npy").ok(), "0: i1[2]\n[true, false]\n");
    npy(&sandbox, "wrong.npy", "|b1", "False", "(2,)", &[0, 3]);
    has(&sandbox.run("run not.mlir --input wrong.npy").failed(1), &["a boolean that is 3"]);
}
