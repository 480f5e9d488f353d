//! Arrays filled piece by piece.

use std::sync::Arc;

use rectiflow_pjrt::{ElementType, Elements, Error, ErrorCode, Result, Shape, TransferManager};

use crate::{client, double};

fn transfers(shapes: &[Shape]) -> Result<TransferManager> {
    client().transfer_manager(shapes, &client().default_device()?.default_memory()?)
}

#[test]
fn pieces_in_any_order() -> Result<()> {
    let shapes = [Shape::new(ElementType::F32, &[8])?, Shape::new(ElementType::S32, &[2])?];
    let transfers = transfers(&shapes)?;
    assert_eq!(transfers.n_buffers(), 2);
    assert_eq!((transfers.buffer_bytes(0)?, transfers.buffer_bytes(1)?), (32, 8));
    // Retrieved and used before anything has arrived.
    let x = transfers.retrieve(0)?;
    let outputs = double().execute(&[&x])?;
    transfers.transfer(0, Elements(vec![3f32; 4]), 16, false)?.wait()?;
    transfers.transfer(0, Elements(vec![1f32; 4]), 0, true)?.wait()?;
    transfers.transfer(1, Elements(vec![5i32, 6]), 0, true)?.wait()?;
    assert_eq!(x.to_vec::<f32>()?, [1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0]);
    assert_eq!(outputs[0].to_vec::<f32>()?, [2.0, 2.0, 2.0, 2.0, 6.0, 6.0, 6.0, 6.0]);
    assert_eq!(transfers.retrieve(1)?.to_vec::<i32>()?, [5, 6]);
    Ok(())
}

#[test]
fn misuse_is_refused() -> Result<()> {
    let transfers = transfers(&[Shape::new(ElementType::U8, &[4])?])?;
    let refused = |outcome: Result<_>| outcome.map(|_: ()| ()).unwrap_err().to_string();
    assert_eq!(
        refused(transfers.transfer(0, vec![0u8; 4], 1, true).map(|_| ())),
        "4 bytes at 1 reach outside array 0 of 4 bytes"
    );
    assert_eq!(refused(transfers.retrieve(1).map(|_| ())), "there is no array 1 among 1");
    transfers.transfer(0, vec![7u8; 4], 0, true)?.wait()?;
    let again = transfers.transfer(0, vec![7u8; 4], 0, true).map(|_| ());
    assert_eq!(refused(again), "array 0 is already complete");
    let buffer = transfers.retrieve(0)?;
    assert_eq!(refused(transfers.retrieve(0).map(|_| ())), "array 0 was already retrieved");
    assert_eq!(buffer.to_vec::<u8>()?, [7; 4]);
    Ok(())
}

#[test]
fn failures_reach_the_array() -> Result<()> {
    let transfers = transfers(&[Shape::new(ElementType::U8, &[4])?])?;
    let buffer = transfers.retrieve(0)?;
    transfers.fail(0, &Error::with_code(ErrorCode::DataLoss, "short file"))?;
    assert!(buffer.to_vec::<u8>().unwrap_err().to_string().contains("short file"));
    Ok(())
}

#[test]
fn abandoned_arrays_fail() -> Result<()> {
    let transfers = transfers(&[Shape::new(ElementType::U8, &[4])?])?;
    let buffer = transfers.retrieve(0)?;
    drop(transfers);
    assert_eq!(buffer.to_vec::<u8>().unwrap_err().code(), ErrorCode::Cancelled);
    Ok(())
}

/// Uses the manager again when it is dropped.
struct Reentrant(Arc<TransferManager>);

impl AsRef<[u8]> for Reentrant {
    fn as_ref(&self) -> &[u8] {
        &[0; 4]
    }
}

impl Drop for Reentrant {
    fn drop(&mut self) {
        let late = Error::with_code(ErrorCode::Cancelled, "too late");
        assert!(self.0.fail(0, &late).is_err(), "the array is complete");
    }
}

#[test]
fn dropped_data_may_use_the_manager() -> Result<()> {
    let memory = client().default_device()?.default_memory()?;
    let shape = Shape::new(ElementType::F32, &[1])?;
    let manager = Arc::new(client().transfer_manager(&[shape], &memory)?);
    manager.transfer(0, Reentrant(Arc::clone(&manager)), 0, true)?.wait()?;
    assert_eq!(manager.retrieve(0)?.to_vec::<f32>()?, [0.0]);
    Ok(())
}
