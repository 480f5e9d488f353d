//! Convolutions, against plain loops.

use rectiflow_hlo::{ConvDims, Convolution, DType, DTypes, Shape};

use super::super::array::{Wide, any, contains, indices, offset, small, with_wide};
use crate::{Bound, Case, Value};

/// Numbers of spatial dim `dim`: stride, input and kernel dilation, padding, reversal.
struct Spatial {
    stride: i64,
    input_dilation: i64,
    kernel_dilation: i64,
    padding: (i64, i64),
    reversed: bool,
}

fn spatial(options: &Convolution, dim: usize) -> Spatial {
    let or_1 = |numbers: &[i64]| numbers.get(dim).copied().unwrap_or(1);
    Spatial {
        stride: or_1(&options.strides),
        input_dilation: or_1(&options.input_dilation),
        kernel_dilation: or_1(&options.kernel_dilation),
        padding: options.padding.get(dim).copied().unwrap_or((0, 0)),
        reversed: options.reversal.get(dim).copied().unwrap_or(false),
    }
}

impl Spatial {
    fn positions(&self, input: i64, kernel: i64) -> i64 {
        let dilated = |n: i64, by: i64| if n == 0 { 0 } else { (n - 1) * by + 1 };
        let room = dilated(input, self.input_dilation) + self.padding.0 + self.padding.1
            - dilated(kernel, self.kernel_dilation);
        if room < 0 { 0 } else { room / self.stride + 1 }
    }

    /// Input element that kernel element `at` of size `kernel` meets; between two is nothing.
    fn meets(&self, position: i64, at: i64) -> Option<i64> {
        let point = position * self.stride + at * self.kernel_dilation - self.padding.0;
        (point % self.input_dilation == 0).then_some(point / self.input_dilation)
    }
}

/// Index with entries for two named dims and the spatial ones.
fn place(named: [(i64, i64); 2], dims: &[i64], at: &[i64]) -> Vec<i64> {
    let mut index = vec![0; dims.len() + 2];
    named.iter().for_each(|&(dim, i)| index[dim as usize] = i);
    dims.iter().zip(at).for_each(|(&dim, &i)| index[dim as usize] = i);
    index
}

fn reference<T: Wide>(input: &Value, kernel: &Value, options: &Convolution) -> Value {
    let d = &options.dims;
    let rank = d.input_spatial.len();
    let (given, weights) = (&input.shape.dims, &kernel.shape.dims);
    let size = |dims: &[i64], dim: i64| dims[dim as usize];
    let window: Vec<i64> = d.kernel_spatial.iter().map(|&dim| size(weights, dim)).collect();
    let spatial: Vec<Spatial> = (0..rank).map(|dim| spatial(options, dim)).collect();
    let positions: Vec<i64> = (0..rank)
        .map(|i| spatial[i].positions(size(given, d.input_spatial[i]), window[i]))
        .collect();
    let batch = size(given, d.input_batch) / options.batch_groups;
    let (kernel_in, out) =
        (size(weights, d.kernel_input_feature), size(weights, d.kernel_output_feature));
    let named = [(d.output_batch, batch), (d.output_feature, out)];
    let result = place(named, &d.output_spatial, &positions);
    let (numbers, factors) = (T::read(input), T::read(kernel));
    let sum = |index: &Vec<i64>| {
        let (n, o) = (size(index, d.output_batch), size(index, d.output_feature));
        let at_batch = o / (out / options.batch_groups).max(1) * batch + n;
        let first_feature = o / (out / options.feature_groups).max(1) * kernel_in;
        let mut sum = T::ZERO;
        for inside in indices(&[&[kernel_in], &window[..]].concat()) {
            let met: Option<Vec<i64>> = (0..rank)
                .map(|i| spatial[i].meets(size(index, d.output_spatial[i]), inside[i + 1]))
                .collect();
            let Some(met) = met else { continue };
            let feature = first_feature + inside[0];
            let from = [(d.input_batch, at_batch), (d.input_feature, feature)];
            let from = place(from, &d.input_spatial, &met);
            if !contains(given, &from) {
                continue;
            }
            let turned: Vec<i64> = (0..rank)
                .map(|i| {
                    if spatial[i].reversed { window[i] - 1 - inside[i + 1] } else { inside[i + 1] }
                })
                .collect();
            let with = [(d.kernel_input_feature, inside[0]), (d.kernel_output_feature, o)];
            let with = place(with, &d.kernel_spatial, &turned);
            sum = sum.plus(numbers[offset(given, &from)].times(factors[offset(weights, &with)]));
        }
        sum
    };
    let sums: Vec<T> = indices(&result).iter().map(sum).collect();
    T::write(Shape::new(options.dtype.unwrap_or(input.shape.dtype), result), &sums)
}

