//! The classification of a subtarget's opcodes, and the effects of its instructions.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::{
    CopyFamily, DescFlags, InstFlags, OpcodeInfo, Purity, RematCost, Uniformity, asks_for_registers, classify,
    is_anonymous,
};
use crate::function::{Effects, Function, Inst, MemorySpace, Opcode, OpcodeTable};
use crate::index::{EntityIndex, IndexVec};

/// The facts about one opcode.
struct Known {
    name: Box<str>,
    info: OpcodeInfo,
    /// The flags of LLVM's descriptor.
    desc: DescFlags,
}

/// The opcodes of a subtarget, and a function that returns the name and descriptor of an opcode on first use.
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

/// All opcodes of a subtarget, with names, roles, classifications and LLVM's descriptor flags. Created once and shared;
/// an opcode is classified on first use.
#[derive(Clone)]
pub struct Classification {
    table: Arc<OpcodeTable>,
    opcodes: Arc<DynOpcodes>,
}

impl Classification {
    /// Creates a classification of the opcodes of a subtarget. The first opcode has the number 0.
    pub fn new<'a>(opcodes: impl IntoIterator<Item = (&'a str, DescFlags)>) -> Self {
        let opcodes: Vec<(Box<str>, DescFlags)> = opcodes.into_iter().map(|(name, desc)| (name.into(), desc)).collect();
        Self::lazy(opcodes.len(), move |opcode| opcodes[opcode.index()].clone())
    }

    /// Creates a classification of a subtarget with `len` opcodes. `describe` returns the name and descriptor of an
    /// opcode.
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

    /// Creates a classification of a table that comes from no subtarget, for example the table of a function in text
    /// form. Opcodes are classified by their names alone, without LLVM's descriptors.
    pub fn by_name(table: &Arc<OpcodeTable>) -> Self {
        let known = (0..table.len()).map(|_| OnceLock::new()).collect();
        let of_names = Arc::clone(table);
        let describe = move |opcode| (of_names.name(opcode).into(), DescFlags::empty());
        Self { table: Arc::clone(table), opcodes: Arc::new(Opcodes { known, describe }) }
    }

    /// Returns the names and roles.
    pub fn table(&self) -> &Arc<OpcodeTable> {
        &self.table
    }

    /// Returns the classification of an opcode.
    ///
    /// # Panics
    /// If the subtarget does not have the opcode.
    #[inline]
    pub fn info(&self, opcode: Opcode) -> &OpcodeInfo {
        &self.opcodes.get(opcode).info
    }

    /// Returns the classification of an opcode. `None` if the subtarget does not have the opcode.
    pub fn get(&self, opcode: Opcode) -> Option<&OpcodeInfo> {
        (opcode.index() < self.table.len()).then(|| self.info(opcode))
    }

    /// Returns the classification of an instruction's opcode. A function's opcodes are the opcodes of this subtarget,
    /// followed by opcodes that edits have added. The added opcodes are classified by name alone.
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
        // The view's effects are checked first, because few instructions belong to a call sequence.
        function.effects(inst).contains(Effects::CALL_SEQUENCE) && self.of(function, inst).purity == Purity::Call
    }

    /// Returns the flags of LLVM's descriptor of an opcode.
    ///
    /// # Panics
    /// If the subtarget does not have the opcode.
    pub fn desc(&self, opcode: Opcode) -> DescFlags {
        self.opcodes.get(opcode).desc
    }

    /// Returns the effects and the memory space of an instruction. `address_space` is the address space of its memory
    /// operands, by LLVM's number; 0 if they differ or are unknown.
    ///
    /// The classification by name has priority over LLVM's descriptor, with one exception: if an opcode is pure by its
    /// name, but LLVM's flags include a memory access or a transfer of control, LLVM's flags are used.
    ///
    /// A load of memory that does not change counts as pure. It may be deleted, and repeated on paths on which it
    /// executed before. On other paths it may fault ([`Effects::MAY_FAULT`]), unless it reads a parameter that LLVM
    /// knows to be dereferenceable. LLVM's knowledge of other memory may hold only after a branch. Pure inline
    /// assembly, and pure opcodes that are unknown by name, may fault, too.
    ///
    /// A pure instruction inside a call sequence (a copy between the stores of two parameters) stays pure. A load
    /// inside a call sequence is never pure, so that the result of a call is read at its place.
    ///
    /// # Panics
    /// If the subtarget does not have the opcode.
    pub fn effects(&self, opcode: Opcode, flags: InstFlags, address_space: u32) -> (Effects, MemorySpace) {
        let Known { info, desc, name } = self.opcodes.get(opcode);
        let (info, desc) = (*info, *desc);
        let space = info.space.unwrap_or_else(|| MemorySpace::from_number(address_space));
        let mut effects = match info.purity {
            Purity::Unknown => unknown_effects(desc, flags, name),
            Purity::InlineAsm => asm_effects(flags),
            Purity::Pure if contradicts_purity(desc, flags) => unknown_effects(desc, flags, name),
            // If the opcode's name determines the space, as for textures, other instructions may write the same memory.
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

    /// Returns the cost of rematerialising an instruction: the cost of its opcode. A load of the function's own
    /// parameters has its own cost, because the hardware keeps them in constant memory. `None` if the instruction
    /// cannot be rematerialised.
    ///
    /// # Panics
    /// If the subtarget does not have the opcode.
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

    /// Whether all threads of a warp receive the same value from an instruction when they execute it together.
    /// `in_kernel`: the function is a kernel, whose parameters are the same in all threads.
    ///
    /// # Panics
    /// If the subtarget does not have the opcode.
    pub fn uniformity(&self, opcode: Opcode, address_space: u32, in_kernel: bool) -> Uniformity {
        self.info(opcode).uniformity_in(MemorySpace::from_number(address_space), in_kernel)
    }

    /// Returns all opcodes of a copy family, in order.
    pub fn of_family(&self, family: CopyFamily) -> impl Iterator<Item = Opcode> {
        self.table.ids().filter(move |&opcode| self.info(opcode).family == family)
    }
}

impl fmt::Debug for Classification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Classification").field("table", &self.table).finish_non_exhaustive()
    }
}

