//! Gather, against plain loops over the specification's index arithmetic.

use rectiflow_hlo::{DType, DTypes, GatherDims, Shape};

use super::super::array::{any, arrange, contains};
use crate::{Case, Value};

/// Whole numbers as an `i64` tensor.
fn whole(dims: &[i64], numbers: &[i64]) -> Value {
    Value::of(dims, numbers)
}

/// The part of `index` at `dims`, or not at them.
fn part(index: &[i64], dims: &[i64], at: bool) -> Vec<i64> {
    let chosen = |dim: &usize| dims.contains(&(*dim as i64)) == at;
    (0..index.len()).filter(chosen).map(|dim| index[dim]).collect()
}

/// Component `component` of the index vector of a batch index.
pub(super) fn component(indices: &Value, vector_dim: i64, batch: &[i64], component: usize) -> i64 {
    let mut at = batch.to_vec();
    if (vector_dim as usize) < indices.shape.rank() {
        at.insert(vector_dim as usize, component as i64);
    }
    indices.integers()[super::offset(&indices.shape.dims, &at)] as i64
}

/// The batch index's entry for a batching dim of the indices, which counts the index vector dim.
pub(super) fn batch_entry(batch: &[i64], vector_dim: i64, dim: i64) -> i64 {
    batch[(dim - i64::from(dim > vector_dim)) as usize]
}

/// `offsets` with zeros where the window lacks a dim.
pub(super) fn full_window(rank: usize, missing: &[&[i64]], offsets: &[i64]) -> Vec<i64> {
    let mut offsets = offsets.iter();
    let lacks = |dim: usize| missing.iter().any(|dims| dims.contains(&(dim as i64)));
    (0..rank).map(|dim| if lacks(dim) { 0 } else { *offsets.next().expect("an offset") }).collect()
}

fn reference(
    operand: &Value,
    starts: &Value,
    dims: &GatherDims,
    sizes: &[i64],
    result: &[i64],
) -> Value {
    let bounds = &operand.shape.dims;
    arrange(operand, result, |index| {
        let batch = part(index, &dims.offset_dims, false);
        let window = part(index, &dims.offset_dims, true);
        let missing = [&dims.collapsed_slice_dims[..], &dims.operand_batching_dims[..]];
        let mut at = full_window(bounds.len(), &missing, &window);
        for (i, &dim) in dims.start_index_map.iter().enumerate() {
            let dim = dim as usize;
            let start = component(starts, dims.index_vector_dim, &batch, i);
            at[dim] += start.clamp(0, bounds[dim] - sizes[dim]);
        }
        for (&dim, &from) in
            dims.operand_batching_dims.iter().zip(&dims.start_indices_batching_dims)
        {
            at[dim as usize] += batch_entry(&batch, dims.index_vector_dim, from);
        }
        assert!(contains(bounds, &at), "{at:?} in {bounds:?}");
        at
    })
}

struct Gather {
    name: &'static str,
    operand: &'static [i64],
    starts: Value,
    sizes: &'static [i64],
    dims: GatherDims,
    result: &'static [i64],
}

impl Gather {
    fn case(self, dtype: DType, index_dtype: DType) -> Case {
        let operand = any(dtype, self.operand, 4);
        let expected = reference(&operand, &self.starts, &self.dims, self.sizes, self.result);
        let numbers = self.starts.integers();
        let starts =
            Value::from_integers(Shape::new(index_dtype, &self.starts.shape.dims[..]), &numbers);
        let (dims, sizes) = (self.dims, self.sizes);
        Case::new(
            "stablehlo.gather",
            format!("{}, {} at {}", self.name, operand.shape, starts.shape),
            vec![operand, starts],
            move |_, x| vec![x[0].gather(&x[1], dims.clone(), sizes, false)],
            vec![expected],
        )
    }
}

/// Rows of a matrix.
fn rows() -> Gather {
    Gather {
        name: "rows",
        operand: &[4, 3],
        starts: whole(&[5], &[3, 0, 0, 2, 1]),
        sizes: &[1, 3],
        dims: GatherDims {
            offset_dims: vec![1],
            collapsed_slice_dims: vec![0],
            start_index_map: vec![0],
            index_vector_dim: 1,
            ..GatherDims::default()
        },
        result: &[5, 3],
    }
}

