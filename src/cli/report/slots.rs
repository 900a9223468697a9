//! The shared-memory slots that `regalloc=auto` would use.

use std::sync::Arc;

use nvptx_ra::config::{Config, Layers, REGALLOC};
use nvptx_ra::error::Error;
use nvptx_ra::function::Function;
use nvptx_ra::passes::{self, RunContext};
use nvptx_ra::target::Classification;
use nvptx_ra::target::machine::Architecture;

use crate::dynamic_shared::as_option;

/// The slots of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slots {
    /// Number of values in the slots.
    pub values: u64,
    /// Bytes of shared memory of a block.
    pub bytes: u64,
    /// Bytes of L1 cache that an SM loses to the slots.
    pub cache_given_up: u64,
}

/// Returns the slots that a kernel would get; `None` if the pass would not change the kernel. `dynamic_shared` is the
/// number of bytes that the launch adds.
pub(super) fn slots(
    (function, classification): (&Function, &Arc<Classification>),
    architecture: &Architecture,
    dynamic_shared: Option<u32>,
) -> Result<Option<Slots>, Error> {
    let said = dynamic_shared.map_or(String::new(), |bytes| format!(";{}", as_option(bytes)));
    let parameters = format!("regalloc=auto{said}");
    let config = Config::resolve(&Layers { parameters: &parameters, ..Layers::default() })?;
    let context = RunContext::new(config, Arc::clone(classification), architecture.name);
    let stats = passes::run(REGALLOC, function, &context)?.stats;
    Ok((stats.values_kept > 0).then_some(Slots {
        values: stats.values_kept,
        bytes: stats.slot_bytes,
        cache_given_up: stats.cache_given_up,
    }))
}
