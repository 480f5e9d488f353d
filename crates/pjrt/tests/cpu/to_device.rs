//! Host memory to device memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rectiflow_pjrt::{ElementType, HostArray, HostSemantics, Result};

use crate::{client, double};

fn bytes_of(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

#[test]
fn strided_input_is_transposed() -> Result<()> {
    let bytes = bytes_of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let transposed = HostArray::strided(&bytes, ElementType::F32, &[3, 2], &[4, 12], 0)?;
    let buffer = client().buffer_from_host(&transposed, &client().default_device()?)?;
    assert_eq!(buffer.to_vec::<f32>()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    Ok(())
}

#[test]
fn strides_outside_the_bytes_are_refused() {
    let bytes = [0u8; 24];
    let strided = |dims: &[i64], strides: &[i64], offset| {
        HostArray::strided(&bytes, ElementType::F32, dims, strides, offset).map(|_| ())
    };
    assert!(strided(&[3], &[-4], 8).is_ok());
    assert!(strided(&[3], &[-4], 7).is_err());
    assert!(strided(&[3], &[8], 4).is_ok());
    assert!(strided(&[3], &[8], 8).is_err());
    assert!(strided(&[2], &[i64::MAX], 0).is_err());
    assert!(strided(&[2, 2], &[4], 0).is_err());
    assert!(strided(&[0], &[i64::MAX], 99).is_ok());
}

/// Host memory that counts how often it was dropped.
struct Counted {
    bytes: Vec<u8>,
    start: usize,
    dropped: Arc<AtomicUsize>,
}

impl Counted {
    /// `n` floats at an address that CPU plugins accept for zero copy.
    fn aligned(values: &[f32], dropped: &Arc<AtomicUsize>) -> Self {
        let mut bytes = vec![0u8; values.len() * 4 + 64];
        let start = bytes.as_ptr().align_offset(64);
        bytes[start..start + values.len() * 4].copy_from_slice(&bytes_of(values));
        Counted { bytes, start, dropped: Arc::clone(dropped) }
    }

    fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.bytes.len() - 64
    }
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[self.range()]
    }
}

impl AsMut<[u8]> for Counted {
    fn as_mut(&mut self) -> &mut [u8] {
        let range = self.range();
        &mut self.bytes[range]
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

fn wait_for_drop(dropped: &AtomicUsize) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while dropped.load(Ordering::SeqCst) == 0 {
        assert!(Instant::now() < deadline, "the host memory was never released");
        std::thread::yield_now();
    }
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

#[test]
fn owned_memory_is_released_after_the_transfer() -> Result<()> {
    let dropped = Arc::new(AtomicUsize::new(0));
    let data = Counted::aligned(&[3.0; 8], &dropped);
    let until = HostSemantics::UntilTransferCompletes;
    let device = client().default_device()?;
    let buffer = client().buffer_from_owned(data, ElementType::F32, &[8], until, &device)?;
    assert_eq!(buffer.to_vec::<f32>()?, [3.0; 8]);
    wait_for_drop(&dropped);
    Ok(())
}

#[test]
fn zero_copy_memory_lives_as_long_as_the_array() -> Result<()> {
    let dropped = Arc::new(AtomicUsize::new(0));
    let data = Counted::aligned(&[4.0; 8], &dropped);
    let device = client().default_device()?;
    let zero_copy = HostSemantics::ZeroCopy;
    let buffer = client().buffer_from_owned(data, ElementType::F32, &[8], zero_copy, &device)?;
    assert_eq!(double().execute(&[&buffer])?[0].to_vec::<f32>()?, [8.0; 8]);
    assert_eq!(dropped.load(Ordering::SeqCst), 0, "the array still uses the memory");
    drop(buffer);
    wait_for_drop(&dropped);
    Ok(())
}

#[test]
fn mutable_zero_copy() -> Result<()> {
    let dropped = Arc::new(AtomicUsize::new(0));
    let data = Counted::aligned(&[5.0; 8], &dropped);
    let device = client().default_device()?;
    let buffer = client().buffer_from_owned_mut(data, ElementType::F32, &[8], &device)?;
    assert_eq!(buffer.to_vec::<f32>()?, [5.0; 8]);
    drop(buffer);
    wait_for_drop(&dropped);
    Ok(())
}

#[test]
fn slices_are_free_when_the_call_returns() -> Result<()> {
    let mut values = vec![1f32; 1 << 16];
    let buffer = client().buffer_from_slice(&values, &[1 << 16])?;
    values.fill(9.0);
    assert!(buffer.to_vec::<f32>()?.iter().all(|v| *v == 1.0));
    Ok(())
}

#[test]
fn any_device_and_any_memory() -> Result<()> {
    for device in client().devices()? {
        for memory in device.memories()? {
            let bytes = bytes_of(&[1.0, 2.0]);
            let buffer = client().buffer_from_bytes(&bytes, ElementType::F32, &[2], &memory)?;
            assert_eq!(buffer.memory()?, memory);
            assert_eq!(buffer.device()?, device);
            assert_eq!(buffer.to_vec::<f32>()?, [1.0, 2.0]);
        }
    }
    Ok(())
}

#[test]
fn a_place_of_another_client_is_refused() -> Result<()> {
    let other = crate::plugin().client(&Default::default())?;
    let device = other.default_device()?;
    let error = client().buffer_from_bytes(&[0; 4], ElementType::F32, &[1], &device).unwrap_err();
    assert_eq!(error.to_string(), "the device or memory belongs to another client");
    Ok(())
}
