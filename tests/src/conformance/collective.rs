//! Exchanges between 4 devices, as replicas and as partitions.

use rectiflow_hlo::{Channel, DType, Graph, Shape, Tensor};

use super::array::{Wide, any, indices, offset, small, with_wide};
use crate::{Case, Division, Value};

const N_DEVICES: usize = 4;

/// Groups of devices, and the channel that a collective across partitions needs.
#[derive(Clone)]
struct Groups {
    groups: Vec<Vec<i64>>,
    channel: Option<Channel>,
    division: Division,
}

/// All devices; two groups of two; the same with their members turned round; each by itself.
fn all_groups() -> Vec<Groups> {
    let groups: [&[&[i64]]; 4] =
        [&[&[0, 1, 2, 3]], &[&[0, 2], &[1, 3]], &[&[3, 1], &[0, 2]], &[&[0], &[1], &[2], &[3]]];
    let own = |groups: &&[&[i64]]| groups.iter().map(|ids| ids.to_vec()).collect::<Vec<_>>();
    let replicas = |groups| Groups { groups, channel: None, division: Division::Replicas };
    let partitions =
        |groups| Groups { groups, channel: Some(Channel(1)), division: Division::Partitions };
    let mut all: Vec<Groups> = groups.iter().map(own).map(replicas).collect();
    all.extend(groups.iter().take(3).map(own).map(partitions));
    all
}

impl Groups {
    /// Members of the group of `device`, and its place among them.
    fn of(&self, device: usize) -> (&[i64], usize) {
        let place = |ids: &Vec<i64>| ids.iter().position(|&id| id == device as i64);
        let found = self.groups.iter().find_map(|ids| Some((&ids[..], place(ids)?)));
        found.expect("every device is in a group")
    }

    fn case(
        &self,
        op: &'static str,
        values: Vec<Value>,
        expected: impl Fn(&[&Value], usize) -> Value,
        record: impl Fn(&Tensor, Vec<Vec<i64>>, Option<Channel>) -> Tensor + Send + Sync + 'static,
    ) -> Case {
        let share = |device: usize| {
            let (ids, place) = self.of(device);
            let group: Vec<&Value> = ids.iter().map(|&id| &values[id as usize]).collect();
            (vec![values[device].clone()], vec![expected(&group, place)])
        };
        let (groups, channel) = (self.groups.clone(), self.channel);
        let name = format!("{} in {groups:?} of {:?}", values[0].shape, self.division);
        let shares = (0..N_DEVICES).map(share).collect();
        Case::on_devices(op, name, self.division, shares, move |_, x| {
            vec![record(&x[0], groups.clone(), channel)]
        })
    }
}

fn values(dtype: DType, dims: &[i64]) -> Vec<Value> {
    (0..N_DEVICES as u64).map(|device| small(dtype, dims, 60 + device)).collect()
}

fn added<T: Wide>(group: &[&Value]) -> Value {
    let mut sums = vec![T::ZERO; indices(&group[0].shape.dims).len()];
    for value in group {
        sums.iter_mut().zip(T::read(value)).for_each(|(sum, x)| *sum = sum.plus(x));
    }
    T::write(group[0].shape.clone(), &sums)
}

fn sum(group: &[&Value]) -> Value {
    with_wide!(group[0].shape.dtype, added(group))
}

/// Joined along `dim`.
fn joined(parts: &[Value], dim: usize) -> Value {
    let mut dims = parts[0].shape.dims.clone();
    let size = dims[dim];
    dims[dim] = parts.iter().map(|part| part.shape.dims[dim]).sum();
    let all: Vec<Vec<&[u8]>> = parts.iter().map(|part| part.elements().collect()).collect();
    let element = |index: &Vec<i64>| {
        let (part, mut at) = ((index[dim] / size) as usize, index.clone());
        at[dim] %= size;
        all[part][offset(&parts[part].shape.dims, &at)].to_vec()
    };
    let bytes = indices(&dims).iter().flat_map(element).collect();
    Value::from_bytes(parts[0].shape.with_dims(dims), bytes)
}

/// Part `place` of `count` along `dim`.
fn part(value: &Value, dim: usize, place: usize, count: usize) -> Value {
    let mut dims = value.shape.dims.clone();
    dims[dim] /= count as i64;
    let first = dims[dim] * place as i64;
    super::array::arrange(value, &dims, |index| {
        let mut at = index.to_vec();
        at[dim] += first;
        at
    })
}

/// The cases.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for groups in all_groups() {
        let reduced = |group: &[&Value], _: usize| sum(group);
        cases.push(all_reduce(&groups, DType::F32, &[3, 2], reduced));
        cases.push(all_gather(&groups, DType::F32, &[3, 2], 0));
        cases.push(all_gather(&groups, DType::F32, &[3, 2], 1));
        cases.push(reduce_scatter(&groups, DType::F32, &[8, 3], 0));
        cases.push(all_to_all(&groups, DType::F32, &[4, 8], (1, 0)));
        cases.push(all_to_all(&groups, DType::F32, &[4, 8], (1, 1)));
    }
    let [all, ..] = &all_groups()[..] else { unreachable!("there are groups") };
    for dtype in
        [DType::Pred, DType::I8, DType::U64, DType::BF16, DType::F16, DType::F64, DType::C64]
    {
        cases.push(all_gather(all, dtype, &[2, 3], 1));
        cases.push(all_to_all(all, dtype, &[4, 4], (0, 1)));
    }
    for dtype in
        [DType::I8, DType::I32, DType::U64, DType::BF16, DType::F16, DType::F64, DType::C64]
    {
        cases.push(all_reduce(all, dtype, &[5], |group, _| sum(group)));
        cases.push(reduce_scatter(all, dtype, &[8], 0));
    }
    cases.push(all_gather(all, DType::F32, &[0, 2], 1));
    cases.push(all_reduce(all, DType::F32, &[], |group, _| sum(group)));
    cases.push(greatest(all));
    cases.extend(permutes());
    cases.extend(ids());
    cases
}

