//! Programs in every form, and what is refused.

use safetensors::Dtype;

use crate::files::{f32s, safetensors, tensor};
use crate::sandbox::{Sandbox, fixture, has};

/// Inputs of the fixture `gelu`.
pub(crate) fn gelu_inputs(sandbox: &Sandbox) {
    let x = f32s(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let w = f32s(&[0.1; 6]);
    let b = f32s(&[0.5, -0.5]);
    let tensors = [
        ("0", Dtype::F32, &[2, 3][..], x),
        ("1", Dtype::F32, &[3, 2][..], w),
        ("2", Dtype::F32, &[2][..], b),
    ];
    safetensors(sandbox, "in.safetensors", &tensors);
}

/// gelu(y) by its definition in the fixture.
fn gelu(y: f32) -> f32 {
    0.5 * y * (1.0 + (0.797_884_6 * (y + 0.044715 * y * y * y)).tanh())
}

#[test]
fn text_bytecode_and_hlo_proto_compute_the_same() {
    let sandbox = Sandbox::new();
    gelu_inputs(&sandbox);
    let expected = [0.8, -0.2, 1.7, 0.7].map(gelu);
    let mut results = Vec::new();
    for form in ["gelu.mlir", "gelu.mlirbc", "gelu.hlo"] {
        let program = fixture(form);
        let line = "--input in.safetensors --output out.safetensors";
        let arguments = ["run", program.to_str().unwrap()].into_iter().chain(line.split(' '));
        let output = sandbox.command(arguments).output().unwrap();
        assert!(output.status.success(), "{form}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.stdout, b"", "results are in the file");
        let (dtype, dims, bytes) = tensor(&sandbox.path("out.safetensors"), "0");
        assert_eq!((dtype, &dims[..]), (Dtype::F32, &[2, 2][..]), "{form}");
        let numbers = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        for (found, expected) in numbers.zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{form}: {found}, not {expected}");
        }
        let sum = tensor(&sandbox.path("out.safetensors"), "1");
        assert_eq!(sum, (Dtype::F32, vec![], f32s(&[15.0])), "{form}");
        results.push(bytes);
    }
    assert!(results.iter().all(|result| *result == results[0]));
}

/// A program by its text.
pub(crate) const IOTA: &str =
    "func.func @main() -> (tensor<2x3xi32>, tensor<500xui8>, tensor<i1>) {
    %0 = stablehlo.iota dim = 1 : tensor<2x3xi32>
    %1 = stablehlo.iota dim = 0 : tensor<500xui8>
    %2 = stablehlo.constant dense<true> : tensor<i1>
    return %0, %1, %2 : tensor<2x3xi32>, tensor<500xui8>, tensor<i1>
}";

#[test]
fn results_are_printed_with_shapes_and_cut() {
    let sandbox = Sandbox::new();
    sandbox.write("iota.mlir", IOTA);
    let expected = "0: i32[2, 3]\n[[0, 1, 2],\n [0, 1, 2]]\n\
                    1: ui8[500]\n[0, 1, 2, ..., 241, 242, 243]\n\
                    2: i1[]\ntrue\n";
    let done = sandbox.run("run iota.mlir");
    assert_eq!(done.stderr, "", "progress is for terminals");
    assert_eq!(done.ok(), expected);
    assert_eq!(sandbox.run("run iota.mlir --quiet").ok(), "");
}

#[test]
fn repeats_are_counted_and_timed() {
    let sandbox = Sandbox::new();
    sandbox.write("iota.mlir", IOTA);
    sandbox.run("run iota.mlir --repeat 3 --report report.json").ok();
    let report = sandbox.json("report.json");
    let seconds = report["execution_seconds"].as_array().unwrap();
    assert_eq!(seconds.len(), 3);
    assert!(seconds.iter().all(|seconds| seconds.as_f64().unwrap() > 0.0), "{report}");
    let phases = report["phases"].as_array().unwrap();
    let all: f64 = phases.iter().map(|phase| phase["seconds"].as_f64().unwrap()).sum();
    let phase = |name: &str| phases.iter().find(|phase| phase["name"] == name).unwrap();
    let execution = phase("execute")["seconds"].as_f64().unwrap();
    let of_each: f64 = seconds.iter().filter_map(serde_json::Value::as_f64).sum();
    assert!(of_each <= execution && execution < all, "{report}");
    // The plugin alone takes more.
    assert!(report["peak_host_bytes"].as_u64().unwrap() > 10_000_000, "{report}");
    assert_eq!(sandbox.run("run iota.mlir --repeat 0").status, Some(2));
}

#[test]
fn what_cannot_run_is_refused_before_anything_is_loaded() {
    let sandbox = Sandbox::new();
    sandbox.write("m.hlo", "HloModule m\nENTRY e { ROOT r = f32[] constant(1) }");
    has(&sandbox.run("run m.hlo").failed(1), &["HLO text", "StableHLO", "HloModuleProto"]);
    for two in ["two_devices.mlir", "two_devices.mlirbc"] {
        let program = fixture(two);
        let error = sandbox.run(&format!("run {}", program.display())).failed(1);
        has(&error, &["2 partitions", "one device", two]);
    }
    let error = sandbox.run("run none.mlir").failed(1);
    has(&error, &["cannot read the program none.mlir", "No such file"]);
    assert!(!sandbox.path("cache").exists(), "a plugin was loaded");
}

#[test]
fn the_compilers_errors_arrive() {
    let sandbox = Sandbox::new();
    sandbox.write("wrong.mlir", "func.func @main() -> tensor<i32> {\n  return %0 : tensor<i32>\n}");
    has(
        &sandbox.run("run wrong.mlir").failed(1),
        &["cannot compile `wrong`", "undeclared SSA value"],
    );
    sandbox.write("iota.mlir", IOTA);
    let error = sandbox.run("run iota.mlir --xla-flag xla_cpu_enable_fast_mth=true").failed(1);
    has(&error, &["did you mean xla_cpu_enable_fast_math"]);
    assert_eq!(sandbox.run("run iota.mlir --xla-flag nothing").status, Some(2));
    let error = sandbox.run("run iota.mlir --device gpu").failed(2);
    has(&error, &["unknown device `gpu`", "cpu, tpu, cuda"]);
}

#[test]
fn version_names_bindings_and_plugin() {
    let text = Sandbox::new().run("--version").ok();
    let (major, minor) = rectiflow_pjrt::API_VERSION;
    let finder = xla_build::Finder::new(xla_build::Settings::isolated(""));
    let row = finder.row(xla_build::manifest::Purpose::Plugin(xla_build::Platform::Cpu)).unwrap();
    let api = format!("{major}.{minor}\n");
    has(&text, &[env!("CARGO_PKG_VERSION"), &api, row.package, row.version]);
}
