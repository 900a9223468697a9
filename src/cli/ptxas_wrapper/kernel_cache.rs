//! Cached results of kernels. The key has the kernel's own PTX, independent of the file that contains it. The same
//! cache holds the results of whole modules.

use nvptx_ra::error::Error;

use crate::cache::{Cache, Key, KeyBuilder};
use crate::tune::kernel_results::{KernelInput, KernelResult};

/// The results of kernels that are compiled and searched with the same settings.
pub(super) struct KernelCache {
    cache: Cache,
    /// The part of the key that these kernels share.
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
        // The pattern lists each field, so that a new field cannot be forgotten.
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