fn all_reduce(
    groups: &Groups,
    dtype: DType,
    dims: &[i64],
    expected: impl Fn(&[&Value], usize) -> Value,
) -> Case {
    groups.case("stablehlo.all_reduce", values(dtype, dims), expected, |x, groups, channel| {
        x.all_reduce(groups, channel, |a, b| a.add(b))
    })
}

fn greatest(groups: &Groups) -> Case {
    let greatest = |group: &[&Value], _: usize| {
        let mut numbers = group[0].reals();
        for value in group {
            numbers.iter_mut().zip(value.reals()).for_each(|(most, x)| *most = most.max(x));
        }
        Value::from_reals(group[0].shape.clone(), &numbers)
    };
    let values = (0..4).map(|device| any(DType::F32, &[7], 70 + device)).collect();
    groups.case("stablehlo.all_reduce", values, greatest, |x, groups, channel| {
        x.all_reduce(groups, channel, |a, b| a.maximum(b))
    })
}

fn all_gather(groups: &Groups, dtype: DType, dims: &[i64], dim: usize) -> Case {
    let expected = |group: &[&Value], _: usize| {
        joined(&group.iter().map(|&value| value.clone()).collect::<Vec<_>>(), dim)
    };
    groups.case("stablehlo.all_gather", values(dtype, dims), expected, move |x, groups, channel| {
        x.all_gather(dim as i64, groups, channel)
    })
}

fn reduce_scatter(groups: &Groups, dtype: DType, dims: &[i64], dim: usize) -> Case {
    let expected = |group: &[&Value], place: usize| part(&sum(group), dim, place, group.len());
    let record = move |x: &Tensor, groups, channel| {
        x.reduce_scatter(dim as i64, groups, channel, |a: &Tensor, b: &Tensor| a.add(b))
    };
    groups.case("stablehlo.reduce_scatter", values(dtype, dims), expected, record)
}

fn all_to_all(
    groups: &Groups,
    dtype: DType,
    dims: &[i64],
    (split, concat): (usize, usize),
) -> Case {
    let expected = |group: &[&Value], place: usize| {
        let parts = group.iter().map(|value| part(value, split, place, group.len()));
        joined(&parts.collect::<Vec<_>>(), concat)
    };
    let record = move |x: &Tensor, groups, channel| {
        x.all_to_all(split as i64, concat as i64, groups, channel)
    };
    groups.case("stablehlo.all_to_all", values(dtype, dims), expected, record)
}

/// A ring, a swap that leaves two devices without a source, and nothing at all.
fn permutes() -> Vec<Case> {
    let pairs: [&[(i64, i64)]; 4] =
        [&[(0, 1), (1, 2), (2, 3), (3, 0)], &[(0, 3), (3, 0)], &[(2, 2)], &[]];
    let values = values(DType::F32, &[3]);
    let zeros = Value::of([3], &[0f32; 3]);
    let divisions = [(Division::Replicas, None), (Division::Partitions, Some(Channel(1)))];
    let mut cases = Vec::new();
    for (division, channel) in divisions {
        for pairs in pairs {
            let share = |device: usize| {
                let source = pairs.iter().find(|(_, to)| *to == device as i64);
                let received = source.map_or(&zeros, |(from, _)| &values[*from as usize]);
                (vec![values[device].clone()], vec![received.clone()])
            };
            cases.push(Case::on_devices(
                "stablehlo.collective_permute",
                format!("{pairs:?} of {division:?}"),
                division,
                (0..N_DEVICES).map(share).collect(),
                move |_, x| vec![x[0].collective_permute(pairs, channel)],
            ));
        }
    }
    cases
}

/// A scalar `u32`.
fn id(number: usize) -> Value {
    Value::from_integers(Shape::scalar(DType::U32), &[number as i128])
}

fn ids() -> Vec<Case> {
    let case = |op, division, own: fn(usize) -> usize, record: fn(&Graph) -> Tensor| {
        let shares = (0..N_DEVICES).map(|device| (Vec::new(), vec![id(own(device))])).collect();
        Case::on_devices(op, format!("of {division:?}"), division, shares, move |graph, _| {
            vec![record(graph)]
        })
    };
    let (replica, partition) = (Graph::replica_id, Graph::partition_id);
    vec![
        case("stablehlo.replica_id", Division::Replicas, |device| device, replica),
        case("stablehlo.replica_id", Division::Partitions, |_| 0, replica),
        case("stablehlo.partition_id", Division::Replicas, |_| 0, partition),
    ]
}
