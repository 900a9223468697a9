//! What a user can set of the coalescer.

/// Which copy comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// The lowest register first, the heavier copy among equals: the order read from NVIDIA's coalescer.
    Register,
    /// The most frequent copy first, the heavier among equals.
    #[default]
    Frequency,
}

/// The coalescer's options; `config` holds their names, ranges and help.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Merge at all.
    pub join_live_intervals: bool,
    /// Merge copies that stand in a block which only holds copies: a split edge.
    pub join_split_edges: bool,
    /// Merge copies whose registers live in more than one block.
    pub join_global_copies: bool,
    /// Let a copy wait whose one register no other copy names, where the other register has more copies in the block.
    pub terminal_rule: bool,
    /// Above this many copies, a constant's copies are replaced at once, without trying to merge any of them.
    pub late_remat_update_threshold: usize,
    /// A live range with more values than this is large.
    pub large_interval_size_threshold: usize,
    /// A large live range takes part in at most this many attempts.
    pub large_interval_freq_threshold: usize,
    /// At most this many copies are considered; 0: all.
    pub copy_limit: usize,
    /// At most this many merges are made; 0: all.
    pub coalesce_limit: usize,
    /// Which copy comes first.
    pub priority: Priority,
    /// Weigh copies by the frequency of their block; off, all blocks count alike.
    pub block_frequency: bool,
    /// Copies within one block come before all others.
    pub block_local: bool,
    /// Live ranges that hold the same value do not interfere.
    pub value_interference: bool,
    /// Copies of constants become constants.
    pub rematerialize_constants: bool,
    /// Packs and unpacks that undo each other vanish.
    pub wide_pairs: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            join_live_intervals: true,
            join_split_edges: true,
            join_global_copies: true,
            terminal_rule: true,
            late_remat_update_threshold: 100,
            large_interval_size_threshold: 100,
            large_interval_freq_threshold: 256,
            copy_limit: 0,
            coalesce_limit: 0,
            priority: Priority::default(),
            block_frequency: true,
            block_local: true,
            value_interference: true,
            rematerialize_constants: true,
            wide_pairs: true,
        }
    }
}
