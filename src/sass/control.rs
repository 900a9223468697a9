//! Control codes: ptxas's instructions to the hardware about the issue of each machine instruction.

/// The control codes of an instruction, bits 105 to 125.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Control {
    /// Cycles until the warp's next instruction may issue, 0 to 15.
    pub stall: u8,
    /// Whether the scheduler stays with this warp. If the bit is clear, the warp yields.
    pub keeps: bool,
    /// The scoreboard, 0 to 5, that is set until the results are written.
    pub writes: Option<u8>,
    /// The scoreboard, 0 to 5, that is set until the sources are read.
    pub reads: Option<u8>,
    /// The scoreboards that the instruction waits for, as bits.
    pub waits: u8,
    /// The sources that stay in the operand cache, as bits.
    pub reuse: u8,
}

impl Control {
    /// Reads the control codes from the bits of an instruction.
    pub fn of(bits: u128) -> Self {
        let field = |from: u32, count: u32| (bits >> from) as u8 & ((1u8 << count) - 1);
        let scoreboard = |number: u8| (number < 6).then_some(number);
        Self {
            stall: field(105, 4),
            keeps: field(109, 1) == 1,
            writes: scoreboard(field(110, 3)),
            reads: scoreboard(field(113, 3)),
            waits: field(116, 6),
            reuse: field(122, 4),
        }
    }
}
