//! The classification of a subtarget's opcodes, and the effects of its instructions.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::{
    CopyFamily, DescFlags, InstFlags, OpcodeInfo, Purity, RematCost, Uniformity, asks_for_registers, classify,
    is_anonymous,
};
use crate::function::{Effects, Function, Inst, MemorySpace, Opcode, OpcodeTable};
use crate::index::{EntityIndex, IndexVec};

/// What is known of one opcode.
struct Known {
    name: Box<str>,
    info: OpcodeInfo,
    /// What LLVM claims.
    desc: DescFlags,
}

/// The opcodes of a subtarget, and whoever tells name and descriptor of one that was not asked for yet.
struct Opcodes<F: ?Sized> {
    known: IndexVec<Opcode, OnceLock<Known>>,
    describe: F,
}

type DynOpcodes = Opcodes<dyn Fn(Opcode) -> (Box<str>, DescFlags) + Send + Sync>;

impl DynOpcodes {
    #[inline]
    fn get(&self, opcode: Opcode) -> &Known {
        self.known[opcode].get_or_init(|| {
            let (name, desc) = (self.describe)(opcode);
            let mut info = classify(&name);
            info.convergent |= desc.contains(DescFlags::CONVERGENT);
            Known { name, info, desc }
        })
    }
}

/// All opcodes of a subtarget: names and roles, what they are, what LLVM claims of them. Made once, shared; what an
/// opcode is, is found out when it is first asked for.
#[derive(Clone)]
pub struct Classification {
    table: Arc<OpcodeTable>,
    opcodes: Arc<DynOpcodes>,
}

