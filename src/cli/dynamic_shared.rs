//! `--dynamic-shared`: the shared memory that launches add to kernels' static shared memory.
//!
//! The code does not contain the size, but the size affects occupancy. It therefore affects how many registers a kernel
//! can use without a loss of occupancy. All shared memory of Triton's kernels is dynamic, and Triton writes the size
//! into a metadata file.

use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::str::FromStr;

use nvptx_ra::config;
use nvptx_ra::error::{Error, ErrorKind};

use crate::of_kernels::{OfKernels, last_of};
use crate::triton;

/// Bytes of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) u32);

/// One use of the option.
pub(crate) type DynamicShared = OfKernels<Bytes>;

impl Display for Bytes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Bytes {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        text.parse().map(Self).map_err(|_| {
            let problem = format!("'{text}' is not a number of bytes");
            Error::new(ErrorKind::Option, problem, "write --dynamic-shared 49152, or --dynamic-shared KERNEL=49152")
        })
    }
}

/// Returns all sizes for an input: the size in Triton's metadata, followed by the options, which take precedence.
pub(crate) fn all_said(input: &Path, options: &[DynamicShared]) -> Vec<DynamicShared> {
    let beside = triton::beside(input).map(|kernel| DynamicShared::named(kernel.name, Bytes(kernel.shared)));
    beside.into_iter().chain(options.iter().cloned()).collect()
}

/// Returns the bytes that a launch of the kernel adds, from the last match; `None` without a match.
pub(crate) fn bytes_of(said: &[DynamicShared], kernel: &str) -> Option<u32> {
    last_of(said, kernel).map(|Bytes(bytes)| bytes)
}

/// Returns the passes' option for a number of bytes. A number beyond every processor's maximum is replaced by the
/// maximum. Both leave no space for slots, and the launch fails anyway. Triton's autotuner compiles kernels with such
/// numbers, and drops them when their launch fails.
pub(crate) fn as_option(bytes: u32) -> String {
    format!("dynamic-shared={}", bytes.min(config::DynamicShared::MOST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::of_kernels::check;

    fn said(texts: &[&str]) -> Vec<DynamicShared> {
        texts.iter().map(|text| text.parse().expect("is well-formed")).collect()
    }

    /// A size for one kernel applies to that kernel only, the last size takes precedence, and other kernels have no
    /// size.
    #[test]
    fn the_last_that_is_said_counts() {
        let all_and_one = said(&["1024", "dot=0", "dot_bwd=4096"]);
        let of = |kernel| bytes_of(&all_and_one, kernel);
        assert_eq!((of("softmax"), of("dot_fwd"), of("dot_bwd")), (Some(1024), Some(0), Some(4096)));
        assert_eq!(bytes_of(&said(&["dot=64"]), "softmax"), None);
    }

    /// Triton's metadata apply to their kernel unless an option overrides them. Other files have no size.
    #[test]
    fn metadata() {
        let folder = tempfile::tempdir().expect("there is space");
        let folder = folder.path();
        let of = |text: &str, options: &[&str]| {
            std::fs::write(folder.join("dot.json"), text).expect("is writable");
            bytes_of(&all_said(&folder.join("dot.llir"), &said(options)), "dot")
        };
        let triton = r#"{"hash": "0", "num_warps": 4, "shared": 4096, "name": "dot"}"#;
        assert_eq!((of(triton, &[]), of(triton, &["64"])), (Some(4096), Some(64)));
        assert_eq!(of(r#"{"shared": 4096, "name": "other"}"#, &[]), None);
        assert_eq!((of(r#"{"kernels": []}"#, &[]), of("", &[]), of("", &["8"])), (None, None, Some(8)));
    }

    /// A size that no launch can have is no error: the option accepts the size, and no space is left for slots.
    #[test]
    fn more_than_there_is() {
        for bytes in [0, 4_096, 262_144] {
            assert_eq!(as_option(bytes), format!("dynamic-shared={bytes}"));
        }
        assert_eq!(as_option(786_432), "dynamic-shared=262144");
        assert!(config::assignments(&as_option(786_432), config::Origin::CommandLine).is_ok());
    }

    /// A malformed number is an error that shows the format. An unknown kernel name is an error with this name.
    #[test]
    fn errors() {
        let error = "dot=48k".parse::<DynamicShared>().expect_err("is no number").to_string();
        assert!(error.contains("'48k' is not a number of bytes") && error.contains("KERNEL=49152"), "{error}");
        assert!("-1".parse::<DynamicShared>().is_err());
        let kernels = ["dot", "softmax"].into_iter();
        assert_eq!(check("--dynamic-shared", &said(&["8", "max=16"]), kernels.clone(), "m.ll"), Ok(()));
        let error = check("--dynamic-shared", &said(&["sum=16"]), kernels, "m.ll")
            .expect_err("there is no such kernel")
            .to_string();
        assert!(error.contains("--dynamic-shared sum=16: m.ll has no kernel whose name contains 'sum'"), "{error}");
    }
}
