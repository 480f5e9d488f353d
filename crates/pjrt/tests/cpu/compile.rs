//! Compiling, inspecting, serializing.

use rectiflow_pjrt::{CompileOptions, ErrorCode, Program, Result, Shape};

use crate::{client, double, if_implemented, plugin};

const IDENTITY: &str = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32> }";

#[test]
fn executables_describe_themselves() -> Result<()> {
    let program = Program::stablehlo(
        "module @pair { func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<i32>) {
            %c = stablehlo.constant dense<7> : tensor<i32>
            %0 = stablehlo.negate %x : tensor<2x3xf32>
            return %0, %c : tensor<2x3xf32>, tensor<i32> } }",
    );
    let loaded = client().compile(&program, &CompileOptions::new())?;
    let executable = loaded.executable();
    assert!(executable.name()?.contains("pair"), "{}", executable.name()?);
    assert_eq!((executable.n_replicas()?, executable.n_partitions()?), (1, 1));
    assert_eq!(executable.n_outputs()?, 2);
    let shapes: Vec<_> = executable.output_shapes()?.iter().map(Shape::to_string).collect();
    assert_eq!(shapes, ["f32[2, 3]", "i32[]"]);
    if let Some(kinds) = if_implemented("output_memory_kinds", executable.output_memory_kinds())? {
        assert_eq!(kinds, ["device", "device"]);
    }
    let parameters = loaded.parameter_shapes().expect("the CPU returns its optimized program");
    assert_eq!(parameters[0].as_ref().map(Shape::to_string).as_deref(), Some("f32[2, 3]"));
    executable.code_bytes()?;
    Ok(())
}

#[test]
fn optional_facts() -> Result<()> {
    let double = double();
    let executable = double.executable();
    if let Some(text) = if_implemented("fingerprint", executable.fingerprint())? {
        assert!(!text.is_empty());
    }
    if let Some(stats) = if_implemented("memory_stats", executable.memory_stats())? {
        assert_eq!((stats.argument_bytes, stats.output_bytes), (32, 32));
    }
    if let Some(costs) = if_implemented("cost_analysis", executable.cost_analysis())? {
        assert!(!costs.is_empty());
    }
    let kinds = executable.parameter_memory_kinds();
    if let Some(kinds) = if_implemented("parameter_memory_kinds", kinds)? {
        assert_eq!(kinds, ["device"]);
    }
    Ok(())
}

#[test]
fn layouts_are_text() -> Result<()> {
    let double = double();
    assert_eq!(double.executable().output_layouts()?, ["{0}"]);
    let parameters = double.executable().parameter_layouts();
    if let Some(layouts) = if_implemented("parameter_layouts", parameters)? {
        assert_eq!(layouts, ["{0}"]);
    }
    let shape = Shape::new(rectiflow_pjrt::ElementType::F32, &[2, 3])?;
    assert_eq!(client().default_layout(&shape)?, "{1,0}");
    Ok(())
}

#[test]
fn the_optimized_program_compiles_again() -> Result<()> {
    let optimized = double().executable().optimized_program()?;
    assert!(optimized.format().starts_with("hlo"), "{}", optimized.format());
    if optimized.format() == "hlo" {
        let again =
            client().compile(&Program::hlo_proto(optimized.code()), &CompileOptions::new())?;
        let x = client().buffer_from_slice(&[1f32; 8], &[8])?;
        assert_eq!(again.execute(&[&x])?[0].to_vec::<f32>()?, [2.0; 8]);
    }
    Ok(())
}

#[test]
fn bad_programs_name_the_function_and_the_reason() {
    let bad = "func.func @main() -> tensor<2xf32> { return %nothing : tensor<2xf32> }";
    let error = client().compile(&Program::stablehlo(bad), &CompileOptions::new()).unwrap_err();
    // A parse error has no code of its own in this plugin.
    assert!(matches!(error.code(), ErrorCode::Unknown | ErrorCode::InvalidArgument), "{error}");
    assert_eq!(error.function(), Some("PJRT_Client_Compile"));
    assert!(error.plugin_message().is_some_and(|m| m.contains("undeclared SSA value")), "{error}");
    let garbage = Program::hlo_proto([0xffu8; 7]);
    assert!(client().compile(&garbage, &CompileOptions::new()).is_err());
}

#[test]
fn unknown_flags_get_suggestions() {
    let options = CompileOptions::new().flag("xla_cpu_enable_fast_mth", true);
    let error = client().compile(&Program::stablehlo(IDENTITY), &options).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("did you mean xla_cpu_enable_fast_math"), "{text}");
}

#[test]
fn known_flags_are_accepted_and_read() -> Result<()> {
    let dump = tempfile::tempdir().expect("a temporary folder");
    let path = dump.path().to_str().expect("UTF-8");
    let options = CompileOptions::new()
        .flag("xla_dump_to", path)
        .flag("xla_dump_hlo_as_text", true)
        .flag("xla_backend_optimization_level", 1i64);
    client().compile(&Program::stablehlo(IDENTITY), &options)?;
    let files = std::fs::read_dir(dump.path()).expect("the folder exists").count();
    assert!(files > 0, "xla_dump_to had no effect");
    Ok(())
}

