//! Device memory to host memory.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use rectiflow_pjrt::{Elements, Result};

use crate::events::block_on;
use crate::{client, compile, plugin};

#[test]
fn into_borrowed_memory() -> Result<()> {
    let buffer = client().buffer_from_slice(&[1u16, 2, 3], &[3])?;
    let mut bytes = [0u8; 6];
    buffer.read_into(&mut bytes)?;
    assert_eq!(bytes, [1, 0, 2, 0, 3, 0]);
    let error = buffer.read_into(&mut bytes[..4]).unwrap_err();
    assert_eq!(error.to_string(), "ui16[3] takes 6 bytes, found 4");
    Ok(())
}

#[test]
fn into_owned_memory_asynchronously() -> Result<()> {
    let buffer = client().buffer_from_slice(&[1f32, 2.0], &[2])?;
    let waited = buffer.read_into_owned(Elements(vec![0f32; 2]))?.wait()?;
    assert_eq!(waited.0, [1.0, 2.0]);
    let polled = block_on(buffer.read_into_owned(vec![0u8; 8])?)?;
    assert_eq!(polled, buffer.to_bytes()?);
    assert!(buffer.read_into_owned(vec![0u8; 7]).is_err());
    Ok(())
}

#[test]
fn abandoned_reads_are_harmless() -> Result<()> {
    let buffer = client().buffer_from_slice(&vec![1f32; 1 << 18], &[1 << 18])?;
    for _ in 0..16 {
        drop(buffer.read_into_owned(vec![0u8; 1 << 20])?);
    }
    Ok(())
}

/// A transposed result is dense on the host whatever the device does.
#[test]
fn always_row_major() -> Result<()> {
    let transpose = compile(
        "(%x: tensor<2x3xf32>) -> tensor<3x2xf32>",
        "%0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
         return %0 : tensor<3x2xf32>",
    );
    let x = client().buffer_from_slice(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?;
    let y = &transpose.execute(&[&x])?[0];
    assert_eq!(y.dims(), [3, 2]);
    assert_eq!(y.to_vec::<f32>()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    Ok(())
}

/// The same where the program itself asks for another order on the device; or a refusal where
/// the plugin ignores the order asked for, as 0.81 does.
#[test]
fn row_major_from_a_column_major_output() -> Result<()> {
    let column_major = compile(
        "(%x: tensor<2x3xf32>) -> (tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\"})",
        "return %x : tensor<2x3xf32>",
    );
    let x = client().buffer_from_slice(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?;
    let y = &column_major.execute(&[&x])?[0];
    assert_eq!(y.layout()?, "{0,1}");
    if plugin().api_version() < (0, 90) {
        let error = y.to_vec::<f32>().unwrap_err().to_string();
        assert!(
            error.starts_with("f32[2, 3] has dimension order {0,1}, and a plugin of"),
            "{error}"
        );
        assert!(y.to_bytes().unwrap_err().is_unimplemented());
        assert!(y.read_into(&mut [0; 24]).unwrap_err().is_unimplemented());
        assert!(y.read_into_owned(vec![0; 24]).unwrap_err().is_unimplemented());
        return Ok(());
    }
    assert_eq!(y.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    Ok(())
}

/// Only the bound of such an array is known, and a plugin writes less than that.
#[test]
fn dynamic_sizes_are_refused() -> Result<()> {
    let bounded = "tensor<?xf32, #stablehlo.bounds<4096>>";
    let cut = compile(
        &format!("(%x: tensor<4096xf32>, %n: tensor<i32>) -> {bounded}"),
        &format!(
            "%0 = \"stablehlo.set_dimension_size\"(%x, %n) {{dimension = 0 : i64}}
                 : (tensor<4096xf32>, tensor<i32>) -> {bounded}
             return %0 : {bounded}"
        ),
    );
    let x = client().buffer_from_slice(&[1f32; 4096], &[4096])?;
    let n = client().buffer_from_slice(&[3i32], &[])?;
    for _ in 0..2 {
        let y = cut.execute(&[&x, &n])?.remove(0);
        y.ready()?.wait()?;
        let text = y.to_vec::<f32>().unwrap_err().to_string();
        assert!(text.starts_with("f32[4096] is the bound of an array of dynamic size"), "{text}");
        assert!(y.to_bytes().unwrap_err().is_unimplemented());
        assert!(y.read_into(&mut [0; 4 * 4096]).unwrap_err().is_unimplemented());
        assert!(y.read_into_owned(vec![0; 4 * 4096]).unwrap_err().is_unimplemented());
    }
    Ok(())
}

/// Memory whose second `as_mut`, in the callback, panics.
struct Fragile {
    bytes: [u8; 4],
    asked: bool,
}

impl AsMut<[u8]> for Fragile {
    fn as_mut(&mut self) -> &mut [u8] {
        assert!(!std::mem::replace(&mut self.asked, true), "asked twice");
        &mut self.bytes
    }
}

#[test]
fn a_read_always_ends() -> Result<()> {
    let x = client().buffer_from_slice(&[1f32], &[1])?;
    let fragile = x.read_into_owned(Fragile { bytes: [0; 4], asked: false })?;
    let error = fragile.wait().err().expect("its memory panicked").to_string();
    assert!(error.contains("the memory read into panicked: asked twice"), "{error}");

    let mut read = x.read_into_owned(vec![0u8; 4])?;
    let mut context = Context::from_waker(Waker::noop());
    let bytes = loop {
        match Pin::new(&mut read).poll(&mut context) {
            Poll::Ready(bytes) => break bytes?,
            Poll::Pending => std::thread::yield_now(),
        }
    };
    assert_eq!(bytes, 1f32.to_le_bytes());
    let Poll::Ready(Err(_)) = Pin::new(&mut read).poll(&mut context) else {
        panic!("a second outcome")
    };
    assert!(read.wait().is_err());
    Ok(())
}
