//! An instruction's bits, and which of them have been read.

/// The bits of an instruction. Every read marks its bits as read. A bit that is never read has no known meaning.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    bits: u128,
    claimed: u128,
    /// The position of the instruction, in bytes from the start of the function.
    pub address: u32,
    /// The processor: 80, 86, 89, 90, 100, 120.
    pub processor: u32,
}

/// The operation (12 bits), the guard (4 bits), and the control codes.
const COMMON: u128 = 0xffff | ((1 << 21) - 1) << 105;

impl Reader {
    /// Creates a reader. Operation, guard and control codes count as read.
    pub(super) fn new(bits: u128, address: u32, processor: u32) -> Self {
        Self { bits, claimed: COMMON, address, processor }
    }

    /// Reads `count` bits, at most 64, that begin at bit `from`.
    pub(super) fn take(&mut self, from: u8, count: u8) -> u64 {
        let mask = (1u128 << count) - 1;
        self.claimed |= mask << from;
        ((self.bits >> from) & mask) as u64
    }

    /// Reads `count` bits that begin at bit `from`, as a signed number.
    pub(super) fn signed(&mut self, from: u8, count: u8) -> i64 {
        let unused = 64 - u32::from(count);
        (self.take(from, count) << unused) as i64 >> unused
    }

    /// Reads one bit.
    pub(super) fn bit(&mut self, at: u8) -> bool {
        self.take(at, 1) == 1
    }

    /// Reads one bit. `None` if it does not have the required value.
    pub(super) fn must(&mut self, at: u8, value: bool) -> Option<()> {
        (self.bit(at) == value).then_some(())
    }

    /// Returns the form of the operands, bits 9 to 11. It says which operand is an immediate, a constant of a bank or a
    /// uniform register.
    pub(super) fn form(&self) -> u8 {
        (self.bits >> 9) as u8 & 7
    }

    /// Whether each set bit has been read.
    pub(super) fn is_done(&self) -> bool {
        self.bits & !self.claimed == 0
    }
}
