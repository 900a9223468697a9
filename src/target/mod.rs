//! What is known of the target: opcodes, register classes, processors.
//!
//! The rules say what an opcode is by its name alone; a [`Classification`] joins that to LLVM's descriptors and flags
//! for all opcodes of a subtarget, and says what an instruction does. [`machine`] knows the processors.

mod assembly;
mod assembly_addresses;
mod assembly_effects;
mod assembly_loads;
mod assembly_returns;
mod asynchronous;
mod classes;
mod classification;
mod flags;
mod fusion;
mod info;
pub mod machine;
mod masked;
mod pattern;
pub mod ptx;
mod ptx_version;
mod register_tuples;
mod rules;
mod setmaxnreg;
mod system_functions;
#[cfg(test)]
mod tests;
mod tuple_kind;
mod uniformity;

use std::sync::LazyLock;

pub use assembly_addresses::{address_operands, registers_of};
pub use assembly_effects::AssemblyEffects;
pub use assembly_loads::with_assembly_loads;
pub use assembly_returns::told_by_text;
pub use asynchronous::{Asynchrony, asynchrony, is_fragment};
pub use classification::Classification;
pub use flags::{DescFlags, InstFlags};
pub use fusion::{is_fusible_product, is_fusible_sum};
pub use info::{CopyFamily, CopyOperands, OpcodeInfo, Purity, RematCost, Uniformity};
pub use masked::{Left, Masked, guard, has_masks};
pub use ptx_version::PtxVersion;
pub use register_tuples::{RegisterTuple, VectorShape};
pub use setmaxnreg::{asks_for_registers, assembly_may_ask, repartition_of, repartitions};
pub use system_functions::SYSTEM_FUNCTIONS;
pub use tuple_kind::TupleKind;
pub(crate) use uniformity::named_space;

/// A pattern, and what the names that it stands for are.
type Known = (&'static str, &'static OpcodeInfo);

/// The patterns of all rules, by the first byte of the names that they stand for.
static PATTERNS: LazyLock<[Vec<Known>; 128]> = LazyLock::new(|| {
    let mut by_first = [const { Vec::new() }; 128];
    for rule in rules::RULES.into_iter().flatten() {
        for pattern in rule.names.split_ascii_whitespace() {
            let mut firsts = pattern::first_bytes(pattern);
            while firsts != 0 {
                by_first[firsts.trailing_zeros() as usize].push((pattern, &rule.info));
                firsts &= firsts - 1;
            }
        }
    }
    by_first
});

/// What the opcode of that name is: a search through dozens of patterns. Other rooms ask a [`Classification`], which has
/// the answer at hand and knows what LLVM claims.
///
/// Names that LLVM 22 does not have are [`OpcodeInfo::UNKNOWN`], never guessed. So are its records without a name,
/// `anonymous_N` (shuffles, matrix instructions, some fences): but for the fences all of them are of the whole warp,
/// though LLVM leaves that out for some, so they count as convergent. The shim calls those of `setmaxnreg` by what they
/// print.
fn classify(name: &str) -> OpcodeInfo {
    if let Some(info) = ptx::classify(name) {
        return info;
    }
    let first = name.bytes().next().unwrap_or_default();
    let candidates = PATTERNS.get(usize::from(first)).map_or(&[][..], Vec::as_slice);
    if let Some((_, info)) = candidates.iter().find(|(pattern, _)| pattern::matches(pattern, name)) {
        return **info;
    }
    if is_anonymous(name) || asks_for_registers(name) { OpcodeInfo::UNKNOWN.collective() } else { OpcodeInfo::UNKNOWN }
}

/// Whether TableGen made the name for a record that has none.
fn is_anonymous(name: &str) -> bool {
    name.strip_prefix("anonymous_").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}
