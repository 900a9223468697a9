//! A machine instruction, as far as it matters: where it is, whether it moves memory, and where control goes.

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    /// In bytes from the start of the function.
    pub(crate) address: u32,
    pub(crate) kind: Kind,
    /// Whether something decides if it is done.
    pub(crate) is_conditional: bool,
    /// The address that it names, where it is one that control may go to.
    pub(crate) target: Option<u32>,
}

/// What matters of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// NOP.
    Nothing,
    /// LDL, STL: with the bytes that it moves from or to a fixed place of the stack, 0 for another place.
    Local(u32),
    /// LDS, STS: with the bytes that it moves.
    Shared(u32),
    /// A branch to an address that it names.
    Branch,
    /// A branch to an address in a register.
    IndirectBranch,
    /// A call.
    Call,
    /// EXIT, KILL.
    End,
    /// RET.
    Return,
    /// BSSY, whose address is where a thread that waits at BSYNC continues.
    Meeting,
    /// An access of global or generic memory, a floating-point sum or product, or a product of matrices.
    Work,
    /// Any other.
    Other,
}

impl Instruction {
    /// The address that it may continue at, beside the next one. A call comes back to the next. Subroutines stand
    /// behind what calls them; other functions have code of their own.
    pub(super) fn successor(&self) -> Option<u32> {
        match self.kind {
            Kind::Branch | Kind::Meeting => self.target,
            Kind::Call => self.target.filter(|&target| target > self.address),
            _ => None,
        }
    }

    /// Whether what follows it begins a block.
    pub(super) fn leaves(&self) -> bool {
        !matches!(self.kind, Kind::Nothing | Kind::Local(_) | Kind::Shared(_) | Kind::Work | Kind::Other)
    }

    /// Whether the next instruction may follow it.
    pub(super) fn falls_through(&self) -> bool {
        match self.kind {
            Kind::Branch | Kind::IndirectBranch | Kind::End | Kind::Return => self.is_conditional,
            _ => true,
        }
    }
}

/// Makes branches of the calls of a function's own code that never returns. ptxas calls a label of the same function in the
/// place of a branch (`@P0 CALL.REL.NOINC` to the kernel's EXIT). O(n log n) for each level of calls.
pub(super) fn find_jumps(instructions: &mut [Instruction]) {
    if instructions.iter().all(|one| one.kind != Kind::Call) {
        return;
    }
    let number_at = |address: u32| instructions.binary_search_by_key(&address, |one| one.address).ok();
    let targets: Vec<Option<usize>> = instructions.iter().map(|one| one.target.and_then(number_at)).collect();
    let mut returns = vec![false; instructions.len()];
    // A call comes back where a RET may run behind its target: a round for each call around a call finds that.
    loop {
        let more = may_return(instructions, &targets, &returns);
        if more == returns {
            break;
        }
        returns = more;
    }
    for (instruction, target) in instructions.iter_mut().zip(targets) {
        if instruction.kind == Kind::Call && target.is_some_and(|target| !returns[target]) {
            instruction.kind = Kind::Branch;
        }
    }
}

/// Whether a RET may run behind each instruction. A call comes back where a RET may run behind its target by `returns`, or
/// where its target is not known. A branch to an address in a register may go anywhere.
fn may_return(instructions: &[Instruction], targets: &[Option<usize>], returns: &[bool]) -> Vec<bool> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); instructions.len()];
    let mut waiting = Vec::new();
    for (number, (instruction, &target)) in instructions.iter().zip(targets).enumerate() {
        let mut goes_on = instruction.falls_through();
        match (instruction.kind, target) {
            (Kind::Return | Kind::IndirectBranch, _) => waiting.push(number),
            (Kind::Branch | Kind::Meeting, Some(target)) => before[target].push(number),
            (Kind::Call, Some(target)) => goes_on = instruction.is_conditional || returns[target],
            _ => {}
        }
        if goes_on && number + 1 < instructions.len() {
            before[number + 1].push(number);
        }
    }
    let mut returns = vec![false; instructions.len()];
    while let Some(number) = waiting.pop() {
        if !std::mem::replace(&mut returns[number], true) {
            waiting.extend(&before[number]);
        }
    }
    returns
}

#[cfg(test)]
mod tests {
    use super::super::listing;
    use super::*;

    /// The kinds of the calls among instructions of 16 bytes, once the jumps are found.
    fn calls(code: &[&str]) -> Vec<Kind> {
        let line = |(at, text): (usize, &&str)| listing::instruction(&format!("/*{:04x}*/ {text} ;", at * 16));
        let mut instructions: Vec<Instruction> = code.iter().enumerate().filter_map(line).collect();
        assert_eq!(instructions.len(), code.len());
        find_jumps(&mut instructions);
        let is_call = |(_, text): &(&Instruction, &&str)| text.contains("CALL");
        instructions.iter().zip(code).filter(is_call).map(|(one, _)| one.kind).collect()
    }

    /// A call of code that ends the kernel is a branch, forward and back; a call of what returns is none, nor is one of another
    /// function.
    #[test]
    fn calls_that_are_jumps() {
        assert_eq!(calls(&["@P0 CALL.REL.NOINC 0x20", "BRA 0x0", "EXIT"]), [Kind::Branch]);
        assert_eq!(calls(&["NOP", "@P0 EXIT", "CALL.REL.NOINC 0x0", "RET.REL.NODEC R2 0x0"]), [Kind::Branch]);
        assert_eq!(calls(&["CALL.REL.NOINC 0x20", "EXIT", "RET.REL.NODEC R2 0x0"]), [Kind::Call]);
        assert_eq!(calls(&["CALL.REL.NOINC 0x20", "EXIT", "BRX R4 -0x10"]), [Kind::Call]);
        assert_eq!(calls(&["CALL.ABS.NOINC 0x0", "EXIT"]), [Kind::Call]);
        // A call comes back only where the calls on its way do.
        let nested = |last| ["CALL.REL.NOINC 0x20", "EXIT", "CALL.REL.NOINC 0x40", "RET.REL.NODEC R2 0x0", last];
        assert_eq!(calls(&nested("EXIT")), [Kind::Branch, Kind::Branch]);
        assert_eq!(calls(&nested("RET.REL.NODEC R4 0x0")), [Kind::Call, Kind::Call]);
    }
}
