//! The op table: every operation, declared once.
//!
//! The row syntax is that of [`ops!`](crate::op). Shape rules live in `rules/`, methods that take
//! regions or lists of tensors in `build/`.

use num_complex::Complex64;

use crate::{
    Attribute, Channel, CompareType, ConvDims, DType, DTypes, Dictionary, Direction, DotAlgorithm,
    DotDims, GatherDims, Literal, Pairs, Precision, ReplicaGroups, RngAlgorithm, ScatterDims,
    Shape, Sharding, Symbol, Tensor,
    attribute::{Aliases, Effect, Flags, ResultDims, RowMajor, Unit},
    error::Mismatch,
    meaning,
    op::{Inputs, Meaning, Row, ops},
    rules::{collective, contract, control, elementwise, index, reduce, shape},
};

ops! {
    /// Magnitude; of a complex number, its modulus.
    Abs {} = "stablehlo.abs", broadcast abs(), DTypes::SIGNED, elementwise::real_part
        => Meaning::real(|x| x[0].abs()).or_integer(|x, _| x[0].abs()).or_complex(|x| x[0].norm().into());
    /// Sum; wraps on integers, logical or on `pred`.
    Add {} = "stablehlo.add", broadcast add(rhs), DTypes::ANY, elementwise::same
        => Meaning::real(|x| x[0] + x[1]).or_integer(meaning::add).or_complex(|x| x[0] + x[1]);
    /// Bitwise and; logical on `pred`.
    And {} = "stablehlo.and", broadcast and(rhs), DTypes::BITS, elementwise::same
        => Meaning::integer(|x, _| x[0] & x[1]);
    /// Angle of the point (`rhs`, `self`), in radians from -pi to pi.
    Atan2 {} = "stablehlo.atan2", broadcast atan2(rhs), DTypes::FLOAT, elementwise::same
        => Meaning::real(|x| x[0].atan2(x[1]));
    /// Cube root.
    Cbrt {} = "stablehlo.cbrt", broadcast cbrt(), DTypes::FLOAT, elementwise::same
        => Meaning::real(|x| x[0].cbrt());
    /// Rounds towards positive infinity.
    Ceil {} = "stablehlo.ceil", broadcast ceil(), DTypes::FLOAT, elementwise::same
        => Meaning::real(|x| x[0].ceil());
    /// The complex number of a real part `self` and an imaginary part `imag`.
    Complex {} = "stablehlo.complex", broadcast complex(imag), DTypes::PART, elementwise::complex
        => Meaning::complex(|x| Complex64::new(x[0].re, x[1].re));
    /// Cosine of an angle in radians.
    Cosine {} = "stablehlo.cosine", broadcast cosine(), DTypes::INEXACT, elementwise::same
        => Meaning::real(|x| x[0].cos()).or_complex(|x| x[0].cos());
    /// Number of zero bits above the highest set one.
    CountLeadingZeros {} = "stablehlo.count_leading_zeros", broadcast count_leading_zeros(), DTypes::INTEGER, elementwise::same
        => Meaning::integer(meaning::count_leading_zeros);
    /// Quotient; of integers towards zero. An integer over zero is all ones, and the lowest over -1
    /// is itself.
    Divide {} = "stablehlo.divide", broadcast divide(rhs), DTypes::NUMBER, elementwise::same
        => Meaning::real(|x| x[0] / x[1]).or_integer(meaning::divide).or_complex(|x| x[0] / x[1]);
    /// Error function, by decomposition in the compiler.
    Erf {} = "chlo.erf", broadcast erf(), DTypes::FLOAT, elementwise::same
        => Meaning::real(|x| libm::erf(x[0]));
    /// `e` to the power.
    Exponential {} = "stablehlo.exponential", broadcast exponential(), DTypes::INEXACT, elementwise::same
        => Meaning::real(|x| x[0].exp()).or_complex(|x| x[0].exp());
    /// `e^x - 1`, exact near zero.
    ExponentialMinusOne {} = "stablehlo.exponential_minus_one", broadcast exponential_minus_one(), DTypes::INEXACT, elementwise::same
        => Meaning::real(|x| x[0].exp_m1()).or_complex(meaning::complex_exp_m1);
    /// Rounds towards negative infinity.
    Floor {} = "stablehlo.floor", broadcast floor(), DTypes::FLOAT, elementwise::same
        => Meaning::real(|x| x[0].floor());
    /// Imaginary part; zero for a real one.
    Imag {} = "stablehlo.imag", broadcast imag(), DTypes::INEXACT, elementwise::real_part
        => Meaning::real(|_| 0.0).or_complex(|x| x[0].im.into());
    /// Whether the element is neither infinite nor NaN.
    IsFinite {} = "stablehlo.is_finite", broadcast is_finite(), DTypes::FLOAT, elementwise::predicate
        => Meaning::real(|x| f64::from(x[0].is_finite()));
    /// Natural logarithm.
    Log {} = "stablehlo.log", broadcast log(), DTypes::INEXACT, elementwise::same
        => Meaning::real(|x| x[0].ln()).or_complex(|x| x[0].ln());
    /// `log(1 + x)`, exact near zero.
    LogPlusOne {} = "stablehlo.log_plus_one", broadcast log_plus_one(), DTypes::INEXACT, elementwise::same
        => Meaning::real(|x| x[0].ln_1p()).or_complex(|x| (x[0] + 1.0).ln());
    /// `1 / (1 + e^-x)`.
    Logistic {} = "stablehlo.logistic", broadcast logistic(), DTypes::INEXACT, elementwise::same
        => Meaning::real(|x| 1.0 / (1.0 + (-x[0]).exp())).or_complex(|x| 1.0 / (1.0 + (-x[0]).exp()));
    /// The greater; NaN if either is; logical or on `pred`.
    Maximum {} = "stablehlo.maximum", broadcast maximum(rhs), DTypes::ORDERED, elementwise::same
        => Meaning::real(meaning::maximum).or_integer(|x, _| x[0].max(x[1]));
    /// The lesser; NaN if either is; logical and on `pred`.
    Minimum {} = "stablehlo.minimum", broadcast minimum(rhs), DTypes::ORDERED, elementwise::same
        => Meaning::real(meaning::minimum).or_integer(|x, _| x[0].min(x[1]));
    /// Product; wraps on integers, logical and on `pred`.
    Multiply {} = "stablehlo.multiply", broadcast multiply(rhs), DTypes::ANY, elementwise::same
        => Meaning::real(|x| x[0] * x[1]).or_integer(|x, _| x[0].wrapping_mul(x[1])).or_complex(|x| x[0] * x[1]);
    /// Opposite sign; wraps on integers.
    Negate {} = "stablehlo.negate", broadcast negate(), DTypes::NUMBER, elementwise::same
        => Meaning::real(|x| -x[0]).or_integer(|x, _| -x[0]).or_complex(|x| -x[0]);
    /// Bitwise complement; logical on `pred`.
    Not {} = "stablehlo.not", broadcast not(), DTypes::BITS, elementwise::same
        => Meaning::integer(|x, _| !x[0]);
    /// Bitwise or; logical on `pred`.
    Or {} = "stablehlo.or", broadcast or(rhs), DTypes::BITS, elementwise::same
        => Meaning::integer(|x, _| x[0] | x[1]);
    /// Number of set bits.
    Popcnt {} = "stablehlo.popcnt", broadcast popcnt(), DTypes::INTEGER, elementwise::same
        => Meaning::integer(meaning::popcnt);
    /// `self` to the power `rhs`; an integer to a negative power is 0, but for 1 and -1.
    Power {} = "stablehlo.power", broadcast power(rhs), DTypes::NUMBER, elementwise::same
        => Meaning::real(|x| x[0].powf(x[1])).or_integer(meaning::power).or_complex(|x| x[0].powc(x[1]));
    /// Real part.
    Real {} = "stablehlo.real", broadcast real(), DTypes::INEXACT, elementwise::real_part
        => Meaning::real(|x| x[0]).or_complex(|x| x[0].re.into());
    /// Remainder of the division, with the sign of `self`. An integer modulo zero is itself.
    Remainder {} = "stablehlo.remainder", broadcast remainder(rhs), DTypes::REAL, elementwise::same
        => Meaning::real(|x| x[0] % x[1]).or_integer(|x, _| x[0].checked_rem(x[1]).unwrap_or(x[0]));
    /// Rounds to the nearest integer, halves away from zero.
    RoundNearestAfz {} = "stablehlo.round_nearest_afz", broadcast round_nearest_afz(), DTypes::FLOAT, elementwise::same
        => Meaning::real(|x| x[0].round());
    /// Rounds to the nearest integer, halves to even.
    RoundNearestEven {} = "stablehlo.round_nearest_even", broadcast round_nearest_even(), DTypes::FLOAT, elementwise::same
        => Meaning::real(|x| x[0].round_ties_even());
    /// `1 / sqrt(x)`.
    Rsqrt {} = "stablehlo.rsqrt", broadcast rsqrt(), DTypes::INEXACT, elementwise::same
        => Meaning::real(|x| 1.0 / x[0].sqrt()).or_complex(|x| 1.0 / x[0].sqrt());
    /// Shift to the left; zero from the width on.
    ShiftLeft {} = "stablehlo.shift_left", broadcast shift_left(rhs), DTypes::INTEGER, elementwise::same
        => Meaning::integer(meaning::shift_left);
    /// Shift to the right that repeats the sign bit.
    ShiftRightArithmetic {} = "stablehlo.shift_right_arithmetic", broadcast shift_right_arithmetic(rhs), DTypes::INTEGER, elementwise::same
        => Meaning::integer(meaning::shift_right_arithmetic);
    /// Shift to the right that fills with zero.
    ShiftRightLogical {} = "stablehlo.shift_right_logical", broadcast shift_right_logical(rhs), DTypes::INTEGER, elementwise::same
        => Meaning::integer(meaning::shift_right_logical);
    /// -1, 0 or 1 with the sign of the element; of a complex number, that of modulus 1 in its
    /// direction. Keeps signed zeros and NaN.
    Sign {} = "stablehlo.sign", broadcast sign(), DTypes::SIGNED, elementwise::same
        => Meaning::real(meaning::sign).or_integer(|x, _| x[0].signum()).or_complex(meaning::complex_sign);
    /// Sine of an angle in radians.
    Sine {} = "stablehlo.sine", broadcast sine(), DTypes::INEXACT, elementwise::same
        => Meaning::real(|x| x[0].sin()).or_complex(|x| x[0].sin());
    /// Square root.
    Sqrt {} = "stablehlo.sqrt", broadcast sqrt(), DTypes::INEXACT, elementwise::same
        => Meaning::real(|x| x[0].sqrt()).or_complex(|x| x[0].sqrt());
    /// Difference; wraps on integers.
    Subtract {} = "stablehlo.subtract", broadcast subtract(rhs), DTypes::NUMBER, elementwise::same
        => Meaning::real(|x| x[0] - x[1]).or_integer(|x, _| x[0] - x[1]).or_complex(|x| x[0] - x[1]);
    /// Tangent of an angle in radians.
    Tan {} = "stablehlo.tan", broadcast tan(), DTypes::INEXACT, elementwise::same
        => Meaning::real(|x| x[0].tan()).or_complex(|x| x[0].tan());
    /// Hyperbolic tangent.
    Tanh {} = "stablehlo.tanh", broadcast tanh(), DTypes::INEXACT, elementwise::same
        => Meaning::real(|x| x[0].tanh()).or_complex(|x| x[0].tanh());
    /// Bitwise exclusive or; logical on `pred`.
    Xor {} = "stablehlo.xor", broadcast xor(rhs), DTypes::BITS, elementwise::same
        => Meaning::integer(|x, _| x[0] ^ x[1]);

    /// Elementwise comparison, to `pred`. Without a type, the one of the dtype: NaN is unordered.
    Compare { comparison_direction: Direction, compare_type: Option<CompareType> } = "stablehlo.compare", broadcast compare(rhs), DTypes::ANY, elementwise::compare;
    /// Where `self` (`pred`) is true the element of `on_true`, else that of `on_false`.
    Select {} = "stablehlo.select", broadcast select(on_true, on_false), DTypes::PRED, elementwise::select;
    /// The element, but at least `min` and at most `max`.
    Clamp {} = "stablehlo.clamp", by_hand clamp(), DTypes::ORDERED, elementwise::clamp;
    /// The nearest value of another element type; floats to integers go towards zero.
    Convert { dtype: DType } = "stablehlo.convert", strict convert(), DTypes::ANY, elementwise::convert;
    /// The same bits as another element type. A narrower one adds a last dim, a wider one takes it.
    BitcastConvert { dtype: DType } = "stablehlo.bitcast_convert", strict bitcast_convert(), DTypes::ANY, elementwise::bitcast_convert;
    /// Rounds to the precision of a float with these exponent and mantissa bits, keeping the dtype.
    ReducePrecision { exponent_bits: i32, mantissa_bits: i32 } = "stablehlo.reduce_precision", strict reduce_precision(), DTypes::FLOAT, elementwise::reduce_precision;

    /// A value that is part of the program; at most 64 kB, larger ones must be parameters.
    Constant { value: Literal } = "stablehlo.constant", by_hand constant(), DTypes::ALL, shape::constant;
    /// 0, 1, 2, .. along one dim.
    Iota { iota_dimension: i64, shape: Shape } = "stablehlo.iota", by_hand iota(), DTypes::ALL, shape::iota;
    /// Repeats the operand over new or unit dims; operand dim `i` becomes `broadcast_dimensions[i]`.
    BroadcastInDim { broadcast_dimensions: Vec<i64>, dims: ResultDims } = "stablehlo.broadcast_in_dim", strict broadcast_in_dim(), DTypes::ANY, shape::broadcast_in_dim;
    /// The same elements in row-major order under other dims.
    Reshape { dims: ResultDims } = "stablehlo.reshape", strict reshape(), DTypes::ANY, shape::reshape;
    /// Reorders dims: result dim `i` is operand dim `permutation[i]`.
    Transpose { permutation: Vec<i64> } = "stablehlo.transpose", strict transpose(), DTypes::ANY, shape::transpose;
    /// Joins along a dim.
    Concatenate { dimension: i64 } = "stablehlo.concatenate", by_hand concatenate(), DTypes::ANY, shape::concatenate;
    /// Elements from `start_indices` to before `limit_indices`, every `strides`-th.
    Slice { start_indices: Vec<i64>, limit_indices: Vec<i64>, strides: Vec<i64> } = "stablehlo.slice", strict slice(), DTypes::ANY, shape::slice;
    /// A window of `slice_sizes` at a position known when running, moved to lie inside.
    DynamicSlice { slice_sizes: Vec<i64> } = "stablehlo.dynamic_slice", by_hand dynamic_slice(), DTypes::ANY, index::dynamic_slice;
    /// Writes `update` at a position known when running, moved to lie inside.
    DynamicUpdateSlice {} = "stablehlo.dynamic_update_slice", by_hand dynamic_update_slice(), DTypes::ANY, index::dynamic_update_slice;
    /// Adds `value` at the edges (negative amounts cut) and between elements.
    Pad { edge_padding_low: Vec<i64>, edge_padding_high: Vec<i64>, interior_padding: Vec<i64> } = "stablehlo.pad", strict pad(value), DTypes::ANY, shape::pad;
    /// Reverses the order along dims.
    Reverse { dimensions: Vec<i64> } = "stablehlo.reverse", strict reverse(), DTypes::ANY, shape::reverse;
    /// Slices of the operand at positions known when running, each moved to lie inside.
    Gather { dimension_numbers: GatherDims, slice_sizes: Vec<i64>, indices_are_sorted: bool } = "stablehlo.gather", strict gather(start_indices), DTypes::ANY, index::gather;
    /// Combines updates into the inputs at positions known when running; those outside are dropped.
    Scatter { scatter_dimension_numbers: ScatterDims, indices_are_sorted: bool, unique_indices: bool } = "stablehlo.scatter", by_hand scatter(), DTypes::ANY, index::scatter;

    /// Folds dims away with a body; the order is the platform's, so the body must be associative.
    Reduce { dimensions: Vec<i64> } = "stablehlo.reduce", by_hand reduce(), DTypes::ANY, reduce::reduce;
    /// Folds each position of a moving window with a body.
    ReduceWindow { window_dimensions: Vec<i64>, window_strides: Vec<i64>, base_dilations: Vec<i64>, window_dilations: Vec<i64>, padding: Pairs } = "stablehlo.reduce_window", by_hand reduce_window(), DTypes::ANY, reduce::reduce_window;
    /// Sorts slices along a dim by a comparator; several operands are sorted together.
    Sort { dimension: i64, is_stable: bool } = "stablehlo.sort", by_hand sort(), DTypes::ANY, reduce::sort;
    /// The `k` greatest elements of the last dim, in falling order, and their positions as `i32`.
    TopK { k: i64 } = "chlo.top_k", by_hand top_k(), DTypes::REAL, reduce::top_k;

    /// Sums of products over contracting dims; the result has batch dims, then the left's, then the
    /// right's. `dtype` is that of the result (and of the sums, where the platform can).
    DotGeneral { dot_dimension_numbers: DotDims, precision_config: Option<Vec<Precision>>, algorithm: Option<DotAlgorithm>, dtype: DType } = "stablehlo.dot_general", by_hand dot_general(), DTypes::ANY, contract::dot_general;
    /// Sums of products over a moving window, with strides, padding, dilations and groups.
    Convolution { window_strides: Vec<i64>, padding: Pairs, lhs_dilation: Vec<i64>, rhs_dilation: Vec<i64>, window_reversal: Flags, dimension_numbers: ConvDims, feature_group_count: i64, batch_group_count: i64, precision_config: Option<Vec<Precision>>, dtype: DType } = "stablehlo.convolution", by_hand convolution(), DTypes::NUMBER, contract::convolution;

    /// Runs the body while the condition holds.
    While {} = "stablehlo.while", by_hand while_loop(), DTypes::VALUE, control::while_loop;
    /// One of two regions, by a `pred`.
    If {} = "stablehlo.if", by_hand if_else(), DTypes::PRED, control::if_else;
    /// One of several regions, by an `i32`; out of range takes the last.
    Case {} = "stablehlo.case", by_hand case(), DTypes::INTEGER, control::case;
    /// Passes values through, but no work moves across it.
    OptimizationBarrier {} = "stablehlo.optimization_barrier", by_hand optimization_barrier(), DTypes::VALUE, control::identity;
    /// Calls a function of the graph.
    Call { callee: Symbol, effect: Effect, results: Vec<Shape> } = "func.call", by_hand call(), DTypes::VALUE, control::declared;
    /// Calls code that a plugin or a program registered (typed FFI).
    CustomCall { call_target_name: String, has_side_effect: bool, backend_config: Dictionary, api_version: i32, operand_layouts: RowMajor, result_layouts: RowMajor, output_operand_aliases: Aliases, results: Vec<Shape> } = "stablehlo.custom_call", by_hand custom_call(), DTypes::VALUE, control::custom_call;
    /// A tuple of values.
    Tuple {} = "stablehlo.tuple", by_hand tuple(), DTypes::ALL, control::tuple;
    /// One member of a tuple.
    GetTupleElement { index: i32 } = "stablehlo.get_tuple_element", strict get_tuple_element(), DTypes::TUPLE, control::get_tuple_element;
    /// Random bits from a state, and the next state.
    RngBitGenerator { rng_algorithm: RngAlgorithm, shape: Shape } = "stablehlo.rng_bit_generator", by_hand rng_bit_generator(), DTypes::INTEGER, control::rng_bit_generator;

    /// Combines the value of each member of a group with a body; every member gets the result.
    AllReduce { replica_groups: ReplicaGroups, channel_handle: Option<Channel>, use_global_device_ids: Unit } = "stablehlo.all_reduce", by_hand all_reduce(), DTypes::ANY, collective::all_reduce;
    /// Joins the values of a group along a dim.
    AllGather { all_gather_dim: i64, replica_groups: ReplicaGroups, channel_handle: Option<Channel>, use_global_device_ids: Unit } = "stablehlo.all_gather", by_hand all_gather(), DTypes::ANY, collective::all_gather;
    /// Combines as all_reduce; each member gets its part along a dim.
    ReduceScatter { scatter_dimension: i64, replica_groups: ReplicaGroups, channel_handle: Option<Channel>, use_global_device_ids: Unit } = "stablehlo.reduce_scatter", by_hand reduce_scatter(), DTypes::ANY, collective::reduce_scatter;
    /// Splits along one dim, exchanges the parts, joins along another.
    AllToAll { split_dimension: i64, concat_dimension: i64, split_count: i64, replica_groups: ReplicaGroups, channel_handle: Option<Channel> } = "stablehlo.all_to_all", by_hand all_to_all(), DTypes::ANY, collective::all_to_all;
    /// Sends values from sources to targets; who receives nothing gets zeros.
    CollectivePermute { source_target_pairs: Pairs, channel_handle: Option<Channel> } = "stablehlo.collective_permute", by_hand collective_permute(), DTypes::ANY, collective::collective_permute;
    /// Number of the running partition, as a `u32` scalar.
    PartitionId {} = "stablehlo.partition_id", by_hand partition_id(), DTypes::ALL, collective::id;
    /// Number of the running replica, as a `u32` scalar.
    ReplicaId {} = "stablehlo.replica_id", by_hand replica_id(), DTypes::ALL, collective::id;
    /// The same value, split over a mesh as said.
    ShardingConstraint { sharding: Sharding } = "sdy.sharding_constraint", strict with_sharding(), DTypes::ANY, collective::constrained;
}
