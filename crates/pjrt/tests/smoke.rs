use rectiflow_pjrt::*;
#[test]
fn add() -> Result<()> {
    let plugin = Plugin::load(std::env::var("PJRT_PLUGIN_LIBRARY_PATH").unwrap())?;
    eprintln!("{plugin:?} {:?} {:?}", plugin.attributes()?, plugin.extensions());
    let client = plugin.client(&ClientOptions::new().cpu_device_count(4))?;
    eprintln!("{:?} {:?}", client.devices()?, client.memories()?);
    let exe = client.compile(&Program::stablehlo("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { %0 = stablehlo.add %a, %a : tensor<2xf32> return %0 : tensor<2xf32> }"), &CompileOptions::new())?;
    let buf = client.buffer_from_slice(&[1f32, 2.0], &[2])?;
    let outs = exe.execute(&[&buf])?;
    assert_eq!(outs[0].to_vec::<f32>()?, [2.0, 4.0]);
    eprintln!("{:?} {:?}", exe.parameter_shapes(), exe.executable().parameter_memory_kinds());
    let e = exe.execute(&[]).unwrap_err();
    eprintln!("{e}");
    let e = client.compile(&Program::stablehlo("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }"), &CompileOptions::new().flag("xla_cpu_enable_fast_mth", true)).unwrap_err();
    eprintln!("{e}");
    Ok(())
}
