//! Adjusts the rule of a mnemonic by modifiers and operands.

use super::super::info::{CopyFamily, OpcodeInfo, Purity, RematCost, Uniformity};
use super::Meaning;
use crate::function::ptx_opcode::{PtxOpcode, scalar_type};
use crate::function::{Effects, MemorySpace, RegClass, Role};

/// Modifiers of memory accesses that keep an order with accesses of other threads, or that bypass caches.
const ORDERED: [&str; 8] = ["volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "cv", "wt"];

/// The memory space of each modifier that names one.
const SPACES: [(&str, MemorySpace); 9] = [
    ("global", MemorySpace::Global),
    ("shared", MemorySpace::Shared),
    ("shared::cta", MemorySpace::Shared),
    ("shared::cluster", MemorySpace::SharedCluster),
    ("const", MemorySpace::Constant),
    ("local", MemorySpace::Local),
    ("param", MemorySpace::Param),
    ("param::entry", MemorySpace::Param),
    ("param::func", MemorySpace::Param),
];

/// Returns the words of a mnemonic. The first word is not a modifier.
fn words(mnemonic: &str) -> impl DoubleEndedIterator<Item = &str> {
    mnemonic.split('.')
}

fn has(mnemonic: &str, word: &str) -> bool {
    words(mnemonic).any(|one| one == word)
}

/// Returns the memory space that the modifiers name. Generic if they name none or several.
pub(super) fn named_space(mnemonic: &str) -> MemorySpace {
    let mut spaces = words(mnemonic).filter_map(|word| SPACES.iter().find(|(name, _)| *name == word));
    match (spaces.next(), spaces.next()) {
        (Some(&(_, space)), None) => space,
        _ => MemorySpace::Generic,
    }
}

fn class_of(bits: u32) -> RegClass {
    match bits {
        8 | 16 => RegClass::B16,
        32 => RegClass::B32,
        64 => RegClass::B64,
        _ => RegClass::B128,
    }
}

/// Returns the meaning, adjusted by the modifiers.
pub(super) fn with_modifiers(meaning: Meaning, mnemonic: &str) -> Meaning {
    let mut meaning = meaning;
    match mnemonic.split('.').next().unwrap_or_default() {
        "cvt" => meaning.info = conversion(mnemonic),
        "cvta" => meaning.info = address(mnemonic),
        "suld" if has(mnemonic, "trap") => meaning.info.purity = Purity::ReadsOrTraps,
        "sust" | "sured" if has(mnemonic, "trap") => meaning.info.purity = Purity::WritesOrTraps,
        // In some mnemonics, the modifier `cc` is not the second word.
        "add" | "sub" | "mad" if has(mnemonic, "cc") => meaning.info = OpcodeInfo::other(Purity::Opaque).propagating(),
        _ => {}
    }
    meaning
}

/// Returns the classification of a conversion between two types. A conversion between integers of different classes
/// moves the low bits.
fn conversion(mnemonic: &str) -> OpcodeInfo {
    let mut types = words(mnemonic).rev().filter_map(scalar_type);
    match (types.next(), types.next()) {
        (Some((from, true)), Some((to, true))) if !has(mnemonic, "pack") => match (class_of(to), class_of(from)) {
            (to, from) if to == from => OpcodeInfo::PURE.with_uniform_form(),
            (RegClass::B64, RegClass::B32) => {
                OpcodeInfo::copy(CopyFamily::CrossClass, RegClass::B64, Some(RegClass::B32)).remat(1)
            }
            (to, from) => OpcodeInfo::copy(CopyFamily::CrossClass, to, Some(from)),
        },
        _ => OpcodeInfo::PURE,
    }
}

/// Returns the classification of an address-space conversion. Costs are the same as for LLVM's opcodes.
fn address(mnemonic: &str) -> OpcodeInfo {
    let space = named_space(mnemonic);
    let class = if has(mnemonic, "u32") { RegClass::B32 } else { RegClass::B64 };
    let cost = match (class, space) {
        (_, MemorySpace::Global) => 0,
        (RegClass::B32, _) => 1,
        (_, MemorySpace::Shared | MemorySpace::SharedCluster) => 2,
        (_, MemorySpace::Local) => 4,
        _ => 3,
    };
    OpcodeInfo::copy(CopyFamily::AddressSpace, class, Some(class)).within(space).remat(cost)
}

/// Returns the classification, adjusted by the form of the operands and by the predicate.
pub(super) fn in_form(info: OpcodeInfo, opcode: &PtxOpcode<'_>) -> OpcodeInfo {
    let mut info = info;
    let is_shift = opcode.mnemonic.starts_with("shl.") || opcode.mnemonic.starts_with("shr.");
    if is_shift && opcode.mnemonic.ends_with("64") && opcode.form.ends_with('r') {
        info.remat = None;
    }
    if !opcode.is_guarded {
        return info;
    }
    // Under a predicate, an instruction is not a copy and is not rematerialised.
    info.remat = None;
    info.coalesces = false;
    if !matches!(info.family, CopyFamily::NotCopy | CopyFamily::Opaque | CopyFamily::Abi) {
        info.family = CopyFamily::NotCopy;
        (info.dst, info.src) = (None, None);
    }
    info.role_of(Role::Other)
}

/// Returns the classification of a `mov`. If the form names a special register, the `mov` reads that register. Any
/// other `mov` that keeps PTX's mnemonic is under a predicate, or has an operand that no `mov` of LLVM has.
pub(super) fn special_register(opcode: &PtxOpcode<'_>) -> OpcodeInfo {
    let class = match opcode.mnemonic.rsplit('.').next().and_then(scalar_type) {
        Some((64, _)) => RegClass::B64,
        Some((16, _)) => RegClass::B16,
        _ => RegClass::B32,
    };
    let Some(register) = opcode.form.strip_prefix('%') else {
        return in_form(OpcodeInfo::PURE.with_uniform_form(), opcode);
    };
    let base = register.split('.').next().unwrap_or_default();
    let is_volatile = ["clock", "globaltimer", "pm"].iter().any(|prefix| base.starts_with(prefix));
    let info = if is_volatile {
        OpcodeInfo::volatile(class, Uniformity::Divergent)
    } else if matches!(base, "smid" | "warpid" | "current_graph_exec") {
        OpcodeInfo::volatile(class, Uniformity::Uniform)
    } else {
        let is_divergent = matches!(base, "tid" | "laneid") || base.starts_with("lanemask");
        let uniformity = if is_divergent { Uniformity::Divergent } else { Uniformity::Uniform };
        let cost = if matches!(base, "clusterid" | "cluster_ctaid") { 6 } else { 1 };
        let mut info = OpcodeInfo::special(uniformity);
        (info.dst, info.remat) = (Some(class), Some(RematCost(cost)));
        info
    };
    in_form(info, opcode)
}

/// Returns the effects and the memory space of an instruction.
///
/// A load of memory that does not change counts as pure, as in [`Classification`](super::super::Classification).
pub(super) fn effects(meaning: &Meaning, mnemonic: &str) -> (Effects, MemorySpace) {
    let info = &meaning.info;
    let space = info.space.unwrap_or_else(|| named_space(mnemonic));
    let is_ordered = words(mnemonic).any(|word| ORDERED.contains(&word));
    let mut effects = match info.purity {
        Purity::Reads if matches!(space, MemorySpace::Constant | MemorySpace::Param) && !is_ordered => {
            Effects::MAY_FAULT
        }
        known => known.effects(),
    };
    if info.convergent {
        effects |= Effects::CONVERGENT;
    }
    if is_ordered && effects.intersects(Effects::READ | Effects::WRITE) {
        effects |= Effects::ORDERED;
    }
    if meaning.control != super::Control::Next && meaning.control != super::Control::Call {
        effects |= Effects::TERMINATOR;
    }
    if info.guarded && effects.is_pure() {
        effects |= Effects::MAY_FAULT;
    }
    // The view has no memory space for pure loads.
    let accesses = effects.intersects(Effects::READ | Effects::WRITE) || info.purity == Purity::ReadsInvariant;
    (effects, if accesses { space } else { MemorySpace::Generic })
}
