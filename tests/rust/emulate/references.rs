//! Results of kernels, compared with plain Rust.

use std::fs;
use std::path::Path;
use std::process::Command;

use nvptx_ra::emulate::Program;

use super::{Launch, drawn, of_floats, of_words, program, text};
use crate::cuda;

/// Blocks of 2048 keys are sorted, and each value stays with its key.
#[test]
fn bitonic_sort() {
    let (keys, values) = (drawn(2048, 1), drawn(2048, 2));
    let launch = Launch::new(1, 1024).buffer(of_words(&keys)).buffer(of_words(&values)).value(1);
    let memory = launch.run(&program(&text("bitonic_sort.ptx")), "bitonic_sort");
    let mut expected: Vec<(u32, u32)> = keys.into_iter().zip(values).collect();
    expected.sort_by_key(|pair| pair.0);
    let (keys, values): (Vec<u32>, Vec<u32>) = expected.into_iter().unzip();
    assert_eq!(memory.words(0, 2048), keys);
    assert_eq!(memory.words(1, 2048), values);
}

/// Prefix sums over three tiles. The last tile is not full.
#[test]
fn prefix_sum() {
    let input: Vec<u32> = drawn(5000, 3).into_iter().map(|value| value % 1000).collect();
    let launch = Launch::new(3, 256).buffer(of_words(&input)).buffer(Vec::new()).value(5000);
    let launch = launch.buffer(vec![0; 64]).buffer(vec![0; 8]);
    let memory = launch.run(&program(&text("scan.ptx")), "prefix_sum");
    let sums: Vec<u32> = input
        .iter()
        .scan(0, |sum, value| {
            Some({
                *sum += value;
                *sum
            })
        })
        .collect();
    assert_eq!(memory.words(1, 5000), sums);
}

/// The sum of an array, and the smallest element of each block with its index.
#[test]
fn reductions() {
    let values: Vec<f32> = drawn(4096, 5).into_iter().map(|value| (value % 4001) as f32 / 16.0 - 100.0).collect();
    let program = program(&text("reduce.ptx"));
    let launch = Launch::new(2, 128).buffer(of_floats(&values)).value(1024).buffer(vec![0; 4]);
    let sum = f32::from_le_bytes(launch.run(&program, "sum").read(2, 0));
    let expected: f64 = values.iter().map(|&value| f64::from(value)).sum();
    assert!((f64::from(sum) - expected).abs() <= 1e-6 * expected.abs(), "{sum}, not {expected}");
    let launch = Launch::new(2, 128).buffer(of_floats(&values)).value(4096).buffer(Vec::new());
    let memory = launch.run(&program, "smallest");
    for block in 0..2 {
        let own = (0..4096usize).filter(|index| index / 128 % 2 == block);
        let best = own.min_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b))).expect("an element");
        let value = f32::from_le_bytes(memory.read(2, 8 * block));
        assert_eq!((value, u32::from_le_bytes(memory.read(2, 8 * block + 4))), (values[best], best as u32));
    }
}

/// A product of a sparse matrix and a vector, computed in three ways.
#[test]
fn sparse_products() {
    let rows = 100;
    let lengths: Vec<u32> = drawn(rows, 7).into_iter().map(|value| value % 9).collect();
    let mut starts = vec![0u32];
    lengths.iter().for_each(|length| starts.push(starts[starts.len() - 1] + length));
    let count = starts[rows] as usize;
    let columns: Vec<u32> = drawn(count, 8).into_iter().map(|value| value % 64).collect();
    let entries: Vec<f64> = drawn(count, 9).into_iter().map(|value| f64::from(value % 100) - 50.0).collect();
    let x: Vec<f64> = drawn(64, 10).into_iter().map(|value| f64::from(value % 100) / 10.0).collect();
    let of_doubles = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let expected: Vec<f64> = (0..rows)
        .map(|row| (starts[row] as usize..starts[row + 1] as usize).map(|i| entries[i] * x[columns[i] as usize]).sum())
        .collect();
    let program = program(&text("spmv.ptx"));
    for (kernel, blocks) in [("spmv_thread", 1), ("spmv_warp", 25)] {
        let mut matrix: Vec<u8> = [10u64, 11, 12].iter().flat_map(|&at| Launch::address(at).to_le_bytes()).collect();
        matrix.extend((rows as u64).to_le_bytes());
        let mut launch = Launch::new(blocks, 128).bytes(matrix).buffer(of_doubles(&x)).buffer(Vec::new());
        let contents = [of_words(&starts), of_words(&columns), of_doubles(&entries)];
        for (number, content) in contents.into_iter().enumerate() {
            launch.launches.memory.push((Launch::address(10 + number as u64), content));
        }
        let memory = launch.run(&program, kernel);
        for (row, expected) in expected.iter().enumerate() {
            let value = f64::from_le_bytes(memory.read(2, 8 * row));
            assert!((value - expected).abs() < 1e-9, "{kernel}, row {row}: {value}, not {expected}");
        }
    }
}

