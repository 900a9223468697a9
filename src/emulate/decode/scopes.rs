//! Names of a function and their meanings, in nested scopes.

use rustc_hash::FxHashMap;

use crate::emulate::program::{Row, Special};
use crate::emulate::types::Ty;

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    /// A register. A 128-bit register has two rows.
    Register(Row, Ty),
    /// An offset in shared memory.
    Shared(u64),
    /// A generic address.
    Constant(u64),
    /// Bytes of the frame.
    Frame { offset: u32, bytes: u32 },
    /// A function with a body.
    Function(usize),
}

/// Registers that are declared as `%r<10>`.
#[derive(Clone, Copy, Debug)]
struct Family {
    first: Row,
    count: u32,
    ty: Ty,
}

/// A scope.
#[derive(Debug, Default)]
struct Scope<'a> {
    names: FxHashMap<&'a str, Symbol>,
    families: FxHashMap<&'a str, Family>,
    labels: FxHashMap<&'a str, usize>,
}

/// The open scopes.
#[derive(Debug, Default)]
pub(super) struct Scopes<'a> {
    open: Vec<Scope<'a>>,
}

impl<'a> Scopes<'a> {
    /// Opens a scope with its labels.
    pub(super) fn open(&mut self, labels: FxHashMap<&'a str, usize>) {
        self.open.push(Scope { labels, ..Scope::default() });
    }

    pub(super) fn close(&mut self) {
        self.open.pop();
    }

    pub(super) fn declare(&mut self, name: &'a str, symbol: Symbol) {
        if let Some(scope) = self.open.last_mut() {
            scope.names.insert(name, symbol);
        }
    }

    pub(super) fn declare_family(&mut self, name: &'a str, first: Row, count: u32, ty: Ty) {
        if let Some(scope) = self.open.last_mut() {
            scope.families.insert(name, Family { first, count, ty });
        }
    }

    /// Returns the meaning of a name.
    pub(super) fn find(&self, name: &str) -> Option<Symbol> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        for scope in self.open.iter().rev() {
            if let Some(&symbol) = scope.names.get(name) {
                return Some(symbol);
            }
            if digits == 0 {
                continue;
            }
            // The name of a family may itself end with digits.
            for split in (name.len() - digits)..name.len() {
                let (stem, number) = name.split_at(split);
                let has_leading_zero = number.len() > 1 && number.starts_with('0');
                if let (Some(family), Ok(number), false) =
                    (scope.families.get(stem), number.parse::<u32>(), has_leading_zero)
                    && number < family.count
                {
                    let rows = rows_of(family.ty);
                    return Some(Symbol::Register(Row(family.first.0 + number * rows), family.ty));
                }
            }
        }
        None
    }

    /// Returns the number of a label.
    pub(super) fn label(&self, name: &str) -> Option<usize> {
        self.open.iter().rev().find_map(|scope| scope.labels.get(name).copied())
    }
}

/// Returns the number of rows of a register of a type.
pub(super) fn rows_of(ty: Ty) -> u32 {
    if ty.bits() > 64 { 2 } else { 1 }
}

/// Returns the axis of a special register's component; the inner `None` without a component. The outer `None` means
/// that the component is not an axis.
pub(super) fn axis(part: Option<&str>) -> Option<Option<u8>> {
    part.map(|part| [".x", ".y", ".z"].iter().position(|name| *name == part).map(|axis| axis as u8))
        .map_or(Some(None), |axis| axis.map(Some))
}

/// Returns the special register of a name and its component.
pub(super) fn special(word: &str, part: Option<&str>) -> Option<(Special, u32)> {
    use crate::emulate::program::LaneMask;
    let axis = axis(part)?;
    let known = |special| Some((special, 32));
    match (word, axis) {
        ("%tid", Some(axis)) => known(Special::Tid(axis)),
        ("%ntid", Some(axis)) => known(Special::Ntid(axis)),
        ("%ctaid", Some(axis)) => known(Special::Ctaid(axis)),
        ("%nctaid", Some(axis)) => known(Special::Nctaid(axis)),
        ("%laneid", None) => known(Special::Lane),
        ("%lanemask_eq", None) => known(Special::LaneMask(LaneMask::Equal)),
        ("%lanemask_le", None) => known(Special::LaneMask(LaneMask::LessEqual)),
        ("%lanemask_lt", None) => known(Special::LaneMask(LaneMask::Less)),
        ("%lanemask_ge", None) => known(Special::LaneMask(LaneMask::GreaterEqual)),
        ("%lanemask_gt", None) => known(Special::LaneMask(LaneMask::Greater)),
        ("%dynamic_smem_size" | "%total_smem_size", None) => known(Special::SharedBytes),
        ("%warpid", None) => known(Special::Unknown("%warpid")),
        ("%nwarpid", None) => known(Special::Unknown("%nwarpid")),
        ("%smid", None) => known(Special::Unknown("%smid")),
        ("%nsmid", None) => known(Special::Unknown("%nsmid")),
        ("%gridid", None) => Some((Special::Unknown("%gridid"), 64)),
        ("%clock", None) => known(Special::Unknown("%clock")),
        ("%clock_hi", None) => known(Special::Unknown("%clock_hi")),
        ("%clock64", None) => Some((Special::Unknown("%clock64"), 64)),
        ("%globaltimer", None) => Some((Special::Unknown("%globaltimer"), 64)),
        ("%globaltimer_lo", None) => known(Special::Unknown("%globaltimer")),
        ("%globaltimer_hi", None) => known(Special::Unknown("%globaltimer")),
        (word, _) if word.starts_with("%cluster") || word.starts_with("%ncluster") || word.starts_with("%is_") => {
            known(Special::Unknown("a register of clusters"))
        }
        (word, None) if word.starts_with("%envreg") || word.starts_with("%pm") => known(Special::Unknown("%envreg")),
        _ => None,
    }
}
