//! The purpose of code generation: the data that the tool requests during it.

/// The requests. The default requests nothing.
pub(super) use super::abi::nvptx_ra_purpose as Purpose;
use super::abi::nvptx_ra_set_purpose;

/// While this scope exists, the pipelines that this thread creates have its purpose. Afterwards, also after a panic,
/// they have the previous purpose.
pub(super) struct PurposeScope {
    before: Purpose,
}

impl PurposeScope {
    /// # Safety
    /// All data that `purpose` points to must outlive the scope, and every pipeline that this thread creates in it.
    pub(super) unsafe fn new(purpose: Purpose) -> Self {
        // SAFETY: the purpose is copied, and its data lives as the caller promises.
        Self { before: unsafe { nvptx_ra_set_purpose(&raw const purpose) } }
    }
}

impl Drop for PurposeScope {
    fn drop(&mut self) {
        // SAFETY: the previous purpose belongs to an outer scope, which outlives this one, or requests nothing.
        unsafe { nvptx_ra_set_purpose(&raw const self.before) };
    }
}

/// Returns the current purpose of this thread.
#[cfg(test)]
pub(super) fn current() -> Purpose {
    let none = Purpose::default();
    // SAFETY: the first call requests nothing, and the second restores the previous requests.
    unsafe {
        let current = nvptx_ra_set_purpose(&raw const none);
        nvptx_ra_set_purpose(&raw const current);
        current
    }
}