/// Returns an example compiled by nvcc. `None` if nvcc is missing.
fn compiled(example: &str) -> Option<Program> {
    let nvcc = cuda::programs(&["nvcc"])?.join("nvcc");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().join("example.ptx");
    let source = root.join("examples").join(example);
    let mut nvcc = Command::new(nvcc);
    let done = nvcc.args(["-ptx", "-arch=sm_90", "-o"]).arg(&to).arg(&source).output().expect("nvcc runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(program(&fs::read_to_string(to).expect("the file can be read")))
}

/// Computes SHA-256 of two blocks, directly as the standard describes it.
fn sha256(words: &[u32]) -> [u32; 8] {
    let root = |prime: u32, power: f64| (f64::from(prime).powf(power).fract() * 4_294_967_296.0) as u32;
    let primes: Vec<u32> = (2..312u32).filter(|n| (2..*n).all(|d| n % d != 0)).collect();
    let k: Vec<u32> = primes[..64].iter().map(|&prime| root(prime, 1.0 / 3.0)).collect();
    let mut state: [u32; 8] = std::array::from_fn(|number| root(primes[number], 0.5));
    for block in words.chunks(16) {
        let mut w = block.to_vec();
        for i in 16..64 {
            let (x, y) = (w[i - 15], w[i - 2]);
            let first = x.rotate_right(7) ^ x.rotate_right(18) ^ x >> 3;
            let second = y.rotate_right(17) ^ y.rotate_right(19) ^ y >> 10;
            w.push(w[i - 16].wrapping_add(first).wrapping_add(w[i - 7]).wrapping_add(second));
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for i in 0..64 {
            let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choose = (e & f) ^ (!e & g);
            let first = h.wrapping_add(sum).wrapping_add(choose).wrapping_add(k[i]).wrapping_add(w[i]);
            let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let second = sum.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
        }
        for (sum, part) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *sum = sum.wrapping_add(part);
        }
    }
    state
}

/// SHA-256 digests of messages of two blocks.
#[test]
fn hashes() {
    assert_eq!(
        sha256(&{
            let mut block = vec![0; 16];
            block[0] = 1 << 31;
            block
        })[0],
        0xe3b0_c442
    );
    let Some(program) = compiled("sha256.cu") else { return };
    let messages = drawn(40 * 32, 11);
    let launch = Launch::new(1, 64).buffer(of_words(&messages)).value(40).value(2).buffer(Vec::new());
    let found = launch.run(&program, "sha256").words(3, 8 * 40);
    for (number, message) in messages.chunks(32).enumerate() {
        assert_eq!(found[8 * number..8 * number + 8], sha256(message), "message {number}");
    }
}

/// A matrix product of one tile.
#[test]
fn dense_product() {
    let Some(program) = compiled("gemm.cu") else { return };
    let (size, depth) = (128, 16);
    let value = |word: u32| (word % 17) as f32 / 8.0 - 1.0;
    let of = |count, seed| drawn(count, seed).into_iter().map(value).collect::<Vec<f32>>();
    let (a, b, c) = (of(size * depth, 12), of(depth * size, 13), of(size * size, 14));
    let launch = Launch::new(1, 256).value(size as i64).value(size as i64).value(depth as i64).float(1.5);
    let launch = launch.buffer(of_floats(&a)).buffer(of_floats(&b)).float(0.5).buffer(of_floats(&c));
    let memory = launch.run(&program, "gemm");
    for row in 0..size {
        for column in 0..size {
            let sum: f32 = (0..depth).map(|i| a[row * depth + i] * b[i * size + column]).sum();
            let expected = 1.5 * sum + 0.5 * c[row * size + column];
            let found = f32::from_le_bytes(memory.read(7, 4 * (row * size + column)));
            assert!((found - expected).abs() < 1e-3, "{row} {column}: {found}, not {expected}");
        }
    }
}

/// A softmax: each row of exponentials sums to one.
#[test]
fn softmax() {
    let Some(program) = compiled("softmax.cu") else { return };
    let columns = 300;
    let input: Vec<f32> = drawn(2 * columns, 15).into_iter().map(|word| (word % 1000) as f32 / 100.0).collect();
    let launch = Launch::new(2, 256).buffer(of_floats(&input)).buffer(Vec::new()).value(columns as i64).float(0.7);
    let memory = launch.run(&program, "softmax");
    for (row, values) in input.chunks(columns).enumerate() {
        let exponentials: Vec<f64> = values.iter().map(|&value| (0.7 * f64::from(value)).exp()).collect();
        let sum: f64 = exponentials.iter().sum();
        for (column, one) in exponentials.iter().enumerate() {
            let found = f32::from_le_bytes(memory.read(1, 4 * (row * columns + column)));
            assert!((f64::from(found) - one / sum).abs() < 1e-5, "{row} {column}: {found}, not {}", one / sum);
        }
    }
}

/// One time step of bodies that attract each other.
#[test]
fn bodies() {
    let Some(program) = compiled("nbody.cu") else { return };
    let count = 100;
    let of = |seed| drawn(4 * count, seed).into_iter().map(|word| (word % 200) as f32 / 50.0).collect::<Vec<f32>>();
    let (position, velocity) = (of(16), of(17));
    let launch = Launch::new(1, 256).buffer(of_floats(&position)).buffer(Vec::new()).buffer(of_floats(&velocity));
    let memory = launch.value(count as i64).float(0.01).float(0.1).run(&program, "nbody_step");
    for (number, body) in position.chunks(4).enumerate() {
        for axis in 0..3 {
            let pull = |other: &[f32]| {
                let distance: f64 = (0..3).map(|i| f64::from(other[i] - body[i]).powi(2)).sum::<f64>() + 0.1;
                f64::from(other[axis] - body[axis]) * f64::from(other[3]) / distance.powf(1.5)
            };
            let acceleration: f64 = position.chunks(4).map(pull).sum();
            let expected = f64::from(velocity[4 * number + axis]) + 0.01 * acceleration;
            let found = f64::from(f32::from_le_bytes(memory.read(2, 4 * (4 * number + axis))));
            assert!((found - expected).abs() < 1e-4, "{number} {axis}: {found}, not {expected}");
        }
    }
}