/// A load from the constant bank. Most instructions can use it as an operand.
const PARAMETER_LOAD: RematCost = RematCost(1);

/// Whether a load reads memory that nothing writes while the kernel runs: LLVM's flags say that it is invariant, or the
/// memory is constant memory.
fn reads_unchanging_memory(flags: InstFlags, space: MemorySpace) -> bool {
    let unchanging = flags.contains(InstFlags::INVARIANT) || space == MemorySpace::Constant;
    unchanging && !flags.intersects(InstFlags::ORDERED | InstFlags::STORE)
}

/// Whether a pure instruction may fault on a path on which the program does not execute it.
fn may_fault(info: &OpcodeInfo, flags: InstFlags, space: MemorySpace) -> bool {
    match info.purity {
        Purity::Reads => space != MemorySpace::Param || !flags.contains(InstFlags::DEREFERENCEABLE),
        Purity::ReadsInvariant | Purity::InlineAsm | Purity::Unknown => true,
        _ => info.guarded,
    }
}

/// Whether LLVM's flags include more than side effects. LLVM also sets side effects for opcodes without a pattern, so
/// they alone prove nothing.
fn contradicts_purity(desc: DescFlags, flags: InstFlags) -> bool {
    let accesses = DescFlags::LOAD | DescFlags::STORE;
    desc.intersects(accesses | DescFlags::CALL | DescFlags::TERMINATOR | DescFlags::INLINE_ASM)
        || flags.intersects(InstFlags::LOAD | InstFlags::STORE)
}

/// Returns the effects of an opcode that is unknown by name. An unknown opcode with side effects may not return. The
/// records of LLVM 22 without a name are an exception: they all return.
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
    // An opcode that reads and writes may be atomic.
    effects.set(Effects::ORDERED, load && store);
    effects
}

/// Returns the effects of inline assembly from LLVM's flags. By LLVM's rules, assembly without side effects and memory
/// is a function of its operands. Assembly with side effects may not return. [`told_by_text`](super::told_by_text)
/// refines these effects by the text.
fn asm_effects(flags: InstFlags) -> Effects {
    let mut effects = Effects::empty();
    effects.set(Effects::OPAQUE | Effects::TRAP, flags.contains(InstFlags::ASM_EFFECTS));
    effects.set(Effects::READ, flags.intersects(InstFlags::ASM_MEMORY | InstFlags::LOAD));
    effects.set(Effects::WRITE, flags.intersects(InstFlags::ASM_MEMORY | InstFlags::STORE));
    effects
}
