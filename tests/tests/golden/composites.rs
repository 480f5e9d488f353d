//! Programs of functions that are made of table ops.

use rectiflow_hlo::{DType, Graph, Tensor};

use crate::{Program, parameter};

pub(crate) const PROGRAMS: &[Program] = &[
    ("gelu", |g| vec![rows(g).gelu()]),
    ("gelu_tanh", |g| vec![rows(g).gelu_tanh()]),
    ("silu", |g| vec![rows(g).silu()]),
    ("softmax", |g| vec![rows(g).softmax(1)]),
    ("mean", |g| vec![rows(g).mean([1])]),
    ("argmax", |g| vec![rows(g).argmax(1)]),
    ("argsort", |g| vec![rows(g).argsort(1)]),
    ("take", |g| vec![rows(g).take(&parameter(g, DType::I32, &[4]), 1)]),
    ("matmul", |g| {
        let batched = parameter(g, DType::F32, &[5, 3, 4]);
        vec![rows(g).matmul(&batched), batched.matmul(&parameter(g, DType::F32, &[4]))]
    }),
    ("scan", |g| {
        let weights = parameter(g, DType::F32, &[6, 3, 3]);
        let (carries, stacks) = g.scan(&[&rows(g)], &[&weights], |x, w| {
            let next = x[0].matmul(&w[0]);
            (vec![next.clone()], vec![next.sum([1])])
        });
        [carries, stacks].concat()
    }),
];

fn rows(g: &Graph) -> Tensor {
    parameter(g, DType::F32, &[2, 3])
}
