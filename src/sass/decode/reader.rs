//! An instruction's bits, and which of them have been read.

/// The bits of an instruction. Every read claims its bits: what nothing claims has no meaning that is known here.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    bits: u128,
    claimed: u128,
    /// Where the instruction stands, in bytes from the start of the function.
    pub address: u32,
    /// The processor: 80, 86, 89, 90, 100, 120.
    pub processor: u32,
}

/// The operation (12 bits), the guard (4 bits), and the control codes.
const COMMON: u128 = 0xffff | ((1 << 21) - 1) << 105;

impl Reader {
    /// A reader of these bits. Operation, guard and control codes count as read.
    pub(super) fn new(bits: u128, address: u32, processor: u32) -> Self {
        Self { bits, claimed: COMMON, address, processor }
    }

    /// So many bits from one on, at most 64.
    pub(super) fn take(&mut self, from: u8, count: u8) -> u64 {
        let mask = (1u128 << count) - 1;
        self.claimed |= mask << from;
        ((self.bits >> from) & mask) as u64
    }

    /// The same as a number with a sign.
    pub(super) fn signed(&mut self, from: u8, count: u8) -> i64 {
        let unused = 64 - u32::from(count);
        (self.take(from, count) << unused) as i64 >> unused
    }

    /// One bit.
    pub(super) fn bit(&mut self, at: u8) -> bool {
        self.take(at, 1) == 1
    }

    /// Some if a bit is as it has to be.
    pub(super) fn must(&mut self, at: u8, value: bool) -> Option<()> {
        (self.bit(at) == value).then_some(())
    }

    /// The form of the operands, bits 9 to 11: which of them is a constant, of the bank, or a uniform register.
    pub(super) fn form(&self) -> u8 {
        (self.bits >> 9) as u8 & 7
    }

    /// Whether each bit that is set has been read.
    pub(super) fn is_done(&self) -> bool {
        self.bits & !self.claimed == 0
    }
}
