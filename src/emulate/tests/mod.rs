//! Runs and compares programs written as text.

mod comparisons;
mod definedness;
mod doubts;
mod endless;
mod fused;
mod list;
mod matrices;
mod programs;
mod records;
mod registers;
mod search;
mod simd_video;

use super::launch::{Argument, Launches};
use super::program::Program;
use super::run::{Stores, run};
use crate::ptx::Module;

/// Address of the buffer of results.
const OUT: u64 = 0x10_0000_0000;
/// Address of the buffer of inputs.
const IN: u64 = 0x20_0000_0000;

/// Returns a PTX module with a kernel `k` that has `%out`, `%in`, its thread index `%t`, and registers of every class.
fn file(before: &str, body: &str) -> String {
    format!(
        ".version 9.0\n.target sm_90a\n.address_size 64\n{before}\n\
         .visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{{\n\
         .reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<64>; .reg .f32 %f<32>; .reg .b64 %d<32>; .reg .b32 %t, %n;\n\
         .reg .b64 %out, %in, %at;\n\
         ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; ld.param.u32 %n, [n];\n\
         cvta.to.global.u64 %out, %out; cvta.to.global.u64 %in, %in;\n\
         mov.u32 %t, %tid.x; mad.wide.u32 %at, %t, 4, %out;\n{body}\nret;\n}}\n"
    )
}

fn program(text: &str) -> Program {
    Program::new(&Module::read("k.ptx", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

/// Returns a launch of one block with inputs.
fn launches(threads: u32, input: &[u32]) -> Launches {
    let bytes = input.iter().flat_map(|word| word.to_le_bytes()).collect();
    Launches {
        grid: Some([1, 1, 1]),
        block: Some([threads, 1, 1]),
        arguments: vec![
            Argument::Integer(OUT as i64),
            Argument::Integer(IN as i64),
            Argument::Integer(input.len() as i64),
        ],
        memory: vec![(IN, bytes)],
        ..Launches::default()
    }
}

/// Returns the kernel's stores.
fn stores(text: &str, launches: &Launches) -> Result<Stores, String> {
    run(&program(text), "k", launches)
}

/// Returns the words at the start of the kernel's results.
fn words(text: &str, threads: u32, input: &[u32], count: usize) -> Vec<u32> {
    let stores = stores(text, &launches(threads, input)).unwrap_or_else(|reason| panic!("{reason}\n{text}"));
    let word = |number: usize| {
        let at = OUT + 4 * number as u64;
        let parts = stores.stores.iter().filter(|store| store.address >= at && store.address < at + 4);
        let whole = parts.map(|store| store.bits << (8 * (store.address - at)));
        let wide = stores.stores.iter().find(|store| store.bytes == 8 && store.address + 4 == at);
        let value = whole.fold(0, |all, part| all | part);
        wide.map_or(value, |store| store.bits >> 32) as u32
    };
    (0..count).map(word).collect()
}

/// Returns the reason why a kernel cannot be compared.
fn reason(text: &str, threads: u32) -> String {
    match stores(text, &launches(threads, &[0; 64])) {
        Ok(_) => panic!("it ran"),
        Err(reason) => reason,
    }
}
