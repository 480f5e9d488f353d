//! Handlers written in Rust, called by programs.

use std::sync::Once;

use rectiflow_pjrt::ffi::{Attribute, CallFrame, Error, ErrorCode, Result};
use rectiflow_pjrt::{Buffer, ElementType, LoadedExecutable, packing};

use crate::{client, compile, plugin};

fn scale(call: &mut CallFrame<'_>) -> Result<()> {
    let factor = call.attributes.scalar::<f32>("factor")?;
    let x = call.argument(0)?;
    let dims = x.dims();
    let x = x.elements::<f32>()?;
    let y = call.result(0)?;
    assert_eq!((dims, y.dims()), (&[2, 2][..], &[2, 2][..]));
    for (y, x) in y.elements_mut::<f32>()?.iter_mut().zip(x) {
        *y = factor * x;
    }
    Ok(())
}

fn check_attributes(call: &mut CallFrame<'_>) -> Result<()> {
    let attributes = call.attributes;
    assert_eq!(attributes.scalar::<i64>("n")?, -3);
    assert!(attributes.scalar::<bool>("flag")?);
    assert_eq!(attributes.string("mode")?, "fast");
    assert_eq!(attributes.array::<i64>("dims")?, [4, 5, 6]);
    assert_eq!(attributes.array::<f32>("empty")?, [0f32; 0]);
    assert_eq!(attributes.dictionary("nested")?.scalar::<i32>("deep")?, 9);
    assert!(matches!(attributes.get("mode")?, Some(Attribute::String(b"fast"))));
    assert!(attributes.get("absent")?.is_none());
    let mut names: Vec<_> = attributes.names().collect();
    names.sort_unstable();
    assert_eq!(names, ["dims", "empty", "flag", "mode", "n", "nested"]);
    let wrong = attributes.scalar::<i32>("n").unwrap_err().to_string();
    assert_eq!(wrong, "attribute n is a scalar of i64, not i32");
    assert_eq!(attributes.string("absent").unwrap_err().to_string(), "attribute absent is missing");
    call.result(0)?.elements_mut::<i32>()?[0] = 1;
    Ok(())
}

fn refuse(call: &mut CallFrame<'_>) -> Result<()> {
    let x = call.argument(0)?.elements::<f32>()?;
    Err(Error::with_code(ErrorCode::OutOfRange, format!("{} is too much", x[0])))
}

fn in_place(call: &mut CallFrame<'_>) -> Result<()> {
    match call.argument(0)?.elements::<f32>() {
        Ok(x) => call.result(0)?.elements_mut::<f32>()?.copy_from_slice(x),
        // The program let the result overwrite the argument.
        Err(error) => assert_eq!(error.code(), ErrorCode::FailedPrecondition),
    }
    call.result(0)?.elements_mut::<f32>()?.iter_mut().for_each(|y| *y += 1.0);
    Ok(())
}

fn negate_booleans(call: &mut CallFrame<'_>) -> Result<()> {
    let x = call.argument(0)?.elements::<bool>()?;
    assert!(call.result(0)?.elements_mut::<bool>().is_err());
    for (y, x) in call.result(0)?.bytes_mut().iter_mut().zip(x) {
        *y = u8::from(!x);
    }
    Ok(())
}

fn copy_narrow(call: &mut CallFrame<'_>) -> Result<()> {
    let x = call.argument(0)?;
    assert_eq!(x.element_type(), ElementType::U4);
    let values = packing::unpack(x.bytes()?, ElementType::U4, 3)?;
    assert_eq!(values, [1, 15, 7]);
    let bytes = x.bytes()?;
    call.result(0)?.bytes_mut().copy_from_slice(bytes);
    Ok(())
}

fn register() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        let plugin = plugin();
        plugin.register_ffi("test.scale", "Host", scale).expect("registers");
        plugin.register_ffi("test.attributes", "Host", check_attributes).expect("registers");
        plugin.register_ffi("test.refuse", "Host", refuse).expect("registers");
        plugin
            .register_ffi("test.panic", "Host", |_| panic!("out of {}", "cheese"))
            .expect("registers");
        plugin.register_ffi("test.in_place", "Host", in_place).expect("registers");
        plugin.register_ffi("test.not", "Host", negate_booleans).expect("registers");
        plugin.register_ffi("test.narrow", "Host", copy_narrow).expect("registers");
    });
}

/// A program that is one custom call of `(argument) -> result`.
fn call(name: &str, config: &str, argument: &str, result: &str) -> LoadedExecutable {
    register();
    compile(
        &format!("(%x: {argument}) -> {result}"),
        &format!(
            "%0 = stablehlo.custom_call @{name}(%x) {{api_version = 4 : i32{config}}}
                : ({argument}) -> {result} return %0 : {result}"
        ),
    )
}

fn run(program: &LoadedExecutable, x: &Buffer) -> Result<Buffer> {
    let y = program.execute(&[x])?.remove(0);
    y.ready()?.wait()?;
    Ok(y)
}

