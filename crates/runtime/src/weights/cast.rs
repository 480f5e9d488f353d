//! Float conversions on the host, for weights stored in another type than the model computes in.

use half::{bf16, f16};
use rectiflow_hlo::DType;

/// Whether [`cast`] knows the pair.
pub(super) fn castable(from: DType, to: DType) -> bool {
    let known = [DType::F64, DType::F32, DType::BF16, DType::F16];
    from == to || known.contains(&from) && known.contains(&to)
}

/// Elements rounded to the nearest of the other type, ties to even; values out of range become
/// infinite. The pair must be [`castable`].
pub(super) fn cast(bytes: &[u8], from: DType, to: DType) -> Vec<u8> {
    match from {
        DType::F64 => narrow(bytes, |b: [u8; 8]| f64::from_le_bytes(b), to),
        DType::F32 => narrow(bytes, |b: [u8; 4]| f32::from_le_bytes(b).into(), to),
        DType::F16 => narrow(bytes, |b: [u8; 2]| f16::from_le_bytes(b).into(), to),
        _ => narrow(bytes, |b: [u8; 2]| bf16::from_le_bytes(b).into(), to),
    }
}

fn narrow<const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> f64, to: DType) -> Vec<u8> {
    let (elements, _) = bytes.as_chunks::<N>();
    let numbers = elements.iter().map(|&element| read(element));
    match to {
        DType::F64 => numbers.flat_map(f64::to_le_bytes).collect(),
        DType::F32 => numbers.flat_map(|x| (x as f32).to_le_bytes()).collect(),
        DType::F16 => numbers.flat_map(|x| f16::from_f64(x).to_le_bytes()).collect(),
        _ => numbers.flat_map(|x| bf16::from_f64(x).to_le_bytes()).collect(),
    }
}
