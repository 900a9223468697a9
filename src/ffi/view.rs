//! Converts the raw view to a [`Function`]. Every number is checked, because the core does not check it again.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::abi::{self, nvptx_ra_inst, nvptx_ra_operand, nvptx_ra_view};
use super::opcodes;
use crate::error::Error;
use crate::function::{
    Block, BlockData, Function, LaunchBounds, NoUnroll, Opcode, Operand, OperandFlags, RegClass, RegData, Slot,
    SlotData, Symbol, SymbolData, VReg, Value,
};
use crate::index::IndexVec;
use crate::target::{Classification, InstFlags, Purity, told_by_text};

/// Returns the function that a view describes, and the classification of its opcodes. O(size).
///
/// # Safety
/// If `view` is not null, it must point to a live view, whose pointers are null or point to as many live values as the
/// view states. None of it may change during the call. All numbers may be wrong.
pub(super) unsafe fn read(view: *const nvptx_ra_view) -> Result<(Function, Arc<Classification>), Error> {
    // SAFETY: the caller promises that the view is live if it is not null.
    let view = unsafe { view.as_ref() }.ok_or_else(|| Error::view("no view"))?;
    check_version("view", view.version, view.size, size_of::<nvptx_ra_view>())?;
    // SAFETY: here and below, the caller promises the arrays and strings that the view points to.
    unsafe {
        let name = abi::text(view.name).into_owned();
        let result = read_function(view, &name);
        result.map_err(|error| error.in_function(&name))
    }
}

/// Checks the version and size with which every struct of the ABI starts.
pub(super) fn check_version(what: &str, version: u32, size: u32, wanted: usize) -> Result<(), Error> {
    if version != abi::NVPTX_RA_ABI_VERSION || size as usize != wanted {
        return Err(Error::view(format!(
            "the {what} has version {version} and {size} bytes, expected version {} and {wanted} bytes: the parts of the \
             plugin are from different versions",
            abi::NVPTX_RA_ABI_VERSION
        )));
    }
    Ok(())
}

/// # Safety
/// As for [`read`].
unsafe fn read_function(view: &nvptx_ra_view, name: &str) -> Result<(Function, Arc<Classification>), Error> {
    // SAFETY: here and below, the caller promises the arrays and strings that the view points to.
    let refusal = unsafe { abi::text(view.refusal) };
    if !refusal.is_empty() {
        return Err(Error::view(refusal));
    }
    // SAFETY: the caller promises that the table is live.
    let classification =
        unsafe { opcodes::share(view.opcodes) }.ok_or_else(|| Error::view("the view has no opcode table"))?;
    // SAFETY: as above.
    let (blocks, succs, insts, operands, slots) = unsafe {
        (
            abi::array(view.blocks, view.num_blocks, "blocks")?,
            abi::array(view.succs, view.num_succs, "successors")?,
            abi::array(view.insts, view.num_insts, "instructions")?,
            abi::array(view.operands, view.num_operands, "operands")?,
            abi::array(view.slots, view.num_slots, "slots")?,
        )
    };
    // SAFETY: as above.
    let (regs, symbols, kernel, file) =
        unsafe { (read_regs(view)?, read_symbols(view)?, read_kernel(view)?, abi::text(view.file)) };
    let limits = Limits { blocks: blocks.len(), regs: regs.len(), slots: slots.len(), symbols: symbols.len() };

    let mut function = Function {
        name: name.to_owned(),
        kernel,
        file: (!file.is_empty()).then(|| file.into()),
        opcodes: Arc::clone(classification.table()),
        blocks: IndexVec::from(Vec::with_capacity(blocks.len())),
        succs: Vec::with_capacity(succs.len()),
        inst_opcode: IndexVec::from(Vec::with_capacity(insts.len())),
        inst_effects: IndexVec::from(Vec::with_capacity(insts.len())),
        inst_space: IndexVec::from(Vec::with_capacity(insts.len())),
        inst_line: IndexVec::from(Vec::with_capacity(insts.len())),
        operand_start: Vec::with_capacity(insts.len() + 1),
        operands: Vec::with_capacity(operands.len()),
        regs,
        // SAFETY: as above.
        slots: unsafe { read_slots(slots) }?,
        symbols,
    };
    read_blocks(&mut function, blocks, insts.len(), succs)?;
    function.operand_start.push(0);
    for (number, inst) in insts.iter().enumerate() {
        let start = function.operands.len();
        let end = inst.operand_end as usize;
        let raw = operands
            .get(start..end)
            .ok_or_else(|| wrong("instruction", number, "the end of its operands is out of range"))?;
        for operand in raw {
            let operand = read_operand(operand, raw.len(), &limits);
            function.operands.push(operand.map_err(|reason| wrong("instruction", number, reason))?);
        }
        read_inst(&mut function, inst, start, &classification)
            .map_err(|reason| wrong("instruction", number, reason))?;
    }
    if function.operands.len() != operands.len() {
        return Err(Error::view("the last operands do not belong to an instruction"));
    }
    Ok((function, classification))
}