#[test]
fn arguments_results_and_a_scalar() -> Result<()> {
    let config = ", backend_config = {factor = 2.5 : f32}";
    let program = call("test.scale", config, "tensor<2x2xf32>", "tensor<2x2xf32>");
    let x = client().buffer_from_slice(&[1f32, 2.0, 3.0, 4.0], &[2, 2])?;
    assert_eq!(run(&program, &x)?.to_vec::<f32>()?, [2.5, 5.0, 7.5, 10.0]);
    Ok(())
}

#[test]
fn every_kind_of_attribute() -> Result<()> {
    let config = ", backend_config = {n = -3 : i64, flag = true, mode = \"fast\",
        dims = array<i64: 4, 5, 6>, empty = array<f32>, nested = {deep = 9 : i32}}";
    let program = call("test.attributes", config, "tensor<f32>", "tensor<1xi32>");
    let x = client().buffer_from_slice(&[1f32], &[])?;
    assert_eq!(run(&program, &x)?.to_vec::<i32>()?, [1]);
    Ok(())
}

#[test]
fn errors_and_panics_fail_the_execution() -> Result<()> {
    let x = client().buffer_from_slice(&[41f32], &[])?;
    let refuse = call("test.refuse", "", "tensor<f32>", "tensor<f32>");
    let error = run(&refuse, &x).unwrap_err();
    assert_eq!(error.code(), ErrorCode::OutOfRange, "{error}");
    assert!(error.to_string().contains("41 is too much"), "{error}");
    let panics = call("test.panic", "", "tensor<f32>", "tensor<f32>");
    let error = run(&panics, &x).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Internal, "{error}");
    assert!(error.to_string().contains("the handler panicked: out of cheese"), "{error}");
    Ok(())
}

#[test]
fn aliased_arguments_cannot_be_read() -> Result<()> {
    let aliases = ", output_operand_aliases = [#stablehlo.output_operand_alias<
        output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]";
    for aliases in ["", aliases] {
        let program = call("test.in_place", aliases, "tensor<4xf32>", "tensor<4xf32>");
        let x = client().buffer_from_slice(&[1f32; 4], &[4])?;
        assert_eq!(run(&program, &x)?.to_vec::<f32>()?, [2.0; 4]);
        assert_eq!(x.to_vec::<f32>()?, [1.0; 4]);
    }
    Ok(())
}

#[test]
fn booleans_and_narrow_integers() -> Result<()> {
    let not = call("test.not", "", "tensor<3xi1>", "tensor<3xi1>");
    let x = client().buffer_from_slice(&[true, false, true], &[3])?;
    assert_eq!(run(&not, &x)?.to_vec::<bool>()?, [false, true, false]);
    let narrow = call("test.narrow", "", "tensor<3xui4>", "tensor<3xui4>");
    let device = client().default_device()?;
    let x = client().buffer_from_bytes(&[1, 15, 7], ElementType::U4, &[3], &device)?;
    assert_eq!(run(&narrow, &x)?.to_bytes()?, [1, 15, 7]);
    Ok(())
}

#[test]
fn device_platforms_are_refused() {
    let error = plugin().register_ffi("test.gpu", "CUDA", |_| Ok(())).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
}

#[test]
fn unknown_targets_fail() {
    let program = rectiflow_pjrt::Program::stablehlo(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {
            %0 = stablehlo.custom_call @test.nobody(%x) {api_version = 4 : i32}
                : (tensor<f32>) -> tensor<f32> return %0 : tensor<f32> }",
    );
    let compiled = client().compile(&program, &Default::default());
    assert!(compiled.unwrap_err().to_string().contains("test.nobody"));
}

#[test]
fn a_name_is_registered_once() {
    let plugin = plugin();
    plugin.register_ffi("test.once", "Host", |_| Ok(())).expect("registers");
    let again = plugin.clone().register_ffi("test.once", "Host", scale).unwrap_err();
    assert_eq!(again.code(), ErrorCode::AlreadyExists);
    assert_eq!(again.to_string(), "a handler named test.once is registered already");
    for name in ["", "a\0b"] {
        let error = plugin.register_ffi(name, "Host", scale).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArgument, "{name:?}");
    }
}

/// A payload that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a second panic");
    }
}

#[test]
fn a_panic_whose_payload_panics_fails_the_execution() -> Result<()> {
    register();
    let bomb = |_: &mut CallFrame<'_>| -> Result<()> { std::panic::panic_any(Bomb) };
    plugin().register_ffi("test.bomb", "Host", bomb)?;
    let x = client().buffer_from_slice(&[1f32], &[])?;
    let error = run(&call("test.bomb", "", "tensor<f32>", "tensor<f32>"), &x).unwrap_err();
    assert!(error.to_string().contains("the handler panicked: no message"), "{error}");
    Ok(())
}
