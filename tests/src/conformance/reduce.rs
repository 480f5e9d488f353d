//! Folds over dims, with the helpers and composites made of them.

mod arg;
mod composite;
mod window;

use rectiflow_hlo::{DType, DTypes, Shape, Tensor};

use super::array::{Wide, any, indices, offset, small, with_wide};
use crate::{Case, Value};

/// The cases.
pub fn cases() -> Vec<Case> {
    let mut cases = shapes();
    cases.extend(every_dtype());
    cases.extend(specials());
    cases.extend(bodies());
    cases.extend(means());
    cases.extend(arg::cases());
    cases.extend(composite::cases());
    cases.extend(window::cases());
    cases
}

/// Dims of `value` without those folded.
fn kept(dims: &[i64], folded: &[i64]) -> Vec<i64> {
    (0..dims.len()).filter(|dim| !folded.contains(&(*dim as i64))).map(|dim| dims[dim]).collect()
}

/// A fold by plain loops.
fn folded<T: Wide>(value: &Value, dims: &[i64], init: T, body: impl Fn(T, T) -> T) -> Value {
    let result = kept(&value.shape.dims, dims);
    let mut numbers = vec![init; indices(&result).len()];
    for (index, number) in indices(&value.shape.dims).iter().zip(T::read(value)) {
        let at = offset(&result, &kept(index, dims));
        numbers[at] = body(numbers[at], number);
    }
    T::write(value.shape.with_dims(result), &numbers)
}

fn total<T: Wide>(value: &Value, dims: &[i64]) -> Value {
    folded(value, dims, T::ZERO, T::plus)
}

fn product<T: Wide>(value: &Value, dims: &[i64]) -> Value {
    folded(value, dims, T::ONE, T::times)
}

/// The greatest; NaN if any is.
fn greatest(value: &Value, dims: &[i64]) -> Value {
    match value.shape.dtype {
        dtype if dtype.is_float() => {
            let greater = |a: f64, b: f64| if a.is_nan() || a > b { a } else { b };
            folded(value, dims, least_number(dtype), greater)
        }
        dtype if dtype.is_integer() => folded(value, dims, least_integer(dtype), i128::max),
        _ => folded(value, dims, 0, i128::max),
    }
}

fn least_integer(dtype: DType) -> i128 {
    if dtype.class() == rectiflow_hlo::Class::Signed { -(1 << (dtype.bits() - 1)) } else { 0 }
}

/// Negative infinity, or the least number of a type without it.
fn least_number(dtype: DType) -> f64 {
    match dtype {
        DType::F4E2M1FN => -6.0,
        DType::F8E4M3FN => -448.0,
        DType::F8E4M3FNUZ => -240.0,
        DType::F8E4M3B11FNUZ => -30.0,
        DType::F8E5M2FNUZ => -57344.0,
        DType::F8E8M0FNU => 2f64.powi(-127),
        _ => f64::NEG_INFINITY,
    }
}

/// The least, as the greatest of what is reflected at 0 (or complemented).
fn least(value: &Value, dims: &[i64]) -> Value {
    let reals =
        || folded(value, dims, f64::INFINITY, |a, b| if a.is_nan() || a < b { a } else { b });
    let greatest_integer = least_integer(value.shape.dtype) + (1 << value.shape.dtype.bits()) - 1;
    if value.shape.dtype.is_float() {
        return reals();
    }
    folded(value, dims, greatest_integer, i128::min)
}

fn case(
    name: &str,
    value: &Value,
    dims: &[i64],
    record: fn(&Tensor, Vec<i64>) -> Tensor,
    expected: Value,
) -> Case {
    let fold = dims.to_vec();
    Case::new(
        "stablehlo.reduce",
        format!("{name} of {} over {dims:?}", value.shape),
        vec![value.clone()],
        move |_, x| vec![record(&x[0], fold.clone())],
        vec![expected],
    )
}

fn sum_case(value: &Value, dims: &[i64]) -> Case {
    let expected = with_wide!(value.shape.dtype, total(value, dims));
    case("sum", value, dims, |x, dims| x.sum(dims), expected)
}

/// Ranks 0 to 6, no dim, all dims, dims out of order, dims of zero.
fn shapes() -> Vec<Case> {
    let dims: &[(&[i64], &[i64])] = &[
        (&[], &[]),
        (&[5], &[]),
        (&[5], &[0]),
        (&[0], &[0]),
        (&[3, 0], &[1]),
        (&[0, 3], &[1]),
        (&[3, 4], &[0]),
        (&[3, 4], &[1, 0]),
        (&[2, 3, 4], &[2, 0]),
        (&[2, 3, 2, 2], &[1, 3]),
        (&[2, 1, 3, 1, 2], &[1, 2]),
        (&[2, 3, 1, 2, 2, 2], &[0, 5, 3]),
        (&[7, 301], &[1]),
    ];
    dims.iter().map(|(dims, fold)| sum_case(&small(DType::F32, dims, 12), fold)).collect()
}

/// Numbers whose sums, products and extremes are exact in any order in every dtype.
fn exact(dtype: DType) -> Value {
    match dtype {
        DType::F4E2M1FN | DType::F8E8M0FNU | DType::F8E5M2 | DType::F8E5M2FNUZ => {
            Value::from_reals(Shape::new(dtype, [2, 3]), &[2.0, 1.0, 0.5, 2.0, 1.0, 2.0])
        }
        _ => small(dtype, &[2, 3], 13),
    }
}

