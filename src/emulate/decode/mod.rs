//! From PTX to a [`Program`].
//!
//! In the order of the files:
//! * [`globals`]: variables with their initial contents, and the layout of shared memory;
//! * [`scopes`]: names, labels, and nested scopes;
//! * [`decoder`], [`function`]: a function and its statements;
//! * [`numbers`], [`operands`]: registers, constants and addresses of an instruction;
//! * [`select`]: the operation of a mnemonic; [`accesses`], [`control`], [`warp`], [`matrix`], [`group`], [`bulk`],
//!   [`cluster`]: families of operations;
//! * [`webs`], [`pointers`], [`kinds`]: kinds of the values in registers;
//! * [`registers`]: registers of each thread at entry, for kernels that ask for more or fewer later.

mod accesses;
mod bulk;
mod cluster;
mod control;
mod decoder;
mod function;
mod globals;
mod group;
mod kinds;
mod matrix;
mod numbers;
mod operands;
mod pointers;
mod registers;
mod scopes;
mod select;
mod tensor;
mod warp;
mod webs;

use rustc_hash::FxHashMap;

pub(super) use self::kinds::find as find_kinds;
pub(super) use self::webs::Webs;

use super::layout;
use super::program::{Program, function_address};
use super::source::Sources;
use crate::ptx::Module;

/// Decodes a PTX module. An instruction that cannot be decoded becomes an operation that ends the launch.
pub(super) fn decode(module: &Module<'_>) -> Program {
    let mut program = Program { sources: Sources::new(module), unread: module.unread(), ..Program::default() };
    let file = module.file();
    let names: FxHashMap<&str, usize> =
        module.bodies().iter().enumerate().map(|(number, body)| (body.name(file), number)).collect();
    for (&name, &number) in &names {
        program.addresses_of_functions.insert(function_address(name), number);
    }
    let mut globals = globals::Globals::new(module, &names);
    program.variables = std::mem::take(&mut globals.variables);
    for body in module.bodies() {
        let function = function::decode(module, body, &mut globals, &mut program.hashed);
        program.functions.push(function);
    }
    program.variables.append(&mut globals.variables);
    program.dynamic_shared = globals.shared_end.next_multiple_of(16);
    // The hardware allocates shared memory in units.
    let end = program.dynamic_shared.next_multiple_of(layout::SHARED_GRANULARITY);
    program.shared_end = if globals.has_dynamic { layout::SHARED_END } else { end };
    globals::resolve_dynamic(&mut program);
    for function in &mut program.functions {
        kinds::find(function);
    }
    registers::find(module, &mut program);
    program
}
