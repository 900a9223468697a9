//! Properties of the effects of every opcode, for all flags that LLVM may set for an instruction: compared with LLVM's
//! descriptors, with the PTX instruction that is printed, and with each other. The properties must hold for every line
//! of `opcodes.txt`, which has one line for each opcode.

use super::*;
use crate::function::{Effects, Opcode};
use crate::index::EntityIndex;

/// An instruction with an opcode, and its classification.
struct Sample<'a> {
    descriptor: &'a Descriptor,
    purity: Purity,
    flags: InstFlags,
    effects: Effects,
}

impl Sample<'_> {
    fn says(&self, flags: DescFlags) -> bool {
        self.descriptor.flags.intersects(flags)
    }

    fn does(&self, effects: Effects) -> bool {
        self.effects.intersects(effects)
    }

    /// Returns the name of the PTX instruction up to its first dot. Empty if the opcode prints nothing.
    fn instruction(&self) -> &str {
        let text = self.descriptor.mnemonic.trim_start_matches(['{', '}', ' ']);
        text.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default()
    }
}

/// Checks every opcode with all combinations of LLVM's instruction flags, and reports the first that violates the
/// property.
#[track_caller]
fn for_all(rule: &str, holds: impl Fn(&Sample<'_>) -> bool) {
    let known = [
        InstFlags::ORDERED,
        InstFlags::INVARIANT,
        InstFlags::DEREFERENCEABLE,
        InstFlags::CALL_SEQUENCE,
        InstFlags::CONVERGENT,
    ];
    for (number, descriptor) in DESCRIPTORS.iter().enumerate() {
        let opcode = Opcode::new(number);
        let mut accesses = InstFlags::empty();
        accesses.set(InstFlags::LOAD, descriptor.flags.contains(DescFlags::LOAD));
        accesses.set(InstFlags::STORE, descriptor.flags.contains(DescFlags::STORE));
        for choice in 0..1u32 << known.len() {
            let chosen = (0..known.len()).filter(|bit| choice >> bit & 1 != 0).map(|bit| known[bit]);
            let flags = accesses | chosen.collect();
            for address_space in [0, 1, 3, 4, 101] {
                let (effects, _) = CLASSIFICATION.effects(opcode, flags, address_space);
                let purity = CLASSIFICATION.info(opcode).purity;
                let sample = Sample { descriptor, purity, flags, effects };
                assert!(
                    holds(&sample),
                    "{} breaks the rule that {rule}: LLVM says {:?}, {flags:?} in space {address_space}; it is {purity:?}, \
                     {effects:?}",
                    descriptor.name,
                    descriptor.flags,
                );
            }
        }
    }
}

/// Whether an opcode does not access memory although LLVM's flags say that it may store. LLVM uses this flag for
/// instructions that depend on other threads, for counters, and for instructions that must stay in a call.
fn stores_nothing(sample: &Sample<'_>) -> bool {
    match sample.purity {
        Purity::Exchange => sample.does(Effects::CONVERGENT),
        Purity::Volatile => sample.does(Effects::ORDERED),
        Purity::CallSequence => sample.does(Effects::CALL_SEQUENCE),
        _ => false,
    }
}

#[test]
fn what_may_store_is_never_pure() {
    for_all("what LLVM says may store is not pure", |sample| {
        !sample.says(DescFlags::STORE) || !sample.effects.is_pure()
    });
    for_all("what LLVM says may store writes", |sample| {
        let writes = sample.does(Effects::WRITE | Effects::OPAQUE);
        !sample.says(DescFlags::STORE) || writes || stores_nothing(sample)
    });
}

#[test]
fn what_may_load_reads_or_may_fault() {
    for_all("what LLVM says may load reads, or may fault where its memory does not change", |sample| {
        let is_parameter =
            sample.flags.contains(InstFlags::INVARIANT | InstFlags::DEREFERENCEABLE) && sample.purity == Purity::Reads;
        let reads = sample.does(Effects::READ | Effects::OPAQUE | Effects::MAY_FAULT | Effects::CALL_SEQUENCE);
        // A convergent instruction stays in place, even if it reads memory that does not change.
        let stays = sample.flags.contains(InstFlags::CONVERGENT) && sample.does(Effects::CONVERGENT);
        !sample.says(DescFlags::LOAD) || reads || is_parameter || stays || stores_nothing(sample)
    });
}

#[test]
fn what_keeps_its_place_is_never_pure() {
    for_all("a call may do anything and belongs to its sequence", |sample| {
        let all = Effects::OPAQUE | Effects::TRAP | Effects::CALL_SEQUENCE;
        !sample.says(DescFlags::CALL) || sample.effects.contains(all)
    });
    for_all("what ends a block is a terminator", |sample| {
        !sample.says(DescFlags::TERMINATOR) || sample.does(Effects::TERMINATOR)
    });
    for_all("what is convergent stays so", |sample| {
        let is_convergent = sample.says(DescFlags::CONVERGENT) || sample.flags.contains(InstFlags::CONVERGENT);
        !is_convergent || sample.does(Effects::CONVERGENT)
    });
    for_all("what LLVM calls ordered is in order, unless it accesses nothing", |sample| {
        let accesses = sample.does(Effects::READ | Effects::WRITE);
        !sample.flags.contains(InstFlags::ORDERED) || !accesses || sample.does(Effects::ORDERED)
    });
}

/// Side effects that LLVM sets for lack of a pattern are ignored only for queries, address conversions, comparisons
/// with two results, and loads of memory that does not change.
#[test]
fn side_effects_are_denied_to_a_few_instructions_alone() {
    for_all("what LLVM says has side effects is not pure", |sample| {
        let denied = match sample.instruction() {
            "cvta" | "setp" | "suq" | "txq" => true,
            "ldu" => sample.does(Effects::MAY_FAULT),
            _ => sample.descriptor.name.starts_with("LD_GLOBAL_NC_") && sample.does(Effects::MAY_FAULT),
        };
        !sample.says(DescFlags::SIDE_EFFECTS) || !sample.effects.is_pure() || denied
    });
}

/// The effects that PTX instructions have at least, by the part of their name before the first dot.
#[test]
fn instructions_of_ptx_do_what_their_name_says() {
    for_all("it does what the instruction does that it prints", |sample| {
        let at_least = match sample.instruction() {
            "atom" | "red" => Effects::READ | Effects::WRITE | Effects::ORDERED,
            "activemask" | "bar" | "barrier" | "setmaxnreg" | "wgmma" => Effects::OPAQUE | Effects::CONVERGENT,
            // `mbarrier.pending_count` only decodes the result of an arrival.
            "mbarrier" if sample.descriptor.mnemonic.contains("pending_count") => Effects::empty(),
            "addc" | "subc" | "alloca" | "stackrestore" | "stacksave" | "discard" | "fence" | "griddepcontrol"
            | "mbarrier" | "membar" | "nanosleep" | "pmevent" => Effects::OPAQUE,
            "elect" | "match" | "mma" | "redux" | "shfl" | "tcgen05" | "vote" | "wmma" => Effects::CONVERGENT,
            "ldmatrix" => Effects::READ | Effects::CONVERGENT,
            "stmatrix" => Effects::WRITE | Effects::CONVERGENT,
            "st" | "sust" => Effects::WRITE,
            "suld" | "tex" | "tld4" => Effects::READ,
            "applypriority" | "prefetch" | "prefetchu" | "tensormap" => Effects::READ | Effects::WRITE,
            "brkpt" | "exit" | "trap" => Effects::TRAP | Effects::OPAQUE,
            "bra" | "ret" => Effects::TERMINATOR,
            _ => Effects::empty(),
        };
        sample.effects.contains(at_least)
    });
    for_all("asynchronous copies write or may do anything", |sample| {
        sample.instruction() != "cp" || sample.does(Effects::WRITE | Effects::OPAQUE)
    });
}

/// PTX instructions that compute their results from their operands.
const COMPUTE: &str = "abs add and bfe bfi bfind bmsk brev clusterlaunchcontrol clz copysign cos cvt cvta div dp2a dp4a ex2 \
    fma fns getctarank isspacep istypep lg2 mad mapa max mbarrier min mov mul mul24 neg not or popc prmt rcp rem rsqrt sad \
    selp setp shf shl shr sin sqrt sub suq szext tanh testp txq xor";

#[test]
fn only_what_computes_or_loads_is_pure() {
    let compute: Vec<&str> = COMPUTE.split_ascii_whitespace().collect();
    for_all("what is pure computes, or loads and may fault", |sample| {
        // Opcodes without a mnemonic are LLVM's own opcodes, or loads, whose mnemonics the descriptor file does not
        // have.
        let is_known = matches!(sample.instruction(), "" | "ldu") || compute.contains(&sample.instruction());
        !sample.effects.is_pure() || is_known
    });
    for_all("what may fault is pure", |sample| !sample.does(Effects::MAY_FAULT) || sample.effects.is_pure());
    for_all("what is known to be pure defines something", |sample| {
        let is_known = !matches!(sample.purity, Purity::Unknown | Purity::InlineAsm);
        !sample.effects.is_pure() || !is_known || !sample.descriptor.defs.is_empty()
    });
    for_all("a load by its name reads or may fault, and a store by its name writes", |sample| {
        let name = &sample.descriptor.name;
        let reads = sample.does(Effects::READ | Effects::MAY_FAULT | Effects::CALL_SEQUENCE | Effects::CONVERGENT);
        let is_parameter = sample.flags.contains(InstFlags::INVARIANT | InstFlags::DEREFERENCEABLE);
        let is_load = ["LD_", "LDV_", "LDU_"].iter().any(|prefix| name.starts_with(prefix));
        let is_store = ["ST_", "STV_", "INT_NVVM_ST_"].iter().any(|prefix| name.starts_with(prefix));
        (!is_load || reads || is_parameter) && (!is_store || sample.does(Effects::WRITE))
    });
}

/// An opcode that may be rematerialised at any place has no effects and does not fault on any path.
#[test]
fn what_is_rematerialisable_never_faults() {
    for opcode in CLASSIFICATION.table().ids() {
        if CLASSIFICATION.info(opcode).remat.is_some() {
            let (effects, _) = CLASSIFICATION.effects(opcode, InstFlags::empty(), 0);
            assert_eq!(effects, Effects::empty(), "{}", CLASSIFICATION.table().name(opcode));
        }
    }
}

/// Only a load of a parameter that LLVM knows to be dereferenceable never faults. LLVM's knowledge of other memory may
/// hold only at the position of the load.
#[test]
fn parameters_that_are_there_do_not_fault() {
    for_all("a load that does not fault is of a parameter that is there", |sample| {
        let is_load = matches!(sample.purity, Purity::Reads | Purity::ReadsInvariant);
        let is_there = sample.flags.contains(InstFlags::DEREFERENCEABLE);
        sample.effects != Effects::empty() || !is_load || is_there
    });
    let load = CLASSIFICATION.table().find("LD_i32").expect("LLVM has it");
    let there = InstFlags::LOAD | InstFlags::INVARIANT | InstFlags::DEREFERENCEABLE;
    let of = |flags, space| CLASSIFICATION.effects(load, flags, space).0;
    assert_eq!(of(there, 101), Effects::empty());
    assert_eq!(of(there - InstFlags::DEREFERENCEABLE, 101), Effects::MAY_FAULT);
    assert_eq!(of(there, 1), Effects::MAY_FAULT);
    assert_eq!(of(InstFlags::LOAD, 4), Effects::MAY_FAULT);
}
