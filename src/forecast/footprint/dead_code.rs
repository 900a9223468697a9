//! Removes code that ptxas removes and LLVM leaves, because LLVM does not read inline assembly.
//!
//! Triton guards each memory access by a mask. If the mask is the constant false, nothing is loaded, and the values for
//! masked stores are dead. Values that are computed from constants alone are constants. Loads with unused results are
//! removed, too, even if they are `volatile`. The forecast describes the remaining code. The values of constants are
//! not computed: a constant occupies no register, whatever its value.

use super::behaviour::Behaviours;
use super::opcode_facts::{Kinds, Motion};
use crate::function::{
    Applied, CONSTANTS, Edit, EditList, Effects, Function, Inst, Opcode, Operand, OperandFlags, Position, RegClass,
    Role, Symbol, VReg, Value,
};
use crate::index::IndexVec;
use crate::target::{Classification, Left, Masked, Purity, guard, has_masks};

/// Fate of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Stays,
    /// All its results are constants.
    Constant,
    /// An access under a false mask, with its index among such accesses.
    Masked(usize),
    Dead,
}

/// Removes the accesses under a false mask, inline assembly with unused results, and the code that is then dead. `None`
/// if there are no such instructions. O(instructions) if there are none, else O(operands · the longest chain of
/// constants against the layout order).
pub(in crate::forecast) fn eliminate_dead_code(
    function: &Function,
    classification: &Classification,
) -> Option<Applied> {
    let is_unread = |inst| is_assembly(function, inst) && writes_dead(function, inst);
    let may_be_masked = function.insts().any(|inst| sets_false(function, inst).is_some()) && has_masks(function);
    let is_any_unread = function.insts().any(is_unread);
    if !may_be_masked && !is_any_unread {
        return None;
    }
    let mut definitions = IndexVec::filled(0, function.num_regs());
    function.insts().flat_map(|inst| written(function, inst)).for_each(|reg| definitions[reg] += 1);
    let mut behaviours = Behaviours::default();
    behaviours.compute(function, classification);
    let mut code = Code {
        function,
        behaviours,
        definitions,
        is_constant: IndexVec::filled(false, function.num_regs()),
        readers: IndexVec::filled(0, function.num_regs()),
        fates: IndexVec::filled(Fate::Stays, function.num_insts()),
        masked: Vec::new(),
    };
    let is_any_masked = code.find_masked();
    if !is_any_masked && !is_any_unread {
        return None;
    }
    while is_any_masked && code.pass_constants_on() {}
    code.find_dead();
    if code.fates.iter().all(|&fate| fate == Fate::Stays) {
        return None;
    }
    // Edits that do not fit are a bug of this analysis. The forecast then uses the unchanged code.
    code.edits()?.apply(function).ok()
}

/// Returns the code that the forecast describes. Positions in a forecast refer to this code.
pub fn without_dead_code(function: Function, classification: &Classification) -> Function {
    eliminate_dead_code(&function, classification).map_or(function, |left| left.function)
}

/// Whether an instruction is inline assembly. Its text is the first operand, where few other instructions have a
/// symbol. The opcode is recognised by name, because a search for its number would make the table name and classify all
/// opcodes.
fn is_assembly(function: &Function, inst: Inst) -> bool {
    let first = function.operands(inst).first();
    first.is_some_and(|operand| matches!(operand.value, Value::Symbol(_)))
        && function.opcodes().name(function.opcode(inst)) == "INLINEASM"
}

/// Whether LLVM marks all results of an instruction as dead.
fn writes_dead(function: &Function, inst: Inst) -> bool {
    let mut defs = function.operands(inst).iter().filter(|operand| operand.is_def()).peekable();
    defs.peek().is_some() && defs.all(|operand| operand.flags.contains(OperandFlags::DEAD))
}

/// Returns the register that an instruction sets to the constant false.
fn sets_false(function: &Function, inst: Inst) -> Option<VReg> {
    let [to, value] = function.operands(inst) else { return None };
    let reg = to.def().filter(|_| function.role(inst) == Role::Constant && value.as_immediate() == Some(0))?;
    (function.class(reg) == RegClass::B1).then_some(reg)
}