/// The number of entities of each kind. Ids must be below these limits.
struct Limits {
    blocks: usize,
    regs: usize,
    slots: usize,
    symbols: usize,
}

fn wrong(what: &str, number: usize, reason: &str) -> Error {
    Error::view(format!("{what} {number} of the view: {reason}"))
}

/// # Safety
/// As for [`read`].
unsafe fn read_regs(view: &nvptx_ra_view) -> Result<IndexVec<VReg, RegData>, Error> {
    // SAFETY: the caller promises the array.
    let regs = unsafe { abi::array(view.regs, view.num_regs, "registers") }?;
    let mut read = Vec::with_capacity(regs.len());
    for (number, reg) in regs.iter().enumerate() {
        let class = u8::try_from(reg.reg_class).map(RegClass::from_number).ok();
        let class = class.filter(|&class| class as u32 == reg.reg_class);
        let class = class.ok_or_else(|| wrong("register", number, "its class is unknown"))?;
        // Few registers have a name. SAFETY: the caller promises the string.
        let name = if reg.name.len == 0 { Cow::Borrowed("") } else { unsafe { abi::text(reg.name) } };
        let name = (!name.is_empty()).then(|| name.into());
        read.push(RegData { class, name });
    }
    Ok(IndexVec::from(read))
}

/// # Safety
/// As for [`read`].
unsafe fn read_kernel(view: &nvptx_ra_view) -> Result<Option<LaunchBounds>, Error> {
    if view.flags & !abi::NVPTX_RA_VIEW_KERNEL != 0 {
        return Err(Error::view("the view has unknown flags"));
    }
    if view.flags == 0 {
        return Ok(None);
    }
    let mut bounds = LaunchBounds::default();
    for (name, value) in [
        ("nvvm.maxntid", view.maxntid),
        ("nvvm.reqntid", view.reqntid),
        ("nvvm.minctasm", view.minctasm),
        ("nvvm.maxnreg", view.maxnreg),
    ] {
        // SAFETY: the caller promises the strings.
        bounds.set_attribute(name, &unsafe { abi::text(value) });
    }
    Ok(Some(bounds))
}

/// # Safety
/// As for [`read`].
unsafe fn read_symbols(view: &nvptx_ra_view) -> Result<IndexVec<Symbol, SymbolData>, Error> {
    // SAFETY: the caller promises the array.
    let symbols = unsafe { abi::array(view.symbols, view.num_symbols, "symbols") }?;
    let read = |symbol: &abi::nvptx_ra_symbol| {
        // SAFETY: the caller promises the strings.
        let text = unsafe { abi::text(symbol.text) };
        // NVPTX_RA_DYNAMIC_SHARED, for which bindgen's type is too small.
        let is_dynamic_shared = symbol.shared_bytes == u64::MAX;
        let shared_bytes = if is_dynamic_shared { 0 } else { symbol.shared_bytes };
        SymbolData { text: text.into(), shared_bytes, is_dynamic_shared }
    };
    Ok(symbols.iter().map(read).collect())
}

/// # Safety
/// As for [`read`].
unsafe fn read_slots(slots: &[abi::nvptx_ra_slot]) -> Result<IndexVec<Slot, SlotData>, Error> {
    let read = |(number, slot): (usize, &abi::nvptx_ra_slot)| {
        if !slot.align.is_power_of_two() {
            return Err(wrong("slot", number, "its alignment is not a power of two"));
        }
        // SAFETY: the caller promises the string.
        let name = unsafe { abi::text(slot.name) };
        let name = (!name.is_empty()).then(|| name.into());
        Ok(SlotData { size: slot.size, align: slot.align, name, line: slot.line, shared: None, bit: None })
    };
    slots.iter().enumerate().map(read).collect()
}