fn case(name: &str, input: Value, kernel: Value, options: Convolution) -> Case {
    let dtype = options.dtype.unwrap_or(input.shape.dtype);
    let expected = with_wide!(dtype, reference(&input, &kernel, &options));
    Case::new(
        "stablehlo.convolution",
        format!("{name}, {} with {}", input.shape, kernel.shape),
        vec![input, kernel],
        move |_, x| vec![x[0].convolution(&x[1], &options)],
        vec![expected],
    )
    .within(Bound::Ulps(0.0))
}

/// What one spatial dim does, by itself.
fn lines() -> Vec<(&'static str, Convolution)> {
    let of = || Convolution::new(ConvDims::nchw(1));
    vec![
        ("plain", of()),
        ("stride", Convolution { strides: vec![2], ..of() }),
        ("padding", Convolution { padding: vec![(2, 1)], ..of() }),
        ("negative padding", Convolution { padding: vec![(-1, -2)], ..of() }),
        ("nothing left", Convolution { padding: vec![(-4, -3)], ..of() }),
        ("input dilation", Convolution { input_dilation: vec![3], ..of() }),
        ("kernel dilation", Convolution { kernel_dilation: vec![2], ..of() }),
        (
            "both dilations",
            Convolution {
                input_dilation: vec![2],
                kernel_dilation: vec![3],
                padding: vec![(1, -1)],
                ..of()
            },
        ),
        ("reversed", Convolution { reversal: vec![true], ..of() }),
    ]
}

type Dims = &'static [i64];

