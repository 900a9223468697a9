//! From machine code to a program that `emulate` runs.
//!
//! A register becomes a row of the emulator. An instruction becomes as few operations on rows as possible. Launch
//! values are read before the first instruction.
//! * [`lowerer`]: the state of a function's lowering: its rows and operations; [`constants`]: constant banks;
//! * [`operands`]: values of operands; [`addresses`]: addresses of memory accesses;
//! * [`instruction`]: the dispatch to a family; [`computed`], [`memory`], [`atomic`], [`control`], [`convergence`],
//!   [`warp`], [`matrix`], [`group`], [`mbarrier`], [`bulk`], [`predicates`]: the families;
//! * [`parameters`]: the parameters that are addresses.

mod addresses;
mod atomic;
mod bulk;
mod computed;
mod constants;
mod control;
mod convergence;
mod group;
mod instruction;
mod lowerer;
mod matrix;
mod mbarrier;
mod memory;
mod operands;
mod parameters;
mod predicates;
mod warp;

use super::cubin::Cubin;
use super::cubin::image::Symbol;
use super::instruction::Function as Code;
use super::meaning::Approximation;
use crate::emulate::layout;
use crate::emulate::program::{Function, Kernel, KernelParameter, Op, Program, Variable, function_address};
use crate::emulate::types::Ty;

use lowerer::Lowerer;

/// The reason why an instruction cannot be lowered.
pub(super) type Refusal = String;

/// Returns the program of a cubin whose code is decoded.
///
/// `approximation` chooses among the permitted results of an approximate function.
pub fn program(cubin: &Cubin, code: &[Code], approximation: Approximation) -> Program {
    let mut program = Program { is_machine_code: true, shared_end: layout::SHARED_END, ..Program::default() };
    program.variables = variables(cubin);
    for (name, kernel) in &cubin.kernels {
        let Some(code) = code.iter().find(|code| code.name == *name) else { continue };
        let mut lowerer = Lowerer::new(cubin, kernel, code, approximation);
        lowerer.lower();
        let (insts, rows) = lowerer.finish();
        let parameters = kernel.parameters.iter().map(|parameter| KernelParameter {
            name: format!("parameter {}", parameter.number),
            offset: parameter.offset.into(),
            bytes: parameter.bytes.into(),
            ty: matches!(parameter.bytes, 1 | 2 | 4 | 8).then(|| Ty::Unsigned(8 * parameter.bytes as u8)),
            is_pointer: false,
        });
        let described = Kernel {
            parameters: parameters.collect(),
            required_block: kernel.required_block,
            largest_block: kernel.largest_block,
            registers_at_entry: None,
        };
        let has_atomics = insts.iter().any(|inst| matches!(inst.op, Op::Atomic { .. }));
        let mut function = Function {
            name: name.clone(),
            insts,
            rows,
            frame_bytes: 0,
            parameters: Vec::new(),
            returns: Vec::new(),
            kernel: Some(described),
            has_atomics,
        };
        parameters::find_pointers(&mut function);
        crate::emulate::find_kinds(&mut function);
        program.functions.push(function);
    }
    program
}

/// Returns the variables of global and constant memory, with their initial contents.
fn variables(cubin: &Cubin) -> Vec<Variable> {
    let mut variables = Vec::new();
    for symbol in cubin.symbols.iter().filter(|symbol| is_variable(symbol)) {
        let Some(section) = cubin.sections.get(&symbol.section) else { continue };
        let place = symbol.offset as usize..(symbol.offset + symbol.bytes) as usize;
        let Some(bytes) = section.bytes.get(place) else { continue };
        let mut content = bytes.to_vec();
        for relocation in &section.relocations {
            let at = relocation.offset.wrapping_sub(symbol.offset) as usize;
            let target = cubin.symbols.get(relocation.symbol);
            if let (Some(place), Some(target)) = (content.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<8>), target)
            {
                *place = address_of(target).wrapping_add(relocation.addend as u64).to_le_bytes();
            }
        }
        // Memory without initial contents gets the same random contents as in the PTX program.
        if symbol.section.ends_with(".nv.global") {
            content.clear();
        }
        let (name, address) = (symbol.name.clone(), layout::variable(&symbol.name));
        variables.push(Variable { name, address, bytes: symbol.bytes, content });
    }
    variables
}

fn is_variable(symbol: &Symbol) -> bool {
    !symbol.name.is_empty() && (symbol.section.starts_with(".nv.global") || symbol.section.starts_with(".nv.constant3"))
}

/// Returns the address of a variable or function. PTX symbols of the same name have the same address.
fn address_of(symbol: &Symbol) -> u64 {
    if symbol.section.starts_with(".nv.") { layout::variable(&symbol.name) } else { function_address(&symbol.name) }
}
