//! `compare`, `select`, `clamp`.

use std::cmp::Ordering;

use rectiflow_hlo::{Class, CompareType, DType, Direction, Graph, Shape, Tensor};

use crate::{Case, Value};

use super::{
    array::{any, arrange},
    elementwise::{pairs, reference::flush_operands},
    samples::{Numbers, Random, numbers},
};

/// The cases.
pub fn cases() -> Vec<Case> {
    let dtypes = || DType::ALL.iter().copied().filter(|dtype| dtype.class() != Class::None);
    let mut cases: Vec<Case> = dtypes().flat_map(compares).collect();
    cases.extend(dtypes().map(|dtype| select(dtype, &[3, 4], &[3, 4])));
    for dims in [&[][..], &[5], &[0], &[2, 0, 3], &[2, 3, 1], &[2, 3, 1, 2], &[1, 2, 1, 3, 2]] {
        cases.push(select(DType::F32, dims, dims));
    }
    cases.push(select(DType::F32, &[2, 1, 3, 1, 2, 2], &[2, 1, 3, 1, 2, 2]));
    cases.push(select(DType::F32, &[], &[2, 3]));
    cases.push(select(DType::F32, &[3, 1], &[2, 1, 4]));
    cases.extend(dtypes().filter(|dtype| dtype.class() != Class::Complex).flat_map(clamps));
    cases
}

const DIRECTIONS: [Direction; 6] =
    [Direction::Eq, Direction::Ne, Direction::Ge, Direction::Gt, Direction::Le, Direction::Lt];

/// Whether a direction holds; nothing but `Ne` does where there is no order.
fn holds(direction: Direction, order: Option<Ordering>) -> bool {
    match direction {
        Direction::Eq => order == Some(Ordering::Equal),
        Direction::Ne => order != Some(Ordering::Equal),
        Direction::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Direction::Gt => order == Some(Ordering::Greater),
        Direction::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Direction::Lt => order == Some(Ordering::Less),
    }
}

/// Pairs of a dtype under every comparison type it has, all directions at once.
fn compares(dtype: DType) -> Vec<Case> {
    let named = match dtype.class() {
        Class::Signed => CompareType::Signed,
        Class::Unsigned | Class::Pred => CompareType::Unsigned,
        _ => CompareType::Float,
    };
    let operands = pairs(&numbers(dtype, 40, &mut Random::new(1)).value(dtype));
    let mut cases = vec![
        compare(&operands, None, natural_orders),
        compare(&operands, Some(named), natural_orders),
    ];
    if dtype.is_float() {
        let signed = pairs(&with_both_nans(dtype));
        cases.push(compare(&signed, Some(CompareType::TotalOrder), total_orders));
    }
    cases
}

fn compare(
    operands: &[Value],
    ty: Option<CompareType>,
    orders: fn(&[Value]) -> Vec<Option<Ordering>>,
) -> Case {
    let shape = &operands[0].shape;
    let directions =
        if shape.dtype.class() == Class::Complex { &DIRECTIONS[..2] } else { &DIRECTIONS[..] };
    let results = |operands: &[Value]| -> Vec<Value> {
        let orders = orders(operands);
        let of = |&direction: &Direction| {
            let bits: Vec<i128> =
                orders.iter().map(|&order| i128::from(holds(direction, order))).collect();
            Value::from_integers(shape.with_dtype(DType::Pred), &bits)
        };
        directions.iter().map(of).collect()
    };
    let record = move |_: &Graph, x: &[Tensor]| {
        directions.iter().map(|&direction| x[0].compare(&x[1], direction, ty)).collect()
    };
    let (name, expected) = (format!("{} as {ty:?}", shape.dtype), results(operands));
    let case = Case::new("stablehlo.compare", name, operands.to_vec(), record, expected);
    // Hardware that takes subnormals for zeros compares them so.
    case.or(results(&flush_operands(operands)))
}

/// As numbers: NaN has no order, and zeros are equal.
fn natural_orders(operands: &[Value]) -> Vec<Option<Ordering>> {
    if operands[0].shape.dtype.is_integer() {
        let (lhs, rhs) = (operands[0].integers(), operands[1].integers());
        return lhs.iter().zip(&rhs).map(|(lhs, rhs)| Some(lhs.cmp(rhs))).collect();
    }
    let (lhs, rhs) = (operands[0].complex(), operands[1].complex());
    let order = |(lhs, rhs): (&num_complex::Complex64, &num_complex::Complex64)| {
        if lhs.im == 0.0 && rhs.im == 0.0 {
            return lhs.re.partial_cmp(&rhs.re);
        }
        Some(if lhs == rhs { Ordering::Equal } else { Ordering::Less })
    };
    lhs.iter().zip(&rhs).map(order).collect()
}

const HAS_NO_NEGATIVE_ZERO: [DType; 3] =
    [DType::F8E4M3B11FNUZ, DType::F8E4M3FNUZ, DType::F8E5M2FNUZ];

/// By sign and then the bits of the magnitude: -NaN, -inf, .., -0, 0, .., inf, NaN.
fn total_orders(operands: &[Value]) -> Vec<Option<Ordering>> {
    let dtype = operands[0].shape.dtype;
    let rank = |element: &[u8]| {
        let mut wide = [0; 8];
        wide[..element.len()].copy_from_slice(element);
        let bits = i128::from(u64::from_le_bytes(wide));
        let sign = 1i128 << (dtype.bits() - 1);
        match bits & sign {
            // The one type without a sign.
            _ if dtype == DType::F8E8M0FNU => bits,
            0 => bits,
            // The only NaN of a type without negative zero has its pattern: NaN of negative sign.
            _ if bits == sign && HAS_NO_NEGATIVE_ZERO.contains(&dtype) => i128::MIN,
            _ => -1 - (bits - sign),
        }
    };
    let (lhs, rhs) = (operands[0].elements(), operands[1].elements());
    lhs.zip(rhs).map(|(lhs, rhs)| Some(rank(lhs).cmp(&rank(rhs)))).collect()
}

