//! Accesses of local memory, from the disassembler's text.

use super::listing;

/// An access of local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// The instruction.
    pub(crate) row: usize,
    pub(crate) is_store: bool,
    pub(crate) bytes: u32,
    /// Offset from the stack pointer in bytes; `None` for a computed address.
    pub(crate) place: Option<u32>,
    /// Whether ptxas marks it as a spill. nvdisasm prints the mark since CUDA 13.0.
    pub(crate) is_spill: bool,
}

impl Access {
    /// Parses an instruction; `None` if it does not access local memory.
    pub(crate) fn of(row: usize, text: &str) -> Option<Self> {
        let rest =
            text.strip_prefix('@').and_then(|rest| rest.split_once(' ')).map_or(text, |(_, rest)| rest.trim_start());
        let (opcode, operands) = rest.split_once(' ')?;
        let is_store = match opcode.split('.').next() {
            Some("STL") => true,
            Some("LDL") => false,
            _ => return None,
        };
        let place = (listing::stack_bytes(opcode, operands) > 0).then(|| {
            let offset = operands.split("[R1+0x").nth(1).and_then(|rest| rest.split(']').next());
            offset.and_then(|offset| u32::from_str_radix(offset, 16).ok()).unwrap_or(0)
        });
        let is_spill = text.contains("SpillRefill");
        Some(Self { row, is_store, bytes: listing::width(opcode), place, is_spill })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The width, the stack offset and ptxas's mark of an access are parsed.
    #[test]
    fn accesses() {
        let of = |text| Access::of(7, text).map(|of| (of.is_store, of.bytes, of.place, of.is_spill));
        assert_eq!(of("STL.64 [R1+0x8], R52 (*\"SpillRefill\"*)"), Some((true, 8, Some(8), true)));
        assert_eq!(of("@!P0 LDL.128 R4, [R1]"), Some((false, 16, Some(0), false)));
        assert_eq!(of("LDL R4, [R2+0x4]"), Some((false, 4, None, false)));
        assert_eq!((of("LDG.E R4, [R2]"), of("STL"), of("")), (None, None, None));
    }
}
