//! Execution on several devices.

use rectiflow_pjrt::{
    Argument, Buffer, CompileOptions, ElementType, ExecuteOptions, LoadedExecutable, Program,
    Result,
};

use crate::client;

/// `x @ w` with the contracted dimension split over four devices: each holds a
/// slice of both, and the partitioner adds the all-reduce.
const SHARDED_DOT: &str = r#"module @dot {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(
      %x: tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
      %w: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<2x8xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
    return %0 : tensor<2x2xf32>
  }
}"#;

fn compiled() -> Result<LoadedExecutable> {
    client().compile(&Program::stablehlo(SHARDED_DOT), &CompileOptions::new().partitions(4))
}

fn put(values: &[f32], dims: &[i64], device: usize) -> Result<Buffer> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    client().buffer_from_bytes(&bytes, ElementType::F32, dims, &client().devices()?[device])
}

/// Slices of `x[i][k] = k + 8 i` and of `w = 1`, for each device.
fn shards() -> Result<Vec<[Buffer; 2]>> {
    let shard = |d: usize| {
        let k = 2.0 * d as f32;
        let x = put(&[k, k + 1.0, k + 8.0, k + 9.0], &[2, 2], d)?;
        Ok([x, put(&[1.0; 4], &[2, 2], d)?])
    };
    (0..4).map(shard).collect()
}

#[test]
fn shardy_program_on_four_devices() -> Result<()> {
    let dot = compiled()?;
    assert_eq!(dot.n_devices(), 4);
    assert_eq!(dot.executable().n_partitions()?, 4);
    assert_eq!(dot.devices(), client().devices()?);
    let shards = shards()?;
    let args: Vec<Vec<&Buffer>> = shards.iter().map(|s| s.iter().collect()).collect();
    let outputs = dot.execute_sharded(&args, &ExecuteOptions::new().launch_id(1))?;
    for (device, outputs) in outputs.iter().enumerate() {
        assert_eq!(outputs[0].dims(), [2, 2]);
        assert_eq!(outputs[0].device()?.id()?, device as i32);
        assert_eq!(outputs[0].to_vec::<f32>()?, [28.0, 28.0, 92.0, 92.0]);
    }
    Ok(())
}

#[test]
fn parameter_shapes_are_those_of_one_device() -> Result<()> {
    let dot = compiled()?;
    let shapes = dot.parameter_shapes().expect("the CPU returns its optimized program");
    assert!(shapes.iter().flatten().all(|shape| shape.dims() == [2, 2]), "{shapes:?}");
    Ok(())
}

#[test]
fn one_event_per_device() -> Result<()> {
    let dot = compiled()?;
    let args = shards()?.into_iter().map(|s| s.map(Argument::from).into()).collect();
    let execution = dot.launch(args, &ExecuteOptions::new())?;
    assert_eq!(execution.events.len(), 4);
    execution.events.iter().try_for_each(|event| event.wait())
}

#[test]
fn wrong_counts_are_refused() -> Result<()> {
    let dot = compiled()?;
    let shards = shards()?;
    let args: Vec<Vec<&Buffer>> = shards.iter().map(|s| s.iter().collect()).collect();
    let error = dot.execute_sharded(&args[..3], &ExecuteOptions::new()).unwrap_err();
    assert_eq!(error.to_string(), "the program runs on 4 devices, found arguments for 3");
    assert!(dot.execute(&[&shards[0][0], &shards[0][1]]).is_err());
    let mut uneven = args.clone();
    uneven[2].pop();
    assert!(dot.execute_sharded(&uneven, &ExecuteOptions::new()).is_err());
    Ok(())
}

#[test]
fn mixed_donation_is_refused() -> Result<()> {
    let dot = compiled()?;
    let mut shards = shards()?;
    let last = shards.pop().expect("four shards");
    let mut args: Vec<Vec<Argument<'_>>> =
        shards.iter().map(|s| s.iter().map(Argument::from).collect()).collect();
    args.push(last.map(Argument::from).into());
    let error = dot.launch(args, &ExecuteOptions::new()).unwrap_err();
    assert_eq!(error.to_string(), "argument 0 is donated on some devices and lent on others");
    Ok(())
}

#[test]
fn replicas_run_on_an_assignment() -> Result<()> {
    let program = Program::stablehlo(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
            %0 = stablehlo.add %x, %x : tensor<2xf32> return %0 : tensor<2xf32> }",
    );
    let options = CompileOptions::new().replicas(2).device_assignment(vec![vec![3], vec![1]]);
    let double = client().compile(&program, &options)?;
    let ids: Vec<i32> = double.devices().iter().map(|d| d.id()).collect::<Result<_>>()?;
    assert_eq!(ids, [3, 1]);
    let args = [[put(&[1.0, 2.0], &[2], 3)?], [put(&[3.0, 4.0], &[2], 1)?]];
    let borrowed: Vec<Vec<&Buffer>> = args.iter().map(|a| a.iter().collect()).collect();
    let outputs = double.execute_sharded(&borrowed, &ExecuteOptions::new())?;
    assert_eq!(outputs[0][0].to_vec::<f32>()?, [2.0, 4.0]);
    assert_eq!(outputs[1][0].to_vec::<f32>()?, [6.0, 8.0]);
    Ok(())
}

#[test]
fn copies_across_devices_and_memories() -> Result<()> {
    let devices = client().devices()?;
    let x = put(&[1.0, 2.0], &[2], 0)?;
    let y = x.copy_to(&devices[3])?;
    assert_eq!((y.device()?, y.to_vec::<f32>()?), (devices[3].clone(), vec![1.0, 2.0]));
    let pinned = devices[0].memory("pinned_host")?.expect("pinned host memory");
    let z = x.copy_to(&pinned)?;
    assert_eq!((z.memory()?, z.to_vec::<f32>()?), (pinned, vec![1.0, 2.0]));
    let back = z.copy_to(&devices[1].default_memory()?)?;
    assert_eq!((back.device()?, back.to_vec::<f32>()?), (devices[1].clone(), vec![1.0, 2.0]));
    Ok(())
}