/// Sample numbers and, where the dtype has it, NaN of either sign.
fn with_both_nans(dtype: DType) -> Value {
    let value = numbers(dtype, 40, &mut Random::new(1)).value(dtype);
    let negated = |element: &[u8]| {
        let mut element = element.to_vec();
        *element.last_mut().expect("a byte") ^= 1 << ((dtype.bits() - 1) % 8);
        element
    };
    let nan = value.elements().zip(value.reals()).find(|(_, number)| number.is_nan());
    let Some((nan, _)) = nan else { return value };
    let bytes = [&value.bytes[..], &negated(nan)].concat();
    Value::from_bytes(Shape::new(dtype, [value.elements().count() as i64 + 1]), bytes)
}

/// A choice by a `pred` of its own dims, which broadcast with those of the values.
fn select(dtype: DType, pred_dims: &[i64], dims: &[i64]) -> Case {
    let pred = any(DType::Pred, pred_dims, 1);
    let (on_true, on_false) = (any(dtype, dims, 2), any(dtype, dims, 3));
    let rank = pred_dims.len().max(dims.len());
    let dim = |of: &[i64], i: usize| (i + of.len()).checked_sub(rank).map_or(1, |i| of[i]);
    let both: Vec<i64> = (0..rank)
        .map(|i| if dim(pred_dims, i) == 1 { dim(dims, i) } else { dim(pred_dims, i) })
        .collect();
    let spread = |value: &Value| {
        arrange(value, &both, |index| {
            let own = &value.shape.dims;
            let aligned = index[rank - own.len()..].iter().zip(own);
            aligned.map(|(&i, &dim)| if dim == 1 { 0 } else { i }).collect()
        })
    };
    let [picks, yes, no] = [&pred, &on_true, &on_false].map(spread);
    let bytes = (picks.integers().into_iter().zip(yes.elements().zip(no.elements())))
        .flat_map(|(pick, (yes, no))| if pick == 1 { yes } else { no }.iter().copied());
    let expected = Value::from_bytes(yes.shape.clone(), bytes.collect());
    let name = format!("{dtype} {dims:?} by {pred_dims:?}");
    let record = |_: &Graph, x: &[Tensor]| vec![x[0].select(&x[1], &x[2])];
    Case::new("stablehlo.select", name, vec![pred, on_true, on_false], record, vec![expected])
}

/// Every number between bounds that are scalars, or one of each pair; some cross, some are NaN.
fn clamps(dtype: DType) -> Vec<Case> {
    let sample = numbers(dtype, 12, &mut Random::new(2)).value(dtype);
    let [operand, low] = &pairs(&sample)[..] else { unreachable!("pairs are two arrays") };
    let high = arrange(low, &low.shape.dims, |i| vec![(i[0] * 7 + 3) % low.shape.dims[0]]);
    let count = sample.shape.dims[0];
    let pick = |at: i64| arrange(&sample, &[], |_| vec![at % count]);
    [(low.clone(), high), (pick(3), pick(1)), (pick(1), pick(5))]
        .into_iter()
        .map(|(low, high)| clamp(low, operand.clone(), high))
        .collect()
}

fn clamp(low: Value, operand: Value, high: Value) -> Case {
    let dims = operand.shape.dims.clone();
    let spread = |bound: &Value| {
        let scalar = bound.shape.dims.is_empty();
        arrange(bound, &dims, |index| if scalar { Vec::new() } else { index.to_vec() })
    };
    let all = [spread(&low), operand.clone(), spread(&high)];
    let shape = operand.shape.clone();
    let expected = |all: &[Value]| clamped(&shape, all);
    let name = format!("{shape} from {} to {}", low.shape, high.shape);
    let (kept, flushed) = (expected(&all), expected(&flush_operands(&all)));
    let record = |_: &Graph, x: &[Tensor]| vec![x[1].clamp(&x[0], &x[2])];
    Case::new("stablehlo.clamp", name, vec![low, operand, high], record, vec![kept])
        .or(vec![flushed])
}

/// The lesser of the upper bound and of the greater of the lower bound and the operand.
fn clamped(shape: &Shape, all: &[Value]) -> Value {
    let nan_or = |a: f64, b: f64, pick: bool| match a.is_nan() || b.is_nan() {
        true => f64::NAN,
        false if pick => a,
        false => b,
    };
    if shape.dtype.is_float() {
        let [low, x, high] = [0, 1, 2].map(|i: usize| all[i].reals());
        let number = |i: usize| {
            let above = nan_or(low[i], x[i], low[i].total_cmp(&x[i]).is_gt());
            nan_or(high[i], above, high[i].total_cmp(&above).is_lt())
        };
        return Value::from_reals(shape.clone(), &(0..x.len()).map(number).collect::<Vec<_>>());
    }
    let [low, x, high] = [0, 1, 2].map(|i: usize| all[i].integers());
    let numbers = (0..x.len()).map(|i| x[i].max(low[i]).min(high[i])).collect();
    Numbers::Integer(numbers).value(shape.dtype)
}
