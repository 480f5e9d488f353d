//! Shardings, which change where values are and not what they are.

use rectiflow_hlo::{DType, Graph, Mesh, Sharding, Tensor};

use super::super::array::{arrange, small};
use crate::{Bound, Case, Division, Value};

fn mesh() -> Mesh {
    Mesh::new("mesh", [("data", 2), ("model", 2)])
}

/// A product of matrices whose rows, columns or both are split over a mesh.
fn split_product(graph: &Graph, x: &[Tensor], lhs: [&[&str]; 2], rhs: [&[&str]; 2]) -> Tensor {
    let mesh = mesh();
    graph.mesh(&mesh);
    // What has no sharding gets the one that the partitioner finds best.
    x.iter().for_each(|x| graph.shard_parameter(x, Sharding::replicated(&mesh, 2)));
    graph.shard_result(0, Sharding::replicated(&mesh, 2));
    let (a, b) = (Sharding::new(&mesh, lhs), Sharding::new(&mesh, rhs));
    x[0].with_sharding(a).matmul(&x[1].with_sharding(b))
}

fn product(x: &Value, y: &Value) -> Value {
    let (a, b) = (x.reals(), y.reals());
    let (terms, columns) = (x.shape.dims[1] as usize, y.shape.dims[1] as usize);
    let sum = |at: usize| {
        let (row, column) = (at / columns, at % columns);
        (0..terms).map(|i| a[row * terms + i] * b[i * columns + column]).sum()
    };
    let dims = vec![x.shape.dims[0], y.shape.dims[1]];
    let sums: Vec<f64> = (0..(dims[0] * dims[1]) as usize).map(sum).collect();
    Value::from_reals(x.shape.with_dims(dims), &sums)
}

pub(super) fn cases() -> Vec<Case> {
    const OP: &str = "sdy.sharding_constraint";
    let (x, y) = (small(DType::F32, &[4, 8], 98), small(DType::F32, &[8, 4], 99));
    let whole = product(&x, &y);
    let inputs = vec![x.clone(), y.clone()];
    let alone = Case::new(
        OP,
        "on 1 device",
        vec![x.clone()],
        |graph, x| {
            let mesh = Mesh::new("one", [("data", 1)]);
            graph.mesh(&mesh);
            vec![x[0].with_sharding(Sharding::new(&mesh, [&["data"][..], &[]]))]
        },
        vec![x],
    );
    let rows: [&[&str]; 2] = [&["data"], &[]];
    let columns: [&[&str]; 2] = [&[], &["model"]];
    let terms: [[&[&str]; 2]; 2] = [[&[], &["data", "model"]], [&["data", "model"], &[]]];
    let mut cases = vec![alone.within(Bound::Exact)];
    for (name, [lhs, rhs]) in [("rows and columns", [rows, columns]), ("terms", terms)] {
        let shares = vec![(inputs.clone(), vec![whole.clone()]); 4];
        let record = move |graph: &Graph, x: &[Tensor]| vec![split_product(graph, x, lhs, rhs)];
        let case = Case::on_devices(OP, format!("of {name}"), Division::Partitions, shares, record);
        cases.push(case.within(Bound::Ulps(0.0)));
    }
    cases.push(split_result(&inputs, &whole));
    cases
}

/// Each device of the mesh has its own quarter of the result.
fn split_result(inputs: &[Value], whole: &Value) -> Case {
    let quarter = |device: i64| {
        let (row, column) = (device / 2 * 2, device % 2 * 2);
        arrange(whole, &[2, 2], |index| vec![index[0] + row, index[1] + column])
    };
    let shares = (0..4).map(|device| (inputs.to_vec(), vec![quarter(device)])).collect();
    let record = |graph: &Graph, x: &[Tensor]| {
        let (rows, columns): ([&[&str]; 2], [&[&str]; 2]) = ([&["data"], &[]], [&[], &["model"]]);
        let result = split_product(graph, x, rows, columns);
        graph.shard_result(0, Sharding::new(&mesh(), [&["data"][..], &["model"]]));
        vec![result]
    };
    let op = "sdy.sharding_constraint";
    Case::on_devices(op, "with a split result", Division::Partitions, shares, record)
        .within(Bound::Ulps(0.0))
}
