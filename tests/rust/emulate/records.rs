//! A recorded launch contains everything that is needed to repeat it.

use std::fs;
use std::path::Path;

use nvptx_ra::emulate::{Argument, Launches, Program, Record, record, run};

use super::{Memory, program};

/// Returns the launch of a record at other addresses. Each buffer has another address, and memory outside of the record
/// is drawn from another seed.
fn repeated(record: &Record) -> (Launches, Vec<u64>) {
    let address = |number: usize| (number as u64 + 1) << 36;
    let [grid, block] = record.shape;
    let mut launches =
        Launches { grid: Some(grid), block: Some(block), seed: 77, most_steps: 100_000_000, ..Launches::default() };
    for parameter in &record.parameters {
        let mut bytes = parameter.bytes.clone();
        for &(offset, buffer) in &parameter.pointers {
            bytes[offset..offset + 8].copy_from_slice(&address(buffer).to_le_bytes());
        }
        launches.arguments.push(Argument::Bytes(bytes));
    }
    let begin = |number: usize| address(number).wrapping_add_signed(record.buffers[number].start);
    for (number, buffer) in record.buffers.iter().enumerate() {
        launches.memory.push((begin(number), buffer.before.clone()));
    }
    (launches, (0..record.buffers.len()).map(begin).collect())
}

/// Checks a record by repeating its launch. Returns the number of stored bytes.
fn check(program: &Program, kernel: &str, record: &Record) -> usize {
    let (launches, begins) = repeated(record);
    let stores = run(program, kernel, &launches).unwrap_or_else(|reason| panic!("{kernel}: {reason}"));
    let Memory(stored) = Memory::new(&stores);
    let mut count = 0;
    for (buffer, begin) in record.buffers.iter().zip(begins) {
        for run in &buffer.stored {
            for offset in run.offset..run.offset + run.count * run.bytes {
                let found = stored.get(&(begin + offset as u64));
                assert_eq!(found, Some(&buffer.after[offset]), "{kernel}: offset {offset}");
                count += 1;
            }
        }
    }
    assert_eq!(count, stored.len(), "{kernel}: each stored byte is in the record");
    count
}

#[test]
fn a_record_repeats_a_launch_in_other_memory() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx/kernels");
    let mut repeated = Vec::new();
    for file in fs::read_dir(folder).expect("the folder is there") {
        let path = file.expect("an entry").path();
        let Some(text) = path.extension().filter(|&end| end == "ptx").and_then(|_| fs::read_to_string(&path).ok())
        else {
            continue;
        };
        let program = program(&text);
        for kernel in program.kernels() {
            for seed in 1..4 {
                let launches = Launches { seed, ..Launches::default() };
                if let Ok(record) = record(&program, kernel, &launches)
                    && check(&program, kernel, &record) > 0
                {
                    repeated.push(kernel.to_owned());
                }
            }
        }
    }
    repeated.dedup();
    assert!(repeated.len() >= 4, "too few kernels can be recorded: {repeated:?}");
}
