//! Donated arguments.

use rectiflow_pjrt::{Argument, ExecuteOptions, LoadedExecutable, Result};

use crate::{client, compile};

/// Adds one in place: the output may take the argument's memory.
fn increment(attribute: &str) -> LoadedExecutable {
    compile(
        &format!("(%x: tensor<1024xf32> {{{attribute}}}) -> tensor<1024xf32>"),
        "%c = stablehlo.constant dense<1.0> : tensor<1024xf32>
         %0 = stablehlo.add %x, %c : tensor<1024xf32> return %0 : tensor<1024xf32>",
    )
}

const ALIASING: &str = "tf.aliasing_output = 0 : i32";

#[test]
fn donation_is_read_from_the_program() {
    assert_eq!(increment(ALIASING).donated_parameters(), [0]);
    assert_eq!(increment("").donated_parameters(), [0usize; 0]);
}

#[test]
fn donated_arguments_are_consumed() -> Result<()> {
    for attribute in [ALIASING, "jax.buffer_donor = true"] {
        let step = increment(attribute);
        let mut x = client().buffer_from_slice(&[0f32; 1024], &[1024])?;
        for _ in 0..5 {
            x = step.execute_donating([Argument::from(x)])?.remove(0);
        }
        assert_eq!(x.to_vec::<f32>()?, [5.0; 1024], "{attribute}");
    }
    Ok(())
}

#[test]
fn borrowed_arguments_survive_a_donating_program() -> Result<()> {
    let step = increment(ALIASING);
    let x = client().buffer_from_slice(&[1f32; 1024], &[1024])?;
    let y = step.execute(&[&x])?.remove(0);
    let z = step.execute(&[&x])?.remove(0);
    assert_eq!(x.to_vec::<f32>()?, [1.0; 1024]);
    assert_eq!((y.to_vec::<f32>()?, z.to_vec::<f32>()?), (vec![2.0; 1024], vec![2.0; 1024]));
    Ok(())
}

#[test]
fn the_same_array_twice() -> Result<()> {
    let add = compile(
        "(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<4xf32>) -> tensor<4xf32>",
        "%0 = stablehlo.add %x, %y : tensor<4xf32> return %0 : tensor<4xf32>",
    );
    let x = client().buffer_from_slice(&[1f32; 4], &[4])?;
    let y = add.execute(&[&x, &x])?.remove(0);
    assert_eq!((x.to_vec::<f32>()?, y.to_vec::<f32>()?), (vec![1.0; 4], vec![2.0; 4]));
    let z = add.execute_donating([Argument::from(y), Argument::from(&x)])?.remove(0);
    assert_eq!(z.to_vec::<f32>()?, [3.0; 4]);
    Ok(())
}

#[test]
fn non_donatable_wins_over_by_value() -> Result<()> {
    let step = increment(ALIASING);
    let x = client().buffer_from_slice(&[1f32; 1024], &[1024])?;
    let options = ExecuteOptions::new().non_donatable(&[0]);
    let y = step.launch(vec![vec![x.into()]], &options)?;
    y.events[0].wait()?;
    assert_eq!(y.outputs[0][0].to_vec::<f32>()?, [2.0; 1024]);
    Ok(())
}

/// Reusing the memory is the point: a donated array's bytes are not held twice.
#[test]
fn uninitialized_arrays_can_be_donated() -> Result<()> {
    let fill = compile(
        "(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32>",
        "%c = stablehlo.constant dense<3.0> : tensor<4xf32>
         %0 = stablehlo.multiply %x, %c : tensor<4xf32>
         %1 = stablehlo.compare EQ, %0, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
         %2 = stablehlo.select %1, %c, %c : tensor<4xi1>, tensor<4xf32> return %2 : tensor<4xf32>",
    );
    let device = client().default_device()?;
    let f32 = rectiflow_pjrt::ElementType::F32;
    let x = client().uninitialized_buffer(f32, &[4], &device)?;
    assert_eq!(x.dims(), [4]);
    let y = fill.execute_donating([x.into()])?.remove(0);
    assert_eq!(y.to_vec::<f32>()?, [3.0; 4]);
    Ok(())
}
