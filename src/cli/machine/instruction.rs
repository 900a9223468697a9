//! A machine instruction's relevant properties: its address, its memory traffic, and its control flow.

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    /// In bytes from the start of the function.
    pub(crate) address: u32,
    pub(crate) kind: Kind,
    /// Whether it is predicated or has another condition.
    pub(crate) is_conditional: bool,
    /// The address in its operands, if execution may continue there.
    pub(crate) target: Option<u32>,
}

/// The relevant kind of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// NOP.
    Nothing,
    /// LDL, STL. The number is the accessed bytes at a fixed offset from the stack pointer, and 0 for other addresses.
    Local(u32),
    /// LDS, STS, with the accessed bytes.
    Shared(u32),
    /// A branch to an address in its operands.
    Branch,
    /// A branch to an address in a register.
    IndirectBranch,
    /// A call.
    Call,
    /// EXIT, KILL.
    End,
    /// RET.
    Return,
    /// BSSY. Its address is where a thread that waits at BSYNC continues.
    Meeting,
    /// An access of global or generic memory, a floating-point sum or product, or a matrix product.
    Work,
    /// Any other instruction.
    Other,
}

impl Instruction {
    /// Returns the address, other than the next instruction, at which execution may continue.
    ///
    /// For a call, this is a target after the call, because subroutines come after their callers in the code. Other
    /// functions have separate code. A call returns to the next instruction.
    pub(super) fn successor(&self) -> Option<u32> {
        match self.kind {
            Kind::Branch | Kind::Meeting => self.target,
            Kind::Call => self.target.filter(|&target| target > self.address),
            _ => None,
        }
    }

    /// Returns whether the next instruction begins a block.
    pub(super) fn leaves(&self) -> bool {
        !matches!(self.kind, Kind::Nothing | Kind::Local(_) | Kind::Shared(_) | Kind::Work | Kind::Other)
    }

    /// Returns whether the next instruction may follow.
    pub(super) fn falls_through(&self) -> bool {
        match self.kind {
            Kind::Branch | Kind::IndirectBranch | Kind::End | Kind::Return => self.is_conditional,
            _ => true,
        }
    }
}

/// Changes calls into branches if the callee is in the same function and never returns. ptxas uses such calls instead
/// of branches (`@P0 CALL.REL.NOINC` to the kernel's EXIT). O(n log n) for each level of calls.
pub(super) fn find_jumps(instructions: &mut [Instruction]) {
    if instructions.iter().all(|one| one.kind != Kind::Call) {
        return;
    }
    let number_at = |address: u32| instructions.binary_search_by_key(&address, |one| one.address).ok();
    let targets: Vec<Option<usize>> = instructions.iter().map(|one| one.target.and_then(number_at)).collect();
    let mut returns = vec![false; instructions.len()];
    // A call returns if a RET may follow its target. Each iteration resolves one more level of nested calls.
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

/// Returns for each instruction whether a RET may follow it. A call returns if `returns` is true for its target, or if
/// its target is unknown. A branch to an address in a register may go anywhere.
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

    /// Returns the kinds of the calls among instructions of 16 bytes, after jumps are found.
    fn calls(code: &[&str]) -> Vec<Kind> {
        let line = |(at, text): (usize, &&str)| listing::instruction(&format!("/*{:04x}*/ {text} ;", at * 16));
        let mut instructions: Vec<Instruction> = code.iter().enumerate().filter_map(line).collect();
        assert_eq!(instructions.len(), code.len());
        find_jumps(&mut instructions);
        let is_call = |(_, text): &(&Instruction, &&str)| text.contains("CALL");
        instructions.iter().zip(code).filter(is_call).map(|(one, _)| one.kind).collect()
    }

    /// A call of code that ends the kernel is a branch, forward and backward. A call that returns is no branch, and a
    /// call of another function is none either.
    #[test]
    fn calls_that_are_jumps() {
        assert_eq!(calls(&["@P0 CALL.REL.NOINC 0x20", "BRA 0x0", "EXIT"]), [Kind::Branch]);
        assert_eq!(calls(&["NOP", "@P0 EXIT", "CALL.REL.NOINC 0x0", "RET.REL.NODEC R2 0x0"]), [Kind::Branch]);
        assert_eq!(calls(&["CALL.REL.NOINC 0x20", "EXIT", "RET.REL.NODEC R2 0x0"]), [Kind::Call]);
        assert_eq!(calls(&["CALL.REL.NOINC 0x20", "EXIT", "BRX R4 -0x10"]), [Kind::Call]);
        assert_eq!(calls(&["CALL.ABS.NOINC 0x0", "EXIT"]), [Kind::Call]);
        // A call returns only if the calls on its path return.
        let nested = |last| ["CALL.REL.NOINC 0x20", "EXIT", "CALL.REL.NOINC 0x40", "RET.REL.NODEC R2 0x0", last];
        assert_eq!(calls(&nested("EXIT")), [Kind::Branch, Kind::Branch]);
        assert_eq!(calls(&nested("RET.REL.NODEC R4 0x0")), [Kind::Call, Kind::Call]);
    }
}