fn read_blocks(
    function: &mut Function,
    blocks: &[abi::nvptx_ra_block],
    num_insts: usize,
    succs: &[u32],
) -> Result<(), Error> {
    let (mut inst, mut succ) = (0, 0);
    for (number, block) in blocks.iter().enumerate() {
        let insts = next_range(&mut inst, block.inst_end, num_insts);
        let insts = insts.ok_or_else(|| wrong("block", number, "the end of its instructions is out of range"))?;
        let ends = next_range(&mut succ, block.succ_end, succs.len());
        let ends = ends.ok_or_else(|| wrong("block", number, "the end of its successors is out of range"))?;
        if !block.frequency.is_finite() || block.frequency < 0.0 {
            return Err(wrong("block", number, "its frequency is not a finite number that is 0 or more"));
        }
        function.blocks.push(BlockData {
            insts,
            succs: ends,
            frequency: block.frequency,
            loop_depth: block.loop_depth,
            no_unroll: match block.flags & abi::NVPTX_RA_BLOCK_NO_UNROLL {
                0 => NoUnroll::Absent,
                _ => NoUnroll::Back,
            },
        });
    }
    if inst as usize != num_insts || succ as usize != succs.len() {
        return Err(Error::view("the last instructions or successors do not belong to a block"));
    }
    if let Some(number) = succs.iter().position(|&succ| succ as usize >= blocks.len()) {
        return Err(wrong("successor", number, "there is no such block"));
    }
    function.succs.extend(succs.iter().map(|&succ| Block(succ)));
    Ok(())
}

/// Returns the range from `start` to `end`, and sets `start` to `end`. `None` if the range runs backwards or exceeds
/// `limit`.
fn next_range(start: &mut u32, end: u32, limit: usize) -> Option<Range<u32>> {
    let range = *start..end;
    *start = end;
    (range.start <= range.end && range.end as usize <= limit).then_some(range)
}

fn read_inst(
    function: &mut Function,
    inst: &nvptx_ra_inst,
    first_operand: usize,
    classification: &Classification,
) -> Result<(), &'static str> {
    let opcode = Opcode(inst.opcode);
    let info = classification.get(opcode).ok_or("its opcode is not in the table")?;
    let flags = InstFlags::from_bits(inst.flags).ok_or("it has unknown flags")?;
    let (mut effects, space) = classification.effects(opcode, flags, inst.address_space);
    if info.purity == Purity::InlineAsm
        && let Some(&Operand { value: Value::Symbol(text), .. }) = function.operands.get(first_operand)
    {
        effects = told_by_text(effects, function.symbol(text));
    }
    function.inst_opcode.push(opcode);
    function.inst_effects.push(effects);
    function.inst_space.push(space);
    function.inst_line.push(inst.line);
    function.operand_start.push(inst.operand_end);
    Ok(())
}

#[inline]
fn read_operand(raw: &nvptx_ra_operand, siblings: usize, limits: &Limits) -> Result<Operand, &'static str> {
    let below = |limit: usize| if (raw.id as usize) < limit { Ok(raw.id) } else { Err("an operand is out of range") };
    let value = match u32::from(raw.kind) {
        abi::NVPTX_RA_OPERAND_REG => Value::Reg(VReg(below(limits.regs)?)),
        abi::NVPTX_RA_OPERAND_PHYSICAL => Value::Physical(raw.id),
        abi::NVPTX_RA_OPERAND_NOREG => Value::NoReg,
        abi::NVPTX_RA_OPERAND_IMMEDIATE => Value::Immediate(raw.value),
        abi::NVPTX_RA_OPERAND_FLOAT => Value::Float(raw.value as u64),
        abi::NVPTX_RA_OPERAND_SYMBOL => Value::Symbol(Symbol(below(limits.symbols)?)),
        abi::NVPTX_RA_OPERAND_BLOCK => Value::Block(Block(below(limits.blocks)?)),
        abi::NVPTX_RA_OPERAND_SLOT => Value::Slot(Slot(below(limits.slots)?)),
        _ => return Err("an operand is of an unknown kind"),
    };
    let flags = OperandFlags::from_bits(raw.flags).ok_or("an operand has unknown flags")?;
    if !flags.is_empty() && !matches!(value, Value::Reg(_) | Value::Physical(_)) {
        return Err("an operand has flags, but is not a register");
    }
    let tied = match u32::from(raw.tied) {
        abi::NVPTX_RA_NOT_TIED => None,
        other if (other as usize) < siblings => Some(raw.tied),
        _ => return Err("an operand is tied to an operand that does not exist"),
    };
    Ok(Operand { value, flags, tied })
}

// The flags of operands have the same bits on both sides.
const _: () = {
    assert!(OperandFlags::DEF.bits() as u32 == abi::NVPTX_RA_FLAG_DEF);
    assert!(OperandFlags::IMPLICIT.bits() as u32 == abi::NVPTX_RA_FLAG_IMPLICIT);
    assert!(OperandFlags::UNDEF.bits() as u32 == abi::NVPTX_RA_FLAG_UNDEF);
    assert!(OperandFlags::DEAD.bits() as u32 == abi::NVPTX_RA_FLAG_DEAD);
    assert!(OperandFlags::KILL.bits() as u32 == abi::NVPTX_RA_FLAG_KILL);
    assert!(OperandFlags::EARLY_CLOBBER.bits() as u32 == abi::NVPTX_RA_FLAG_EARLY_CLOBBER);
};
