//! Registers of each thread at entry, for kernels that ask for more or fewer later (`setmaxnreg`).

use crate::emulate::program::{Callee, Function, Op, Program};
use crate::ptx::Module;
use crate::target::machine::{Architecture, Circumstances, CommandLine, Entry, Repartition};

/// Returns the functions that a kernel may enter, itself included, and whether it calls an unknown function.
fn entered(program: &Program, kernel: usize) -> (Vec<usize>, bool) {
    let (mut entered, mut calls_unknown) = (vec![kernel], false);
    let mut next = 0;
    while let Some(&function) = entered.get(next) {
        next += 1;
        for inst in &program.functions[function].insts {
            let Op::Call(call) = &inst.op else { continue };
            match &call.callee {
                Callee::Function(number) if !entered.contains(number) => entered.push(*number),
                Callee::Function(_) | Callee::Missing(_) => {}
                Callee::Indirect(_) => calls_unknown = true,
            }
        }
    }
    (entered, calls_unknown)
}

fn requests(function: &Function) -> impl Iterator<Item = Repartition> {
    function.insts.iter().filter_map(|inst| match inst.op {
        Op::Registers(request) => Some(request),
        _ => None,
    })
}

/// Finds the registers at entry for each kernel. A kernel has `None` if no directive limits its registers, or if ptxas
/// ignores or refuses its requests.
pub(super) fn find(module: &Module<'_>, program: &mut Program) {
    let Ok(architecture) = Architecture::by_name(module.target()) else { return };
    for (kernel, body) in module.bodies().iter().enumerate() {
        let Some(bounds) = body.launch_bounds(module.file()) else { continue };
        let (functions, calls_unknown) = entered(program, kernel);
        let asked: Vec<Repartition> =
            functions.iter().flat_map(|&number| requests(&program.functions[number])).collect();
        if asked.is_empty() {
            continue;
        }
        let Ok(limit) = architecture.register_limit(&bounds, &CommandLine::default()) else { continue };
        let circumstances =
            Circumstances { debugging: module.is_for_debuggers(), calls_unknown, ..Circumstances::default() };
        if let Ok(Entry::Registers(count)) = architecture.registers_at_entry(&limit, &asked, circumstances)
            && let Some(kernel) = &mut program.functions[kernel].kernel
        {
            kernel.registers_at_entry = Some(count);
        }
    }
}
