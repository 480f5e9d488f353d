//! Round trips of every element type.

use half::{bf16, f16};
use rectiflow_pjrt::{ElementType, HostElement, Result, packing};

use crate::client;

/// Bytes that are valid values of the type: 0 or 1 for booleans, in range for
/// types narrower than a byte.
fn sample(element_type: ElementType, n: usize) -> Vec<u8> {
    let mask = match element_type.bits() {
        bits @ 1..=7 => (1u8 << bits) - 1,
        _ => 0xff,
    };
    let signed = matches!(element_type, ElementType::S1 | ElementType::S2 | ElementType::S4);
    let narrow = |byte: u8| {
        let value = byte & mask;
        let negative = signed && value >> (element_type.bits() - 1) == 1;
        if negative { value | !mask } else { value }
    };
    (0..n * element_type.host_bytes()).map(|i| narrow((i * 37 + 11) as u8)).collect()
}

#[test]
fn every_type_survives_a_round_trip() -> Result<()> {
    let device = client().default_device()?;
    let mut refused = Vec::new();
    for &element_type in ElementType::ALL {
        if element_type == ElementType::Token {
            continue;
        }
        let bytes = sample(element_type, 6);
        match client().buffer_from_bytes(&bytes, element_type, &[2, 3], &device) {
            Ok(buffer) => {
                assert_eq!(buffer.element_type(), element_type);
                assert_eq!(buffer.to_bytes()?, bytes, "{element_type}");
            }
            Err(error) => refused.push((element_type, error.to_string())),
        }
    }
    eprintln!("types this plugin refuses: {refused:?}");
    // Refused here for being newer than the plugin, and for nothing else.
    assert!(refused.iter().all(|(_, why)| why.contains("which has no")), "{refused:?}");
    Ok(())
}

fn round_trip<T: HostElement + PartialEq + std::fmt::Debug>(values: &[T]) -> Result<()> {
    let buffer = client().buffer_from_slice(values, &[values.len() as i64])?;
    assert_eq!(buffer.element_type(), T::ELEMENT_TYPE);
    assert_eq!(buffer.to_vec::<T>()?, values);
    Ok(())
}

#[test]
fn rust_types() -> Result<()> {
    round_trip(&[true, false, true])?;
    round_trip(&[i8::MIN, 0, i8::MAX])?;
    round_trip(&[i16::MIN, 0, i16::MAX])?;
    round_trip(&[i32::MIN, 0, i32::MAX])?;
    round_trip(&[i64::MIN, 0, i64::MAX])?;
    round_trip(&[0, u8::MAX])?;
    round_trip(&[0, u16::MAX])?;
    round_trip(&[0, u32::MAX])?;
    round_trip(&[0, u64::MAX])?;
    round_trip(&[f16::from_f32(1.5), f16::INFINITY])?;
    round_trip(&[bf16::from_f32(-2.5), bf16::NEG_INFINITY])?;
    round_trip(&[f32::MIN_POSITIVE, -0.0, f32::INFINITY])?;
    round_trip(&[f64::MIN_POSITIVE, f64::MAX])?;
    round_trip(&[[1f32, -2.0], [3.0, 4.0]])?;
    round_trip(&[[1f64, -2.0]])
}

/// The device computes with narrow types, so the host form is not just carried.
#[test]
fn four_bit_integers_mean_numbers() -> Result<()> {
    let widen = crate::compile(
        "(%x: tensor<4xi4>) -> tensor<4xi32>",
        "%0 = stablehlo.convert %x : (tensor<4xi4>) -> tensor<4xi32> return %0 : tensor<4xi32>",
    );
    let packed = packing::pack(&[0xf8, 7, 0xff, 3], ElementType::S4)?;
    assert_eq!(packed, [0x78, 0x3f]);
    let unpacked = packing::unpack(&packed, ElementType::S4, 4)?;
    let device = client().default_device()?;
    let x = client().buffer_from_bytes(&unpacked, ElementType::S4, &[4], &device)?;
    assert_eq!(widen.execute(&[&x])?[0].to_vec::<i32>()?, [-8, 7, -1, 3]);
    Ok(())
}

#[test]
fn packing_round_trips() -> Result<()> {
    for element_type in [ElementType::S4, ElementType::U4, ElementType::S2, ElementType::U2] {
        let values = sample(element_type, 7);
        let packed = packing::pack(&values, element_type)?;
        assert_eq!(packed.len(), (7 * element_type.bits()).div_ceil(8));
        assert_eq!(packing::unpack(&packed, element_type, 7)?, values, "{element_type}");
    }
    assert!(packing::unpack(&[0; 3], ElementType::U4, 7).is_err());
    // So many that their bits wrap around to none.
    let error = packing::unpack(&[], ElementType::U4, 1 << (usize::BITS - 2)).unwrap_err();
    assert!(error.to_string().ends_with("elements of ui4 are too many"), "{error}");
    assert!(packing::pack(&[0], ElementType::F6E2M3FN).is_err());
    assert!(packing::pack(&[0], ElementType::U8).is_err());
    Ok(())
}

#[test]
fn scalars_and_empty_arrays() -> Result<()> {
    let scalar = client().buffer_from_slice(&[7i32], &[])?;
    assert_eq!((scalar.dims(), scalar.to_vec::<i32>()?), (&[][..], vec![7]));
    let empty = client().buffer_from_slice::<f32>(&[], &[3, 0, 2])?;
    assert_eq!(empty.dims(), [3, 0, 2]);
    assert_eq!(empty.to_vec::<f32>()?, [0f32; 0]);
    Ok(())
}

#[test]
fn mismatched_types_and_lengths_are_refused() -> Result<()> {
    let buffer = client().buffer_from_slice(&[1f32, 2.0], &[2])?;
    assert_eq!(
        buffer.to_vec::<i32>().unwrap_err().to_string(),
        "an array of f32[2] cannot be read as i32"
    );
    let error = client().buffer_from_slice(&[1f32, 2.0], &[3]).unwrap_err();
    assert_eq!(error.to_string(), "f32[3] takes 12 bytes, found 8");
    let error = client().buffer_from_slice(&[1f32], &[-1]).unwrap_err();
    assert!(error.to_string().contains("not a valid shape"), "{error}");
    let error = client().buffer_from_slice(&[1f32], &[i64::MAX, 2]).unwrap_err();
    assert!(error.to_string().contains("not a valid shape"), "{error}");
    Ok(())
}
