//! Arrays that begin without contents.

use rectiflow_pjrt::{ElementType, Error, ErrorCode, Result};

use crate::execute::{OTHER, ordered};
use crate::{client, compile, double, skipped};

#[test]
fn sizes_on_the_device() -> Result<()> {
    let x = client().buffer_from_slice(&[1f32; 8], &[2, 4])?;
    assert!(x.on_device_bytes()? >= 32);
    assert_eq!(x.layout()?, "{1,0}");
    Ok(())
}

#[test]
fn uninitialized_arrays_in_any_memory() -> Result<()> {
    for memory in client().default_device()?.memories()? {
        let buffer = client().uninitialized_buffer(ElementType::BF16, &[3, 5], &memory)?;
        assert_eq!(buffer.memory()?, memory);
        assert_eq!(buffer.to_bytes()?.len(), 30);
    }
    Ok(())
}

#[test]
fn aliases_become_what_they_are_told() -> Result<()> {
    let memory = client().default_device()?.default_memory()?;
    let (alias, fulfiller) = match client().alias_buffer(ElementType::F32, &[8], &memory) {
        Err(error) if error.is_unimplemented() => {
            skipped("aliases_become_what_they_are_told", error);
            return Ok(());
        }
        other => other?,
    };
    let outputs = double().execute(&[&alias])?;
    assert!(!outputs[0].ready()?.is_ready()?, "nothing was fulfilled yet");
    let x = client().buffer_from_slice(&[2f32; 8], &[8])?;
    fulfiller.fulfill(x)?;
    assert_eq!(outputs[0].to_vec::<f32>()?, [4.0; 8]);
    Ok(())
}

#[test]
fn aliases_fail() -> Result<()> {
    let memory = client().default_device()?.default_memory()?;
    let alias = || client().alias_buffer(ElementType::F32, &[8], &memory);
    if let Err(error) = alias() {
        assert!(error.is_unimplemented(), "{error}");
        skipped("aliases_fail", error);
        return Ok(());
    }
    let (failed, fulfiller) = alias()?;
    fulfiller.fail(&Error::with_code(ErrorCode::Aborted, "changed its mind"))?;
    assert!(failed.to_vec::<f32>().unwrap_err().to_string().contains("changed its mind"));
    let (dropped, fulfiller) = alias()?;
    drop(fulfiller);
    assert_eq!(dropped.to_vec::<f32>().unwrap_err().code(), ErrorCode::Cancelled);
    let (mismatched, fulfiller) = alias()?;
    let wrong = client().buffer_from_slice(&[1f32], &[1])?;
    assert_eq!(
        fulfiller.fulfill(wrong).unwrap_err().to_string(),
        "an alias of f32[8] cannot stand for f32[1]"
    );
    assert!(mismatched.to_vec::<f32>().is_err());
    let (itself, fulfiller) = alias()?;
    let text = fulfiller.fulfill(itself).unwrap_err().to_string();
    assert_eq!(text, "an alias cannot stand for itself or its copy");
    Ok(())
}

/// Whoever was given the alias was told of an ordinary array.
#[test]
fn an_alias_stands_for_no_array_of_another_order() -> Result<()> {
    let memory = client().default_device()?.default_memory()?;
    let (alias, fulfiller) = match client().alias_buffer(ElementType::F32, &[2, 3], &memory) {
        Err(error) if error.is_unimplemented() => {
            skipped("an_alias_stands_for_no_array_of_another_order", error);
            return Ok(());
        }
        other => other?,
    };
    let x = client().buffer_from_slice(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?;
    let y = ordered("tensor<2x3xf32>", "", OTHER).execute(&[&x])?.remove(0);
    let error = fulfiller.fulfill(y).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    assert_eq!(
        error.to_string(),
        "an alias of f32[2, 3] cannot stand for an array of dimension order {0,1}"
    );
    assert_eq!(alias.to_vec::<f32>().unwrap_err().code(), ErrorCode::Cancelled);
    Ok(())
}

/// Plugins move the memory of the array into the alias, which may then give it
/// away: nothing else may refer to it.
#[test]
fn a_fulfilled_alias_owns_the_array() -> Result<()> {
    let memory = client().default_device()?.default_memory()?;
    let (alias, fulfiller) = match client().alias_buffer(ElementType::F32, &[1024], &memory) {
        Err(error) if error.is_unimplemented() => {
            skipped("a_fulfilled_alias_owns_the_array", error);
            return Ok(());
        }
        other => other?,
    };
    let in_place = compile(
        "(%x: tensor<1024xf32> {tf.aliasing_output = 0 : i32}) -> tensor<1024xf32>",
        "%0 = stablehlo.add %x, %x : tensor<1024xf32> return %0 : tensor<1024xf32>",
    );
    let x = client().buffer_from_slice(&[1f32; 1024], &[1024])?;
    fulfiller.fulfill(x)?;
    let y = in_place.execute_donating([alias.into()])?.remove(0);
    assert_eq!(y.to_vec::<f32>()?, [2.0; 1024]);
    Ok(())
}
