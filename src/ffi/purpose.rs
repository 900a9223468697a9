//! What code is generated for: what the tool wants to know of it on the way.

/// What is wanted; nothing by default.
pub(super) use super::abi::nvptx_ra_purpose as Purpose;
use super::abi::nvptx_ra_set_purpose;

/// The pipelines that this thread makes have a purpose while this lives, and then, also after a panic, the one before.
pub(super) struct PurposeScope {
    before: Purpose,
}

impl PurposeScope {
    /// # Safety
    /// What `purpose` points to outlives the scope, and every pipeline that this thread makes in it.
    pub(super) unsafe fn new(purpose: Purpose) -> Self {
        // SAFETY: the purpose is read, and as the caller promises.
        Self { before: unsafe { nvptx_ra_set_purpose(&raw const purpose) } }
    }
}

impl Drop for PurposeScope {
    fn drop(&mut self) {
        // SAFETY: the purpose before is that of an outer scope, which outlives this one, or asks nothing.
        unsafe { nvptx_ra_set_purpose(&raw const self.before) };
    }
}

/// The purpose of what this thread generates.
#[cfg(test)]
pub(super) fn current() -> Purpose {
    let none = Purpose::default();
    // SAFETY: nothing is asked, and what was asked before is asked again.
    unsafe {
        let current = nvptx_ra_set_purpose(&raw const none);
        nvptx_ra_set_purpose(&raw const current);
        current
    }
}