/// Yields the registers that an instruction writes.
fn written(function: &Function, inst: Inst) -> impl Iterator<Item = VReg> + '_ {
    function.operands(inst).iter().filter_map(|operand| operand.def())
}

/// Yields the registers that an instruction reads after the edits.
fn read<'a>(
    function: &'a Function,
    fate: Fate,
    masked: &'a [Vec<Left>],
    inst: Inst,
) -> impl Iterator<Item = VReg> + 'a {
    let (operands, left): (&[Operand], &[Left]) = match fate {
        Fate::Stays => (function.operands(inst), &[]),
        Fate::Masked(number) => (&[], &masked[number]),
        Fate::Constant | Fate::Dead => (&[], &[]),
    };
    let copied = left.iter().filter_map(|&left| match left {
        Left::Copy(_, source) => Some(source),
        Left::Constant(_) => None,
    });
    operands.iter().filter_map(|operand| operand.read_reg()).chain(copied)
}

struct Code<'f> {
    function: &'f Function,
    behaviours: Behaviours,
    /// Remaining instructions that write each register.
    definitions: IndexVec<VReg, u32>,
    /// Whether a register is a constant wherever it is read.
    is_constant: IndexVec<VReg, bool>,
    /// Operands of remaining instructions that read each register.
    readers: IndexVec<VReg, u32>,
    fates: IndexVec<Inst, Fate>,
    /// Constants and copies that replace each access under a false mask.
    masked: Vec<Vec<Left>>,
}

