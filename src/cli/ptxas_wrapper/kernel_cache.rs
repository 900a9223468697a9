//! What is known of kernels by their own texts, in whatever file these stand. The cache has it beside the results of whole texts.

use nvptx_ra::error::Error;

use crate::cache::{Cache, Key, KeyBuilder};
use crate::tune::kernel_results::{KernelInput, KernelResult};

/// The answers of kernels that are compiled and searched alike.
pub(super) struct KernelCache {
    cache: Cache,
    /// The key of what is the same for all of these kernels.
    alike: KeyBuilder,
}

impl KernelCache {
    pub(super) fn new(cache: Cache, alike: KeyBuilder) -> Self {
        Self { cache, alike }
    }

    pub(super) fn get(&self, input: &KernelInput) -> Option<KernelResult> {
        self.cache.get(&self.key(input))
    }

    pub(super) fn put(&self, input: &KernelInput, answer: &KernelResult) -> Result<(), Error> {
        self.cache.put(&self.key(input), answer)
    }

    fn key(&self, input: &KernelInput) -> Key {
        // Each field is named, so that none is forgotten.
        let KernelInput { kernel, text, owned, launch } = input;
        let mut key = self.alike.clone();
        key.field("kernel", kernel.as_bytes()).field("text", text);
        for function in owned {
            key.field("owned", function.as_bytes());
        }
        key.field("launch", format!("{launch:?}").as_bytes());
        key.key()
    }
}
