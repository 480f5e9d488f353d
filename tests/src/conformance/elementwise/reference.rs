//! What a row's meaning says about arrays.

use num_complex::Complex64;
use rectiflow_hlo::{Class, DType, Graph, Meaning, Row, Shape, Width};

use crate::{Value, float_format};

/// The rows that this family checks.
pub fn rows() -> impl Iterator<Item = (&'static Row, Meaning)> {
    let elementwise = |row: &'static Row| Some((row, row.record.and(row.meaning)?));
    rectiflow_hlo::Op::TABLE.iter().filter_map(elementwise)
}

/// Shape of the row's result.
pub fn result_shape(row: &Row, operands: &[Value]) -> Shape {
    let graph = Graph::new();
    let record = row.record.expect("an elementwise row records itself");
    let parameters: Vec<_> =
        operands.iter().map(|operand| graph.parameter("x", operand.shape.clone())).collect();
    record(&parameters.iter().collect::<Vec<_>>()).shape().clone()
}

/// The meaning, then what it is to hardware that takes subnormal operands, or results, or both for
/// zeros. XLA's CPU threads run with that switched on, and StableHLO leaves it to the platform.
pub fn evaluate_flushing(meaning: &Meaning, result: &Shape, operands: &[Value]) -> [Value; 4] {
    let flushed = flush_operands(operands);
    let kept = evaluate(meaning, result.clone(), operands);
    let inner = evaluate(meaning, result.clone(), &flushed);
    // Tininess is detected before rounding, so what rounds up to the least normal goes as well.
    let outer = flush(&kept, f64::le);
    let both = flush(&inner, f64::le);
    [kept, outer, inner, both]
}

/// The operands as hardware sees them that takes subnormals for zeros.
pub fn flush_operands(operands: &[Value]) -> Vec<Value> {
    operands.iter().map(|operand| flush(operand, f64::lt)).collect()
}

/// The least number that arithmetic on `dtype` keeps: that of the type the plugin computes in.
fn least_kept(dtype: DType) -> f64 {
    match dtype.real() {
        DType::F64 => float_format::least_normal(DType::F64),
        DType::F32 | DType::BF16 | DType::F8E8M0FNU => float_format::least_normal(DType::F32),
        _ => 0.0,
    }
}

/// Whether arithmetic on `dtype` may take the number for zero.
pub fn is_subnormal(dtype: DType, number: f64) -> bool {
    number != 0.0 && number.abs() < least_kept(dtype)
}

/// The array with numbers at or below the least kept one as zeros of their sign.
fn flush(value: &Value, is_tiny: fn(&f64, &f64) -> bool) -> Value {
    let dtype = value.shape.dtype;
    let least = least_kept(dtype);
    let kept = |x: f64| if is_tiny(&x.abs(), &least) { 0f64.copysign(x) } else { x };
    match dtype.class() {
        Class::Float if least > 0.0 => {
            let numbers: Vec<f64> = value.reals().into_iter().map(kept).collect();
            Value::from_reals(value.shape.clone(), &numbers)
        }
        Class::Complex => {
            let both = |z: Complex64| Complex64::new(kept(z.re), kept(z.im));
            let numbers: Vec<Complex64> = value.complex().into_iter().map(both).collect();
            Value::from_complex(value.shape.clone(), &numbers)
        }
        _ => value.clone(),
    }
}

/// The meaning, element by element, rounded to `result`'s dtype.
pub fn evaluate(meaning: &Meaning, result: Shape, operands: &[Value]) -> Value {
    let dtype = operands[0].shape.dtype;
    match (dtype.class(), meaning.real) {
        (Class::Float, Some(real)) => Value::from_reals(result, &map(operands, Value::reals, real)),
        (Class::Float | Class::Complex, _) => {
            let complex = meaning.complex.expect("a meaning of complex numbers");
            let numbers = map(operands, Value::complex, complex);
            if result.dtype.class() == Class::Complex {
                return Value::from_complex(result, &numbers);
            }
            let parts: Vec<f64> = numbers.iter().map(|z: &Complex64| z.re).collect();
            Value::from_reals(result, &parts)
        }
        _ => {
            let width = Width { bits: dtype.bits(), signed: dtype.class() == Class::Signed };
            let integer = meaning.integer.expect("a meaning of integers");
            let numbers = map(operands, Value::integers, |x: &[i128]| integer(x, width));
            Value::from_integers(result, &numbers)
        }
    }
}

/// Applies a scalar function to the elements of arrays of one shape.
fn map<T: Copy>(
    operands: &[Value],
    elements: impl Fn(&Value) -> Vec<T>,
    function: impl Fn(&[T]) -> T,
) -> Vec<T> {
    let columns: Vec<Vec<T>> = operands.iter().map(elements).collect();
    let row = |i: usize| columns.iter().map(|column| column[i]).collect::<Vec<T>>();
    (0..columns[0].len()).map(|i| function(&row(i))).collect()
}