impl Code<'_> {
    /// Finds the accesses under a false mask, and returns whether there are any. A guarded statement of PTX disappears
    /// if its guard is false: its results keep their previous values.
    fn find_masked(&mut self) -> bool {
        let function = self.function;
        let mut is_false = IndexVec::filled(false, function.num_regs());
        function.insts().filter_map(|inst| sets_false(function, inst)).for_each(|reg| is_false[reg] = true);
        let mut is_any = false;
        for inst in function.insts() {
            let is_guarded = self.behaviours.opcode(function, inst).kinds.contains(Kinds::GUARDED);
            let mask = if is_guarded { guard(function.operands(inst)) } else { None };
            let is_off =
                |(mask, is_negated): (VReg, bool)| !is_negated && is_false[mask] && self.definitions[mask] == 1;
            if mask.is_some_and(is_off) && !function.effects(inst).contains(Effects::TERMINATOR) {
                written(function, inst).for_each(|reg| self.definitions[reg] -= 1);
                self.fates[inst] = Fate::Dead;
                is_any = true;
            }
        }
        let mut texts: IndexVec<Symbol, Option<Option<Masked>>> = IndexVec::filled(None, function.num_symbols());
        for (inst, text) in self.behaviours.assembly(function) {
            let operands = function.operands(inst);
            let masked = texts[text].get_or_insert_with(|| Masked::parse(function.symbol(text)));
            let Some(masked) = masked else { continue };
            let is_off = masked.mask(operands).is_some_and(|mask| is_false[mask] && self.definitions[mask] == 1);
            if let Some(left) = is_off.then(|| masked.left(function, inst)).flatten() {
                self.fates[inst] = Fate::Masked(self.masked.len());
                self.masked.push(left);
            }
        }
        is_any || !self.masked.is_empty()
    }

    /// Propagates constants through the code once. Returns whether new constants were found.
    fn pass_constants_on(&mut self) -> bool {
        let function = self.function;
        let mut is_any = false;
        for inst in function.insts() {
            let is_new = |code: &Self, reg: VReg| !code.is_constant[reg] && code.definitions[reg] == 1;
            match self.fates[inst] {
                Fate::Masked(number) => {
                    for at in 0..self.masked[number].len() {
                        let reg = match self.masked[number][at] {
                            Left::Constant(reg) => reg,
                            Left::Copy(reg, source) if self.is_constant[source] => reg,
                            Left::Copy(..) => continue,
                        };
                        if is_new(self, reg) {
                            self.is_constant[reg] = true;
                            self.masked[number][at] = Left::Constant(reg);
                            is_any = true;
                        }
                    }
                }
                Fate::Stays if self.is_computed_of_constants(inst) => {
                    let mut defs = written(function, inst).peekable();
                    if defs.peek().is_some() && defs.all(|reg| is_new(self, reg)) {
                        written(function, inst).for_each(|reg| self.is_constant[reg] = true);
                        // Instructions that are constants already stay as they are.
                        if function.role(inst) != Role::Constant {
                            self.fates[inst] = Fate::Constant;
                        }
                        is_any = true;
                    }
                }
                _ => {}
            }
        }
        is_any
    }

    /// Whether an instruction is a function of one or more registers that are all constants, or is a constant itself.
    fn is_computed_of_constants(&self, inst: Inst) -> bool {
        let function = self.function;
        let mut read = function.operands(inst).iter().filter_map(|operand| operand.read_reg()).peekable();
        function.role(inst) == Role::Constant
            || (self.behaviours.opcode(function, inst).info.purity == Purity::Pure
                && function.effects(inst).is_pure()
                && read.peek().is_some()
                && read.all(|reg| self.is_constant[reg]))
    }

    /// Finds dead instructions among those that may be removed.
    fn find_dead(&mut self) {
        let function = self.function;
        for inst in function.insts().filter(|&inst| function.role(inst) != Role::Debug) {
            for reg in read(function, self.fates[inst], &self.masked, inst) {
                self.readers[reg] += 1;
            }
        }
        // A backward pass visits readers before the definitions of their operands, so one pass nearly always suffices.
        let mut is_any = true;
        while std::mem::take(&mut is_any) {
            for inst in function.insts().rev() {
                if self.is_needless(inst) {
                    let fate = std::mem::replace(&mut self.fates[inst], Fate::Dead);
                    written(function, inst).for_each(|reg| self.definitions[reg] -= 1);
                    for reg in read(function, fate, &self.masked, inst) {
                        self.readers[reg] -= 1;
                        is_any = true;
                    }
                }
            }
        }
    }

    fn is_needless(&self, inst: Inst) -> bool {
        let may_go = match self.fates[inst] {
            Fate::Stays => matches!(self.behaviours.motion(inst), Motion::Free | Motion::Load),
            Fate::Constant | Fate::Masked(_) => true,
            Fate::Dead => false,
        };
        let mut defs = written(self.function, inst).peekable();
        let is_store = self.fates[inst] != Fate::Stays && defs.peek().is_none();
        may_go && (is_store || (defs.peek().is_some() && defs.all(|reg| self.readers[reg] == 0)))
    }

    /// Builds the edits. `None` if the function has no opcode for a constant that it needs.
    fn edits(&self) -> Option<EditList> {
        let function = self.function;
        let opcodes = CONSTANTS.map(|(class, name)| (class, opcode_of_constant(function, name)));
        let mut edits = EditList::new(function);
        for inst in function.insts().filter(|&inst| self.fates[inst] != Fate::Stays) {
            let at = Position { block: function.block_of(inst), before: Some(inst) };
            let constant = |edits: &mut EditList, reg| {
                let (_, opcode) = opcodes.iter().find(|(class, _)| *class == function.class(reg))?;
                let opcode = (*opcode)?;
                edits.insert_constant(at, opcode, reg, Value::Immediate(0));
                Some(())
            };
            match self.fates[inst] {
                Fate::Stays | Fate::Dead => {}
                Fate::Constant => {
                    for reg in written(function, inst) {
                        constant(&mut edits, reg)?;
                    }
                }
                Fate::Masked(number) => {
                    for &left in &self.masked[number] {
                        match left {
                            Left::Constant(reg) => constant(&mut edits, reg)?,
                            Left::Copy(reg, source) => {
                                edits.insert_copy(at, reg, source);
                            }
                        }
                    }
                }
            }
            edits.push(Edit::Delete { inst });
        }
        self.forget_variables(&mut edits);
        edits.finish();
        Some(edits)
    }

    /// Removes the debug values of values that are no longer computed.
    fn forget_variables(&self, edits: &mut EditList) {
        let function = self.function;
        let is_gone = |reg: VReg| self.definitions[reg] == 0;
        for inst in function.insts().filter(|&inst| function.role(inst) == Role::Debug) {
            if function.operands(inst).iter().filter_map(|operand| operand.reg()).any(is_gone) {
                edits.push(Edit::Delete { inst });
            }
        }
    }
}

