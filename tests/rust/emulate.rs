//! Kernels in the emulator give the same results as plain Rust code, and the emulator distinguishes mutants from the
//! originals.
//!
//! tests/ptx/kernels has PTX that nvcc made from four files of examples/. Other examples are compiled by nvcc, and
//! skipped if nvcc is missing (`scripts/setup.sh cuda` installs it).

mod irreducible;
mod mutants;
mod records;
mod references;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nvptx_ra::emulate::{Argument, Launches, Program, Stores, run};
use nvptx_ra::ptx::Module;

/// Reads a file of kernels.
fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx/kernels").join(name);
    fs::read_to_string(path).expect("the file can be read")
}

fn program(text: &str) -> Program {
    Program::new(&Module::read("kernels", text.as_bytes()).expect("PTX"))
}

/// A launch with buffers. Each buffer has an address range of 4 GiB. Its number is the number of the parameter that
/// points to it.
struct Launch {
    launches: Launches,
}

impl Launch {
    fn new(grid: u32, block: u32) -> Self {
        let (grid, block) = (Some([grid, 1, 1]), Some([block, 1, 1]));
        Self { launches: Launches { grid, block, most_steps: 100_000_000, ..Launches::default() } }
    }

    /// Returns the address of a buffer.
    fn address(number: u64) -> u64 {
        (number + 1) << 36
    }

    fn value(mut self, value: i64) -> Self {
        self.launches.arguments.push(Argument::Integer(value));
        self
    }

    fn float(mut self, value: f64) -> Self {
        self.launches.arguments.push(Argument::Float(value));
        self
    }

    /// Adds a pointer to the next buffer, which initially contains these bytes.
    fn buffer(mut self, content: Vec<u8>) -> Self {
        let address = Self::address(self.launches.arguments.len() as u64);
        self.launches.memory.push((address, content));
        self.value(address as i64)
    }

    fn bytes(mut self, bytes: Vec<u8>) -> Self {
        self.launches.arguments.push(Argument::Bytes(bytes));
        self
    }

    /// Returns the stored bytes after the launch.
    fn run(&self, program: &Program, kernel: &str) -> Memory {
        let stores = run(program, kernel, &self.launches).unwrap_or_else(|reason| panic!("{kernel}: {reason}"));
        Memory::new(&stores)
    }
}

/// The bytes that a launch stored.
struct Memory(BTreeMap<u64, u8>);

impl Memory {
    fn new(stores: &Stores) -> Self {
        let bytes = |store: &nvptx_ra::emulate::Store| {
            let (address, bits) = (store.address, store.bits);
            (0..store.bytes as u64).map(move |byte| (address + byte, (bits >> (8 * byte)) as u8)).collect::<Vec<_>>()
        };
        Self(stores.stores.iter().flat_map(bytes).collect())
    }

    /// Returns `N` bytes of a parameter's buffer.
    fn read<const N: usize>(&self, parameter: u64, offset: usize) -> [u8; N] {
        let at = Launch::address(parameter) + offset as u64;
        std::array::from_fn(|byte| *self.0.get(&(at + byte as u64)).unwrap_or_else(|| panic!("nothing at {offset}")))
    }

    fn words(&self, parameter: u64, count: usize) -> Vec<u32> {
        (0..count).map(|number| u32::from_le_bytes(self.read(parameter, 4 * number))).collect()
    }
}

/// Returns the bytes of some words.
fn of_words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns the bytes of some floats.
fn of_floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Returns pseudo-random numbers.
fn drawn(count: usize, seed: u32) -> Vec<u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    (0..count).map(next).collect()
}
