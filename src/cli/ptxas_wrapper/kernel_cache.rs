//! What is known of kernels by their own texts, in whatever file these stand. The cache has it beside the results of whole texts.

use nvptx_ra::error::Error;

use crate::cache::{Cache, Key, KeyBuilder};
use crate::tune::known::{KernelAnswer, Subject};

/// The answers of kernels that are compiled and searched alike.
pub(super) struct KernelAnswers {
    cache: Cache,
    /// The key of what is the same for all of these kernels.
    alike: KeyBuilder,
}

impl KernelAnswers {
    pub(super) fn new(cache: Cache, alike: KeyBuilder) -> Self {
        Self { cache, alike }
    }

    pub(super) fn get(&self, subject: &Subject) -> Option<KernelAnswer> {
        self.cache.get(&self.key(subject))
    }

    pub(super) fn put(&self, subject: &Subject, answer: &KernelAnswer) -> Result<(), Error> {
        self.cache.put(&self.key(subject), answer)
    }

    fn key(&self, subject: &Subject) -> Key {
        // Each field is named, so that none is forgotten.
        let Subject { kernel, text, owned, launch } = subject;
        let mut key = self.alike.clone();
        key.field("kernel", kernel.as_bytes()).field("text", text);
        for function in owned {
            key.field("owned", function.as_bytes());
        }
        key.field("launch", format!("{launch:?}").as_bytes());
        key.key()
    }
}