fn opcode_of_constant(function: &Function, name: &str) -> Option<Opcode> {
    function.opcodes().find(name).filter(|&opcode| function.opcodes().role(opcode) == Role::Constant)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::forecast::kernel::summary::Summary;
    use crate::function::OpcodeTable;
    use crate::index::EntityIndex;

    const FALSE: &str = "%1 = MOV_B1_i 0";

    /// Runs the analysis on a function whose opcodes are known only by name.
    fn dead_code_eliminated(function: &Function) -> Option<Applied> {
        eliminate_dead_code(function, &Classification::by_name(function.opcodes()))
    }

    fn without_dead_code_by_name(function: Function) -> Function {
        let classification = Classification::by_name(function.opcodes());
        without_dead_code(function, &classification)
    }

    /// A function that loads two values under a mask, adds each to itself, and stores the sums under the mask. %2 is
    /// the address. `other` sets %3, the value if the mask is false. `more` precedes the masked stores.
    fn masked(mask: &str, other: &str, more: &str) -> Function {
        let text = format!(
            "mfv 1\nfunction \"k\"\nkernel\nopcode INT_PTX_SREG_TID_x\nopcode CVT_u64_u32\nopcode MOV_B1_i constant\n\
             opcode MOV_B32_i constant\nopcode INLINEASM\nopcode ADD32rr\nopcode SETP_i32ri\nopcode COPY copy\n\
             opcode LD_i32\nopcode ST_i32\nopcode DBG_VALUE debug\nregs %0 B32 B1 B64 B32 B32 B32 B32 B32 B32 B32 B64\n\
             @0 = \"&mov.u32 $0, $1;\\n@$3 ld.global.b32 {{ $0 }}, [ $2 + 0 ];\"\n\
             @1 = \"&@$2 st.global.b32 [ $1 + 0 ], {{ $0 }};\"\nbb0: frequency 1.0 depth 0\n\
             %0 = INT_PTX_SREG_TID_x\n%2 = CVT_u64_u32 %0, 0\n{other}\n{mask}\n\
             INLINEASM @0, 1, 10, def %4, 9, %3, 9, %2, 9, %1 :: opaque\n\
             INLINEASM @0, 1, 10, def %5, 9, %3, 9, %2, 9, %1 :: opaque\n\
             DBG_VALUE %6, $noreg :: meta\n%6 = ADD32rr %4, %4\n%7 = ADD32rr %5, %5\n{more}\n\
             INLINEASM @1, 1, 9, %6, 9, %2, 9, %1 :: opaque\nINLINEASM @1, 1, 9, %7, 9, %2, 9, %1 :: opaque\nend\n"
        );
        Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// Returns the remaining code, without the instructions around it.
    fn left(function: &Function) -> Vec<String> {
        let left = dead_code_eliminated(function).expect("something is needless").function;
        left.validate().expect("a function");
        let text = left.to_string();
        let code = text.lines().skip_while(|line| !line.starts_with("bb0"));
        code.filter(|line| line.starts_with("  ")).map(|line| line.trim().to_owned()).collect()
    }

    /// If the mask is false, the loads, the stores, the values that only they use, and the debug values disappear.
    #[test]
    fn all_off() {
        assert!(left(&masked(FALSE, "%3 = MOV_B32_i 7", "")).is_empty());
    }

    /// A value that is stored elsewhere stays. It is a constant, like all values computed from constants.
    #[test]
    fn constants_are_passed_on() {
        let code = left(&masked(FALSE, "%3 = MOV_B32_i 7", "ST_i32 %6, %2 :: write"));
        assert_eq!(code[2..], ["DBG_VALUE %6, $noreg :: meta", "%6 = MOV_B32_i 0", "ST_i32 %6, %2 :: write"]);
    }

    /// The text form of a function declares the opcodes that it has. A constant of another class needs an additional
    /// opcode.
    #[test]
    fn constants_of_a_class_without_any() {
        let more = "%10 = CVT_u64_u32 %6, 0\nST_i32 %10, %2 :: write";
        let code = left(&masked(FALSE, "%3 = MOV_B32_i 7", more));
        assert_eq!(code.last().map(String::as_str), Some("ST_i32 %10, %2 :: write"), "{code:?}");
        assert!(code.contains(&"%10 = MOV_B64_i 0".to_owned()), "{code:?}");
    }

    /// The value that replaces a load may be known only at run time.
    #[test]
    fn other_values() {
        let code = left(&masked(FALSE, "%3 = LD_i32 %2, 0 :: read", "ST_i32 %6, %2 :: write"));
        assert_eq!(code[3..5], ["%4 = COPY %3", "DBG_VALUE %6, $noreg :: meta"]);
        assert_eq!(code[5..], ["%6 = ADD32rr %4, %4", "ST_i32 %6, %2 :: write"]);
    }

    /// A mask that is true, unknown, or false on one path only does not remove an access.
    #[test]
    fn other_masks() {
        for mask in ["%1 = MOV_B1_i -1", "%1 = SETP_i32ri %0, 0, 0", "%1 = MOV_B1_i 0\n%1 = SETP_i32ri %0, 0, 0"] {
            assert!(dead_code_eliminated(&masked(mask, "%3 = MOV_B32_i 7", "")).is_none(), "{mask}");
        }
    }

    /// Assembly with unused results disappears together with the address that only it reads. It stays if a result is
    /// read, if it stores, or if it orders memory.
    #[test]
    fn unread_assembly() {
        let code = |text: &str, second: &str| {
            let text = format!(
                "mfv 1\nfunction \"k\"\nkernel\nopcode INT_PTX_SREG_TID_x\nopcode CVT_u64_u32\nopcode INLINEASM\n\
                 opcode ST_i32\nregs %0 B32 B64 B32 B32\n@0 = \"&{text}\"\nbb0: frequency 1.0 depth 0\n\
                 %0 = INT_PTX_SREG_TID_x\n%1 = CVT_u64_u32 %0, 0\n\
                 INLINEASM @0, 1, 10, def dead %2, 10, def {second} %3, 9, %1 :: opaque\n{}end\n",
                if second.is_empty() { "ST_i32 %3, %0 :: write\n" } else { "" },
            );
            Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
        };
        const LOAD: &str = "ld.global.ca.v2.u32 {$0, $1}, [$2];";
        assert!(left(&code(LOAD, "dead")).is_empty());
        assert!(dead_code_eliminated(&code(LOAD, "")).is_none());
        for text in ["atom.global.add.u32 $0, [$2], 1; mov.u32 $1, $0;", "ld.volatile.global.v2.u32 {$0, $1}, [$2];"] {
            assert!(dead_code_eliminated(&code(text, "dead")).is_none(), "{text}");
        }
    }

    /// Only opcodes of the code are named, because naming the thousands of opcodes of a target takes longer than a
    /// forecast.
    #[test]
    fn other_opcodes_are_not_named() {
        let function = masked("%1 = SETP_i32ri %0, 0, 0", "%3 = MOV_B32_i 7", "");
        let known = Arc::clone(function.opcodes());
        let table = OpcodeTable::lazy(known.len() + 1_000, move |opcode| {
            assert!(opcode.index() < known.len(), "no instruction has {opcode:?}");
            (known.name(opcode).into(), known.role(opcode))
        });
        Summary::by_name(&Function { opcodes: Arc::new(table), ..function });
    }

    /// The place of the peak refers to the given function.
    #[test]
    fn place_of_the_peak() {
        let more = "%8 = LD_i32 %2, 0 :: read\n%9 = LD_i32 %2, 4 :: read line 9\nST_i32 %8, %2 :: write\n\
                    ST_i32 %9, %2 :: write\nST_i32 %6, %2 :: write";
        let function = masked(FALSE, "%3 = MOV_B32_i 7", more);
        let summary = Summary::by_name(&function);
        let place = summary.place().expect("a line");
        assert_eq!((function.line(place), summary.pressure.peak.line), (9, 9));
    }

    /// One run suffices: the remaining code has no masked accesses.
    #[test]
    fn nothing_is_left_to_leave_out() {
        let function = masked(FALSE, "%3 = LD_i32 %2, 0 :: read", "ST_i32 %6, %2 :: write");
        let left = without_dead_code_by_name(function.clone());
        assert!(left.num_insts() < function.num_insts());
        assert_eq!(without_dead_code_by_name(left.clone()).to_string(), left.to_string());
    }
}
