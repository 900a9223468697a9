//! What is known of a kernel before any run, as coordinates. Kernels that gain by the same recipes are near each other.

/// What is known of stock. The compiler that made the PTX is not included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Machine instructions.
    pub instructions: u32,
    /// General registers of a thread.
    pub registers: u32,
    /// The cost of spills, in bytes weighted by the enclosing loops.
    pub spill_cost: u64,
    /// Machine instructions that access local memory.
    pub local: u32,
    /// Bytes moved to and from fixed stack slots, weighted by the enclosing loops.
    pub stack_traffic: u64,
    /// Accesses of other memory, and floating-point sums and products.
    pub work: u32,
    /// Bytes moved to and from shared memory, weighted by the enclosing loops.
    pub shared_traffic: u64,
    /// Resident warps of an SM.
    pub warps: u32,
    /// Whether a register limit gains an occupancy step.
    pub may_win_warps: bool,
    /// Whether values can be spilled to shared memory, because the launch is known.
    pub may_keep: bool,
}

/// The number of coordinates.
pub const COORDINATES: usize = 10;

impl Traits {
    /// Parses the numbers of a recorded line.
    pub fn of_numbers(numbers: [u64; COORDINATES]) -> Option<Self> {
        let [instructions, registers, spill_cost, local, stack_traffic, work, shared_traffic, warps, wins, keeps] =
            numbers;
        let small = |number: u64| u32::try_from(number).ok();
        Some(Self {
            instructions: small(instructions)?,
            registers: small(registers)?,
            spill_cost,
            local: small(local)?,
            stack_traffic,
            work: small(work)?,
            shared_traffic,
            warps: small(warps)?,
            may_win_warps: wins != 0,
            may_keep: keeps != 0,
        })
    }

    /// Returns the numbers of a recorded line.
    pub fn numbers(&self) -> [u64; COORDINATES] {
        let Self { instructions, registers, spill_cost, local, stack_traffic, work, shared_traffic, warps, .. } = *self;
        let [wins, keeps] = [self.may_win_warps, self.may_keep].map(u64::from);
        let [instructions, registers, local] = [instructions, registers, local].map(u64::from);
        [
            instructions,
            registers,
            spill_cost,
            local,
            stack_traffic,
            work.into(),
            shared_traffic,
            warps.into(),
            wins,
            keeps,
        ]
    }

    /// Returns the coordinates. Each coordinate has a factor. The factors were chosen on recorded kernels by leaving
    /// out one lineage at a time.
    fn coordinates(&self) -> [f64; COORDINATES] {
        let magnitude = |number: u64| ((1 + number) as f64).log2();
        let has_spills = f64::from(u8::from(self.spill_cost > 0));
        [
            magnitude(self.instructions.into()) / 2.0,
            f64::from(self.registers) / 64.0,
            4.0 * has_spills + magnitude(self.spill_cost) / 2.0,
            magnitude(self.local.into()) / 3.0,
            magnitude(self.stack_traffic) / 3.0,
            4.0 * f64::from(self.work) / f64::from(self.instructions.max(1)),
            magnitude(self.shared_traffic) / 5.0,
            f64::from(self.warps) / 16.0,
            3.0 * f64::from(u8::from(self.may_win_warps)),
            2.0 * f64::from(u8::from(self.may_keep)),
        ]
    }

    /// Returns the squared distance of two kernels.
    pub fn distance(&self, other: &Self) -> f64 {
        let differences = self.coordinates().into_iter().zip(other.coordinates()).map(|(one, other)| one - other);
        differences.map(|difference| difference * difference).sum()
    }
}
