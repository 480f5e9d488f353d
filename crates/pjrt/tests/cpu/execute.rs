//! Execution on one device.

use rectiflow_pjrt::{
    CompileOptions, ErrorCode, ExecuteOptions, LoadedExecutable, Program, Result, baseline,
};

use crate::{client, compile, double, plugin, skipped};

#[test]
fn outputs_keep_their_order_and_shapes() -> Result<()> {
    let program = compile(
        "(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>)",
        "%0 = stablehlo.subtract %x, %y : tensor<2xf32>
         %1 = stablehlo.compare LT, %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
         return %0, %1 : tensor<2xf32>, tensor<2xi1>",
    );
    let x = client().buffer_from_slice(&[1f32, 5.0], &[2])?;
    let y = client().buffer_from_slice(&[2f32, 3.0], &[2])?;
    for _ in 0..3 {
        let outputs = program.execute(&[&x, &y])?;
        assert_eq!(outputs[0].to_vec::<f32>()?, [-1.0, 2.0]);
        assert_eq!(outputs[1].to_vec::<bool>()?, [true, false]);
    }
    Ok(())
}

#[test]
fn outputs_feed_executions_before_they_are_ready() -> Result<()> {
    let double = double();
    let mut x = client().buffer_from_slice(&[1f32; 8], &[8])?;
    for _ in 0..10 {
        x = double.execute(&[&x])?.remove(0);
    }
    assert_eq!(x.to_vec::<f32>()?, [1024.0; 8]);
    Ok(())
}

#[test]
fn wrong_arguments_are_refused_before_the_call() -> Result<()> {
    let double = double();
    let right = client().buffer_from_slice(&[1f32; 8], &[8])?;
    let short = client().buffer_from_slice(&[1f32; 4], &[4])?;
    let ints = client().buffer_from_slice(&[1i32; 8], &[8])?;
    let refused = |args: &[&_]| {
        let error = double.execute(args).unwrap_err();
        assert_eq!((error.code(), error.function()), (ErrorCode::InvalidArgument, None));
        error.to_string()
    };
    assert_eq!(refused(&[]), "the program takes 1 arguments, found 0");
    assert_eq!(refused(&[&right, &right]), "the program takes 1 arguments, found 2");
    assert_eq!(refused(&[&short]), "argument 0 of device 0: expected f32[8], found f32[4]");
    assert_eq!(refused(&[&ints]), "argument 0 of device 0: expected f32[8], found i32[8]");
    let other = plugin().client(&Default::default())?;
    let foreign = other.buffer_from_slice(&[1f32; 8], &[8])?;
    assert_eq!(refused(&[&foreign]), "argument 0 belongs to another client");
    let none: [&[&_]; 0] = [];
    let error = double.execute_sharded(&none, &ExecuteOptions::new()).unwrap_err();
    assert_eq!(error.to_string(), "the program runs on 1 devices, found arguments for 0");
    Ok(())
}

#[test]
fn the_wrong_device_is_the_plugins_error() -> Result<()> {
    let second = &client().devices()?[1];
    let bytes = [0u8; 32];
    let x = client().buffer_from_bytes(&bytes, rectiflow_pjrt::ElementType::F32, &[8], second)?;
    let error = double().execute(&[&x]).unwrap_err();
    assert_eq!(error.function(), Some("PJRT_LoadedExecutable_Execute"));
    Ok(())
}

#[test]
fn programs_without_outputs_are_waited_for() -> Result<()> {
    let nothing = compile("(%x: tensor<8xf32>)", "return");
    let x = client().buffer_from_slice(&[1f32; 8], &[8])?;
    assert!(nothing.execute(&[&x])?.is_empty());
    Ok(())
}

#[test]
fn launch_options() -> Result<()> {
    let double = double();
    let x = client().buffer_from_slice(&[1f32; 8], &[8])?;
    let options =
        ExecuteOptions::new().launch_id(7).call_location("model.rs:12").non_donatable(&[0]);
    let execution = double.launch(vec![vec![(&x).into()]], &options)?;
    assert_eq!(execution.events.len(), 1);
    execution.events[0].wait()?;
    assert_eq!(execution.outputs[0][0].to_vec::<f32>()?, [2.0; 8]);
    let outside = ExecuteOptions::new().non_donatable(&[1]);
    let error = double.launch(vec![vec![(&x).into()]], &outside).unwrap_err();
    assert_eq!(error.to_string(), "non-donatable index 1 is outside the 1 arguments");
    Ok(())
}

#[test]
fn portable_executables_run_where_they_are_told() -> Result<()> {
    let program = Program::stablehlo(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }",
    );
    let portable = client().compile(&program, &CompileOptions::new().portable(true))?;
    for device in client().devices()? {
        let bytes: Vec<u8> = [1f32, 2.0].iter().flat_map(|v| v.to_ne_bytes()).collect();
        let f32 = rectiflow_pjrt::ElementType::F32;
        let x = client().buffer_from_bytes(&bytes, f32, &[2], &device)?;
        let options = ExecuteOptions::new().device(&device);
        let y = portable.execute_sharded(&[[&x]], &options)?.remove(0).remove(0);
        assert_eq!(y.device()?, device);
        assert_eq!(y.to_bytes()?, bytes);
    }
    Ok(())
}

