//! Random bits, against the generators of Salmon, Moraes, Dror and Shaw, "Parallel random numbers:
//! as easy as 1, 2, 3" (2011), in the order in which XLA uses their blocks.

use rectiflow_hlo::{DType, RngAlgorithm, Shape};

use crate::{Case, Value};

use super::array::indices;

/// Dims of the random values: scalars, odd and even sizes at either end, none at all.
const DIMS: &[&[i64]] = &[
    &[],
    &[1],
    &[5],
    &[8],
    &[0],
    &[0, 3],
    &[3, 4],
    &[4, 3],
    &[3, 3],
    &[3, 5],
    &[5, 3, 1],
    &[3, 5, 3],
    &[3, 2, 3],
    &[2, 3, 4],
    &[2, 1, 3, 1, 2, 1],
    &[1000],
];

/// The cases.
pub fn cases() -> Vec<Case> {
    let (threefry, philox) = (RngAlgorithm::ThreeFry, RngAlgorithm::Philox);
    let key = 0x0123_4567_89AB_CDEF;
    // Counters at which the low word and the high word are about to overflow.
    let states: [(RngAlgorithm, &[u64]); 8] = [
        (threefry, &[key, 0xFFFF_FFFE]),
        (threefry, &[key, u64::MAX]),
        (philox, &[key, 0xFFFF_FFFE]),
        (philox, &[key, u64::MAX]),
        (philox, &[key, 0xFFFF_FFFE, 7]),
        (philox, &[key, u64::MAX, u64::MAX]),
        (RngAlgorithm::Default, &[key, 1]),
        (RngAlgorithm::Default, &[key, 1, 2]),
    ];
    let of = |dtype, dims: &[i64]| Shape::new(dtype, dims);
    let each = states.iter().map(|&(algorithm, state)| {
        let dtypes = [DType::U8, DType::U16, DType::U32, DType::U64];
        case(algorithm, state, &dtypes.map(|dtype| of(dtype, &[3, 3])))
    });
    let (words, blocks) = (DType::U32, DType::U64);
    let laid_out = DIMS.iter().flat_map(|dims| {
        [(threefry, &[key, 5][..], words), (philox, &[key, 5], words), (philox, &[key, 5], blocks)]
            .map(|(algorithm, state, dtype)| case(algorithm, state, &[of(dtype, dims)]))
    });
    each.chain(laid_out).collect()
}

/// Values of several shapes, each from the same state, in one program.
fn case(algorithm: RngAlgorithm, state: &[u64], shapes: &[Shape]) -> Case {
    let expected = shapes.iter().flat_map(|shape| {
        let (next, bits) = match algorithm {
            RngAlgorithm::ThreeFry => threefry(state, shape),
            RngAlgorithm::Philox | RngAlgorithm::Default => philox(state, shape),
        };
        let numbers: Vec<i128> = bits.into_iter().map(i128::from).collect();
        let next = Value::of([next.len() as i64], &next);
        [next, Value::from_integers(shape.clone(), &numbers)]
    });
    let recorded = shapes.to_vec();
    Case::new(
        "stablehlo.rng_bit_generator",
        format!("{algorithm:?} of {} from {state:x?}", shapes[0]),
        vec![Value::of([state.len() as i64], state)],
        move |graph, x| {
            let record = |shape: &Shape| {
                let (next, bits) = graph.rng_bit_generator(algorithm, &x[0], shape.clone());
                [next, bits]
            };
            recorded.iter().flat_map(record).collect()
        },
        expected.collect(),
    )
}

/// The low and the high half.
fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

