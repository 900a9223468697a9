//! `[KERNEL=]VALUE`: what an option says of all kernels, or of those whose names contain KERNEL.

use std::fmt::Display;
use std::str::FromStr;

use nvptx_ra::error::Error;

use crate::kernel_names;

/// What one use of an option says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OfKernels<T> {
    /// A part of the names of the kernels that it is said of; all kernels without one.
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

/// What is said of a kernel, if anything is; the last that is said counts.
pub(crate) fn last_of<T: Copy>(said: &[OfKernels<T>], kernel: &str) -> Option<T> {
    said.iter().rfind(|one| one.is_of(kernel)).map(|one| one.value)
}

/// An error where something is said of kernels that are not there. `option` is the option's name and `input` the module's, both
/// for the message.
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
