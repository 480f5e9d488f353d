//! Compiling for a TPU that is not here.

use rectiflow_pjrt::{CompileOptions, Plugin, Program, Result};

const MLP: &str = r#"module @mlp {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(
      %x: tensor<16x256xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
      %w: tensor<256x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
      %v: tensor<1024x256xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<16x256xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<16x256xbf16>, tensor<256x1024xbf16>) -> tensor<16x1024xbf16>
    %1 = stablehlo.dot_general %0, %v, contracting_dims = [1] x [0]
        : (tensor<16x1024xbf16>, tensor<1024x256xbf16>) -> tensor<16x256xbf16>
    return %1 : tensor<16x256xbf16>
  }
}"#;

/// Compiles for four chips and reads the plan. One test, because libtpu reads its
/// environment at load time and serves one process.
#[test]
fn compile_for_v6e_2x2() -> Result<()> {
    let found = xla_build::find(xla_build::Platform::Tpu).expect("the manifest is readable");
    let Some(found) = found else {
        eprintln!("skipped compile_for_v6e_2x2: libtpu is not installed");
        return Ok(());
    };
    // SAFETY: the only test of this process, before any other thread exists that
    // reads the environment.
    unsafe {
        std::env::set_var("TPU_SKIP_MDS_QUERY", "1");
        std::env::set_var("ALLOW_MULTIPLE_LIBTPU_LOAD", "1");
    }
    let plugin = Plugin::load(found.path)?;
    let topology = plugin.topology("v6e:2x2", &[])?;
    assert_eq!(topology.platform_name()?, "tpu");
    let devices = topology.devices()?;
    assert_eq!(devices.len(), 4);
    assert_eq!(devices[0].kind()?, "TPU v6 lite");
    assert!(devices[0].attributes()?.iter().any(|(name, _)| name == "coords"));
    let kinds: Vec<_> =
        devices[0].memories()?.into_iter().map(|m| (m.kind, m.is_default)).collect();
    assert!(kinds.contains(&("device".to_owned(), true)), "{kinds:?}");
    assert!(kinds.contains(&("pinned_host".to_owned(), false)), "{kinds:?}");
    let program = Program::stablehlo(MLP);
    let executable = plugin.compile(&program, &topology, &CompileOptions::new().partitions(4))?;
    assert_eq!(executable.n_partitions()?, 4);
    assert_eq!(executable.output_shapes()?[0].to_string(), "bf16[16, 256]");
    assert!(executable.code_bytes()? > 0);
    let stats = executable.memory_stats()?;
    // Each device holds a quarter of both weights, and all of the input.
    assert!((262_144..400_000).contains(&stats.argument_bytes), "{stats:?}");
    assert!(!executable.serialize()?.is_empty());
    let text = plugin
        .compile(
            &program,
            &topology,
            &CompileOptions::new()
                .partitions(4)
                .flag("xla_tpu_enable_async_colective_fusion", true),
        )
        .unwrap_err()
        .to_string();
    assert!(text.contains("did you mean xla_tpu_enable_async_collective_fusion"), "{text}");
    let error = plugin.topology("v99:2x2", &[]).unwrap_err();
    assert_eq!(error.function(), Some("PJRT_TopologyDescription_Create"));
    Ok(())
}