#[test]
fn many_threads_share_an_executable() -> Result<()> {
    let double = double();
    std::thread::scope(|scope| {
        for t in 0..4 {
            let double = double.clone();
            scope.spawn(move || {
                for i in 0..50 {
                    let value = (t * 100 + i) as f32;
                    let x = client().buffer_from_slice(&[value; 8], &[8]).expect("a buffer");
                    let y = double.execute(&[&x]).expect("an execution").remove(0);
                    assert_eq!(y.to_vec::<f32>().expect("a read"), [2.0 * value; 8]);
                }
            });
        }
    });
    Ok(())
}

#[test]
fn bare_calls_do_the_same() -> Result<()> {
    let double = double();
    let x = client().buffer_from_slice(&[1f32; 8], &[8])?;
    let mut execute = baseline::Execute::new(&double, &[&x])?;
    execute.run()?;
    execute.run()?;
    baseline::ToDevice::new(client(), &[1f32; 100])?.run()?;
    let mut read = baseline::ToHost::new(&x)?;
    read.run()?;
    assert_eq!(read.bytes(), x.to_bytes()?);
    Ok(())
}

/// The other order of two dims.
pub(crate) const OTHER: &str = " {mhlo.layout_mode = \"{0,1}\"}";

/// A program `x -> x + x` with its argument and its result in the orders given.
pub(crate) fn ordered(tensor: &str, parameter: &str, result: &str) -> LoadedExecutable {
    compile(
        &format!("(%x: {tensor}{parameter}) -> ({tensor}{result})"),
        &format!("%0 = stablehlo.add %x, %x : {tensor} return %0 : {tensor}"),
    )
}

#[test]
fn arrays_of_another_dimension_order_are_refused() -> Result<()> {
    let [usual, gives, takes] =
        [("", ""), ("", OTHER), (OTHER, "")].map(|(x, y)| ordered("tensor<2x3xf32>", x, y));
    let x = client().buffer_from_slice(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?;
    let y = gives.execute(&[&x])?.remove(0);
    if y.layout()? == x.layout()? {
        skipped("arrays_of_another_dimension_order_are_refused", "the plugin ignores layout modes");
        return Ok(());
    }
    match y.to_vec::<f32>() {
        Ok(read) => assert_eq!(read, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]),
        // That one would return them in the other order.
        Err(error) => assert!(plugin().api_version() < (0, 90), "{error}"),
    }
    let error = usual.execute(&[&y]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    assert!(error.to_string().contains("expected the usual dimension order, found"), "{error}");
    let error = takes.execute(&[&x]).unwrap_err().to_string();
    assert!(error.contains("expected dimension order {0,1}, found the usual"), "{error}");
    let z = takes.execute(&[&y])?.remove(0);
    assert_eq!(z.to_vec::<f32>()?, [4.0, 8.0, 12.0, 16.0, 20.0, 24.0]);
    Ok(())
}

/// Nothing moves in memory when a dim of size 1 does.
#[test]
fn dims_of_size_one_have_no_order() -> Result<()> {
    for tensor in ["tensor<1x3xf32>", "tensor<3x1xf32>"] {
        let dims = if tensor.contains("1x3") { [1, 3] } else { [3, 1] };
        let x = client().buffer_from_slice(&[1f32, 2.0, 3.0], &dims)?;
        let y = ordered(tensor, "", OTHER).execute(&[&x])?.remove(0);
        let z = ordered(tensor, "", "").execute(&[&y])?.remove(0);
        let z = ordered(tensor, OTHER, "").execute(&[&z])?.remove(0);
        assert_eq!(y.to_vec::<f32>()?, [2.0, 4.0, 6.0], "{tensor}");
        assert_eq!(z.to_vec::<f32>()?, [8.0, 16.0, 24.0], "{tensor}");
    }
    Ok(())
}

/// No plugin is asked: an old one aborts when it is given arrays for a tuple.
#[test]
fn a_tuple_parameter_is_an_error() -> Result<()> {
    let program = compile(
        "(%t: tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>",
        "%0 = stablehlo.get_tuple_element %t[0]
            : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
         return %0 : tensor<2xf32>",
    );
    let a = client().buffer_from_slice(&[3f32, 5.0], &[2])?;
    for n in [1, 2] {
        let error = program.execute(&vec![&a; n]).unwrap_err();
        assert!(error.is_unimplemented() && error.function().is_none(), "{error}");
        assert!(error.to_string().contains("parameter 0 of the program is a tuple"), "{error}");
        let launched = program.execute_donating((0..n).map(|_| (&a).into())).unwrap_err();
        assert_eq!(launched.to_string(), error.to_string());
    }
    assert_eq!(program.parameter_shapes(), Some(&[None][..]));
    Ok(())
}
