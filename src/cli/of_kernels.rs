//! `[KERNEL=]VALUE`: an option's value for all kernels, or for the kernels whose names contain KERNEL.

use std::fmt::Display;
use std::str::FromStr;

use nvptx_ra::error::Error;

use crate::kernel_names;

/// One use of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OfKernels<T> {
    /// The value applies to kernels whose names contain this part; `None` for all kernels.
    kernel: Option<String>,
    pub(crate) value: T,
}

impl<T: FromStr<Err = Error>> FromStr for OfKernels<T> {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (kernel, value) = match text.rsplit_once('=') {
            Some((kernel, value)) => (Some(kernel.to_owned()), value),
            None => (None, text),
        };
        Ok(Self { kernel, value: value.parse()? })
    }
}

impl<T> OfKernels<T> {
    pub(crate) fn all(value: T) -> Self {
        Self { kernel: None, value }
    }

    pub(crate) fn named(kernel: String, value: T) -> Self {
        Self { kernel: Some(kernel), value }
    }

    fn is_of(&self, kernel: &str) -> bool {
        self.kernel.as_ref().is_none_or(|part| kernel_names::fits(part, kernel))
    }
}

/// Returns the last value that applies to a kernel; `None` without a match.
pub(crate) fn last_of<T: Copy>(said: &[OfKernels<T>], kernel: &str) -> Option<T> {
    said.iter().rfind(|one| one.is_of(kernel)).map(|one| one.value)
}

/// Returns an error if a value matches no kernel. The message contains `option`, the option's name, and `input`, the
/// module's name.
pub(crate) fn check<'a, T: Display>(
    option: &str,
    said: &[OfKernels<T>],
    kernels: impl Iterator<Item = &'a str> + Clone,
    input: &str,
) -> Result<(), Error> {
    said.iter().try_for_each(|OfKernels { kernel, value }| match kernel {
        Some(kernel) => kernel_names::check(&format!("{option} {kernel}={value}"), kernel, kernels.clone(), input),
        None => Ok(()),
    })
}