impl Classification {
    /// The opcodes of a subtarget; the first gets the number 0.
    pub fn new<'a>(opcodes: impl IntoIterator<Item = (&'a str, DescFlags)>) -> Self {
        let opcodes: Vec<(Box<str>, DescFlags)> = opcodes.into_iter().map(|(name, desc)| (name.into(), desc)).collect();
        Self::lazy(opcodes.len(), move |opcode| opcodes[opcode.index()].clone())
    }

    /// A subtarget with `len` opcodes, and a function that tells name and descriptor of any of them.
    pub fn lazy(len: usize, describe: impl Fn(Opcode) -> (Box<str>, DescFlags) + Send + Sync + 'static) -> Self {
        let known = (0..len).map(|_| OnceLock::new()).collect();
        let opcodes: Arc<DynOpcodes> = Arc::new(Opcodes { known, describe });
        let of_table = Arc::clone(&opcodes);
        let table = OpcodeTable::lazy(len, move |opcode| {
            let known = of_table.get(opcode);
            (known.name.clone(), known.info.role())
        });
        Self { table: Arc::new(table), opcodes }
    }

    /// The opcodes of a table that no subtarget has made, as that of a function in text form is: what an opcode is, its
    /// name alone tells, and nothing is known of what LLVM claims of it.
    pub fn by_name(table: &Arc<OpcodeTable>) -> Self {
        let known = (0..table.len()).map(|_| OnceLock::new()).collect();
        let of_names = Arc::clone(table);
        let describe = move |opcode| (of_names.name(opcode).into(), DescFlags::empty());
        Self { table: Arc::clone(table), opcodes: Arc::new(Opcodes { known, describe }) }
    }

    /// Names and roles.
    pub fn table(&self) -> &Arc<OpcodeTable> {
        &self.table
    }

    /// What an opcode is.
    ///
    /// # Panics
    /// Where the opcode is not of this subtarget.
    #[inline]
    pub fn info(&self, opcode: Opcode) -> &OpcodeInfo {
        &self.opcodes.get(opcode).info
    }

    /// What an opcode is, if it is of this subtarget.
    pub fn get(&self, opcode: Opcode) -> Option<&OpcodeInfo> {
        (opcode.index() < self.table.len()).then(|| self.info(opcode))
    }

    /// What the opcode of an instruction is. The function's opcodes are those of this subtarget, and behind them those
    /// that edits have added, which their names alone tell.
    #[inline]
    pub fn of(&self, function: &Function, inst: Inst) -> OpcodeInfo {
        let opcode = function.opcode(inst);
        match self.get(opcode) {
            Some(&info) => {
                debug_assert_eq!(self.table.name(opcode), function.opcodes().name(opcode), "opcodes of another table");
                info
            }
            None => classify(function.opcodes().name(opcode)),
        }
    }

    /// Whether an instruction calls a function.
    pub fn is_call(&self, function: &Function, inst: Inst) -> bool {
        // Little else belongs to a call sequence, and the view says what does.
        function.effects(inst).contains(Effects::CALL_SEQUENCE) && self.of(function, inst).purity == Purity::Call
    }

    /// What LLVM's descriptor claims of an opcode.
    ///
    /// # Panics
    /// Where the opcode is not of this subtarget.
    pub fn desc(&self, opcode: Opcode) -> DescFlags {
        self.opcodes.get(opcode).desc
    }

    /// What an instruction does beyond registers, and in which memory. `address_space` is that of its memory operands,
    /// by LLVM's number; 0 where they differ or are unknown.
    ///
    /// The name wins over the descriptor, with one exception: where the name says pure and LLVM says that memory is
    /// accessed or control leaves, LLVM is believed.
    ///
    /// A load of memory that does not change counts as pure: it may be deleted, and repeated where it ran before. Where
    /// it did not run before it may fault ([`Effects::MAY_FAULT`]), unless it is of a parameter that LLVM knows to be
    /// there. What LLVM knows of other memory may hold only behind a branch. Inline assembly and opcodes that are not
    /// known by name may fault, too, where they are pure.
    ///
    /// A pure instruction among those of a call sequence (a copy between the stores of two parameters) stays pure;
    /// loads never do, so that a call's result is read where it stands.
    ///
    /// # Panics
    /// Where the opcode is not of this subtarget.
    pub fn effects(&self, opcode: Opcode, flags: InstFlags, address_space: u32) -> (Effects, MemorySpace) {
        let Known { info, desc, name } = self.opcodes.get(opcode);
        let (info, desc) = (*info, *desc);
        let space = info.space.unwrap_or_else(|| MemorySpace::from_number(address_space));
        let mut effects = match info.purity {
            Purity::Unknown => unknown_effects(desc, flags, name),
            Purity::InlineAsm => asm_effects(flags),
            Purity::Pure if contradicts_purity(desc, flags) => unknown_effects(desc, flags, name),
            // What reads a space by its name, as a texture does, reads what may be written under another name.
            Purity::Reads if info.space.is_none() && reads_unchanging_memory(flags, space) => Effects::empty(),
            known => known.effects(),
        };
        if info.convergent || flags.contains(InstFlags::CONVERGENT) {
            effects |= Effects::CONVERGENT;
        }
        if flags.contains(InstFlags::ORDERED) && effects.intersects(Effects::READ | Effects::WRITE) {
            effects |= Effects::ORDERED;
        }
        if desc.contains(DescFlags::TERMINATOR) {
            effects |= Effects::TERMINATOR;
        }
        let in_call = flags.contains(InstFlags::CALL_SEQUENCE);
        if in_call && (!effects.is_pure() || info.purity == Purity::Reads) {
            effects |= Effects::CALL_SEQUENCE;
        }
        let is_guarded = effects.is_pure() && may_fault(&info, flags, space);
        effects.set(Effects::MAY_FAULT, is_guarded);
        let accesses = effects.intersects(Effects::READ | Effects::WRITE) || info.purity == Purity::ReadsInvariant;
        (effects, if accesses { space } else { MemorySpace::Generic })
    }

    /// The cost of computing an instruction's value again: that of its opcode, or of a load of the function's own
    /// parameters, which the hardware keeps in constant memory.
    ///
    /// # Panics
    /// Where the opcode is not of this subtarget.
    pub fn remat(&self, opcode: Opcode, flags: InstFlags, address_space: u32) -> Option<RematCost> {
        let info = *self.info(opcode);
        let (effects, _) = self.effects(opcode, flags, address_space);
        if !effects.is_pure() {
            return None;
        }
        let reads_parameter =
            info.purity == Purity::Reads && MemorySpace::from_number(address_space) == MemorySpace::Param;
        if reads_parameter { Some(PARAMETER_LOAD) } else { info.remat }
    }

    /// Whether all threads of a warp get the same value from an instruction, when they execute it together.
    /// `in_kernel`: the function is a kernel, whose parameters are the same for all threads.
    ///
    /// # Panics
    /// Where the opcode is not of this subtarget.
    pub fn uniformity(&self, opcode: Opcode, address_space: u32, in_kernel: bool) -> Uniformity {
        self.info(opcode).uniformity_in(MemorySpace::from_number(address_space), in_kernel)
    }

    /// All opcodes of a copy family, in order.
    pub fn of_family(&self, family: CopyFamily) -> impl Iterator<Item = Opcode> {
        self.table.ids().filter(move |&opcode| self.info(opcode).family == family)
    }
}

