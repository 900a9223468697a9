//! `--threads`: the threads of a block, for kernels that do not declare this number. The number affects occupancy, and
//! the size of a slot in shared memory.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::target::machine::MAX_THREADS_PER_BLOCK;

use crate::of_kernels::OfKernels;

/// Threads of a block, 1 to 1,024.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) u32);

/// One use of the option.
pub(crate) type Threads = OfKernels<Count>;

impl Display for Count {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Count {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let count = text.parse().ok().filter(|count| (1..=MAX_THREADS_PER_BLOCK).contains(count));
        count.map(Self).ok_or_else(|| {
            let problem = format!("'{text}' is not a number of threads from 1 to {MAX_THREADS_PER_BLOCK}");
            Error::new(ErrorKind::Option, problem, "write --threads 256, or --threads KERNEL=256")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks have 1 to 1,024 threads. Any other value is an error that shows the format.
    #[test]
    fn numbers_of_threads() {
        for (text, count) in [("1", 1), ("1024", 1024)] {
            assert_eq!(text.parse(), Ok(Count(count)));
        }
        for text in ["0", "1025", "-1", "many", ""] {
            let error = format!("dot={text}").parse::<Threads>().expect_err("is none").to_string();
            assert!(error.contains(&format!("'{text}' is not a number of threads from 1 to 1024")), "{error}");
            assert!(error.contains("--threads KERNEL=256"), "{error}");
        }
    }
}
