//! Every type of element that files hold.

use std::fmt::Write as _;

use safetensors::Dtype;

use crate::files::{npy, safetensors, tensor};
use crate::sandbox::{Sandbox, fixture, has};

/// A program that returns each of its parameters, of four elements, back to front.
fn reversed(types: &[&str]) -> String {
    let shape = |name: &&str| format!("tensor<4x{name}>");
    let shapes = types.iter().map(shape).collect::<Vec<_>>();
    let list = |prefix: &str, separator: &str| {
        let items = shapes.iter().enumerate().map(|(i, shape)| match separator {
            ":" => format!("{prefix}{i}: {shape}"),
            _ => format!("{prefix}{i}"),
        });
        items.collect::<Vec<_>>().join(", ")
    };
    let results = shapes.join(", ");
    let mut text = format!("func.func @main({}) -> ({results}) {{\n", list("%p", ":"));
    for (i, shape) in shapes.iter().enumerate() {
        let _ = writeln!(text, "  %r{i} = stablehlo.reverse %p{i}, dims = [0] : {shape}");
    }
    let _ = writeln!(text, "  return {} : {results}\n}}", list("%r", ""));
    text
}

/// Type in files, in programs, bytes of an element, and four elements as printed back to front.
const SAFETENSORS: &[(Dtype, &str, [u64; 4], &str)] = &[
    (Dtype::BOOL, "i1", [1, 0, 0, 0], "false, false, false, true"),
    (Dtype::I8, "i8", [1, 0x7f, 0x80, 0xff], "-1, -128, 127, 1"),
    (Dtype::I16, "i16", [1, 2, 0x8000, 0xffff], "-1, -32768, 2, 1"),
    (Dtype::I32, "i32", [1, 2, 3, 0xffff_ffff], "-1, 3, 2, 1"),
    (Dtype::I64, "i64", [1, 2, 3, u64::MAX], "-1, 3, 2, 1"),
    (Dtype::U8, "ui8", [1, 2, 3, 0xff], "255, 3, 2, 1"),
    (Dtype::U16, "ui16", [1, 2, 3, 0xffff], "65535, 3, 2, 1"),
    (Dtype::U32, "ui32", [1, 2, 3, 0xffff_ffff], "4294967295, 3, 2, 1"),
    (Dtype::U64, "ui64", [1, 2, 3, u64::MAX], "18446744073709551615, 3, 2, 1"),
    (Dtype::F16, "f16", [0x3c00, 0xc000, 0, 0x3555], "0.33325195, 0, -2, 1"),
    (Dtype::BF16, "bf16", [0x3f80, 0xc000, 0, 0x3fc0], "1.5, 0, -2, 1"),
    (Dtype::F32, "f32", [0x3f80_0000, 0, 0x7f80_0000, 0x3fc0_0000], "1.5, inf, 0, 1"),
    (Dtype::F64, "f64", [0x3ff0 << 48, 0, 0, 0xbff8 << 48], "-1.5, 0, 0, 1"),
    (Dtype::C64, "complex<f32>", [0, 0, 0, 0xbf80_0000_3fc0_0000], "1.5-1i, 0+0i, 0+0i, 0+0i"),
    (Dtype::F8_E5M2, "f8E5M2", [0x3c, 0, 0xc0, 0x01], "0.000015258789, -2, 0, 1"),
    (Dtype::F8_E4M3, "f8E4M3FN", [0x38, 0, 0xb8, 0x7e], "448, -1, 0, 1"),
    (Dtype::F8_E5M2FNUZ, "f8E5M2FNUZ", [0x40, 0, 0xc0, 0x7f], "57344, -1, 0, 1"),
    (Dtype::F8_E4M3FNUZ, "f8E4M3FNUZ", [0x40, 0, 0xc0, 0x7f], "240, -1, 0, 1"),
    (Dtype::F8_E8M0, "f8E8M0FNU", [0x7f, 0x80, 0x7e, 0x81], "4, 0.5, 2, 1"),
    (Dtype::F4, "f4E2M1FN", [0x2, 0x9, 0x7, 0x0], "0, 6, -0.5, 1"),
];

/// Elements as a file has them.
fn bytes(dtype: Dtype, elements: &[u64]) -> Vec<u8> {
    match dtype.bitsize() {
        4 => elements.chunks(2).map(|pair| (pair[0] | pair[1] << 4) as u8).collect(),
        bits => elements.iter().flat_map(|e| e.to_le_bytes()[..bits / 8].to_vec()).collect(),
    }
}