impl fmt::Debug for Classification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Classification").field("table", &self.table).finish_non_exhaustive()
    }
}

/// A load from the constant bank; most instructions take it as an operand.
const PARAMETER_LOAD: RematCost = RematCost(1);

/// Whether a load reads memory that nothing writes while the kernel runs: LLVM says so, or it is constant memory.
fn reads_unchanging_memory(flags: InstFlags, space: MemorySpace) -> bool {
    let unchanging = flags.contains(InstFlags::INVARIANT) || space == MemorySpace::Constant;
    unchanging && !flags.intersects(InstFlags::ORDERED | InstFlags::STORE)
}

/// Whether a pure instruction may fault where it does not run in the program.
fn may_fault(info: &OpcodeInfo, flags: InstFlags, space: MemorySpace) -> bool {
    match info.purity {
        Purity::Reads => space != MemorySpace::Param || !flags.contains(InstFlags::DEREFERENCEABLE),
        Purity::ReadsInvariant | Purity::InlineAsm | Purity::Unknown => true,
        _ => info.guarded,
    }
}

/// Whether LLVM claims more than side effects for want of a pattern.
fn contradicts_purity(desc: DescFlags, flags: InstFlags) -> bool {
    let accesses = DescFlags::LOAD | DescFlags::STORE;
    desc.intersects(accesses | DescFlags::CALL | DescFlags::TERMINATOR | DescFlags::INLINE_ASM)
        || flags.intersects(InstFlags::LOAD | InstFlags::STORE)
}

/// The effects of an opcode that is not known by name. What does something unknown may never return, but for the records
/// of LLVM 22 without a name, which all do.
fn unknown_effects(desc: DescFlags, flags: InstFlags, name: &str) -> Effects {
    let mut effects = Effects::empty();
    if desc.intersects(DescFlags::SIDE_EFFECTS | DescFlags::INLINE_ASM) {
        effects |= Effects::OPAQUE;
        effects.set(Effects::TRAP, !is_anonymous(name) && !asks_for_registers(name));
    }
    if desc.contains(DescFlags::CALL) {
        effects |= Effects::OPAQUE | Effects::TRAP | Effects::CALL_SEQUENCE;
    }
    if desc.contains(DescFlags::META) {
        effects |= Effects::META;
    }
    let load = desc.contains(DescFlags::LOAD) || flags.contains(InstFlags::LOAD);
    let store = desc.contains(DescFlags::STORE) || flags.contains(InstFlags::STORE);
    effects.set(Effects::READ, load);
    effects.set(Effects::WRITE, store);
    // What does both may be an atomic.
    effects.set(Effects::ORDERED, load && store);
    effects
}

/// The effects of inline assembly. Without side effects and memory it is, by LLVM's rules, a function of its operands;
/// with side effects it may never return. What its text says besides is [`told_by_text`](super::told_by_text)'s.
fn asm_effects(flags: InstFlags) -> Effects {
    let mut effects = Effects::empty();
    effects.set(Effects::OPAQUE | Effects::TRAP, flags.contains(InstFlags::ASM_EFFECTS));
    effects.set(Effects::READ, flags.intersects(InstFlags::ASM_MEMORY | InstFlags::LOAD));
    effects.set(Effects::WRITE, flags.intersects(InstFlags::ASM_MEMORY | InstFlags::STORE));
    effects
}
