//! Scalar meanings that are more than an expression.

use std::cmp::Ordering;

use num_complex::Complex64;

use crate::op::Width;

pub(crate) fn add(x: &[i128], width: Width) -> i128 {
    if width.bits == 1 { x[0] | x[1] } else { x[0] + x[1] }
}

pub(crate) fn divide(x: &[i128], _: Width) -> i128 {
    x[0].checked_div(x[1]).unwrap_or(-1)
}

/// By repeated squaring modulo 2^128, of which every integer width is a factor.
pub(crate) fn power(x: &[i128], _: Width) -> i128 {
    let (mut base, mut exponent) = (x[0], x[1]);
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 => 1 - 2 * (exponent & 1),
            _ => 0,
        };
    }
    let mut product: i128 = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product = product.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    product
}

/// The element as a bit pattern of its width.
fn bits(x: i128, width: Width) -> u128 {
    x as u128 & ((1 << width.bits) - 1)
}

pub(crate) fn count_leading_zeros(x: &[i128], width: Width) -> i128 {
    i128::from(bits(x[0], width).leading_zeros()) - i128::from(128 - width.bits)
}

pub(crate) fn popcnt(x: &[i128], width: Width) -> i128 {
    bits(x[0], width).count_ones().into()
}

/// The shift amount read as unsigned, if it is below the width.
fn amount(x: &[i128], width: Width) -> Option<u32> {
    let amount = bits(x[1], width);
    (amount < u128::from(width.bits)).then_some(amount as u32)
}

pub(crate) fn shift_left(x: &[i128], width: Width) -> i128 {
    amount(x, width).map_or(0, |by| x[0] << by)
}

pub(crate) fn shift_right_logical(x: &[i128], width: Width) -> i128 {
    amount(x, width).map_or(0, |by| (bits(x[0], width) >> by) as i128)
}

pub(crate) fn shift_right_arithmetic(x: &[i128], width: Width) -> i128 {
    let unused = 128 - width.bits;
    let signed = (x[0] << unused) >> unused;
    signed >> amount(x, width).unwrap_or(width.bits - 1)
}

/// As IEEE 754-2019 has it: positive zero is above negative zero.
pub(crate) fn maximum(x: &[f64]) -> f64 {
    match x[0].total_cmp(&x[1]) {
        _ if x[0].is_nan() || x[1].is_nan() => f64::NAN,
        Ordering::Less => x[1],
        _ => x[0],
    }
}

/// As [`maximum`].
pub(crate) fn minimum(x: &[f64]) -> f64 {
    -maximum(&[-x[0], -x[1]])
}

pub(crate) fn sign(x: &[f64]) -> f64 {
    if x[0] == 0.0 || x[0].is_nan() { x[0] } else { x[0].signum() }
}

pub(crate) fn complex_sign(x: &[Complex64]) -> Complex64 {
    if x[0].norm() == 0.0 { x[0] } else { x[0] / x[0].norm() }
}

/// `e^(a+bi) - 1 = expm1(a) cos b - 2 sin^2(b/2) + i e^a sin b`, which does not cancel near zero.
pub(crate) fn complex_exp_m1(x: &[Complex64]) -> Complex64 {
    let (re, im) = (x[0].re, x[0].im);
    let half = (im / 2.0).sin();
    Complex64::new(re.exp_m1() * im.cos() - 2.0 * half * half, re.exp() * im.sin())
}