#[test]
fn every_type_of_safetensors_goes_in_and_out() {
    let sandbox = Sandbox::new();
    let types: Vec<&str> = SAFETENSORS.iter().map(|row| row.1).collect();
    sandbox.write("reversed.mlir", reversed(&types));
    let names: Vec<String> = (0..types.len()).map(|i| i.to_string()).collect();
    let tensors: Vec<_> = SAFETENSORS
        .iter()
        .zip(&names)
        .map(|(row, name)| (name.as_str(), row.0, &[4][..], bytes(row.0, &row.2)))
        .collect();
    safetensors(&sandbox, "in.safetensors", &tensors);
    let shown = sandbox.run("run reversed.mlir --input in.safetensors").ok();
    for (i, (_, name, _, numbers)) in SAFETENSORS.iter().enumerate() {
        has(&shown, &[&format!("{i}: {name}[4]\n[{numbers}]\n")]);
    }
    sandbox.run("run reversed.mlir --input in.safetensors --output out.safetensors").ok();
    for (name, (dtype, _, elements, _)) in names.iter().zip(SAFETENSORS) {
        let mut backwards = *elements;
        backwards.reverse();
        let found = tensor(&sandbox.path("out.safetensors"), name);
        assert_eq!(found, (*dtype, vec![4], bytes(*dtype, &backwards)));
    }
}

#[test]
fn six_bit_floats_are_refused_by_name() {
    let sandbox = Sandbox::new();
    sandbox.write("reversed.mlir", reversed(&["f32"]));
    safetensors(&sandbox, "in.safetensors", &[("0", Dtype::F6_E2M3, &[4][..], vec![0; 3])]);
    let error = sandbox.run("run reversed.mlir --input in.safetensors").failed(1);
    has(&error, &["tensor `0` of in.safetensors", "F6_E2M3", "cannot be passed"]);
}

#[test]
fn every_type_of_numpy_goes_in() {
    let rows = [
        ("|b1", "i1", 1, "false, false, false, true"),
        ("|i1", "i8", 1, "0, 0, 0, 1"),
        ("<i2", "i16", 2, "0, 0, 0, 1"),
        (">i2", "i16", 2, "0, 0, 0, 256"),
        ("<i4", "i32", 4, "0, 0, 0, 1"),
        (">i4", "i32", 4, "0, 0, 0, 16777216"),
        ("<i8", "i64", 8, "0, 0, 0, 1"),
        ("|u1", "ui8", 1, "0, 0, 0, 1"),
        ("<u2", "ui16", 2, "0, 0, 0, 1"),
        ("<u4", "ui32", 4, "0, 0, 0, 1"),
        ("<u8", "ui64", 8, "0, 0, 0, 1"),
        ("<f2", "f16", 2, "0, 0, 0, 0.000000059604645"),
        ("<f4", "f32", 4, "0, 0, 0, 0.000000000000000000000000000000000000000000001"),
        (">f8", "f64", 8, "0, 0, 0, 0.000000"),
        ("<c8", "complex<f32>", 8, "0+0i, 0+0i, 0+0i, 0.000"),
        (">c16", "complex<f64>", 16, "0+0i, 0+0i, 0+0i, 0.000"),
        // As NumPy saves types of `ml_dtypes`.
        ("<V2", "bf16", 2, "0, 0, 0, 0.000"),
        ("|V1", "f8E4M3FN", 1, "0, 0, 0, 0.001953125"),
        ("|V1", "i4", 1, "0, 0, 0, 1"),
    ];
    let sandbox = Sandbox::new();
    let types: Vec<&str> = rows.iter().map(|row| row.1).collect();
    sandbox.write("reversed.mlir", reversed(&types));
    let mut line = "run reversed.mlir".to_owned();
    for (i, (descr, _, width, _)) in rows.iter().enumerate() {
        let mut bytes = vec![0; 4 * width];
        bytes[0] = 1;
        npy(&sandbox, &format!("{i}.npy"), descr, "False", "(4,)", &bytes);
        let _ = write!(line, " --input {i}.npy");
    }
    let shown = sandbox.run(&line).ok();
    for (i, (_, name, _, numbers)) in rows.iter().enumerate() {
        has(&shown, &[&format!("{i}: {name}[4]\n[{numbers}")]);
    }
    // Complex numbers of two f64 are beyond safetensors.
    let error = sandbox.run(&format!("{line} --output out.safetensors")).failed(1);
    has(&error, &["result 15", "complex<f64>", "safetensors cannot hold"]);
    assert!(!sandbox.path("out.safetensors").exists());
}

#[test]
fn untyped_bytes_are_taken_only_for_types_that_numpy_lacks() {
    let sandbox = Sandbox::new();
    let bf16 = fixture("bf16.npy");
    let program = |element_type: &str| {
        format!(
            "func.func @main(%a: tensor<3x{element_type}>) -> tensor<3x{element_type}> {{
                %0 = stablehlo.reverse %a, dims = [0] : tensor<3x{element_type}>
                return %0 : tensor<3x{element_type}>
            }}"
        )
    };
    sandbox.write("bf16.mlir", program("bf16"));
    let shown = sandbox.run(&format!("run bf16.mlir --input {}", bf16.display())).ok();
    assert_eq!(shown, "0: bf16[3]\n[0.25, -2, 1.5]\n");
    for wrong in ["f16", "f8E5M2"] {
        sandbox.write("wrong.mlir", program(wrong));
        let error = sandbox.run(&format!("run wrong.mlir --input {}", bf16.display())).failed(1);
        has(&error, &[&format!("expected {wrong}[3], found untyped elements of 2 bytes [3]")]);
    }
}