#[test]
fn bad_options_are_refused_before_the_compile() {
    let program = Program::stablehlo(IDENTITY);
    let refused =
        |options: CompileOptions| client().compile(&program, &options).unwrap_err().to_string();
    let text = refused(CompileOptions::new().replicas(0));
    assert_eq!(text, "0 replicas of 1 partitions cannot be compiled for");
    let text = refused(CompileOptions::new().device_assignment(vec![vec![0, 1]]));
    assert_eq!(text, "a device assignment needs 1 rows of 1 ids, found rows of [2]");
}

#[test]
fn equal_options_encode_equally() -> Result<()> {
    let ab = CompileOptions::new().flag("xla_a", 1i64).flag("xla_b", true);
    let ba = CompileOptions::new().flag("xla_b", true).flag("xla_a", 1i64);
    assert_eq!(ab.to_proto()?, ba.to_proto()?);
    assert_ne!(ab.to_proto()?, ab.clone().portable(true).to_proto()?);
    Ok(())
}

#[test]
fn serialize_and_restore() -> Result<()> {
    let bytes = double().serialize()?;
    let restored = client().deserialize(&bytes)?;
    let x = client().buffer_from_slice(&[1.5f32; 8], &[8])?;
    assert_eq!(restored.execute(&[&x])?[0].to_vec::<f32>()?, [3.0; 8]);
    assert!(client().deserialize(&bytes[..bytes.len() / 2]).is_err());
    assert!(client().deserialize(b"not an executable").is_err());
    Ok(())
}

#[test]
fn restore_onto_another_device() -> Result<()> {
    let bytes = double().serialize()?;
    let options = CompileOptions::new().device_assignment(vec![vec![2]]);
    let restored = client().deserialize_with(&bytes, &options)?;
    assert_eq!(restored.devices(), [client().devices()?[2].clone()]);
    Ok(())
}

#[test]
fn compile_without_a_client() -> Result<()> {
    let test = "compile_without_a_client";
    let serialized = client().topology()?.serialize()?;
    let restored = plugin().deserialize_topology(&serialized);
    let Some(topology) = if_implemented(test, restored)? else { return Ok(()) };
    let program = Program::stablehlo(IDENTITY);
    let compiled = plugin().compile(&program, &topology, &CompileOptions::new());
    let Some(executable) = if_implemented(test, compiled)? else { return Ok(()) };
    assert_eq!(executable.n_outputs()?, 1);
    let loaded = match client().load(&executable, &CompileOptions::new()) {
        Err(error) if error.is_unimplemented() => client().deserialize(&executable.serialize()?)?,
        other => other?,
    };
    let x = client().buffer_from_slice(&[1f32, 2.0], &[2])?;
    assert_eq!(loaded.execute(&[&x])?[0].to_vec::<f32>()?, [1.0, 2.0]);
    Ok(())
}

#[test]
fn compile_for_the_clients_topology() -> Result<()> {
    let program = Program::stablehlo(IDENTITY);
    let compiled = plugin().compile(&program, &client().topology()?, &CompileOptions::new());
    if let Some(executable) = if_implemented("compile_for_the_clients_topology", compiled)? {
        assert_eq!(executable.n_outputs()?, 1);
    }
    Ok(())
}

/// A plugin aborts on all of these, or searches for a minute.
#[test]
fn devices_that_are_not_there_are_refused() {
    let program = Program::stablehlo(IDENTITY);
    let refused = |options: CompileOptions| {
        let error = client().compile(&program, &options).unwrap_err();
        assert_eq!((error.code(), error.function()), (ErrorCode::InvalidArgument, None));
        error.to_string()
    };
    let on = |rows: &[i64]| {
        let rows: Vec<_> = rows.iter().map(|id| vec![*id]).collect();
        CompileOptions::new().replicas(rows.len()).device_assignment(rows)
    };
    assert_eq!(refused(on(&[-1])), "a device id is between 0 and 2147483647, found -1");
    assert_eq!(
        refused(on(&[1 << 32])),
        "a device id is between 0 and 2147483647, found 4294967296"
    );
    assert_eq!(refused(on(&[4])), "there is no device 4 among {0, 1, 2, 3}");
    assert_eq!(refused(on(&[2, 2])), "the assignment has device 2 twice");
    let text = refused(CompileOptions::new().replicas(3).partitions(2));
    assert_eq!(text, "3 replicas of 2 partitions need 6 devices, found 4");
    refused(CompileOptions::new().replicas(i32::MAX as usize));
    refused(CompileOptions::new().partitions(i32::MAX as usize));
    let bytes = double().serialize().expect("serializes");
    assert!(client().deserialize_with(&bytes, &on(&[9])).unwrap_err().function().is_none());
}

#[test]
fn one_propagation_flag_for_each_or_for_all() -> Result<()> {
    let program = Program::stablehlo(IDENTITY);
    let compile = |shardy, parameters: &[bool], outputs: &[bool]| {
        let options = CompileOptions::new().partitions(2).shardy(shardy);
        let options = options.propagate_shardings(parameters.to_vec(), outputs.to_vec());
        client().compile(&program, &options)
    };
    for shardy in [true, false] {
        for (parameters, outputs) in [(&[true][..], &[][..]), (&[], &[true]), (&[true], &[true])] {
            compile(shardy, parameters, outputs)?;
        }
        assert_eq!(
            compile(shardy, &[true; 3], &[]).unwrap_err().to_string(),
            "sharding is propagated to parameters by 1 flag or 1, found 3"
        );
        assert_eq!(
            compile(shardy, &[], &[true, false]).unwrap_err().to_string(),
            "sharding is propagated to outputs by 1 flag or 1, found 2"
        );
    }
    Ok(())
}
