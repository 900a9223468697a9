//! The launch values of a kernel in constant bank 0: the words before the parameters.
//!
//! NVIDIA documents none of the offsets. They were read from ptxas's code for `%ntid`, `%nctaid`, `cvta` and stack
//! frames.

/// The meaning of a word of the bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// The threads of a block in a dimension.
    BlockSize(u8),
    /// The blocks of the grid in a dimension.
    GridSize(u8),
    /// The lower or upper half of the generic address of local memory.
    LocalWindow(u8),
    /// The lower or upper half of the generic address of shared memory.
    SharedWindow(u8),
    /// The start of the stack: an address of local memory, or its upper half.
    Stack(u8),
    /// The lower or upper half of the generic address of the parameters.
    Parameters(u8),
    /// Whether blocks are launched in clusters. The emulator launches no clusters: each block is its own cluster.
    HasClusters,
    /// The blocks of a cluster: in a dimension, and in total.
    ClusterSize(u8),
    ClusterBlocks,
    /// The factor, as a float, that turns the index of a block into the index of its cluster.
    ClusterShare(u8),
    /// The clusters of the grid in a dimension.
    NumClusters(u8),
    /// The lower or upper half of the descriptor of global memory. No result depends on its value.
    Descriptor(u8),
}

/// The known words and their offsets in bytes. `FORMER` applies before sm_100, `HOPPER` adds words for sm_90, and
/// `BLACKWELL` applies since sm_100.
const FORMER: [(u32, Word); 14] = [
    (0x00, Word::BlockSize(0)),
    (0x04, Word::BlockSize(1)),
    (0x08, Word::BlockSize(2)),
    (0x0c, Word::GridSize(0)),
    (0x10, Word::GridSize(1)),
    (0x14, Word::GridSize(2)),
    (0x18, Word::SharedWindow(0)),
    (0x1c, Word::SharedWindow(1)),
    (0x20, Word::LocalWindow(0)),
    (0x24, Word::LocalWindow(1)),
    (0x28, Word::Stack(0)),
    (0x2c, Word::Stack(1)),
    (0x118, Word::Descriptor(0)),
    (0x11c, Word::Descriptor(1)),
];
const HOPPER: [(u32, Word); 15] = [
    (0x140, Word::HasClusters),
    (0x144, Word::ClusterSize(0)),
    (0x148, Word::ClusterSize(1)),
    (0x14c, Word::ClusterSize(2)),
    (0x150, Word::ClusterShare(0)),
    (0x154, Word::ClusterShare(1)),
    (0x158, Word::ClusterShare(2)),
    (0x15c, Word::NumClusters(0)),
    (0x160, Word::NumClusters(1)),
    (0x164, Word::NumClusters(2)),
    (0x188, Word::ClusterBlocks),
    (0x198, Word::Parameters(0)),
    (0x19c, Word::Parameters(1)),
    (0x208, Word::Descriptor(0)),
    (0x20c, Word::Descriptor(1)),
];
const BLACKWELL: [(u32, Word); 11] = [
    (0x360, Word::BlockSize(0)),
    (0x364, Word::BlockSize(1)),
    (0x368, Word::BlockSize(2)),
    (0x370, Word::GridSize(0)),
    (0x374, Word::GridSize(1)),
    (0x378, Word::GridSize(2)),
    (0x37c, Word::Stack(0)),
    (0x358, Word::Descriptor(0)),
    (0x35c, Word::Descriptor(1)),
    (0x2f8, Word::LocalWindow(0)),
    (0x2fc, Word::LocalWindow(1)),
];

/// Returns the meaning of the word at an offset of the bank. `None` if it is unknown for the processor.
pub(crate) fn word(processor: u32, offset: u32) -> Option<Word> {
    let find = |words: &[(u32, Word)]| words.iter().find(|word| word.0 == offset).map(|word| word.1);
    match processor {
        ..90 => find(&FORMER),
        90..100 => find(&HOPPER).or_else(|| find(&FORMER)),
        _ => find(&BLACKWELL),
    }
}