fn every_dtype() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DTypes::ANY.iter() {
        let value = exact(dtype);
        // Without a zero there is nothing to start a sum from.
        if dtype != DType::F8E8M0FNU {
            cases.push(sum_case(&value, &[0]));
        }
        let expected = with_wide!(dtype, product(&value, &[0]));
        cases.push(case("product", &value, &[0], |x, dims| x.product(dims), expected));
        if DTypes::ORDERED.contains(dtype) {
            let value = any(dtype, &[3, 4], 14);
            let (max, min) = (greatest(&value, &[1]), least(&value, &[1]));
            cases.push(case("max", &value, &[1], |x, dims| x.max(dims), max));
            cases.push(case("min", &value, &[1], |x, dims| x.min(dims), min));
            let nothing = any(dtype, &[2, 0], 0);
            let max = greatest(&nothing, &[1]);
            cases.push(case("max", &nothing, &[1], |x, dims| x.max(dims), max));
        }
    }
    // Sums that wrap.
    for dtype in DTypes::INTEGER.iter() {
        cases.push(sum_case(&any(dtype, &[5, 3], 15), &[0]));
    }
    cases
}

/// NaN, infinities and signed zeros.
fn specials() -> Vec<Case> {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let rows = [[1.0, nan, 2.0], [inf, -inf, 1.0], [inf, 5.0, 1.0], [-inf, -3.0, 7.0], [nan; 3]];
    let value = Value::of([5, 3], rows.as_flattened());
    vec![
        sum_case(&value, &[1]),
        case("max", &value, &[1], |x, dims| x.max(dims), greatest(&value, &[1])),
        case("min", &value, &[1], |x, dims| x.min(dims), least(&value, &[1])),
        case("product", &value, &[1], |x, dims| x.product(dims), product::<f64>(&value, &[1])),
    ]
}

fn bodies() -> Vec<Case> {
    let truth = Value::of([4, 2], &[true, true, true, false, false, true, false, false]);
    let integers = any(DType::I32, &[3, 4], 16);
    let row = |value: &Value, body: fn(i128, i128) -> i128, init| folded(value, &[1], init, body);
    let nothing = Value::of([2, 0], &[true; 0]);
    // (1 + a)(1 + b) - 1 is associative, and no body that a compiler has a name for.
    let compound = |a: i128, b: i128| a.wrapping_add(b).wrapping_add(a.wrapping_mul(b));
    let join = |x: &Tensor, dims: Vec<i64>| {
        x.reduce(&x.scalar_like(0), dims, |a, b| a.add(b).add(&a.multiply(b)))
    };
    let and = |x: &Tensor, dims: Vec<i64>| x.reduce(&x.scalar_like(-1), dims, |a, b| a.and(b));
    let xor = |x: &Tensor, dims: Vec<i64>| x.reduce(&x.scalar_like(0), dims, |a, b| a.xor(b));
    vec![
        case("any", &truth, &[1], |x, dims| x.any(dims), row(&truth, |a, b| a | b, 0)),
        case("all", &truth, &[1], |x, dims| x.all(dims), row(&truth, |a, b| a & b, 1)),
        case("any", &nothing, &[1], |x, dims| x.any(dims), row(&nothing, |a, b| a | b, 0)),
        case("all", &nothing, &[1], |x, dims| x.all(dims), row(&nothing, |a, b| a & b, 1)),
        case("bitwise and", &integers, &[1], and, row(&integers, |a, b| a & b, -1)),
        case("bitwise xor", &integers, &[1], xor, row(&integers, |a, b| a ^ b, 0)),
        case("compound", &integers, &[1], join, row(&integers, compound, 0)),
        two_values(),
    ]
}

/// A sum and a product of different dtypes, folded together.
fn two_values() -> Case {
    let (a, b) = (small(DType::F32, &[3, 2, 4], 17), any(DType::I64, &[3, 2, 4], 18));
    let expected = vec![total::<f64>(&a, &[0, 2]), product::<i128>(&b, &[0, 2])];
    Case::new(
        "stablehlo.reduce",
        "of two values",
        vec![a, b],
        |graph, x| {
            let inits = [&x[0].scalar_like(0), &x[1].scalar_like(1)];
            graph.reduce(&[&x[0], &x[1]], &inits, [0, 2], |a, b| {
                vec![a[0].add(&b[0]), a[1].multiply(&b[1])]
            })
        },
        expected,
    )
}

fn means() -> Vec<Case> {
    let dtypes = [DType::F16, DType::BF16, DType::F32, DType::F64];
    let of = |dtype| {
        let value = small(dtype, &[3, 4], 19);
        let sums = total::<f64>(&value, &[1]);
        let means: Vec<f64> = sums.reals().iter().map(|sum| sum / 4.0).collect();
        let expected = Value::from_reals(sums.shape, &means);
        case("mean", &value, &[1], |x, dims| x.mean(dims), expected)
    };
    let nothing = small(DType::F32, &[2, 0], 0);
    let nan = Value::of([2], &[f32::NAN; 2]);
    let empty = case("mean", &nothing, &[1], |x, dims| x.mean(dims), nan);
    dtypes.into_iter().map(of).chain([empty]).collect()
}