fn gathers() -> Vec<Gather> {
    let windows = GatherDims {
        offset_dims: vec![1, 2],
        start_index_map: vec![0, 1],
        index_vector_dim: 1,
        ..GatherDims::default()
    };
    let batched = GatherDims {
        offset_dims: vec![2],
        operand_batching_dims: vec![0],
        start_indices_batching_dims: vec![1],
        start_index_map: vec![1],
        index_vector_dim: 2,
        ..GatherDims::default()
    };
    vec![
        rows(),
        Gather { name: "clamped", starts: whole(&[5], &[-1, 4, 99, -99, 3]), ..rows() },
        Gather { name: "no index", starts: whole(&[0], &[]), result: &[0, 3], ..rows() },
        Gather { name: "empty rows", operand: &[4, 0], sizes: &[1, 0], result: &[5, 0], ..rows() },
        Gather {
            name: "windows moved inside",
            operand: &[4, 5],
            starts: whole(&[3, 2], &[0, 1, 3, 3, -2, 9]),
            sizes: &[2, 3],
            dims: windows.clone(),
            result: &[3, 2, 3],
        },
        Gather {
            name: "index vector first, map reversed, offsets first and last",
            operand: &[4, 5],
            starts: whole(&[2, 3], &[1, 2, 4, 0, 3, 2]),
            sizes: &[2, 2],
            dims: GatherDims {
                offset_dims: vec![0, 2],
                start_index_map: vec![1, 0],
                index_vector_dim: 0,
                ..windows.clone()
            },
            result: &[2, 3, 2],
        },
        Gather {
            name: "index vector in the middle",
            operand: &[3, 4, 2],
            starts: whole(&[2, 2, 2], &[0, 1, 3, 2, 2, 1, -1, 9]),
            sizes: &[1, 2, 2],
            dims: GatherDims {
                offset_dims: vec![0, 3],
                collapsed_slice_dims: vec![0],
                start_index_map: vec![0, 1],
                index_vector_dim: 1,
                ..GatherDims::default()
            },
            result: &[2, 2, 2, 2],
        },
        Gather {
            name: "batching dims",
            operand: &[3, 5],
            starts: whole(&[2, 3, 1], &[0, 1, 4, 3, 9, -9]),
            sizes: &[1, 2],
            dims: batched.clone(),
            result: &[2, 3, 2],
        },
        Gather {
            name: "two batching dims, index vector between them",
            operand: &[2, 4, 3],
            starts: whole(&[3, 1, 2], &[0, 3, 1, 2, 2, 9]),
            sizes: &[1, 1, 1],
            dims: GatherDims {
                offset_dims: vec![],
                collapsed_slice_dims: vec![1],
                operand_batching_dims: vec![0, 2],
                start_indices_batching_dims: vec![2, 0],
                start_index_map: vec![1],
                index_vector_dim: 1,
            },
            result: &[3, 2],
        },
        Gather {
            name: "one scalar index",
            operand: &[6],
            starts: whole(&[], &[4]),
            sizes: &[1],
            dims: GatherDims {
                collapsed_slice_dims: vec![0],
                start_index_map: vec![0],
                index_vector_dim: 0,
                ..GatherDims::default()
            },
            result: &[],
        },
        Gather {
            name: "rank 6",
            operand: &[2, 3, 2, 1, 2, 2],
            starts: whole(&[2, 2], &[1, 2, 0, 1]),
            sizes: &[1, 1, 2, 1, 2, 1],
            dims: GatherDims {
                offset_dims: vec![1, 2, 3, 4],
                collapsed_slice_dims: vec![0, 1],
                start_index_map: vec![0, 1],
                index_vector_dim: 1,
                ..GatherDims::default()
            },
            result: &[2, 2, 1, 2, 1],
        },
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let shapes = gathers().into_iter().map(|gather| gather.case(DType::F32, DType::I32));
    let dtypes = DTypes::ANY.iter().map(|dtype| rows().case(dtype, DType::I64));
    let positions = DTypes::INTEGER.iter().filter(|dtype| dtype.bits() >= 8);
    shapes.chain(dtypes).chain(positions.map(|dtype| rows().case(DType::I16, dtype))).collect()
}

/// Whole slices along each dim, for indices of rank 0 to 2.
pub(super) fn takes() -> Vec<Case> {
    let mut cases = Vec::new();
    let operand = any(DType::F32, &[3, 4, 2], 5);
    for dimension in 0..3usize {
        for starts in [whole(&[], &[1]), whole(&[3], &[2, -5, 77]), whole(&[2, 2], &[0, 1, 1, 0])] {
            let (rank, bounds) = (starts.shape.rank(), &operand.shape.dims);
            let mut dims = bounds.clone();
            dims.splice(dimension..=dimension, starts.shape.dims.iter().copied());
            let expected = arrange(&operand, &dims, |index| {
                let index_of_start = &index[dimension..dimension + rank];
                let start = component(&starts, rank as i64, index_of_start, 0);
                let mut at = index.to_vec();
                let inside = start.clamp(0, bounds[dimension] - 1);
                at.splice(dimension..dimension + rank, [inside]);
                at
            });
            cases.push(Case::new(
                "stablehlo.gather",
                format!("take of {} at {} along {dimension}", operand.shape, starts.shape),
                vec![operand.clone(), starts],
                move |_, x| vec![x[0].take(&x[1], dimension as i64)],
                vec![expected],
            ));
        }
    }
    cases
}