fn joined([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The next state, and bits. A block makes one `u64`, or two words that are neighbours
/// along one dim: the first of even size or else, with a word unused at its end, the first of the
/// greatest. Narrower types get the low bits of a word.
fn threefry(state: &[u64], shape: &Shape) -> (Vec<u64>, Vec<u64>) {
    let (key, counter) = (halves(state[0]), state[1]);
    let block = |number: u64| threefry2x32(key, halves(counter.wrapping_add(number)));
    let advanced = |blocks: u64| vec![state[0], counter.wrapping_add(blocks)];
    let count = indices(&shape.dims).len() as u64;
    if shape.dtype == DType::U64 {
        return (advanced(count), (0..count).map(|i| joined(block(i))).collect());
    }
    let even = shape.dims.iter().position(|dim| dim % 2 == 0);
    let greatest = shape.dims.iter().max();
    let first_greatest = shape.dims.iter().position(|dim| Some(dim) == greatest);
    let Some(split) = even.or(first_greatest) else {
        return (advanced(1), vec![block(0)[0].into()]);
    };
    let mut blocks = shape.dims.clone();
    blocks[split] = (blocks[split] + 1) / 2;
    let word = |index: Vec<i64>| {
        let (mut of_block, word) = (index.clone(), index[split] % 2);
        of_block[split] = index[split] / 2;
        block(super::array::offset(&blocks, &of_block) as u64)[word as usize].into()
    };
    let bits = indices(&shape.dims).into_iter().map(word).collect();
    (advanced(indices(&blocks).len() as u64), bits)
}

/// The next state, and bits. The counter has 128 bits; the key stands for its upper half in a state
/// of two words. A block makes four words or two `u64`, one after the other in row-major order.
fn philox(state: &[u64], shape: &Shape) -> (Vec<u64>, Vec<u64>) {
    let upper = state.get(2).copied().unwrap_or(state[0]);
    let counter = u128::from(upper) << 64 | u128::from(state[1]);
    let words = |number: u64| {
        let counter = counter.wrapping_add(number.into());
        let ([a, b], [c, d]) = (halves(counter as u64), halves((counter >> 64) as u64));
        philox4x32(halves(state[0]), [a, b, c, d])
    };
    let count = indices(&shape.dims).len() as u64;
    let per_block = if shape.dtype == DType::U64 { 2 } else { 4 };
    let number = |i: u64| {
        let words = words(i / per_block);
        let at = (i % per_block) as usize;
        match per_block {
            2 => joined([words[2 * at], words[2 * at + 1]]),
            _ => words[at].into(),
        }
    };
    let next = counter.wrapping_add(count.div_ceil(per_block).into());
    let advanced = [state[0], next as u64, (next >> 64) as u64];
    (advanced[..state.len()].to_vec(), (0..count).map(number).collect())
}

/// Threefry-2x32 with 20 rounds: the block of a counter under a key.
pub fn threefry2x32(key: [u32; 2], counter: [u32; 2]) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    /// The constant of Threefish's key schedule for words of 32 bits.
    const PARITY: u32 = 0x1BD1_1BDA;
    let schedule = [key[0], key[1], key[0] ^ key[1] ^ PARITY];
    let [mut x, mut y] = [counter[0].wrapping_add(key[0]), counter[1].wrapping_add(key[1])];
    for group in 0..5 {
        for rotation in ROTATIONS[group % 2] {
            x = x.wrapping_add(y);
            y = y.rotate_left(rotation) ^ x;
        }
        let next = group + 1;
        x = x.wrapping_add(schedule[next % 3]);
        y = y.wrapping_add(schedule[(next + 1) % 3]).wrapping_add(next as u32);
    }
    [x, y]
}

/// Philox-4x32 with 10 rounds: the block of a counter under a key.
pub fn philox4x32(mut key: [u32; 2], mut counter: [u32; 4]) -> [u32; 4] {
    for _ in 0..10 {
        let product = |by: u32, x: u32| {
            let wide = u64::from(by) * u64::from(x);
            ((wide >> 32) as u32, wide as u32)
        };
        let (high0, low0) = product(0xD251_1F53, counter[0]);
        let (high1, low1) = product(0xCD9E_8D57, counter[2]);
        counter = [high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0];
        // The golden ratio and the square root of 3, less 1, as fractions of 2^32.
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    counter
}