/// Several spatial dims, layouts and groups.
fn arrangements() -> Vec<(&'static str, Dims, Dims, Convolution)> {
    let nchw = |rank| Convolution::new(ConvDims::nchw(rank));
    let nhwc = |rank| Convolution::new(ConvDims::nhwc(rank));
    let mixed = ConvDims {
        input_batch: 3,
        input_feature: 0,
        input_spatial: vec![2, 1],
        kernel_input_feature: 1,
        kernel_output_feature: 2,
        kernel_spatial: vec![0, 3],
        output_batch: 1,
        output_feature: 2,
        output_spatial: vec![3, 0],
    };
    let general = Convolution {
        strides: vec![2, 1],
        padding: vec![(1, 2), (-1, 0)],
        input_dilation: vec![1, 2],
        kernel_dilation: vec![2, 1],
        reversal: vec![true, false],
        ..nchw(2)
    };
    vec![
        ("no spatial dim", &[2, 3], &[4, 3], nchw(0)),
        ("nchw", &[2, 3, 5, 6], &[4, 3, 3, 2], nchw(2)),
        ("nhwc", &[2, 5, 6, 3], &[3, 2, 3, 4], nhwc(2)),
        (
            "same padding",
            &[1, 5, 6, 3],
            &[3, 3, 3, 4],
            Convolution { padding: vec![(1, 1); 2], ..nhwc(2) },
        ),
        ("dims anywhere", &[3, 6, 5, 2], &[3, 3, 4, 2], Convolution::new(mixed)),
        ("all at once", &[2, 3, 6, 5], &[4, 3, 2, 3], general.clone()),
        ("3 spatial dims", &[1, 2, 3, 4, 3], &[2, 2, 2, 2, 2], nchw(3)),
        (
            "3 spatial dims, last",
            &[1, 3, 4, 3, 2],
            &[2, 3, 2, 2, 2],
            Convolution {
                strides: vec![1, 2, 1],
                padding: vec![(1, 0), (0, 1), (1, 1)],
                ..nhwc(3)
            },
        ),
        (
            "feature groups",
            &[2, 4, 5, 5],
            &[6, 2, 2, 2],
            Convolution { feature_groups: 2, ..nchw(2) },
        ),
        ("depthwise", &[1, 5, 5, 3], &[2, 2, 1, 6], Convolution { feature_groups: 3, ..nhwc(2) }),
        ("batch groups", &[4, 3, 5, 5], &[6, 3, 2, 2], Convolution { batch_groups: 2, ..nchw(2) }),
        (
            "feature groups, all at once",
            &[2, 4, 6, 5],
            &[4, 2, 2, 3],
            Convolution { feature_groups: 2, ..general.clone() },
        ),
        (
            "batch groups, all at once",
            &[4, 3, 6, 5],
            &[4, 3, 2, 3],
            Convolution { batch_groups: 2, ..general },
        ),
        ("no batch", &[0, 3, 5, 5], &[4, 3, 2, 2], nchw(2)),
        ("no input channel", &[2, 0, 5, 5], &[4, 0, 2, 2], nchw(2)),
        ("no output channel", &[2, 3, 5, 5], &[0, 3, 2, 2], nchw(2)),
        ("kernel larger than the input", &[2, 3, 2, 2], &[4, 3, 3, 3], nchw(2)),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, options) in lines() {
        let (input, kernel) =
            (small(DType::F32, &[2, 3, 7], 48), small(DType::F32, &[4, 3, 3], 49));
        cases.push(case(name, input, kernel, options));
    }
    // In f32 and f16 the plugin reads outside the input when a dim is cut before and padded after.
    let (input, kernel) = (small(DType::F64, &[2, 3, 7], 48), small(DType::F64, &[4, 3, 3], 49));
    let mixed = Convolution {
        padding: vec![(-2, 3)],
        strides: vec![2],
        ..Convolution::new(ConvDims::nchw(1))
    };
    cases.push(case("mixed padding", input, kernel, mixed));
    for (name, input, kernel, options) in arrangements() {
        let (input, kernel) = (small(DType::F32, input, 50), small(DType::F32, kernel, 51));
        cases.push(case(name, input, kernel, options));
    }
    for dtype in DTypes::NUMBER.iter().filter(|dtype| *dtype != DType::F4E2M1FN) {
        let (input, kernel) = (small(dtype, &[1, 2, 5], 52), small(dtype, &[3, 2, 2], 53));
        let wide = if dtype.is_float() && dtype.bits() <= 8 { DType::F32 } else { dtype };
        let options = Convolution {
            padding: vec![(1, 0)],
            dtype: Some(wide),
            ..Convolution::new(ConvDims::nchw(1))
        };
        cases.push(case("dtype", input, kernel, options));
    }
    for (from, to) in [(DType::BF16, DType::F32), (DType::F16, DType::F32), (DType::I8, DType::I32)]
    {
        let (input, kernel) = (small(from, &[1, 4, 9], 54), small(from, &[3, 4, 3], 55));
        let options = Convolution { dtype: Some(to), ..Convolution::new(ConvDims::nchw(1)) };
        cases.push(case("widened", input, kernel, options));
    }
    let (input, kernel) = (any(DType::F32, &[1, 9, 8, 3], 56), any(DType::F32, &[3, 3, 3, 4], 57));
    let options = Convolution::new(ConvDims::nhwc(2));
    cases.push(case("fractions", input, kernel, options).within(Bound::Close(1e-4)));
    cases
}
